/*===- choose.c - Which GPU ----------------------------------------------===*/
#include "cuda.h"
#include "state.h"

#include <stdio.h>
#include <string.h>

static int describe(const cuda_api *api, cuda_device device, char *name, size_t bytes) {
  char given[96] = "";
  int major = 0, minor = 0;
  api->device_name(given, sizeof given - 1, device);
  api->device_attribute(&major, CUDA_COMPUTE_MAJOR, device);
  api->device_attribute(&minor, CUDA_COMPUTE_MINOR, device);
  snprintf(name, bytes, "%s (sm_%d%d)", given, major, minor);
  return major * 10 + minor;
}

static const char no_device[] = "there is no NVIDIA GPU on this machine";

kiln_status kiln_cuda_list(void (*visit)(void *user, const char *name), void *user, char *error, size_t error_bytes) {
  cuda_api api;
  int count = 0;
  if (!kiln_cuda_api_open(&api, error, error_bytes))
    return KILN_UNAVAILABLE;
  api.device_count(&count);
  for (int i = 0; i < count; i++) {
    cuda_device device;
    char name[128];
    if (api.device_get(&device, i) == 0) {
      describe(&api, device, name, sizeof name);
      visit(user, name);
    }
  }
  kiln_cuda_api_close(&api);
  if (count > 0)
    return KILN_OK;
  snprintf(error, error_bytes, "%s", no_device);
  return KILN_UNAVAILABLE;
}

kiln_status kiln_cuda_choose_device(cuda_state *state, const char *wanted) {
  int count = 0;
  kiln_status status = kiln_cuda_check(state, state->api.device_count(&count), "cuDeviceGetCount");
  for (int i = 0; i < count && !status; i++) {
    status = kiln_cuda_check(state, state->api.device_get(&state->device, i), "cuDeviceGet");
    state->arch = describe(&state->api, state->device, state->name, sizeof state->name);
    if (!status && (!wanted || strstr(state->name, wanted)))
      return KILN_OK;
  }
  if (status)
    return status;
  if (count == 0)
    snprintf(state->error, sizeof state->error, "%s", no_device);
  else
    snprintf(state->error, sizeof state->error, "no NVIDIA GPU has '%s' in its name; see kiln devices", wanted);
  return KILN_UNAVAILABLE;
}
