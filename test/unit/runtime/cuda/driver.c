/*===- driver.c - A libcuda.so.1 for machines without a GPU ---------------===
 *
 * The device cuda is mostly about order: which launches are put into a graph, who waits for what, what is left after a
 * failure. None of this needs a GPU, so the tests have a driver that runs on any machine, counts its calls, and can be
 * told which of them fails.
 * It has one GPU, whose memory is malloc's, and knows one kernel: "add" makes y[i] = x[i] + k for i < n of int32, from
 * (y, x, n, k). Everything is done at once, but what is captured: that is done when its graph is launched.
 *
 *===----------------------------------------------------------------------===*/
#include "driver.h"

#include "runtime/device/cuda/api.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { INVALID_VALUE = 1, ILLEGAL_ADDRESS = 700, OUT_OF_RESOURCES = 701, MOST_STEPS = 64, MOST_BLOCKS = 64 };

fake_driver fake_cuda;

typedef struct step {
  int32_t *y;
  const int32_t *x;
  int64_t n, k, bytes; /* bytes 0: the kernel, else a copy of so many */
} step;

struct CUgraph_st {
  int count;
  step steps[MOST_STEPS];
};

static _Thread_local struct CUgraph_st *captured; /* NULL: nothing is */
static _Thread_local int entered;                 /* how often a context was made current */
static pthread_mutex_t blocks_lock = PTHREAD_MUTEX_INITIALIZER;
static struct block {
  char *begin;
  size_t bytes;
} blocks[MOST_BLOCKS];

static void count(int *counter, int change) { __atomic_fetch_add(counter, change, __ATOMIC_RELAXED); }

/* Of every call that works in the current context. */
static void need_context(void) { count(&fake_cuda.strays, entered == 0); }

static void perform(const step *each) {
  if (each->bytes)
    memcpy(each->y, each->x, (size_t)each->bytes);
  for (int64_t i = 0; i < each->n; i++)
    each->y[i] = each->x[i] + (int32_t)each->k;
}

static cuda_result take(step made) {
  if (captured)
    captured->steps[captured->count++] = made;
  else
    perform(&made);
  return 0;
}

cuda_result cuInit(unsigned flags) { return flags != 0; }
cuda_result cuDriverGetVersion(int *version) { return (*version = 12080, 0); }
cuda_result cuGetErrorName(cuda_result code, const char **name) {
  *name = code == ILLEGAL_ADDRESS      ? "ILLEGAL_ADDRESS"
          : code == OUT_OF_RESOURCES   ? "OUT_OF_RESOURCES"
          : code == CUDA_OUT_OF_MEMORY ? "OUT_OF_MEMORY"
                                       : NULL;
  return *name ? 0 : INVALID_VALUE;
}
cuda_result cuDeviceGetCount(int *count) { return (*count = 1, 0); }
cuda_result cuDeviceGet(cuda_device *device, int index) { return (*device = index, 0); }
cuda_result cuDeviceGetName(char *name, int bytes, cuda_device device) {
  (void)device;
  strncpy(name, "fake", (size_t)bytes);
  return 0;
}
cuda_result cuDeviceGetAttribute(int *value, int attribute, cuda_device device) {
  (void)device;
  *value = attribute == CUDA_COMPUTE_MAJOR ? 9 : 0;
  return 0;
}
cuda_result cuDevicePrimaryCtxRetain(cuda_context *context, cuda_device device) {
  (void)device;
  *context = (cuda_context)&fake_cuda;
  return 0;
}
cuda_result cuDevicePrimaryCtxRelease_v2(cuda_device device) { return (void)device, 0; }
cuda_result cuCtxPushCurrent_v2(cuda_context context) { return (void)context, (void)entered++, 0; }
cuda_result cuCtxPopCurrent_v2(cuda_context *context) {
  *context = (cuda_context)&fake_cuda;
  return entered-- == 0;
}
cuda_result cuModuleLoadData(cuda_module *module, const void *image) {
  (void)image;
  *module = (cuda_module)&fake_cuda;
  return 0;
}
cuda_result cuModuleUnload(cuda_module module) { return (void)module, 0; }
cuda_result cuModuleGetFunction(cuda_function *function, cuda_module module, const char *name) {
  *function = (cuda_function)module;
  return strncmp(name, "add", 3) != 0;
}
cuda_result cuStreamCreate(cuda_stream *stream, unsigned flags) {
  (void)flags;
  *stream = (cuda_stream)&fake_cuda;
  return 0;
}
cuda_result cuStreamDestroy_v2(cuda_stream stream) { return (void)stream, 0; }
cuda_result cuStreamSynchronize(cuda_stream stream) {
  (void)stream;
  need_context();
  count(&fake_cuda.waits, 1);
  return fake_cuda.fail_wait || fake_cuda.is_lost ? ILLEGAL_ADDRESS : 0;
}

cuda_result cuEventCreate(cuda_event *event, unsigned flags) {
  *event = (cuda_event)&fake_cuda;
  count(&fake_cuda.events, 1);
  return flags != CUDA_EVENT_DISABLE_TIMING && flags != 0;
}
cuda_result cuEventDestroy_v2(cuda_event event) { return (void)event, count(&fake_cuda.events, -1), 0; }
cuda_result cuEventRecord(cuda_event event, cuda_stream stream) { return (void)event, (void)stream, 0; }
cuda_result cuEventSynchronize(cuda_event event) { return (void)event, 0; }
cuda_result cuEventElapsedTime(float *milliseconds, cuda_event begin, cuda_event end) {
  (void)begin, (void)end;
  *milliseconds = 250;
  return 0;
}

