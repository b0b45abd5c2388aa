//===- ClassicPolicy.cpp - Choose tensors in memory by tinygrad's rules -------===//
// The rules of tinygrad v0.9.2, in three steps over the graph seen as bases (tensors that are computed) and edges
// (views):
//   1. Results of the block, tensors that control flow reads or makes, and bases that a view expands are realized;
//      so are bases that a view pads, unless the padding can move to the loads or is cut off again.
//   2. Every reduce is paired with the realized tensors that it can be finished in: those reached through element-wise
//      ops and views that keep its elements in order. Where the pairing is not clean, the reduce itself is realized, or
//      the last of the chain of single readers after it.
//   3. Outputs that share a reduce make one kernel.
//===----------------------------------------------------------------------===//

#include "passes/schedule/Policies.h"

#include "passes/schedule/Dependence.h"

using namespace kiln;
using namespace kiln::schedule;
using namespace mlir;
using view::ShapeTracker;

namespace {
class ClassicPolicy {
public:
  explicit ClassicPolicy(Block &block) : block_(block) {}
  Partition run();

private:
  void realize(Value value, host::Reason reason) {
    if (realized_.insert(value))
      placements_[value] = {reason};
  }
  /// Whether a kernel of this block computes the tensor.
  bool isHere(Value value) const { return isComputed(value) && value.getParentBlock() == &block_; }
  /// Notes an edge; whether its base is new.
  bool enter(const Edge &edge);
  void visit(const Edge &root);
  /// Cuts ops that would be nested too deeply.
  void limitDepth();
  void pairReduce(Value reduce);
  /// Collects the realized tensors that `root` reaches through element-wise ops; with `root` itself if the way to one
  /// is not clean.
  void collect(Value root, llvm::SetVector<Value> &group);
  /// Whether several outputs can share the kernel of `reduce`; adds those that can be finished there too.
  bool isolate(Value reduce, llvm::SetVector<Value> &group);
  /// Whether an output of a kernel needs a result of another kernel that depends on another of its outputs.
  bool waitsForItself(const llvm::SetVector<Value> &outputs);
  /// Whether an assign among the outputs of a kernel overwrites a source of another output.
  bool overwritesWhatIsRead(const llvm::SetVector<Value> &outputs);
  Value lastOfChain(Value reduce);
  /// The tracker through which `reader` reads `base`; nullopt when it does so through several.
  std::optional<ShapeTracker> onlyEdge(Value reader, Value base);

  Block &block_;
  llvm::SetVector<Value> all_;    // reachable bases, outputs first
  llvm::SetVector<Value> padded_; // bases that a view pads
  llvm::SetVector<Value> realized_;
  llvm::MapVector<Value, llvm::SetVector<Value>> children_;
  llvm::DenseMap<Value, Placement> placements_;
  llvm::DenseMap<Value, Value> reduceOf_; // realized tensor → the reduce that its kernel finishes
};
} // namespace

/// One view whose mask leaves no more elements than `elements`: padding, not an expansion.
static bool isPlainPad(const ShapeTracker &tracker, view::Expr elements) {
  if (tracker.views().size() != 1 || !tracker.isMasked())
    return false;
  std::optional<ArrayRef<view::Range>> mask = tracker.views().front().mask();
  view::Expr unmasked = 1;
  for (const view::Range &range : *mask)
    unmasked = unmasked * (range.end - range.begin);
  return (unmasked - elements).max() <= 0;
}

bool ClassicPolicy::enter(const Edge &edge) {
  Value base = edge.base;
  if (!isHere(base))
    return false;
  view::Expr elements = view::product(shapeOf(base));
  if ((edge.tracker.size() - elements).max() > 0 && !isPlainPad(edge.tracker, elements))
    realize(base, host::Reason::Expanded);
  else if (edge.tracker.isMasked())
    padded_.insert(base);
  if (!all_.insert(base))
    return false;
  if (isa<graph::ContiguousOp, graph::AssignOp>(base.getDefiningOp()))
    realized_.insert(base);
  // No view passes a gather: its source is memory, its indices are operands like any other.
  if (auto gather = base.getDefiningOp<graph::GatherOp>())
    if (Value table = edgeOf(gather.getInput()).base; isHere(table))
      realized_.insert(table);
  return true;
}

