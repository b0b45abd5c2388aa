#include "passes/schedule/Products.h"

#include "passes/schedule/Domain.h"

#include "target/Times.h"

#include "mlir/IR/TypeUtilities.h"

#include <numeric>

using namespace kiln;
using namespace kiln::schedule;
using namespace mlir;
using view::Expr;
using view::ShapeTracker;

graph::AluOp schedule::multiplicationOf(graph::ReduceOp reduce) {
  bool isSum = reduce.getKind().getValue() == Alu::ADD && !reduce.getScore();
  return isSum ? aluOf(edgeOf(reduce.getInput()).base, Alu::MUL) : nullptr;
}

bool schedule::isProduct(graph::ReduceOp reduce) {
  graph::AluOp mul = multiplicationOf(reduce);
  if (!mul)
    return false;
  ShapeTracker around = edgeOf(reduce.getInput()).tracker;
  llvm::SmallBitVector moves[2];
  for (unsigned side : {0, 1}) {
    moves[side] = axesOf(edgeOf(mul->getOperand(side)).tracker.compose(around).simplify());
    for (int64_t axis : reduce.getAxes())
      moves[side].reset(axis);
  }
  return moves[0].test(moves[1]) && moves[1].test(moves[0]);
}

/// The places of a shape's axes that are longer than 1.
static SmallVector<int64_t> longAxes(ArrayRef<Expr> shape) {
  SmallVector<int64_t> axes;
  for (auto [axis, size] : llvm::enumerate(shape))
    if (!size.isConst(1))
      axes.push_back(int64_t(axis));
  return axes;
}

graph::ReduceOp schedule::sumOfBlocks(graph::ReduceOp block) {
  graph::AluOp mul = multiplicationOf(block);
  Value value = block.getResult();
  graph::ReduceOp outer;
  while (mul && !outer) {
    if (!value.hasOneUse())
      return nullptr;
    Operation *user = *value.getUsers().begin();
    outer = dyn_cast<graph::ReduceOp>(user);
    bool isOther = outer && (outer.getKind().getValue() != Alu::ADD || outer.getScore());
    auto view = dyn_cast<graph::ViewOp>(user);
    if (isOther || (!outer && !isa<graph::AluOp>(user) && !(view && isWholeInOrder(edgeOf(view)))))
      return nullptr;
    if (!outer)
      value = user->getResult(0);
  }
  if (!outer)
    return nullptr;
  view::Shape own = shapeOf(block.getResult()), terms = shapeOf(outer.getInput());
  SmallVector<int64_t> axes = longAxes(own), others = longAxes(terms);
  if (axes.size() != others.size())
    return nullptr;
  ShapeTracker around = edgeOf(block.getInput()).tracker;
  llvm::SmallBitVector moves[2];
  for (unsigned side : {0, 1})
    moves[side] = axesOf(edgeOf(mul->getOperand(side)).tracker.compose(around).simplify());
  for (auto [axis, other] : llvm::zip(axes, others)) {
    bool isAdded = llvm::is_contained(outer.getAxes(), other);
    if (own[axis] != terms[other] || (isAdded && !(moves[0].test(axis) && moves[1].test(axis))))
      return nullptr;
  }
  return outer;
}

Value schedule::uncast(Value operand) {
  graph::AluOp cast = aluOf(operand, Alu::CAST);
  return cast ? edgeOf(cast->getOperand(0)).base : operand;
}

namespace {
/// An operand of a sum of products, before it is widened for it.
struct Narrow {
  ShapeTracker tracker; ///< from the shape of the sum's input
  Type element;         ///< null: it is not widened
  bool isConstant;
};
/// The terms that an instruction takes in together lie along one axis, or along all once taps are joined, which adds
/// zeros where they are not whole.
enum class Terms { OneAxis, AllAxes };
} // namespace

static SmallVector<int64_t> termsOf(graph::ReduceOp reduce, Terms terms) {
  view::Shape shape = shapeOf(reduce.getInput());
  SmallVector<int64_t> sizes =
      llvm::map_to_vector(reduce.getAxes(), [&](int64_t axis) { return shape[axis].asConst().value_or(0); });
  if (terms == Terms::AllAxes)
    sizes = {std::accumulate(sizes.begin(), sizes.end(), int64_t(1), std::multiplies<>())};
  return sizes;
}

