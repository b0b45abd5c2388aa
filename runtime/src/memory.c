/*===- memory.c - What a host program calls: memory ----------------------===*/
/* A context keeps its memory from run to run, so that a run of the sizes of the last one allocates nothing: an arena
 * per device for temporaries, whose places are planned anew when sizes change; next to it blocks for tensors that lie
 * among zeros, which are written once for as long as the sizes stay; and others for values whose lifetimes control flow
 * decides. Each function reports what it could not get, and leaves the context as it was. */
#include "alloc.h"
#include "context.h"
#include "dtype.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

kiln_status kiln_rt_arena(kiln_context *context, int32_t device, int64_t bytes, const char *busiest,
                          kiln_slice *slice) {
  kiln_opened *opened = &context->devices[device];
  kiln_status status = kiln_block_reserve(context, opened, &opened->arena, bytes, "arena");
  *slice = (kiln_slice){opened->arena.memory, 0};
  if (status && busiest) {
    size_t written = strlen(context->error);
    snprintf(context->error + written, sizeof context->error - written, ", most of it for kernel '%s'", busiest);
  }
  return status;
}

/* Room for one more than `block`; those that are new are empty. */
static kiln_status count_zeros(kiln_context *context, kiln_opened *opened, int32_t block) {
  if (block < opened->zeros_count)
    return KILN_OK;
  kiln_zeros *grown = kiln_allocate_zeros(&context->options.memory, (int64_t)block + 1, sizeof *grown);
  if (!grown)
    return kiln_fail(context, KILN_OUT_OF_MEMORY, "no memory for a list of %" PRId32 " blocks of zeros", block + 1);
  if (opened->zeros_count)
    memcpy(grown, opened->zeros, (size_t)opened->zeros_count * sizeof *grown);
  kiln_release(&context->options.memory, opened->zeros);
  opened->zeros = grown;
  opened->zeros_count = block + 1;
  return KILN_OK;
}

/* All of it, for these sizes, which take so many bytes. */
static kiln_status write_zeros(kiln_context *context, kiln_opened *opened, kiln_zeros *zeros, int64_t bytes,
                               int32_t count, const int64_t *sizes) {
  const int64_t most = 1 << 16, part = bytes < most ? bytes : most; /* of a write */
  const kiln_allocator *from = &context->options.memory;
  size_t size = (size_t)count * sizeof *sizes;
  if (!zeros->sizes)
    zeros->sizes = kiln_allocate(from, size ? (int64_t)size : 1, _Alignof(int64_t));
  if (!zeros->sizes)
    return kiln_fail(context, KILN_OUT_OF_MEMORY, "no memory for the sizes of %" PRId32 " axes", count);
  void *nothing = kiln_allocate_zeros(from, part, 1);
  if (!nothing) {
    kiln_block_release(context, opened, &zeros->block);
    return kiln_fail(context, KILN_OUT_OF_MEMORY, "no memory for %" PRId64 " zeros", part);
  }
  kiln_status status = KILN_OK;
  for (int64_t done = 0; done < bytes && !status; done += part)
    status = opened->device->write(opened->state, (kiln_slice){zeros->block.memory, done}, nothing,
                                   bytes - done < part ? bytes - done : part);
  kiln_release(from, nothing);
  if (status) {
    kiln_block_release(context, opened, &zeros->block);
    return kiln_fail_device(context, opened, status, "write");
  }
  if (size)
    memcpy(zeros->sizes, sizes, size);
  zeros->bytes = bytes;
  return KILN_OK;
}

kiln_status kiln_rt_zeros(kiln_context *context, int32_t device, int32_t block, int64_t bytes, int32_t count,
                          const int64_t *sizes, kiln_slice *slice) {
  kiln_opened *opened = &context->devices[device];
  kiln_status status = count_zeros(context, opened, block);
  if (status)
    return status;
  kiln_zeros *zeros = &opened->zeros[block];
  bool known = zeros->block.memory && zeros->sizes && zeros->bytes == bytes &&
               (!count || !memcmp(zeros->sizes, sizes, (size_t)count * sizeof *sizes));
  status = kiln_block_reserve(context, opened, &zeros->block, bytes, "tensors among zeros");
  *slice = (kiln_slice){zeros->block.memory, 0};
  return status || known ? status : write_zeros(context, opened, zeros, bytes, count, sizes);
}

void kiln_zeros_release(kiln_context *context, kiln_opened *opened) {
  for (int32_t i = 0; i < opened->zeros_count; i++) {
    kiln_block_release(context, opened, &opened->zeros[i].block);
    kiln_release(&context->options.memory, opened->zeros[i].sizes);
  }
  kiln_release(&context->options.memory, opened->zeros);
  opened->zeros = NULL;
  opened->zeros_count = 0;
}

