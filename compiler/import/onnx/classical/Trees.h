//===- Trees.h - Decision trees, walked for all rows at once -----------------===//
//
// A tree is walked for all rows of the input at once: each row is at a node, and the nodes' comparisons and successors
// are tables to gather from. A leaf's successor is itself, so that all walks take as many steps as the deepest.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "import/TensorBuilder.h"

namespace kiln::import::onnx {

enum class Comparison { LessEqual, Less, GreaterEqual, Greater, Equal, NotEqual, Member };
constexpr int64_t kComparisons = 7;

enum class Aggregate { Average, Sum, Min, Max };
constexpr int64_t kAggregates = 4;

/// The tables have one row per node; roots and successors are numbers of nodes, or from there on of leaves.
struct Trees {
  std::vector<int64_t> roots, feature, mode, whenTrue, whenFalse, takesMissing;
  std::vector<double> split;
  std::vector<std::vector<double>> members; ///< of a node that asks whether a feature is one of them
  int64_t nodes = 0, leaves = 0;

  /// Whether all rows are there and name existing nodes, leaves and features.
  bool isWhole(int64_t features) const;
  /// The number of steps from the roots to all leaves; nothing if a node comes back to itself.
  std::optional<int64_t> depth() const;
};

/// A leaf's weights of some targets.
struct LeafWeight {
  int64_t leaf, target;
  double weight;
};

/// For each row of x [rows, features] the sum over all trees of its leaves' weights, for each target: [rows, targets]
/// in x's dtype. Null, and a failure noted, if the tables do not fit together.
mlir::Value aggregate(TensorBuilder &b, mlir::Value x, const Trees &trees, llvm::ArrayRef<LeafWeight> weights,
                      int64_t targets, Aggregate how);

} // namespace kiln::import::onnx
