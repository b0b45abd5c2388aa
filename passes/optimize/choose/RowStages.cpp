//===- RowStages.cpp - Values of a row that several walks of it need -----------------===//
// A softmax walks a row for its largest element, for the sum of the exponentials and for the result, which needs the
// exponentials again. The values of one walk are gone when the next begins, unless they were stored: a stage of one
// row, or of a few rows together, stays in a cache until it is read again. Which values are worth that is decided from
// the results back to the loads, as the schedule decided whether the kernel may count on it
// (passes/schedule/CostPolicy.cpp).
//===----------------------------------------------------------------------------------===//

#include "passes/optimize/choose/RowStages.h"

#include "passes/optimize/choose/LaneWork.h"
#include "passes/optimize/choose/Product.h"
#include "passes/optimize/choose/Trial.h"

#include "ir/base/AluTraits.h"
#include "target/Target.h"

#include "llvm/ADT/SetVector.h"

using namespace kiln;
using namespace kiln::kernel;
using namespace mlir;
using kiln::optimize::fixedSize;
using kiln::optimize::RowStages;
using kiln::optimize::Trial;

/// Wide vectors of a row have at most so many times the lanes that narrow ones have.
static constexpr double kMostIdle = 1.25;

namespace {
/// A kernel's axes and the values of a row that it holds.
struct Row {
  size_t rows, along;            ///< axes of the domain: that of the rows, and the one that each goes along
  size_t around;                 ///< the innermost one outside of `along`
  llvm::SetVector<Value> values; ///< users first
};
} // namespace

/// How many elements the loads read that lie side by side along an axis.
static double elementsAlong(FuncOp func, size_t axis) {
  double elements = 0;
  for (auto load : func.getBody().getOps<LoadOp>())
    if (optimize::Access access = optimize::accessOf(load); access.isContiguous(axis))
      elements += optimize::elementsOf(access);
  return elements;
}

/// The one axis that the kernel sums up over and also stores along, and an axis of rows outside it: the last, or that
/// along which more of what is read lies side by side than along the row, since tiles of both are turned in registers.
static std::optional<Row> axesOf(FuncOp func) {
  size_t rank = func.getDomain().getSizes().size();
  llvm::SmallBitVector reduced(rank), stored(rank);
  for (auto reduce : func.getBody().getOps<ReduceOp>())
    for (int64_t axis : reduce.getAxes())
      reduced.set(axis);
  for (auto store : func.getBody().getOps<StoreOp>())
    for (size_t axis = 0; axis < rank; ++axis)
      if (!optimize::accessOf(store).isStill(axis))
        stored.set(axis);
  llvm::SmallBitVector both = reduced;
  both &= stored;
  if (both.count() != 1)
    return std::nullopt;
  size_t along = both.find_first();
  std::optional<Row> row;
  for (size_t axis = along; axis-- > 0;) {
    if (reduced.test(axis) || fixedSize(func, axis) == 1)
      continue;
    if (!row)
      row = Row{axis, along, axis, {}};
    else if (elementsAlong(func, axis) > std::max(elementsAlong(func, along), elementsAlong(func, row->rows)))
      row->rows = axis;
  }
  return row;
}

/// Finds the values that are worth holding: each walk that needs a value computes it, with all its sources down to
/// memory, to a sum or to a held value.
static void findValues(FuncOp func, TargetAttr target, Row &row) {
  llvm::DenseMap<Value, llvm::SmallSetVector<Operation *, 4>> walks;
  llvm::DenseMap<Value, double> steps;
  SmallVector<Operation *> ops;
  for (Operation &op : func.getBody().front()) {
    ops.push_back(&op);
    // The row computes once whatever stands still along it.
    if (auto alu = dyn_cast<AluOp>(op); alu && optimize::dependsOn(alu.getResult(), row.along)) {
      double sum = aluTraits(alu.getKind().getValue()).steps;
      for (Value operand : alu->getOperands())
        sum += steps.lookup(operand);
      steps[alu.getResult()] = sum;
    }
  }
  for (Operation *op : llvm::reverse(ops)) {
    llvm::SmallSetVector<Operation *, 4> around;
    auto reduce = dyn_cast<ReduceOp>(op);
    if (isa<StoreOp>(op)) // all are stored in one walk
      around.insert(func.getOperation());
    else if (reduce && llvm::is_contained(reduce.getAxes(), int64_t(row.along)))
      around.insert(op);
    else if (op->getNumResults() == 1)
      around = walks[op->getResult(0)];
    // Sums that do not need each other share one walk.
    bool areApart = !llvm::all_of(around, llvm::IsaPred<ReduceOp>);
    if (areApart && isa<AluOp>(op) && optimize::dependsOn(op->getResult(0), row.along) &&
        optimize::dependsOn(op->getResult(0), row.rows) &&
        target::paysToHold(target, func.getDomain().getSizes()[row.along], op->getResult(0).getType(),
                           steps[op->getResult(0)], around.size())) {
      row.values.insert(op->getResult(0));
      around.clear();
      around.insert(op);
    }
    for (Value operand : op->getOperands())
      walks[operand].insert_range(around);
  }
}

