//===- LowerKernels.cpp - Write each kernel as one item's code ----------------------===//
// Stage: lower (kernel → uop).
// Everything that was decided about a kernel becomes loops, vectors and index math here; nothing is decided any more.
// Expects: opts applied.
// Guarantees: a uop.func for every kernel under its name, and launches that know their grid and what they cost.
// Position: after opts and the memory plan, which decide all; before uops are rewritten for the device.
//===----------------------------------------------------------------------===//

#include "passes/Passes.h"

#include "passes/lower/KernelLowering.h"

#include "ir/host/Sizes.h"
#include "ir/kernel/ByHand.h"
#include "ir/uop/LaunchCost.h"

using namespace kiln;
using namespace mlir;
using view::Expr;

namespace kiln {
#define GEN_PASS_DEF_LOWERKERNELS
#include "passes/Passes.h.inc"
} // namespace kiln

/// The values of the sizes that a launch passes, by symbol.
static void completeLaunch(host::LaunchOp launch, uop::FuncOp func) {
  OpBuilder builder(launch);
  auto evaluate = [&](Expr expr) { return host::evaluate(builder, launch, func.getSizes().getSizes(), expr); };
  SmallVector<Value> grid = llvm::map_to_vector(func.getGrid().getSizes(), evaluate);
  launch.getGridMutable().assign(grid);
  launch.getOperationsMutable().assign(evaluate(uop::modelOperationsOf(func)));
  launch.getBytesMutable().assign(evaluate(func.getBytes().getValue()));
  launch.getExpectedMutable().assign(evaluate(uop::expectedPicosecondsOf(func)));
}

/// Unrolled points that are each tested separately make code by the ten thousand, which a compiler works on for
/// minutes; useful kernels have some thousand operations. Opts that kiln chose are not refused.
static std::optional<std::string> faultOfSize(bool isByHand, uop::FuncOp func) {
  constexpr int64_t kMostOperations = 1 << 14;
  int64_t count = 0;
  func.walk([&](Operation *) { ++count; });
  if (!isByHand || count <= kMostOperations)
    return std::nullopt;
  return ("kernel " + func.getName() + ": unrolled it has " + llvm::Twine(count) + " operations, " +
          llvm::Twine(kMostOperations) + " at most are compiled; UPCAST, UNROLL or VECTOR by less")
      .str();
}

namespace {
struct LowerKernels : kiln::impl::LowerKernelsBase<LowerKernels> {
  void runOnOperation() override {
    llvm::StringMap<uop::FuncOp> lowered;
    for (auto func : llvm::make_early_inc_range(getOperation().getOps<kernel::FuncOp>())) {
      if (std::optional<std::string> fault = kernel::faultOfProducts(func, targetOf(getOperation()))) {
        func.emitError(*fault);
        return signalPassFailure();
      }
      uop::FuncOp out = lower::KernelLowering(func).run();
      lowered[out.getName()] = out;
      if (std::optional<std::string> fault = faultOfSize(func->hasAttr(kernel::kByHand), out)) {
        func.emitError(*fault);
        return signalPassFailure();
      }
      func.erase();
    }
    for (auto program : getOperation().getOps<host::ProgramOp>())
      program.walk([&](host::LaunchOp launch) { completeLaunch(launch, lowered.at(launch.getKernel())); });
  }
};
} // namespace
