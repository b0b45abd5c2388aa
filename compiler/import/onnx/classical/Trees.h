//===- Trees.h - Decision trees, walked for all rows at once -----------------===//
//
// A tree is walked for all rows of the input at once: each row is at a node, and what a node compares and where it goes
// on are tables that are gathered from. A leaf goes on to itself, so that all walks take as many steps as the deepest.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "import/TensorBuilder.h"

namespace kiln::import::onnx {

enum class Comparison { LessEqual, Less, GreaterEqual, Greater, Equal, NotEqual, Member };
constexpr int64_t kComparisons = 7;

enum class Aggregate { Average, Sum, Min, Max };
constexpr int64_t kAggregates = 4;

/// The tables have one row per node; where a node goes on to, and a root, is a node, or behind them a leaf.
struct Trees {
  std::vector<int64_t> roots, feature, mode, whenTrue, whenFalse, takesMissing;
  std::vector<double> split;
  std::vector<std::vector<double>> members; ///< of a node that asks whether a feature is one of them
  int64_t nodes = 0, leaves = 0;

  /// Whether all rows are there and name nodes, leaves and features that are.
  bool isWhole(int64_t features) const;
  /// How many steps it takes from the roots to all leaves; nothing where a node comes back to itself.
  std::optional<int64_t> depth() const;
};

/// A leaf's weights of some targets.
struct LeafWeight {
  int64_t leaf, target;
  double weight;
};

/// What the leaves that each row of x [rows, features] comes to say of each target, over all trees: [rows, targets] in
/// x's dtype. Null, and a failure noted, where the tables do not fit together.
mlir::Value aggregate(TensorBuilder &b, mlir::Value x, const Trees &trees, llvm::ArrayRef<LeafWeight> weights,
                      int64_t targets, Aggregate how);

} // namespace kiln::import::onnx
