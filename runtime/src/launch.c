/*===- launch.c - What a host program calls: kernels ---------------------===*/
#include "clock.h"
#include "context.h"
#include "text.h"

#include <ctype.h>
#include <inttypes.h>

/* The columns of tinygrad's DEBUG=2, which people's eyes and scripts know. */
static void log_launch(kiln_context *context, const kiln_device *on, const kiln_launch_info *info,
                       const int64_t estimates[2], double seconds) {
  const kiln_kernel *kernel = &context->model->kernels[info->kernel];
  char device[8] = "", line[KILN_TEXT_BYTES];
  for (int i = 0; i < 7 && on->name[i]; i++)
    device[i] = (char)toupper((unsigned char)on->name[i]);
  context->launches++;
  context->seconds += seconds;
  bool slow = seconds > 0.01;
  double per_giga = 1e-9 / (seconds > 0 ? seconds : 1e-20);
  kiln_text text = kiln_text_in(line, sizeof line);
  kiln_text_add(&text, "*** %-7s %4d %-38s arg %3d mem %5.2f GB ", device, (int)context->launches, kernel->name,
                (int)kernel->buffers, (double)context->device_bytes * 1e-9);
  kiln_text_add(&text, "tm %9.2f%s/%9.2fms (%8.2f GFLOPS, %7.2f GB/s)", seconds * (slow ? 1e3 : 1e6),
                slow ? "ms" : "us", context->seconds * 1e3, (double)estimates[0] * per_giga,
                (double)estimates[1] * per_giga);
  if (info->origin && info->origin[0])
    kiln_text_add(&text, " %s", info->origin);
  kiln_log(context, line);
}

static bool is_timed(const kiln_context *context) { return context->options.debug >= 2 || context->options.span; }

kiln_status kiln_rt_launch(kiln_context *context, const kiln_launch_info *info, const kiln_slice *buffers,
                           const int64_t *sizes, const int64_t grid[KILN_MAX_GRID], const int64_t estimates[2]) {
  for (int axis = 0; axis < KILN_MAX_GRID; axis++)
    if (grid[axis] <= 0)
      return KILN_OK;
  int wraps = 0;
  int64_t items = 1;
  for (int axis = 0; axis < KILN_MAX_GRID; axis++)
    items = kiln_size_mul(items, grid[axis], &wraps);
  if (wraps)
    return kiln_fail(context, KILN_INVALID_ARGUMENT,
                     "%s: a grid of %" PRId64 " by %" PRId64 " by %" PRId64 " is too large",
                     context->model->kernels[info->kernel].name, grid[0], grid[1], grid[2]);
  const kiln_opened *opened = &context->devices[context->model->kernels[info->kernel].device];
  const kiln_device *device = opened->device;
  bool logged = context->options.debug >= 2, timed = is_timed(context);
  double begin = timed ? kiln_seconds() : 0, seconds = -1;
  kiln_status status = device->launch(opened->state, info, buffers, sizes, grid, estimates, timed ? &seconds : NULL);
  bool measured = seconds >= 0;
  if (!status && timed && !measured && device->synchronize)
    status = device->synchronize(opened->state);
  if (status)
    return kiln_fail_device(context, opened, status, context->model->kernels[info->kernel].name);
  if (!timed)
    return KILN_OK;
  double end = kiln_seconds();
  if (measured)
    begin = end - seconds;
  kiln_tell_span(context, context->model->kernels[info->kernel].name, info->origin, begin, end, estimates);
  if (logged)
    log_launch(context, device, info, estimates, end - begin);
  return KILN_OK;
}

/* Launches that are timed do not wait: each is reported by itself. */
kiln_status kiln_rt_batch_sample(kiln_context *context, int32_t device, int64_t sample, int64_t samples,
                                 int64_t *slot) {
  const kiln_opened *opened = &context->devices[device];
  *slot = 0;
  if (is_timed(context) || !opened->device->batch_sample)
    return KILN_OK;
  kiln_status status = opened->device->batch_sample(opened->state, sample, samples, slot);
  return status ? kiln_fail_device(context, opened, status, "batch") : KILN_OK;
}

kiln_status kiln_rt_batch_end(kiln_context *context, int32_t device) {
  const kiln_opened *opened = &context->devices[device];
  if (is_timed(context) || !opened->device->batch_end)
    return KILN_OK;
  kiln_status status = opened->device->batch_end(opened->state);
  return status ? kiln_fail_device(context, opened, status, "batch") : KILN_OK;
}
