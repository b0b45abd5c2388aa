//===- Kernel.cpp - Loop variables, verifiers, and where a stage keeps what ---===//
//
// A kernel says what is computed at a point of its domain and, apart from that, how the domain is walked. The two meet
// in `index`: an expression over the variables of loop axes, _x0, _x1 …, for each axis of the domain. So a stage and
// its readers may walk in different orders, and both find an element of the stage's memory by where it is in the
// domain: its distance from the base, cut into digits by the parts of the layout. Each op is verified by itself here;
// what has to hold between the walks of a kernel is in Walk.cpp.
//
//===--------------------------------------------------------------------------===//
#include "ir/kernel/Kernel.h"

#include "ir/base/FunctionText.h"
#include "ir/kernel/Walk.h"
#include "support/Quote.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace kiln;
using namespace kiln::kernel;
using namespace mlir;
using view::Expr;

#include "ir/kernel/KernelDialect.cpp.inc"
#include "ir/kernel/KernelEnums.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "ir/kernel/KernelAttrs.cpp.inc"
#define GET_TYPEDEF_CLASSES
#include "ir/kernel/KernelTypes.cpp.inc"
#define GET_OP_CLASSES
#include "ir/kernel/KernelOps.cpp.inc"

void KernelDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "ir/kernel/KernelAttrs.cpp.inc"
      >();
  addTypes<
#define GET_TYPEDEF_LIST
#include "ir/kernel/KernelTypes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "ir/kernel/KernelOps.cpp.inc"
      >();
}

static constexpr llvm::StringLiteral kLoopPrefix = "_x";

Expr kernel::loopVariable(int64_t id, Expr size) {
  // A loop of one step that may have none needs a variable, too: a number would be there in any case.
  int64_t last = std::max<int64_t>(size.max() - 1, size.isConst() || size.min() > 0 ? 0 : 1);
  return Expr::variable((kLoopPrefix + llvm::Twine(id)).str(), 0, last);
}

int64_t kernel::loopAxisOf(Expr variable) {
  llvm::StringRef name = variable.name();
  int64_t id;
  return name.consume_front(kLoopPrefix) && !name.getAsInteger(10, id) ? id : -1;
}

Expr kernel::rowVariable(Expr size, int64_t number) {
  return Expr::variable(("_row" + llvm::Twine(number)).str(), 0, view::maximum(size - 1, 0));
}

SmallVector<Expr> kernel::positionOf(ArrayRef<Expr> index, const view::ShapeTracker &tracker) {
  SmallVector<Expr> position;
  for (auto [size, at] : llvm::zip(tracker.shape(), index))
    position.push_back(size.isConst(1) ? Expr(0) : at);
  if (tracker.shape().size() > position.size())
    position.push_back(rowVariable(tracker.shape().back()));
  return position;
}

//===----------------------------------------------------------------------===//
// FuncOp
//===----------------------------------------------------------------------===//

ParseResult FuncOp::parse(OpAsmParser &parser, OperationState &result) { return parseFunction<FuncOp>(parser, result); }

void FuncOp::print(OpAsmPrinter &printer) { printFunction(*this, printer); }

SmallVector<AxisAttr> FuncOp::getLoopAxes() {
  return llvm::map_to_vector(getAxes(), [](Attribute axis) { return cast<AxisAttr>(axis); });
}

AxisAttr FuncOp::getLoopAxis(int64_t id) {
  auto find = [&](ArrayAttr axes) {
    for (Attribute axis : axes)
      if (cast<AxisAttr>(axis).getId() == id)
        return cast<AxisAttr>(axis);
    return AxisAttr();
  };
  AxisAttr axis = find(getAxes());
  for (auto stage : getBody().getOps<StageOp>())
    axis = axis ? axis : find(stage.getAxes());
  return axis;
}

LogicalResult FuncOp::verify() {
  if (!isCIdentifier(getSymName()))
    return emitOpError("has a name that is not letters, digits and _, a letter first");
  if (getBody().getOps<StoreOp>().empty())
    return emitOpError("stores nothing");
  if (getDomain().getSizes().size() != getIndex().getSizes().size())
    return emitOpError("needs an index expression for each axis of the domain");
  for (Expr index : getIndex().getSizes())
    for (int64_t id : axesOf(index))
      if (!getLoopAxis(id))
        return emitOpError() << "index " << index.render() << " names no loop axis";
  return success();
}

LogicalResult FuncOp::verifyRegions() {
  // MLIR looks at this later; what is asked below follows operands and would not come to an end.
  for (Operation &op : getBody().front())
    for (Value operand : op.getOperands())
      if (Operation *definition = operand.getDefiningOp(); definition && !definition->isBeforeInBlock(&op))
        return op.emitOpError("takes a value that does not come before it");
  if (std::optional<std::string> fault = faultOf(*this))
    return emitOpError() << *fault;
  return success();
}

//===----------------------------------------------------------------------===//
// What the body's ops guarantee
//===----------------------------------------------------------------------===//