/// The sources of a value, itself first, down to held values.
static llvm::SetVector<Value> computedFor(Value value, const Row &row) {
  llvm::SetVector<Value> computed;
  computed.insert(value);
  for (size_t i = 0; i < computed.size(); ++i)
    if (Operation *op = computed[i].getDefiningOp(); op && (i == 0 || !row.values.contains(computed[i])))
      computed.insert(op->operand_begin(), op->operand_end());
  return computed;
}

/// Sums over the row that a value depends on and that others read too: those have to be held before it.
static void addSums(Value value, const Row &row, llvm::SetVector<Value> &held) {
  llvm::SetVector<Value> computed = computedFor(value, row);
  for (Value one : llvm::reverse(computed.getArrayRef())) {
    auto reduce = one.getDefiningOp<ReduceOp>();
    bool isShared = reduce && llvm::any_of(reduce->getUsers(), [&](Operation *user) {
                      return user->getNumResults() == 0 || !computed.contains(user->getResult(0));
                    });
    if (isShared)
      held.insert(one);
  }
  held.insert(value);
}

/// Whether a walk that holds a value waits for a sum of the row before.
static bool waits(Value value, const Row &row) {
  return llvm::any_of(computedFor(value, row), [](Value one) { return one.getDefiningOp<ReduceOp>() != nullptr; });
}

/// The largest power of two up to `most` that divides the places along an axis where loads begin or end to be valid.
/// The lanes of a vector across such a place are loaded one by one.
static int64_t lanesWithinMasks(FuncOp func, size_t axis, int64_t most) {
  for (Operation &op : func.getBody().front())
    if (auto tracker = op.getAttrOfType<TrackerAttr>("tracker"))
      if (auto mask = tracker.getValue().views().back().mask())
        for (view::Expr edge : {(*mask)[axis].begin, (*mask)[axis].end})
          while (edge.isConst() && edge != func.getDomain().getSizes()[axis] && most > 1 && edge.constant() % most != 0)
            most /= 2;
  return most;
}

/// Whether a row has few more lanes in vectors of `wide` than in those of `lanes`.
static bool fillsVectors(int64_t length, int64_t wide, int64_t lanes) {
  return wide <= length && double(llvm::alignTo(length, wide)) <= kMostIdle * double(llvm::alignTo(length, lanes));
}

std::optional<RowStages> optimize::chooseRowStages(FuncOp func, TargetAttr target, Trial trial,
                                                   llvm::function_ref<int64_t(size_t)> loopOf) {
  std::optional<Row> row = ::axesOf(func);
  if (!row)
    return std::nullopt;
  findValues(func, target, *row);
  bool isApart = fixedSize(func, row->along) < 0 && elementsAlong(func, row->along) == 0;
  if (row->values.empty() || isApart)
    return std::nullopt;
  llvm::SetVector<Value> held;
  for (Value value : llvm::reverse(row->values))
    addSums(value, *row, held);
  int64_t bytes = 0;
  for (Value value : row->values)
    bytes = std::max<int64_t>(bytes, byteSize(value.getType()));
  int64_t lanes = target.vectorBits() / 8 / bytes, rows = fixedSize(func, row->rows);
  auto length = int64_t(target::typicalSize(func.getDomain().getSizes()[row->along]));
  // If walks wait for a row's sums, or rows lie side by side, several rows are walked together, as long as the first
  // cache holds them; else wide vectors of one row.
  int64_t together = 1;
  bool areWaiting =
      row->rows != row->around || llvm::all_of(row->values, [&](Value value) { return waits(value, *row); });
  bool isOpen = rows < 0;
  if (areWaiting && (isOpen || loopOf(row->rows) == int64_t(row->rows)) &&
      2 * target::kRowsTogether * length * bytes <= target.cacheBytes(1))
    together = isOpen ? target::kRowsTogether : target::largestPart(rows, target::kRowsTogether);
  int64_t widest = lanes;
  while (widest * together < target::kRowsTogether * lanes && fillsVectors(length, 2 * widest, lanes))
    widest *= 2;
  int64_t wide = std::max(lanes, lanesWithinMasks(func, row->along, widest));

  int64_t place = loopOf(row->around), tiled = loopOf(row->rows);
  SmallVector<Value> values = llvm::map_to_vector(held, [&](Value value) { return trial.copyOf(value); });
  if (together > 1)
    trial.split(OptKind::TILE, tiled, together);
  int64_t inner = trial.split(OptKind::TILE, row->along, wide);
  SmallVector<StageOp> stages;
  for (Value value : values)
    if (trial.fits())
      stages.push_back(trial.hold(value, place));
  if (!trial.fits())
    return std::nullopt;
  for (StageOp stage : stages) {
    // A value that does not move along the rows is held once for all.
    if (SmallVector<int64_t> rowAxes = axesAlong(stage, row->rows); together > 1 && !rowAxes.empty())
      trial.apply(OptKind::UPCAST, rowAxes.front(), together);
    trial.apply(OptKind::VECTOR, axesAlong(stage, row->along).back(), wide);
  }
  trial.apply(OptKind::VECTOR, inner, wide);
  if (!trial.fits())
    return std::nullopt;
  return RowStages{std::move(trial), row->rows, rows < 0 ? rows : rows / together};
}
