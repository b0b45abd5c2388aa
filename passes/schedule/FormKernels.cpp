//===- FormKernels.cpp - Partition the graph into kernels ----------------------===//
// Stage: schedule (graph → host + kernel).
// A tensor that is written to memory and read back costs bandwidth, and a kernel costs a launch; so tensors are
// computed inside the kernels that read them wherever one loop nest can do it.
// Expects: views folded.
// Guarantees: a host.program that launches kernels in order, the kernels, and no graph op.
// Position: after view, whose edges decide what a kernel can fuse; before optimize, which needs the kernels.
//===----------------------------------------------------------------------===//

#include "passes/Passes.h"

#include "passes/schedule/HostBuilder.h"
#include "passes/schedule/MarkAttention.h"
#include "passes/schedule/ScoreSums.h"
#include "passes/schedule/SeparateAssigns.h"
#include "passes/schedule/SplitReduces.h"

using namespace kiln;
using namespace mlir;

namespace kiln {
#define GEN_PASS_DEF_FORMKERNELS
#include "passes/Passes.h.inc"
} // namespace kiln

namespace {
struct FormKernels : kiln::impl::FormKernelsBase<FormKernels> {
  using Base::Base;

  void runOnOperation() override {
    auto main = getOperation().lookupSymbol<func::FuncOp>("main");
    if (!main)
      return;
    SmallVector<SymbolAttr> symbols;
    if (auto list = getOperation()->getAttrOfType<ArrayAttr>(graph::kSymbolsAttr))
      for (Attribute symbol : list)
        symbols.push_back(cast<SymbolAttr>(symbol));
    if (failed(schedule::separateAssigns(main)))
      return signalPassFailure();
    RatesAttr rates = targetOf(getOperation()).getRates();
    if (classic || rates.getUnits() > 1) // one unit sums up as fast alone
      schedule::splitReduces(main, /*writes=*/!classic);
    if (!classic) {
      schedule::markAttention(main, targetOf(getOperation()));
      schedule::scoreSums(main, rates);
    }
    schedule::buildHostProgram(main, symbols, {classic, targetOf(getOperation())});
  }
};
} // namespace
