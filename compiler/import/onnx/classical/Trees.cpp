//===- Trees.cpp - Decision trees as tables ------------------------------------===//
//
// A walk takes as many steps as the deepest tree has levels, and each step gathers from tables: a tree is data, not
// code, and all trees are one table. A gather costs more than arithmetic, so there are few: the two successors of a
// node are neighbours, and a comparison is the step from the first to the second.
//
//===----------------------------------------------------------------------===//
#include "import/onnx/classical/Trees.h"

#include "import/onnx/classical/Scores.h"

#include <cmath>

using namespace kiln;
using namespace kiln::import;
using namespace kiln::import::onnx;
using llvm::Twine;
using mlir::Value;
using Ints = std::vector<int64_t>;
using Reals = std::vector<double>;

bool Trees::isWhole(int64_t features) const {
  auto within = [](llvm::ArrayRef<int64_t> numbers, int64_t end) {
    return llvm::all_of(numbers, [&](int64_t number) { return number >= 0 && number < end; });
  };
  int64_t rows = nodes + leaves;
  size_t count = nodes;
  return !roots.empty() && feature.size() == count && mode.size() == count && split.size() == count &&
         whenTrue.size() == count && whenFalse.size() == count && takesMissing.size() == count &&
         members.size() == count && within(roots, rows) && within(feature, features) && within(mode, kComparisons) &&
         within(whenTrue, rows) && within(whenFalse, rows);
}

std::optional<int64_t> Trees::depth() const {
  llvm::DenseSet<int64_t> level(roots.begin(), roots.end());
  for (int64_t steps = 0; steps <= nodes; ++steps) {
    llvm::DenseSet<int64_t> next;
    for (int64_t row : level)
      if (row < nodes)
        for (int64_t other : {whenTrue[row], whenFalse[row]})
          next.insert(other);
    if (next.empty())
      return steps;
    level = std::move(next);
  }
  return std::nullopt;
}

namespace {

/// The nodes that branch and the leaves as a walk goes through them: rows for the roots and for the successors of
/// nodes, the one for false and then the one for true. So a node holds one row, and a comparison gives the step from
/// there. A walk stays at a leaf: no comparison holds there, and its successor is its own row.
struct Walk {
  Ints feature, mode, takesMissing, next, leaf;
  Reals operands; ///< the numbers compared with: a split, or members, and NaNs, which equal nothing
  int64_t width = 1;
};

} // namespace

static Walk walkOf(const Trees &trees) {
  Walk walk;
  for (const Reals &members : trees.members)
    walk.width = std::max(walk.width, int64_t(members.size()));
  auto firstOf = [&](int64_t node) { return int64_t(trees.roots.size()) + 2 * node; };
  // A comparison that a NaN makes false: a leaf has it, too.
  auto isNotEqual = [&](int64_t node) { return trees.mode[node] == int64_t(Comparison::NotEqual); };
  int64_t common = trees.nodes == 0 || isNotEqual(0) ? int64_t(Comparison::Equal) : trees.mode[0];
  auto add = [&](int64_t to) {
    bool isLeaf = to >= trees.nodes;
    int64_t row = walk.next.size();
    walk.feature.push_back(isLeaf ? 0 : trees.feature[to]);
    walk.mode.push_back(isLeaf ? common : isNotEqual(to) ? int64_t(Comparison::Equal) : trees.mode[to]);
    // A NaN is not equal to anything, and `equal` with its ways exchanged gives the same for it.
    walk.takesMissing.push_back(!isLeaf && !isNotEqual(to) && trees.takesMissing[to]);
    walk.next.push_back(isLeaf ? row : firstOf(to));
    walk.leaf.push_back(isLeaf ? to - trees.nodes : 0);
    size_t operands = walk.operands.size();
    walk.operands.resize(operands + walk.width, std::nan(""));
    if (isLeaf)
      return;
    const Reals &members = trees.members[to];
    if (trees.mode[to] == int64_t(Comparison::Member))
      std::copy(members.begin(), members.end(), walk.operands.begin() + operands);
    else
      walk.operands[operands] = trees.split[to];
  };
  for (int64_t root : trees.roots)
    add(root);
  for (int64_t node = 0; node < trees.nodes; ++node) {
    bool isTurned = isNotEqual(node);
    add(isTurned ? trees.whenTrue[node] : trees.whenFalse[node]);
    add(isTurned ? trees.whenFalse[node] : trees.whenTrue[node]);
  }
  // No walk comes to this row. With it there is one after each that a walk comes to, so all are proved to be in range.
  add(trees.nodes);
  walk.next.back() = 0;
  return walk;
}

