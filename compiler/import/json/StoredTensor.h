//===- StoredTensor.h - The place of a tensor in an .npy or .safetensors file -===//
#pragma once

#include "import/json/Document.h"

#include "mlir/IR/Types.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

namespace kiln::import::json {

/// Little-endian elements without gaps; offset and bytes lie within the file.
struct StoredTensor {
  mlir::Type element;
  llvm::SmallVector<int64_t> shape;
  int64_t offset = 0, bytes = 0;
  bool columnMajor = false; ///< numpy's "Fortran order"
};

/// `file` is the whole file. The data must be as long as the header says, and no longer than `memoryLimit`.
llvm::Expected<StoredTensor> findNpyTensor(mlir::MLIRContext *context, llvm::StringRef file, int64_t memoryLimit);

/// The header of a .safetensors file, which is parsed once for all its tensors.
llvm::Expected<Json> readSafetensorsHeader(llvm::StringRef file);
llvm::Expected<StoredTensor> findSafetensor(mlir::MLIRContext *context, llvm::StringRef file, const Json &header,
                                            llvm::StringRef name, int64_t memoryLimit);

} // namespace kiln::import::json
