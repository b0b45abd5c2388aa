//===- Importer.h - An ONNX model becomes a graph module --------------------===//
#pragma once

#include "import/Symbols.h"
#include "import/TensorBuilder.h"
#include "import/onnx/FollowSizes.h"
#include "import/onnx/Scope.h"
#include "import/onnx/SharedSizes.h"
#include "import/onnx/control/OpenIf.h"
#include "import/onnx/file/ModelFile.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/ADT/StringSet.h"

namespace kiln::import::onnx {

/// Walks the model once and builds its module. Errors name the nodes on the way, but not the file.
class Importer {
public:
  Importer(mlir::MLIRContext &context, ModelFile &file, const ImportOptions &options, const SymbolLimits &limits,
           const JoinedSizes &joined)
      : file_(file), options_(options), builder_(&context), symbols_(options, limits), joined_(joined) {}

  llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>> run();
  /// After a failure because two sizes are not provably equal: those.
  std::optional<std::pair<view::Expr, view::Expr>> differing() const { return differing_; }

  /// The sizes of inputs that have a name in common and are not joined yet.
  const SharedSizes &shared() const { return shared_; }
  /// Prints what is odd about the model.
  void printWarnings() const;

  // For operators

  mlir::OpBuilder &builder() { return builder_; }
  ModelFile &file() { return file_; }
  const ImportOptions &options() const { return options_; }
  Symbols &symbols() { return symbols_; }
  /// Values whose elements have been computed though they stay ops.
  llvm::DenseMap<mlir::Value, mlir::DenseElementsAttr> &known() { return known_; }
  FollowedSizes &followed() { return followed_; }
  /// Drops known facts about an op's values and those within it. Call this before the op is erased.
  void forget(mlir::Operation *op);
  /// The last constant at the head of the function; null if there is none yet.
  mlir::Operation *lastConstant() const { return lastConstant_; }
  CommonSizes &commonSizes() { return commonSizes_; }

  /// The tensor as data. Constants are made once, at the head of the function. `isNamed`: the tensor is an entry of a
  /// scope, so the data made from it can be found again.
  mlir::Value materialize(const Tensor &tensor, Scope &scope, TensorBuilder &b, bool isNamed);
  /// A new symbol, bound here to an int64 scalar; null values give 0.
  view::Expr bind(llvm::StringRef name, mlir::Value scalar, TensorBuilder &b, SymbolBounds bounds = {},
                  llvm::StringRef meaning = "");

  /// Imports a graph's initializers and nodes at the insertion point; its inputs are already in the scope. Fails if an
  /// If gives an output of the graph other ranks or dtypes.
  llvm::Error importGraph(const ::onnx::GraphProto &graph, Scope &scope);
  /// The same, but leaves such an If open and returns it; null if no If is open.
  llvm::Expected<std::unique_ptr<OpenIf>> importOpenGraph(const ::onnx::GraphProto &graph, Scope &scope);
  /// The graph's outputs, in order.
  llvm::Expected<llvm::SmallVector<Tensor>> outputs(const ::onnx::GraphProto &graph, Scope &scope);

  /// Notes what is odd, for printWarnings.
  void warn(mlir::Location location, std::string text);

  /// Whether a failure ends the import though it is in a branch that a run need not take: kiln does not know an
  /// operator, the file is broken, or the import begins anew with what the failure says about sizes.
  bool isFatal() const;
  /// Returns the error, which is then fatal.
  llvm::Error fatal(llvm::Error error);

private:
  friend class NodeList;

  llvm::Error checkVersions(Scope &scope);
  llvm::Error indexFunctions();
  llvm::Error importInputs(const ::onnx::GraphProto &graph, Scope &scope, mlir::func::FuncOp function);
  /// The type of the function's input `index`.
  llvm::Expected<view::Shape> inputShape(const ::onnx::ValueInfoProto &input, size_t index);
  /// A size of this name, or of none.
  view::Expr namedSize(llvm::StringRef input, size_t axis, llvm::StringRef name);
  /// A size that the file gives by this text.
  llvm::Expected<view::Expr> declaredSize(llvm::StringRef input, size_t axis, llvm::StringRef name);
  /// A size that --shape gives by this text.
  llvm::Expected<view::Expr> givenSize(llvm::StringRef input, size_t axis, llvm::StringRef text);
  /// A wrong use if --shape names something that is not an input.
  llvm::Error checkShapes(const ::onnx::GraphProto &graph) const;
  void findPlainSymbols(const ::onnx::GraphProto &graph);
  llvm::Error importOutputs(const ::onnx::GraphProto &graph, Scope &scope, mlir::func::FuncOp function);
  /// Closes an If of the model's own graph. If it gives an output different ranks, the tensor has the largest of these,
  /// and `ranks_` says which is the output's own.
  llvm::Error closeWithRanks(OpenIf &open, llvm::ArrayRef<std::string> names, Scope &scope);

  // Each returns the If that the node leaves open, or null. The If's versions give the node's outputs.
  llvm::Expected<std::unique_ptr<OpenIf>> importNode(const ::onnx::NodeProto &node, const std::string &name,
                                                     Scope &scope);
  llvm::Expected<std::unique_ptr<OpenIf>> importOperator(const ::onnx::NodeProto &node, const std::string &name,
                                                         Scope &scope);
  llvm::Expected<std::unique_ptr<OpenIf>> importCall(const ::onnx::NodeProto &node, const std::string &name,
                                                     const ::onnx::FunctionProto &function, Scope &scope);
  /// What has to hold of a node whatever the sizes are.
  llvm::Error checkOperator(const ::onnx::NodeProto &node, Scope &scope) const;
  llvm::Error defineOutputs(const ::onnx::NodeProto &node, llvm::ArrayRef<Tensor> results, Scope &scope);
  const ::onnx::FunctionProto *function(const ::onnx::NodeProto &node) const;
  /// Adds a node to ImportOptions::nodes, if anybody wants to know.
  void note(const std::string &name, ReadNode read, const ::onnx::NodeProto &node, const Scope &scope);
  std::string uniqueWeightName(const std::string &name);

  ModelFile &file_;
  const ImportOptions &options_;
  mlir::OpBuilder builder_;
  Symbols symbols_;
  CommonSizes commonSizes_{symbols_};
  std::optional<std::pair<view::Expr, view::Expr>> differing_;
  llvm::StringSet<> plainSymbols_; ///< names that are the whole of some input's dim
  const JoinedSizes joined_;
  SharedSizes shared_;
  llvm::StringSet<> namesUsed_; ///< of sizes of the inputs so far
  std::vector<std::pair<mlir::Location, std::string>> warnings_;

  mlir::Block *entry_ = nullptr;
  mlir::Operation *lastConstant_ = nullptr;
  llvm::DenseMap<std::pair<mlir::Attribute, mlir::Type>, mlir::Value> constants_;
  llvm::DenseMap<mlir::Value, mlir::DenseElementsAttr> known_;
  FollowedSizes followed_;
  llvm::StringSet<> weightNames_;

  llvm::StringMap<const ::onnx::FunctionProto *> functions_;
  llvm::SmallVector<const ::onnx::FunctionProto *> calls_; ///< those that are being inlined, outermost first
  size_t numNodes_ = 0;
  size_t depth_ = 0; ///< of the graphs and calls around the node
  bool fatal_ = false;
  llvm::StringMap<view::Expr> ranks_; ///< of the model's outputs whose rank a run decides
};

} // namespace kiln::import::onnx
