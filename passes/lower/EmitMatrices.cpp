//===- EmitMatrices.cpp - Products by matrix instructions -------------------------===//
// If the axes of a walk are fragments, one value is a whole matrix. Nothing is tested inside: data read past the end of
// the domain goes into rows and columns of the result that nobody reads, and memory for it exists
// (kernel::faultOfProducts) as long as the first row and column are inside. That is tested if loops around may leave
// the domain.
//===----------------------------------------------------------------------------===//

#include "passes/lower/KernelLowering.h"

#include "mlir/IR/BuiltinAttributes.h"

#include <map>

using namespace kiln;
using namespace kiln::lower;
using namespace mlir;
using kernel::AxisKind;
using view::Expr;

/// An operand's matrices in one step of a product.
struct KernelLowering::Operands {
  Value value;
  kernel::MatrixView view;
  VectorType type;
  std::map<std::vector<int64_t>, Value> known; ///< by the point, along the axes that the operand moves along
};

Value KernelLowering::matrixAt(Operands &operands, ArrayRef<int64_t> axes, ArrayRef<int64_t> point) {
  std::vector<int64_t> key;
  for (auto [axis, at] : llvm::zip(axes, point))
    if (axesOf(operands.value).test(axis))
      key.push_back(at);
  Value &known = operands.known[key];
  if (known)
    return known;
  Value pointer;
  Expr first = operands.view.first.index;
  if (auto stage = operands.value.getDefiningOp<kernel::StageOp>()) {
    pointer = stageMemory(stage);
    first = stage.getBuffer() ? first + shareOf(stage.getElements()) : first;
  } else {
    pointer = pointers_.at(operands.value.getDefiningOp<kernel::LoadOp>().getBuffer());
  }
  Value at = index(resolve(fix(first, axes, point))), pitch = index(resolve(operands.view.pitch));
  if (auto load = operands.value.getDefiningOp<kernel::LoadOp>(); load && load.getAhead() && operands.known.size() == 1)
    emitPrefetch(load, scopes_.size() - 1);
  return known = uop::LoadMatrixOp::create(here(), loc_, operands.type, pointer, at, pitch);
}

Tile KernelLowering::emitMatrixProduct(const kernel::MatrixProduct &product) {
  kernel::ReduceOp reduce = product.reduce;
  auto typeOf = [&](Value value, int64_t rows, int64_t columns) {
    return VectorType::get({rows, columns}, value.getType());
  };
  int64_t m = sizeOf(product.m), k = sizeOf(product.k), n = sizeOf(product.n), p = sizeOf(product.p);
  VectorType rowsType = typeOf(product.rows, m, k * p), columnsType = typeOf(product.columns, k, n * p),
             sumsType = typeOf(reduce.getResult(), m, n);
  std::optional<kernel::MatrixView> rowsAt = kernel::rowsView(walk(), product),
                                    columnsAt = kernel::columnsView(walk(), product);
  ProductAttr instruction =
      target_.matrixProduct(product.rows.getType(), product.columns.getType(), reduce.getResult().getType());
  Tile sums{unrolledAxes(axesOf(reduce)), {}, false};
  inScope(placeOf(axesOf(reduce)), [&] {
    // Operands that begin elsewhere in each step of the sum are held inside its loops.
    auto fillOperands = [&] {
      for (Value operand : {product.rows, product.columns})
        if (auto stage = operand.getDefiningOp<kernel::StageOp>(); stage && stageDepth(stage) < scopes_.size())
          fillStages(stageDepth(stage), stage);
    };
    fillOperands();
    SmallVector<int64_t> loops, unrolled;
    for (kernel::AxisAttr axis : walk().axes)
      if (llvm::is_contained(reduce.getAxes(), axis.getId()) && !axis.getSize().getValue().isConst(1)) {
        if (axis.getKind() == AxisKind::Loop)
          loops.push_back(axis.getId());
        else if (isUnrolled(axis.getId()))
          unrolled.push_back(axis.getId());
      }
    Value zero = constant(cast<TypedAttr>(builder_.getZeroAttr(sumsType)));
    forEachPoint(sizesOf(sums.axes), [&](ArrayRef<int64_t>) { sums.values.push_back(zero); });
    SmallVector<uop::RangeOp> ranges;
    for (int64_t axis : loops) {
      ranges.push_back(openLoop(axis, sums.values, /*reduce=*/true));
      sums.values.assign(ranges.back().getCarried().begin(), ranges.back().getCarried().end());
      fillOperands();
    }
    forEachPoint(sizesOf(unrolled), [&](ArrayRef<int64_t> step) {
      Operands rows{product.rows, *rowsAt, rowsType, {}}, columns{product.columns, *columnsAt, columnsType, {}};
      SmallVector<int64_t> axes(sums.axes);
      axes.append(unrolled);
      size_t next = 0;
      forEachPoint(sizesOf(sums.axes), [&](ArrayRef<int64_t> kept) {
        SmallVector<int64_t> point(kept);
        point.append(step.begin(), step.end());
        Value a = matrixAt(rows, axes, point), b = matrixAt(columns, axes, point), &sum = sums.values[next++];
        sum = uop::WmmaOp::create(here(), loc_, sumsType, builder_.getStringAttr(instruction.getName()), a, b, sum);
      });
    });
    for (uop::RangeOp range : llvm::reverse(ranges)) {
      closeLoop(sums.values);
      sums.values.assign(range.getResults().begin(), range.getResults().end());
    }
  });
  return sums;
}

bool KernelLowering::staysInside(Expr begin, Expr size) const {
  AxisSet around = none();
  addVariables(begin, around);
  if (around.none())
    return true;
  if (around.count() > 1)
    return view::less(begin, size).isConst(1);
  // As many steps of one axis as the domain has parts.
  int64_t axis = around.find_first();
  Expr step = fix(begin, axis, 1), steps = axisOf(axis).getSize().getValue();
  return step.isConst() && step.constant() > 0 && view::provablyEqual(begin, variableOf(axis) * step) &&
         view::provablyEqual(steps, view::ceilDiv(size, step.constant()));
}

void KernelLowering::whereMatricesBegin(llvm::function_ref<void()> body) {
  SmallVector<int64_t> own, first;
  for (kernel::AxisAttr axis : walk().axes) {
    own.push_back(axis.getId());
    first.push_back(0);
  }
  SmallVector<Expr> guards, tests;
  for (auto [index, size] : llvm::zip(walk().index, func_.getDomain().getSizes())) {
    Expr begin = fix(index, own, first), guard = view::less(begin, size);
    const Scope *test = testOf(guard);
    if (staysInside(begin, size) || (test && test->inside))
      continue;
    guards.push_back(guard);
    tests.push_back(resolve(guard));
  }
  Expr test = view::logicalAnd(tests);
  if (test.isConst(1))
    return body();
  inBranches(test, [&](bool isInside) {
    scopes_.back()->tested = guards;
    scopes_.back()->inside = isInside;
    if (isInside)
      body();
  });
}

void KernelLowering::storeMatrices(const Tile &sums, kernel::StageOp stage, const kernel::MatrixProduct &product) {
  std::optional<kernel::MatrixView> view = kernel::sumsView(walk(), product);
  Expr first = stage.getBuffer() ? view->first.index + shareOf(stage.getElements()) : view->first.index;
  size_t next = 0;
  forEachPoint(sizesOf(sums.axes), [&](ArrayRef<int64_t> point) {
    Value at = index(resolve(fix(first, sums.axes, point))), pitch = index(resolve(view->pitch));
    uop::StoreMatrixOp::create(here(), loc_, sums.values[next++], stageMemory(stage), at, pitch);
  });
}
