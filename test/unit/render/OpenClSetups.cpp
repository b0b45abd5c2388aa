#include "RunModel.h"

#include "runtime/device/opencl/OpenClDevice.h"

#include "runtime/device/opencl/opencl.h"

#include <catch2/catch.hpp>

/// None, with the reason, where the machine has no OpenCL device; ctest then reports the tests as skipped.
const std::vector<kiln::test::Setup> &kiln::test::setups() {
  static const std::vector<Setup> found = []() -> std::vector<Setup> {
    char error[200];
    if (kiln_opencl_list([](void *, const char *) {}, nullptr, error, sizeof error) == KILN_OK)
      return {{opencl::device(), "clang-22"}};
    WARN("SKIPPED: " << error);
    return {};
  }();
  return found;
}