static kiln_status make_plan(kiln_context *context, kiln_opened *opened, const kiln_lifetime *lifetimes, int32_t count,
                             const int64_t *bytes) {
  size_t size = (size_t)count * sizeof *bytes;
  const kiln_allocator *from = &context->options.memory;
  kiln_release(from, opened->planned);
  opened->planned_count = 0;
  opened->planned = kiln_allocate(from, 2 * (int64_t)size, _Alignof(int64_t));
  opened->planned_bytes = opened->planned ? kiln_plan(lifetimes, count, bytes, opened->planned + count, from) : -1;
  if (opened->planned_bytes < 0)
    return kiln_fail(context, KILN_OUT_OF_MEMORY, "no memory for %" PRId32 " temporaries of these sizes", count);
  memcpy(opened->planned, bytes, size);
  opened->planned_count = count;
  return KILN_OK;
}

kiln_status kiln_rt_plan(kiln_context *context, int32_t device, const kiln_lifetime *lifetimes, int32_t count,
                         const int64_t *bytes, const char *busiest, kiln_slice *slices) {
  kiln_opened *opened = &context->devices[device];
  bool known = opened->planned && opened->planned_count == count &&
               memcmp(opened->planned, bytes, (size_t)count * sizeof *bytes) == 0;
  kiln_status status = known ? KILN_OK : make_plan(context, opened, lifetimes, count, bytes);
  kiln_slice arena;
  if (!status)
    status = kiln_rt_arena(context, device, opened->planned_bytes, busiest, &arena);
  for (int32_t i = 0; !status && i < count; i++)
    slices[i] = (kiln_slice){arena.memory, opened->planned[count + i]};
  return status;
}

kiln_status kiln_rt_alloc(kiln_context *context, int32_t device, int64_t bytes, kiln_slice *slice) {
  kiln_temporary *found = NULL;
  for (int32_t i = 0; i < context->temporary_count; i++) {
    kiln_temporary *each = &context->temporaries[i];
    if (!each->used && each->device == device && bytes >= 0 && each->block.bytes >= bytes &&
        (!found || each->block.bytes < found->block.bytes))
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
    *found = (kiln_temporary){.device = device};
    kiln_status status = kiln_block_reserve(context, &context->devices[device], &found->block, bytes, "temporary");
    if (status)
      return status;
    context->temporary_count++;
  }
  found->used = found->touched = true;
  *slice = (kiln_slice){found->block.memory, 0};
  return KILN_OK;
}

kiln_status kiln_rt_free(kiln_context *context, int32_t device, kiln_slice slice) {
  for (int32_t i = 0; i < context->temporary_count; i++) {
    kiln_temporary *each = &context->temporaries[i];
    if (each->block.memory == slice.memory && each->device == device && each->used) {
      each->used = false;
      return KILN_OK;
    }
  }
  return kiln_fail(context, KILN_INVALID_ARGUMENT, "the program freed memory that it does not hold");
}

void kiln_temporaries_recycle(kiln_context *context) {
  int32_t kept = 0;
  for (int32_t i = 0; i < context->temporary_count; i++) {
    kiln_temporary *each = &context->temporaries[i];
    if (each->touched)
      context->temporaries[kept++] = (kiln_temporary){.block = each->block, .device = each->device};
    else
      kiln_block_release(context, &context->devices[each->device], &each->block);
  }
  context->temporary_count = kept;
}

void kiln_temporaries_release(kiln_context *context) {
  for (int32_t i = 0; i < context->temporary_count; i++) {
    kiln_temporary *each = &context->temporaries[i];
    kiln_block_release(context, &context->devices[each->device], &each->block);
  }
  context->temporary_count = 0;
}

kiln_status kiln_rt_read(kiln_context *context, int32_t device, kiln_slice from, kiln_dtype dtype, int64_t *value) {
  const kiln_opened *opened = &context->devices[device];
  uint64_t element = 0;
  kiln_status status = opened->device->read(opened->state, &element, from, (int64_t)kiln_dtype_size(dtype));
  if (status)
    return kiln_fail_device(context, opened, status, "read");
  *value = kiln_load_int(&element, dtype);
  return KILN_OK;
}

kiln_status kiln_rt_write(kiln_context *context, int32_t device, kiln_slice to, kiln_dtype dtype, int64_t value) {
  const kiln_opened *opened = &context->devices[device];
  uint64_t element = 0;
  kiln_store_int(&element, dtype, value);
  kiln_status status = opened->device->write(opened->state, to, &element, (int64_t)kiln_dtype_size(dtype));
  return status ? kiln_fail_device(context, opened, status, "write") : KILN_OK;
}
