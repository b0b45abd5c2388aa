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

/// Which leaf each row of x [rows, features] comes to in each tree: [rows, trees].
static Value leavesOf(TensorBuilder &b, Value x, const Trees &trees, int64_t depth) {
  size_t leaves = trees.leaves, width = 1;
  for (const Reals &members : trees.members)
    width = std::max(width, members.size());
  auto withLeaves = [&](Ints rows) {
    rows.resize(rows.size() + leaves);
    return rows;
  };
  Ints whenTrue = trees.whenTrue, whenFalse = trees.whenFalse;
  for (size_t i = 0; i < leaves; ++i) {
    whenTrue.push_back(trees.nodes + int64_t(i));
    whenFalse.push_back(trees.nodes + int64_t(i));
  }
  // What is compared with: a split, or members, and NaNs, which nothing is equal to.
  Reals operands((trees.nodes + leaves) * width, std::nan(""));
  for (int64_t i = 0; i < trees.nodes; ++i) {
    const Reals &members = trees.members[i];
    if (trees.mode[i] == int64_t(Comparison::Member))
      std::copy(members.begin(), members.end(), operands.begin() + i * int64_t(width));
    else
      operands[i * width] = trees.split[i];
  }
  Value features = intTable(b, "features", withLeaves(trees.feature)),
        modes = intTable(b, "modes", withLeaves(trees.mode)),
        missing = intTable(b, "missing", withLeaves(trees.takesMissing)), yes = intTable(b, "when_true", whenTrue),
        no = intTable(b, "when_false", whenFalse),
        table = realTable(b, "splits", operands, {int64_t(operands.size() / width), int64_t(width)}, x);
  Expr rows = b.dim(x, 0), count = int64_t(trees.roots.size());
  Value at = b.expand(b.unsqueeze(intTable(b, "roots", trees.roots), {0}), {rows, count});
  llvm::SmallVector<bool> used(kComparisons);
  for (int64_t mode : trees.mode)
    used[mode] = true;
  for (int64_t step = 0; step < depth; ++step) {
    Value value = b.gatherElements(x, b.gather(features, at, 0), 1), mode = b.gather(modes, at, 0);
    Value operand = b.gather(table, at, 0), split = b.squeeze(b.narrow(operand, 2, 0, 1), {2});
    Value holds = b.constant(0, b.boolType(), {rows, count});
    auto offer = [&](Comparison comparison, llvm::function_ref<Value()> compare) {
      if (used[int64_t(comparison)])
        holds = b.where(b.equal(mode, int64_t(comparison)), compare(), holds);
    };
    offer(Comparison::LessEqual, [&] { return b.lessEqual(value, split); });
    offer(Comparison::Less, [&] { return b.less(value, split); });
    offer(Comparison::GreaterEqual, [&] { return b.greaterEqual(value, split); });
    offer(Comparison::Greater, [&] { return b.greater(value, split); });
    offer(Comparison::Equal, [&] { return b.equal(value, split); });
    offer(Comparison::NotEqual, [&] { return b.notEqual(value, split); });
    offer(Comparison::Member, [&] { return b.max(b.equal(b.unsqueeze(value, {2}), operand), {2}); });
    if (llvm::is_contained(trees.takesMissing, 1))
      holds = b.bitOr(holds, b.bitAnd(b.isNaN(value), b.notEqual(b.gather(missing, at, 0), 0)));
    at = b.where(holds, b.gather(yes, at, 0), b.gather(no, at, 0));
  }
  return b.sub(at, trees.nodes);
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