/// The leaf that each row of x [rows, features] reaches in each tree: [rows, trees].
static Value leavesOf(TensorBuilder &b, Value x, const Trees &trees, int64_t depth) {
  Walk walk = walkOf(trees);
  Value features = intTable(b, "features", walk.feature), next = intTable(b, "next", walk.next),
        table = realTable(b, "splits", walk.operands, {int64_t(walk.next.size()), walk.width}, x);
  llvm::SmallVector<bool> used(kComparisons);
  for (int64_t mode : walk.mode)
    used[mode] = true;
  bool isOneMode = llvm::count(used, true) == 1, takesMissing = llvm::is_contained(walk.takesMissing, 1);
  Value modes = isOneMode ? Value() : intTable(b, "modes", walk.mode),
        missing = takesMissing ? intTable(b, "missing", walk.takesMissing) : Value();
  Expr rows = b.dim(x, 0), count = int64_t(trees.roots.size());
  Value at = b.expand(b.unsqueeze(b.arange(count, b.int64()), {0}), {rows, count});
  // A feature's index is within its row, so a known number of features needs no test for each.
  Expr width = b.dim(x, 1);
  Value flat = b.reshape(x, {rows * width}), first = b.unsqueeze(b.mul(b.arange(rows, b.int64()), b.size(width)), {1});
  auto valueOf = [&](Value feature) {
    return width.isConst() ? b.gather(flat, b.add(first, feature), 0) : b.gatherElements(x, feature, 1);
  };
  for (int64_t step = 0; step < depth; ++step) {
    Value value = valueOf(b.gather(features, at, 0));
    Value operand = b.gather(table, at, 0), split = b.squeeze(b.narrow(operand, 2, 0, 1), {2});
    Value mode = isOneMode ? Value() : b.gather(modes, at, 0), holds;
    auto offer = [&](Comparison comparison, llvm::function_ref<Value()> compare) {
      if (used[int64_t(comparison)])
        holds = holds ? b.where(b.equal(mode, int64_t(comparison)), compare(), holds) : compare();
    };
    offer(Comparison::LessEqual, [&] { return b.lessEqual(value, split); });
    offer(Comparison::Less, [&] { return b.less(value, split); });
    offer(Comparison::GreaterEqual, [&] { return b.greaterEqual(value, split); });
    offer(Comparison::Greater, [&] { return b.greater(value, split); });
    offer(Comparison::Equal, [&] { return b.equal(value, split); });
    offer(Comparison::Member, [&] { return b.max(b.equal(b.unsqueeze(value, {2}), operand), {2}); });
    if (takesMissing)
      holds = b.bitOr(holds, b.bitAnd(b.isNaN(value), b.notEqual(b.gather(missing, at, 0), 0)));
    at = b.add(b.gather(next, at, 0), b.cast(holds, b.int64()));
  }
  return b.gather(intTable(b, "leaves", walk.leaf), at, 0);
}

Value kiln::import::onnx::aggregate(TensorBuilder &b, Value x, const Trees &trees, llvm::ArrayRef<LeafWeight> weights,
                                    int64_t targets, Aggregate how) {
  if (!x)
    return {};
  if (b.rank(x) != 2 || !b.isFloat(x) || targets < 1)
    return b.fail("an input " + describe(b.shape(x)) + " for " + Twine(targets) + " targets", "it is [rows, features]");
  bool fits = llvm::all_of(weights, [&](const LeafWeight &each) {
    return each.leaf >= 0 && each.leaf < trees.leaves && each.target >= 0 && each.target < targets;
  });
  if (!fits || !trees.isWhole(b.dim(x, 1).asConst().value_or(view::kMaxDim)))
    return b.fail("the lists that describe the trees do not fit together");
  if (trees.leaves < 1 || targets > kMostNumbers / trees.leaves)
    return b.fail(Twine(targets) + " targets of " + Twine(trees.leaves) + " leaves", "they are too many");
  std::optional<int64_t> depth = trees.depth();
  if (!depth)
    return b.fail("a node of a tree leads back to itself");
  double most =
      llvm::APFloat::getLargest(llvm::cast<mlir::FloatType>(b.element(x)).getFloatSemantics()).convertToDouble();
  double none = how == Aggregate::Min ? most : how == Aggregate::Max ? -most : 0;
  Reals table(trees.leaves * targets, none);
  for (const LeafWeight &each : weights) {
    double &entry = table[each.leaf * targets + each.target];
    entry = entry == none           ? each.weight
            : how == Aggregate::Min ? std::min(entry, each.weight)
            : how == Aggregate::Max ? std::max(entry, each.weight)
                                    : entry + each.weight;
  }
  Value leaf = leavesOf(b, x, trees, *depth);
  Value said = b.gather(realTable(b, "weights", table, {trees.leaves, targets}, x), leaf, 0);
  switch (how) {
  case Aggregate::Average:
    return b.div(b.sum(said, {1}), int64_t(trees.roots.size()));
  case Aggregate::Sum:
    return b.sum(said, {1});
  case Aggregate::Min:
    return b.min(said, {1});
  case Aggregate::Max:
    return b.max(said, {1});
  }
  llvm_unreachable("every aggregate is in the switch");
}
