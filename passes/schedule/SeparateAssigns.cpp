//===- SeparateAssigns.cpp - Copy tensors that are overwritten too early ----------===//
// An assign is in place if all readers of the old value come before it. Two things can prevent that: a tensor computed
// from the old and the new value, which reads a copy of the old one, and a new value that is computed from other
// elements of the old one, which is held in memory of its own first.
//===----------------------------------------------------------------------===//

#include "passes/schedule/SeparateAssigns.h"

#include "passes/schedule/Edges.h"

#include "ir/graph/Call.h"

#include "mlir/IR/Builders.h"

using namespace kiln;
using namespace kiln::schedule;
using namespace mlir;

/// A tensor with memory of its own is complete before anything that is computed from it.
static bool isHeld(Operation *op) {
  return isa<graph::ContiguousOp, graph::AssignOp, graph::IfOp, graph::LoopOp, graph::CallOp>(op);
}

/// Whether `value` is computed from `target` by element-wise ops alone, all in the order of its elements, or not from
/// it.
static bool readsInPlace(Value value, Value target) {
  SmallVector<std::pair<Value, bool>> open{{value, true}};
  llvm::DenseSet<std::pair<Value, unsigned>> known;
  while (!open.empty()) {
    auto [at, inPlace] = open.pop_back_val();
    Edge edge = edgeOf(at);
    inPlace &= edge.tracker.isContiguous();
    Operation *op = edge.base.getDefiningOp();
    if (edge.base == target && !inPlace)
      return false;
    if (!op || isHeld(op) || !known.insert({edge.base, inPlace}).second)
      continue;
    for (Value operand : op->getOperands())
      open.push_back({operand, inPlace && isa<graph::AluOp>(op)});
  }
  return true;
}

/// Every op computed from `value`, not through `except`. Ops that leave the block do not count.
static llvm::DenseSet<Operation *> readersOf(Value value, Operation *except) {
  llvm::DenseSet<Operation *> readers;
  SmallVector<Value> open{value};
  while (!open.empty())
    for (Operation *user : open.pop_back_val().getUsers())
      if (user != except && !user->hasTrait<OpTrait::IsTerminator>() && readers.insert(user).second)
        open.append(user->result_begin(), user->result_end());
  return readers;
}

/// Every op that `value` depends on.
static llvm::SetVector<Operation *> sourcesBehind(Value value) {
  llvm::SetVector<Operation *> sources;
  auto add = [&](Value operand) {
    if (Operation *op = operand.getDefiningOp())
      sources.insert(op);
  };
  add(value);
  for (size_t i = 0; i < sources.size(); ++i)
    sources[i]->walk([&](Operation *inner) { llvm::for_each(inner->getOperands(), add); });
  return sources;
}

/// Whether control flow or a call reads the value of `use`, at a time that no kernel waits for.
static bool isReadAnyTime(OpOperand &use, Block &block, const llvm::SetVector<Operation *> &before) {
  Operation *op = block.findAncestorOpInBlock(*use.getOwner());
  if (isa<graph::ViewOp>(op))
    return llvm::any_of(op->getUses(), [&](OpOperand &through) { return isReadAnyTime(through, block, before); });
  return isa<graph::IfOp, graph::LoopOp, graph::CallOp, graph::BindOp>(op) && !before.contains(op);
}

static void separate(graph::AssignOp assign) {
  Value target = assign.getTarget();
  Operation *definition = assign;
  OpBuilder builder(assign);
  if (!readsInPlace(assign.getValue(), target))
    assign.getValueMutable().assign(
        graph::ContiguousOp::create(builder, assign.getLoc(), target.getType(), assign.getValue()));
  llvm::DenseSet<Operation *> later = readersOf(assign.getResult(), nullptr);
  auto isMixed = [&](Operation *reader) {
    if (later.contains(reader))
      return true;
    return llvm::any_of(reader->getResults(), [&](Value result) {
      return llvm::any_of(readersOf(result, definition), [&](Operation *op) { return later.contains(op); });
    });
  };
  llvm::SetVector<Operation *> before = sourcesBehind(assign.getValue());
  SmallVector<OpOperand *> uses;
  for (OpOperand &use : target.getUses()) {
    Operation *user = use.getOwner();
    bool isOutput = user->hasTrait<OpTrait::IsTerminator>() && user->getBlock() == assign->getBlock();
    if (user != definition && !isOutput && (isMixed(user) || isReadAnyTime(use, *assign->getBlock(), before)))
      uses.push_back(&use);
  }
  if (uses.empty())
    return;
  builder.setInsertionPointToStart(assign->getBlock());
  Value copy = graph::ContiguousOp::create(builder, assign.getLoc(), target.getType(), target);
  for (OpOperand *use : uses)
    use->set(copy);
}

static bool readsFrom(Value value, Value target) {
  llvm::SetVector<Value> open;
  open.insert(value);
  for (size_t i = 0; i < open.size(); ++i) {
    if (open[i] == target)
      return true;
    Operation *op = open[i].getDefiningOp();
    if (op && !isa<graph::ContiguousOp, graph::AssignOp>(op))
      op->walk([&](Operation *inner) { open.insert(inner->operand_begin(), inner->operand_end()); });
  }
  return false;
}

/// Tensors that are each computed from the next one's old value, in a circle: one new value is held until all
/// exist.
static void breakCircles(ArrayRef<graph::AssignOp> assigns) {
  for (graph::AssignOp assign : assigns) {
    llvm::SetVector<Operation *> later; // those that wait until this one has its value
    auto addReadBy = [&](graph::AssignOp reader) {
      for (graph::AssignOp other : assigns)
        if (other != reader && readsFrom(reader.getValue(), other.getTarget()))
          later.insert(other);
    };
    addReadBy(assign);
    for (size_t i = 0; i < later.size() && !later.contains(assign); ++i)
      addReadBy(cast<graph::AssignOp>(later[i]));
    if (!later.contains(assign))
      continue;
    OpBuilder builder(assign);
    assign.getValueMutable().assign(
        graph::ContiguousOp::create(builder, assign.getLoc(), assign.getValue().getType(), assign.getValue()));
  }
}

LogicalResult schedule::separateAssigns(func::FuncOp main) {
  SmallVector<graph::AssignOp> assigns;
  for (graph::AssignOp assign : main.getBody().front().getOps<graph::AssignOp>()) {
    unsigned input = cast<BlockArgument>(memoryOf(assign)).getArgNumber();
    if (main.getArgAttr(input, graph::kValueAttr))
      return assign.emitError("an input with a stored default cannot be assigned to");
    if (!isAppending(assign))
      assigns.push_back(assign);
  }
  llvm::for_each(assigns, separate);
  breakCircles(assigns);
  return success();
}