void ClassicPolicy::visit(const Edge &root) {
  SmallVector<std::pair<Value, unsigned>> path; // a base, and how many of its sources are visited
  if (enter(root))
    path.push_back({root.base, 0});
  while (!path.empty()) {
    auto &[reader, next] = path.back();
    Operation *op = reader.getDefiningOp();
    if (next == op->getNumOperands()) {
      path.pop_back();
      continue;
    }
    Edge source = edgeOf(op->getOperand(next++));
    if (isHere(source.base))
      children_[source.base].insert(reader);
    if (enter(source))
      path.push_back({source.base, 0});
  }
}

void ClassicPolicy::limitDepth() {
  llvm::DenseMap<Value, int> depths;
  for (Operation &op : block_)
    for (Value value : op.getResults()) {
      if (!isHere(value) || realized_.contains(value))
        continue;
      int &depth = depths[value] = 1;
      for (const Edge &source : sourcesOf(value))
        depth = std::max(depth, depths.lookup(source.base) + 1);
      if (depth <= kMostDepth || !all_.contains(value))
        continue;
      realized_.insert(value);
      depth = 0;
    }
}

std::optional<ShapeTracker> ClassicPolicy::onlyEdge(Value reader, Value base) {
  std::optional<ShapeTracker> tracker;
  for (const Edge &edge : sourcesOf(reader)) {
    if (edge.base != base)
      continue;
    if (tracker && !(*tracker == edge.tracker))
      return std::nullopt;
    tracker = edge.tracker;
  }
  return tracker;
}

static bool isReduce(Value value) { return value.getDefiningOp<graph::ReduceOp>() != nullptr; }

void ClassicPolicy::collect(Value root, llvm::SetVector<Value> &group) {
  struct Step {
    Value at;
    ShapeTracker tracker; // from here to the root
    unsigned next = 0;    // child to visit
  };
  llvm::DenseMap<Value, SmallVector<ShapeTracker, 1>> seen;
  std::vector<Step> path;
  auto enter = [&](Value at, const ShapeTracker &tracker) {
    SmallVector<ShapeTracker, 1> &trackers = seen[at];
    if (llvm::is_contained(trackers, tracker))
      return;
    trackers.push_back(tracker);
    if (!realized_.contains(at) || at == root) {
      path.push_back({at, tracker});
      return;
    }
    if (!tracker.isContiguous() || !view::provablyEqual(tracker.size(), view::product(shapeOf(root))) ||
        reduceOf_.contains(at))
      group.insert(root);
    group.insert(at);
  };
  enter(root, ShapeTracker::contiguous(shapeOf(root)));
  while (!path.empty()) {
    Step &step = path.back();
    const llvm::SetVector<Value> &children = children_[step.at];
    if (step.next == children.size()) {
      path.pop_back();
      continue;
    }
    Value child = children[step.next++];
    std::optional<ShapeTracker> edge = onlyEdge(child, step.at);
    if (isReduce(child) || child.getDefiningOp<graph::GatherOp>() || !edge) {
      group.insert(root);
      path.pop_back();
      continue;
    }
    enter(child, step.tracker.compose(*edge).simplify());
  }
}

bool ClassicPolicy::isolate(Value reduce, llvm::SetVector<Value> &group) {
  // One reduce per kernel: no source of the outputs, on the way from memory, may be another.
  SmallVector<Value> above(group.begin(), group.end());
  llvm::DenseSet<Value> known;
  while (!above.empty()) {
    Value value = above.pop_back_val();
    if (isReduce(value))
      return false;
    for (const Edge &edge : sourcesOf(value))
      if (isHere(edge.base) && edge.base != reduce && known.insert(edge.base).second)
        above.push_back(edge.base);
  }
  // Tensors reached from the outputs as these were from the reduce join them, if all of them are reached so.
  llvm::SetVector<Value> behind;
  for (Value output : group)
    collect(output, behind);
  if (llvm::none_of(group, [&](Value output) { return behind.contains(output); }))
    group.insert(behind.begin(), behind.end());
  return true;
}

