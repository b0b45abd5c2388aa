//===- SplitByRows.cpp - A kernel for few rows and one for many -----------------------------===//
// Stage: optimize (host + kernels → host + kernels).
// A product of rows that only the run knows how many there are is walked for many of them: a panel of columns is
// copied, which all rows use. A decoder that takes one token at a time has one row, for which the copy takes several
// times as long as the product. Few rows want columns read line by line, which would be slow for many; a kernel has one
// walk, so there are two, and the host program chooses between them when it knows the size. Neither is made in place of
// an input: what a branch writes belongs to the whole program.
// Expects: normalized kernels without opts.
// Guarantees: a product that is walked otherwise where its rows are few has a kernel for these and one for more; the
// bounds of each kernel's symbol say which it is.
// Position: before opts are chosen, which go by the bounds.
//===----------------------------------------------------------------------------------------===//

#include "passes/Passes.h"

#include "passes/optimize/Chooser.h"
#include "passes/optimize/Heuristic.h"
#include "passes/optimize/Product.h"

#include "ir/host/Host.h"
#include "ir/kernel/Normalize.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/IR/Builders.h"

using namespace kiln;
using namespace kiln::kernel;
using namespace mlir;
using view::Expr;

namespace kiln {
#define GEN_PASS_DEF_SPLITBYROWS
#include "passes/Passes.h.inc"
} // namespace kiln

/// Has a kernel without opts take another symbol for one.
static void replaceSymbol(FuncOp func, Expr symbol, Expr by) {
  MLIRContext *context = func.getContext();
  llvm::DenseMap<Expr, Expr> values{{symbol, by}};
  AttrTypeReplacer replacer;
  replacer.addReplacement([&](ExprAttr attr) { return ExprAttr::get(context, attr.getValue().substitute(values)); });
  replacer.addReplacement(
      [&](TrackerAttr attr) { return TrackerAttr::get(context, attr.getValue().substitute(values)); });
  replacer.addReplacement([&](DimsAttr attr) {
    return DimsAttr::get(context, llvm::map_to_vector(attr.getSizes(), [&](Expr e) { return e.substitute(values); }));
  });
  replacer.recursivelyReplaceElementsIn(func);
  SmallVector<Expr> domain(func.getDomain().getSizes());
  setDomain(func, domain); // axes are bounded by its sizes
}

/// The symbol that says how many rows a product has, few or many; nullopt where it is none by itself.
static std::optional<Expr> rowsOf(FuncOp func, TargetAttr target, const llvm::SmallBitVector &weights) {
  bool isKnown = llvm::all_of(func.getDomain().getSizes(), [](Expr size) { return size.isConst(); });
  if (isKnown || target.vectorBits() < 2 * optimize::elementBits(func))
    return std::nullopt;
  std::optional<optimize::Product> product = optimize::findProduct(func, target, weights);
  if (!product)
    return std::nullopt;
  Expr rows = func.getDomain().getSizes()[product->m];
  bool isEither = rows.kind() == Expr::Kind::Var && !rows.limit() && rows.min() < optimize::kManyUnknownRows - 1 &&
                  rows.max() > optimize::kManyUnknownRows;
  return isEither ? std::optional(rows) : std::nullopt;
}

/// Launches one of two kernels.
static void launchEither(host::LaunchOp launch, FuncOp few, unsigned size) {
  OpBuilder builder(launch);
  Location loc = launch.getLoc();
  Value many = arith::ConstantOp::create(builder, loc, builder.getI64IntegerAttr(optimize::kManyUnknownRows));
  Value isFew = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt, launch.getSizes()[size], many);
  auto branch = scf::IfOp::create(builder, loc, isFew, /*withElseRegion=*/true);
  builder.setInsertionPointToStart(&branch.getThenRegion().front());
  auto other = cast<host::LaunchOp>(builder.clone(*launch));
  other.setKernel(few.getName());
  other.removeTensorsAttr(); // a tensor is computed in one launch, whichever of the two it is
  launch->moveBefore(branch.elseBlock(), branch.elseBlock()->begin());
}

namespace {
struct SplitByRows : kiln::impl::SplitByRowsBase<SplitByRows> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    TargetAttr target = targetOf(module);
    if (target.maxItems() > 0) // groups have tiles of their own
      return;
    llvm::StringMap<llvm::SmallBitVector> weights = optimize::weightsOf(module);
    llvm::StringMap<SmallVector<host::LaunchOp>> launches;
    for (auto program : module.getOps<host::ProgramOp>())
      program.walk([&](host::LaunchOp launch) { launches[launch.getKernel()].push_back(launch); });
    llvm::StringSet<> names;
    for (auto func : module.getOps<FuncOp>())
      names.insert(func.getName());
    for (auto func : llvm::make_early_inc_range(module.getOps<FuncOp>())) {
      llvm::SmallBitVector known = weights.lookup(func.getName());
      known.resize(func.getNumArguments());
      std::optional<Expr> rows = func.getOpts().empty() ? rowsOf(func, target, known) : std::nullopt;
      if (!rows)
        continue;
      OwningOpRef<FuncOp> few(func.clone());
      replaceSymbol(*few, *rows, Expr::variable(rows->name(), rows->min(), optimize::kManyUnknownRows - 1));
      if (!optimize::passesLines(*few, target, known))
        continue;
      ArrayRef<Expr> sizes = func.getSizes().getSizes();
      unsigned size = llvm::find(sizes, *rows) - sizes.begin();
      replaceSymbol(func, *rows, Expr::variable(rows->name(), optimize::kManyUnknownRows, rows->max()));
      FuncOp beside = few.release();
      module.insert(std::next(func->getIterator()), beside);
      beside.setName(freshNameOf(beside, names));
      for (host::LaunchOp launch : launches[func.getName()])
        launchEither(launch, beside, size);
    }
  }
};
} // namespace
