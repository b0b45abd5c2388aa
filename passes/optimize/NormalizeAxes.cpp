//===- NormalizeAxes.cpp - A kernel's domain in its simplest form --------------===//
// Stage: optimize (kernel → kernel).
// A kernel comes with the axes of its tensors. Fewer, longer axes make simpler index math and give every opt more to
// split.
// Expects: kernels without opts.
// Guarantees: reduced axes are last, none has size 1, no two neighbours are walked as one by every view, and no view
// divides along a reduced axis that two could stand for.
// Position: first, because opts name axes by number.
//===----------------------------------------------------------------------===//

#include "passes/Passes.h"

#include "ir/kernel/Normalize.h"

using namespace kiln;

namespace kiln {
#define GEN_PASS_DEF_NORMALIZEAXES
#include "passes/Passes.h.inc"
} // namespace kiln

namespace {
struct NormalizeAxes : kiln::impl::NormalizeAxesBase<NormalizeAxes> {
  void runOnOperation() override {
    for (auto func : getOperation().getOps<kernel::FuncOp>())
      if (func.getOpts().empty()) {
        kernel::applyNormalization(func, kernel::planNormalization(func));
        kernel::splitReducedAxes(func);
      }
  }
};
} // namespace
