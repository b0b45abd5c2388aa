//===- Graph.cpp - What the ops of the graph dialect guarantee ---------===//
//
// Sizes are expressions over symbols, so a verifier cannot compare numbers. It takes two shapes for one where they are
// provably equal, whatever the symbols are: seq * 2 and seq + seq are. Where a result's shape follows from operands and
// attributes, a result of another shape is refused. It is different with bounds, as of a slice or of padding: they are
// refused only where they are wrong for all values of the symbols, since what is wrong for some is seen when the
// program runs.
//
//===-------------------------------------------------------------------===//
#include "ir/graph/Call.h"
#include "view/Repeat.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace kiln;
using namespace kiln::graph;
using namespace mlir;
using view::Expr;

#include "ir/graph/GraphDialect.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "ir/graph/GraphAttrs.cpp.inc"
#define GET_OP_CLASSES
#include "ir/graph/GraphOps.cpp.inc"
#define GET_OP_CLASSES
#include "ir/graph/GraphCallOps.cpp.inc"

void GraphDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "ir/graph/GraphAttrs.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "ir/graph/GraphOps.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "ir/graph/GraphCallOps.cpp.inc"
      >();
}

static Type elementOf(Value tensor) { return cast<RankedTensorType>(tensor.getType()).getElementType(); }

/// A result's shape must be the one that the op's operands and attributes give.
static LogicalResult expectShape(Operation *op, ArrayRef<Expr> wanted) {
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  view::Shape given = shapeOf(type);
  bool same = given.size() == wanted.size() && llvm::all_of(llvm::zip(given, wanted), [](auto pair) {
                return view::provablyEqual(std::get<0>(pair), std::get<1>(pair));
              });
  if (same)
    return success();
  return op->emitOpError() << "gives " << tensorType(wanted, type.getElementType()) << ", not " << type;
}

static LogicalResult expectSameElement(Operation *op, Value input) {
  if (elementOf(input) == elementOf(op->getResult(0)))
    return success();
  return op->emitOpError("changes the dtype");
}

static LogicalResult expectAxes(Operation *op, ArrayRef<int64_t> axes, size_t rank) {
  SmallVector<bool> seen(rank);
  for (int64_t axis : axes) {
    if (axis < 0 || axis >= int64_t(rank) || seen[axis])
      return op->emitOpError() << "axis " << axis << " is out of range or named twice";
    seen[axis] = true;
  }
  return success();
}

LogicalResult IotaOp::verify() {
  Type element = elementOf(getResult());
  if (shapeOf(getResult()).size() != 1 || !isa<IntegerType>(element) || element.isInteger(1))
    return emitOpError("gives integers along one axis");
  return success();
}

LogicalResult ConstOp::verify() {
  if (getValue().getType() != getResult().getType().getElementType())
    return emitOpError("the number's dtype is not the tensor's");
  return success();
}

LogicalResult WeightOp::verify() {
  auto type = getResult().getType();
  if (auto dense = dyn_cast<DenseElementsAttr>(getData()))
    return dense.getType() == type ? success() : emitOpError() << "the data is " << dense.getType();
  if (isa<RecipeAttr>(getData()))
    return type.hasStaticShape() ? success() : emitOpError("a recipe makes tensors of fixed sizes");
  auto file = dyn_cast<FileAttr>(getData());
  if (!file)
    return emitOpError("data is neither dense elements nor a file nor a recipe");
  if (!type.hasStaticShape() || file.getBytes() != type.getNumElements() * int64_t(byteSize(type.getElementType())))
    return emitOpError() << file.getBytes() << " bytes do not make " << type;
  return success();
}

LogicalResult ReshapeOp::verify() {
  Expr before = view::product(shapeOf(getInput())), after = view::product(shapeOf(getResult()));
  if (!view::provablyEqual(before, after))
    return emitOpError() << "of " << before.render() << " elements to " << after.render();
  return expectSameElement(*this, getInput());
}

void PermuteOp::build(OpBuilder &builder, OperationState &state, Value input, ArrayRef<int64_t> order) {
  view::Shape from = shapeOf(input), shape;
  for (int64_t axis : order)
    shape.push_back(from[axis]);
  build(builder, state, tensorType(shape, elementOf(input)), input, order);
}

