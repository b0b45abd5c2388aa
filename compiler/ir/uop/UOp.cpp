//===- UOp.cpp - What renderers may take for granted -------------------===//
//
// The same uops are rendered to LLVM IR and to several dialects of C, and are run by an interpreter. They rely on what
// is looked at here: a loop carries, yields and gives the same types; a load with a gate has a value for where the gate
// is closed; operands agree in lanes; the shapes of a matrix instruction fit together; a shuffle finds the item that it
// asks. RangeOp is parsed and printed by hand, because its text introduces the arguments of its body.
//
//===-------------------------------------------------------------------===//
#include "ir/uop/UOp.h"

#include "ir/base/FunctionText.h"
#include "support/Quote.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace kiln;
using namespace kiln::uop;
using namespace mlir;

#include "ir/uop/UOpDialect.cpp.inc"
#include "ir/uop/UOpEnums.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "ir/uop/UOpAttrs.cpp.inc"
#define GET_TYPEDEF_CLASSES
#include "ir/uop/UOpTypes.cpp.inc"
#define GET_OP_CLASSES
#include "ir/uop/UOpOps.cpp.inc"

void UOpDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "ir/uop/UOpAttrs.cpp.inc"
      >();
  addTypes<
#define GET_TYPEDEF_LIST
#include "ir/uop/UOpTypes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "ir/uop/UOpOps.cpp.inc"
      >();
}

unsigned uop::lanesOf(Type type) {
  auto vector = dyn_cast<VectorType>(type);
  return vector ? vector.getNumElements() : 1;
}

static Type laneOf(Type type) { return getElementTypeOrSelf(type); }

//===----------------------------------------------------------------------===//
// FuncOp
//===----------------------------------------------------------------------===//

ParseResult FuncOp::parse(OpAsmParser &parser, OperationState &result) { return parseFunction<FuncOp>(parser, result); }

void FuncOp::print(OpAsmPrinter &printer) { printFunction(*this, printer); }

unsigned FuncOp::getBufferCount() {
  return llvm::count_if(getArgumentTypes(), [](Type type) { return isa<PtrType>(type); });
}

bool FuncOp::writes(unsigned index) {
  return llvm::any_of(getBody().getArgument(index).getUsers(),
                      [](Operation *user) { return isa<StoreOp, StoreMatrixOp>(user); });
}

LogicalResult FuncOp::verify() {
  if (!isCIdentifier(getSymName()))
    return emitOpError("has a name that is not letters, digits and _, a letter first");
  ArrayRef<Type> types = getArgumentTypes();
  unsigned buffers = getBufferCount();
  for (auto [index, type] : llvm::enumerate(types))
    if (isa<PtrType>(type) != (index < buffers))
      return emitOpError("takes pointers first, then sizes");
  if (types.size() != buffers + getSizes().getSizes().size())
    return emitOpError("needs an argument for each entry of `sizes`");
  if (getGrid().getSizes().size() > 3 || getLocal().size() != getGrid().getSizes().size())
    return emitOpError("grid and local have one entry per axis, three at most");
  return success();
}

//===----------------------------------------------------------------------===//
// RangeOp:  uop.range %i = %from to %to init(%a = %x) : i32, types (axis 0, reduce) { … }
//===----------------------------------------------------------------------===//

void RangeOp::build(OpBuilder &builder, OperationState &state, Value from, Value to, ValueRange inits, int64_t axis,
                    bool reduce) {
  state.addOperands({from, to});
  state.addOperands(inits);
  state.addTypes(inits.getTypes());
  state.addAttribute(getAxisAttrName(state.name), builder.getI64IntegerAttr(axis));
  if (reduce)
    state.addAttribute(getReduceAttrName(state.name), builder.getUnitAttr());
  OpBuilder::InsertionGuard guard(builder);
  Block *body = builder.createBlock(state.addRegion());
  body->addArgument(from.getType(), state.location);
  for (Type type : inits.getTypes())
    body->addArgument(type, state.location);
}

ParseResult RangeOp::parse(OpAsmParser &parser, OperationState &result) {
  OpAsmParser::Argument index;
  OpAsmParser::UnresolvedOperand from, to;
  SmallVector<OpAsmParser::Argument> carried;
  SmallVector<OpAsmParser::UnresolvedOperand> inits;
  SmallVector<Type> types;
  if (parser.parseArgument(index) || parser.parseEqual() || parser.parseOperand(from) || parser.parseKeyword("to") ||
      parser.parseOperand(to) || parser.parseColonType(index.type))
    return failure();
  if (succeeded(parser.parseOptionalKeyword("init"))) {
    if (parser.parseAssignmentList(carried, inits) || parser.parseColonTypeList(types))
      return failure();
  }
  if (carried.size() != types.size())
    return parser.emitError(parser.getCurrentLocation(), "a type for each carried value is needed");
  for (auto [argument, type] : llvm::zip(carried, types))
    argument.type = type;
  if (parser.resolveOperand(from, index.type, result.operands) ||
      parser.resolveOperand(to, index.type, result.operands) ||
      parser.resolveOperands(inits, types, parser.getCurrentLocation(), result.operands))
    return failure();
  SmallVector<OpAsmParser::Argument> arguments{index};
  arguments.append(carried);
  result.addTypes(types);
  if (parser.parseOptionalAttrDictWithKeyword(result.attributes) || parser.parseRegion(*result.addRegion(), arguments))
    return failure();
  return success();
}

