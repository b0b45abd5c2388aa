/*===- memory.c - What a host program calls: memory ----------------------===*/
#include "alloc.h"
#include "clock.h"
#include "context.h"
#include "dtype.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

kiln_status kiln_rt_arena(kiln_context *context, int64_t bytes, const char *busiest, kiln_slice *slice) {
  kiln_status status = kiln_block_reserve(context, &context->arena, bytes, "arena");
  *slice = (kiln_slice){context->arena.memory, 0};
  if (status && busiest) {
    size_t written = strlen(context->error);
    snprintf(context->error + written, sizeof context->error - written, ", most of it for kernel '%s'", busiest);
  }
  return status;
}

kiln_status kiln_rt_zeros(kiln_context *context, int64_t bytes, kiln_slice *slice) {
  static const char zeros[1 << 12];
  bool known = context->zeros.memory && context->zeros_layout == bytes;
  kiln_status status = kiln_block_reserve(context, &context->zeros, bytes, "tensors among zeros");
  *slice = (kiln_slice){context->zeros.memory, 0};
  for (int64_t done = 0; !status && !known && done < bytes; done += (int64_t)sizeof zeros) {
    int64_t rest = bytes - done, count = rest < (int64_t)sizeof zeros ? rest : (int64_t)sizeof zeros;
    status = context->device->write(context->state, (kiln_slice){slice->memory, done}, zeros, count);
    if (status) {
      kiln_block_release(context, &context->zeros);
      return kiln_fail_device(context, status, "write");
    }
  }
  context->zeros_layout = bytes;
  return status;
}

static kiln_status make_plan(kiln_context *context, const kiln_lifetime *lifetimes, int32_t count,
                             const int64_t *bytes) {
  size_t size = (size_t)count * sizeof *bytes;
  const kiln_allocator *from = &context->options.memory;
  kiln_release(from, context->planned);
  context->planned_count = 0;
  context->planned = kiln_allocate(from, 2 * (int64_t)size, _Alignof(int64_t));
  context->planned_bytes = context->planned ? kiln_plan(lifetimes, count, bytes, context->planned + count, from) : -1;
  if (context->planned_bytes < 0)
    return kiln_fail(context, KILN_OUT_OF_MEMORY, "no memory for %" PRId32 " temporaries of these sizes", count);
  memcpy(context->planned, bytes, size);
  context->planned_count = count;
  return KILN_OK;
}

kiln_status kiln_rt_plan(kiln_context *context, const kiln_lifetime *lifetimes, int32_t count, const int64_t *bytes,
                         const char *busiest, kiln_slice *slices) {
  bool known = context->planned && context->planned_count == count &&
               memcmp(context->planned, bytes, (size_t)count * sizeof *bytes) == 0;
  kiln_status status = known ? KILN_OK : make_plan(context, lifetimes, count, bytes);
  kiln_slice arena;
  if (!status)
    status = kiln_rt_arena(context, context->planned_bytes, busiest, &arena);
  for (int32_t i = 0; !status && i < count; i++)
    slices[i] = (kiln_slice){arena.memory, context->planned[count + i]};
  return status;
}

kiln_status kiln_rt_alloc(kiln_context *context, int64_t bytes, kiln_slice *slice) {
  kiln_temporary *found = NULL;
  for (int32_t i = 0; i < context->temporary_count; i++) {
    kiln_temporary *each = &context->temporaries[i];
    if (!each->used && bytes >= 0 && each->block.bytes >= bytes && (!found || each->block.bytes < found->block.bytes))
      found = each;
  }
  if (!found) {
    if (context->temporary_count == context->temporary_room) {
      int32_t room = context->temporary_room ? context->temporary_room * 2 : 16;
      kiln_temporary *grown = kiln_allocate_zeros(&context->options.memory, room, sizeof *grown);
      if (!grown)
        return kiln_fail(context, KILN_OUT_OF_MEMORY, "no memory for a list of %" PRId32 " temporaries", room);
      if (context->temporary_count)
        memcpy(grown, context->temporaries, (size_t)context->temporary_count * sizeof *grown);
      kiln_release(&context->options.memory, context->temporaries);
      context->temporaries = grown;
      context->temporary_room = room;
    }
    found = &context->temporaries[context->temporary_count];
    *found = (kiln_temporary){0};
    kiln_status status = kiln_block_reserve(context, &found->block, bytes, "temporary");
    if (status)
      return status;
    context->temporary_count++;
  }
  found->used = found->touched = true;
  *slice = (kiln_slice){found->block.memory, 0};
  return KILN_OK;
}

kiln_status kiln_rt_free(kiln_context *context, kiln_slice slice) {
  for (int32_t i = 0; i < context->temporary_count; i++)
    if (context->temporaries[i].block.memory == slice.memory && context->temporaries[i].used) {
      context->temporaries[i].used = false;
      return KILN_OK;
    }
  return kiln_fail(context, KILN_INVALID_ARGUMENT, "the program freed memory that it does not hold");
}

void kiln_temporaries_recycle(kiln_context *context) {
  int32_t kept = 0;
  for (int32_t i = 0; i < context->temporary_count; i++) {
    kiln_temporary *each = &context->temporaries[i];
    if (each->touched)
      context->temporaries[kept++] = (kiln_temporary){.block = each->block};
    else
      kiln_block_release(context, &each->block);
  }
  context->temporary_count = kept;
}

void kiln_temporaries_release(kiln_context *context) {
  for (int32_t i = 0; i < context->temporary_count; i++)
    kiln_block_release(context, &context->temporaries[i].block);
  context->temporary_count = 0;
}

kiln_status kiln_rt_copy(kiln_context *context, kiln_slice to, kiln_slice from, int64_t bytes) {
  if (bytes == 0)
    return KILN_OK;
  double begin = context->options.span ? kiln_seconds() : 0;
  kiln_status status = context->device->copy(context->state, to, from, bytes);
  if (status)
    return kiln_fail_device(context, status, "copy");
  kiln_tell_span(context, "copy", NULL, begin, kiln_seconds(), (int64_t[]){0, 2 * bytes});
  return KILN_OK;
}

kiln_status kiln_rt_read(kiln_context *context, kiln_slice from, kiln_dtype dtype, int64_t *value) {
  uint64_t element = 0;
  kiln_status status = context->device->read(context->state, &element, from, (int64_t)kiln_dtype_size(dtype));
  if (status)
    return kiln_fail_device(context, status, "read");
  *value = kiln_load_int(&element, dtype);
  return KILN_OK;
}

kiln_status kiln_rt_write(kiln_context *context, kiln_slice to, kiln_dtype dtype, int64_t value) {
  uint64_t element = 0;
  kiln_store_int(&element, dtype, value);
  kiln_status status = context->device->write(context->state, to, &element, (int64_t)kiln_dtype_size(dtype));
  return status ? kiln_fail_device(context, status, "write") : KILN_OK;
}
