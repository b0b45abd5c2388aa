/*===- state.h - The state of an open CUDA device ------------------------===*/
#ifndef KILN_DEVICE_CUDA_STATE_H
#define KILN_DEVICE_CUDA_STATE_H

#include "api.h"
#include "kiln/program.h"
#include "replay.h"
#include "staging.h"

typedef struct cuda_state {
  cuda_api api;
  const kiln_model *model;
  int32_t place; /* which of the model's devices this is */
  cuda_device device;
  int arch;             /* compute capability: major * 10 + minor */
  char name[128];       /* "NVIDIA H100 (sm_90)" */
  cuda_context context; /* the device's primary one, which the process shares; current only inside the functions here */
  cuda_stream stream;
  bool callers_stream;
  bool waits; /* the host, at a run's end: not on a caller's stream */
  cuda_module module;
  cuda_function *kernels;
  void **parameters; /* of a launch: pointers to its arguments */
  uint64_t *words;   /* of the step being made, see kiln_cuda_issue */
  cuda_replay replay;
  cuda_staging staging;
  cuda_event timer[2];      /* before and after a launch that is timed; NULL: none was */
  const char *failed;       /* the kernel that could not be launched; NULL: none */
  const char *first, *last; /* the kernels launched since the device was last known to be well; NULL: none */
  char error[512];
} cuda_state;

/* KILN_OK for 0; else sets state->error from `call`'s name and the code. */
kiln_status kiln_cuda_check(cuda_state *state, cuda_result code, const char *call);

/* Picks the device: the first that has `wanted` (NULL: any) in its name. */
kiln_status kiln_cuda_choose_device(cuda_state *state, const char *wanted);

/* Loads the code for this place that fits the GPU, and finds its kernels. The context is current. */
kiln_status kiln_cuda_load_kernels(cuda_state *state);

#endif
