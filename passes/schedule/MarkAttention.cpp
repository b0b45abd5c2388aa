//===- MarkAttention.cpp - Decide which kernels hold rows of attention's scores ---------===//
// Attention is sum_j f(s)_j · w_j. Each score s_j is a sum of products itself, and f takes whole rows of them: their
// largest, the sum of their exponentials. In kernels of their own, rows of s go through memory four times. A kernel
// that holds a block of rows needs none of that, and both products keep their register tiles
// (passes/optimize/choose/ChooseAttention.cpp). Factors that are the same for all j are multiplied after the sum: the
// reciprocal of a softmax's total, once per row.
//===----------------------------------------------------------------------------------===//

#include "passes/schedule/MarkAttention.h"

#include "passes/schedule/Domain.h"
#include "passes/schedule/KnownConstants.h"
#include "passes/schedule/Products.h"

#include "ir/kernel/Attention.h"

#include "mlir/IR/Builders.h"

using namespace kiln;
using namespace kiln::schedule;
using namespace mlir;
using view::Expr;
using view::ShapeTracker;

namespace {
/// A sum of products with something that is computed from rows of other such sums.
struct Attention {
  graph::ReduceOp sum;
  Edge weight, other;                        ///< what is summed up, both from the shape of the sum's input
  SmallVector<Edge> still;                   ///< factors of the weight that stand still along the summed axis
  graph::ReduceOp product, largest;          ///< the scores, and the largest of a row of them
  llvm::SmallSetVector<Operation *, 16> ops; ///< from the product to the weight
};

/// Walks from a sum's weight to all that it is computed from, down to one product of scores.
class Collector {
public:
  explicit Collector(Attention &found) : found_(found), key_(found.sum.getAxes().front()) {}
  /// Whether the weight is computed from one product, through reduces of whole rows of it, and one largest.
  bool collect() { return visit(found_.weight) && fits_ && found_.largest; }

private:
  /// Whether an edge, from the shape of the sum's input, leads to the product. Notes what stands between, users first.
  bool visit(const Edge &edge);
  /// The operands of a computed tensor, from the shape of the sum's input; nullopt for a reduce over anything but rows
  /// of scores.
  std::optional<SmallVector<Edge>> operandsOf(const Edge &edge);

  Attention &found_;
  int64_t key_; ///< the axis of the sum's input that is summed up
  bool fits_ = true;
  struct Visit {
    bool reaches;
    ShapeTracker tracker;
  };
  llvm::DenseMap<Operation *, Visit> known_;
};
} // namespace

/// Whether such a reduce is among what a tensor is computed from.
static bool reads(Value value, llvm::function_ref<bool(graph::ReduceOp)> isSought) {
  llvm::SetVector<Value> open;
  open.insert(value);
  for (size_t i = 0; i < open.size(); ++i) {
    auto reduce = open[i].getDefiningOp<graph::ReduceOp>();
    if (reduce && isSought(reduce))
      return true;
    if (reduce || open[i].getDefiningOp<graph::AluOp>())
      for (const Edge &edge : sourcesOf(open[i]))
        open.insert(edge.base);
  }
  return false;
}

std::optional<SmallVector<Edge>> Collector::operandsOf(const Edge &edge) {
  SmallVector<Edge> operands;
  auto reduce = edge.base.getDefiningOp<graph::ReduceOp>();
  if (!reduce) {
    for (Value operand : edge.base.getDefiningOp()->getOperands())
      operands.push_back(through(operand, edge.tracker));
    return operands;
  }
  // As many scores as the sum has terms, along the axis of these.
  bool isOfRow = !reduce.getScore() && reduce.getAxes().size() == 1 && !axesOf(edge.tracker).test(key_) &&
                 view::provablyEqual(shapeOf(reduce.getInput())[reduce.getAxes().front()], edge.tracker.shape()[key_]);
  if (!isOfRow)
    return std::nullopt;
  operands.push_back(through(reduce.getInput(), inputOf(reduce, edge.tracker, {key_})));
  return operands;
}

