//===- MergeKernels.cpp - Kernels that walk the same memory together --------------===//
// Two kernels may become one if neither waits for the other. Knowing that for any two takes more time than the graph's
// size. So each kernel has a level, the number of kernels on the longest way to it from the inputs, and two are known
// to be independent if they have one level, or if nothing waits for the earlier one yet. Merging two of one level
// changes no level, so one pass in order is enough.
//===----------------------------------------------------------------------------===//

#include "passes/schedule/MergeKernels.h"

#include "passes/schedule/Dependence.h"
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
  /// Takes the next kernel in; true if it became part of an earlier one.
  bool take(KernelGroup *group);

private:
  void waitFor(Node &node, size_t other) {
    node.level = std::max(node.level, nodes_[other].level + 1);
    nodes_[other].isWaitedFor = true;
  }
  /// Puts a kernel on the level after those that it needs, and those that it must not overtake.
  void findLevel(Node &node);
  /// An earlier kernel that the node may become part of, among those known by its keys.
  std::optional<size_t> partnerOf(const Node &node, ArrayRef<std::pair<Value, Walk>> keys) const;

  Dependence dependence_;
  const llvm::SetVector<Value> &realized_;
  std::vector<Node> nodes_;
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

std::optional<size_t> Merger::partnerOf(const Node &node, ArrayRef<std::pair<Value, Walk>> keys) const {
  auto fits = [&](size_t other) {
    const Node &first = nodes_[other];
    bool isIndependent = first.level == node.level || (!first.isWaitedFor && first.level < node.level);
    return isIndependent && first.group->outputs.size() + node.group->outputs.size() <= kMostOutputs;
  };
  for (const auto &key : keys)
    if (auto candidates = mergeable_.find(key); candidates != mergeable_.end())
      if (const auto *found = llvm::find_if(candidates->second, fits); found != candidates->second.end())
        return *found;
  return std::nullopt;
}

bool Merger::take(KernelGroup *group) {
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
  std::optional<size_t> partner = partnerOf(node, keys);
  size_t at = partner.value_or(nodes_.size());
  if (partner) {
    Node &first = nodes_[at];
    first.group->outputs.append(group->outputs.begin(), group->outputs.end());
    first.level = node.level;
  } else {
    nodes_.push_back(node);
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
  for (Value output : group->outputs)
    writer_[output] = at;
  return partner.has_value();
}

void schedule::mergeKernels(llvm::MapVector<Value, KernelGroup> &groups, const llvm::SetVector<Value> &realized) {
  if (groups.empty())
    return;
  Merger merger(*groups.front().second.outputs.front().getParentBlock(), realized);
  llvm::DenseSet<Value> gone;
  for (KernelGroup *group : inOrder(groups))
    if (merger.take(group))
      gone.insert(group->outputs.front());
  groups.remove_if([&](auto &entry) { return gone.contains(entry.first); });
}
