#include "RunModel.h"

#include "render/c/CHost.h"

const std::vector<kiln::test::Setup> &kiln::test::setups() {
  static const std::vector<Setup> setups = {{render::cDevice(), "gcc"}, {render::cDevice(), "clang-22"}};
  return setups;
}
