//===- Classical.cpp - Features and trees: ai.onnx.ml ------------------------===//
//
// A tree is walked for all rows of the input at once: each row is at a node, and what a node compares and where it goes
// on are tables that are gathered from. A leaf goes on to itself, so that all walks take as many steps as the deepest.
//
//===----------------------------------------------------------------------===//
#include "import/onnx/Importer.h"
#include "import/onnx/ModelFile.h"
#include "import/onnx/Registry.h"

#include <cmath>

using namespace kiln;
using namespace kiln::import;
using namespace kiln::import::onnx;
using llvm::Twine;
using mlir::Value;
using Ints = std::vector<int64_t>;
using Reals = std::vector<double>;

static constexpr llvm::StringLiteral kDomain = "ai.onnx.ml";

static Value binarizer(Node &n, TensorBuilder &b) {
  Value x = n.input(0);
  double threshold = n.real("threshold", 0);
  return x ? b.cast(b.greater(x, threshold), b.element(x)) : x;
}

/// Elements of the last axis; of a list, those of one row.
static Value arrayFeatureExtractor(Node &n, TensorBuilder &b) {
  Value x = n.input(0), places = n.input(1);
  if (!x || !places)
    return {};
  if (b.rank(x) == 1)
    x = b.unsqueeze(x, {0});
  return b.gather(x, b.reshape(places, {view::product(b.shape(places))}), -1);
}

//===----------------------------------------------------------------------===//
// TreeEnsemble
//===----------------------------------------------------------------------===//

namespace {
enum Comparison { LessEqual, Less, GreaterEqual, Greater, Equal, NotEqual, Member, kComparisons };
enum Aggregate { Average, Sum, Min, Max, kAggregates };

/// The tables have a row a node and then one a leaf.
struct Trees {
  Ints roots, feature, mode, whenTrue, whenFalse, takesMissing;
  Reals split;
  std::vector<Reals> members; ///< of a node that asks whether a feature is one of them
  Ints target;                ///< of a leaf
  Reals weight;               ///< of a leaf
  int64_t nodes = 0;

  bool isWhole(int64_t targets, int64_t features) const;
  /// How many steps it takes from the roots to all leaves; nothing where a node comes back to itself.
  std::optional<int64_t> depth() const;
};
} // namespace

bool Trees::isWhole(int64_t targets, int64_t features) const {
  auto within = [](llvm::ArrayRef<int64_t> numbers, int64_t end) {
    return llvm::all_of(numbers, [&](int64_t number) { return number >= 0 && number < end; });
  };
  int64_t rows = nodes + int64_t(weight.size());
  size_t count = nodes;
  return nodes > 0 && !roots.empty() && feature.size() == count && mode.size() == count && split.size() == count &&
         whenTrue.size() == count && whenFalse.size() == count && takesMissing.size() == count &&
         target.size() == weight.size() && within(roots, nodes) && within(feature, features) &&
         within(mode, kComparisons) && within(whenTrue, rows) && within(whenFalse, rows) && within(target, targets);
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

/// The elements of an attribute that is a tensor; empty where it is absent.
static Reals tensorNumbers(Node &n, llvm::StringRef name) {
  Reals numbers;
  const ::onnx::TensorProto *tensor = n.tensorAttr(name);
  if (!tensor)
    return numbers;
  llvm::Expected<Constant> given =
      n.importer().file().constant(n.builder().builder().getContext(), *tensor, std::numeric_limits<int64_t>::max());
  if (!given) {
    n.builder().fail(given.takeError());
    return numbers;
  }
  auto dense = llvm::cast<mlir::DenseElementsAttr>(given->data);
  for (mlir::Attribute each : dense.getValues<mlir::Attribute>()) {
    auto real = llvm::dyn_cast<mlir::FloatAttr>(each);
    numbers.push_back(real ? real.getValueAsDouble()
                           : double(llvm::cast<mlir::IntegerAttr>(each).getValue().getSExtValue()));
  }
  return numbers;
}

static Ints numbers(Node &n, llvm::StringRef name) {
  llvm::SmallVector<int64_t> given = n.integers(name);
  return {given.begin(), given.end()};
}

static Trees treesOf(Node &n) {
  Trees trees;
  trees.roots = numbers(n, "tree_roots");
  trees.feature = numbers(n, "nodes_featureids");
  trees.whenTrue = numbers(n, "nodes_truenodeids");
  trees.whenFalse = numbers(n, "nodes_falsenodeids");
  trees.takesMissing = numbers(n, "nodes_missing_value_tracks_true");
  trees.target = numbers(n, "leaf_targetids");
  trees.split = tensorNumbers(n, "nodes_splits");
  trees.weight = tensorNumbers(n, "leaf_weights");
  for (double mode : tensorNumbers(n, "nodes_modes"))
    trees.mode.push_back(int64_t(mode));
  trees.nodes = trees.feature.size();
  if (trees.takesMissing.empty())
    trees.takesMissing.resize(trees.nodes);
  Ints isTrueLeaf = numbers(n, "nodes_trueleafs"), isFalseLeaf = numbers(n, "nodes_falseleafs");
  auto count = size_t(trees.nodes);
  if (isTrueLeaf.size() == count && isFalseLeaf.size() == count && trees.whenTrue.size() == count &&
      trees.whenFalse.size() == count)
    for (size_t i = 0; i < count; ++i) {
      trees.whenTrue[i] += isTrueLeaf[i] ? trees.nodes : 0;
      trees.whenFalse[i] += isFalseLeaf[i] ? trees.nodes : 0;
    }
  else
    trees.nodes = 0;
  // The members of each node that asks for them, in the order of nodes, a NaN after each node's.
  Reals members = tensorNumbers(n, "membership_values");
  trees.members.resize(count);
  auto next = members.begin();
  for (size_t i = 0; i < count && i < trees.mode.size(); ++i) {
    for (; trees.mode[i] == Member && next != members.end() && !std::isnan(*next); ++next)
      trees.members[i].push_back(*next);
    if (trees.mode[i] == Member && next != members.end())
      ++next;
  }
  return trees;
}

static Value intTable(TensorBuilder &b, llvm::StringRef name, llvm::ArrayRef<int64_t> rows) {
  auto type = mlir::RankedTensorType::get({int64_t(rows.size())}, b.int64());
  return b.weight(name, mlir::DenseElementsAttr::get(type, rows));
}

/// Rows of `width` numbers in x's dtype.
static Value realTable(TensorBuilder &b, llvm::StringRef name, llvm::ArrayRef<double> rows, int64_t width, Value x) {
  auto type = mlir::RankedTensorType::get({int64_t(rows.size()) / width, width}, b.builder().getF64Type());
  return b.cast(b.weight(name, mlir::DenseElementsAttr::get(type, rows)), b.element(x));
}

/// Which leaf each row of x [rows, features] comes to in each tree: [rows, trees].
static Value leavesOf(TensorBuilder &b, Value x, const Trees &trees, int64_t depth) {
  size_t leaves = trees.weight.size(), width = 1;
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
    if (trees.mode[i] == Member)
      std::copy(members.begin(), members.end(), operands.begin() + i * int64_t(width));
    else
      operands[i * width] = trees.split[i];
  }
  Value features = intTable(b, "features", withLeaves(trees.feature)),
        modes = intTable(b, "modes", withLeaves(trees.mode)),
        missing = intTable(b, "missing", withLeaves(trees.takesMissing)), yes = intTable(b, "when_true", whenTrue),
        no = intTable(b, "when_false", whenFalse), table = realTable(b, "splits", operands, int64_t(width), x);
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
      if (used[comparison])
        holds = b.where(b.equal(mode, int64_t(comparison)), compare(), holds);
    };
    offer(LessEqual, [&] { return b.lessEqual(value, split); });
    offer(Less, [&] { return b.less(value, split); });
    offer(GreaterEqual, [&] { return b.greaterEqual(value, split); });
    offer(Greater, [&] { return b.greater(value, split); });
    offer(Equal, [&] { return b.equal(value, split); });
    offer(NotEqual, [&] { return b.notEqual(value, split); });
    offer(Member, [&] { return b.max(b.equal(b.unsqueeze(value, {2}), operand), {2}); });
    if (llvm::is_contained(trees.takesMissing, 1))
      holds = b.bitOr(holds, b.bitAnd(b.isNaN(value), b.notEqual(b.gather(missing, at, 0), 0)));
    at = b.where(holds, b.gather(yes, at, 0), b.gather(no, at, 0));
  }
  return b.sub(at, trees.nodes);
}

