//===- HoldRows.cpp - Two products with a softmax between them, in one kernel --------===//
// sum_j f(s)_j · w_j, where each s_j is a sum of products itself and f takes whole rows of them: their largest, the sum
// of their exponentials. Apart, rows of s go through memory four times. A kernel that holds a block of them needs none
// of that, and both products keep their register tiles (passes/optimize/choose/HeldRows.cpp). What stands still along j
// is multiplied after the sum: the reciprocal of a softmax's total, once per row.
//===----------------------------------------------------------------------------------===//

#include "passes/schedule/HoldRows.h"

#include "passes/schedule/Domain.h"
#include "passes/schedule/KnownConstants.h"
#include "passes/schedule/Products.h"

#include "mlir/IR/Builders.h"

using namespace kiln;
using namespace kiln::schedule;
using namespace mlir;
using view::Expr;
using view::ShapeTracker;

namespace {
/// A sum of products with something that is computed from rows of other such sums.
struct Rows {
  graph::ReduceOp sum;
  Edge weight, other;      ///< what is summed up, both from the shape of the sum's input
  SmallVector<Edge> still; ///< factors of the weight that stand still along the summed axis
  graph::ReduceOp product, largest;
  llvm::SmallSetVector<Operation *, 16> ops; ///< from the product to the weight
};
} // namespace

/// Collects what a value is computed from down to `rows.product`, users first; false where that is not one product and
/// one largest.
static bool collect(Value value, Rows &rows, llvm::DenseMap<Operation *, bool> &known, bool &fits) {
  Operation *op = value.getDefiningOp();
  if (!isa_and_nonnull<graph::AluOp, graph::ReduceOp>(op))
    return false;
  if (auto found = known.find(op); found != known.end())
    return found->second;
  auto reduce = dyn_cast<graph::ReduceOp>(op);
  bool reaches = reduce && isProduct(reduce);
  if (reaches) {
    fits &= !rows.product;
    rows.product = reduce;
  } else {
    for (const Edge &edge : sourcesOf(value))
      if (collect(edge.base, rows, known, fits)) {
        reaches = true;
        fits &= !isMasked(edge.tracker);
      }
  }
  if (reaches)
    rows.ops.insert(op);
  if (reaches && reduce && !isProduct(reduce)) {
    bool isLargest = reduce.getKind().getValue() == Alu::MAX;
    fits &= !reduce.getScore() && (!isLargest || !rows.largest);
    rows.largest = isLargest ? reduce : rows.largest;
  }
  return known[op] = reaches;
}

/// Whether what is reduced between the two products are whole rows: as many scores as the sum has terms, of all rows.
static bool reducesRows(const Rows &rows, Expr keys) {
  graph::ReduceOp product = rows.product;
  Expr scores = view::product(shapeOf(product.getResult()));
  return llvm::all_of(rows.ops, [&](Operation *op) {
    auto reduce = dyn_cast<graph::ReduceOp>(op);
    if (!reduce || reduce == product)
      return true;
    view::Shape shape = shapeOf(reduce.getInput());
    return reduce.getAxes().size() == 1 && view::provablyEqual(shape[reduce.getAxes().front()], keys) &&
           view::provablyEqual(view::product(shape), scores);
  });
}

/// Takes factors off the weight that stand still along the summed axis.
static void factor(Rows &rows) {
  int64_t axis = rows.sum.getAxes().front();
  for (bool found = true; found;) {
    found = false;
    for (unsigned side : {0, 1}) {
      graph::AluOp mul = aluOf(rows.weight.base, Alu::MUL);
      if (!mul || isMasked(rows.weight.tracker))
        break;
      Edge factor = through(mul->getOperand(side), rows.weight.tracker);
      if (axesOf(factor.tracker).test(axis) || isMasked(factor.tracker))
        continue;
      rows.still.push_back(factor);
      rows.weight = through(mul->getOperand(1 - side), rows.weight.tracker);
      found = true;
    }
  }
}

/// Whether a block of rows fits, with a register tile for each of the two products. Keys of which only the run knows
/// how many there are count as many as their bound allows; what a tile goes along but rows and keys is of fixed size.
static bool fitsCache(Rows &rows, TargetAttr target) {
  llvm::SmallBitVector ofWeight = axesOf(rows.weight.tracker), ofOther = axesOf(rows.other.tracker);
  int64_t keys = 1, columns = 1;
  bool areSeveral = false, isFixed = true;
  for (auto [axis, size] : llvm::enumerate(shapeOf(rows.sum.getInput()))) {
    if (llvm::is_contained(rows.sum.getAxes(), int64_t(axis))) {
      keys = size.max();
    } else if (ofWeight.test(axis) && !ofOther.test(axis)) {
      areSeveral |= size.max() > 1;
    } else if (ofOther.test(axis) && !ofWeight.test(axis)) {
      isFixed &= size.isConst();
      columns *= size.isConst() ? size.constant() : 1;
    }
  }
  view::Shape shape = shapeOf(rows.product.getInput());
  for (int64_t axis : rows.product.getAxes())
    isFixed &= shape[axis].isConst();
  Type element = rows.sum.getResult().getType().getElementType();
  return isFixed && areSeveral && element.isF32() && target::heldRows(target, keys, columns, byteSize(element)) > 0;
}