LogicalResult PermuteOp::verify() {
  view::Shape from = shapeOf(getInput()), shape;
  if (failed(expectAxes(*this, getOrder(), from.size())))
    return failure();
  if (getOrder().size() != from.size())
    return emitOpError("order must name every axis");
  for (int64_t axis : getOrder())
    shape.push_back(from[axis]);
  return success(succeeded(expectShape(*this, shape)) && succeeded(expectSameElement(*this, getInput())));
}

LogicalResult ExpandOp::verify() {
  view::Shape from = shapeOf(getInput()), to = shapeOf(getResult());
  if (from.size() != to.size())
    return emitOpError("changes the rank");
  for (auto [a, b] : llvm::zip(from, to))
    if (!view::repeatStep(a, b))
      return emitOpError() << "of an axis of size " << a.render() << " to " << b.render();
  return expectSameElement(*this, getInput());
}

static view::Shape paddedShape(Value input, ArrayRef<Expr> low, ArrayRef<Expr> high) {
  view::Shape shape;
  for (auto [size, before, after] : llvm::zip(shapeOf(input), low, high))
    shape.push_back(view::sum({size, before, after}));
  return shape;
}

void PadOp::build(OpBuilder &builder, OperationState &state, Value input, ArrayRef<Expr> low, ArrayRef<Expr> high) {
  MLIRContext *context = builder.getContext();
  build(builder, state, tensorType(paddedShape(input, low, high), elementOf(input)), input, DimsAttr::get(context, low),
        DimsAttr::get(context, high));
}

LogicalResult PadOp::verify() {
  size_t rank = shapeOf(getInput()).size();
  if (getLow().getSizes().size() != rank || getHigh().getSizes().size() != rank)
    return emitOpError("needs an amount before and after each axis");
  for (Expr amount : llvm::concat<const Expr>(getLow().getSizes(), getHigh().getSizes()))
    if (amount.max() < 0)
      return emitOpError("an amount is negative");
  view::Shape wanted = paddedShape(getInput(), getLow().getSizes(), getHigh().getSizes());
  return success(succeeded(expectShape(*this, wanted)) && succeeded(expectSameElement(*this, getInput())));
}

static view::Shape shrunkShape(ArrayRef<Expr> begin, ArrayRef<Expr> end) {
  view::Shape shape;
  for (auto [from, to] : llvm::zip(begin, end))
    shape.push_back(to - from);
  return shape;
}

void ShrinkOp::build(OpBuilder &builder, OperationState &state, Value input, ArrayRef<Expr> begin, ArrayRef<Expr> end) {
  MLIRContext *context = builder.getContext();
  build(builder, state, tensorType(shrunkShape(begin, end), elementOf(input)), input, DimsAttr::get(context, begin),
        DimsAttr::get(context, end));
}

LogicalResult ShrinkOp::verify() {
  view::Shape from = shapeOf(getInput());
  ArrayRef<Expr> begin = getBegin().getSizes(), end = getEnd().getSizes();
  if (begin.size() != from.size() || end.size() != from.size())
    return emitOpError("needs a begin and an end for each axis");
  for (auto [size, low, high] : llvm::zip(from, begin, end))
    if (low.max() < 0 || (size - high).max() < 0 || (high - low).max() < 0)
      return emitOpError() << "[" << low.render() << ", " << high.render() << ") is not within an axis of size "
                           << size.render();
  return success(succeeded(expectShape(*this, shrunkShape(begin, end))) &&
                 succeeded(expectSameElement(*this, getInput())));
}

void FlipOp::build(OpBuilder &builder, OperationState &state, Value input, ArrayRef<int64_t> axes) {
  build(builder, state, input.getType(), input, axes);
}

LogicalResult FlipOp::verify() {
  if (failed(expectAxes(*this, getAxes(), shapeOf(getInput()).size())))
    return failure();
  return success(getInput().getType() == getResult().getType());
}

LogicalResult ViewOp::verify() {
  return success(succeeded(expectShape(*this, getTracker().getValue().shape())) &&
                 succeeded(expectSameElement(*this, getInput())));
}

static Type resultElement(Alu kind, ValueRange operands) {
  switch (aluInfo(kind).rule) {
  case AluRule::Compare:
    return IntegerType::get(operands[0].getContext(), 1);
  case AluRule::Select:
    return elementOf(operands[1]);
  default:
    return elementOf(operands[0]);
  }
}

void AluOp::build(OpBuilder &builder, OperationState &state, Alu kind, ValueRange operands) {
  build(builder, state, kind, operands, resultElement(kind, operands));
}

