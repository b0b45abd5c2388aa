//===- MergeKernels.cpp - Kernels that walk the same memory together --------------===//
// Two kernels may become one if neither waits for the other. Knowing that for any two takes more time than the graph's
// size. So each kernel has a level, the number of kernels on the longest way to it from the inputs, and two are known
// to be independent if they have one level, or if nothing waits for the earlier one yet. Merging two of one level
// changes no level, so one pass in order is enough. A kernel may join several earlier ones of its level, which share
// nothing else.
//   A tensor that several kernels read may be read by one then. If costs alone gave it memory, it is computed there.
//===----------------------------------------------------------------------------===//

#include "passes/schedule/MergeKernels.h"

#include "passes/schedule/Cost.h"
#include "passes/schedule/Dependence.h"
#include "passes/schedule/Policies.h"
#include "passes/schedule/Products.h"

using namespace kiln;
using namespace kiln::schedule;
using namespace mlir;

/// A kernel with more outputs needs more registers than a device has.
static constexpr size_t kMostOutputs = 8;
/// The most kernels that a new one is compared with, of those that share a tensor and the loops with it.
static constexpr size_t kMostCompared = 8;

namespace {

/// A kernel among those of its block.
struct Node {
  KernelGroup *group;
  int64_t level = 0;
  bool isWaitedFor = false; ///< by a kernel so far
};

/// The loops over a tensor: its shape and the axes that are reduced.
using Walk = std::pair<Attribute, Attribute>;

} // namespace

static llvm::SetVector<Value> readsOf(const KernelGroup &group, const llvm::SetVector<Value> &realized) {
  llvm::SetVector<Value> reads;
  SmallVector<Value> open(group.outputs.begin(), group.outputs.end());
  Block *block = open.front().getParentBlock();
  llvm::DenseSet<Value> known;
  while (!open.empty())
    for (Edge &edge : sourcesOf(open.pop_back_val())) {
      if (!known.insert(edge.base).second)
        continue;
      bool isComputedHere =
          isComputed(edge.base) && !realized.contains(edge.base) && edge.base.getParentBlock() == block;
      if (isComputedHere)
        open.push_back(edge.base);
      else if (!isNumber(edge.base))
        reads.insert(edge.base);
    }
  return reads;
}

/// The loops of a kernel; null if they are a product's, whose register tile has room for only one.
static Value walkedBy(KernelGroup &group) {
  for (Value output : group.outputs)
    if (!isa<graph::AluOp, graph::ReduceOp>(output.getDefiningOp()))
      return nullptr;
  if (!group.reduce)
    return group.outputs.front();
  return isProduct(group.reduce) ? Value() : Value(group.reduce.getInput());
}

static Walk walkOf(KernelGroup &group, Value walked) {
  Attribute axes = group.reduce ? Attribute(group.reduce.getAxesAttr()) : UnitAttr::get(walked.getContext());
  return {DimsAttr::get(walked.getContext(), shapeOf(walked)), axes};
}

namespace {
/// The kernels of a block so far, in order.
class Merger {
public:
  Merger(Block &block, const llvm::SetVector<Value> &realized) : dependence_(block), realized_(realized) {}
  /// Takes the next kernel in. If it becomes part of an earlier one, its group has no outputs any more; nor has that of
  /// an earlier one that has become part of another.
  void take(KernelGroup *group);

private:
  void waitFor(Node &node, size_t at) {
    size_t other = find(at);
    node.level = std::max(node.level, nodes_[other].level + 1);
    nodes_[other].isWaitedFor = true;
  }
  /// Puts a kernel on the level after those that it needs, and those that it must not overtake.
  void findLevel(Node &node);
  /// Earlier kernels that the node may become part of, all together, among those known by its keys.
  SmallVector<size_t> partnersOf(const Node &node, ArrayRef<std::pair<Value, Walk>> keys) const;
  /// The kernel that an earlier one is part of now.
  size_t find(size_t at) const { return parts_[at] == at ? at : find(parts_[at]); }

  Dependence dependence_;
  const llvm::SetVector<Value> &realized_;
  std::vector<Node> nodes_;
  std::vector<size_t> parts_; ///< for each node another one that it has become part of, or itself
  llvm::DenseMap<Value, size_t> writer_;
  llvm::DenseMap<Value, SmallVector<size_t>> readers_;                    // of memory, among the kernels so far
  llvm::DenseMap<std::pair<Value, Walk>, SmallVector<size_t>> mergeable_; // readers of a tensor as large as the walk
};
} // namespace

void Merger::findLevel(Node &node) {
  SmallVector<Value> open(node.group->outputs.begin(), node.group->outputs.end());
  llvm::DenseSet<Value> known;
  while (!open.empty())
    for (const Edge &edge : dependence_.of(open.pop_back_val())) {
      if (!known.insert(edge.base).second)
        continue;
      if (auto written = writer_.find(edge.base); written != writer_.end())
        waitFor(node, written->second);
      else
        open.push_back(edge.base);
    }
  for (Value output : node.group->outputs)
    if (auto assign = output.getDefiningOp<graph::AssignOp>(); assign && !isAppending(assign))
      for (size_t reader : readers_[assign.getTarget()]) // of the old value
        waitFor(node, reader);
}