void RangeOp::print(OpAsmPrinter &printer) {
  printer << ' ' << getIndex() << " = " << getFrom() << " to " << getTo() << " : " << getFrom().getType();
  if (!getInits().empty()) {
    printer << " init(";
    llvm::interleaveComma(llvm::zip(getCarried(), getInits()), printer,
                          [&](auto pair) { printer << std::get<0>(pair) << " = " << std::get<1>(pair); });
    printer << ") : " << getInits().getTypes();
  }
  printer.printOptionalAttrDictWithKeyword((*this)->getAttrs());
  printer << ' ';
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false);
}

YieldOp RangeOp::getYield() { return cast<YieldOp>(getBody().front().getTerminator()); }

LogicalResult RangeOp::verify() {
  auto yield = dyn_cast<YieldOp>(getBody().front().getTerminator());
  if (!yield || yield.getValues().getTypes() != getResultTypes() || getInits().getTypes() != getResultTypes() ||
      getCarried().getTypes() != getResultTypes())
    return emitOpError("carries, yields and gives the same types");
  return success();
}

//===----------------------------------------------------------------------===//
// Memory and arithmetic
//===----------------------------------------------------------------------===//

static LogicalResult expectGate(Operation *op, Value gate, Type value) {
  if (!gate || gate.getType().isInteger(1))
    return success();
  if (laneOf(gate.getType()).isInteger(1) && lanesOf(gate.getType()) == lanesOf(value))
    return success();
  return op->emitOpError("the gate is a bool, or one per lane");
}

LogicalResult LoadOp::verify() {
  if (laneOf(getResult().getType()) != getPointer().getType().getElement())
    return emitOpError("gives another dtype than the pointer's");
  if (bool(getGate()) != bool(getOtherwise()) || (getOtherwise() && getOtherwise().getType() != getResult().getType()))
    return emitOpError("a gate needs a value of the result's type for where it is false");
  return expectGate(*this, getGate(), getResult().getType());
}

LogicalResult StoreOp::verify() {
  if (laneOf(getValue().getType()) != getPointer().getType().getElement())
    return emitOpError("stores another dtype than the pointer's");
  return expectGate(*this, getGate(), getValue().getType());
}

LogicalResult LoadMatrixOp::verify() {
  if (laneOf(getResult().getType()) != getPointer().getType().getElement())
    return emitOpError("gives another dtype than the pointer's");
  return success();
}

LogicalResult StoreMatrixOp::verify() {
  if (laneOf(getValue().getType()) != getPointer().getType().getElement())
    return emitOpError("stores another dtype than the pointer's");
  return success();
}

LogicalResult WmmaOp::verify() {
  ArrayRef<int64_t> a = cast<VectorType>(getA().getType()).getShape(),
                    b = cast<VectorType>(getB().getType()).getShape(),
                    sum = cast<VectorType>(getSum().getType()).getShape();
  bool fits = a[0] == sum[0] && a[1] % b[0] == 0 && b[1] == sum[1] * (a[1] / b[0]);
  if (!fits)
    return emitOpError("multiplies matrices whose shapes do not fit");
  return success();
}

int64_t DotOp::getTerms() {
  return std::max(lanesOf(getA().getType()), lanesOf(getB().getType())) / lanesOf(getSum().getType());
}

LogicalResult DotOp::verify() {
  int64_t terms = getTerms(), lanes = lanesOf(getSum().getType());
  auto fits = [&](Value operand) {
    int64_t elements = lanesOf(operand.getType());
    return elements == terms || elements == terms * lanes;
  };
  if (terms < 1 || !fits(getA()) || !fits(getB()))
    return emitOpError("takes the same number of terms for each lane, or once for all");
  return success();
}

LogicalResult AluOp::verify() {
  for (Value operand : getOperands())
    if (lanesOf(operand.getType()) != lanesOf(getResult().getType()))
      return emitOpError("operands and result differ in lanes");
  SmallVector<Type> lanes = llvm::map_to_vector(getOperandTypes(), laneOf);
  return verifyAlu(getKind().getValue(), lanes, laneOf(getResult().getType()), [&] { return emitOpError(); });
}

LogicalResult LookupOp::verify() {
  Type index = laneOf(getIndex().getType()), byte = laneOf(getType());
  if (!index.isInteger(8) || !byte.isInteger(8) || getTable().getType().getElement() != byte)
    return emitOpError("finds bytes by bytes");
  if (lanesOf(getIndex().getType()) != lanesOf(getType()))
    return emitOpError("index and result differ in lanes");
  return success();
}

LogicalResult ShuffleOp::verify() {
  int64_t bit = getBit();
  if (bit <= 0 || !llvm::isPowerOf2_64(bit))
    return emitOpError("exchanges with the item whose index differs in one bit");
  auto func = (*this)->getParentOfType<FuncOp>();
  if (!func || func.getLocal().empty() || func.getLocal().front() % (2 * bit) != 0)
    return emitOpError() << "wants groups of a multiple of " << 2 * bit << " items along their first axis";
  return success();
}

LogicalResult GepOp::verify() {
  if (laneOf(getType()) != laneOf(getVector().getType()))
    return emitOpError("takes lanes of another dtype");
  uint64_t lanes = lanesOf(getVector().getType());
  if (getLane() >= lanes || getLane() + lanesOf(getType()) > lanes)
    return emitOpError("takes lanes past the last");
  return success();
}

LogicalResult VectorizeOp::verify() {
  if (getLanes().size() != 1 && getLanes().size() != lanesOf(getResult().getType()))
    return emitOpError("needs one operand, or one per lane");
  for (Type type : getLanes().getTypes())
    if (type != laneOf(getResult().getType()))
      return emitOpError("an operand has another dtype");
  return success();
}