bool Collector::visit(const Edge &edge) {
  Operation *op = edge.base.getDefiningOp();
  if (!isa_and_nonnull<graph::AluOp, graph::ReduceOp>(op))
    return false;
  if (auto found = known_.find(op); found != known_.end()) {
    fits_ &= !found->second.reaches || found->second.tracker == edge.tracker;
    return found->second.reaches;
  }
  auto reduce = dyn_cast<graph::ReduceOp>(op);
  bool reaches = reduce && isProduct(reduce);
  if (reaches) {
    fits_ &= !found_.product;
    found_.product = reduce;
  } else if (std::optional<SmallVector<Edge>> operands = operandsOf(edge)) {
    for (const Edge &operand : *operands)
      reaches |= visit(operand);
  } else {
    fits_ &= !reads(edge.base, isProduct);
  }
  if (reaches) {
    found_.ops.insert(op);
    fits_ &= !edge.tracker.isMasked();
    if (reduce && reduce != found_.product && reduce.getKind().getValue() == Alu::MAX) {
      fits_ &= !found_.largest;
      found_.largest = reduce;
    }
  }
  known_.try_emplace(op, Visit{reaches, edge.tracker});
  return reaches;
}

/// Takes factors off the weight that stand still along the summed axis.
static void factor(Attention &rows) {
  int64_t axis = rows.sum.getAxes().front();
  for (bool found = true; found;) {
    found = false;
    for (unsigned side : {0, 1}) {
      graph::AluOp mul = aluOf(rows.weight.base, Alu::MUL);
      if (!mul || rows.weight.tracker.isMasked())
        break;
      Edge factor = through(mul->getOperand(side), rows.weight.tracker);
      if (axesOf(factor.tracker).test(axis) || factor.tracker.isMasked())
        continue;
      rows.still.push_back(factor);
      rows.weight = through(mul->getOperand(1 - side), rows.weight.tracker);
      found = true;
    }
  }
}