bool ClassicPolicy::waitsForItself(const llvm::SetVector<Value> &outputs) {
  Dependence dependence(block_);
  // Memory that another kernel writes, as far as an output needs it.
  SmallVector<Value> above(outputs.begin(), outputs.end()), elsewhere;
  llvm::DenseSet<Value> known(outputs.begin(), outputs.end()), knownElsewhere;
  while (!above.empty())
    for (const Edge &edge : dependence.of(above.pop_back_val()))
      if (known.insert(edge.base).second)
        (isHere(edge.base) && !realized_.contains(edge.base) ? above : elsewhere).push_back(edge.base);
  while (!elsewhere.empty())
    for (const Edge &edge : dependence.of(elsewhere.pop_back_val())) {
      if (outputs.contains(edge.base))
        return true;
      if (knownElsewhere.insert(edge.base).second)
        elsewhere.push_back(edge.base);
    }
  return false;
}

bool ClassicPolicy::overwritesWhatIsRead(const llvm::SetVector<Value> &outputs) {
  for (Value output : outputs) {
    SmallVector<Value> above{output};
    llvm::DenseSet<Value> known;
    while (!above.empty())
      for (const Edge &edge : sourcesOf(above.pop_back_val())) {
        if (!known.insert(edge.base).second)
          continue;
        for (Value other : outputs)
          if (other != output && other.getDefiningOp<graph::AssignOp>() && memoryOf(other) == edge.base)
            return true;
        if (!realized_.contains(edge.base))
          above.push_back(edge.base);
      }
  }
  return false;
}

Value ClassicPolicy::lastOfChain(Value reduce) {
  Value last = reduce;
  ShapeTracker st = ShapeTracker::contiguous(shapeOf(reduce));
  while (!realized_.contains(last) && children_[last].size() == 1) {
    Value next = children_[last].front();
    std::optional<ShapeTracker> edge = onlyEdge(next, last);
    if (!edge || isReduce(next) || next.getDefiningOp<graph::GatherOp>() ||
        !view::provablyEqual(st.size(), edge->size()))
      break;
    st = st.compose(*edge).simplify();
    if (!st.isContiguous())
      break;
    last = next;
  }
  // A cast to a wider dtype waits for the reader: less memory moves.
  if (auto alu = last.getDefiningOp<graph::AluOp>(); alu && alu.getKind().getValue() == Alu::CAST) {
    auto width = [](Value value) { return byteSize(cast<RankedTensorType>(value.getType()).getElementType()); };
    Value source = edgeOf(alu->getOperand(0)).base;
    if (width(last) > width(source))
      last = source;
  }
  return last;
}

void ClassicPolicy::pairReduce(Value reduce) {
  llvm::SetVector<Value> group;
  collect(reduce, group);
  bool canChase = llvm::none_of(group, [&](Value value) { return reduceOf_.contains(value); });
  bool forced = group.contains(reduce) || group.empty();
  if (!forced && group.size() > 1)
    forced = !isolate(reduce, group) || waitsForItself(group);
  if (!forced && overwritesWhatIsRead(group)) {
    forced = true;
    canChase = false;
  }
  if (forced) {
    group.clear();
    group.insert(canChase ? lastOfChain(reduce) : reduce);
    realize(group.front(), host::Reason::Reduce);
  }
  for (Value value : group)
    reduceOf_[value] = reduce;
}

Partition ClassicPolicy::run() {
  SmallVector<Edge> roots = rootsOf(block_);
  for (Edge &root : roots)
    if (isHere(root.base))
      realized_.insert(root.base);
  for (const Edge &root : roots)
    visit(root);
  for (Value base : padded_)
    if (!isPadSafe(base, [&](Value each) { return realized_.contains(each); }))
      realize(base, host::Reason::Padded);
  limitDepth();
  for (Value base : llvm::to_vector(all_))
    if (isReduce(base) && !realized_.contains(base))
      pairReduce(base);

  llvm::MapVector<Value, KernelGroup> groups;
  for (Value value : realized_) {
    Value reduce = reduceOf_.lookup(value);
    KernelGroup &group = groups[reduce ? reduce : value];
    group.outputs.push_back(value);
    group.reduce = (reduce ? reduce : value).getDefiningOp<graph::ReduceOp>();
  }
  Partition result;
  result.realized = realized_;
  result.placements = placements_;
  for (KernelGroup *group : inOrder(groups))
    result.groups.push_back(*group);
  return result;
}

Partition schedule::partitionClassically(Block &block) { return ClassicPolicy(block).run(); }
