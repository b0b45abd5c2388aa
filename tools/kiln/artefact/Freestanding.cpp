#include "Freestanding.h"

#include "ir/base/Devices.h"
#include "ir/base/OutputRank.h"
#include "ir/graph/Graph.h"
#include "ir/host/Call.h"
#include "ir/host/Roles.h"
#include "support/Error.h"
#include "support/Quote.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace kiln;
using namespace kiln::driver;

static constexpr llvm::StringLiteral kLeaveOut = "leave --freestanding out";

/// Whether the runtime has all that an op needs.
static bool isKnown(mlir::Operation *op) {
  return llvm::isa<host::ProgramOp, host::DoneOp, host::InputOp, host::WeightOp, host::OutputOp, host::ArenaOp,
                   host::ZerosOp, host::ScratchOp, host::OffsetOp, host::CopyOp, host::LaunchOp,
                   mlir::arith::ConstantOp>(op) ||
         op->getParentOfType<host::BatchOp>() || llvm::isa<host::BatchOp>(op); // their sizes are known
}

/// "node 'gru': is a loop of more than one step; …", or an empty text if the runtime can run the op. Only control flow
/// and calls know their nodes.
static std::string lackingNode(mlir::Operation *op) {
  if (auto call = llvm::dyn_cast<host::CallOp>(op))
    return "node " + quotedName(call.getOrigin()) + ": calls '" + call.getCallee().str() +
           "' of the runtime's library, which is not there; take the node out of the model, or " + kLeaveOut.str();
  auto node = op->getAttrOfType<mlir::StringAttr>(host::kNodeAttr);
  std::string named = node ? "node " + quotedName(node.getValue()) + ": " : "";
  if (llvm::isa<mlir::scf::WhileOp>(op))
    return named +
           "is a loop of more than one step, and there is no control flow; give it one step, as by --dim NAME=1 "
           "for the size that is its length, and run the model once per step, or " +
           kLeaveOut.str();
  if (llvm::isa<mlir::scf::IfOp>(op))
    return named + "has a condition that is data, and there is no control flow; make it a constant, or " +
           kLeaveOut.str();
  return "";
}

/// The input that a size is read from; "" if it is computed.
static std::string inputOf(host::ProgramOp program, host::ReadOp read) {
  auto input = read.getFrom().getDefiningOp<host::InputOp>();
  return input ? llvm::cast<host::PortAttr>(program.getInputs()[input.getIndex()]).getName().str() : "";
}

/// Whether the model was imported with --check, and has indices to test.
static bool readsIndices(mlir::ModuleOp module) {
  auto symbols = module->getAttrOfType<mlir::ArrayAttr>(graph::kSymbolsAttr);
  return symbols && llvm::any_of(symbols.getAsRange<SymbolAttr>(),
                                 [](SymbolAttr symbol) { return symbol.getName().ends_with(graph::kLeastIndex); });
}

/// Fails for the first op that the runtime cannot run: control flow, or else a size that is data. Such sizes are read
/// before the control flow that needs them, which is the cause to name.
static llvm::Error checkOps(host::ProgramOp program, const std::string &begin) {
  std::string fault;
  program.walk<mlir::WalkOrder::PreOrder>([&](mlir::Operation *op) {
    fault = lackingNode(op);
    return fault.empty() ? mlir::WalkResult::advance() : mlir::WalkResult::interrupt();
  });
  if (!fault.empty())
    return failure(begin + fault);
  mlir::Operation *unknown = nullptr;
  host::ReadOp read;
  program.walk<mlir::WalkOrder::PreOrder>([&](mlir::Operation *op) {
    if (!isKnown(op) && !unknown)
      unknown = op;
    if (auto found = llvm::dyn_cast<host::ReadOp>(op); found && !read)
      read = found;
  });
  if (!unknown)
    return llvm::Error::success();
  if (readsIndices(program->getParentOfType<mlir::ModuleOp>()))
    return failure(begin + "--check reads indices while the model runs, which is not possible there",
                   "leave one of them out");
  std::string input = read ? inputOf(program, read) : "";
  return failure(begin + (input.empty() ? "a size is data that the model computes"
                                        : "a size is data, from input " + quotedName(input)),
                 "make it a constant of the model, or " + kLeaveOut);
}

/// Others are strings or codes that the runtime converts.
static bool hasKnownDType(mlir::Attribute port) {
  mlir::Type element = llvm::cast<host::PortAttr>(port).getType().getElementType();
  if (auto integer = llvm::dyn_cast<mlir::IntegerType>(element))
    return integer.getWidth() == 1 || integer.getWidth() >= 8;
  return llvm::isa<mlir::FloatType>(element) && element.getIntOrFloatBitWidth() >= 16;
}

llvm::Error driver::checkFreestanding(host::ProgramOp program, const std::string &model) {
  auto wrong = [&](const llvm::Twine &cause, const llvm::Twine &remedy) {
    return failure(model + ": --freestanding: the model " + cause, remedy);
  };
  if (targetsOf(program->getParentOfType<mlir::ModuleOp>()).size() > 1)
    return wrong("is for several devices", kLeaveOut);
  for (auto symbol : program.getSymbols().getAsRange<SymbolAttr>())
    return wrong("has the size '" + symbol.getName() + "', which is not fixed",
                 "fix it, for example with --dim " + symbol.getName() + "=" + llvm::Twine(symbol.getValue()));
  for (mlir::ArrayAttr ports : {program.getInputs(), program.getOutputs()})
    for (mlir::Attribute port : ports)
      if (!hasKnownDType(port))
        return wrong("has the input or output '" + llvm::cast<host::PortAttr>(port).getName() +
                         "' of a dtype that has to be converted",
                     "convert it outside the model");
  if (program->hasAttr(kOptionalAxesAttr))
    return wrong("has an output whose rank a run decides", "give all outputs one rank");
  return checkOps(program, model + ": --freestanding: ");
}
