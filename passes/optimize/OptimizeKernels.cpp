//===- OptimizeKernels.cpp - Choose each kernel's opts and apply them ----------------===//
// Stage: optimize (kernel → kernel).
// The order in which a kernel walks its domain decides how fast it is. A list of opts is chosen, by hand or from the
// kernel's structure, and applied one by one; the list stays on the kernel as data.
// Expects: normalized axes.
// Guarantees: axes, index and stages say all that lower needs.
// Position: before launches are split, because that goes by the stages that opts make.
//===----------------------------------------------------------------------------------===//

#include "passes/Passes.h"

#include "passes/optimize/ApplyOpts.h"
#include "passes/optimize/GroupSize.h"
#include "passes/optimize/choose/Heuristic.h"
#include "passes/optimize/choose/OptsFile.h"

#include "ir/kernel/ByHand.h"
#include "ir/kernel/MatrixProduct.h"
#include "support/Error.h"
#include "support/Nearest.h"

using namespace kiln;
using namespace mlir;
using kernel::AxisKind;
using view::Expr;

namespace kiln {
#define GEN_PASS_DEF_OPTIMIZEKERNELS
#include "passes/Passes.h.inc"
} // namespace kiln

/// A group of more items, or with more local memory, than the device has would only fail at its launch.
static llvm::Error checkGroup(kernel::FuncOp func, TargetAttr target) {
  if (!target.hasGroups())
    return llvm::Error::success();
  auto [items, bytes] = optimize::groupSizeOf(func);
  if (items > target.maxItems())
    return failure("kernel " + func.getName() + ": its groups have " + llvm::Twine(items) + " items, the device's " +
                       llvm::Twine(target.maxItems()) + " at most",
                   "split by less with LOCAL or GROUP");
  if (bytes > target.localBytes())
    return failure("kernel " + func.getName() + ": its groups want " + llvm::Twine(bytes) +
                       " bytes of local memory, the device has " + llvm::Twine(target.localBytes()),
                   "split by less with LOCAL or GROUP, or STAGE less");
  return llvm::Error::success();
}

/// A kernel without what no choice of opts depends on: its name and the values of its numbers.
static std::string structureOf(kernel::FuncOp func) {
  OwningOpRef<kernel::FuncOp> copy = func.clone();
  copy->setName("kernel");
  copy->walk([](kernel::ConstOp number) {
    number.setValueAttr(cast<TypedAttr>(Builder(number.getContext()).getZeroAttr(number.getType())));
  });
  std::string text;
  llvm::raw_string_ostream(text) << *copy;
  return text;
}

namespace {
struct OptimizeKernels : kiln::impl::OptimizeKernelsBase<OptimizeKernels> {
  using Base::Base;

  LogicalResult initialize(MLIRContext *context) override {
    std::optional<optimize::OptsFault> fault;
    byHand_ = optimize::parseOptsFile(context, opts, fault);
    return fault ? refuse(context, fault->number, fault->what) : success();
  }

  void runOnOperation() override {
    weights_ = optimize::weightsOf(getOperation());
    chosen_.clear(); // another module may be for another target
    if (isLast && failed(checkNames()))
      return signalPassFailure();
    for (auto func : getOperation().getOps<kernel::FuncOp>()) {
      if (!func.getOpts().empty())
        continue;
      if (const optimize::OptsLine *line = lineOf(func)) {
        if (llvm::Error error = apply(func, line->opts)) {
          (void)refuse(&getContext(), line->number, llvm::toString(std::move(error)));
          return signalPassFailure();
        }
      } else if (!noOpt) {
        choose(func);
      }
    }
  }

private:
  /// An error about a line of the file of opts.
  LogicalResult refuse(MLIRContext *context, unsigned line, const llvm::Twine &what) {
    return emitError(FileLineColLoc::get(context, optsPath, line, 0)) << what;
  }

  /// Refuses a line that no kernel takes.
  LogicalResult checkNames() {
    SmallVector<llvm::StringRef> names;
    for (auto func : getOperation().getOps<kernel::FuncOp>())
      names.push_back(func.getName());
    for (const optimize::OptsLine &line : byHand_)
      if (!llvm::is_contained(names, line.kernel))
        return refuse(&getContext(), line.number,
                      "there is no kernel '" + line.kernel + "'; " +
                          didYouMean(line.kernel, names, "--emit opts lists the kernels"));
    return success();
  }

  /// Whether a kernel with opts can be lowered.
  llvm::Error check(kernel::FuncOp func) {
    if (auto fault = kernel::faultOfProducts(func, targetOf(getOperation())))
      return failure("kernel " + func.getName() + ": " + *fault);
    return checkGroup(func, targetOf(getOperation()));
  }

  llvm::Error apply(kernel::FuncOp func, ArrayRef<kernel::OptAttr> opts) {
    for (kernel::OptAttr opt : opts)
      if (llvm::Error error = optimize::applyOpt(func, opt, targetOf(getOperation())))
        return failure("kernel " + func.getName() + ": " + llvm::toString(std::move(error)));
    if (!opts.empty())
      func->setAttr(kernel::kByHand, UnitAttr::get(&getContext()));
    return check(func);
  }

  /// Opts that kiln chose never end a compilation: if a list does not fit, its last ones are left out.
  void choose(kernel::FuncOp func) {
    TargetAttr target = targetOf(getOperation());
    llvm::SmallBitVector weights = weights_.lookup(func.getName());
    weights.resize(func.getNumArguments());
    std::string structure = structureOf(func);
    for (unsigned weight : weights.set_bits())
      structure += " " + std::to_string(weight);
    auto [known, isNew] = chosen_.try_emplace(structure);
    optimize::Trial chosen =
        isNew ? optimize::chooseOpts(func, target, weights) : applied(func, ArrayRef(known->second));
    std::string fault = chosen.fits() ? "" : ("kernel " + func.getName() + ": " + chosen.fault()).str();
    SmallVector<kernel::OptAttr> opts(chosen.opts());
    if (!chosen.fits())
      chosen = applied(func, opts);
    for (llvm::Error error = check(chosen.func()); error; error = check(chosen.func())) {
      std::string what = llvm::toString(std::move(error));
      fault = fault.empty() ? what : fault;
      opts.pop_back();
      chosen = applied(func, opts);
    }
    if (!fault.empty())
      func.emitWarning(fault) << "; kiln chose this opt itself and goes on without it and those after it, which may be "
                                 "slower; please report it";
    known->second.assign(chosen.opts().begin(), chosen.opts().end());
    func->setAttrs(chosen.func()->getAttrDictionary());
    func.getBody().takeBody(chosen.func().getBody());
  }

  optimize::Trial applied(kernel::FuncOp func, ArrayRef<kernel::OptAttr> opts) {
    optimize::Trial trial(func, targetOf(getOperation()));
    for (kernel::OptAttr opt : opts)
      trial.apply(opt);
    return trial;
  }

  const optimize::OptsLine *lineOf(kernel::FuncOp func) const {
    auto line = llvm::find_if(byHand_, [&](const auto &one) { return one.kernel == func.getName(); });
    return line == byHand_.end() ? nullptr : &*line;
  }

  std::vector<optimize::OptsLine> byHand_;
  llvm::StringMap<llvm::SmallBitVector> weights_;
  llvm::StringMap<SmallVector<kernel::OptAttr>> chosen_; ///< structure → opts
};
} // namespace