SmallVector<size_t> Merger::partnersOf(const Node &node, ArrayRef<std::pair<Value, Walk>> keys) const {
  SmallVector<size_t> partners;
  size_t outputs = node.group->outputs.size();
  for (const auto &key : keys) {
    auto candidates = mergeable_.find(key);
    if (candidates == mergeable_.end())
      continue;
    for (size_t candidate : candidates->second) {
      size_t at = find(candidate);
      const Node &other = nodes_[at];
      bool isAlike = other.level == node.level,
           isIndependent = isAlike || (partners.empty() && !other.isWaitedFor && other.level < node.level);
      if (!isIndependent || llvm::is_contained(partners, at) || outputs + other.group->outputs.size() > kMostOutputs)
        continue;
      partners.push_back(at);
      outputs += other.group->outputs.size();
      if (!isAlike)
        return partners;
    }
  }
  return partners;
}

void Merger::take(KernelGroup *group) {
  Node node{group};
  llvm::SetVector<Value> reads = readsOf(*group, realized_);
  findLevel(node);
  SmallVector<std::pair<Value, Walk>> keys;
  if (Value walked = walkedBy(*group)) {
    Walk walk = walkOf(*group, walked);
    // The shared tensor should be as large as their loops.
    for (Value read : reads)
      if (view::provablyEqual(view::product(shapeOf(read)), view::product(shapeOf(walked))))
        keys.push_back({read, walk});
  }
  SmallVector<size_t> partners = partnersOf(node, keys);
  size_t at = partners.empty() ? nodes_.size() : partners.front();
  if (partners.empty()) {
    nodes_.push_back(node);
    parts_.push_back(at);
  }
  for (size_t partner : partners) {
    Node &other = nodes_[partner];
    node.isWaitedFor |= other.isWaitedFor;
    if (partner == at)
      continue;
    llvm::append_range(nodes_[at].group->outputs, other.group->outputs);
    other.group->outputs.clear();
    parts_[partner] = at;
  }
  if (!partners.empty()) {
    llvm::append_range(nodes_[at].group->outputs, group->outputs);
    group->outputs.clear();
    nodes_[at].level = node.level;
    nodes_[at].isWaitedFor = node.isWaitedFor;
  }
  for (const auto &key : keys) {
    SmallVector<size_t> &candidates = mergeable_[key];
    if (llvm::is_contained(candidates, at))
      continue;
    if (candidates.size() == kMostCompared)
      candidates.erase(candidates.begin());
    candidates.push_back(at);
  }
  for (Value read : reads)
    readers_[read].push_back(at);
  for (Value output : nodes_[at].group->outputs)
    writer_[output] = at;
}

/// What a kernel computes besides its outputs, and these.
static llvm::SetVector<Value> computedBy(const KernelGroup &group, const llvm::SetVector<Value> &realized) {
  llvm::SetVector<Value> computed(group.outputs.begin(), group.outputs.end());
  for (size_t i = 0; i < computed.size(); ++i)
    for (const Edge &edge : sourcesOf(computed[i]))
      if (isComputed(edge.base) && !realized.contains(edge.base))
        computed.insert(edge.base);
  return computed;
}

/// Whether a kernel computes too much at once, or reads too many tensors.
static bool isTooLarge(const KernelGroup &group, const llvm::SetVector<Value> &realized) {
  double operations = 0;
  for (Value value : computedBy(group, realized))
    if (auto alu = value.getDefiningOp<graph::AluOp>())
      operations += operationsOf(alu.getKind().getValue());
  return operations > kMostOperations || readsOf(group, realized).size() > kMostSources;
}

/// Tensors that have memory only because several kernels would have computed them, if one of these is left.
static void computeInOnlyReaders(llvm::MapVector<Value, KernelGroup> &groups, Partition &partition) {
  llvm::DenseMap<Value, SmallVector<KernelGroup *, 1>> kernels; // that compute a value
  for (auto &[key, group] : groups)
    for (Value value : computedBy(group, partition.realized))
      kernels[value].push_back(&group);
  llvm::DenseSet<Value> gone;
  for (auto &[key, group] : groups) {
    Value tensor = group.outputs.front();
    auto placement = partition.placements.find(tensor);
    if (group.outputs.size() > 1 || group.reduce || !tensor.getDefiningOp<graph::AluOp>() ||
        placement == partition.placements.end() || placement->second.reason != host::Reason::Cost)
      continue;
    llvm::SmallSetVector<KernelGroup *, 2> readers;
    bool areRows = llvm::all_of(tensor.getUsers(), [&](Operation *user) {
      ArrayRef<KernelGroup *> own = kernels[user->getResults().front()];
      readers.insert(own.begin(), own.end());
      return isa<graph::AluOp>(user);
    });
    KernelGroup *reader = areRows && readers.size() == 1 ? readers.front() : nullptr;
    Value walked = reader && reader->outputs.size() > 1 && !reader->reduce ? walkedBy(*reader) : Value();
    if (!walked || shapeOf(walked) != shapeOf(tensor))
      continue;
    partition.realized.remove(tensor);
    if (isTooLarge(*reader, partition.realized)) {
      partition.realized.insert(tensor);
      continue;
    }
    Placement &place = placement->second;
    place = {host::Reason::Inside, place.insideNs / std::max<int64_t>(place.readers, 1), place.ownNs, 1};
    for (Value value : computedBy(group, partition.realized))
      llvm::replace(kernels[value], &group, reader);
    gone.insert(key);
  }
  groups.remove_if([&](auto &entry) { return gone.contains(entry.first); });
}

void schedule::mergeKernels(llvm::MapVector<Value, KernelGroup> &groups, Partition &partition) {
  if (groups.empty())
    return;
  Merger merger(*groups.front().second.outputs.front().getParentBlock(), partition.realized);
  for (KernelGroup *group : inOrder(groups))
    merger.take(group);
  groups.remove_if([](auto &entry) { return entry.second.outputs.empty(); });
  computeInOnlyReaders(groups, partition);
}