void AluOp::build(OpBuilder &builder, OperationState &state, Alu kind, ValueRange operands, Type element) {
  build(builder, state, tensorType(shapeOf(operands[0]), element), AluKindAttr::get(builder.getContext(), kind),
        operands);
}

LogicalResult AluOp::verify() {
  SmallVector<Type> elements = llvm::map_to_vector(getOperands(), elementOf);
  if (failed(verifyAlu(getKind().getValue(), elements, elementOf(getResult()), [&] { return emitOpError(); })))
    return failure();
  for (Value operand : getOperands())
    if (failed(expectShape(*this, shapeOf(operand))))
      return failure();
  return success();
}

void ReduceOp::build(OpBuilder &builder, OperationState &state, Alu kind, Value input, ArrayRef<int64_t> axes,
                     Value score) {
  view::Shape shape = shapeOf(input);
  for (int64_t axis : axes)
    shape[axis] = 1;
  build(builder, state, tensorType(shape, elementOf(input)), AluKindAttr::get(builder.getContext(), kind), input, score,
        axes);
}

LogicalResult ReduceOp::verify() {
  Alu kind = getKind().getValue();
  if (kind != Alu::ADD && kind != Alu::MUL && kind != Alu::MAX && kind != Alu::MIN)
    return emitOpError() << stringifyAlu(kind) << " is not a reduction";
  bool isScored = getScore() != nullptr;
  if (isScored && (kind != Alu::ADD || !isa<FloatType>(elementOf(getInput()))))
    return emitOpError("only a sum of floats has scores");
  if (isScored && getScore().getType() != getInput().getType())
    return emitOpError("the scores are of another type than the input");
  view::Shape shape = shapeOf(getInput());
  if (failed(expectAxes(*this, getAxes(), shape.size())))
    return failure();
  for (int64_t axis : getAxes())
    shape[axis] = 1;
  return success(succeeded(expectShape(*this, shape)) && succeeded(expectSameElement(*this, getInput())));
}

static view::Shape withCapacity(Value input, int64_t axis, int64_t capacity) {
  view::Shape shape = shapeOf(input);
  if (axis >= 0 && axis < int64_t(shape.size()))
    shape[axis] = capacity;
  return shape;
}

void RoomOp::build(OpBuilder &builder, OperationState &state, Value input, int64_t axis, int64_t capacity) {
  build(builder, state, tensorType(withCapacity(input, axis, capacity), elementOf(input)), input,
        builder.getI64IntegerAttr(axis), builder.getI64IntegerAttr(capacity));
}

static bool isInput(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  return argument && isa<FunctionOpInterface>(argument.getOwner()->getParentOp());
}

LogicalResult RoomOp::verify() {
  if (!isInput(getInput()))
    return emitOpError("only an input has room behind it");
  int64_t axis = getAxis(), rank = shapeOf(getInput()).size();
  if (axis < 0 || axis >= rank)
    return emitOpError("the axis is out of range");
  return success(succeeded(expectShape(*this, withCapacity(getInput(), axis, getCapacity()))) &&
                 succeeded(expectSameElement(*this, getInput())));
}

void BindOp::build(OpBuilder &, OperationState &state, SymbolAttr symbol, Value value, StringAttr meaning) {
  state.addOperands(value);
  state.getOrAddProperties<Properties>().symbol = symbol;
  state.getOrAddProperties<Properties>().meaning = meaning;
}

void AssignOp::build(OpBuilder &builder, OperationState &state, Value target, Value value, DimsAttr begin) {
  build(builder, state, target.getType(), target, value, begin);
}

view::ShapeTracker graph::placeOf(AssignOp assign) {
  view::Shape target = shapeOf(assign.getTarget());
  view::ShapeTracker whole = view::ShapeTracker::contiguous(target);
  if (!assign.getBegin())
    return whole;
  SmallVector<view::Range> ranges;
  for (auto [begin, size] : llvm::zip(assign.getBegin()->getSizes(), shapeOf(assign.getValue())))
    ranges.push_back({begin, begin + size});
  return whole.shrink(ranges);
}

