//===- ScoreSums.cpp - Attention in one walk ----------------------------------------===//
// sum_j exp(s_j - max_j s) / total · w_j, with total = sum_j exp(s_j - max_j s), becomes
// (sum_j w_j scored by s_j) / (sum_j 1 scored by s_j).
// A kernel finds the largest score and both sums in one walk, so that no score goes through memory.
//===----------------------------------------------------------------------------===//

#include "passes/schedule/ScoreSums.h"

#include "passes/schedule/Cost.h"
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

/// A sum whose input is a product with exp(score - the largest score) as one factor.
struct ScoredSum {
  graph::ReduceOp sum;
  graph::ReduceOp largest;
  graph::AluOp exponential;
  std::optional<Edge> score;                ///< from the shape of the sum's input, as all edges here
  SmallVector<Edge> factors;                ///< those that move along the summed axes
  SmallVector<Edge> constant;               ///< those that stand still along them
  llvm::SmallSetVector<Operation *, 8> ops; ///< from the scores to the sum
};

} // namespace

/// The scores whose largest `edge` reads, if the largest is taken of their elements along `axes`.
static std::optional<Edge> scoresOf(graph::ReduceOp largest, const Edge &edge, ArrayRef<int64_t> axes) {
  view::Shape shape = shapeOf(largest.getInput());
  llvm::SmallBitVector moves = axesOf(edge.tracker);
  bool fits = largest.getKind().getValue() == Alu::MAX && largest.getAxes().size() == axes.size();
  for (size_t i = 0; fits && i < axes.size(); ++i)
    fits = !moves.test(axes[i]) && view::provablyEqual(edge.tracker.shape()[axes[i]], shape[largest.getAxes()[i]]);
  if (!fits)
    return std::nullopt;
  return through(largest.getInput(), inputOf(largest, edge.tracker, axes));
}

/// Notes exp(score - the largest score), read through `edge`.
static bool matchExponential(const Edge &edge, ScoredSum &match) {
  graph::AluOp exponential = aluOf(edge.base, Alu::EXP);
  if (!exponential || edge.tracker.isMasked())
    return false;
  Edge difference = through(exponential->getOperand(0), edge.tracker);
  graph::AluOp add = aluOf(difference.base, Alu::ADD);
  for (unsigned side : {0, 1}) {
    if (!add || difference.tracker.isMasked())
      return false;
    Edge score = through(add->getOperand(side), difference.tracker);
    Edge below = through(add->getOperand(1 - side), difference.tracker);
    graph::AluOp negation = aluOf(below.base, Alu::NEG);
    if (!negation)
      continue;
    Edge largest = through(negation->getOperand(0), below.tracker);
    auto reduce = largest.base.getDefiningOp<graph::ReduceOp>();
    std::optional<Edge> among = reduce ? scoresOf(reduce, largest, match.sum.getAxes()) : std::nullopt;
    if (!among || among->base != score.base || among->tracker != score.tracker || score.tracker.isMasked())
      continue;
    match.score = score;
    match.largest = reduce;
    match.exponential = exponential;
    match.ops.insert_range(ArrayRef<Operation *>{exponential, add, negation, reduce});
    return true;
  }
  return false;
}

/// Splits the value of `edge` into exp(score - the largest score) and the other factors.
static bool matchProduct(const Edge &edge, ScoredSum &match) {
  if (matchExponential(edge, match))
    return true;
  graph::AluOp product = aluOf(edge.base, Alu::MUL);
  if (!product || edge.tracker.isMasked())
    return false;
  for (unsigned side : {0, 1}) {
    if (!matchProduct(through(product->getOperand(side), edge.tracker), match))
      continue;
    match.ops.insert(product);
    Edge factor = through(product->getOperand(1 - side), edge.tracker);
    llvm::SmallBitVector moves = axesOf(factor.tracker);
    bool isStill = llvm::none_of(match.sum.getAxes(), [&](int64_t axis) { return moves.test(axis); });
    (isStill && !factor.tracker.isMasked() ? match.constant : match.factors).push_back(factor);
    return true;
  }
  return false;
}

static std::optional<ScoredSum> match(graph::ReduceOp sum) {
  if (sum.getKind().getValue() != Alu::ADD || sum.getScore() ||
      !isa<FloatType>(sum.getResult().getType().getElementType()))
    return std::nullopt;
  ScoredSum match;
  match.sum = sum;
  if (!matchProduct(edgeOf(sum.getInput()), match))
    return std::nullopt;
  match.ops.insert(sum);
  return match;
}

/// The sum of the exponentials whose reciprocal multiplies the sum; null: none.
static graph::ReduceOp totalOf(ScoredSum &match) {
  for (const Edge &edge : match.constant)
    if (graph::AluOp inverse = aluOf(edge.base, Alu::RECIP))
      if (auto total = edgeOf(inverse->getOperand(0)).base.getDefiningOp<graph::ReduceOp>())
        return total;
  return nullptr;
}

