/*===- cuda.c - Kernels on NVIDIA's GPUs ---------------------------------===
 *
 * Memory is an address, so a slice is one too. Everything goes to one stream, in order: a write after a launch waits
 * for it on the device, not on the host. Launches and copies between two waits may go there as one graph (replay.c).
 * The context is current only inside these functions, so that a program that uses CUDA itself, or several models,
 * notices nothing.
 *
 *===---------------------------------------------------------------------===*/
#include "cuda.h"

#include "state.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* The largest grid along x, and along y and z. */
#define MOST_GROUPS INT64_C(2147483647)
#define MOST_GROUPS_BESIDE UINT64_C(65535)

/* A copy's word in place of a kernel's number; how many words a copy has, or a launch besides its arguments. */
#define COPY_STEP UINT64_MAX
enum { STEP_WORDS = 4 };

/* Whether an error comes not from the call that returns it but from a kernel that ran before: a bad address, an
 * instruction that failed, a GPU that is lost. Every call returns it from then on. */
static bool is_of_kernel(cuda_result code) {
  static const cuda_result known[] = {214, 220, 226, 700, 702, 710, 714, 715, 716, 717, 718, 719, 999};
  for (size_t i = 0; i < sizeof known / sizeof *known; i++)
    if (known[i] == code)
      return true;
  return false;
}

/* Names the kernels since the device was last known to be well; there is one. */
static void tell_kernels(cuda_state *state, cuda_result code) {
  char buffer[32];
  const char *cause = kiln_cuda_error_name(&state->api, code, buffer);
  if (state->first == state->last)
    snprintf(state->error, sizeof state->error, "kernel %s: %s", state->first, cause);
  else
    snprintf(state->error, sizeof state->error, "a kernel from %s to %s: %s; DEBUG=2 tells which", state->first,
             state->last, cause);
}

kiln_status kiln_cuda_check(cuda_state *state, cuda_result code, const char *call) {
  if (code == 0)
    return KILN_OK;
  if (state->first && is_of_kernel(code)) {
    tell_kernels(state, code);
    return KILN_DEVICE_ERROR;
  }
  char buffer[32];
  snprintf(state->error, sizeof state->error, "%s: %s", call, kiln_cuda_error_name(&state->api, code, buffer));
  return code == CUDA_OUT_OF_MEMORY ? KILN_OUT_OF_MEMORY : KILN_DEVICE_ERROR;
}

static void leave(cuda_state *state) {
  cuda_context popped;
  state->api.context_pop(&popped);
}

static kiln_status enter(cuda_state *state) {
  return kiln_cuda_check(state, state->api.context_push(state->context), "cuCtxPushCurrent");
}

static void cuda_close(void *opaque) {
  cuda_state *state = opaque;
  const cuda_api *api = &state->api;
  if (state->context && enter(state) == KILN_OK) {
    if (state->stream)
      api->stream_synchronize(state->stream);
    kiln_cuda_replay_close(state);
    kiln_cuda_staging_close(state);
    for (int i = 0; i < 2; i++)
      if (state->timer[i])
        api->event_destroy(state->timer[i]);
    if (state->stream && !state->callers_stream)
      api->stream_destroy(state->stream);
    if (state->module)
      api->module_unload(state->module);
    leave(state);
  }
  if (state->context)
    api->context_release(state->device);
  kiln_cuda_api_close(&state->api);
  free(state->kernels);
  free(state->parameters);
  free(state->words);
  free(state);
}

static kiln_status open_state(cuda_state *state, const kiln_options *options) {
  if (!kiln_cuda_api_open(&state->api, state->error, sizeof state->error))
    return KILN_UNAVAILABLE;
  int32_t buffers = 0, sizes = 0;
  for (int32_t i = 0; i < state->model->kernel_count; i++) {
    const kiln_kernel *kernel = &state->model->kernels[i];
    if (kernel->device != state->place)
      continue;
    buffers = kernel->buffers > buffers ? kernel->buffers : buffers;
    sizes = kernel->sizes > sizes ? kernel->sizes : sizes;
  }
  state->words = calloc((size_t)buffers + (size_t)sizes + STEP_WORDS, sizeof *state->words);
  state->parameters = calloc((size_t)buffers + (size_t)sizes + 2, sizeof *state->parameters);
  if (!state->words || !state->parameters)
    return kiln_cuda_check(state, CUDA_OUT_OF_MEMORY, "launches");
  kiln_status status = kiln_cuda_choose_device(state, options->device);
  if (!status)
    status =
        kiln_cuda_check(state, state->api.context_retain(&state->context, state->device), "cuDevicePrimaryCtxRetain");
  if (!status)
    status = enter(state);
  if (status)
    return status;
  state->stream = options->stream;
  state->callers_stream = options->stream != NULL;
  state->waits = !options->stream || options->debug >= 2 || options->span;
  if (!state->callers_stream)
    status =
        kiln_cuda_check(state, state->api.stream_create(&state->stream, CUDA_STREAM_NON_BLOCKING), "cuStreamCreate");
  if (!status)
    status = kiln_cuda_load_kernels(state);
  leave(state);
  return status;
}

