//===- Realize.cpp - Which tensors get memory -------------------------------===//
// The rules of tinygrad v0.9.2, in three steps over the graph seen as bases (tensors that are computed) and edges
// (views):
//   1. Results of the block, tensors that control flow reads or makes, and bases that a view expands are realized;
//      classic: also bases that a view pads unless the padding can move to the loads or is cut off again.
//   2. Every reduce is paired with the realized tensors that it can be finished in: those reached through element-wise
//      ops and views that keep its elements in order. Where the pairing is not clean, the reduce itself is realized, or
//      the last of the chain of single readers behind it.
//   3. Outputs that share a reduce make one kernel.
//===----------------------------------------------------------------------===//

#include "passes/schedule/Realize.h"

#include <functional>

using namespace kiln;
using namespace kiln::schedule;
using namespace mlir;
using view::ShapeTracker;

Edge schedule::edgeOf(Value value) {
  if (auto view = value.getDefiningOp<graph::ViewOp>())
    return {view.getInput(), view.getTracker().getValue()};
  return {value, ShapeTracker::contiguous(shapeOf(value))};
}

/// Ops that a kernel computes; everything else is memory when a kernel reads it, or a number.
static bool isComputed(Value value) {
  return value.getDefiningOp<graph::AluOp>() || value.getDefiningOp<graph::ReduceOp>() ||
         value.getDefiningOp<graph::GatherOp>() || value.getDefiningOp<graph::ContiguousOp>();
}

/// What an op reads when it is part of a kernel.
static SmallVector<Edge> sourcesOf(Value value) {
  SmallVector<Edge> sources;
  if (isComputed(value))
    for (Value operand : value.getDefiningOp()->getOperands())
      sources.push_back(edgeOf(operand));
  return sources;
}

static bool keepsZero(Alu kind) {
  switch (kind) {
  case Alu::RECIP:
  case Alu::EXP2:
  case Alu::LOG2:
  case Alu::EXP:
  case Alu::LOG:
  case Alu::COS:
  case Alu::FDIV:
  case Alu::IDIV:
  case Alu::POW:
  case Alu::CMPEQ:
  case Alu::THREEFRY:
    return false;
  default:
    return true;
  }
}

bool schedule::isPadSafe(Value value, const llvm::SetVector<Value> &realized) {
  // A gather's loads are gated themselves, whatever the indices are.
  if (realized.contains(value) || value.getDefiningOp<graph::GatherOp>())
    return true;
  if (auto alu = value.getDefiningOp<graph::AluOp>())
    if (!keepsZero(alu.getKind().getValue()))
      return false;
  return llvm::all_of(sourcesOf(value), [&](const Edge &edge) { return isPadSafe(edge.base, realized); });
}

namespace {
class Realizer {
public:
  Realizer(Block &block, bool classic) : block_(block), classic_(classic) {}
  Realization run();

private:
  void visit(Edge edge);
  void pairReduce(Value reduce);
  /// Collects the realized tensors behind `from`, reached with tracker `st` since the reduce; puts the reduce itself in
  /// `group` where the way is not clean.
  void collect(Value from, ShapeTracker st, Value reduce, llvm::SetVector<Value> &group,
               std::vector<std::pair<Value, ShapeTracker>> &seen);
  bool isCleanMultiOutput(Value reduce, llvm::SetVector<Value> &group);
  Value lastOfChain(Value reduce);
  /// The tracker through which `reader` reads `base`; nullopt when it does so through several.
  std::optional<ShapeTracker> onlyEdge(Value reader, Value base);

  Block &block_;
  bool classic_;
  llvm::SetVector<Value> all_; // reachable bases, outputs first
  llvm::SetVector<Value> realized_;
  llvm::MapVector<Value, llvm::SetVector<Value>> children_;
  llvm::DenseMap<Value, Value> reduceOf_; // realized tensor → the reduce that its kernel finishes
};
} // namespace

void Realizer::visit(Edge edge) {
  Value base = edge.base;
  if (!isComputed(base))
    return;
  ArrayRef<view::View> views = edge.tracker.views();
  bool masked = llvm::any_of(views, [](const view::View &view) { return view.mask().has_value(); });
  view::Expr before = view::product(shapeOf(base));
  if (!(masked && views.size() == 1) && (edge.tracker.size() - before).max() > 0)
    realized_.insert(base);
  if (!all_.insert(base))
    return;
  if (base.getDefiningOp<graph::ContiguousOp>())
    realized_.insert(base);
  // No view passes a gather: what it reads from is memory, its indices are operands like any other.
  if (auto gather = base.getDefiningOp<graph::GatherOp>())
    if (Value table = edgeOf(gather.getInput()).base; isComputed(table))
      realized_.insert(table);
  for (const Edge &source : sourcesOf(base)) {
    if (isComputed(source.base))
      children_[source.base].insert(base);
    visit(source);
  }
}

