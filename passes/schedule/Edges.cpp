#include "passes/schedule/Edges.h"

#include "ir/base/AluTraits.h"
#include "ir/graph/Call.h"

using namespace kiln;
using namespace kiln::schedule;
using namespace mlir;
using view::ShapeTracker;

Edge schedule::edgeOf(Value value) {
  if (auto view = value.getDefiningOp<graph::ViewOp>())
    return {view.getInput(), view.getTracker().getValue()};
  return {value, ShapeTracker::contiguous(shapeOf(value))};
}

bool schedule::isWhole(const Edge &edge) {
  return edge.tracker.isContiguous() && edge.tracker.shape() == ArrayRef(shapeOf(edge.base));
}

graph::AluOp schedule::aluOf(Value value, Alu kind) {
  auto alu = value.getDefiningOp<graph::AluOp>();
  return alu && alu.getKind().getValue() == kind ? alu : nullptr;
}

Edge schedule::through(Value operand, const ShapeTracker &tracker) {
  Edge edge = edgeOf(operand);
  return {edge.base, edge.tracker.compose(tracker).simplify()};
}

bool schedule::areReadersAmong(Value value, llvm::function_ref<bool(Operation *)> among) {
  return llvm::all_of(value.getUsers(), [&](Operation *user) {
    auto view = dyn_cast<graph::ViewOp>(user);
    return view ? areReadersAmong(view.getResult(), among) : among(user);
  });
}

bool schedule::isWholeInOrder(const Edge &edge) {
  return edge.tracker.isContiguous() && view::provablyEqual(edge.tracker.size(), view::product(shapeOf(edge.base)));
}

Value schedule::memoryOf(Value tensor) {
  if (auto assign = tensor.getDefiningOp<graph::AssignOp>())
    tensor = assign.getTarget();
  auto room = tensor.getDefiningOp<graph::RoomOp>();
  return room ? Value(room.getInput()) : tensor;
}

Value schedule::writtenBy(Value tensor) {
  auto assign = tensor.getDefiningOp<graph::AssignOp>();
  return assign ? Value(assign.getValue()) : tensor;
}

bool schedule::isAppending(graph::AssignOp assign) { return assign && assign.getBegin().has_value(); }

bool schedule::isNumber(Value value) {
  return isa_and_nonnull<graph::ConstOp, graph::SizeOp, graph::IotaOp>(value.getDefiningOp());
}

graph::ConstOp schedule::numberThroughout(const Edge &edge) {
  return edge.tracker.isMasked() ? graph::ConstOp() : edge.base.getDefiningOp<graph::ConstOp>();
}

bool schedule::isComputed(Value value) {
  return value.getDefiningOp<graph::AluOp>() || value.getDefiningOp<graph::ReduceOp>() ||
         value.getDefiningOp<graph::GatherOp>() || value.getDefiningOp<graph::ContiguousOp>() ||
         value.getDefiningOp<graph::AssignOp>();
}

SmallVector<Edge> schedule::sourcesOf(Value value) {
  SmallVector<Edge> sources;
  if (auto assign = value.getDefiningOp<graph::AssignOp>())
    sources.push_back(edgeOf(assign.getValue()));
  else if (isComputed(value))
    for (Value operand : value.getDefiningOp()->getOperands())
      sources.push_back(edgeOf(operand));
  return sources;
}

SmallVector<Edge> schedule::rootsOf(Block &block) {
  SmallVector<Edge> roots;
  for (Operation &op : block) {
    if (auto assign = dyn_cast<graph::AssignOp>(op))
      roots.push_back(edgeOf(assign.getResult()));
    bool reads =
        op.hasTrait<OpTrait::IsTerminator>() || isa<graph::IfOp, graph::LoopOp, graph::BindOp, graph::CallOp>(op);
    if (!reads)
      continue;
    op.walk([&](Operation *inner) {
      for (Value operand : inner->getOperands())
        if (operand.getParentBlock() == &block)
          roots.push_back(edgeOf(operand));
    });
  }
  return roots;
}

bool schedule::isPadSafe(Value value, llvm::function_ref<bool(Value)> isMemory) {
  SmallVector<Value> open{value};
  llvm::DenseSet<Value> known;
  while (!open.empty()) {
    Value next = open.pop_back_val();
    // A gather's loads are gated themselves, whatever the indices are.
    if (isMemory(next) || next.getDefiningOp<graph::GatherOp>() || !known.insert(next).second)
      continue;
    if (auto alu = next.getDefiningOp<graph::AluOp>())
      if (!aluTraits(alu.getKind().getValue()).keepsZero)
        return false;
    // Without elements, only a sum is 0.
    if (auto reduce = next.getDefiningOp<graph::ReduceOp>(); reduce && reduce.getKind().getValue() != Alu::ADD)
      for (int64_t axis : reduce.getAxes())
        if (shapeOf(reduce.getInput())[axis].min() < 1)
          return false;
    for (const Edge &source : sourcesOf(next))
      open.push_back(source.base);
  }
  return true;
}
