/*===- api.c - OpenCL, found at run time ---------------------------------===*/
#define _GNU_SOURCE /* RTLD_NODELETE */
#include "api.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

static bool find(void *library, const char *name, void *function) {
  void *symbol = dlsym(library, name);
  memcpy(function, &symbol, sizeof symbol); /* ISO C has no cast from an object's address to a function's */
  return symbol != NULL;
}

bool kiln_opencl_api_open(opencl_api *api, char *error, size_t error_bytes) {
  static const char file[] = "libOpenCL.so.1";
  const char *missing = NULL;
  *api = (opencl_api){0};
  /* Drivers start threads that outlive the last context; their code must not be unmapped. */
  api->library = dlopen(file, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (!api->library) {
    snprintf(error, error_bytes, "%s cannot be loaded; install an OpenCL loader and driver (ocl-icd-libopencl1)", file);
    return false;
  }
#define NEED(NAME) missing = find(api->library, #NAME, &api->NAME) ? missing : #NAME;
#define WANT(NAME) find(api->library, #NAME, &api->NAME);
  KILN_OPENCL_FUNCTIONS(NEED)
  KILN_OPENCL_SVM_FUNCTIONS(WANT)
  if (missing) {
    snprintf(error, error_bytes, "%s has no %s; wanted OpenCL 1.2 or newer", file, missing);
    kiln_opencl_api_close(api);
  }
  return !missing;
}

void kiln_opencl_api_close(opencl_api *api) {
  if (api->library)
    dlclose(api->library);
  api->library = NULL;
}

const char *kiln_opencl_error_name(cl_int code, char buffer[32]) {
  static const struct {
    cl_int code;
    const char *name;
  } names[] = {
#define NAME(CODE) {CODE, #CODE},
      NAME(CL_DEVICE_NOT_AVAILABLE) NAME(CL_MEM_OBJECT_ALLOCATION_FAILURE) NAME(CL_OUT_OF_RESOURCES)
          NAME(CL_OUT_OF_HOST_MEMORY) NAME(CL_BUILD_PROGRAM_FAILURE) NAME(CL_MISALIGNED_SUB_BUFFER_OFFSET)
              NAME(CL_INVALID_VALUE) NAME(CL_INVALID_DEVICE) NAME(CL_INVALID_CONTEXT) NAME(CL_INVALID_MEM_OBJECT)
                  NAME(CL_INVALID_KERNEL_NAME) NAME(CL_INVALID_ARG_INDEX) NAME(CL_INVALID_ARG_VALUE)
                      NAME(CL_INVALID_ARG_SIZE) NAME(CL_INVALID_KERNEL_ARGS) NAME(CL_INVALID_WORK_GROUP_SIZE)
                          NAME(CL_INVALID_WORK_ITEM_SIZE) NAME(CL_INVALID_BUFFER_SIZE) NAME(CL_INVALID_GLOBAL_WORK_SIZE)
#undef NAME
  };
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (names[i].code == code)
      return names[i].name;
  snprintf(buffer, 32, "error %d", (int)code);
  return buffer;
}
