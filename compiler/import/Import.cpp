#include "import/Import.h"

using namespace kiln;

llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>
kiln::import::importModel(mlir::MLIRContext &context, llvm::StringRef path, const ImportOptions &options) {
  return path.ends_with(".json") ? importJson(context, path, options) : importOnnx(context, path, options);
}
