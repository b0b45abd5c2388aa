//===- SeparateAssigns.cpp - Copies of what is overwritten too early --------------===//
// An assign is in place where all who read the old value come before it. Two things stand in the way: a tensor computed
// from the old and the new value, which reads a copy of the old one, and a new value that is computed from other
// elements of the old one, which is held in memory of its own first.
//===----------------------------------------------------------------------===//

#include "passes/schedule/SeparateAssigns.h"

#include "passes/schedule/Realize.h"

#include "mlir/IR/Builders.h"

using namespace kiln;
using namespace kiln::schedule;
using namespace mlir;

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
    if (!op || isa<graph::ContiguousOp>(op) || !known.insert({edge.base, inPlace}).second)
      continue;
    for (Value operand : op->getOperands())
      open.push_back({operand, inPlace && isa<graph::AluOp>(op)});
  }
  return true;
}

/// Every op computed from `value`, not through `except`. What leaves the block is no computation.
static llvm::DenseSet<Operation *> readersOf(Value value, Operation *except) {
  llvm::DenseSet<Operation *> readers;
  SmallVector<Value> open{value};
  while (!open.empty())
    for (Operation *user : open.pop_back_val().getUsers())
      if (user != except && !user->hasTrait<OpTrait::IsTerminator>() && readers.insert(user).second)
        open.append(user->result_begin(), user->result_end());
  return readers;
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
  SmallVector<OpOperand *> uses;
  for (OpOperand &use : target.getUses())
    if (use.getOwner() != definition && !use.getOwner()->hasTrait<OpTrait::IsTerminator>() && isMixed(use.getOwner()))
      uses.push_back(&use);
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
    if (op && !isa<graph::ContiguousOp>(op))
      open.insert(op->operand_begin(), op->operand_end());
  }
  return false;
}

/// Two tensors that are each computed from the other's old value: one of the new values is held until both are there.
static void separatePairs(ArrayRef<graph::AssignOp> assigns) {
  for (graph::AssignOp a : assigns)
    for (graph::AssignOp b : assigns) {
      bool crosses = a != b && readsFrom(a.getValue(), b.getTarget()) && readsFrom(b.getValue(), a.getTarget());
      if (!crosses)
        continue;
      OpBuilder builder(a);
      a.getValueMutable().assign(
          graph::ContiguousOp::create(builder, a.getLoc(), a.getTarget().getType(), a.getValue()));
    }
}

LogicalResult schedule::separateAssigns(func::FuncOp main) {
  auto assigns = llvm::to_vector(main.getBody().front().getOps<graph::AssignOp>());
  for (graph::AssignOp assign : assigns) {
    unsigned input = cast<BlockArgument>(assign.getTarget()).getArgNumber();
    if (main.getArgAttr(input, graph::kValueAttr))
      return assign.emitError("an input with a stored default cannot be assigned to");
    separate(assign);
  }
  separatePairs(assigns);
  return success();
}
