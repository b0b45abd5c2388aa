//===- ModelFile.h - An ONNX file and the data of its tensors --------------===//
#pragma once

#include "import/Import.h"
#include "import/onnx/file/LiftTensorData.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/MemoryBuffer.h"

#include <onnx-ml.pb.h>

namespace kiln::import::onnx {

/// A constant tensor: its type, and its elements (dense) or their place (#graph.file).
struct Constant {
  mlir::RankedTensorType type;
  mlir::Attribute data;
};

class ModelFile {
public:
  static llvm::Expected<std::unique_ptr<ModelFile>> open(llvm::StringRef path, const ImportOptions &options);

  const ::onnx::ModelProto &model() const { return model_; }
  llvm::StringRef path() const { return path_; }

  static constexpr int64_t kMostDenseBytes = 1024;

  /// The constant that `tensor`, a part of model(), describes. Up to `mostDense` bytes, and data that the file holds as
  /// single numbers, become dense elements; the rest stays in its file. The error names the tensor but not the model.
  llvm::Expected<Constant> constant(mlir::MLIRContext *context, const ::onnx::TensorProto &tensor,
                                    int64_t mostDense = kMostDenseBytes);
  /// The same for a sparse tensor, as dense elements: missing ones are 0.
  llvm::Expected<Constant> constant(mlir::MLIRContext *context, const ::onnx::SparseTensorProto &tensor);

private:
  struct Bytes {
    std::string file; ///< relative to the model's folder
    uint64_t offset;
    llvm::StringRef bytes;
  };

  llvm::Expected<Bytes> externalBytes(const ::onnx::TensorProto &tensor, uint64_t wanted);
  /// The mapped file, which must be in the model's folder.
  llvm::Expected<llvm::StringRef> map(llvm::StringRef relative);

  std::string path_, folder_;
  const ImportOptions *options_;
  ::onnx::ModelProto model_;
  llvm::StringMap<std::unique_ptr<llvm::MemoryBuffer>> files_;
};

/// 'TEXT', shortened and without control characters, to be quoted in an error's one line.
std::string quoted(llvm::StringRef text);

} // namespace kiln::import::onnx
