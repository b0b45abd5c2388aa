//===- SplitByRows.cpp - Kernels for few rows and one for many ------------------------------===//
// Stage: optimize (host + kernels → host + kernels).
// A product of rows that only the run knows how many there are is walked for many of them: a panel of columns is
// copied, which all rows use. A decoder that takes one token at a time has one row, for which the copy takes several
// times as long as the product. One row or three want columns read line by line, some more a tile that asks for the
// next one's lines, which both would be slow for many; a kernel has one walk, so there are several, and the host
// program chooses between them when it knows the size. None is made in place of an input: what a branch writes belongs
// to the whole program.
// Expects: normalized kernels without opts.
// Guarantees: a product that is walked otherwise where its rows are few has kernels for these and one for more; the
// bounds of each kernel's symbol say which it is.
// Position: before opts are chosen, which go by the bounds.
//===----------------------------------------------------------------------------------------===//

#include "passes/Passes.h"

#include "passes/optimize/KernelVariants.h"
#include "passes/optimize/choose/Chooser.h"
#include "passes/optimize/choose/Heuristic.h"
#include "passes/optimize/choose/Product.h"

#include "ir/host/Host.h"
#include "ir/kernel/Normalize.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"

using namespace kiln;
using namespace kiln::kernel;
using namespace mlir;
using view::Expr;

/// So many rows share a panel that is unpacked of a weight in blocks.
static constexpr int64_t kFewestRowsOfPanel = 2;

namespace kiln {
#define GEN_PASS_DEF_SPLITBYROWS
#include "passes/Passes.h.inc"
} // namespace kiln

/// The symbol that says how many rows a product has; nullopt where it is none by itself.
static std::optional<Expr> rowsOf(FuncOp func, TargetAttr target, const llvm::SmallBitVector &weights) {
  bool isKnown = llvm::all_of(func.getDomain().getSizes(), [](Expr size) { return size.isConst(); });
  if (isKnown || target.vectorBits() < 2 * optimize::elementBits(func))
    return std::nullopt;
  std::optional<size_t> axis;
  if (std::optional<optimize::BlockProduct> blocks = optimize::findBlocks(func, target, weights))
    axis = blocks->m;
  else if (std::optional<optimize::TiledProduct> product = optimize::findProduct(func, target, weights))
    axis = product->m;
  if (!axis)
    return std::nullopt;
  Expr rows = func.getDomain().getSizes()[*axis];
  return rows.kind() == Expr::Kind::Var && !rows.limit() ? std::optional(rows) : std::nullopt;
}

/// Whether a run can have so many rows: no view has a size that is below 0 with them.
static bool canHave(FuncOp func, Expr rows, int64_t least, int64_t most) {
  llvm::DenseMap<Expr, Expr> values{{rows, Expr::variable(rows.name(), least, most)}};
  return llvm::all_of(func.getBody().front(), [&](Operation &op) {
    auto tracker = op.getAttrOfType<TrackerAttr>("tracker");
    return !tracker || llvm::all_of(tracker.getValue().views(), [&](const view::View &view) {
      return llvm::all_of(view.shape(), [&](Expr size) { return size.substitute(values).max() >= 0; });
    });
  });
}

/// The kernel for so many rows.
static OwningOpRef<FuncOp> partOf(FuncOp func, Expr rows, int64_t least, int64_t most) {
  OwningOpRef<FuncOp> part(func.clone());
  optimize::replaceSymbol(*part, rows, Expr::variable(rows.name(), least, most));
  return part;
}

/// From how many rows on a kernel may be another one.
static SmallVector<int64_t> boundsOf(FuncOp func, Expr rows, TargetAttr target, const llvm::SmallBitVector &weights) {
  if (optimize::findBlocks(func, target, weights))
    return {kFewestRowsOfPanel};
  int64_t least = std::max(rows.min(), optimize::kFewestWideRows), most = std::min(rows.max(), optimize::kManyRows - 1);
  if (least <= most && canHave(func, rows, least, most) &&
      optimize::readsAsTheyLie(*partOf(func, rows, least, most), target, weights))
    return {optimize::kFewestWideRows, optimize::kManyRows};
  return {optimize::kManyUnknownRows};
}

/// Launches one of two kernels, the first for fewer than `bound` rows.
static void launchEither(host::LaunchOp launch, FuncOp few, unsigned size, int64_t bound) {
  OpBuilder builder(launch);
  Location loc = launch.getLoc();
  Value many = arith::ConstantOp::create(builder, loc, builder.getI64IntegerAttr(bound));
  Value isFew = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt, launch.getSizes()[size], many);
  optimize::launchIf(isFew, few, launch);
}

namespace {
struct SplitByRows : kiln::impl::SplitByRowsBase<SplitByRows> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    TargetAttr target = targetOf(module);
    if (target.hasGroups()) // groups have tiles of their own
      return;
    llvm::StringMap<llvm::SmallBitVector> weights = optimize::weightsOf(module);
    llvm::StringMap<SmallVector<host::LaunchOp>> launches = optimize::launchesOf(module);
    llvm::StringSet<> names = optimize::kernelNames(module);
    for (auto func : llvm::make_early_inc_range(module.getOps<FuncOp>())) {
      llvm::SmallBitVector known = weights.lookup(func.getName());
      known.resize(func.getNumArguments());
      std::optional<Expr> rows = func.getOpts().empty() ? rowsOf(func, target, known) : std::nullopt;
      if (!rows)
        continue;
      unsigned size = llvm::find(func.getSizes().getSizes(), *rows) - func.getSizes().getSizes().begin();
      for (int64_t bound : boundsOf(func, *rows, target, known)) {
        if (rows->min() >= bound - 1 || rows->max() <= bound || !canHave(func, *rows, rows->min(), bound - 1) ||
            !canHave(func, *rows, bound, rows->max()))
          continue;
        OwningOpRef<FuncOp> few = partOf(func, *rows, rows->min(), bound - 1);
        if (!optimize::readsAsTheyLie(*few, target, known))
          continue;
        Expr rest = Expr::variable(rows->name(), bound, rows->max());
        optimize::replaceSymbol(func, *rows, rest);
        rows = rest;
        FuncOp beside = few.release();
        module.insert(std::next(func->getIterator()), beside);
        beside.setName(freshNameOf(beside, names));
        for (host::LaunchOp launch : launches[func.getName()])
          launchEither(launch, beside, size, bound);
      }
    }
  }
};
} // namespace