/// A variable that a view moves by and the kernel is not given.
static std::optional<Expr> unknownSize(FuncOp func, const view::ShapeTracker &tracker) {
  std::optional<Expr> unknown;
  auto check = [&](Expr expr) {
    expr.forEachVariable([&](Expr symbol) {
      bool isSize = llvm::any_of(func.getSizes().getSizes(), [&](Expr size) {
        return size.kind() == Expr::Kind::Var && size.name() == symbol.name();
      });
      unknown = isSize ? unknown : symbol;
    });
  };
  for (const view::View &view : tracker.views()) {
    llvm::for_each(view.strides(), check);
    check(view.offset());
    for (auto [range, size] : llvm::zip(view.mask().value_or(ArrayRef<view::Range>()), view.shape())) {
      if (range.begin.isConst(0) && range.end == size)
        continue; // no condition comes of it
      check(range.begin);
      check(range.end);
    }
  }
  return unknown;
}

static LogicalResult verifyTracker(Operation *op, ArrayRef<Expr> shape) {
  auto func = op->getParentOfType<FuncOp>();
  ArrayRef<Expr> domain = func.getDomain().getSizes();
  if (shape.size() != domain.size())
    return op->emitOpError() << "the view has rank " << shape.size() << ", the domain " << domain.size();
  for (auto [size, wanted] : llvm::zip(shape, domain))
    if (!size.isConst(1) && !view::provablyEqual(size, wanted))
      return op->emitOpError() << "the view's size " << size.render() << " is neither the domain's " << wanted.render()
                               << " nor 1";
  if (std::optional<Expr> unknown = unknownSize(func, op->getAttrOfType<TrackerAttr>("tracker").getValue()))
    return op->emitOpError() << "the view names " << unknown->name() << ", which is not a size of the kernel's";
  return success();
}

/// A prefetch is for the next step of a loop that exists.
static LogicalResult verifyAhead(Operation *op, std::optional<int64_t> axis) {
  if (axis && !op->getParentOfType<FuncOp>().getLoopAxis(*axis))
    return op->emitOpError() << "is ahead of axis " << *axis << ", which is not a loop axis";
  return success();
}

LogicalResult LoadOp::verify() {
  if (getResult().getType() != getBuffer().getType().getElement())
    return emitOpError("gives another dtype than the buffer's");
  view::Shape shape(getTracker().getValue().shape());
  if (getRow() && shape.empty())
    return emitOpError("chooses a row along no axis");
  if (getRow())
    shape.pop_back();
  if (failed(verifyAhead(*this, getAhead())))
    return failure();
  return verifyTracker(*this, shape);
}

LogicalResult StoreOp::verify() {
  if (getValue().getType() != getBuffer().getType().getElement())
    return emitOpError("stores another dtype than the buffer's");
  if (failed(verifyAhead(*this, getAhead())))
    return failure();
  return verifyTracker(*this, getTracker().getValue().shape());
}

LogicalResult AluOp::verify() {
  return verifyAlu(getKind().getValue(), getOperandTypes(), getResult().getType(), [&] { return emitOpError(); });
}

LogicalResult ReduceOp::verify() {
  if (getAxes().empty())
    return emitOpError("is over no axes");
  auto func = (*this)->getParentOfType<FuncOp>();
  for (int64_t axis : getAxes())
    if (!func.getLoopAxis(axis))
      return emitOpError() << "axis " << axis << " is not a loop axis";
  Value score = getScore();
  if (score &&
      (getKind().getValue() != Alu::ADD || !isa<FloatType>(score.getType()) || score.getType() != getInput().getType()))
    return emitOpError("only a sum of floats has scores, of its input's dtype");
  return success();
}

//===----------------------------------------------------------------------===//
// StageOp
//===----------------------------------------------------------------------===//

SmallVector<AxisAttr> StageOp::getLoopAxes() {
  return llvm::map_to_vector(getAxes(), [](Attribute axis) { return cast<AxisAttr>(axis); });
}

SmallVector<PartAttr> StageOp::getParts() {
  return llvm::map_to_vector(getLayout(), [](Attribute part) { return cast<PartAttr>(part); });
}

SmallVector<Expr> StageOp::getBase() {
  llvm::DenseMap<Expr, Expr> begin;
  for (AxisAttr axis : getLoopAxes())
    begin[loopVariable(axis)] = 0;
  return llvm::map_to_vector(getIndex().getSizes(), [&](Expr index) { return index.substitute(begin); });
}

Expr StageOp::getElements() { return getBufferElements() * getBufferCount(); }

Expr StageOp::getBufferElements() {
  Expr elements = 1;
  SmallVector<PartAttr> parts = getParts();
  for (PartAttr part : llvm::reverse(parts))
    elements = (elements + part.getPad()) * part.getCount().getValue();
  return elements;
}

Expr StageOp::reachAlong(int64_t axis, ArrayRef<AxisAttr> walked) {
  Expr reach = 1;
  for (PartAttr part : getParts()) {
    Expr count = part.getCount().getValue();
    if (count.max() == 1 && llvm::any_of(walked, [&](AxisAttr own) { return own.getSize().getValue() == count; }))
      count = 1;
    if (part.getAxis() == axis)
      reach = reach + (count - 1) * part.getStep();
  }
  return reach;
}

