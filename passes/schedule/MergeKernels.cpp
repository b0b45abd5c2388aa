//===- MergeKernels.cpp - Kernels that walk the same memory together --------------===//
// Two kernels may become one where neither waits for the other. To know that of any two takes more than the graph's
// size; so each kernel has a level, the kernels on the longest way to it from the inputs, and two are known to be
// independent where they have one level, or where nothing waits for the earlier one yet. Merging two of one level
// changes no level, so one pass in order is enough.
//===----------------------------------------------------------------------------===//

#include "passes/schedule/MergeKernels.h"

#include "passes/schedule/Dependence.h"
#include "passes/schedule/Fuse.h"

using namespace kiln;
using namespace kiln::schedule;
using namespace mlir;

/// A kernel with more outputs asks for more registers than a device has.
static constexpr size_t kMostOutputs = 8;
/// Kernels that a further one is compared with, of those that share a tensor and the loops with it.
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

/// What the loops of a kernel go over; null where they are a product's, whose register tile has room for one only.
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

void schedule::mergeKernels(llvm::MapVector<Value, KernelGroup> &groups, const llvm::SetVector<Value> &realized) {
  std::vector<Node> nodes;
  llvm::DenseMap<Value, size_t> writer;
  llvm::DenseMap<Value, SmallVector<size_t>> readers;                    // of memory, among the kernels so far
  llvm::DenseMap<std::pair<Value, Walk>, SmallVector<size_t>> mergeable; // readers of a tensor as large as the walk
  llvm::DenseSet<Value> gone;
  if (groups.empty())
    return;
  Dependence dependence(*groups.front().second.outputs.front().getParentBlock());
  for (KernelGroup *group : inOrder(groups)) {
    Node node{group};
    auto waitFor = [&](size_t other) {
      node.level = std::max(node.level, nodes[other].level + 1);
      nodes[other].isWaitedFor = true;
    };
    llvm::SetVector<Value> reads = readsOf(*group, realized);
    SmallVector<Value> open(group->outputs.begin(), group->outputs.end());
    llvm::DenseSet<Value> known;
    while (!open.empty())
      for (const Edge &edge : dependence.of(open.pop_back_val())) {
        if (!known.insert(edge.base).second)
          continue;
        if (auto written = writer.find(edge.base); written != writer.end())
          waitFor(written->second);
        else
          open.push_back(edge.base);
      }
    for (Value output : group->outputs)
      if (auto assign = output.getDefiningOp<graph::AssignOp>(); assign && !isAppending(assign))
        for (size_t reader : readers[assign.getTarget()]) // of the old value
          waitFor(reader);

    size_t at = nodes.size();
    SmallVector<std::pair<Value, Walk>> keys;
    if (Value walked = walkedBy(*group)) {
      Walk walk = walkOf(*group, walked);
      // What both read should be as large as what they walk.
      for (Value read : reads)
        if (view::provablyEqual(view::product(shapeOf(read)), view::product(shapeOf(walked))))
          keys.push_back({read, walk});
    }
    auto fits = [&](size_t other) {
      const Node &first = nodes[other];
      bool isIndependent = first.level == node.level || (!first.isWaitedFor && first.level < node.level);
      return isIndependent && first.group->outputs.size() + group->outputs.size() <= kMostOutputs;
    };
    for (const auto &key : keys) {
      const SmallVector<size_t> &candidates = mergeable[key];
      const auto *found = llvm::find_if(candidates, fits);
      if (found == candidates.end())
        continue;
      at = *found;
      Node &first = nodes[at];
      first.group->outputs.append(group->outputs.begin(), group->outputs.end());
      first.level = node.level;
      gone.insert(group->outputs.front());
      break;
    }
    if (at == nodes.size())
      nodes.push_back(node);
    for (const auto &key : keys) {
      SmallVector<size_t> &candidates = mergeable[key];
      if (llvm::is_contained(candidates, at))
        continue;
      if (candidates.size() == kMostCompared)
        candidates.erase(candidates.begin());
      candidates.push_back(at);
    }
    for (Value read : reads)
      readers[read].push_back(at);
    for (Value output : group->outputs)
      writer[output] = at;
  }
  groups.remove_if([&](auto &entry) { return gone.contains(entry.first); });
}
