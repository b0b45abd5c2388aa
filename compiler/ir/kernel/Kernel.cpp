#include "ir/kernel/Kernel.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/Interfaces/FunctionImplementation.h"
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
  int64_t last = size.max() - 1;
  return Expr::variable((kLoopPrefix + llvm::Twine(id)).str(), 0, last < 0 ? 0 : last);
}

int64_t kernel::loopAxisOf(Expr variable) {
  llvm::StringRef name = variable.name();
  int64_t id;
  return name.consume_front(kLoopPrefix) && !name.getAsInteger(10, id) ? id : -1;
}

Expr kernel::rowVariable(Expr size, int64_t number) {
  return Expr::variable(("_row" + llvm::Twine(number)).str(), 0, view::maximum(size - 1, 0));
}

SmallVector<Expr> kernel::positionOf(FuncOp func, const view::ShapeTracker &tracker) {
  SmallVector<Expr> position;
  for (auto [size, index] : llvm::zip(tracker.shape(), func.getIndex().getSizes()))
    position.push_back(size.isConst(1) ? Expr(0) : index);
  if (tracker.shape().size() > position.size())
    position.push_back(rowVariable(tracker.shape().back()));
  return position;
}

//===----------------------------------------------------------------------===//
// FuncOp
//===----------------------------------------------------------------------===//

ParseResult FuncOp::parse(OpAsmParser &parser, OperationState &result) {
  auto buildType = [](Builder &builder, ArrayRef<Type> arguments, ArrayRef<Type> results,
                      function_interface_impl::VariadicFlag,
                      std::string &) { return builder.getFunctionType(arguments, results); };
  return function_interface_impl::parseFunctionOp(parser, result, /*allowVariadic=*/false,
                                                  getFunctionTypeAttrName(result.name), buildType,
                                                  getArgAttrsAttrName(result.name), getResAttrsAttrName(result.name));
}

void FuncOp::print(OpAsmPrinter &printer) {
  function_interface_impl::printFunctionOp(printer, *this, /*isVariadic=*/false, getFunctionTypeAttrName(),
                                           getArgAttrsAttrName(), getResAttrsAttrName());
}

SmallVector<AxisAttr> FuncOp::getLoopAxes() {
  return llvm::map_to_vector(getAxes(), [](Attribute axis) { return cast<AxisAttr>(axis); });
}

AxisAttr FuncOp::getLoopAxis(int64_t id) {
  for (Attribute axis : getAxes())
    if (cast<AxisAttr>(axis).getId() == id)
      return cast<AxisAttr>(axis);
  return nullptr;
}

LogicalResult FuncOp::verify() {
  if (getBody().getOps<StoreOp>().empty())
    return emitOpError("stores nothing");
  if (getDomain().getSizes().size() != getIndex().getSizes().size())
    return emitOpError("needs an index expression for each axis of the domain");
  llvm::DenseSet<int64_t> ids;
  for (AxisAttr axis : getLoopAxes())
    if (!ids.insert(axis.getId()).second)
      return emitOpError() << "has two loop axes " << axis.getId();
  for (Expr index : getIndex().getSizes()) {
    bool known = true;
    index.forEachVariable([&](Expr variable) {
      int64_t id = loopAxisOf(variable);
      known &= id < 0 || ids.contains(id);
    });
    if (!known)
      return emitOpError() << "index " << index.render() << " names no loop axis";
  }
  return success();
}

//===----------------------------------------------------------------------===//
// What the body's ops guarantee
//===----------------------------------------------------------------------===//

static LogicalResult verifyTracker(Operation *op, ArrayRef<Expr> shape) {
  auto func = op->getParentOfType<FuncOp>();
  ArrayRef<Expr> domain = func.getDomain().getSizes();
  if (shape.size() != domain.size())
    return op->emitOpError() << "the view has rank " << shape.size() << ", the domain " << domain.size();
  for (auto [size, wanted] : llvm::zip(shape, domain))
    if (!size.isConst(1) && !view::provablyEqual(size, wanted))
      return op->emitOpError() << "the view's size " << size.render() << " is neither the domain's " << wanted.render()
                               << " nor 1";
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
  return verifyTracker(*this, shape);
}

LogicalResult StoreOp::verify() {
  if (getValue().getType() != getBuffer().getType().getElement())
    return emitOpError("stores another dtype than the buffer's");
  return verifyTracker(*this, getTracker().getValue().shape());
}

LogicalResult AluOp::verify() {
  return verifyAlu(getKind().getValue(), getOperandTypes(), getResult().getType(), [&] { return emitOpError(); });
}

LogicalResult ReduceOp::verify() {
  auto func = (*this)->getParentOfType<FuncOp>();
  for (int64_t axis : getAxes())
    if (!func.getLoopAxis(axis))
      return emitOpError() << "axis " << axis << " is no loop axis";
  Value score = getScore();
  if (score &&
      (getKind().getValue() != Alu::ADD || !isa<FloatType>(score.getType()) || score.getType() != getInput().getType()))
    return emitOpError("only a sum of floats has scores, of its input's dtype");
  return success();
}
