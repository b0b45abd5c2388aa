//===- Host.cpp - The host dialect's devices and verifiers --------------------===//
//
// A slice's type says whose memory it is, so that MLIR itself checks it for branches and loops. The verifiers check
// where memory meets something with a device of its own: a launch its kernel, a call the host, an input or output the
// one place where the program wants it. In text the first device, most modules' only one, is not written.
//
//===--------------------------------------------------------------------------===//

#include "ir/host/Call.h"

#include "ir/base/Devices.h"
#include "support/Quote.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/ADT/TypeSwitch.h"

#include <map>

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
/// The scheduler's decisions are printed next to the module, not within the lines of its launches.
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

LogicalResult LayoutAttr::verify(llvm::function_ref<InFlightDiagnostic()> emitError, ArrayRef<int64_t> order,
                                 LayoutReason /*reason*/, ArrayRef<int64_t> zeros) {
  SmallVector<int64_t> axes(order);
  llvm::sort(axes);
  if (order.empty() || std::adjacent_find(axes.begin(), axes.end()) != axes.end())
    return emitError() << "a layout orders axes, each once";
  if (!zeros.empty() && zeros.size() != 2 * order.size())
    return emitError() << "a layout has zeros before and after each of its axes, or none";
  return success();
}

TensorAttr TensorAttr::lyingAs(LayoutAttr layout) const {
  return get(getContext(), getNode(), getOp(), getOperands(), getNames(), getFolded(), getType(), getMemory(),
             getPlacement(), layout);
}

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

//===----------------------------------------------------------------------===//
// Devices in text
//===----------------------------------------------------------------------===//

static int64_t numberOf(Type slice) { return cast<SliceType>(slice).getDevice(); }

static ParseResult parseNumber(OpAsmParser &parser, Type &slice) {
  int64_t device = 0;
  if (parser.parseInteger(device))
    return failure();
  slice = SliceType::get(parser.getContext(), device);
  return success();
}

ParseResult host::parseDevice(OpAsmParser &parser, Type &slice) {
  if (succeeded(parser.parseOptionalKeyword("on")))
    return parseNumber(parser, slice);
  slice = SliceType::get(parser.getContext());
  return success();
}

void host::printDevice(OpAsmPrinter &printer, Operation *, Type slice) {
  if (int64_t device = numberOf(slice))
    printer << " on " << device;
}

ParseResult host::parseTwoDevices(OpAsmParser &parser, Type &to, Type &from) {
  to = from = SliceType::get(parser.getContext());
  if (failed(parser.parseOptionalKeyword("to")))
    return success();
  return failure(parseNumber(parser, to) || parser.parseKeyword("from") || parseNumber(parser, from));
}

void host::printTwoDevices(OpAsmPrinter &printer, Operation *, Type to, Type from) {
  if (numberOf(to) || numberOf(from))
    printer << " to " << numberOf(to) << " from " << numberOf(from);
}

ParseResult host::parseDevices(OpAsmParser &parser, ArrayRef<OpAsmParser::UnresolvedOperand> buffers,
                               SmallVectorImpl<Type> &slices) {
  slices.assign(buffers.size(), SliceType::get(parser.getContext()));
  if (failed(parser.parseOptionalKeyword("on")))
    return success();
  if (failed(parser.parseOptionalLSquare())) {
    Type all;
    if (parseNumber(parser, all))
      return failure();
    slices.assign(buffers.size(), all);
    return success();
  }
  size_t index = 0;
  for (Type &slice : slices)
    if ((index++ && parser.parseComma()) || parseNumber(parser, slice))
      return failure();
  return parser.parseRSquare();
}

void host::printDevices(OpAsmPrinter &printer, Operation *, OperandRange, TypeRange slices) {
  if (llvm::all_of(slices, [](Type slice) { return numberOf(slice) == 0; }))
    return;
  printer << " on ";
  if (llvm::all_equal(slices)) {
    printer << numberOf(slices.front());
    return;
  }
  printer << "[";
  llvm::interleaveComma(slices, printer, [&](Type slice) { printer << numberOf(slice); });
  printer << "]";
}

//===----------------------------------------------------------------------===//
// Verifiers
//===----------------------------------------------------------------------===//

/// A device of the module that the op is in, for messages: "0 ('cpu')".
static std::string describe(Operation *op, int64_t device) {
  SmallVector<TargetAttr> targets = targetsOf(op->getParentOfType<ModuleOp>());
  std::string text = std::to_string(device);
  return device >= 0 && device < int64_t(targets.size()) ? text + " ('" + targets[device].getDevice().str() + "')"
                                                         : text;
}

