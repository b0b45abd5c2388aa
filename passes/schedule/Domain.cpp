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

Domain::Reduced Domain::enter(graph::ReduceOp reduce, const ShapeTracker &tracker) {
  ShapeTracker at = widen(tracker);
  llvm::SmallBitVector used = axesOf(at);
  view::Shape input = shapeOf(reduce.getInput());
  llvm::SmallVector<int64_t> kept, over;
  for (size_t axis = 0; axis < input.size(); ++axis)
    (llvm::is_contained(reduce.getAxes(), int64_t(axis)) ? over : kept).push_back(axis);

  // The domain's axes that serve, each once; the reduce's own place first.
  size_t before = sizes_.size();
  llvm::SmallVector<int64_t> serves(before, -1); // domain axis → position in `over`
  Reduced result{{}, at};
  view::Shape inner;
  for (auto [position, axis] : llvm::enumerate(over)) {
    inner.push_back(input[axis]);
    auto fits = [&](size_t candidate) {
      bool isOwn = candidate == size_t(axis);
      return candidate < before && !used.test(candidate) && serves[candidate] < 0 &&
             (isOwn || !sizes_[candidate].isConst(1)) && view::provablyEqual(sizes_[candidate], input[axis]);
    };
    size_t chosen = fits(axis) ? axis : before;
    for (size_t candidate = before; chosen == before && candidate-- > 0;)
      if (fits(candidate))
        chosen = candidate;
    if (chosen == before) {
      chosen = sizes_.size();
      sizes_.push_back(input[axis]);
      reduced_.push_back(false);
    } else {
      serves[chosen] = position;
    }
    reduced_.set(chosen);
    result.axes.push_back(chosen);
  }

  // The view: axes that serve stand still in the result, so they are cut to one point and replaced by the input's own.
  llvm::SmallVector<view::Range> cut;
  for (size_t axis = 0; axis < before; ++axis)
    cut.push_back({0, serves[axis] >= 0 ? Expr(1) : at.shape()[axis]});
  ShapeTracker whole = withInnerAxes(at.shrink(cut), inner);
  llvm::SmallVector<int64_t> order, dropped;
  for (size_t axis = 0; axis < before; ++axis) {
    order.push_back(serves[axis] >= 0 ? before + serves[axis] : axis);
    if (serves[axis] >= 0)
      dropped.push_back(axis);
  }
  for (auto [position, axis] : llvm::enumerate(result.axes))
    if (axis >= int64_t(before))
      order.push_back(before + position);
  order.append(dropped);
  whole = whole.permute(order);
  whole = whole.reshape(llvm::ArrayRef(whole.shape()).drop_back(dropped.size()));
  kept.append(over);
  result.input = ShapeTracker::contiguous(input).permute(kept).compose(whole).simplify();
  llvm::sort(result.axes);
  return result;
}
