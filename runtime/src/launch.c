/*===- launch.c - What a host program calls: kernels ---------------------===*/
#include "clock.h"
#include "context.h"
#include "text.h"

#include <ctype.h>
#include <inttypes.h>

/* The columns of tinygrad's DEBUG=2, which people's eyes and scripts know. */
static void log_launch(kiln_context *context, const kiln_device *on, const kiln_launch_info *info,
                       const int64_t estimates[KILN_ESTIMATES], double seconds) {
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
  if (estimates[2] > 0)
    kiln_text_add(&text, " expected %.2fus", (double)estimates[2] * 1e-6);
  kiln_log(context, line);
}

/* The most that the device moves in a nanosecond of so many bytes: those that fit a cache may come from there. */
static double bytes_per_ns(const kiln_place *place, int64_t bytes) {
  for (size_t i = 0; i < sizeof place->caches / sizeof *place->caches; i++)
    if (bytes <= place->caches[i].bytes)
      return place->caches[i].bytes_per_ns;
  return place->bytes_per_ns;
}

/* The time that one of the two takes at the device's peak; 0 if that is not known. */
static double least_seconds(const kiln_place *place, const int64_t estimates[KILN_ESTIMATES]) {
  if (place->operations_per_ns <= 0 || place->bytes_per_ns <= 0)
    return 0;
  double computed = (double)estimates[0] / place->operations_per_ns;
  double moved = (double)estimates[1] / bytes_per_ns(place, estimates[1]);
  return (computed > moved ? computed : moved) * 1e-9;
}

static bool is_timed(const kiln_context *context) { return context->options.debug >= 2 || context->options.span; }

kiln_status kiln_rt_launch(kiln_context *context, const kiln_launch_info *info, const kiln_slice *buffers,
                           const int64_t *sizes, const int64_t grid[KILN_MAX_GRID],
                           const int64_t estimates[KILN_ESTIMATES]) {
  for (int axis = 0; axis < KILN_MAX_GRID; axis++)
    if (grid[axis] <= 0)
      return KILN_OK;
  const kiln_kernel *kernel = &context->model->kernels[info->kernel];
  int wraps = 0;
  int64_t items = 1;
  for (int axis = 0; axis < KILN_MAX_GRID; axis++)
    items = kiln_size_mul(items, grid[axis], &wraps);
  if (wraps)
    return kiln_fail(context, KILN_INVALID_ARGUMENT,
                     "%s: a grid of %" PRId64 " by %" PRId64 " by %" PRId64 " is too large", kernel->name, grid[0],
                     grid[1], grid[2]);
  const kiln_opened *opened = &context->devices[kernel->device];
  const kiln_device *device = opened->device;
  bool logged = context->options.debug >= 2, timed = is_timed(context);
  double begin = timed ? kiln_seconds() : 0, seconds = -1;
  kiln_status status = device->launch(opened->state, info, buffers, sizes, grid, estimates, timed ? &seconds : NULL);
  bool measured = seconds >= 0;
  if (!status && timed && !measured && device->synchronize)
    status = device->synchronize(opened->state);
  if (status)
    return kiln_fail_device(context, opened, status, kernel->name);
  if (!timed)
    return KILN_OK;
  double end = kiln_seconds();
  if (measured)
    begin = end - seconds;
  kiln_tell_span(context, &(kiln_span){.name = kernel->name,
                                       .origin = info->origin ? info->origin : "",
                                       .thread = -1,
                                       .begin = begin,
                                       .end = end,
                                       .operations = estimates[0],
                                       .bytes = estimates[1],
                                       .expected = (double)estimates[2] * 1e-12,
                                       .least = least_seconds(&context->model->devices[kernel->device], estimates)});
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
