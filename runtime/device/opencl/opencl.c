/*===- opencl.c - Kernels in OpenCL C -------------------------------------===
 *
 * The runtime hands out slices: an offset into memory, whatever the offset is. OpenCL's buffers are handles, whose
 * parts begin only at certain offsets. So memory comes in two kinds: shared virtual memory if the device has it
 * (shared.c), else buffers (buffers.c); a table of functions, chosen when the device is opened, hides which. The device
 * opencl-buffers takes the second kind everywhere.
 * OpenCL is found when the program runs and not linked to it (api.c): on a machine without it there is an error, not a
 * program that does not start.
 *
 *===----------------------------------------------------------------------===*/
#include "opencl.h"

#include "state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

kiln_status kiln_opencl_check(opencl_state *state, cl_int code, const char *call) {
  if (code == CL_SUCCESS)
    return KILN_OK;
  char buffer[32];
  snprintf(state->error, sizeof state->error, "%s: %s", call, kiln_opencl_error_name(code, buffer));
  return code == CL_MEM_OBJECT_ALLOCATION_FAILURE || code == CL_OUT_OF_HOST_MEMORY ? KILN_OUT_OF_MEMORY
                                                                                   : KILN_DEVICE_ERROR;
}

static void opencl_close(void *opaque) {
  opencl_state *state = opaque;
  const opencl_api *api = &state->api;
  if (state->queue)
    api->clFinish(state->queue);
  for (int32_t i = 0; state->kernels && i < state->model->kernel_count; i++)
    if (state->kernels[i])
      api->clReleaseKernel(state->kernels[i]);
  if (state->program)
    api->clReleaseProgram(state->program);
  if (state->queue)
    api->clReleaseCommandQueue(state->queue);
  if (state->context)
    api->clReleaseContext(state->context);
  kiln_opencl_api_close(&state->api);
  free(state->kernels);
  free(state);
}

/* Shared virtual memory if the device has it, because then any offset will do. */
static void choose_memory(opencl_state *state, bool shared) {
  const opencl_api *api = &state->api;
  cl_uint alignment_bits = 0;
  cl_device_svm_capabilities capabilities = 0;
  api->clGetDeviceInfo(state->device, CL_DEVICE_MEM_BASE_ADDR_ALIGN, sizeof alignment_bits, &alignment_bits, NULL);
  if (!api->clSVMAlloc || !api->clSVMFree || !api->clEnqueueSVMMemcpy || !api->clSetKernelArgSVMPointer ||
      api->clGetDeviceInfo(state->device, CL_DEVICE_SVM_CAPABILITIES, sizeof capabilities, &capabilities, NULL) !=
          CL_SUCCESS)
    capabilities = 0;
  shared &= (capabilities & CL_DEVICE_SVM_COARSE_GRAIN_BUFFER) != 0;
  state->alignment = alignment_bits >= 8 ? alignment_bits / 8 : 1;
  state->memory = shared ? &kiln_opencl_shared_memory : &kiln_opencl_buffer_memory;
  state->host_is_shared = shared && (capabilities & CL_DEVICE_SVM_FINE_GRAIN_SYSTEM);
}

static kiln_status open_state(opencl_state *state, const kiln_options *options, bool shared) {
  if (!kiln_opencl_api_open(&state->api, state->error, sizeof state->error))
    return KILN_UNAVAILABLE;
  kiln_status status = kiln_opencl_choose_device(state, options->device);
  if (status)
    return status;
  cl_int code;
  state->context = state->api.clCreateContext(NULL, 1, &state->device, NULL, NULL, &code);
  if (!state->context)
    return kiln_opencl_check(state, code, "clCreateContext");
  bool timed = options->debug >= 2 || options->span;
  state->queue =
      state->api.clCreateCommandQueue(state->context, state->device, timed ? CL_QUEUE_PROFILING_ENABLE : 0, &code);
  if (!state->queue)
    return kiln_opencl_check(state, code, "clCreateCommandQueue");
  choose_memory(state, shared);
  return kiln_opencl_build(state);
}

static kiln_status open_with(const kiln_model *model, int32_t place, const kiln_options *options, bool shared,
                             void **opaque, char *error, size_t error_bytes) {
  opencl_state *state = calloc(1, sizeof *state);
  if (!state) {
    snprintf(error, error_bytes, "no memory for the device");
    return KILN_OUT_OF_MEMORY;
  }
  state->model = model;
  state->place = place;
  kiln_status status = open_state(state, options, shared);
  if (status) {
    snprintf(error, error_bytes, "%s", state->error);
    opencl_close(state);
    return status;
  }
  *opaque = state;
  return KILN_OK;
}

static kiln_status open_shared(const kiln_model *model, int32_t place, const kiln_options *options, void **opaque,
                               char *error, size_t error_bytes) {
  return open_with(model, place, options, true, opaque, error, error_bytes);
}

static kiln_status open_buffers(const kiln_model *model, int32_t place, const kiln_options *options, void **opaque,
                                char *error, size_t error_bytes) {
  return open_with(model, place, options, false, opaque, error, error_bytes);
}

static void *opencl_alloc(void *opaque, int64_t bytes) {
  opencl_state *state = opaque;
  return bytes < 0 || bytes > INT64_MAX / 2 ? NULL : state->memory->alloc(state, bytes);
}