std::optional<ShapeTracker> Realizer::onlyEdge(Value reader, Value base) {
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

void Realizer::collect(Value from, ShapeTracker st, Value reduce, llvm::SetVector<Value> &group,
                       std::vector<std::pair<Value, ShapeTracker>> &seen) {
  std::pair<Value, ShapeTracker> key(from, st);
  if (llvm::is_contained(seen, key))
    return;
  seen.push_back(key);
  if (realized_.contains(from)) {
    if (!st.isContiguous() || !view::provablyEqual(st.size(), view::product(shapeOf(reduce))) ||
        reduceOf_.contains(from))
      group.insert(reduce);
    group.insert(from);
    return;
  }
  for (Value child : children_[from]) {
    std::optional<ShapeTracker> edge = onlyEdge(child, from);
    if (isReduce(child) || child.getDefiningOp<graph::GatherOp>() || !edge) {
      group.insert(reduce);
      return;
    }
    collect(child, st.compose(*edge).simplify(), reduce, group, seen);
  }
}

bool Realizer::isCleanMultiOutput(Value reduce, llvm::SetVector<Value> &group) {
  // One reduce a kernel: what the outputs compute besides must not need another.
  SmallVector<Value> above(group.begin(), group.end());
  llvm::DenseSet<Value> seen;
  while (!above.empty()) {
    Value value = above.pop_back_val();
    if (isReduce(value))
      return false;
    for (const Edge &edge : sourcesOf(value))
      if (isComputed(edge.base) && edge.base != reduce && seen.insert(edge.base).second)
        above.push_back(edge.base);
  }
  // Realized tensors behind the outputs join the kernel when everything behind has the same elements.
  SmallVector<Value> below(group.begin(), group.end());
  llvm::SetVector<Value> joining;
  seen.clear();
  while (!below.empty()) {
    Value value = below.pop_back_val();
    if (isReduce(value) || reduceOf_.contains(value) ||
        !view::provablyEqual(view::product(shapeOf(value)), view::product(shapeOf(reduce)))) {
      joining.clear();
      break;
    }
    if (realized_.contains(value))
      joining.insert(value);
    for (Value child : children_[value])
      if (seen.insert(child).second)
        below.push_back(child);
  }
  group.insert(joining.begin(), joining.end());
  return true;
}

Value Realizer::lastOfChain(Value reduce) {
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

void Realizer::pairReduce(Value reduce) {
  llvm::SetVector<Value> group;
  std::vector<std::pair<Value, ShapeTracker>> seen;
  collect(reduce, ShapeTracker::contiguous(shapeOf(reduce)), reduce, group, seen);
  bool canChase = llvm::none_of(group, [&](Value value) { return reduceOf_.contains(value); });
  bool forced = group.contains(reduce) || group.empty();
  if (!forced && group.size() > 1)
    forced = !isCleanMultiOutput(reduce, group);
  if (forced) {
    group.clear();
    group.insert(canChase ? lastOfChain(reduce) : reduce);
    realized_.insert(group.front());
  }
  for (Value value : group)
    reduceOf_[value] = reduce;
}

Realization Realizer::run() {
  SmallVector<Edge> roots;
  // What leaves the block, and what ops with regions or sizes read, is memory.
  for (Operation &op : block_) {
    bool reads = op.hasTrait<OpTrait::IsTerminator>() || isa<graph::IfOp, graph::LoopOp, graph::BindOp>(op);
    if (!reads)
      continue;
    op.walk([&](Operation *inner) {
      for (Value operand : inner->getOperands())
        if (operand.getParentBlock() == &block_)
          roots.push_back(edgeOf(operand));
    });
  }
  for (Edge &root : roots)
    if (isComputed(root.base) && root.base.getParentBlock() == &block_)
      realized_.insert(root.base);
  for (const Edge &root : roots)
    visit(root);
  if (classic_)
    for (Value base : all_)
      for (const Edge &edge : sourcesOf(base)) {
        bool masked = llvm::any_of(edge.tracker.views(), [](const view::View &v) { return v.mask().has_value(); });
        if (masked && isComputed(edge.base) && !realized_.contains(edge.base) && !isPadSafe(edge.base, realized_))
          realized_.insert(edge.base);
      }
  for (Value base : llvm::to_vector(all_))
    if (isReduce(base) && !realized_.contains(base))
      pairReduce(base);
    else if (isReduce(base))
      reduceOf_[base] = base;

  Realization result;
  llvm::MapVector<Value, KernelGroup> groups;
  for (Operation &op : block_)
    for (Value value : op.getResults()) {
      if (!realized_.contains(value) || !isComputed(value))
        continue;
      result.realized.insert(value);
      Value reduce = reduceOf_.lookup(value);
      KernelGroup &group = groups[reduce ? reduce : value];
      group.outputs.push_back(value);
      if (reduce)
        group.reduce = reduce.getDefiningOp<graph::ReduceOp>();
    }
  // Each kernel after those that it reads from; apart from that, in the order of the graph.
  llvm::DenseMap<Value, KernelGroup *> writer;
  for (auto &[key, group] : groups)
    for (Value output : group.outputs)
      writer[output] = &group;
  llvm::DenseSet<KernelGroup *> placed;
  std::function<void(KernelGroup &)> place = [&](KernelGroup &group) {
    if (!placed.insert(&group).second)
      return;
    llvm::DenseSet<Value> seen;
    std::function<void(Value)> placeWriters = [&](Value value) {
      for (const Edge &edge : sourcesOf(value)) {
        if (!seen.insert(edge.base).second)
          continue;
        KernelGroup *other = writer.lookup(edge.base);
        if (other && other != &group)
          place(*other);
        else
          placeWriters(edge.base);
      }
    };
    for (Value output : group.outputs)
      placeWriters(output);
    result.groups.push_back(group);
  };
  for (auto &[key, group] : groups)
    place(group);
  return result;
}

Realization schedule::realize(Block &block, bool classic) { return Realizer(block, classic).run(); }
