//===- TreeEnsemble.cpp - Ensembles of decision trees: ai.onnx.ml ------------===//
//
// Two ways to write trees down. TreeEnsemble, of opset 5, has lists of nodes and of leaves that name each other by
// their places. TreeEnsembleClassifier and TreeEnsembleRegressor before it have one list of nodes with numbers of their
// own in each tree, leaves among them, and a list of weights that name a tree, a node of it, and a class or target.
//
//===----------------------------------------------------------------------===//
#include "import/onnx/Importer.h"
#include "import/onnx/Registry.h"
#include "import/onnx/classical/Scores.h"
#include "import/onnx/classical/Trees.h"
#include "import/onnx/file/ModelFile.h"

#include <cmath>
#include <map>

using namespace kiln;
using namespace kiln::import;
using namespace kiln::import::onnx;
using llvm::Twine;
using mlir::Value;
using Ints = std::vector<int64_t>;
using Reals = std::vector<double>;

static constexpr llvm::StringLiteral kDomain = "ai.onnx.ml";

/// The elements of an attribute that is a tensor; empty if it is absent.
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

//===----------------------------------------------------------------------===//
// Nodes and leaves
//===----------------------------------------------------------------------===//

static Trees treesOf(Node &n) {
  Trees trees;
  trees.roots = numbers(n, "tree_roots");
  trees.feature = numbers(n, "nodes_featureids");
  trees.whenTrue = numbers(n, "nodes_truenodeids");
  trees.whenFalse = numbers(n, "nodes_falsenodeids");
  trees.takesMissing = numbers(n, "nodes_missing_value_tracks_true");
  trees.split = tensorNumbers(n, "nodes_splits");
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
  // The members of each node that uses them, in the order of nodes, a NaN after each node's.
  Reals members = tensorNumbers(n, "membership_values");
  trees.members.resize(count);
  auto next = members.begin();
  for (size_t i = 0; i < count && i < trees.mode.size(); ++i) {
    for (; trees.mode[i] == int64_t(Comparison::Member) && next != members.end() && !std::isnan(*next); ++next)
      trees.members[i].push_back(*next);
    if (trees.mode[i] == int64_t(Comparison::Member) && next != members.end())
      ++next;
  }
  return trees;
}

static Value treeEnsemble(Node &n, TensorBuilder &b) {
  Value x = n.input(0);
  int64_t targets = n.integer("n_targets", 0), how = n.integer("aggregate_function", int64_t(Aggregate::Sum));
  Trees trees = treesOf(n);
  Ints target = numbers(n, "leaf_targetids");
  Reals weight = tensorNumbers(n, "leaf_weights");
  trees.leaves = weight.size();
  n.ignore({"nodes_hitrates"});
  int64_t transform = n.integer("post_transform", int64_t(PostTransform::None));
  if (transform < int64_t(PostTransform::None) || transform > int64_t(PostTransform::Probit))
    return b.fail("attribute 'post_transform' is " + Twine(transform), "it is 0 to 4");
  if (how < 0 || how >= kAggregates || target.size() != weight.size())
    return b.fail("the lists that describe the trees do not fit together");
  std::vector<LeafWeight> weights;
  for (size_t leaf = 0; leaf < weight.size(); ++leaf)
    weights.push_back({int64_t(leaf), target[leaf], weight[leaf]});
  Value scores = aggregate(b, x, trees, weights, targets, Aggregate(how));
  return scores ? transformed(b, scores, PostTransform(transform)) : scores;
}

//===----------------------------------------------------------------------===//
// Nodes by number
//===----------------------------------------------------------------------===//

/// Numbers in an attribute NAME, or, of double precision, in NAME_as_tensor.
static Reals realsOrTensor(Node &n, const std::string &name) {
  return n.hasAttr(name + "_as_tensor") ? tensorNumbers(n, name + "_as_tensor") : numbersOf(n, name);
}

namespace {
/// Trees, and the weights of their leaves.
struct Numbered {
  Trees trees;
  std::vector<LeafWeight> weights;
  Ints treeOfLeaf;
};
} // namespace

