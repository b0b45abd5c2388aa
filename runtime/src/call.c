/*===- call.c - What a host program calls: functions of the library ------===*/
#include "alloc.h"
#include "clock.h"
#include "context.h"

#include <inttypes.h>

#define KILN_MAX_CALL_BUFFERS 16

/* Copies of the inputs in memory of the host, and room for the results: for devices whose memory is their own. */
static kiln_status fetch_buffers(kiln_context *context, const kiln_call_info *info, const kiln_slice *buffers,
                                 const int64_t *bytes, void **pointers) {
  const kiln_opened *opened = &context->devices[info->device];
  for (int32_t i = 0; i < info->results + info->inputs; i++) {
    pointers[i] = kiln_allocate(&context->options.memory, bytes[i], KILN_ALIGNMENT);
    if (!pointers[i])
      return kiln_fail(context, KILN_OUT_OF_MEMORY, "node '%s': no memory for %" PRId64 " bytes", info->origin,
                       bytes[i]);
    kiln_status status = KILN_OK;
    if (i >= info->results && bytes[i] > 0)
      status = opened->device->read(opened->state, pointers[i], buffers[i], bytes[i]);
    if (status)
      return kiln_fail_device(context, opened, status, info->origin);
  }
  return KILN_OK;
}

/* The context's memory for calls, which is kept, so that the next run allocates none. */
typedef struct context_scratch {
  kiln_scratch scratch;
  kiln_context *context;
  bool failed;
} context_scratch;

static void *reserve_scratch(kiln_scratch *scratch, int64_t bytes) {
  context_scratch *from = (context_scratch *)scratch;
  from->failed = !kiln_host_reserve(from->context, &from->context->scratch, bytes, NULL);
  return from->context->scratch.memory;
}

static void *keep_results(kiln_scratch *scratch, int64_t bytes) {
  context_scratch *from = (context_scratch *)scratch;
  kiln_context *context = from->context;
  void *memory = kiln_heap_alloc(&context->heaps[context->heap_turn], &context->options.memory, bytes);
  from->failed |= !memory;
  return memory;
}

static kiln_status call_function(kiln_context *context, const kiln_call_info *info, void *const *pointers,
                                 const int64_t *sizes) {
  context_scratch scratch = {{reserve_scratch, keep_results}, context, false};
  const char *cause = info->function(pointers, sizes, &scratch.scratch);
  if (!cause)
    return KILN_OK;
  return kiln_fail(context, scratch.failed ? KILN_OUT_OF_MEMORY : KILN_INDEX_ERROR, "node '%s': %s", info->origin,
                   cause);
}

static kiln_status call(kiln_context *context, const kiln_call_info *info, const kiln_slice *buffers,
                        const int64_t *bytes, const int64_t *sizes) {
  const kiln_opened *opened = &context->devices[info->device];
  void *pointers[KILN_MAX_CALL_BUFFERS] = {0};
  int32_t count = info->results + info->inputs;
  if (count > KILN_MAX_CALL_BUFFERS)
    return kiln_fail(context, KILN_INVALID_ARGUMENT, "node '%s': a call with more than %d buffers", info->origin,
                     KILN_MAX_CALL_BUFFERS);
  if (opened->device->is_host) {
    kiln_status status = kiln_synchronize(context, opened, info->origin);
    if (status)
      return status;
    for (int32_t i = 0; i < count; i++)
      pointers[i] = (char *)buffers[i].memory + buffers[i].offset;
    return call_function(context, info, pointers, sizes);
  }
  kiln_status status = fetch_buffers(context, info, buffers, bytes, pointers);
  if (!status)
    status = call_function(context, info, pointers, sizes);
  for (int32_t i = 0; !status && i < info->results; i++)
    if (bytes[i] > 0 && (status = opened->device->write(opened->state, buffers[i], pointers[i], bytes[i])))
      status = kiln_fail_device(context, opened, status, info->origin);
  for (int32_t i = 0; i < count; i++)
    kiln_release(&context->options.memory, pointers[i]);
  return status;
}

kiln_status kiln_rt_call(kiln_context *context, const kiln_call_info *info, const kiln_slice *buffers,
                         const int64_t *bytes, const int64_t *sizes) {
  double begin = context->options.span ? kiln_seconds() : 0;
  kiln_status status = call(context, info, buffers, bytes, sizes);
  if (!status)
    kiln_tell_span(context, &(kiln_span){.name = "call",
                                         .origin = info->origin ? info->origin : "",
                                         .thread = -1,
                                         .begin = begin,
                                         .end = kiln_seconds()});
  return status;
}
