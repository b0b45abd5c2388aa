//===- ImportFuzz.cpp - Model files from arbitrary bytes ------------------===//
//
// Whatever a file holds, importing it makes a module that prints, or is an error. KILN_FUZZ_MODEL names the file,
// and so says which importer reads it. It lies in the folder where the fuzzer was begun, which is to be this process's
// own: a longer path, or one of another name, would be another input.
//
//===----------------------------------------------------------------------===//
#include "import/Import.h"
#include "ir/base/Base.h"
#include "ir/graph/Graph.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/Support/raw_ostream.h"

#include <cstdlib>

using namespace kiln;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const std::string path = KILN_FUZZ_MODEL;
  std::error_code failed;
  llvm::raw_fd_ostream(path, failed).write(reinterpret_cast<const char *>(data), size);
  if (failed)
    abort();
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  context.loadDialect<mlir::func::FuncDialect, KilnDialect, graph::GraphDialect>();
  import::ImportOptions options;
  options.memoryLimit = 1 << 20;
  llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>> module = import::importModel(context, path, options);
  if (!module) {
    llvm::consumeError(module.takeError());
    return 0;
  }
  std::string text;
  llvm::raw_string_ostream stream(text);
  (*module)->print(stream);
  return 0;
}
