//===- HostProgram.h - The host program while it is written ----------------------------===//
//
// Straight lists of launches and the memory around them (HostBuilder.cpp) and control flow (HostControl.cpp) are
// written by one builder, because each needs the other: a list ends at a control-flow op, whose regions are such lists.
// Only a run can know whether sizes are within their bounds and fit: that is looked at before what depends on it.
//
//===----------------------------------------------------------------------------------===//
#pragma once

#include "passes/schedule/HostBuilder.h"
#include "passes/schedule/Record.h"

#include "ir/graph/Call.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"

#include <map>

namespace kiln::schedule {

inline mlir::RankedTensorType typeOf(mlir::Value tensor) {
  return llvm::cast<mlir::RankedTensorType>(tensor.getType());
}

/// Whether an assign writes into the tensor's memory.
bool isOverwritten(mlir::Value tensor);

/// The dims of a tensor type that are symbols which the type is the first to name.
struct OwnDim {
  unsigned value; // position among the op's tensors
  unsigned axis;
  view::Expr symbol;
};

/// What of a loop needs no copy.
struct LoopPlan {
  struct Scan {
    mlir::Value element;      ///< what an iteration adds
    bool isWhole = false;     ///< its sizes are known before the loop, and `whole` has room for all of it
    bool isInPlace = false;   ///< the kernel that computes the element writes it there
    mlir::Value whole, bytes; ///< the memory, and how much of it an element takes
    size_t state = 0;         ///< otherwise its position in the loop's state
  };
  LoopPlan(graph::LoopOp op, llvm::function_ref<bool(view::Expr)> isKnown);

  size_t carried;
  /// Carried tensors that are an element of a whole scan output: they stay there, and nobody frees them.
  llvm::SmallBitVector borrows;
  llvm::SmallVector<Scan> scans;
};

/// A loop while it is written.
struct LoopState {
  static constexpr size_t kFirstCarried = 2;
  size_t firstOwn() const { return kFirstCarried + plan.carried; }

  LoopPlan plan;
  llvm::SmallVector<OwnDim> own = {}; ///< dims of the carried tensors that change from step to step
  mlir::Value trips = {};
  mlir::Value iteration = {}; ///< memory for the iteration's number; null where no kernel reads it
  /// What a step passes to the next, as it is before the first: the iteration's number, the condition, the carried
  /// slices, their own dims, then memory and room of each scan output that grows.
  llvm::SmallVector<mlir::Value> first = {};
};

/// What is known at a place in the program; a region's scope begins as a copy of the one around it.
struct Scope {
  Scope insideRegion() const;

