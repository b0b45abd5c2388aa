//===- OptimizeKernels.cpp - Choose each kernel's opts and apply them ----------------===//

#include "passes/Passes.h"

using namespace kiln;

namespace kiln {
#define GEN_PASS_DEF_OPTIMIZEKERNELS
#include "passes/Passes.h.inc"
} // namespace kiln

namespace {
struct OptimizeKernels : kiln::impl::OptimizeKernelsBase<OptimizeKernels> {
  using Base::Base;
  void runOnOperation() override {}
};
} // namespace
