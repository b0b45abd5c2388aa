/*===- api.h - CUDA's driver, found at run time --------------------------===
 *
 * The driver's interface is a stable one in C. The functions that kiln uses are declared here, so that no toolkit is
 * needed to build. Functions that changed once have a second name with "_v2", which kiln uses.
 *
 *===---------------------------------------------------------------------===*/
#ifndef KILN_DEVICE_CUDA_API_H
#define KILN_DEVICE_CUDA_API_H

#include <stdbool.h>
#include <stddef.h>

typedef int cuda_result; /* 0: done */
typedef int cuda_device;
typedef unsigned long long cuda_address;
typedef struct CUctx_st *cuda_context;
typedef struct CUmod_st *cuda_module;
typedef struct CUfunc_st *cuda_function;
typedef struct CUstream_st *cuda_stream;
typedef struct CUevent_st *cuda_event;
typedef struct CUgraph_st *cuda_graph;
typedef struct CUgraphExec_st *cuda_graph_exec;

enum {
  CUDA_OUT_OF_MEMORY = 2,
  CUDA_NO_DEVICE = 100,
  CUDA_UNSUPPORTED_PTX = 222,
  CUDA_COMPUTE_MAJOR = 75, /* attributes of a device */
  CUDA_COMPUTE_MINOR = 76,
  CUDA_STREAM_NON_BLOCKING = 1,
  CUDA_CAPTURE_THREAD_LOCAL = 1,
  CUDA_POINTER_MEMORY_TYPE = 2, /* an attribute of a pointer, and its values */
  CUDA_MEMORY_HOST = 1,
  CUDA_MEMORY_DEVICE = 2,
  CUDA_EVENT_DISABLE_TIMING = 2
};

/* F(result, name, symbol, parameters) */
#define KILN_CUDA_FUNCTIONS(F)                                                                                         \
  F(init, "cuInit", (unsigned flags))                                                                                  \
  F(driver_version, "cuDriverGetVersion", (int *version))                                                              \
  F(error_name, "cuGetErrorName", (cuda_result code, const char **name))                                               \
  F(device_count, "cuDeviceGetCount", (int *count))                                                                    \
  F(device_get, "cuDeviceGet", (cuda_device * device, int index))                                                      \
  F(device_name, "cuDeviceGetName", (char *name, int bytes, cuda_device device))                                       \
  F(device_attribute, "cuDeviceGetAttribute", (int *value, int attribute, cuda_device device))                         \
  F(context_retain, "cuDevicePrimaryCtxRetain", (cuda_context * context, cuda_device device))                          \
  F(context_release, "cuDevicePrimaryCtxRelease_v2", (cuda_device device))                                             \
  F(context_push, "cuCtxPushCurrent_v2", (cuda_context context))                                                       \
  F(context_pop, "cuCtxPopCurrent_v2", (cuda_context * context))                                                       \
  F(module_load, "cuModuleLoadData", (cuda_module * module, const void *image))                                        \
  F(module_unload, "cuModuleUnload", (cuda_module module))                                                             \
  F(module_function, "cuModuleGetFunction", (cuda_function * function, cuda_module module, const char *name))          \
  F(stream_create, "cuStreamCreate", (cuda_stream * stream, unsigned flags))                                           \
  F(stream_destroy, "cuStreamDestroy_v2", (cuda_stream stream))                                                        \
  F(stream_synchronize, "cuStreamSynchronize", (cuda_stream stream))                                                   \
  F(event_create, "cuEventCreate", (cuda_event * event, unsigned flags))                                               \
  F(event_destroy, "cuEventDestroy_v2", (cuda_event event))                                                            \
  F(event_record, "cuEventRecord", (cuda_event event, cuda_stream stream))                                             \
  F(event_synchronize, "cuEventSynchronize", (cuda_event event))                                                       \
  F(event_elapsed, "cuEventElapsedTime", (float *milliseconds, cuda_event begin, cuda_event end))                      \
  F(memory_alloc, "cuMemAlloc_v2", (cuda_address * address, size_t bytes))                                             \
  F(memory_free, "cuMemFree_v2", (cuda_address address))                                                               \
  F(host_alloc, "cuMemHostAlloc", (void **memory, size_t bytes, unsigned flags))                                       \
  F(host_free, "cuMemFreeHost", (void *memory))                                                                        \
  F(pointer_attributes, "cuPointerGetAttributes",                                                                      \
    (unsigned count, const int *attributes, void **values, cuda_address pointer))                                      \
  F(copy, "cuMemcpyAsync", (cuda_address to, cuda_address from, size_t bytes, cuda_stream stream))                     \
  F(copy_within, "cuMemcpyDtoDAsync_v2", (cuda_address to, cuda_address from, size_t bytes, cuda_stream stream))       \
  F(launch, "cuLaunchKernel",                                                                                          \
    (cuda_function function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x, unsigned block_y,    \
     unsigned block_z, unsigned shared_bytes, cuda_stream stream, void **parameters, void **extra))                    \
  F(stream_begin_capture, "cuStreamBeginCapture_v2", (cuda_stream stream, int mode))                                   \
  F(stream_end_capture, "cuStreamEndCapture", (cuda_stream stream, cuda_graph * graph))                                \
  F(graph_instantiate, "cuGraphInstantiateWithFlags",                                                                  \
    (cuda_graph_exec * exec, cuda_graph graph, unsigned long long flags))                                              \
  F(graph_launch, "cuGraphLaunch", (cuda_graph_exec exec, cuda_stream stream))                                         \
  F(graph_exec_destroy, "cuGraphExecDestroy", (cuda_graph_exec exec))                                                  \
  F(graph_destroy, "cuGraphDestroy", (cuda_graph graph))

#define KILN_CUDA_MEMBER(NAME, SYMBOL, PARAMETERS) cuda_result(*NAME) PARAMETERS;

typedef struct cuda_api {
  void *library;
  KILN_CUDA_FUNCTIONS(KILN_CUDA_MEMBER)
} cuda_api;

/* Loads and starts the driver. Returns false with a cause in one line. */
bool kiln_cuda_api_open(cuda_api *api, char *error, size_t error_bytes);
void kiln_cuda_api_close(cuda_api *api);

/* "CUDA_ERROR_ILLEGAL_ADDRESS", or "error 9999". */
const char *kiln_cuda_error_name(const cuda_api *api, cuda_result code, char buffer[32]);

#endif
