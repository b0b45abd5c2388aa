#include "Freestanding.h"

#include "ir/base/Devices.h"
#include "ir/base/OutputRank.h"
#include "ir/host/Call.h"
#include "support/Error.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace kiln;
using namespace kiln::driver;

/// The memory or functions that an op needs and that do not exist there; "": none.
static std::string lacking(mlir::Operation *op) {
  if (auto call = llvm::dyn_cast<host::CallOp>(op))
    return "calls '" + call.getCallee().str() + "' of the runtime's library";
  bool isKnown =
      llvm::isa<host::ProgramOp, host::DoneOp, host::InputOp, host::WeightOp, host::OutputOp, host::ArenaOp,
                host::ZerosOp, host::ScratchOp, host::OffsetOp, host::CopyOp, host::LaunchOp, mlir::arith::ConstantOp>(
          op) ||
      op->getParentOfType<host::BatchOp>() || llvm::isa<host::BatchOp>(op); // their sizes are known
  return isKnown ? "" : "has control flow or sizes that are data";
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
    return wrong("is for several devices", "leave --freestanding out");
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
  std::string found;
  program.walk([&](mlir::Operation *op) {
    found = lacking(op);
    return found.empty() ? mlir::WalkResult::advance() : mlir::WalkResult::interrupt();
  });
  return found.empty() ? llvm::Error::success() : wrong(found, "leave --freestanding out");
}
