//===- kiln-opt.cpp - Run passes by name on a module, in MLIR's usual manner ---------===//

#include "passes/Pipeline.h"
#include "support/DumpText.h"

#include "mlir/Support/FileUtilities.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/ToolOutputFile.h"

static mlir::LogicalResult run(int argc, char **argv) {
  mlir::DialectRegistry registry;
  kiln::registerDialects(registry);
  kiln::registerPasses();
  mlir::registerTransformsPasses();
  auto [input, output] = mlir::registerAndParseCLIOptions(argc, argv, "kiln's optimizer driver\n", registry);
  mlir::MlirOptMainConfig config = mlir::MlirOptMainConfig::createFromCLOptions();
  std::string error;
  std::unique_ptr<llvm::MemoryBuffer> file = mlir::openInputFile(input, &error);
  std::unique_ptr<llvm::ToolOutputFile> to = file ? mlir::openOutputFile(output, &error) : nullptr;
  if (!to) {
    llvm::errs() << error << "\n";
    return mlir::failure();
  }
  // A dump of kiln has its aliases last.
  std::unique_ptr<llvm::MemoryBuffer> text =
      llvm::MemoryBuffer::getMemBufferCopy(kiln::aliasesFirst(file->getBuffer()), file->getBufferIdentifier());
  if (mlir::failed(mlir::MlirOptMain(to->os(), std::move(text), registry, config)))
    return mlir::failure();
  to->keep();
  return mlir::success();
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  return mlir::asMainReturnCode(run(argc, argv));
}
