/*===- state.h - The state of an open OpenCL device ----------------------===*/
#ifndef KILN_DEVICE_OPENCL_STATE_H
#define KILN_DEVICE_OPENCL_STATE_H

#include "api.h"
#include "kiln/program.h"

typedef struct opencl_state opencl_state;

/* How memory is made and passed. `memory` of a slice is the kind's own. */
typedef struct opencl_memory {
  void *(*alloc)(opencl_state *state, int64_t bytes);
  void (*free)(opencl_state *state, void *memory);
  kiln_status (*write)(opencl_state *state, kiln_slice to, const void *from, int64_t bytes);
  kiln_status (*read)(opencl_state *state, void *to, kiln_slice from, int64_t bytes);
  /* Between ranges that do not overlap. */
  kiln_status (*copy)(opencl_state *state, kiln_slice to, kiln_slice from, int64_t bytes);
  kiln_status (*set_argument)(opencl_state *state, cl_kernel kernel, cl_uint index, kiln_slice slice);
  /* Optional: after set_argument failed or the kernel is in the queue. */
  kiln_status (*after_launch)(opencl_state *state);
} opencl_memory;

/* Shared virtual memory: memory is an address that the device uses too, so any offset will do. */
extern const opencl_memory kiln_opencl_shared_memory;
/* Buffers: an offset makes a sub-buffer, which must begin at a multiple of state->alignment; others are staged. */
extern const opencl_memory kiln_opencl_buffer_memory;

struct opencl_state {
  opencl_api api;
  const kiln_model *model;
  int32_t place; /* which of the model's devices this is */
  cl_device_id device;
  cl_context context;
  cl_command_queue queue;
  cl_program program;
  cl_kernel *kernels;
  const opencl_memory *memory;
  int64_t launch;        /* the number of the one being made */
  int64_t alignment;     /* of a sub-buffer's begin, in bytes */
  bool host_is_shared;   /* the device may use any memory of the host */
  struct staged *staged; /* of the launch being made; see buffers.c */
  char error[512];
};

/* KILN_OK for CL_SUCCESS; else sets state->error from `call`'s name and the code. */
kiln_status kiln_opencl_check(opencl_state *state, cl_int code, const char *call);

/* Picks the device: the first that has `wanted` in its "PLATFORM: DEVICE"; NULL: the first GPU, or if there is none the
 * first device. */
kiln_status kiln_opencl_choose_device(opencl_state *state, const char *wanted);

/* Builds the code of the model's kernels here and makes them. */
kiln_status kiln_opencl_build(opencl_state *state);

#endif
