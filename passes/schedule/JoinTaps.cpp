//===- JoinTaps.cpp - Windows over few channels as one axis of terms ----------------===//
// Stage: schedule (graph → graph).
// An instruction that takes in several terms of a sum at a time wants enough of them side by side. The first window of
// a network for pictures has too few along any axis: three channels, seven taps. With channels innermost the channels
// of a line's taps lie side by side, as one axis of 21, whatever the window's steps are. So the tensor is copied in
// that order, once, among the zeros that the window reads around it.
//   Where instructions take pairs, three channels become four: the fourth is zero in the copy and in the weight. A zero
// in the weight alone would not do, since its product with an infinity that lies there is no number.
// Expects: views folded; operands that may be multiplied narrow are cast from there.
// Guarantees: a sum is rewritten only where an instruction multiplies it narrow then, and did not before.
// Position: before recipes are made; the weight in its new order becomes one.
//===--------------------------------------------------------------------------------===//

#include "passes/Passes.h"

#include "ir/graph/DeadOps.h"

#include "passes/schedule/Domain.h"
#include "passes/schedule/KnownConstants.h"
#include "passes/schedule/Products.h"

#include "target/Target.h"
#include "view/Layout.h"

#include "mlir/IR/TypeUtilities.h"

using namespace kiln;
using namespace kiln::schedule;
using namespace mlir;
using view::Expr;
using view::Layout;
using view::ShapeTracker;

namespace kiln {
#define GEN_PASS_DEF_JOINTAPS
#include "passes/Passes.h.inc"
} // namespace kiln

namespace {
/// Σ x·w over a window's taps and channels.
struct Window {
  Edge data, weight;    ///< as narrow as they are multiplied, from the shape of the sum's input
  int64_t tap, channel; ///< axes of the sum: along channels the copy lies contiguous, and along taps a channel's width
                        ///< apart
  Layout layout;        ///< of the copy
  ShapeTracker place;   ///< where in the copy the sum reads

  int64_t width() const { return place.views().front().strides()[tap].constant(); }
  /// The shape of the sum's input with taps and channels as one axis, in the place of the taps.
  view::Shape joined(ArrayRef<Expr> shape) const {
    view::Shape result(shape);
    result[channel] = 1;
    if (!result[tap].isConst(1))
      result[tap] = result[tap] * width();
    return result;
  }
};
} // namespace

/// The axes that are longer than 1.
static view::Shape withoutOnes(view::Shape shape) {
  llvm::erase_if(shape, [](Expr size) { return size.isConst(1); });
  return shape;
}

/// A tracker with one point along axes that it does not move along.
static ShapeTracker onceOf(const ShapeTracker &tracker) {
  llvm::SmallBitVector moves = axesOf(tracker);
  SmallVector<view::Range> ranges;
  for (auto [axis, size] : llvm::enumerate(tracker.shape()))
    ranges.push_back({0, moves.test(axis) ? size : Expr(1)});
  return tracker.shrink(ranges);
}

/// A layout with one axis innermost, to which so many elements are added that are zero, among the zeros that a view
/// reads.
static std::optional<Layout> layoutFor(const ShapeTracker &tracker, ArrayRef<Expr> shape, int64_t channels,
                                       int64_t added) {
  auto isOpen = [](Expr size) { return !size.isConst() || size.isConst(0); };
  if (llvm::any_of(shape.drop_front(), isOpen) || shape.front().isConst(0) || !shape[channels].isConst() ||
      shape[channels].constant() >= target::kFewestTerms)
    return std::nullopt;
  Layout layout = Layout::rowMajor(shape);
  llvm::erase(layout.order, channels);
  layout.order.push_back(channels);
  if (auto halo = view::haloFor(tracker, shape))
    layout.halo = *halo;
  Layout::Room &room = layout.halo[channels];
  if (room != Layout::Room() || (!shape.front().isConst() && layout.halo.front() != Layout::Room()))
    return std::nullopt;
  room.after = added;
  return layout;
}

/// The value that an operand of a product is cast from.
static std::optional<Edge> narrowOf(Value operand) {
  Edge wide = edgeOf(operand);
  graph::AluOp cast = aluOf(wide.base, Alu::CAST);
  return cast ? std::optional(through(cast->getOperand(0), wide.tracker)) : std::nullopt;
}

/// The window that a sum reads of a tensor with this layout, if taps and channels are one axis then, of whole pairs.
static std::optional<Window> windowOf(graph::ReduceOp sum, const Edge &data, const Edge &weight, const Layout &layout) {
  std::optional<ShapeTracker> place = view::relaid(data.tracker, layout);
  if (!place || place->views().size() != 1 || place->isMasked())
    return std::nullopt;
  llvm::SmallBitVector moves = axesOf(weight.tracker);
  ArrayRef<Expr> strides = place->views().front().strides();
  int64_t innermost = layout.order.back(), channels = layout.shape[innermost].constant(),
          width = channels + layout.halo[innermost].after, side = target::sideOf(getElementTypeOrSelf(data.base));
  std::optional<int64_t> tap, channel;
  for (int64_t axis : sum.getAxes()) {
    Expr size = place->shape()[axis];
    if (!moves.test(axis) || !size.isConst())
      continue;
    if (strides[axis].isConst(1) && size.isConst(channels))
      channel = axis;
    else if (strides[axis].isConst(width) && size.constant() * width % side == 0)
      tap = axis;
  }
  if (!tap || !channel)
    return std::nullopt;
  return Window{data, weight, *tap, *channel, layout, *place};
}

