//===- FoldMovement.cpp - Turn movement into views ---------------------------===//
// Stage: view (graph → graph).
// A reshape, a transpose or a pad computes nothing: it says which element of its input each element of its result is. A
// ShapeTracker says the same of a whole chain, so the chain costs no kernel and no memory.
// Expects: movement ops anywhere.
// Guarantees: none is left; no view reads a view; a view is a list of few; a view of one number is the number, unless
// it is masked; a view known to have no elements is one; no cast is of a view of one number; no axis of size 1 is
// reduced.
// Position: first, because the scheduler and everything after it know only views.
//===----------------------------------------------------------------------===//

#include "passes/Passes.h"

#include "ir/base/Evaluate.h"
#include "ir/graph/DeadOps.h"
#include "ir/graph/Movement.h"
#include "ir/graph/Source.h"

#include "mlir/IR/Builders.h"

using namespace kiln;
using namespace mlir;
using view::Expr;
using view::ShapeTracker;

namespace kiln {
#define GEN_PASS_DEF_FOLDMOVEMENT
#include "passes/Passes.h.inc"
} // namespace kiln

/// An index through as many views as these is taken apart that often, with divisions, at each point and each time that
/// a pass needs it. So the tensor that it leads to is put in memory.
static constexpr size_t kMostViews = 8;

static bool isCast(Operation *op) {
  auto alu = dyn_cast<graph::AluOp>(op);
  return alu && alu.getKind().getValue() == Alu::CAST;
}

/// If a node ends in movement that moves nothing, the model's name of its result becomes that of `base`.
static void passOnName(Location from, Value base) {
  Operation *op = base.getDefiningOp();
  if (!op)
    return;
  auto made = graph::sourcesOf(op->getLoc()), moved = graph::sourcesOf(from);
  if (made.size() == 1 && moved.size() == 1 && made[0].node == moved[0].node && !made[0].tensor)
    op->setLoc(from);
}

namespace {
struct FoldMovement : kiln::impl::FoldMovementBase<FoldMovement> {
  void runOnOperation() override {
    SmallVector<Operation *> movements;
    getOperation().walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (isa<graph::ReshapeOp, graph::ExpandOp, graph::PermuteOp, graph::FlipOp, graph::PadOp, graph::ShrinkOp,
              graph::ViewOp, graph::ReduceOp>(op) ||
          isCast(op))
        movements.push_back(op);
    });
    // In order, so that an op's input is folded before the op itself.
    for (Operation *op : movements)
      if (auto reduce = dyn_cast<graph::ReduceOp>(op))
        foldAxes(reduce);
      else if (isCast(op))
        foldCast(op);
      else
        fold(op);
    // The views of a chain's inner steps go too, and whatever fed only them.
    graph::eraseDeadOps(getOperation());
  }

  /// An axis of size 1 has nothing to combine; a reduce of such axes alone is its input.
  void foldAxes(graph::ReduceOp reduce) {
    view::Shape shape = shapeOf(reduce.getInput());
    SmallVector<int64_t> axes(reduce.getAxes());
    llvm::erase_if(axes, [&](int64_t axis) { return shape[axis].isConst(1); });
    if (axes.empty())
      reduce.getResult().replaceAllUsesWith(reduce.getInput());
    else
      reduce.setAxes(axes);
  }

  /// The surroundings of a number under a mask are 0 in any dtype, so the number may be cast before it is padded.
  void foldCast(Operation *op) {
    auto view = op->getOperand(0).getDefiningOp<graph::ViewOp>();
    auto constant = view ? view.getInput().getDefiningOp<graph::ConstOp>() : graph::ConstOp();
    auto type = cast<RankedTensorType>(op->getResult(0).getType());
    std::optional<DType> dtype = dtypeOf(type.getElementType());
    if (!constant || !dtype)
      return;
    std::optional<Scalar> number = evaluateAlu(Alu::CAST, {Scalar::of(constant.getValue())}, *dtype);
    if (!number)
      return;
    OpBuilder builder(op);
    auto made =
        RankedTensorType::get(constant.getType().getShape(), type.getElementType(), constant.getType().getEncoding());
    Value converted = graph::ConstOp::create(builder, constant.getLoc(), made, number->attribute(builder.getContext()));
    op->getResult(0).replaceAllUsesWith(
        graph::ViewOp::create(builder, view.getLoc(), type, converted, view.getTrackerAttr()));
  }

  void fold(Operation *op) {
    Value base = op->getOperand(0);
    Location loc = op->getLoc();
    ShapeTracker from = ShapeTracker::contiguous(shapeOf(base));
    if (auto view = base.getDefiningOp<graph::ViewOp>()) {
      from = view.getTracker().getValue();
      base = view.getInput();
      loc = graph::foldLocations(view.getLoc(), loc);
    }
    ShapeTracker tracker = graph::movedBy(op, from)->simplify();
    Value result = op->getResult(0);
    OpBuilder builder(op);
    // Of a tensor without elements nothing is computed: it is as well a number.
    if (llvm::any_of(tracker.shape(), [](Expr size) { return size.isConst(0); })) {
      Type element = getElementTypeOrSelf(result.getType());
      result.replaceAllUsesWith(graph::ConstOp::create(builder, op->getLoc(), result.getType(),
                                                       cast<TypedAttr>(builder.getZeroAttr(element))));
      return;
    }
    auto constant = base.getDefiningOp<graph::ConstOp>();
    if (tracker.views().size() > kMostViews && !constant) {
      Value moved = op->getOperand(0);
      base = graph::ContiguousOp::create(builder, loc, moved.getType(), moved);
      loc = op->getLoc();
      tracker = graph::movedBy(op, ShapeTracker::contiguous(shapeOf(base)))->simplify();
    }
    if (constant && !tracker.isMasked()) {
      result.replaceAllUsesWith(graph::ConstOp::create(builder, op->getLoc(), result.getType(), constant.getValue()));
      return;
    }
    if (tracker.isContiguous() && base.getType() == result.getType()) {
      passOnName(op->getLoc(), base);
      result.replaceAllUsesWith(base);
      return;
    }
    auto attr = TrackerAttr::get(builder.getContext(), tracker);
    result.replaceAllUsesWith(graph::ViewOp::create(builder, loc, result.getType(), base, attr));
  }
};
} // namespace