static void opencl_free(void *opaque, void *memory) {
  opencl_state *state = opaque;
  state->memory->free(state, memory);
}

static kiln_status opencl_write(void *opaque, kiln_slice to, const void *from, int64_t bytes) {
  opencl_state *state = opaque;
  return state->memory->write(state, to, from, bytes);
}

static kiln_status opencl_read(void *opaque, void *to, kiln_slice from, int64_t bytes) {
  opencl_state *state = opaque;
  return state->memory->read(state, to, from, bytes);
}

/* OpenCL's own copies refuse ranges that overlap. */
static kiln_status opencl_copy(void *opaque, kiln_slice to, kiln_slice from, int64_t bytes) {
  opencl_state *state = opaque;
  int64_t shift = to.offset - from.offset;
  if (to.memory != from.memory || shift >= bytes || -shift >= bytes)
    return state->memory->copy(state, to, from, bytes);
  if (shift == 0)
    return KILN_OK;
  kiln_slice between = {opencl_alloc(state, bytes), 0};
  if (!between.memory)
    return kiln_opencl_check(state, CL_MEM_OBJECT_ALLOCATION_FAILURE, "copy");
  kiln_status status = state->memory->copy(state, between, from, bytes);
  if (!status)
    status = state->memory->copy(state, to, between, bytes);
  state->memory->free(state, between.memory);
  return status;
}

/* Waits for the event's command and takes its time. */
static kiln_status time_event(opencl_state *state, cl_event event, double *seconds) {
  cl_ulong begin = 0, end = 0;
  kiln_status status = kiln_opencl_check(state, state->api.clWaitForEvents(1, &event), "clWaitForEvents");
  cl_int first = state->api.clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_START, sizeof begin, &begin, NULL);
  cl_int last = state->api.clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof end, &end, NULL);
  if (!status && !first && !last && end >= begin)
    *seconds = (double)(end - begin) * 1e-9;
  state->api.clReleaseEvent(event);
  return status;
}

static kiln_status enqueue(opencl_state *state, int32_t kernel, const kiln_slice *buffers, const int64_t *sizes,
                           const int64_t grid[KILN_MAX_GRID], double *seconds) {
  const kiln_kernel *launched = &state->model->kernels[kernel];
  cl_kernel handle = state->kernels[kernel];
  cl_uint index = 0;
  for (int32_t i = 0; i < launched->buffers; i++) {
    kiln_status status = state->memory->set_argument(state, handle, index++, buffers[i]);
    if (status)
      return status;
  }
  for (int32_t i = 0; i < launched->sizes; i++) {
    cl_long size = sizes[i];
    kiln_status status =
        kiln_opencl_check(state, state->api.clSetKernelArg(handle, index++, sizeof size, &size), "clSetKernelArg");
    if (status)
      return status;
  }
  size_t local[KILN_MAX_GRID], global[KILN_MAX_GRID];
  for (int axis = 0; axis < KILN_MAX_GRID; axis++) {
    local[axis] = (size_t)launched->local[axis];
    global[axis] = local[axis] * (size_t)grid[axis];
  }
  cl_event event = NULL;
  kiln_status status =
      kiln_opencl_check(state,
                        state->api.clEnqueueNDRangeKernel(state->queue, handle, KILN_MAX_GRID, NULL, global, local, 0,
                                                          NULL, seconds ? &event : NULL),
                        "clEnqueueNDRangeKernel");
  return event ? time_event(state, event, seconds) : status;
}

static kiln_status opencl_launch(void *opaque, const kiln_launch_info *info, const kiln_slice *buffers,
                                 const int64_t *sizes, const int64_t grid[KILN_MAX_GRID],
                                 const int64_t estimates[KILN_ESTIMATES], double *seconds) {
  (void)estimates;
  opencl_state *state = opaque;
  state->launch++;
  kiln_status status = enqueue(state, info->kernel, buffers, sizes, grid, seconds);
  kiln_status after = state->memory->after_launch ? state->memory->after_launch(state) : KILN_OK;
  return status ? status : after;
}

static kiln_status opencl_synchronize(void *opaque) {
  opencl_state *state = opaque;
  return kiln_opencl_check(state, state->api.clFinish(state->queue), "clFinish");
}

static const char *opencl_error(void *opaque) { return ((opencl_state *)opaque)->error; }

static void *opencl_map_host(void *opaque, void *data) {
  return ((opencl_state *)opaque)->host_is_shared ? data : NULL;
}

#define OPENCL_DEVICE(NAME, OPEN)                                                                                      \
  {                                                                                                                    \
      .name = NAME,                                                                                                    \
      .open = OPEN,                                                                                                    \
      .close = opencl_close,                                                                                           \
      .alloc = opencl_alloc,                                                                                           \
      .free = opencl_free,                                                                                             \
      .write = opencl_write,                                                                                           \
      .read = opencl_read,                                                                                             \
      .copy = opencl_copy,                                                                                             \
      .launch = opencl_launch,                                                                                         \
      .synchronize = opencl_synchronize,                                                                               \
      .error = opencl_error,                                                                                           \
      .map_host = opencl_map_host,                                                                                     \
      .list = kiln_opencl_list,                                                                                        \
  }

const kiln_device kiln_device_opencl = OPENCL_DEVICE("opencl", open_shared);
const kiln_device kiln_device_opencl_buffers = OPENCL_DEVICE("opencl-buffers", open_buffers);
