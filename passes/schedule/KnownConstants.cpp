//===- KnownConstants.cpp - Tensors that are known at compile time --------------------===//
//
// Values that depend only on weights and numbers need not be computed in every run, but evaluating them at
// compile time without care can be expensive: a float32 scale of 64 channels, seen as 64 × 1000 elements, is
// 256,000 bytes of memory for 64 values. So a row on constants is computed only at the points at which one
// of them moves, and its readers read the small result through a view. Only exact rows count as constant.
// Others come from the machine's library of functions, and the result of a compilation would depend on the
// machine.
//
//===-----------------------------------------------------------------------------===//
#include "passes/schedule/KnownConstants.h"

#include "ir/base/AluTraits.h"

#include "passes/schedule/Domain.h"

#include "ir/base/Evaluate.h"
#include "ir/graph/DeadOps.h"

#include "llvm/Support/MathExtras.h"

using namespace kiln;
using namespace kiln::schedule;
using namespace mlir;
using view::Expr;
using view::ShapeTracker;

/// Weights begin at multiples of this many bytes.
static constexpr int64_t kWeightAlignment = 64;

bool schedule::isExact(Alu kind) { return aluTraits(kind).family != AluClass::Function; }

bool schedule::isFixed(const ShapeTracker &tracker) {
  auto areConst = [](ArrayRef<Expr> sizes) { return llvm::all_of(sizes, [](Expr size) { return size.isConst(); }); };
  return llvm::all_of(tracker.views(), [&](const view::View &view) {
    bool isMaskConst = !view.mask() || llvm::all_of(*view.mask(), [&](const view::Range &range) {
      return range.begin.isConst() && range.end.isConst();
    });
    return areConst(view.shape()) && areConst(view.strides()) && view.offset().isConst() && isMaskConst;
  });
}

KnownConstants::KnownConstants(func::FuncOp main) {
  main.walk<WalkOrder::PreOrder>([&](Operation *op) { add(op); });
}

bool KnownConstants::add(Operation *op) {
  if (op->getNumResults() != 1)
    return false;
  Value result = op->getResult(0);
  // A number has no memory, whatever its sizes are.
  if (isa<graph::ConstOp>(op))
    return true;
  auto type = dyn_cast<RankedTensorType>(result.getType());
  if (!type || !type.hasStaticShape())
    return false;
  auto alu = dyn_cast<graph::AluOp>(op);
  bool computes =
      (alu && isExact(alu.getKind().getValue())) || isa<graph::ReduceOp, graph::GatherOp, graph::ContiguousOp>(op);
  bool isSource = isa<graph::WeightOp, graph::IotaOp>(op);
  bool isKnown = computes && llvm::all_of(op->getOperands(), [&](Value operand) {
                   Edge edge = edgeOf(operand);
                   return contains(edge.base) && isFixed(edge.tracker);
                 });
  return (isSource || isKnown) && values_.insert(result).second;
}

SmallVector<Operation *> KnownConstants::eraseIfDead(Operation *op) {
  SmallVector<Operation *> behind;
  if (!graph::isDead(op, op->getParentOfType<func::FuncOp>()))
    return behind;
  for (Value operand : op->getOperands())
    if (Operation *maker = operand.getDefiningOp(); maker && !llvm::is_contained(behind, maker))
      behind.push_back(maker);
  for (Value result : op->getResults())
    values_.erase(result);
  op->erase();
  return behind;
}

Value schedule::tensorOf(OpBuilder &builder, Location loc, const Edge &edge) {
  RankedTensorType base = cast<RankedTensorType>(edge.base.getType());
  RankedTensorType type = tensorType(edge.tracker.shape(), base.getElementType());
  if (type == base && edge.tracker.isContiguous())
    return edge.base;
  if (graph::ConstOp number = numberThroughout(edge))
    return graph::ConstOp::create(builder, loc, type, number.getValue());
  return graph::ViewOp::create(builder, loc, type, edge.base, TrackerAttr::get(builder.getContext(), edge.tracker));
}

void schedule::replaceByEdge(Value tensor, const Edge &edge) {
  OpBuilder builder(tensor.getContext());
  for (OpOperand &use : llvm::make_early_inc_range(tensor.getUses())) {
    Operation *user = use.getOwner();
    builder.setInsertionPoint(user);
    if (auto view = dyn_cast<graph::ViewOp>(user)) {
      ShapeTracker composed = edge.tracker.compose(view.getTracker().getValue()).simplify();
      view.getResult().replaceAllUsesWith(tensorOf(builder, view.getLoc(), {edge.base, composed}));
      view.erase();
      continue;
    }
    use.set(tensorOf(builder, tensor.getLoc(), edge));
  }
}

llvm::SmallBitVector schedule::movesOf(const Edge &edge) {
  return numberThroughout(edge) ? llvm::SmallBitVector(edge.tracker.shape().size()) : axesOf(edge.tracker);
}

/// The tracker at the first point of every axis but these.
static ShapeTracker cutTo(const llvm::SmallBitVector &axes, const ShapeTracker &tracker) {
  SmallVector<view::Range> ranges;
  for (auto [axis, size] : llvm::enumerate(tracker.shape()))
    ranges.push_back({0, axes.test(axis) ? size : Expr(1)});
  return tracker.shrink(ranges).simplify();
}

