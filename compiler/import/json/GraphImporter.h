//===- GraphImporter.h - A checked document becomes a module -----------------===//
#pragma once

#include "import/Import.h"
#include "import/Symbols.h"
#include "import/TensorBuilder.h"
#include "import/json/Document.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/MemoryBuffer.h"

namespace kiln::import::json {

class GraphImporter {
public:
  /// `folder` is the folder of weight files.
  GraphImporter(mlir::MLIRContext &context, const Json &document, llvm::StringRef folder, const ImportOptions &options);

  /// Errors do not name the document's file.
  llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>> import();
  /// See Symbols; after import.
  llvm::Error checkDims() const { return symbols_.checkDims(); }

private:
  enum class Progress { Waiting, Open, Done };
  /// A value's maker: a node, or nothing if it is an input or weight.
  struct Definition {
    mlir::Value value;
    std::optional<size_t> node;
  };

  /// A file next to the document, mapped once however many weights it holds.
  struct WeightFile {
    std::unique_ptr<llvm::MemoryBuffer> bytes;
    Json header; ///< of a .safetensors file
  };

  llvm::Error declareSymbols();
  llvm::Error readInputs();
  llvm::Error readWeights();
  llvm::Error readWeight(const Json &weight);
  llvm::Expected<mlir::Value> inlineWeight(const Json &weight);
  llvm::Expected<mlir::Value> fileWeight(const Json &weight);
  llvm::Expected<const WeightFile *> openWeightFile(llvm::StringRef path);
  llvm::Error indexNodes();
  llvm::Error importNodes();
  llvm::Error importNode(size_t index);
  /// Adds it to ImportOptions::nodes.
  void noteNode(const std::string &name, const Json &json, llvm::ArrayRef<mlir::Value> results);
  llvm::Error cycleThrough(llvm::ArrayRef<size_t> open, size_t again) const;
  llvm::Error finish();
  llvm::Error checkSymbolsAreInputSizes();

  llvm::Error define(llvm::StringRef name, Definition definition);
  llvm::Expected<Shape> readShape(const Json &sizes);
  llvm::Expected<mlir::Type> readDType(const Json &holder) const;
  mlir::Location locationOf(llvm::StringRef name) const;
  std::string nodeName(size_t index) const;
  /// "node 'NAME' (OP): CAUSE".
  llvm::Error inNode(size_t index, llvm::Error error) const;

  mlir::MLIRContext &context_;
  const Json &document_;
  std::string folder_;
  const ImportOptions &options_;
  llvm::StringMap<WeightFile> weightFiles_;
  Symbols symbols_;
  CommonSizes commonSizes_{symbols_};
  mlir::OwningOpRef<mlir::ModuleOp> module_;
  mlir::func::FuncOp function_;
  mlir::OpBuilder opBuilder_;
  TensorBuilder builder_;
  llvm::StringMap<Definition> definitions_;
  llvm::SmallVector<mlir::Attribute> inputAttributes_;
};

} // namespace kiln::import::json
