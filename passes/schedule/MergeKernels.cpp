#include "passes/schedule/MergeKernels.h"

#include "passes/schedule/Fuse.h"

using namespace kiln;
using namespace kiln::schedule;
using namespace mlir;

/// A kernel with more outputs asks for more registers than a device has.
static constexpr size_t kMostOutputs = 8;

namespace {

/// A kernel among those of its block.
struct Node {
  KernelGroup *group;
  llvm::SetVector<Value> reads; ///< memory
  llvm::SmallBitVector before;  ///< the kernels that it waits for
  bool isMerged = false;        ///< into another
};

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

/// Whether two kernels have the same loops, none of them a product's, whose register tile has room for one only.
static bool walkTogether(KernelGroup &a, KernelGroup &b) {
  if (a.outputs.size() + b.outputs.size() > kMostOutputs || !a.reduce != !b.reduce)
    return false;
  for (KernelGroup *group : {&a, &b})
    for (Value output : group->outputs)
      if (!isa<graph::AluOp, graph::ReduceOp>(output.getDefiningOp()))
        return false;
  if (!a.reduce)
    return shapeOf(a.outputs.front()) == shapeOf(b.outputs.front());
  return shapeOf(a.reduce.getInput()) == shapeOf(b.reduce.getInput()) && a.reduce.getAxes() == b.reduce.getAxes() &&
         !isProduct(a.reduce) && !isProduct(b.reduce);
}

static bool shareReads(const Node &a, const Node &b) {
  // What both read should be as large as what they walk.
  Value walked = a.group->reduce ? a.group->reduce.getInput() : a.group->outputs.front();
  return llvm::any_of(a.reads, [&](Value read) {
    return b.reads.contains(read) && view::provablyEqual(view::product(shapeOf(read)), view::product(shapeOf(walked)));
  });
}

void schedule::mergeKernels(llvm::MapVector<Value, KernelGroup> &groups, const llvm::SetVector<Value> &realized) {
  std::vector<Node> nodes;
  llvm::DenseMap<Value, size_t> writer;
  llvm::DenseMap<Value, SmallVector<size_t>> readers; // of memory, among the kernels so far
  for (KernelGroup *group : inOrder(groups)) {
    size_t at = nodes.size();
    Node &node = nodes.emplace_back(Node{group, readsOf(*group, realized), llvm::SmallBitVector(groups.size())});
    auto waitFor = [&](size_t other) {
      node.before |= nodes[other].before;
      node.before.set(other);
    };
    for (Value read : node.reads)
      if (auto written = writer.find(read); written != writer.end())
        waitFor(written->second);
    for (Value output : group->outputs)
      if (auto assign = output.getDefiningOp<graph::AssignOp>())
        for (size_t reader : readers[assign.getTarget()]) // of the old value
          waitFor(reader);
    for (Value output : group->outputs)
      writer[output] = at;
    // A kernel before this one that it does not wait for.
    llvm::SetVector<size_t> candidates;
    for (Value read : node.reads)
      candidates.insert(readers[read].begin(), readers[read].end());
    for (size_t other : candidates) {
      Node &first = nodes[other];
      if (node.before.test(other) || !walkTogether(*first.group, *group) || !shareReads(first, node))
        continue;
      first.group->outputs.append(group->outputs.begin(), group->outputs.end());
      first.reads.insert(node.reads.begin(), node.reads.end());
      node.isMerged = true;
      for (Value output : group->outputs)
        writer[output] = other;
      // Whoever waits for the first now waits for all that this one waits for.
      llvm::SmallBitVector before = node.before;
      first.before |= before;
      for (Node &later : nodes)
        if (&later != &first && later.before.test(other))
          later.before |= before;
      break;
    }
    for (Value read : node.reads)
      readers[read].push_back(writer[group->outputs.front()]);
  }
  llvm::DenseSet<Value> gone;
  for (Node &node : nodes)
    if (node.isMerged)
      gone.insert(node.group->outputs.front());
  groups.remove_if([&](auto &entry) { return gone.contains(entry.first); });
}