static cuda_result add_block(char *begin, size_t bytes) {
  for (int i = 0; i < MOST_BLOCKS; i++)
    if (!blocks[i].begin) {
      blocks[i] = (struct block){begin, bytes};
      fake_cuda.blocks++;
      return 0;
    }
  return CUDA_OUT_OF_MEMORY;
}
cuda_result cuMemAlloc_v2(cuda_address *address, size_t bytes) {
  need_context();
  if (fake_cuda.most_bytes && bytes > (size_t)fake_cuda.most_bytes)
    return CUDA_OUT_OF_MEMORY;
  char *begin = aligned_alloc(256, (bytes + 255) / 256 * 256);
  pthread_mutex_lock(&blocks_lock);
  cuda_result added = begin ? add_block(begin, bytes) : CUDA_OUT_OF_MEMORY;
  pthread_mutex_unlock(&blocks_lock);
  if (added)
    free(begin);
  *address = added ? 0 : (cuda_address)(uintptr_t)begin;
  return added;
}
cuda_result cuMemHostAlloc(void **memory, size_t bytes, unsigned flags) {
  *memory = NULL;
  if (fake_cuda.fail_host_alloc)
    return CUDA_OUT_OF_MEMORY;
  *memory = aligned_alloc(256, (bytes + 255) / 256 * 256);
  count(&fake_cuda.pinned, *memory != NULL);
  return flags != 0;
}
cuda_result cuMemFreeHost(void *memory) {
  count(&fake_cuda.pinned, -1);
  return (free(memory), 0);
}
/* The block that holds the address; NULL: none. */
static struct block *find_block(cuda_address address) {
  const char *data = (const char *)(uintptr_t)address;
  for (int i = 0; i < MOST_BLOCKS; i++)
    if (blocks[i].begin && data >= blocks[i].begin && data < blocks[i].begin + blocks[i].bytes)
      return &blocks[i];
  return NULL;
}
cuda_result cuMemFree_v2(cuda_address address) {
  need_context();
  pthread_mutex_lock(&blocks_lock);
  struct block *found = find_block(address);
  if (found) {
    free(found->begin);
    found->begin = NULL;
    fake_cuda.blocks--;
  }
  pthread_mutex_unlock(&blocks_lock);
  return found ? 0 : INVALID_VALUE;
}
cuda_result cuPointerGetAttributes(unsigned count, const int *attributes, void **values, cuda_address pointer) {
  pthread_mutex_lock(&blocks_lock);
  const struct block *found = find_block(pointer);
  pthread_mutex_unlock(&blocks_lock);
  if (!found)
    return 0;
  *(unsigned *)values[0] = CUDA_MEMORY_DEVICE;
  return count != 1 || attributes[0] != CUDA_POINTER_MEMORY_TYPE;
}

cuda_result cuMemcpyAsync(cuda_address to, cuda_address from, size_t bytes, cuda_stream stream) {
  (void)stream;
  if (fake_cuda.is_lost)
    return ILLEGAL_ADDRESS;
  need_context();
  count(&fake_cuda.copies, 1);
  return take((step){(int32_t *)(uintptr_t)to, (const int32_t *)(uintptr_t)from, 0, 0, (int64_t)bytes});
}
cuda_result cuMemcpyDtoDAsync_v2(cuda_address to, cuda_address from, size_t bytes, cuda_stream stream) {
  return cuMemcpyAsync(to, from, bytes, stream);
}
cuda_result cuLaunchKernel(cuda_function function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                           unsigned block_y, unsigned block_z, unsigned shared_bytes, cuda_stream stream,
                           void **parameters, void **extra) {
  (void)function, (void)grid_x, (void)grid_y, (void)grid_z, (void)block_x, (void)block_y, (void)block_z;
  (void)shared_bytes, (void)stream, (void)extra;
  need_context();
  if (fake_cuda.is_lost)
    return ILLEGAL_ADDRESS;
  if (fake_cuda.fail_launch && --fake_cuda.fail_launch == 0)
    return fake_cuda.launch_error ? fake_cuda.launch_error : OUT_OF_RESOURCES;
  if (fake_cuda.lost_after && --fake_cuda.lost_after == 0)
    fake_cuda.is_lost = 1;
  count(&fake_cuda.launches, !captured);
  return take((step){*(int32_t **)parameters[0], *(const int32_t **)parameters[1], *(int64_t *)parameters[2],
                     *(int64_t *)parameters[3], 0});
}

cuda_result cuStreamBeginCapture_v2(cuda_stream stream, int mode) {
  (void)stream;
  captured = calloc(1, sizeof *captured);
  return mode != CUDA_CAPTURE_THREAD_LOCAL;
}
cuda_result cuStreamEndCapture(cuda_stream stream, cuda_graph *graph) {
  (void)stream;
  *graph = captured;
  captured = NULL;
  return 0;
}
cuda_result cuGraphInstantiateWithFlags(cuda_graph_exec *exec, cuda_graph graph, unsigned long long flags) {
  struct CUgraph_st *copy = malloc(sizeof *copy);
  *copy = *graph;
  *exec = (cuda_graph_exec)copy;
  return flags != 0;
}
cuda_result cuGraphLaunch(cuda_graph_exec exec, cuda_stream stream) {
  (void)stream;
  need_context();
  count(&fake_cuda.graph_launches, 1);
  for (int i = 0; i < ((cuda_graph)exec)->count; i++)
    perform(&((cuda_graph)exec)->steps[i]);
  return 0;
}
cuda_result cuGraphExecDestroy(cuda_graph_exec exec) { return (free(exec), 0); }
cuda_result cuGraphDestroy(cuda_graph graph) { return (free(graph), 0); }
