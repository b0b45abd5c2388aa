//===- SplitReduces.cpp - Large reduces in two steps -----------------------------===//
// A reduce to a few elements gives a device little to do at once: each element is one long loop. In two kernels the
// first has up to 256 times as many elements, and the second is short.
//===----------------------------------------------------------------------===//

#include "passes/schedule/SplitReduces.h"

#include "passes/schedule/Edges.h"

#include "mlir/IR/Builders.h"

using namespace kiln;
using namespace kiln::schedule;
using namespace mlir;
using view::Expr;
using view::ShapeTracker;

static constexpr int64_t kElementsToOne = 32768;
/// The part of an axis that the second reduce combines, and the elements between the two.
static constexpr int64_t kLeastPart = 8, kMostPart = 256, kMostBetween = int64_t(1) << 22;

namespace {
struct Split {
  int64_t axis, part;
};
} // namespace

/// The first axis that moves in memory and divides, by the largest part.
static std::optional<Split> chooseSplit(graph::ReduceOp reduce, const ShapeTracker &tracker) {
  view::Shape from = shapeOf(reduce.getInput()), to = shapeOf(reduce.getResult());
  if (!llvm::all_of(from, [](Expr size) { return size.isConst() && !size.isConst(0); }))
    return std::nullopt;
  int64_t results = view::product(to).constant();
  if (view::product(from).constant() / results < kElementsToOne)
    return std::nullopt;
  auto strides = tracker.realStrides(/*ignoreValid=*/true);
  for (int64_t axis : reduce.getAxes()) {
    if (strides[axis] && strides[axis]->isConst(0))
      continue;
    for (int64_t part = std::min(kMostPart, kMostBetween / results); part >= kLeastPart; --part)
      if (from[axis].constant() % part == 0)
        return Split{axis, part};
  }
  return std::nullopt;
}

static void split(graph::ReduceOp reduce, const Edge &edge, Split split, bool writes) {
  view::Shape shape(edge.tracker.shape());
  shape[split.axis] = shape[split.axis].constant() / split.part;
  shape.insert(shape.begin() + split.axis, split.part);
  SmallVector<int64_t> order;
  for (int64_t axis = 0; axis < int64_t(shape.size()); ++axis)
    if (axis != split.axis)
      order.push_back(axis);
  order.push_back(split.axis);
  ShapeTracker tracker = edge.tracker.reshape(shape).permute(order).simplify();

  OpBuilder builder(reduce);
  Location loc = reduce.getLoc();
  RankedTensorType type = reduce.getResult().getType();
  auto view = [&](Value input, const ShapeTracker &st) {
    return graph::ViewOp::create(builder, loc, tensorType(st.shape(), type.getElementType()), input,
                                 TrackerAttr::get(builder.getContext(), st));
  };
  Alu kind = reduce.getKind().getValue();
  SmallVector<int64_t> axes(reduce.getAxes());
  llvm::erase_if(axes, [&](int64_t axis) { return tracker.shape()[axis].isConst(1); }); // all of it was split off
  Value first = view(edge.base, tracker);
  if (!axes.empty())
    first = graph::ReduceOp::create(builder, loc, kind, first, axes);
  if (writes)
    first = graph::ContiguousOp::create(builder, loc, first.getType(), first);
  Value second = graph::ReduceOp::create(builder, loc, kind, first, {int64_t(shape.size()) - 1});
  Value whole = view(second, ShapeTracker::contiguous(shapeOf(second)).reshape(shapeOf(type)).simplify());
  // Readers see the second reduce through one view.
  for (Operation *user : llvm::make_early_inc_range(reduce->getUsers()))
    if (auto reader = dyn_cast<graph::ViewOp>(user)) {
      Edge through = edgeOf(whole);
      reader.getInputMutable().assign(through.base);
      ShapeTracker seen = through.tracker.compose(reader.getTracker().getValue()).simplify();
      reader.setTrackerAttr(TrackerAttr::get(builder.getContext(), seen));
    }
  reduce.getResult().replaceAllUsesWith(whole);
  reduce.erase();
}

void schedule::splitReduces(func::FuncOp main, bool writes) {
  SmallVector<graph::ReduceOp> reduces;
  main.walk([&](graph::ReduceOp reduce) { reduces.push_back(reduce); });
  for (graph::ReduceOp reduce : reduces) {
    Edge edge = edgeOf(reduce.getInput());
    if (std::optional<Split> chosen = chooseSplit(reduce, edge.tracker))
      split(reduce, edge, *chosen, writes);
  }
}
