//===- CostPolicy.h - Which tensors get memory, while it is decided ---------------------===//
#pragma once

#include "passes/schedule/Cones.h"
#include "passes/schedule/Domain.h"
#include "passes/schedule/Partition.h"

#include "target/Target.h"

#include <limits>

namespace kiln::schedule {

/// A place at which a tensor that has no memory is computed.
struct Use {
  unsigned kernel;
  view::ShapeTracker tracker;       ///< from the kernel's domain
  mlir::Operation *inside;          ///< the innermost reduce in whose loops it is computed; null: none
  llvm::SmallVector<int64_t> loops; ///< that reduce's axes
  double walks = 1;                 ///< how often these are walked
  double most = std::numeric_limits<double>::infinity(); ///< points, as its reader is computed at no more
  bool isScore = false; ///< for the scores of a sum, which are computed there whatever it takes

  bool operator==(const Use &) const = default;
};

/// A kernel while its contents are being decided.
struct Kernel {
  Domain domain;
  double points; ///< of what it writes
  unsigned reduces = 0;
  mlir::Operation *product = nullptr; ///< the sum that a register tile can be made for
  double productOperations = 0;
  bool hasWeight = false;                   ///< is one of its operands
  bool isStaged = false;                    ///< its operands are held in cache
  size_t columns = 0;                       ///< the axis of the domain that its lanes go along
  std::optional<size_t> row = std::nullopt; ///< the axis of the domain along which it holds values
};

/// What a tensor takes, in ns.
struct Costs {
  double inside;    ///< computed in the kernels that use it
  double outside;   ///< in a kernel of its own
  double reads;     ///< bytes of memory that it is computed from
  unsigned kernels; ///< that use it
};

class CostPolicy {
public:
  /// Tensors of `repeated` get memory, whatever it costs.
  CostPolicy(mlir::Block &block, TargetAttr target, const llvm::SetVector<mlir::Value> &repeated)
      : block_(block), target_(target), rates_(target.getRates()), repeated_(repeated), cones_(block, realized_) {}
  Partition run();
  /// After a run: for each kernel that repeats much of the graph's work, the tensor that it repeats most.
  llvm::SetVector<mlir::Value> findRepeated() const;
  /// After a run: for each sum of products that got memory, as its kernel is another sum's, what is stored in its place
  /// as it takes fewer bytes.
  llvm::SetVector<mlir::Value> findNarrower() const;

private:
  bool isHere(mlir::Value value) const { return cones_.isHere(value); }
  void realize(mlir::Value value);
  bool isCheaperInside(mlir::Value value);
  /// Why a tensor is computed inside its readers whatever that takes; nullopt where it may be realized.
  std::optional<host::Reason> reasonToBeInside(mlir::Value value) const;
  /// Whether a kernel that holds rows reads a tensor in one of its products, and could not as one load.
  bool isOperandOfSeveralLoads(mlir::Value value) const;
  /// Whether a tensor is what attention gives, and gets memory: where more than one kernel reads it, or one that reads
  /// it in another order or has sums of its own. Such a kernel cannot hold rows, and would compute these again.
  bool endsAttention(mlir::Value value) const;
  /// Whether a sum is read among padding, along an axis that only a run knows: its loop would run at each point of the
  /// kernel, which may be many times as many as it has elements.
  bool isSummedForPadding(mlir::Value value) const;
  Costs costsOf(mlir::Value value) const;
  /// Whether a value, seen through `tracker`, is computed from memory that lies side by side along an axis.
  bool isReadAlong(mlir::Value value, const view::ShapeTracker &tracker, size_t axis) const;
  /// The axis of rows that the one kernel that needs a value in several walks of a row holds of it, instead of
  /// computing it in each; nullopt: it does not.
  std::optional<size_t> rowToHold(mlir::Value value, double operations) const;
  void giveUsesToOperands(mlir::Value value);
  /// `use` is the reader's, or its loops with the view of its input.
  void addUse(const Edge &edge, Use use);
  double timesOf(const Use &use) const;
  /// At how many points a tensor is computed for one use.
  double pointsOf(mlir::Value value, const Use &use) const;
  /// Whether it is an operand of the sum that its kernel's register tile is for.
  bool isTileOperand(mlir::Value value, const Use &use) const;
  /// Whether an operand has to be one load for the kernel's product to be as fast as it can. Instructions take no
  /// other, nor do the groups of a device. A register tile takes rows that are computed next to a weight alone;
  /// columns, if sizes are fixed, are computed as vectors.
  bool needsLoads(const Use &use) const;
  double tileReuse(const Use &use) const;
  /// Whether a value is an operand that a sum of products takes before it is cast to this.
  bool isWidenedForProduct(mlir::Value value, const Use &use) const;
  /// Whether a value is a weight in more bits, for a sum of products that reads it so: it is widened in registers.
  bool isWidenedWeight(mlir::Value value, const Use &use) const;
  /// Whether a value is made of a weight of fewer bytes, for a sum of products that takes it as it is.
  bool isUnpackedWeight(mlir::Value value, const Use &use) const;
  /// Whether a value is a sum of products that is a block of another sum, one of the factors made of integers: the
  /// other sum's kernel computes it, since blocks are many times as many as results.
  bool isBlock(mlir::Value value) const;
  /// The operations of all blocks that a sum adds up, which are sums of products; 0 if it has none.
  double operationsOfBlocks(graph::ReduceOp sum) const;
  /// Whether a value is cast from memory, as instructions of products take their operands.
  bool isCastOfMemory(mlir::Value value) const;
  /// Whether a value is one of fewer bytes, which gets memory instead: its readers widen it.
  bool isWidened(mlir::Value value) const;
  void setProduct(Kernel &kernel, graph::ReduceOp reduce, const Domain::Reduced &reduced);
  double operationsFor(mlir::Value value) const;
  mlir::Value anchorOf(mlir::Value output);

  mlir::Block &block_;
  TargetAttr target_;
  RatesAttr rates_;
  const llvm::SetVector<mlir::Value> &repeated_;
  llvm::SetVector<mlir::Value> realized_;
  Cones cones_;
  llvm::DenseMap<mlir::Value, std::vector<Use>> uses_;
  std::vector<Kernel> kernels_;
  llvm::DenseMap<mlir::Operation *, mlir::Value> blockOf_; ///< the products that a sum adds up by blocks
  llvm::DenseSet<mlir::Operation *> narrow_; ///< sums of products that take their operands as these are before a cast
  llvm::DenseMap<mlir::Value, Placement> placements_;
  llvm::DenseSet<mlir::Value> held_; ///< for a row at a time, by its kernel
  llvm::DenseSet<mlir::Value> deep_; ///< read through too many views
};

inline graph::ReduceOp reduceOf(mlir::Value value) { return value.getDefiningOp<graph::ReduceOp>(); }
/// How many terms an element of a reduce has.
double pointsOver(graph::ReduceOp reduce);

} // namespace kiln::schedule