static kiln_status cuda_open(const kiln_model *model, int32_t place, const kiln_options *options, void **opaque,
                             char *error, size_t error_bytes) {
  cuda_state *state = calloc(1, sizeof *state);
  if (!state) {
    snprintf(error, error_bytes, "no memory for the device");
    return KILN_OUT_OF_MEMORY;
  }
  state->model = model;
  state->place = place;
  kiln_status status = open_state(state, options);
  if (status) {
    snprintf(error, error_bytes, "%s", state->error);
    cuda_close(state);
    return status;
  }
  *opaque = state;
  return KILN_OK;
}

static cuda_address address(kiln_slice slice) {
  return (cuda_address)(uintptr_t)slice.memory + (cuda_address)slice.offset;
}

static void *cuda_alloc(void *opaque, int64_t bytes) {
  cuda_state *state = opaque;
  cuda_address made = 0;
  if (bytes < 0 || enter(state))
    return NULL;
  kiln_cuda_check(state, state->api.memory_alloc(&made, bytes ? (size_t)bytes : 1), "cuMemAlloc");
  leave(state);
  return (void *)(uintptr_t)made; /* the driver's addresses are numbers: NOLINT(performance-no-int-to-ptr) */
}

/* A step's or a graph's `code`. If a launch that was held back failed, the error has its name, since the caller is at
 * another launch or none and does not know it. */
static kiln_status check_step(cuda_state *state, cuda_result code, const char *call, const char *current) {
  char text[256];
  const char *failed = state->failed;
  state->failed = NULL;
  if (!failed || failed == current)
    return kiln_cuda_check(state, code, call);
  snprintf(text, sizeof text, "kernel %s: cuLaunchKernel", failed);
  return kiln_cuda_check(state, code, text);
}

/* Puts what is held back on the stream. */
static kiln_status flush(cuda_state *state) {
  return check_step(state, kiln_cuda_replay_flush(state), "cuGraphLaunch", NULL);
}

/* Waits for the device. */
static void cuda_free(void *opaque, void *memory) {
  cuda_state *state = opaque;
  if (enter(state))
    return;
  kiln_cuda_replay_flush(state);
  state->api.stream_synchronize(state->stream);
  state->api.memory_free((cuda_address)(uintptr_t)memory);
  leave(state);
}

/* Waits for all launches; if one failed, its name is reported, as far as it is known, now and in every call after. */
static kiln_status wait(cuda_state *state) {
  kiln_status flushed = flush(state);
  if (flushed)
    return flushed;
  cuda_result code = state->api.stream_synchronize(state->stream);
  if (code && state->first) {
    tell_kernels(state, code);
    return KILN_DEVICE_ERROR;
  }
  state->first = state->last = NULL;
  return kiln_cuda_check(state, code, "cuStreamSynchronize");
}

/* All of `from` has been read when this returns. */
static kiln_status cuda_write(void *opaque, kiln_slice to, const void *from, int64_t bytes) {
  cuda_state *state = opaque;
  kiln_status status = bytes ? enter(state) : KILN_OK;
  if (status || !bytes)
    return status;
  status = flush(state);
  if (!status)
    status = kiln_cuda_check(state, kiln_cuda_stage_in(state, address(to), from, (size_t)bytes), "cuMemcpyAsync");
  leave(state);
  return status;
}

static kiln_status cuda_read(void *opaque, void *to, kiln_slice from, int64_t bytes) {
  cuda_state *state = opaque;
  kiln_status status = enter(state);
  if (status)
    return status;
  /* An earlier failure is reported as such, not as a failed copy. */
  status = wait(state);
  if (!status && bytes)
    status = kiln_cuda_check(state, kiln_cuda_stage_out(state, to, address(from), (size_t)bytes), "cuMemcpyAsync");
  if (!status)
    status = wait(state);
  leave(state);
  return status;
}