static std::optional<Window> match(graph::ReduceOp sum, const KnownConstants &constants, TargetAttr target) {
  graph::AluOp product = multiplicationOf(sum);
  if (!product || !isWhole(edgeOf(sum.getInput())))
    return std::nullopt;
  bool isSecond = constants.isConstant(product->getOperand(1));
  if (isSecond == constants.isConstant(product->getOperand(0)))
    return std::nullopt;
  std::optional<Edge> data = narrowOf(product->getOperand(isSecond ? 0 : 1)),
                      weight = narrowOf(product->getOperand(isSecond ? 1 : 0));
  if (!data || !weight || isNumber(data->base) || isNumber(weight->base))
    return std::nullopt;
  if (!target.fastProduct(getElementTypeOrSelf(data->base), getElementTypeOrSelf(weight->base),
                          getElementTypeOrSelf(sum)))
    return std::nullopt;

  view::Shape shape = withoutOnes(shapeOf(data->base));
  for (int64_t channels = 0; channels < int64_t(shape.size()); ++channels)
    for (int64_t added = 0; added < target::sideOf(getElementTypeOrSelf(data->base)); ++added)
      if (auto layout = layoutFor(data->tracker, shape, channels, added))
        if (std::optional<Window> window = windowOf(sum, *data, *weight, *layout))
          return window;
  return std::nullopt;
}

namespace {
class Rewriter {
public:
  Rewriter(graph::ReduceOp sum, const Window &window, KnownConstants &constants)
      : sum_(sum), window_(window), constants_(constants), builder_(sum), loc_(sum.getLoc()) {}

  /// The sum over joined axes; its result has the shape of the one that it stands for.
  graph::ReduceOp rewrite();

private:
  /// A copy of what an edge shows; its base where that lies so in memory.
  Value held(const Edge &edge);
  Value widened(Value narrow, const ShapeTracker &tracker);
  Edge data() const;
  Edge weight() const;

  graph::ReduceOp sum_;
  const Window &window_;
  KnownConstants &constants_;
  OpBuilder builder_;
  Location loc_;
};
} // namespace

/// The tensor that lies among zeros, with channels innermost.
Edge Rewriter::data() const {
  const Layout &layout = window_.layout;
  auto around = llvm::map_to_vector(layout.halo,
                                    [](Layout::Room room) { return std::pair<Expr, Expr>(room.before, room.after); });
  return {window_.data.base, ShapeTracker::contiguous(layout.shape).pad(around).permute(layout.order)};
}

/// The weight with channels next to taps, each axis once.
Edge Rewriter::weight() const {
  ShapeTracker once = onceOf(window_.weight.tracker);
  SmallVector<int64_t> order;
  SmallVector<std::pair<Expr, Expr>> wider(once.shape().size(), {0, 0});
  wider[window_.channel].second = Expr(window_.width()) - once.shape()[window_.channel];
  for (int64_t axis = 0; axis < int64_t(once.shape().size()); ++axis) {
    if (axis != window_.channel)
      order.push_back(axis);
    if (axis == window_.tap)
      order.push_back(window_.channel);
  }
  view::Shape shape = withoutOnes(window_.joined(once.shape()));
  return {window_.weight.base, once.pad(wider).permute(order).reshape(shape)};
}

Value Rewriter::held(const Edge &edge) {
  Value seen = tensorOf(builder_, loc_, {edge.base, edge.tracker.simplify()});
  if (seen == edge.base && !isComputed(seen))
    return seen;
  Value result = graph::ContiguousOp::create(builder_, loc_, seen.getType(), seen);
  constants_.add(result.getDefiningOp());
  return result;
}

Value Rewriter::widened(Value narrow, const ShapeTracker &tracker) {
  Value wide = graph::AluOp::create(builder_, loc_, Alu::CAST, narrow, getElementTypeOrSelf(sum_));
  constants_.add(wide.getDefiningOp());
  return tensorOf(builder_, loc_, {wide, tracker});
}

graph::ReduceOp Rewriter::rewrite() {
  view::Shape domain = window_.joined(window_.place.shape());
  view::Shape strides(window_.place.views().front().strides());
  strides[window_.tap] = 1;
  ShapeTracker place(view::View::make(domain, ArrayRef<Expr>(strides), window_.place.views().front().offset()));
  Value data = widened(held(this->data()), place);

  view::Shape once = window_.joined(onceOf(window_.weight.tracker).shape());
  Value narrow = held(weight());
  Value weight = widened(narrow, ShapeTracker::contiguous(shapeOf(narrow)).reshape(once).expand(domain));

  Value product = graph::AluOp::create(builder_, loc_, Alu::MUL, {data, weight});
  SmallVector<int64_t> axes(sum_.getAxes());
  llvm::erase(axes, window_.channel);
  return graph::ReduceOp::create(builder_, loc_, Alu::ADD, product, axes);
}

namespace {
struct JoinTaps : kiln::impl::JoinTapsBase<JoinTaps> {
  void runOnOperation() override {
    auto main = getOperation().lookupSymbol<func::FuncOp>("main");
    if (!main)
      return;
    TargetAttr target = targetOf(getOperation());
    KnownConstants constants(main);
    auto isConstant = [&](Value value) { return constants.isConstant(value); };
    SmallVector<graph::ReduceOp> sums;
    main.walk([&](graph::ReduceOp sum) { sums.push_back(sum); });
    for (graph::ReduceOp sum : sums) {
      if (multipliesNarrow(sum, target, isConstant))
        continue;
      std::optional<Window> window = match(sum, constants, target);
      if (!window)
        continue;
      graph::ReduceOp joined = Rewriter(sum, *window, constants).rewrite();
      if (!multipliesNarrow(joined, target, isConstant))
        continue;
      replaceByEdge(sum.getResult(), {joined.getResult(), ShapeTracker::contiguous(shapeOf(sum.getResult()))});
      sum.erase();
    }
    graph::eraseDeadOps(main);
  }
};
} // namespace