LogicalResult LaunchOp::verifySymbolUses(SymbolTableCollection &symbols) {
  Operation *kernel = symbols.lookupNearestSymbolFrom(*this, getKernelAttr());
  if (!kernel)
    return success(); // the stage's promises say which kernels there are
  for (Value buffer : getBuffers())
    if (deviceOf(buffer) != kiln::deviceOf(kernel))
      return emitOpError() << "gives '" << getKernel() << "', which runs on device "
                           << describe(*this, kiln::deviceOf(kernel)) << ", memory of device "
                           << describe(*this, deviceOf(buffer)) << "; copy it there with host.copy";
  return success();
}

LogicalResult CallOp::verify() {
  if (!isCIdentifier(getCallee()))
    return emitOpError("calls what no function of the runtime's library is called");
  if (!llvm::all_equal(getBuffers().getTypes()))
    return emitOpError() << "has buffers in memory of several devices; copy them to one with host.copy";
  return success();
}

LogicalResult ProgramOp::verifyRegions() {
  auto module = (*this)->getParentOfType<ModuleOp>();
  int64_t count = module ? targetsOf(module).size() : 1;
  std::map<int64_t, Value> inputs, outputs;
  auto isElsewhere = [](std::map<int64_t, Value> &known, int64_t port, Value slice) {
    return known.try_emplace(port, slice).first->second.getType() != slice.getType();
  };
  WalkResult looked = getBody().walk([&](Operation *op) -> WalkResult {
    for (Value result : op->getResults())
      if (auto slice = dyn_cast<SliceType>(result.getType());
          slice && (slice.getDevice() < 0 || slice.getDevice() >= count))
        return op->emitOpError() << "is memory of device " << slice.getDevice() << " where the module has " << count
                                 << "; list it in kiln.devices";
    auto input = dyn_cast<InputOp>(op);
    auto output = dyn_cast<OutputOp>(op);
    if ((input && isElsewhere(inputs, input.getIndex(), input)) ||
        (output && isElsewhere(outputs, output.getIndex(), output)))
      return op->emitOpError() << "is in memory of another device before; copy it with host.copy";
    return WalkResult::advance();
  });
  if (looked.wasInterrupted())
    return failure();
  for (auto [index, port] : llvm::enumerate(getInputs().getAsRange<PortAttr>())) {
    if (!port.getAlias())
      continue;
    auto input = inputs.find(index), output = outputs.find(port.getAlias().getPort());
    if (input != inputs.end() && output != outputs.end() && input->second.getType() != output->second.getType())
      return emitOpError() << "has the input '" << port.getName()
                           << "' on another device than the output that lies in its memory";
  }
  return success();
}

LogicalResult PlanOp::verify() {
  for (size_t count : {getFirst().size(), getLast().size(), size_t(getNumResults())})
    if (count != getBytes().size())
      return emitOpError("needs a size, two steps and a result for each temporary");
  return success();
}

LogicalResult BatchOp::verifyRegions() {
  Block &body = getBody().front();
  if (body.getNumArguments() != 2 ||
      !llvm::all_of(body.getArgumentTypes(), [](Type type) { return type.isInteger(64); }))
    return emitOpError("needs a body with the numbers of a sample and a slot, which are i64");
  auto launches = body.getOps<LaunchOp>();
  if (getSamples() < 1 || launches.empty())
    return emitOpError("has no sample, or no launch");
  for (Operation &op : body)
    if (!isa<LaunchOp, AllocOp, FreeOp>(op) && !isMemoryEffectFree(&op))
      return op.emitOpError("is not what a batch is computed with");
  for (LaunchOp launch : launches)
    if (launch.getBuffers().empty() || deviceOf(launch.getBuffers().front()) != getDevice())
      return launch.emitOpError("is on another device than the batch");
  return success();
}

int64_t BatchOp::getDevice() { return deviceOf((*getBody().front().getOps<LaunchOp>().begin()).getBuffers().front()); }

/// Checks that the message has a %d for each size, since the runtime does not check it.
LogicalResult CheckOp::verify() {
  size_t wanted = 0;
  for (StringRef rest = getMessage(); rest.contains('%'); rest = rest.drop_front(2)) {
    rest = rest.drop_until([](char c) { return c == '%'; });
    if (!rest.starts_with("%d") && !rest.starts_with("%%"))
      return emitOpError("has a % in its message that is neither %d nor %%");
    wanted += rest.starts_with("%d");
  }
  if (wanted != getSizes().size())
    return emitOpError() << "needs " << wanted << " sizes for its message";
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
      continue; // results of control flow have any name
    auto symbol = cast<SymbolAttr>(program.getSymbols()[argument.getArgNumber()]);
    if (variable != view::Expr::variable(symbol.getName(), symbol.getMin(), symbol.getMax()))
      return emitOpError() << "takes the symbol '" << symbol.getName() << "' for " << variable.render();
  }
  return success();
}