/// The attributes nodes_* and KIND_*, of classes or targets; nothing, and a failure noted, if they do not fit
/// together.
static std::optional<Numbered> numberedTrees(Node &n, const std::string &kind) {
  static constexpr llvm::StringLiteral kModes[] = {"BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE",
                                                   "BRANCH_GT",  "BRANCH_EQ", "BRANCH_NEQ"};
  Ints tree = numbers(n, "nodes_treeids"), number = numbers(n, "nodes_nodeids"),
       feature = numbers(n, "nodes_featureids"), yes = numbers(n, "nodes_truenodeids"),
       no = numbers(n, "nodes_falsenodeids"), missing = numbers(n, "nodes_missing_value_tracks_true");
  llvm::SmallVector<std::string> modes = n.strings("nodes_modes");
  Reals split = realsOrTensor(n, "nodes_values");
  Ints weightTree = numbers(n, kind + "_treeids"), weightNode = numbers(n, kind + "_nodeids"),
       weightTarget = numbers(n, kind + "_ids");
  Reals weight = realsOrTensor(n, kind + "_weights");
  n.ignore({"nodes_hitrates", "nodes_hitrates_as_tensor"});
  size_t count = tree.size();
  missing.resize(missing.empty() ? count : missing.size());
  auto fail = [&](const Twine &cause) {
    n.fail(cause, "the lists that describe the trees have to fit together");
    return std::nullopt;
  };
  for (size_t size : {number.size(), feature.size(), yes.size(), no.size(), missing.size(), modes.size(), split.size()})
    if (size != count)
      return fail("a list of " + Twine(size) + " entries for " + Twine(count) + " nodes");
  if (weightTree.size() != weight.size() || weightNode.size() != weight.size() || weightTarget.size() != weight.size())
    return fail("lists of different lengths that say what leaves weigh");

  Numbered made;
  Trees &trees = made.trees;
  std::map<std::pair<int64_t, int64_t>, int64_t>
      places;                      // of a tree's node: among the nodes, or -1 - that among the leaves
  std::map<int64_t, size_t> roots; // the first node of each tree
  for (size_t i = 0; i < count; ++i) {
    int64_t place = modes[i] == "LEAF" ? -1 - trees.leaves++ : trees.nodes++;
    if (modes[i] == "LEAF")
      made.treeOfLeaf.push_back(tree[i]);
    if (!places.try_emplace({tree[i], number[i]}, place).second)
      return fail("node " + Twine(number[i]) + " of tree " + Twine(tree[i]) + " is given twice");
    roots.try_emplace(tree[i], i);
  }
  auto rowOf = [&](int64_t ofTree, int64_t node) -> std::optional<int64_t> {
    auto found = places.find({ofTree, node});
    if (found == places.end())
      return std::nullopt;
    return found->second >= 0 ? found->second : trees.nodes - 1 - found->second;
  };
  for (size_t i = 0; i < count; ++i) {
    if (modes[i] == "LEAF")
      continue;
    const auto *mode = llvm::find(kModes, llvm::StringRef(modes[i]));
    std::optional<int64_t> whenTrue = rowOf(tree[i], yes[i]), whenFalse = rowOf(tree[i], no[i]);
    if (mode == std::end(kModes))
      return fail("a node's mode is " + quoted(modes[i]));
    if (!whenTrue || !whenFalse)
      return fail("node " + Twine(number[i]) + " of tree " + Twine(tree[i]) + " leads to none");
    trees.feature.push_back(feature[i]);
    trees.mode.push_back(mode - std::begin(kModes));
    trees.split.push_back(split[i]);
    trees.whenTrue.push_back(*whenTrue);
    trees.whenFalse.push_back(*whenFalse);
    trees.takesMissing.push_back(missing[i] != 0);
  }
  trees.members.resize(trees.nodes);
  for (auto [id, first] : roots)
    trees.roots.push_back(*rowOf(id, number[first]));
  for (size_t i = 0; i < weight.size(); ++i) {
    std::optional<int64_t> row = rowOf(weightTree[i], weightNode[i]);
    if (!row || *row < trees.nodes)
      return fail("node " + Twine(weightNode[i]) + " of tree " + Twine(weightTree[i]) +
                  " has a weight and is not a leaf");
    made.weights.push_back({*row - trees.nodes, weightTarget[i], weight[i]});
  }
  return made;
}

