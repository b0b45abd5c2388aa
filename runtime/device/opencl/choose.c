/*===- choose.c - Which OpenCL device ------------------------------------===*/
#include "opencl.h"
#include "state.h"

#include <stdio.h>
#include <string.h>

enum { MOST = 16, NAME_BYTES = 320 };

typedef bool (*visitor)(void *user, cl_device_id device, const char *name);

static void name_device(const opencl_api *api, cl_platform_id platform, cl_device_id device, char *name) {
  char of_platform[128] = "", of_device[128] = "";
  api->clGetPlatformInfo(platform, CL_PLATFORM_NAME, sizeof of_platform, of_platform, NULL);
  api->clGetDeviceInfo(device, CL_DEVICE_NAME, sizeof of_device, of_device, NULL);
  snprintf(name, NAME_BYTES, "%s: %s", of_platform, of_device);
}

/* Calls `visit` for every device until it returns true; returns how many there were. */
static int each_device(const opencl_api *api, visitor visit, void *user) {
  cl_platform_id platforms[MOST];
  cl_uint platform_count = 0;
  int count = 0;
  if (api->clGetPlatformIDs(MOST, platforms, &platform_count) != CL_SUCCESS)
    return 0;
  for (cl_uint p = 0; p < platform_count && p < MOST; p++) {
    cl_device_id devices[MOST];
    cl_uint device_count = 0;
    if (api->clGetDeviceIDs(platforms[p], CL_DEVICE_TYPE_ALL, MOST, devices, &device_count) != CL_SUCCESS)
      continue;
    for (cl_uint d = 0; d < device_count && d < MOST; d++) {
      char name[NAME_BYTES];
      name_device(api, platforms[p], devices[d], name);
      count++;
      if (visit(user, devices[d], name))
        return count;
    }
  }
  return count;
}

static const char no_device[] = "there is no OpenCL device; install a driver (such as pocl-opencl-icd)";

typedef struct list_visit {
  void (*visit)(void *user, const char *name);
  void *user;
} list_visit;

static bool list_device(void *user, cl_device_id device, const char *name) {
  const list_visit *list = user;
  (void)device;
  list->visit(list->user, name);
  return false;
}

kiln_status kiln_opencl_list(void (*visit)(void *user, const char *name), void *user, char *error, size_t error_bytes) {
  opencl_api api;
  list_visit list = {visit, user};
  if (!kiln_opencl_api_open(&api, error, error_bytes))
    return KILN_UNAVAILABLE;
  int count = each_device(&api, list_device, &list);
  kiln_opencl_api_close(&api);
  if (count > 0)
    return KILN_OK;
  snprintf(error, error_bytes, "%s", no_device);
  return KILN_UNAVAILABLE;
}

typedef struct choice {
  const opencl_api *api;
  const char *wanted;
  cl_device_id device;
  char names[256]; /* of devices that do not fit */
} choice;

static bool is_gpu(const opencl_api *api, cl_device_id device) {
  cl_device_type type = 0;
  return api->clGetDeviceInfo(device, CL_DEVICE_TYPE, sizeof type, &type, NULL) == CL_SUCCESS &&
         (type & CL_DEVICE_TYPE_GPU);
}

static bool choose(void *user, cl_device_id device, const char *name) {
  choice *made = user;
  if (!made->wanted) {
    bool is_found = is_gpu(made->api, device);
    if (is_found || !made->device)
      made->device = device;
    return is_found;
  }
  if (strstr(name, made->wanted)) {
    made->device = device;
    return true;
  }
  size_t used = strlen(made->names);
  snprintf(made->names + used, sizeof made->names - used, "%s%s", used ? ", " : "", name);
  return false;
}

kiln_status kiln_opencl_choose_device(opencl_state *state, const char *wanted) {
  choice made = {&state->api, wanted, NULL, ""};
  int count = each_device(&state->api, choose, &made);
  state->device = made.device;
  if (made.device)
    return KILN_OK;
  if (count == 0)
    snprintf(state->error, sizeof state->error, "%s", no_device);
  else
    snprintf(state->error, sizeof state->error, "no OpenCL device has '%s' in its name; there are %s", wanted,
             made.names);
  return KILN_UNAVAILABLE;
}
