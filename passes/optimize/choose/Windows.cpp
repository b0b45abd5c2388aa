#include "passes/optimize/choose/Windows.h"

#include "passes/optimize/choose/Chooser.h"

#include "target/Target.h"

using namespace kiln;
using namespace kiln::kernel;
using namespace mlir;
using view::Expr;
using view::ShapeTracker;

/// So many readings of each element are worth turning a tensor first: where lanes have nothing near each other to read
/// otherwise, and where they have what lies side by side along another axis.
static constexpr double kLeastReadings = 2, kLeastReadingsBeside = 16;

std::optional<size_t> optimize::turnedAxis(FuncOp func, LoadOp load, const view::Layout &layout, TargetAttr target,
                                           const llvm::SmallBitVector &weights) {
  std::optional<Product> product = onlyProductOf(func);
  if (!product)
    return std::nullopt;
  ReduceOp reduce = product->reduce;
  ShapeTracker tracker = load.getTracker().getValue();
  auto strides = tracker.realStrides(/*ignoreValid=*/true);
  view::Shape own = layout.strides();
  auto alongOf = [&](size_t axis) -> std::optional<size_t> {
    for (size_t at = 0; strides[axis] && at < own.size(); ++at)
      if (own[at] == *strides[axis] && layout.shape[at] == tracker.shape()[axis])
        return at;
    return std::nullopt;
  };
  // A product of matrices has its lanes along columns, which one of its factors stands still along. Columns are packed,
  // which is quick where lanes find them side by side.
  if (std::optional<TiledProduct> matrices = optimize::findProduct(func, target, weights, /*relays=*/true)) {
    if (matrices->columns.op == load)
      return std::nullopt;
    ProductAttr dot = optimize::fastDot(*product, target);
    for (int64_t axis : reduce.getAxes())
      if (Expr terms = tracker.shape()[axis];
          dot && terms.isConst() && terms.constant() >= target::kFewestDotTerms && terms.constant() % dot.getK() == 0)
        if (std::optional<size_t> along = alongOf(axis))
          return along;
    return std::nullopt;
  }
  // Points along which it stands still share a reading, in whatever order it lies.
  double readings = 1 / target::typicalSize(layout.elements());
  for (auto [size, stride] : llvm::zip(tracker.shape(), strides))
    readings *= stride && stride->isConst(0) ? 1 : target::typicalSize(size);
  int64_t lanes = target.vectorBits() / optimize::elementBits(func);
  auto isLong = [&](size_t axis) {
    Expr size = tracker.shape()[axis];
    return !llvm::is_contained(reduce.getAxes(), int64_t(axis)) && size.isConst() && size.constant() >= lanes;
  };
  // Where lanes lie apart along another axis, each vector is as many loads, and as many selections.
  double least = kLeastReadings;
  for (size_t axis = 0; axis < strides.size(); ++axis)
    if (int64_t apart = strides[axis] && strides[axis]->isConst() ? strides[axis]->constant() : 0;
        isLong(axis) && apart > 0 && apart <= target::kMostApart)
      least = std::max(least, kLeastReadingsBeside / double(apart * apart));
  if (readings < least)
    return std::nullopt;
  for (size_t axis = 0; axis < strides.size(); ++axis) {
    bool isShared =
        llvm::all_of(product->operands, [&](const Operand &factor) { return dependsOn(factor.value, axis); });
    if (std::optional<size_t> along = isLong(axis) && isShared ? alongOf(axis) : std::nullopt)
      return along;
  }
  return std::nullopt;
}
