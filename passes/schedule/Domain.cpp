#include "passes/schedule/Domain.h"

using namespace kiln;
using namespace kiln::schedule;
using view::Expr;
using view::ShapeTracker;

static constexpr llvm::StringLiteral kPosition = "_at";

llvm::SmallBitVector schedule::axesOf(const ShapeTracker &tracker) {
  llvm::SmallVector<Expr> position;
  for (auto [axis, size] : llvm::enumerate(tracker.shape()))
    position.push_back(Expr::variable((kPosition + llvm::Twine(axis)).str(), 0, std::max<int64_t>(size.max() - 1, 0)));
  view::Index where = tracker.at(position);
  llvm::SmallBitVector axes(position.size());
  for (Expr expr : {where.index, where.valid})
    expr.forEachVariable([&](Expr variable) {
      llvm::StringRef name = variable.name();
      size_t axis;
      if (name.consume_front(kPosition) && !name.getAsInteger(10, axis))
        axes.set(axis);
    });
  return axes;
}

ShapeTracker schedule::withInnerAxes(const ShapeTracker &tracker, llvm::ArrayRef<Expr> sizes) {
  Expr block = view::product(sizes);
  llvm::SmallVector<view::View> views;
  for (const view::View &view : tracker.views()) {
    view::Shape shape(view.shape()), strides;
    for (Expr stride : view.strides())
      strides.push_back(stride * block);
    for (size_t i = 0; i < sizes.size(); ++i) {
      shape.push_back(sizes[i]);
      strides.push_back(view::product(sizes.drop_front(i + 1)));
    }
    std::optional<llvm::SmallVector<view::Range>> mask;
    if (view.mask()) {
      mask.emplace(*view.mask());
      for (Expr size : sizes)
        mask->push_back({0, size});
    }
    views.push_back(view::View::make(shape, strides, view.offset() * block, mask));
  }
  return ShapeTracker(views);
}

ShapeTracker schedule::indicesOf(graph::GatherOp gather, const ShapeTracker &tracker) {
  // Result axes: those before the gathered one, the indices', those after it.
  view::Shape result = shapeOf(gather.getResult()), indices = shapeOf(gather.getIndices());
  view::Shape among(result.size(), 1);
  llvm::copy(indices, among.begin() + gather.getAxis());
  return ShapeTracker::contiguous(indices).reshape(among).expand(result).compose(tracker).simplify();
}

ShapeTracker Domain::widen(const ShapeTracker &tracker) const {
  if (tracker.shape().size() == sizes_.size())
    return tracker;
  view::Shape shape(tracker.shape());
  shape.resize(sizes_.size(), 1);
  return tracker.reshape(shape);
}

ShapeTracker schedule::inputOf(graph::ReduceOp reduce, const ShapeTracker &tracker, llvm::ArrayRef<int64_t> axes) {
  // The axes are cut to one point and replaced by the input's own.
  view::Shape input = shapeOf(reduce.getInput()), inner;
  llvm::SmallVector<int64_t> elements; // the input's axes, those reduced last
  for (size_t axis = 0; axis < input.size(); ++axis)
    if (!llvm::is_contained(reduce.getAxes(), int64_t(axis)))
      elements.push_back(axis);
  for (int64_t axis : reduce.getAxes()) {
    elements.push_back(axis);
    inner.push_back(input[axis]);
  }
  llvm::SmallVector<view::Range> cut;
  llvm::SmallVector<int64_t> order;
  for (auto [axis, size] : llvm::enumerate(tracker.shape())) {
    const int64_t *place = llvm::find(axes, int64_t(axis));
    bool isReplaced = place != axes.end();
    cut.push_back({0, isReplaced ? Expr(1) : size});
    order.push_back(isReplaced ? tracker.shape().size() + (place - axes.begin()) : axis);
  }
  order.append(axes.begin(), axes.end());
  ShapeTracker whole = withInnerAxes(tracker.shrink(cut), inner).permute(order);
  whole = whole.reshape(llvm::ArrayRef(whole.shape()).drop_back(axes.size()));
  return ShapeTracker::contiguous(input).permute(elements).compose(whole).simplify();
}

Domain::Reduced Domain::enter(graph::ReduceOp reduce, const ShapeTracker &tracker) {
  llvm::SmallBitVector used = axesOf(widen(tracker));
  view::Shape input = shapeOf(reduce.getInput());
  // For each reduced axis an axis of the domain, none twice: first one that is reduced already, so that both may share
  // its loop, and among equals the one at the reduce's own place, or else the last one.
  size_t before = sizes_.size();
  llvm::SmallVector<int64_t> chosen;
  for (int64_t axis : reduce.getAxes()) {
    auto fits = [&](size_t candidate) {
      bool isOwn = candidate == size_t(axis);
      return !used.test(candidate) && !llvm::is_contained(chosen, int64_t(candidate)) &&
             (isOwn || !sizes_[candidate].isConst(1)) && view::provablyEqual(sizes_[candidate], input[axis]);
    };
    auto rank = [&](size_t candidate) {
      return std::tuple(reduced_.test(candidate), candidate == size_t(axis), candidate);
    };
    std::optional<size_t> best;
    for (size_t candidate = 0; candidate < before; ++candidate)
      if (fits(candidate) && (!best || rank(candidate) > rank(*best)))
        best = candidate;
    if (!best) {
      best = sizes_.size();
      sizes_.push_back(input[axis]);
      reduced_.push_back(false);
    }
    chosen.push_back(*best);
  }
  for (int64_t axis : chosen)
    reduced_.set(axis);
  Reduced result{chosen, inputOf(reduce, widen(tracker), chosen)};
  llvm::sort(result.axes);
  return result;
}