/// The sum of products that a scored sum's scores are computed from element by element, if only `ops` read it; null:
/// none.
static graph::ReduceOp productBehind(const ScoredSum &match, llvm::SmallSetVector<Operation *, 8> ops) {
  SmallVector<Value> open{match.score->base};
  graph::ReduceOp product;
  while (!open.empty()) {
    Value value = open.pop_back_val();
    auto reduce = value.getDefiningOp<graph::ReduceOp>();
    if (reduce && isProduct(reduce) && !product)
      product = reduce;
    if (!value.getDefiningOp<graph::AluOp>() || !ops.insert(value.getDefiningOp()))
      continue;
    for (const Edge &edge : sourcesOf(value))
      open.push_back(edge.base);
  }
  return product && areReadersAmong(product.getResult(), [&](Operation *op) { return ops.contains(op); }) ? product
                                                                                                          : nullptr;
}

static bool isWorthwhile(ScoredSum &match, const llvm::SmallSetVector<Operation *, 8> &ops, RatesAttr rates) {
  graph::ReduceOp product = productBehind(match, ops);
  if (!product)
    return false;
  // Along axes on which the scores stand still, all totals are added up at once, or the scores are computed again.
  llvm::SmallBitVector moves = axesOf(match.score->tracker);
  view::Shape shape = shapeOf(match.sum.getInput());
  double totals = 1, scores = 1, rows = 1;
  for (auto [axis, size] : llvm::enumerate(shape)) {
    if (!moves.test(axis) && !size.isConst())
      return false;
    (moves.test(axis) ? scores : totals) *= typicalSize(size);
    if (moves.test(axis) && !llvm::is_contained(match.sum.getAxes(), int64_t(axis)))
      rows *= typicalSize(size);
  }
  if (totals > target::kMostTotals)
    return false;
  double terms = elementsOf(shapeOf(product.getInput())) / elementsOf(shapeOf(product.getResult()));
  double exponential = operationsOf(Alu::EXP);
  double bytes = byteSize(match.sum.getResult().getType().getElementType());
  // Separately: the scores are written, read for the softmax, written, and read for the sum; three kernels.
  double apart = scores * 2 * (terms + totals) / rates.getProductOpsPerNs() +
                 scores * exponential / rates.getOpsPerNs() + 4 * scores * bytes / rates.getBytesPerNs() +
                 3 * rates.getLaunchNs();
  // Together: an exponential more and scaling the totals, for each score.
  double idle = std::max(1.0, double(rates.getUnits()) / rows);
  double together =
      idle * scores * (2 * terms + 3 * totals + 2 * exponential) / rates.getOpsPerNs() + rates.getLaunchNs();
  return together < apart;
}

static void rewrite(ScoredSum &match) {
  graph::ReduceOp sum = match.sum;
  OpBuilder builder(sum);
  Location loc = sum.getLoc();
  Type element = sum.getResult().getType().getElementType();
  Value weight;
  for (const Edge &factor : match.factors) {
    Value next = tensorOf(builder, loc, factor);
    weight = weight ? Value(graph::AluOp::create(builder, loc, Alu::MUL, {weight, next})) : next;
  }
  if (!weight)
    weight = graph::ConstOp::create(builder, loc, sum.getInput().getType(), builder.getFloatAttr(element, 1));
  Value result =
      graph::ReduceOp::create(builder, loc, Alu::ADD, weight, sum.getAxes(), tensorOf(builder, loc, *match.score));
  result = multipliedAfter(builder, sum, result, match.constant);
  result = zeroWhereEmpty(builder, sum, result);
  sum.getResult().replaceAllUsesWith(result);
  sum.erase();
}

void schedule::scoreSums(func::FuncOp main, RatesAttr rates) {
  SmallVector<graph::ReduceOp> sums;
  main.walk([&](graph::ReduceOp reduce) { sums.push_back(reduce); });
  llvm::SmallDenseSet<Operation *> gone;
  for (graph::ReduceOp sum : sums) {
    if (gone.contains(sum))
      continue;
    std::optional<ScoredSum> found = match(sum);
    if (!found || found->factors.empty())
      continue;
    graph::ReduceOp totalled = totalOf(*found);
    std::optional<ScoredSum> total = totalled ? match(totalled) : std::nullopt;
    bool isTotal = total && total->exponential == found->exponential && total->factors.empty();
    llvm::SmallSetVector<Operation *, 8> ops = found->ops;
    if (isTotal)
      ops.insert(total->ops.begin(), total->ops.end());
    // If a weight or a score is needed in memory anyway, nothing is saved.
    auto isAmong = [&](Operation *op) { return ops.contains(op); };
    bool isAlone = areReadersAmong(found->score->base, isAmong);
    for (Operation *op : ops)
      isAlone &= op == sum || (isTotal && op == totalled) || areReadersAmong(op->getResult(0), isAmong);
    if (!isAlone || !isWorthwhile(*found, ops, rates))
      continue;
    gone.insert(sum);
    rewrite(*found);
    if (isTotal) {
      gone.insert(totalled);
      rewrite(*total);
    }
  }
}
