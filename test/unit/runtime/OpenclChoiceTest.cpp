// Which device OpenCL's is, on platforms of the test's own: "P" has a CPU, "Q" a CPU and two GPUs.
extern "C" {
#include "runtime/device/opencl/opencl.h"
#include "runtime/device/opencl/state.h"
}

#include <catch2/catch.hpp>

#include <cstring>
#include <string>
#include <vector>

namespace {

struct Device {
  const char *name;
  cl_device_type type;
};
struct Platform {
  const char *name;
  std::vector<Device> devices;
};
std::vector<Platform> platforms;

template <typename T> T at(size_t place) { return reinterpret_cast<T>(place + 1); } // NOLINT(performance-no-int-to-ptr)
template <typename T> size_t placeOf(T handle) { return reinterpret_cast<size_t>(handle) - 1; }

cl_int platformIds(cl_uint, cl_platform_id *ids, cl_uint *count) {
  *count = platforms.size();
  for (size_t place = 0; place < platforms.size(); ++place)
    ids[place] = at<cl_platform_id>(place);
  return CL_SUCCESS;
}

cl_int platformInfo(cl_platform_id platform, cl_platform_info, size_t bytes, void *value, size_t *) {
  strncpy(static_cast<char *>(value), platforms[placeOf(platform)].name, bytes - 1);
  return CL_SUCCESS;
}

/// A device's handle is 100 times its platform's place plus its own.
const Device &deviceOf(cl_device_id id) { return platforms[placeOf(id) / 100].devices[placeOf(id) % 100]; }

cl_int deviceIds(cl_platform_id platform, cl_device_type, cl_uint, cl_device_id *ids, cl_uint *count) {
  *count = platforms[placeOf(platform)].devices.size();
  for (size_t place = 0; place < *count; ++place)
    ids[place] = at<cl_device_id>(placeOf(platform) * 100 + place);
  return CL_SUCCESS;
}

cl_int deviceInfo(cl_device_id id, cl_device_info what, size_t bytes, void *value, size_t *) {
  if (what == CL_DEVICE_TYPE)
    memcpy(value, &deviceOf(id).type, sizeof(cl_device_type));
  else
    strncpy(static_cast<char *>(value), deviceOf(id).name, bytes - 1);
  return CL_SUCCESS;
}

/// The name of the device that is chosen, or the error.
std::string chosen(const char *wanted) {
  opencl_state state = {};
  state.api.clGetPlatformIDs = platformIds;
  state.api.clGetPlatformInfo = platformInfo;
  state.api.clGetDeviceIDs = deviceIds;
  state.api.clGetDeviceInfo = deviceInfo;
  return kiln_opencl_choose_device(&state, wanted) == KILN_OK ? deviceOf(state.device).name : state.error;
}

} // namespace

TEST_CASE("OpenCL's device is the first GPU, or the first of all where there is none") {
  platforms = {{"P", {{"p0", CL_DEVICE_TYPE_CPU}}},
               {"Q", {{"q0", CL_DEVICE_TYPE_CPU}, {"q1", CL_DEVICE_TYPE_GPU}, {"q2", CL_DEVICE_TYPE_GPU}}}};
  CHECK(chosen(nullptr) == "q1");
  CHECK(chosen("P: p") == "p0");
  CHECK(chosen("q2") == "q2");
  CHECK(chosen("r") == "no OpenCL device has 'r' in its name; there are P: p0, Q: q0, Q: q1, Q: q2");
  platforms.back().devices.resize(1);
  CHECK(chosen(nullptr) == "p0");
  platforms.clear();
  CHECK(chosen(nullptr) == "there is no OpenCL device; install a driver (such as pocl-opencl-icd)");
}
