#include "passes/lower/Estimate.h"

#include "llvm/ADT/SetVector.h"

using namespace kiln;
using namespace kiln::lower;
using namespace mlir;
using view::Expr;

/// How often `op` runs: the trip counts of the ranges around it, which run from 0 to a constant if `trips` says
/// nothing. One of two branches runs, usually the first: the second is the same code at the domain's edge.
static Expr timesOf(Operation *op, uop::FuncOp func, const TripCounts &trips) {
  Expr times = 1;
  for (Operation *parent = op->getParentOp(), *inside = op; parent != func; parent = parent->getParentOp()) {
    if (auto branch = dyn_cast<uop::IfOp>(parent); branch && inside->getParentRegion() == &branch.getElseRegion())
      return 0;
    inside = parent;
    auto range = dyn_cast<uop::RangeOp>(parent);
    if (!range)
      continue;
    if (auto known = trips.find(range); known != trips.end()) {
      times = times * known->second;
      continue;
    }
    if (auto constant = range.getTo().getDefiningOp<uop::ConstOp>())
      times = times * cast<IntegerAttr>(constant.getValue()).getInt();
  }
  return times;
}

/// The ops that compute addresses.
static llvm::DenseSet<Value> ofAddresses(uop::FuncOp func) {
  llvm::SetVector<Value> found;
  func.walk([&](Operation *op) {
    if (auto load = dyn_cast<uop::LoadOp>(op))
      found.insert(load.getIndex());
    else if (auto store = dyn_cast<uop::StoreOp>(op))
      found.insert(store.getIndex());
  });
  for (size_t i = 0; i < found.size(); ++i)
    if (Operation *op = found[i].getDefiningOp(); op && !isa<uop::LoadOp>(op))
      found.insert(op->operand_begin(), op->operand_end());
  return {found.begin(), found.end()};
}

Expr lower::countOperations(uop::FuncOp func, const TripCounts &trips) {
  // From the stored, tested and carried values back to their operands. Ops for addresses do not count as arithmetic,
  // even if a test uses them too.
  llvm::DenseSet<Value> addresses = ofAddresses(func);
  llvm::SetVector<Value> needed;
  func.walk([&](Operation *op) {
    if (auto store = dyn_cast<uop::StoreMatrixOp>(op)) {
      needed.insert(store.getValue());
    } else if (auto store = dyn_cast<uop::StoreOp>(op)) {
      needed.insert(store.getValue());
      if (store.getGate())
        needed.insert(store.getGate());
    } else if (isa<uop::YieldOp>(op)) {
      needed.insert(op->operand_begin(), op->operand_end());
    }
  });
  Expr total = 0;
  for (size_t i = 0; i < needed.size(); ++i) {
    Operation *op = needed[i].getDefiningOp();
    if (!op || (addresses.contains(needed[i]) && isa<uop::AluOp, uop::FmaOp>(op)))
      continue;
    if (auto load = dyn_cast<uop::LoadOp>(op)) {
      if (load.getGate())
        needed.insert(load.getGate());
      continue;
    }
    needed.insert(op->operand_begin(), op->operand_end());
    if (auto wmma = dyn_cast<uop::WmmaOp>(op)) {
      int64_t terms = cast<VectorType>(wmma.getA().getType()).getDimSize(1);
      total = total + timesOf(op, func, trips) * int64_t(uop::lanesOf(wmma.getResult().getType())) * terms * 2;
      continue;
    }
    if (auto dot = dyn_cast<uop::DotOp>(op)) {
      total = total + timesOf(op, func, trips) * int64_t(uop::lanesOf(dot.getResult().getType())) * dot.getTerms() * 2;
      continue;
    }
    auto alu = dyn_cast<uop::AluOp>(op);
    bool conversion = alu && (alu.getKind().getValue() == Alu::CAST || alu.getKind().getValue() == Alu::BITCAST);
    if ((!alu && !isa<uop::FmaOp>(op)) || conversion)
      continue;
    bool twice = isa<uop::FmaOp>(op) || alu.getKind().getValue() == Alu::MULACC;
    total = total + timesOf(op, func, trips) * int64_t(uop::lanesOf(op->getResult(0).getType())) * (twice ? 2 : 1);
  }
  for (Expr groups : func.getGrid().getSizes())
    total = total * groups;
  for (int64_t items : func.getLocal())
    total = total * items;
  return total;
}

static void visit(Operation *op, llvm::SetVector<Operation *> &seen) {
  if (!seen.insert(op))
    return;
  for (Value operand : op->getOperands())
    if (Operation *source = operand.getDefiningOp())
      visit(source, seen);
}

Expr lower::countBytes(kernel::FuncOp func) {
  llvm::SetVector<Operation *> order;
  for (auto store : func.getBody().getOps<kernel::StoreOp>())
    visit(store, order);
  Expr total = 0, widest = 0;
  std::pair<Value, bool> last; // a buffer, and whether it is read
  for (Operation *op : order) {
    Value buffer, row;
    if (auto load = dyn_cast<kernel::LoadOp>(op)) {
      buffer = load.getBuffer();
      row = load.getRow();
    } else if (auto store = dyn_cast<kernel::StoreOp>(op))
      buffer = store.getBuffer();
    else
      continue;
    std::pair<Value, bool> run(buffer, isa<kernel::LoadOp>(op));
    if (run != last) {
      total = total + widest;
      widest = 0;
      last = run;
    }
    view::ShapeTracker tracker = op->getAttrOfType<TrackerAttr>("tracker").getValue();
    Expr size = tracker.realSize();
    bool isFixed = tracker.size().isConst() &&
                   llvm::all_of(tracker.views(), [](const view::View &view) { return view.offset().isConst(); });
    if (!isFixed) {
      // The index of a masked view over symbols has no close bound, nor has what begins at a symbolic row; no view
      // reads more than one element per point.
      Expr points = 1;
      auto strides = tracker.realStrides(/*ignoreValid=*/true);
      for (auto [axis, stride] : llvm::enumerate(strides))
        if (!stride || !stride->isConst(0))
          points = points * tracker.shape()[axis];
      size = view::minimum(size, points);
    }
    if (row) // of a table, one element per point
      size = view::minimum(size, view::product(tracker.shape().drop_back()));
    int64_t width = byteSize(cast<kernel::BufferType>(buffer.getType()).getElement());
    widest = view::maximum(widest, size * width);
  }
  return total + widest;
}