/* Ranges that overlap go through other memory. */
static kiln_status copy_overlapping(cuda_state *state, cuda_address to, cuda_address from, size_t bytes) {
  cuda_address between = 0;
  kiln_status status = flush(state);
  if (!status)
    status = kiln_cuda_check(state, state->api.memory_alloc(&between, bytes), "cuMemAlloc");
  if (status)
    return status;
  cuda_result code = state->api.copy_within(between, from, bytes, state->stream);
  if (!code)
    code = state->api.copy_within(to, between, bytes, state->stream);
  if (!code)
    code = state->api.stream_synchronize(state->stream);
  state->api.memory_free(between);
  return kiln_cuda_check(state, code, "cuMemcpyDtoDAsync");
}

static kiln_status cuda_copy(void *opaque, kiln_slice to, kiln_slice from, int64_t bytes) {
  cuda_state *state = opaque;
  cuda_address begin = address(from), target = address(to);
  cuda_address apart = begin < target ? target - begin : begin - target;
  if (bytes == 0 || apart == 0)
    return KILN_OK;
  kiln_status status = enter(state);
  if (status)
    return status;
  if (apart < (cuda_address)bytes)
    status = copy_overlapping(state, target, begin, (size_t)bytes);
  else
    status = check_step(
        state, kiln_cuda_replay_step(state, (const uint64_t[]){COPY_STEP, target, begin, (uint64_t)bytes}, STEP_WORDS),
        "cuMemcpyDtoDAsync", NULL);
  leave(state);
  return status;
}

/* A grid that is too long along y or z is launched piece by piece; the kernel takes where its piece begins. */
static cuda_result launch_pieces(cuda_state *state, int32_t kernel, const uint64_t grid[KILN_MAX_GRID],
                                 unsigned begin[2]) {
  const int64_t *local = state->model->kernels[kernel].local;
  for (uint64_t z = 0; z < grid[2]; z += MOST_GROUPS_BESIDE)
    for (uint64_t y = 0; y < grid[1]; y += MOST_GROUPS_BESIDE) {
      uint64_t high = grid[1] - y < MOST_GROUPS_BESIDE ? grid[1] - y : MOST_GROUPS_BESIDE;
      uint64_t deep = grid[2] - z < MOST_GROUPS_BESIDE ? grid[2] - z : MOST_GROUPS_BESIDE;
      begin[0] = (unsigned)y;
      begin[1] = (unsigned)z;
      cuda_result code = state->api.launch(state->kernels[kernel], (unsigned)grid[0], (unsigned)high, (unsigned)deep,
                                           (unsigned)local[0], (unsigned)local[1], (unsigned)local[2], 0, state->stream,
                                           state->parameters, NULL);
      if (code)
        return code;
    }
  return 0;
}

/* A step is COPY_STEP, to, from and bytes, or a kernel's number, its grid, its buffers' addresses and its sizes. */
size_t kiln_cuda_issue(cuda_state *state, const uint64_t *words, cuda_result *code) {
  if (words[0] == COPY_STEP) {
    *code = state->api.copy_within(words[1], words[2], (size_t)words[3], state->stream);
    return *code ? 0 : STEP_WORDS;
  }
  int32_t kernel = (int32_t)words[0], count = 0;
  const kiln_kernel *launched = &state->model->kernels[kernel];
  int32_t arguments = launched->buffers + launched->sizes;
  unsigned begin[2];
  for (; count < arguments; count++)
    state->parameters[count] = (void *)&words[STEP_WORDS + count];
  state->parameters[count++] = &begin[0];
  state->parameters[count++] = &begin[1];
  *code = launch_pieces(state, kernel, &words[1], begin);
  if (*code)
    state->failed = launched->name;
  return *code ? 0 : STEP_WORDS + (size_t)arguments;
}

static kiln_status step(cuda_state *state, size_t words, const char *kernel) {
  kiln_status status = check_step(state, kiln_cuda_replay_step(state, state->words, words), "cuLaunchKernel", kernel);
  state->last = kernel;
  state->first = state->first ? state->first : kernel;
  return status;
}

