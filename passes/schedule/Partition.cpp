#include "passes/schedule/Partition.h"

#include "passes/schedule/Dependence.h"

#include <deque>

using namespace kiln;
using namespace kiln::schedule;
using namespace mlir;

// Breadth first: a kernel follows the last that it reads from.
SmallVector<KernelGroup *> schedule::inOrder(llvm::MapVector<Value, KernelGroup> &groups) {
  llvm::DenseMap<Value, KernelGroup *> writer, overwriter;
  for (auto &[key, group] : groups)
    for (Value output : group.outputs) {
      writer[output] = &group;
      if (auto assign = output.getDefiningOp<graph::AssignOp>(); assign && !isAppending(assign))
        overwriter[memoryOf(output)] = &group;
    }
  llvm::DenseMap<KernelGroup *, SmallVector<KernelGroup *>> next;
  llvm::DenseMap<KernelGroup *, unsigned> missing; // kernels still to come before this one
  auto addEdge = [&](KernelGroup *from, KernelGroup *to) {
    next[from].push_back(to);
    ++missing[to];
  };
  if (groups.empty())
    return {};
  Dependence dependence(*groups.front().second.outputs.front().getParentBlock());
  for (auto &[key, group] : groups) {
    llvm::SetVector<KernelGroup *> before, after;
    SmallVector<Value> above(group.outputs.begin(), group.outputs.end());
    llvm::DenseSet<Value> known;
    while (!above.empty())
      for (const Edge &edge : dependence.of(above.pop_back_val())) {
        if (!known.insert(edge.base).second)
          continue;
        KernelGroup *written = writer.lookup(edge.base), *overwritten = overwriter.lookup(edge.base);
        if (written && written != &group)
          before.insert(written);
        else
          above.push_back(edge.base);
        if (overwritten && overwritten != &group)
          after.insert(overwritten);
      }
    for (KernelGroup *other : before)
      addEdge(other, &group);
    for (KernelGroup *other : after)
      addEdge(&group, other);
  }
  std::deque<KernelGroup *> ready;
  for (auto &[key, group] : groups)
    if (!missing.lookup(&group))
      ready.push_back(&group);
  SmallVector<KernelGroup *> order;
  for (; !ready.empty(); ready.pop_front()) {
    order.push_back(ready.front());
    for (KernelGroup *reader : next[ready.front()])
      if (--missing[reader] == 0)
        ready.push_back(reader);
  }
  assert(order.size() == groups.size() && "no kernel waits for itself");
  return order;
}