static Value treeEnsemble(Node &n, TensorBuilder &b) {
  Value x = n.input(0);
  int64_t targets = n.integer("n_targets", 0), aggregate = n.integer("aggregate_function", Sum);
  Trees trees = treesOf(n);
  n.ignore({"nodes_hitrates"});
  if (!x)
    return {};
  if (int64_t transform = n.integer("post_transform", 0); transform != 0)
    return b.fail("attribute 'post_transform' is " + Twine(transform), "0 is supported");
  if (b.rank(x) != 2 || !b.isFloat(x) || aggregate < 0 || aggregate >= kAggregates || targets < 1)
    return b.fail("an input " + describe(b.shape(x)) + " for " + Twine(targets) + " targets", "it is [rows, features]");
  std::optional<int64_t> features = b.dim(x, 1).asConst();
  if (!trees.isWhole(targets, features.value_or(view::kMaxDim)))
    return b.fail("the lists that describe the trees do not fit together");
  std::optional<int64_t> depth = trees.depth();
  if (!depth)
    return b.fail("a node of a tree leads back to itself");
  Value leaf = leavesOf(b, x, trees, *depth);
  Value weight = b.squeeze(b.gather(realTable(b, "weights", trees.weight, 1, x), leaf, 0), {2});
  Value target = b.gather(intTable(b, "targets", trees.target), leaf, 0);
  // [rows, trees, targets]: to each target its leaves' weights.
  Value isMine = b.equal(b.unsqueeze(target, {2}), b.reshape(b.arange(targets, b.int64()), {1, 1, targets}));
  auto to = [&](double otherwise) { return b.where(isMine, b.unsqueeze(weight, {2}), otherwise); };
  double most =
      llvm::APFloat::getLargest(llvm::cast<mlir::FloatType>(b.element(x)).getFloatSemantics()).convertToDouble();
  switch (Aggregate(aggregate)) {
  case Average:
    return b.div(b.sum(to(0), {1}), int64_t(trees.roots.size()));
  case Min:
    return b.min(to(most), {1});
  case Max:
    return b.max(to(-most), {1});
  default:
    return b.sum(to(0), {1});
  }
}

void kiln::import::onnx::addClassical(Registry &r) {
  r.add(kDomain, "ArrayFeatureExtractor", 1, arrayFeatureExtractor);
  r.add(kDomain, "Binarizer", 1, binarizer);
  r.add(kDomain, "TreeEnsemble", 5, treeEnsemble);
}