/* A launch between two events, alone on the stream. */
static kiln_status timed_step(cuda_state *state, size_t words, const char *kernel, double *seconds) {
  const cuda_api *api = &state->api;
  float milliseconds = 0;
  kiln_status status = flush(state);
  for (int i = 0; i < 2 && !status; i++)
    if (!state->timer[i])
      status = kiln_cuda_check(state, api->event_create(&state->timer[i], 0), "cuEventCreate");
  if (!status)
    status = kiln_cuda_check(state, api->event_record(state->timer[0], state->stream), "cuEventRecord");
  if (!status)
    status = step(state, words, kernel);
  if (!status)
    status = flush(state);
  if (!status)
    status = kiln_cuda_check(state, api->event_record(state->timer[1], state->stream), "cuEventRecord");
  if (!status)
    status = wait(state);
  if (!status)
    status = kiln_cuda_check(state, api->event_elapsed(&milliseconds, state->timer[0], state->timer[1]),
                             "cuEventElapsedTime");
  if (!status)
    *seconds = milliseconds * 1e-3;
  return status;
}

static kiln_status cuda_launch(void *opaque, const kiln_launch_info *info, const kiln_slice *buffers,
                               const int64_t *sizes, const int64_t grid[KILN_MAX_GRID],
                               const int64_t estimates[KILN_ESTIMATES], double *seconds) {
  (void)estimates;
  cuda_state *state = opaque;
  const kiln_kernel *launched = &state->model->kernels[info->kernel];
  size_t count = 0;
  if (grid[0] > MOST_GROUPS || grid[1] > UINT32_MAX || grid[2] > UINT32_MAX) {
    snprintf(state->error, sizeof state->error, "a grid of %" PRId64 " by %" PRId64 " by %" PRId64 " is too large",
             grid[0], grid[1], grid[2]);
    return KILN_INVALID_ARGUMENT;
  }
  state->words[count++] = (uint64_t)info->kernel;
  for (int axis = 0; axis < KILN_MAX_GRID; axis++)
    state->words[count++] = (uint64_t)grid[axis];
  for (int32_t i = 0; i < launched->buffers; i++)
    state->words[count++] = address(buffers[i]);
  for (int32_t i = 0; i < launched->sizes; i++)
    state->words[count++] = (uint64_t)sizes[i];
  kiln_status status = enter(state);
  if (status)
    return status;
  status = seconds ? timed_step(state, count, launched->name, seconds) : step(state, count, launched->name);
  leave(state);
  return status;
}

static kiln_status cuda_synchronize(void *opaque) {
  cuda_state *state = opaque;
  kiln_status status = enter(state);
  if (status)
    return status;
  status = state->waits ? wait(state) : flush(state);
  leave(state);
  return status;
}

static int32_t cuda_owns(void *opaque, const void *data) {
  cuda_state *state = opaque;
  static const int attribute = CUDA_POINTER_MEMORY_TYPE;
  unsigned type = 0;
  void *values[] = {&type};
  if (enter(state))
    return 0;
  /* The driver leaves 0 for memory that it does not know; asking for a single attribute would be an error. */
  cuda_result code = state->api.pointer_attributes(1, &attribute, values, (cuda_address)(uintptr_t)data);
  leave(state);
  return code == 0 && type == CUDA_MEMORY_DEVICE;
}

/* Memory that is not paged, so that the GPU writes there itself. */
static void *cuda_host_alloc(void *opaque, int64_t bytes) {
  cuda_state *state = opaque;
  void *made = NULL;
  if (bytes < 0 || enter(state))
    return NULL;
  if (state->api.host_alloc(&made, bytes ? (size_t)bytes : 1, 0))
    made = NULL;
  leave(state);
  return made;
}

static void cuda_host_free(void *opaque, void *memory) {
  cuda_state *state = opaque;
  if (enter(state))
    return;
  state->api.host_free(memory);
  leave(state);
}

static const char *cuda_error(void *opaque) { return ((cuda_state *)opaque)->error; }

const kiln_device kiln_device_cuda = {
    .name = "cuda",
    .open = cuda_open,
    .close = cuda_close,
    .alloc = cuda_alloc,
    .free = cuda_free,
    .write = cuda_write,
    .read = cuda_read,
    .copy = cuda_copy,
    .launch = cuda_launch,
    .synchronize = cuda_synchronize,
    .error = cuda_error,
    .owns = cuda_owns,
    .host_alloc = cuda_host_alloc,
    .host_free = cuda_host_free,
    .list = kiln_cuda_list,
};
