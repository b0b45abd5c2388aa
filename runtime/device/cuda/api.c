/*===- api.c - CUDA's driver, found at run time --------------------------===*/
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

static bool load(cuda_api *api, char *error, size_t error_bytes) {
  static const char file[] = "libcuda.so.1";
  const char *missing = NULL;
  /* The driver's threads outlive the last context; their code must not be unmapped. */
  api->library = dlopen(file, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (!api->library) {
    snprintf(error, error_bytes, "%s cannot be loaded; install NVIDIA's driver, or use another device", file);
    return false;
  }
#define NEED(NAME, SYMBOL, PARAMETERS) missing = find(api->library, SYMBOL, &api->NAME) ? missing : SYMBOL;
  KILN_CUDA_FUNCTIONS(NEED)
  if (missing)
    snprintf(error, error_bytes, "the NVIDIA driver is too old: %s has no %s; install a newer one", file, missing);
  return !missing;
}

bool kiln_cuda_api_open(cuda_api *api, char *error, size_t error_bytes) {
  *api = (cuda_api){0};
  bool done = load(api, error, error_bytes);
  if (done) {
    char buffer[32];
    cuda_result code = api->init(0);
    if (code == CUDA_NO_DEVICE)
      snprintf(error, error_bytes, "there is no NVIDIA GPU on this machine, or none that this process may use");
    else if (code)
      snprintf(error, error_bytes, "the NVIDIA driver does not start: %s", kiln_cuda_error_name(api, code, buffer));
    done = code == 0;
  }
  if (!done)
    kiln_cuda_api_close(api);
  return done;
}

void kiln_cuda_api_close(cuda_api *api) {
  if (api->library)
    dlclose(api->library);
  api->library = NULL;
}

const char *kiln_cuda_error_name(const cuda_api *api, cuda_result code, char buffer[32]) {
  const char *name = NULL;
  if (api->error_name(code, &name) == 0 && name)
    return name;
  snprintf(buffer, 32, "error %d", code);
  return buffer;
}