static Value treeEnsembleRegressor(Node &n, TensorBuilder &b) {
  std::string how = n.string("aggregate_function", "SUM");
  int64_t targets = n.integer("n_targets", 1);
  PostTransform transform = postTransform(n);
  Reals base = realsOrTensor(n, "base_values");
  std::optional<Numbered> given = numberedTrees(n, "target");
  llvm::StringLiteral names[] = {"AVERAGE", "SUM", "MIN", "MAX"};
  const auto *name = llvm::find(names, llvm::StringRef(how));
  if (name == std::end(names))
    return n.fail("attribute 'aggregate_function' is " + quoted(how), "it is SUM, AVERAGE, MIN or MAX"), Value();
  if (!given)
    return {};
  Value x = featureRows(n, b);
  Value sums = aggregate(b, x, given->trees, given->weights, targets, Aggregate(name - std::begin(names)));
  if (!sums || (!base.empty() && int64_t(base.size()) != targets))
    return b.fail(Twine(base.size()) + " base values for " + Twine(targets) + " targets");
  if (!base.empty())
    sums = b.add(sums, realTable(b, "base", base, {targets}, x));
  return b.cast(transformed(b, sums, transform), b.float32());
}

//===----------------------------------------------------------------------===//
// Classification
//===----------------------------------------------------------------------===//

namespace {
/// A class's sum for each row, [rows, 1]; null if no leaf weighs the class. To ONNX Runtime a sum of 0 is not the same
/// as no leaf that a row reaches having a weight: `isThere` (bool) says which rows have one, null if all have.
struct ClassSum {
  Value sum, isThere;

  /// The score `value`, 0 in rows without a weight.
  Value orZero(TensorBuilder &b, Value value) const {
    if (!sum)
      return b.constantLike(value, 0);
    return isThere ? b.where(isThere, value, 0) : value;
  }
  /// `value` in rows with a weight, else `other`.
  Value either(TensorBuilder &b, Value value, Value other) const {
    return !sum ? other : isThere ? b.where(isThere, value, other) : value;
  }
};
} // namespace

/// Whether all rows have a weight of this class: all leaves of some tree do.
static bool isAlwaysThere(const Numbered &given, int64_t target) {
  std::vector<bool> weighs(given.trees.leaves);
  for (const LeafWeight &each : given.weights)
    if (each.target == target)
      weighs[each.leaf] = true;
  std::map<int64_t, bool> whole;
  for (auto [leaf, tree] : llvm::enumerate(given.treeOfLeaf))
    whole.try_emplace(tree, true).first->second &= weighs[leaf];
  return llvm::any_of(whole, [](const auto &each) { return each.second; });
}

/// For each class; none, and a failure noted, if the trees are not whole. `mustKnow`: it matters which rows have one.
static std::vector<ClassSum> sumClasses(TensorBuilder &b, Value x, const Numbered &given, int64_t classes,
                                        bool mustKnow) {
  // A target for each class that a leaf weighs, and one that counts its weights if only a run knows whether it has any.
  std::vector<int64_t> places(classes, -1), counts(classes, -1);
  int64_t targets = 0;
  for (const LeafWeight &each : given.weights)
    if (places[each.target] < 0)
      places[each.target] = targets++;
  if (targets == 0)
    places[0] = targets++;
  for (int64_t each = 0; each < classes && mustKnow; ++each)
    if (places[each] >= 0 && !isAlwaysThere(given, each))
      counts[each] = targets++;
  std::vector<LeafWeight> weights;
  for (const LeafWeight &each : given.weights) {
    weights.push_back({each.leaf, places[each.target], each.weight});
    if (counts[each.target] >= 0)
      weights.push_back({each.leaf, counts[each.target], 1});
  }
  Value sums = aggregate(b, x, given.trees, weights, targets, Aggregate::Sum);
  if (!sums)
    return {};
  std::vector<ClassSum> made(classes);
  for (auto [each, place, count] : llvm::zip(made, places, counts)) {
    each.sum = place >= 0 ? b.narrow(sums, 1, place, place + 1) : Value();
    each.isThere = count >= 0 ? b.greater(b.narrow(sums, 1, count, count + 1), 0) : Value();
  }
  return made;
}