/// Whether a block of rows fits the cache, with a register tile for each of the two products. Columns and terms
/// have fixed sizes, keys need not.
static bool fitsCache(Attention &rows, TargetAttr target) {
  llvm::SmallBitVector ofWeight = axesOf(rows.weight.tracker), ofOther = axesOf(rows.other.tracker);
  int64_t columns = 1;
  view::Expr keys = 1;
  bool areSeveral = false, isFixed = true;
  for (auto [axis, size] : llvm::enumerate(shapeOf(rows.sum.getInput()))) {
    if (llvm::is_contained(rows.sum.getAxes(), int64_t(axis))) {
      keys = size;
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
  unsigned bytes = byteSize(element);
  int64_t counted = target::countedKeys(target, keys, columns, bytes);
  return isFixed && areSeveral && element.isF32() && target::heldRows(target, counted, columns, bytes) > 0;
}

static std::optional<Attention> match(graph::ReduceOp sum, TargetAttr target) {
  if (!isProduct(sum) || sum.getAxes().size() != 1)
    return std::nullopt;
  Edge input = edgeOf(sum.getInput());
  Operation *mul = input.base.getDefiningOp();
  for (unsigned side : {0, 1}) {
    Edge weight = through(mul->getOperand(side), input.tracker),
         other = through(mul->getOperand(1 - side), input.tracker);
    Attention found{sum, weight, other, {}, nullptr, nullptr, {}};
    if (!Collector(found).collect())
      continue;
    // A tensor that others need in memory anyway is not worth holding.
    auto isAmong = [&](Operation *op) { return op == mul || op == sum || found.ops.contains(op); };
    bool isAlone = areReadersAmong(mul->getResult(0), isAmong) &&
                   llvm::all_of(found.ops, [&](Operation *op) { return areReadersAmong(op->getResult(0), isAmong); });
    if (isAlone && fitsCache(found, target))
      return found;
  }
  return std::nullopt;
}

/// An exponential below the least normal number adds nothing to a total of at least 1, and products with such numbers
/// take a CPU a hundred times as long: what is so far below the largest score counts as infinitely far.
static void dropSubnormals(Attention &rows) {
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

/// Sums what is left of the terms, multiplies by the factors that stand still, and gives the reduces their roles.
static void rewrite(Attention &rows) {
  graph::ReduceOp sum = rows.sum;
  OpBuilder builder(sum);
  Location loc = sum.getLoc();
  Value terms = graph::AluOp::create(builder, loc, Alu::MUL,
                                     {tensorOf(builder, loc, rows.weight), tensorOf(builder, loc, rows.other)});
  auto result = graph::ReduceOp::create(builder, loc, Alu::ADD, terms, sum.getAxes(), /*score=*/Value());
  rows.product->setAttr(kRoleAttr, builder.getStringAttr(kernel::kScores));
  rows.largest->setAttr(kRoleAttr, builder.getStringAttr(kernel::kLargest));
  result->setAttr(kRoleAttr, builder.getStringAttr(kernel::kResult));
  Value whole = zeroWhereEmpty(builder, sum, multipliedAfter(builder, sum, result, rows.still));
  whole.getDefiningOp()->setAttr(kGivenAttr, builder.getUnitAttr());
  sum.getResult().replaceAllUsesWith(whole);
  sum.erase();
}

void schedule::markAttention(func::FuncOp main, TargetAttr target) {
  SmallVector<graph::ReduceOp> sums;
  main.walk([&](graph::ReduceOp reduce) { sums.push_back(reduce); });
  for (graph::ReduceOp sum : sums) {
    std::optional<Attention> found = match(sum, target);
    if (!found)
      continue;
    factor(*found);
    // A largest that only scales the result is no row's of this kernel.
    if (!reads(found->weight.base, [&](graph::ReduceOp reduce) { return reduce == found->largest; }))
      continue;
    dropSubnormals(*found);
    // A score's products are computed where their sum is.
    found->ops.insert(edgeOf(found->product.getInput()).base.getDefiningOp());
    for (Operation *op : found->ops)
      op->setAttr(kHeldAttr, UnitAttr::get(op->getContext()));
    rewrite(*found);
  }
}

static bool isResult(graph::ReduceOp reduce) {
  StringAttr role = reduce ? roleOf(reduce) : StringAttr();
  return role && role.getValue() == kernel::kResult;
}

bool schedule::isMultipliedResult(Value value) {
  return isResult(value.getDefiningOp<graph::ReduceOp>()) && !value.getDefiningOp()->hasAttr(kGivenAttr);
}

graph::ReduceOp schedule::resultOf(graph::ReduceOp reduce) {
  // Between the scores and the result nothing is read by others.
  llvm::SetVector<Operation *> open;
  open.insert(reduce);
  for (size_t i = 0; i < open.size(); ++i) {
    if (auto next = dyn_cast<graph::ReduceOp>(open[i]); next && isResult(next))
      return next;
    open.insert(open[i]->user_begin(), open[i]->user_end());
  }
  llvm_unreachable("a role without a result");
}

void schedule::unmarkAttention(graph::ReduceOp result) {
  llvm::SetVector<Operation *> marked;
  marked.insert(result);
  // The factors after the sum were marked too: a softmax's total is computed from the same rows.
  for (size_t i = 0; i < marked.size(); ++i)
    if (!marked[i]->removeAttr(kGivenAttr))
      marked.insert(marked[i]->user_begin(), marked[i]->user_end());
  for (size_t i = 0; i < marked.size(); ++i) {
    Operation *op = marked[i];
    op->removeAttr(kRoleAttr);
    op->removeAttr(kHeldAttr);
    for (const Edge &edge : sourcesOf(op->getResult(0)))
      if (Operation *source = edge.base.getDefiningOp(); source && (op == result || source->hasAttr(kHeldAttr)))
        marked.insert(source);
  }
}