/// Whether an instruction is worth it for a sum with these columns and rows; a constant, if there is one, is the
/// columns.
static bool isWorthInstruction(graph::ReduceOp reduce, ProductAttr instruction, const Narrow &columns,
                               const Narrow &rows, Terms terms) {
  llvm::SmallBitVector areColumns = axesOf(columns.tracker), areRows = axesOf(rows.tracker);
  // The least size that is worth an instruction.
  bool isDot = instruction && instruction.getM() == 1, hasRows = false, hasColumns = false;
  for (auto [axis, size] : llvm::enumerate(shapeOf(reduce.getInput()))) {
    if (llvm::is_contained(reduce.getAxes(), int64_t(axis)))
      continue;
    hasRows |= areRows.test(axis) && !areColumns.test(axis) && size.max() > 1;
    hasColumns |=
        areColumns.test(axis) && !areRows.test(axis) && instruction && size.asConst().value_or(0) >= instruction.getN();
  }
  int64_t fewest = isDot ? target::kFewestDotTerms : target::kFewestTerms,
          group = isDot && terms == Terms::OneAxis ? instruction.getK() : 1;
  SmallVector<int64_t> sizes = termsOf(reduce, terms), all = termsOf(reduce, Terms::AllAxes);
  // The parts of a block are unrolled together.
  if (terms == Terms::OneAxis && sumOfBlocks(reduce))
    return isDot && hasColumns && all.front() >= fewest &&
           llvm::any_of(sizes, [&](int64_t size) { return size % group == 0; });
  auto isEnough = [](int64_t fewest, int64_t group) {
    return [=](int64_t size) { return size >= fewest && size % group == 0; };
  };
  if (!hasRows && columns.isConstant)
    return llvm::any_of(sizes, isEnough(target::kFewestTerms, target::sideOf(columns.element)));
  return hasColumns && llvm::any_of(sizes, isEnough(fewest, group));
}

static bool isWorthInstruction(graph::ReduceOp reduce, TargetAttr target, const Narrow &columns, const Narrow &rows,
                               Terms terms) {
  if (!columns.element || !rows.element || rows.isConstant)
    return false;
  // Too few terms for matrices may be enough for dots.
  Type sum = getElementTypeOrSelf(reduce);
  ProductAttr fast = target.fastProduct(rows.element, columns.element, sum),
              dot = target.dotProduct(rows.element, columns.element, sum);
  bool isFastDot = dot && dot != fast && dot.getK() > dot.getSteps();
  return isWorthInstruction(reduce, fast, columns, rows, terms) ||
         (isFastDot && isWorthInstruction(reduce, dot, columns, rows, terms));
}

/// The operands of a sum of products with dtypes that `elementOf` gives.
static bool isWorthInstruction(graph::ReduceOp reduce, TargetAttr target, llvm::function_ref<Type(Value)> elementOf,
                               llvm::function_ref<bool(Value)> isConstant, Terms terms) {
  graph::AluOp mul = multiplicationOf(reduce);
  if (!mul)
    return false;
  ShapeTracker around = edgeOf(reduce.getInput()).tracker;
  auto narrow = [&](Value operand) {
    Edge edge = edgeOf(operand);
    return Narrow{edge.tracker.compose(around).simplify(), elementOf(edge.base), isConstant(uncast(edge.base))};
  };
  Narrow first = narrow(mul->getOperand(0)), second = narrow(mul->getOperand(1));
  return isWorthInstruction(reduce, target, first, second, terms) ||
         isWorthInstruction(reduce, target, second, first, terms);
}

bool schedule::multipliesNarrow(graph::ReduceOp reduce, TargetAttr target, llvm::function_ref<bool(Value)> isConstant) {
  auto elementOf = [](Value operand) {
    Value source = uncast(operand);
    return source == operand ? Type() : getElementTypeOrSelf(source);
  };
  return isWorthInstruction(reduce, target, elementOf, isConstant, Terms::OneAxis);
}

bool schedule::mayMultiplyNarrow(graph::ReduceOp reduce, TargetAttr target, Type narrow,
                                 llvm::function_ref<bool(Value)> isConstant) {
  return isWorthInstruction(reduce, target, [&](Value) { return narrow; }, isConstant, Terms::AllAxes);
}

bool schedule::mayMultiplyBytes(graph::ReduceOp reduce, TargetAttr target, llvm::function_ref<Type(Value)> elementOf,
                                llvm::function_ref<bool(Value)> isConstant) {
  view::Shape shape = shapeOf(reduce.getInput());
  bool areFew = llvm::all_of(reduce.getAxes(), [&](int64_t axis) {
    return shape[axis].isConst() && shape[axis].constant() < target::kFewestTerms;
  });
  return isWorthInstruction(reduce, target, elementOf, isConstant, areFew ? Terms::AllAxes : Terms::OneAxis);
}