LogicalResult AssignOp::verify() {
  auto room = getTarget().getDefiningOp<RoomOp>();
  if (!isInput(getTarget()) && !room)
    return emitOpError("the target must be an input");
  for (Operation *user : getTarget().getUsers())
    if (auto other = dyn_cast<AssignOp>(user); other && other != *this && other.getTarget() == getTarget())
      return emitOpError("the input is assigned to twice");
  if (!getBegin())
    return room ? emitOpError("needs to say where in the room the value begins")
                : success(getValue().getType() == getTarget().getType());
  view::Shape target = shapeOf(getTarget()), value = shapeOf(getValue());
  if (!room || getBegin()->getSizes().size() != target.size() || value.size() != target.size())
    return emitOpError("only a part of a room, of its rank, begins somewhere");
  for (auto [axis, begin] : llvm::enumerate(getBegin()->getSizes())) {
    bool isRoomAxis = int64_t(axis) == int64_t(room.getAxis());
    view::Expr least = isRoomAxis ? shapeOf(room.getInput())[axis] : view::Expr(0);
    if ((begin - least).max() < 0 || (!isRoomAxis && value[axis] != target[axis]))
      return emitOpError("writes where the input lies");
  }
  return success(elementOf(getValue()) == elementOf(getTarget()));
}

LogicalResult GatherOp::verify() {
  view::Shape from = shapeOf(getInput()), shape;
  if (getAxis() < 0 || getAxis() >= from.size())
    return emitOpError("the axis is out of range");
  if (!isa<IntegerType>(elementOf(getIndices())))
    return emitOpError("indices must be integers");
  shape.append(from.begin(), from.begin() + getAxis());
  shape.append(shapeOf(getIndices()));
  shape.append(from.begin() + getAxis() + 1, from.end());
  return success(succeeded(expectShape(*this, shape)) && succeeded(expectSameElement(*this, getInput())));
}

/// The values that a region's terminator yields must have the results' dtypes and ranks, from `first` on.
static LogicalResult expectYields(Operation *op, Region &region, ArrayRef<RankedTensorType> wanted) {
  auto yield = dyn_cast<YieldOp>(region.front().getTerminator());
  if (!yield || yield.getValues().size() != wanted.size())
    return op->emitOpError() << "needs " << wanted.size() << " values from each region";
  for (auto [value, type] : llvm::zip(yield.getValues(), wanted)) {
    auto given = cast<RankedTensorType>(value.getType());
    if (given.getElementType() != type.getElementType() || given.getRank() != type.getRank())
      return op->emitOpError() << "a region yields " << given << " where " << type << " is needed";
  }
  return success();
}

LogicalResult IfOp::verify() {
  SmallVector<RankedTensorType> types;
  for (Type type : getResultTypes())
    types.push_back(cast<RankedTensorType>(type));
  return success(succeeded(expectYields(*this, getThenRegion(), types)) &&
                 succeeded(expectYields(*this, getElseRegion(), types)));
}

LogicalResult LoopOp::verify() {
  size_t carried = getInits().size();
  if (getNumResults() < carried || getBody().getNumArguments() != carried + 1)
    return emitOpError() << "with " << carried << " carried tensors needs that many results and one argument more";
  SmallVector<RankedTensorType> yields{RankedTensorType::get({}, IntegerType::get(getContext(), 1))};
  for (auto [index, type] : llvm::enumerate(getResultTypes())) {
    auto tensor = cast<RankedTensorType>(type);
    bool scan = index >= carried;
    if (scan && tensor.getRank() == 0)
      return emitOpError("a scan output needs a first axis");
    yields.push_back(scan ? tensorType(ArrayRef<Expr>(shapeOf(tensor)).drop_front(), tensor.getElementType()) : tensor);
  }
  return expectYields(*this, getBody(), yields);
}

TypedAttr graph::reductionIdentity(Alu kind, Type element) {
  if (auto type = dyn_cast<FloatType>(element)) {
    const llvm::fltSemantics &semantics = type.getFloatSemantics();
    if (kind == Alu::MAX || kind == Alu::MIN)
      return FloatAttr::get(element, llvm::APFloat::getInf(semantics, /*Negative=*/kind == Alu::MAX));
    return FloatAttr::get(element, kind == Alu::MUL ? 1.0 : 0.0);
  }
  auto type = cast<IntegerType>(element);
  unsigned width = type.getWidth();
  bool isUnsigned = type.isUnsigned() || width == 1;
  llvm::APInt value(width, kind == Alu::MUL ? 1 : 0);
  if (kind == Alu::MAX)
    value = isUnsigned ? llvm::APInt::getMinValue(width) : llvm::APInt::getSignedMinValue(width);
  if (kind == Alu::MIN)
    value = isUnsigned ? llvm::APInt::getMaxValue(width) : llvm::APInt::getSignedMaxValue(width);
  return IntegerAttr::get(element, value);
}