static std::optional<Rows> match(graph::ReduceOp sum, TargetAttr target) {
  if (!isProduct(sum) || sum.getAxes().size() != 1)
    return std::nullopt;
  Edge input = edgeOf(sum.getInput());
  Operation *mul = input.base.getDefiningOp();
  for (unsigned side : {0, 1}) {
    Edge weight = through(mul->getOperand(side), input.tracker),
         other = through(mul->getOperand(1 - side), input.tracker);
    Rows rows{sum, weight, other, {}, nullptr, nullptr, {}};
    llvm::DenseMap<Operation *, bool> known;
    bool fits = true;
    if (!collect(weight.base, rows, known, fits) || !fits || !rows.largest)
      continue;
    // What others need in memory anyway is not worth holding.
    auto isAmong = [&](Operation *op) { return op == mul || op == sum || rows.ops.contains(op); };
    bool isAlone = areReadersAmong(mul->getResult(0), isAmong) &&
                   llvm::all_of(rows.ops, [&](Operation *op) { return areReadersAmong(op->getResult(0), isAmong); });
    Expr keys = shapeOf(sum.getInput())[sum.getAxes().front()];
    if (isAlone && !isMasked(weight.tracker) && reducesRows(rows, keys) && fitsCache(rows, target))
      return rows;
  }
  return std::nullopt;
}

/// An exponential below the least normal number adds nothing to a total of at least 1, and products with such numbers
/// take a CPU a hundred times as long: what is so far below the largest score counts as infinitely far.
static void dropSubnormals(Rows &rows) {
  constexpr double kLeastNormal = -87.3365447505531; // log(2^-126)
  for (Operation *op : llvm::to_vector(rows.ops)) {
    graph::AluOp exponential = aluOf(op->getResult(0), Alu::EXP);
    graph::AluOp add = exponential ? aluOf(edgeOf(exponential->getOperand(0)).base, Alu::ADD) : nullptr;
    if (!add)
      continue;
    bool isBelowLargest = false;
    for (unsigned side : {0, 1}) {
      graph::AluOp negation = aluOf(edgeOf(add->getOperand(side)).base, Alu::NEG);
      isBelowLargest |= negation && edgeOf(negation->getOperand(0)).base == rows.largest.getResult() &&
                        edgeOf(add->getOperand(1 - side)).base == edgeOf(rows.largest.getInput()).base;
    }
    if (!isBelowLargest)
      continue;
    OpBuilder builder(op);
    Value score = op->getOperand(0);
    auto number = [&](double value) -> Value {
      auto element = cast<RankedTensorType>(score.getType()).getElementType();
      return graph::ConstOp::create(builder, op->getLoc(), score.getType(), builder.getFloatAttr(element, value));
    };
    Value isLost = graph::AluOp::create(builder, op->getLoc(), Alu::CMPLT, {score, number(kLeastNormal)});
    Value kept = graph::AluOp::create(builder, op->getLoc(), Alu::WHERE,
                                      {isLost, number(-std::numeric_limits<double>::infinity()), score});
    op->setOperand(0, kept);
    rows.ops.insert_range(ArrayRef<Operation *>{isLost.getDefiningOp(), kept.getDefiningOp()});
  }
}

static void rewrite(Rows &rows) {
  graph::ReduceOp sum = rows.sum;
  OpBuilder builder(sum);
  Location loc = sum.getLoc();
  Value terms = graph::AluOp::create(builder, loc, Alu::MUL,
                                     {tensorOf(builder, loc, rows.weight), tensorOf(builder, loc, rows.other)});
  Value result = graph::ReduceOp::create(builder, loc, Alu::ADD, terms, sum.getAxes(), /*score=*/Value());
  result = zeroWhereEmpty(builder, sum, multipliedBehind(builder, sum, result, rows.still));
  sum.getResult().replaceAllUsesWith(result);
  sum.erase();
}

void schedule::holdRows(func::FuncOp main, TargetAttr target) {
  SmallVector<graph::ReduceOp> sums;
  main.walk([&](graph::ReduceOp reduce) { sums.push_back(reduce); });
  for (graph::ReduceOp sum : sums) {
    std::optional<Rows> rows = match(sum, target);
    if (!rows)
      continue;
    factor(*rows);
    dropSubnormals(*rows);
    for (Operation *op : rows->ops)
      op->setAttr(kHeldAttr, UnitAttr::get(op->getContext()));
    rewrite(*rows);
  }
}
