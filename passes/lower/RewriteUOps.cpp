//===- RewriteUOps.cpp - Fit each kernel's uops to the device ------------------------===//
// Stage: lower (uop → uop).
// Lowering writes a kernel's computation, the same for every device. Operations that a device lacks, or has better ones
// for, are replaced here, by sets of patterns that have names: for each changed op, DEBUG=7 shows the set, the pattern
// and the new ops.
//   quotient        divisions by a known number whose result is rounded to bytes, as products
//   byte            bytes that are made floats again, as floats
//   transcendental  functions of reals that the device has not, as additions, products and bits
//   legalise        other rows that the device has not, as rows that it has
//   fma             a product that is added to a running total and the addition, as one operation
//   gates           loads, stores and branches whose condition is known
//   skip            sums whose terms are all masked, as loops without steps
//   vector          lanes that are taken from vectors and put back
//   fold            arithmetic whose result is known
// Uops listed as tinygrad's are changed by legalise alone.
// Expects: lowered kernels.
// Guarantees: no row on integers, float32 or narrower that the device lacks, but functions of reals where uops are
// listed, and the ldexp of a dump, which is a call then.
// Position: after kernels are written, so that how they were cut and walked changes no rounding; last, so that what
// is printed is what runs.
//===---------------------------------------------------------------------------------===//

#include "passes/Passes.h"

#include "passes/lower/RewriteLog.h"
#include "passes/lower/RewriteSets.h"
#include "support/Pattern.h"

#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace kiln;
using namespace kiln::lower;
using namespace mlir;

namespace kiln {
#define GEN_PASS_DEF_REWRITEUOPS
#include "passes/Passes.h.inc"
} // namespace kiln

namespace {
struct NamedSet {
  llvm::StringLiteral name;
  void (*add)(RewritePatternSet &, const RewriteContext &);
  bool isTopDown = false;
};
} // namespace

static constexpr llvm::StringLiteral kLegalise = "legalise";

/// In the order in which they are applied: a function's formula has products to fuse and constants to fold.
static constexpr NamedSet kSets[] = {{"quotient", addQuotientPatterns},
                                     {"byte", addBytePatterns},
                                     {"transcendental", addTranscendentalPatterns},
                                     {kLegalise, addLegalisePatterns},
                                     {"fma", addFmaPatterns, /*isTopDown=*/true},
                                     {"gates", addGatePatterns},
                                     {"skip", addSkipPatterns},
                                     {"vector", addVectorPatterns},
                                     {"fold", addFoldPatterns}};

namespace {
struct RewriteUOps : kiln::impl::RewriteUOpsBase<RewriteUOps> {
  using Base::Base;

  void rewrite(uop::FuncOp func, TargetAttr target) {
    Constants constants(func);
    RewriteContext context{constants, target};
    bool isLogged =
        llvm::any_of(logged, [&](const std::string &pattern) { return matchesPattern(func.getSymName(), pattern); });
    for (const NamedSet &set : kSets) {
      if (isListed && set.name != kLegalise)
        continue;
      RewritePatternSet patterns(&getContext());
      set.add(patterns, context);
      RewriteListener listener(func, set.name, constants, isLogged);
      GreedyRewriteConfig config;
      // Bottom up a row that is matched with its operands is seen before them, top down a total before its terms.
      config.setUseTopDownTraversal(set.isTopDown)
          .setRegionSimplificationLevel(GreedySimplifyRegionLevel::Disabled)
          .enableFolding(false)
          .enableConstantCSE(false)
          .setListener(&listener);
      (void)applyPatternsGreedily(func, std::move(patterns), config);
    }
  }

  void runOnOperation() override {
    for (auto func : getOperation().getOps<uop::FuncOp>())
      rewrite(func, targetOf(getOperation()));
  }
};
} // namespace