Value schedule::multipliedAfter(OpBuilder &builder, graph::ReduceOp sum, Value result, ArrayRef<Edge> factors) {
  llvm::SmallBitVector kept(shapeOf(sum.getInput()).size(), true);
  for (int64_t axis : sum.getAxes())
    kept.reset(axis);
  for (const Edge &factor : factors) {
    Value once = tensorOf(builder, sum.getLoc(), {factor.base, cutTo(kept, factor.tracker)});
    result = graph::AluOp::create(builder, sum.getLoc(), Alu::MUL, {result, once});
  }
  return result;
}

Value schedule::zeroWhereEmpty(OpBuilder &builder, graph::ReduceOp sum, Value result) {
  Location loc = sum.getLoc();
  view::Shape shape = shapeOf(sum.getInput()), points = shapeOf(result);
  Expr terms = 1;
  for (int64_t axis : sum.getAxes())
    if (!llvm::is_contained(points, shape[axis])) // a result that has no such points has no element
      terms = terms * shape[axis];
  if (terms.min() > 0)
    return result;
  Type element = cast<RankedTensorType>(result.getType()).getElementType();
  RankedTensorType count = tensorType(shapeOf(result), builder.getI64Type());
  Value size = graph::SizeOp::create(builder, loc, count, ExprAttr::get(builder.getContext(), terms));
  Value one = graph::ConstOp::create(builder, loc, count, builder.getI64IntegerAttr(1));
  Value zero = graph::ConstOp::create(builder, loc, result.getType(), builder.getFloatAttr(element, 0));
  Value areNone = graph::AluOp::create(builder, loc, Alu::CMPLT, {size, one});
  return graph::AluOp::create(builder, loc, Alu::WHERE, {areNone, zero, result});
}

static bool isEmpty(const ShapeTracker &tracker) {
  return llvm::any_of(tracker.shape(), [](Expr size) { return size.max() < 1; });
}

std::optional<Edge> schedule::computeOnce(OpBuilder &builder, Location loc, Alu kind, ArrayRef<Edge> operands,
                                          Type element, Operation *&made) {
  view::Shape shape(operands.front().tracker.shape());
  if (isEmpty(operands.front().tracker))
    return std::nullopt;
  if (llvm::all_of(operands, [](const Edge &edge) { return numberThroughout(edge) != nullptr; })) {
    SmallVector<Scalar> numbers;
    for (const Edge &edge : operands)
      numbers.push_back(Scalar::of(numberThroughout(edge).getValue()));
    std::optional<Scalar> number = evaluateAlu(kind, numbers, *dtypeOf(element));
    if (!number)
      return std::nullopt;
    auto result =
        graph::ConstOp::create(builder, loc, tensorType(shape, element), number->attribute(builder.getContext()));
    made = result;
    return edgeOf(result.getResult());
  }
  llvm::SmallBitVector moves(shape.size());
  for (const Edge &edge : operands)
    moves |= movesOf(edge);
  SmallVector<Edge> cut;
  for (const Edge &edge : operands) {
    cut.push_back({edge.base, numberThroughout(edge) ? edge.tracker : cutTo(moves, edge.tracker)});
    if (!numberThroughout(edge) && !isFixed(cut.back().tracker))
      return std::nullopt;
  }
  view::Shape small = shape;
  for (auto [axis, size] : llvm::enumerate(small))
    if (!moves.test(axis))
      size = 1;
  SmallVector<Value> values;
  for (Edge &edge : cut) {
    if (numberThroughout(edge))
      edge.tracker = ShapeTracker::contiguous(small);
    values.push_back(tensorOf(builder, loc, edge));
  }
  auto result = graph::AluOp::create(builder, loc, kind, values, element);
  made = result;
  return Edge{result.getResult(), ShapeTracker::contiguous(small).expand(shape)};
}

std::optional<ShapeTracker> schedule::pullBack(const ShapeTracker &tracker, const ShapeTracker &through,
                                               ArrayRef<Expr> base) {
  if (through.isMasked() || isEmpty(through))
    return std::nullopt;
  llvm::SmallBitVector moves = axesOf(through), read = axesOf(tracker);
  if (read.test(moves))
    return std::nullopt;
  ShapeTracker to = cutTo(moves, through), from = cutTo(moves, tracker);
  ShapeTracker whole = ShapeTracker::contiguous(base);
  if (to.isContiguous() && view::provablyEqual(to.size(), view::product(base)))
    return from.reshape(base).simplify();
  std::optional<ShapeTracker> inverse = to.invert(base);
  if (!inverse || !(to.compose(*inverse).simplify() == whole))
    return std::nullopt;
  return from.compose(*inverse).simplify();
}

int64_t schedule::packedBytes(Value tensor) {
  auto type = cast<RankedTensorType>(tensor.getType());
  return llvm::alignTo(type.getNumElements() * int64_t(byteSize(type.getElementType())), kWeightAlignment);
}

bool schedule::isWidened(Value tensor) {
  auto cast = tensor.getDefiningOp<graph::AluOp>();
  return cast && cast.getKind().getValue() == Alu::CAST && packedBytes(tensor) > packedBytes(cast->getOperand(0));
}
