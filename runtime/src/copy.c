/*===- copy.c - What a host program calls: copies --------------------------===*/
/*
 * Each device has memory and a queue of its own, and launches return before they are done. Within a device its queue
 * keeps the order. Between two, the source must have been computed, the old contents of the target must have been read,
 * and nothing that either device is given later may come before the copy. A device that knows the other ensures that by
 * their own signals. Otherwise the host waits, and the bytes pass through its memory.
 */
#include "clock.h"
#include "context.h"

#include <inttypes.h>

static char *host_bytes(kiln_slice slice) { return (char *)slice.memory + slice.offset; }

/* By way of the host. `read` waits for its device, `write` has read its bytes when it returns, and memory of the host's
 * own is touched only when its device has done its work. */
static kiln_status copy_by_host(kiln_context *context, const kiln_opened *to, kiln_slice target,
                                const kiln_opened *from, kiln_slice source, int64_t bytes) {
  kiln_status status = KILN_OK;
  const kiln_opened *host = to->device->is_host ? to : from->device->is_host ? from : NULL;
  if (host && (status = kiln_synchronize(context, host, "copy")))
    return status;
  if (!host && !kiln_host_reserve(context, &context->transit, bytes, NULL))
    return kiln_fail(context, KILN_OUT_OF_MEMORY, "copy from %s to %s: no memory for %" PRId64 " bytes",
                     from->device->name, to->device->name, bytes);
  void *data = host ? host_bytes(host == to ? target : source) : context->transit.memory;
  if (host != from && (status = from->device->read(from->state, data, source, bytes)))
    return kiln_fail_device(context, from, status, "copy");
  if (host != to && (status = to->device->write(to->state, target, data, bytes)))
    return kiln_fail_device(context, to, status, "copy");
  return KILN_OK;
}

static kiln_status copy(kiln_context *context, const kiln_opened *to, kiln_slice target, const kiln_opened *from,
                        kiln_slice source, int64_t bytes) {
  kiln_status status = KILN_UNAVAILABLE;
  if (to == from)
    status = to->device->copy(to->state, target, source, bytes);
  else if (to->device->receive)
    status = to->device->receive(to->state, target, from->device, from->state, source, bytes);
  if (to != from && status == KILN_UNAVAILABLE)
    return copy_by_host(context, to, target, from, source, bytes);
  return status ? kiln_fail_device(context, to, status, "copy") : KILN_OK;
}

kiln_status kiln_rt_copy(kiln_context *context, kiln_slice to, kiln_slice from, int64_t bytes, int32_t to_device,
                         int32_t from_device) {
  if (bytes == 0)
    return KILN_OK;
  double begin = context->options.span ? kiln_seconds() : 0;
  kiln_status status = copy(context, &context->devices[to_device], to, &context->devices[from_device], from, bytes);
  if (status)
    return status;
  kiln_tell_span(
      context,
      &(kiln_span){
          .name = "copy", .origin = "", .thread = -1, .begin = begin, .end = kiln_seconds(), .bytes = 2 * bytes});
  return KILN_OK;
}
