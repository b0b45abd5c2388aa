#include "ir/host/Call.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace kiln;
using namespace kiln::host;
using namespace mlir;

#include "ir/host/HostDialect.cpp.inc"
#include "ir/host/HostEnums.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "ir/host/HostAttrs.cpp.inc"
#define GET_TYPEDEF_CLASSES
#include "ir/host/HostTypes.cpp.inc"
#define GET_OP_CLASSES
#include "ir/host/HostOps.cpp.inc"
#define GET_OP_CLASSES
#include "ir/host/HostCallOps.cpp.inc"

namespace {
/// What the scheduler decided stands beside the module, not within the lines of its launches.
struct Aliases : OpAsmDialectInterface {
  using OpAsmDialectInterface::OpAsmDialectInterface;
  AliasResult getAlias(Attribute attr, raw_ostream &out) const override {
    auto list = dyn_cast<ArrayAttr>(attr);
    if (!list || list.empty() || !isa<TensorAttr>(list[0]))
      return AliasResult::NoAlias;
    out << "tensors";
    return AliasResult::FinalAlias;
  }
};
} // namespace

void HostDialect::initialize() {
  addInterfaces<Aliases>();
  addAttributes<
#define GET_ATTRDEF_LIST
#include "ir/host/HostAttrs.cpp.inc"
      >();
  addTypes<
#define GET_TYPEDEF_LIST
#include "ir/host/HostTypes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "ir/host/HostOps.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "ir/host/HostCallOps.cpp.inc"
      >();
}

LogicalResult ProgramOp::verify() {
  auto isTooDeep = [](RankedTensorType type) { return type.getRank() > kMaxPortRank; };
  auto port = [&](PortAttr attr) { return isTooDeep(attr.getType()); };
  if (llvm::any_of(getInputs().getAsRange<PortAttr>(), port) ||
      llvm::any_of(getOutputs().getAsRange<PortAttr>(), port) ||
      llvm::any_of(getWeights().getAsRange<WeightAttr>(), [&](WeightAttr attr) { return isTooDeep(attr.getType()); }))
    return emitOpError() << "has an input, output or weight of more than " << kMaxPortRank << " axes";
  Block &body = getBody().front();
  if (body.getNumArguments() != getSymbols().size())
    return emitOpError("needs a body argument for each symbol");
  for (Type type : body.getArgumentTypes())
    if (!type.isInteger(64))
      return emitOpError("a symbol's value is an i64");
  return success();
}

LogicalResult PlanOp::verify() {
  for (size_t count : {getFirst().size(), getLast().size(), size_t(getNumResults())})
    if (count != getBytes().size())
      return emitOpError("needs a size, two steps and a result for each temporary");
  return success();
}

LogicalResult EvalOp::verify() {
  SmallVector<view::Expr> variables;
  getExpr().getValue().forEachVariable([&](view::Expr variable) { variables.push_back(variable); });
  if (variables.size() != getValues().size())
    return emitOpError() << "needs " << variables.size() << " values";
  auto program = (*this)->getParentOfType<ProgramOp>();
  for (auto [variable, value] : llvm::zip(variables, getValues())) {
    auto argument = dyn_cast<BlockArgument>(value);
    if (!argument || argument.getOwner() != &program.getBody().front())
      continue; // what control flow makes has any name
    auto symbol = cast<SymbolAttr>(program.getSymbols()[argument.getArgNumber()]);
    if (variable != view::Expr::variable(symbol.getName(), symbol.getMin(), symbol.getMax()))
      return emitOpError() << "takes the symbol '" << symbol.getName() << "' for " << variable.render();
  }
  return success();
}
