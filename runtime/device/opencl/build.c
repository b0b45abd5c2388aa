/*===- build.c - OpenCL C to kernels -------------------------------------===*/
#include "state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The first line of the compiler's log that is not empty. */
static void report_log(opencl_state *state) {
  size_t bytes = 0;
  state->api.clGetProgramBuildInfo(state->program, state->device, CL_PROGRAM_BUILD_LOG, 0, NULL, &bytes);
  char *log = calloc(bytes + 1, 1);
  if (log)
    state->api.clGetProgramBuildInfo(state->program, state->device, CL_PROGRAM_BUILD_LOG, bytes, log, NULL);
  const char *line = log ? log + strspn(log, " \t\r\n") : "";
  snprintf(state->error, sizeof state->error, "the device's compiler refused the kernels: %.*s",
           (int)strcspn(line, "\r\n"), line);
  free(log);
}

/* Division and square root as the standard rounds them, if the device can. */
static const char *build_options(const opencl_state *state) {
  cl_device_fp_config config = 0;
  state->api.clGetDeviceInfo(state->device, CL_DEVICE_SINGLE_FP_CONFIG, sizeof config, &config, NULL);
  return config & CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT ? "-cl-fp32-correctly-rounded-divide-sqrt" : "";
}

kiln_status kiln_opencl_build(opencl_state *state) {
  const kiln_model *model = state->model;
  const opencl_api *api = &state->api;
  const char *source = model->devices[state->place].code;
  size_t length = (size_t)model->devices[state->place].code_bytes;
  cl_int code;
  state->kernels = calloc((size_t)model->kernel_count + 1, sizeof *state->kernels);
  if (!state->kernels)
    return kiln_opencl_check(state, CL_OUT_OF_HOST_MEMORY, "kernels");
  if (length == 0) /* there are no kernels */
    return KILN_OK;
  state->program = api->clCreateProgramWithSource(state->context, 1, &source, &length, &code);
  if (!state->program)
    return kiln_opencl_check(state, code, "clCreateProgramWithSource");
  code = api->clBuildProgram(state->program, 1, &state->device, build_options(state), NULL, NULL);
  if (code != CL_SUCCESS) {
    report_log(state);
    return KILN_DEVICE_ERROR;
  }
  for (int32_t i = 0; i < model->kernel_count; i++) {
    if (model->kernels[i].device != state->place)
      continue;
    state->kernels[i] = api->clCreateKernel(state->program, model->kernels[i].name, &code);
    if (!state->kernels[i])
      return kiln_opencl_check(state, code, model->kernels[i].name);
  }
  return KILN_OK;
}