  llvm::DenseMap<view::Expr, mlir::Value> sizes;   // symbol → i64
  llvm::DenseMap<mlir::Value, mlir::Value> memory; // tensor → slice
  llvm::DenseMap<mlir::Value, mlir::Value>
      places; // tensor → the slice that its kernel writes to, where it is chosen beforehand
  llvm::DenseMap<mlir::Value, mlir::Value> counts; // a loop's iteration number → i64
  llvm::DenseSet<view::Expr> counted;              // products of sizes that are known not to pass 64 bits
  llvm::SetVector<mlir::Value> owned;              // slices that the block allocated and must free or yield
  bool region = false;
};

class HostBuilder {
public:
  HostBuilder(mlir::func::FuncOp main, llvm::ArrayRef<SymbolAttr> symbols, const Policy &policy)
      : main_(main), symbols_(symbols), policy_(policy), builder_(main) {}
  void build();

private:
  void emitBlock(mlir::Block &block, Scope &scope);
  /// A group that is held contiguous anyway is part of its memory, not a copy. Null where a kernel is needed.
  mlir::Value sliceOf(const KernelGroup &group, mlir::Block &block, Scope &scope);
  void emitGroup(const KernelGroup &group, mlir::Block &block, Scope &scope);
  void emitIf(graph::IfOp op, mlir::Block &block, Scope &scope);
  void emitLoop(graph::LoopOp op, mlir::Block &block, Scope &scope);
  LoopState startLoop(graph::LoopOp op, mlir::Block &block, Scope &scope);
  /// The body of a loop: `passed` is what the step before it, or what stands before the loop, gave.
  void emitStep(graph::LoopOp op, LoopState &state, mlir::ValueRange passed, const Scope &scope);
  /// Makes what the loop gives the memory and the sizes of its results.
  void endLoop(graph::LoopOp op, const LoopState &state, mlir::ValueRange given, mlir::Block &block, Scope &scope);
  void emitCall(graph::CallOp op, mlir::Block &block, Scope &scope);
  void emitControl(mlir::Operation *op, mlir::Block &block, Scope &scope);
  /// The sizes that control flow and its regions name, and that another op binds, are known before it.
  void bindSizesOfOthers(mlir::Operation *op, mlir::Block &block, Scope &scope);
  /// Regions may read what the block has computed, whichever of them runs, and how often: it must be there before.
  void emitWhatRegionsRead(mlir::Operation *op, mlir::Block &block, Scope &scope);
  /// The slice of a tensor that is memory.
  mlir::Value memoryOf(mlir::Value tensor, mlir::Block &block, Scope &scope);
  /// The slices that a region's values pass on: memory of their own, in order.
  llvm::SmallVector<mlir::Value> yieldMemory(mlir::ValueRange values, mlir::Block &block, Scope &scope);
  /// Frees what a region allocated, but for the slices that it yields.
  void freeAllBut(llvm::ArrayRef<mlir::Value> slices, const Scope &scope);
  mlir::Value copyOf(mlir::Value slice, mlir::RankedTensorType type, mlir::Block &block, Scope &scope);
  mlir::Value size(view::Expr expr, mlir::Block &block, Scope &scope);
  /// Ends the run where a size that stands for `symbol` is not within its bounds; it is from `min` to `max` anyway.
  /// `origin` says what gives it: "which is data".
  void checkBounds(mlir::Value size, int64_t min, int64_t max, view::Expr symbol, llvm::StringRef origin,
                   mlir::Location location);
  /// The words that errors call a symbol by; "" if it has a name alone.
  llvm::StringRef meaningOf(view::Expr symbol) const;
  /// Ends the run with the message, and the sizes that the condition is about, unless it holds.
  void emitCheck(view::Expr condition, const llvm::Twine &message, mlir::Block &block, Scope &scope);
  /// Ends the run where the kernel's views of views walk through more elements than 64 bits count: it computes a flat
  /// number among these, and memory for as many is never asked for. `made` names the node in the error.
  void checkViews(kernel::FuncOp kernel, mlir::Location made, mlir::Block &block, Scope &scope);
  /// The size of a tensor that control flow gives, which `symbol` stands for from then on.
  mlir::Value boundedSize(view::Expr expr, view::Expr symbol, mlir::Block &block, Scope &scope);
  mlir::Value bytesOf(mlir::RankedTensorType type, mlir::Block &block, Scope &scope);
  mlir::Value allocate(mlir::Value tensor, mlir::Block &block, Scope &scope);
  /// The value of an integer or bool scalar: read from memory, unless the host knows it.
  mlir::Value read(mlir::Value tensor, mlir::Block &block, Scope &scope);
  mlir::Value number(int64_t value) {
    return mlir::arith::ConstantOp::create(builder_, loc_, builder_.getI64IntegerAttr(value));
  }
  mlir::Value truth(mlir::Value i64) {
    return mlir::arith::CmpIOp::create(builder_, loc_, mlir::arith::CmpIPredicate::ne, i64, number(0));
  }
  llvm::SmallVector<OwnDim> ownDims(mlir::TypeRange types, const Scope &scope);
  /// Makes room for one more element of `bytes` in a scan output; gives its place.
  mlir::Value growScan(mlir::Value &memory, mlir::Value &room, mlir::Value iteration, mlir::Value bytes);
  bool isMemory(mlir::Value tensor, mlir::Block &block);
  int64_t weightIndex(graph::WeightOp weight);
  void giveMemory();
  /// The symbols that are bound to a function of the inputs' sizes, with that function: callers know only these sizes.
  llvm::DenseMap<view::Expr, view::Expr> valuesOfInputSizes(llvm::ArrayRef<SymbolAttr> inputs);
  /// Tells the sizes of the outputs that lie in an input's memory.
  void emitAliases(mlir::Block &block, Scope &scope);

  mlir::func::FuncOp main_;
  llvm::ArrayRef<SymbolAttr> symbols_;
  const Policy &policy_;
  mlir::OpBuilder builder_;
  mlir::Location loc_ = builder_.getUnknownLoc();
  KernelTable kernels_;
  Recorder recorder_;
  std::map<mlir::Block *, Partition> partitions_; // its elements stay where they are while regions are added
  llvm::DenseMap<mlir::Value, const KernelGroup *> writer_;
  llvm::SmallSetVector<int64_t, 4> aliases_;             // outputs that lie in an input's memory
  llvm::DenseMap<mlir::Value, int64_t> outputIndex_;     // base tensor → output that it is
  llvm::DenseMap<view::Expr, mlir::Operation *> binder_; // symbol → the op that binds it, other than inputs
  llvm::SmallVector<mlir::Attribute> weights_;
  llvm::DenseMap<mlir::Operation *, int64_t> weightIndex_;
};

} // namespace kiln::schedule
