//===- GraphEvaluator.h - One run of an imported graph (private) -----------===//
#pragma once

#include "interp/GraphInterpreter.h"
#include "interp/LazyTensor.h"
#include "interp/Symbols.h"
#include "ir/graph/Call.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/Support/Path.h"

#include <unordered_map>

namespace kiln::interp {

class GraphEvaluator {
public:
  explicit GraphEvaluator(const GraphInterpreterOptions &options)
      : options_(options), limit_(options.memoryLimit), folder_(llvm::sys::path::parent_path(options.modelPath)) {}

  llvm::Expected<std::vector<HostTensor>> run(mlir::func::FuncOp function, llvm::ArrayRef<HostTensor> inputs);

private:
  using Results = llvm::Expected<llvm::SmallVector<TensorRef>>;
  using Result = llvm::Expected<TensorRef>;

  llvm::Error bindInputs(mlir::func::FuncOp function, llvm::ArrayRef<HostTensor> inputs);
  /// Evaluates the block; its terminator's operands, held.
  Results runBlock(mlir::Block &block);
  llvm::Error runOp(mlir::Operation *op);
  /// Counts computed elements; fails if they are more than the options allow.
  llvm::Error spend(int64_t elements);
  Results evaluate(mlir::Operation *op);

  Result one(graph::ConstOp op);
  Result one(graph::WeightOp op);
  Result one(graph::SizeOp op);
  Result one(graph::IotaOp op);
  Result one(graph::ReshapeOp op);
  Result one(graph::PermuteOp op);
  Result one(graph::ExpandOp op);
  Result one(graph::PadOp op);
  Result one(graph::ShrinkOp op);
  Result one(graph::FlipOp op);
  Result one(graph::ViewOp op);
  Result one(graph::AluOp op);
  Result one(graph::ReduceOp op);
  Result one(graph::ContiguousOp op);
  Result one(graph::AssignOp op);
  Result one(graph::GatherOp op);
  Results many(graph::BindOp op);
  Results many(graph::CallOp op);
  Results many(graph::CheckOp op);
  Results many(graph::IfOp op);
  Results many(graph::LoopOp op);

  Result tracked(const TensorRef &tensor, const view::View &view);
  /// The dims of a tensor type, which must be known by now.
  llvm::Expected<Dims> dimsOf(mlir::Value value) { return symbols_.evaluate(shapeOf(value)); }
  /// The operand as an array.
  Result held(mlir::Value value);
  Result rowMajor(mlir::Value value);
  llvm::Expected<Scalar> number(mlir::Value value);
  /// Gives `value` the tensor, and binds the symbols in the value's type to the tensor's sizes.
  llvm::Error define(mlir::Value value, TensorRef tensor);
  /// The error with the op's node before it, unless it comes from a region and has one.
  llvm::Error located(mlir::Operation *op, llvm::Error error);
  /// For each op of the block, the values that nothing in it reads later.
  const llvm::DenseMap<mlir::Operation *, llvm::SmallVector<mlir::Value>> &lastReads(mlir::Block &block);

  const GraphInterpreterOptions &options_;
  /// The strings that calls make, which the results refer to.
  std::shared_ptr<std::vector<std::unique_ptr<char[]>>> strings_ =
      std::make_shared<std::vector<std::unique_ptr<char[]>>>();
  int64_t limit_;
  std::string folder_;
  int64_t spent_ = 0; ///< elements computed so far
  bool isLocated_ = false;
  Symbols symbols_;
  llvm::DenseMap<mlir::Value, TensorRef> values_;
  llvm::DenseMap<mlir::Operation *, TensorRef> weights_; // read and hashed once, though a loop's body runs often
  // Not a DenseMap: a block's entry must stay where it is while the blocks within it run.
  std::unordered_map<mlir::Block *, llvm::DenseMap<mlir::Operation *, llvm::SmallVector<mlir::Value>>> lastReads_;
};

/// The dtype of a tensor's elements, which is one that kiln computes in.
inline DType dtypeOfTensor(mlir::Value value) {
  return *dtypeOf(llvm::cast<mlir::RankedTensorType>(value.getType()).getElementType());
}

} // namespace kiln::interp