Expr StageOp::elementAt(ArrayRef<Expr> position) {
  SmallVector<Expr> base = getBase();
  SmallVector<PartAttr> parts = getParts();
  Expr element = 0, stride = 1;
  for (PartAttr part : llvm::reverse(parts)) {
    int64_t axis = part.getAxis();
    Expr count = part.getCount().getValue();
    Expr at = view::floorDiv(position[axis] - base[axis], part.getStep());
    bool isOutermost = llvm::none_of(
        parts, [&](PartAttr other) { return other.getAxis() == axis && other.getStep() > part.getStep(); });
    stride = stride + part.getPad();
    element = element + (isOutermost ? at : view::mod(at, count)) * stride;
    stride = stride * count;
  }
  if (getBufferCount() > 1)
    if (AxisAttr axis = (*this)->getParentOfType<FuncOp>().getLoopAxis(getBuffers()->getAxis()))
      element = element + view::mod(loopVariable(axis), getBufferCount()) * stride;
  return element;
}

static constexpr int64_t kMostPad = 1 << 16, kMostUnits = 1 << 10;

static bool isPowerOfTwo(int64_t number, int64_t most) {
  return number >= 1 && number <= most && llvm::isPowerOf2_64(uint64_t(number));
}

/// Two points must not lie in one place: parts of an axis of the domain are digits of one number.
static bool areDigits(SmallVector<PartAttr> parts) {
  llvm::erase_if(parts, [](PartAttr part) { return part.getCount().getValue().isConst(1); });
  llvm::sort(parts, [](PartAttr a, PartAttr b) {
    return std::pair(a.getAxis(), a.getStep()) < std::pair(b.getAxis(), b.getStep());
  });
  for (size_t i = 1; i < parts.size(); ++i) {
    PartAttr inner = parts[i - 1], outer = parts[i];
    if (inner.getAxis() == outer.getAxis() &&
        !view::provablyLessEqual(inner.getCount().getValue() * inner.getStep(), outer.getStep()))
      return false;
  }
  return true;
}

std::optional<std::string> kernel::faultOfLayout(StageOp stage) {
  SmallVector<PartAttr> parts = stage.getParts();
  for (PartAttr part : parts)
    if (part.getPad() < 0 || part.getPad() > kMostPad)
      return "a run of memory is padded by " + std::to_string(kMostPad) + " elements at the most";
  if (!areDigits(parts))
    return std::string("two points of the domain would lie in one place of memory");
  std::optional<SwizzleAttr> swizzle = stage.getSwizzle();
  if (!swizzle)
    return std::nullopt;
  if (!isPowerOfTwo(swizzle->getWays(), kMostUnits) || !isPowerOfTwo(swizzle->getUnit(), kMostUnits))
    return "the units of a swizzle, and the elements of one, are a power of two, " + std::to_string(kMostUnits) +
           " at the most";
  int64_t group = swizzle->getWays() * swizzle->getUnit();
  if (swizzle->getRow() < 1 || swizzle->getRow() % group != 0)
    return "a swizzle of " + std::to_string(swizzle->getWays()) + " units of " + std::to_string(swizzle->getUnit()) +
           " elements does not stay inside rows of " + std::to_string(swizzle->getRow());
  if (!view::mod(stage.getBufferElements(), group).isConst(0))
    return "a swizzle of " + std::to_string(group) + " elements does not stay inside the memory's " +
           stage.getBufferElements().render();
  return std::nullopt;
}

LogicalResult OptAttr::verify(llvm::function_ref<InFlightDiagnostic()> emitError, OptKind kind, int64_t axis,
                              int64_t /*amount*/, bool /*isValue*/, ArrayAttr runs) {
  auto isRun = [](Attribute run) { return isa<RunAttr>(run); };
  bool areRuns = runs && !runs.empty() && llvm::all_of(runs, isRun) && cast<RunAttr>(runs[0]).getAxis() == axis;
  if (kind == OptKind::LAYOUT ? !areRuns : bool(runs))
    return emitError() << "LAYOUT alone has runs, the first of them along its axis";
  return success();
}

LogicalResult StageOp::verify() {
  size_t rank = (*this)->getParentOfType<FuncOp>().getDomain().getSizes().size();
  if (getIndex().getSizes().size() != rank)
    return emitOpError("needs an index expression for each axis of the domain");
  for (PartAttr part : getParts())
    if (part.getAxis() < 0 || part.getAxis() >= int64_t(rank) || part.getStep() < 1)
      return emitOpError("lays memory out over what is not an axis of the domain");
  if (getBuffer() && getBuffer().getType().getElement() != getInput().getType())
    return emitOpError("is held in memory of another dtype");
  if (getBuffers() && (getBufferCount() < 1 || getBufferCount() > kMostBuffers))
    return emitOpError() << "has " << getBufferCount() << " buffers, not 1 to " << kMostBuffers;
  if (failed(verifyAhead(*this, getAhead())))
    return failure();
  if (std::optional<std::string> fault = faultOfLayout(*this))
    return emitOpError() << *fault;
  return success();
}