/// Two classes, as ONNX Runtime has them. A row without a weight of the second has one score, and that is the second's.
/// A row with one has two. The second is the label if the last score is above 0, or above 0.5 if only one class has
/// weights and these are probabilities. If both have weights, labels that are integers are 0 and 1.
static Tensors classifiedAsTwo(TensorBuilder &b, Value labels, llvm::ArrayRef<ClassSum> classes,
                               llvm::ArrayRef<double> base, bool isProbability, PostTransform transform) {
  const ClassSum &first = classes[0], &second = classes[1];
  double threshold = isProbability ? 0.5 : 0;
  if (first.sum && second.sum && b.element(labels) == b.int64())
    labels = intTable(b, "labels", {0, 1});
  Value sum = first.sum ? first.sum : b.constantLike(second.sum, 0), scores;
  Value alone = base.empty() ? sum : b.add(sum, base[0]), last = alone;
  if (base.size() < 2 && !second.sum)
    return classifiedByOne(b, labels, alone, threshold, isProbability, transform);
  auto real = [&](Value score) { return b.cast(score, b.float32()); };
  auto both = [&](Value a, Value other) { return transformed(b, b.concat({real(a), real(other)}, 1), transform); };
  if (base.size() < 2) {
    last = second.either(b, second.sum, alone);
    scores = both(first.orZero(b, alone), second.sum);
    if (second.isThere)
      scores = b.where(second.isThere, scores, ofTwoClasses(b, real(alone), isProbability, transform));
  } else {
    Value based = b.add(sum, base[1]); // of the first class's sum
    last = second.either(b, based, alone);
    scores = both(second.either(b, first.orZero(b, b.neg(based)), alone), second.orZero(b, based));
  }
  return {b.gather(labels, b.cast(b.greater(b.squeeze(real(last), {1}), threshold), b.int64()), 0), scores};
}

static Tensors treeEnsembleClassifier(Node &n, TensorBuilder &b) {
  PostTransform transform = postTransform(n);
  Reals base = realsOrTensor(n, "base_values");
  Value labels = classLabels(n, b, "classlabels_int64s");
  std::optional<Numbered> given = numberedTrees(n, "class");
  if (!labels && b.ok())
    return n.fail("it has no class labels", "give classlabels_int64s or classlabels_strings"), Tensors();
  if (!given || !b.ok())
    return {};
  int64_t classes = b.dim(labels, 0).constant();
  bool isAboveZero = true, isNegative = false;
  for (const LeafWeight &each : given->weights) {
    if (each.target < 0 || each.target >= classes)
      return n.fail("a leaf weighs class " + Twine(each.target) + " of " + Twine(classes)), Tensors();
    isAboveZero &= each.weight > 0;
    isNegative |= each.weight < 0;
  }
  if (!base.empty() && int64_t(base.size()) != classes && !(classes == 2 && base.size() == 1))
    return n.fail(Twine(base.size()) + " base values for " + Twine(classes) + " classes"), Tensors();
  Value x = featureRows(n, b);
  // Of more than two classes, one without a weight is never the label. It never is one anyway where all weights are
  // above its 0; and with base values each has one.
  bool mustKnow = classes == 2 || (base.empty() && !isAboveZero);
  std::vector<ClassSum> sums = sumClasses(b, x, *given, classes, mustKnow);
  if (sums.empty())
    return {};
  bool isBinary = classes == 2 && !(sums[0].sum && sums[1].sum);
  if (classes == 2)
    return classifiedAsTwo(b, labels, sums, base, isBinary && !isNegative, transform);
  Value some = llvm::find_if(sums, [](const ClassSum &each) { return each.sum; })->sum;
  llvm::SmallVector<Value> scores, candidates;
  for (const ClassSum &each : sums) {
    scores.push_back(each.sum ? each.sum : b.constantLike(some, 0));
    Value none = b.constantLike(some, -std::numeric_limits<double>::infinity());
    candidates.push_back(mustKnow ? each.either(b, scores.back(), none) : scores.back());
  }
  Value all = b.concat(scores, 1);
  if (!base.empty())
    all = b.add(all, realTable(b, "base", base, {int64_t(base.size())}, x));
  Tensors results = classified(b, labels, all, transform);
  if (mustKnow)
    results[0] = b.gather(labels, b.argMax(b.cast(b.concat(candidates, 1), b.float32()), 1, false, b.int64()), 0);
  return results;
}

void kiln::import::onnx::addTrees(Registry &r) {
  r.add(kDomain, "TreeEnsemble", 5, treeEnsemble);
  r.add(kDomain, "TreeEnsembleClassifier", 1, treeEnsembleClassifier);
  r.add(kDomain, "TreeEnsembleRegressor", 1, treeEnsembleRegressor);
}
