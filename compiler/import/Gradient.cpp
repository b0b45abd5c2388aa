//===- Gradient.cpp - The rule of each primitive -----------------------------===//
// Derivatives go backwards through the graph of primitives, which need few rules (an expand's is a sum, a pad's a
// shrink, a product's two products); those of all operators follow. Ops are visited after all readers of their results,
// so that an op's derivative is complete when its turn comes. If a maximum is reached twice the parts share it; an op
// without a derivative is refused by name.
//===----------------------------------------------------------------------------===//

#include "import/Gradient.h"

#include "view/Repeat.h"

#include "import/DType.h"
#include "import/Scatter.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

#include <numbers>

using namespace kiln;
using namespace kiln::import;
using mlir::Value;

namespace {
/// Goes back from y: when an op's turn comes, all readers of its result have added their parts of the derivative.
class Backward {
public:
  Backward(TensorBuilder &b, llvm::ArrayRef<Value> xs) : b_(b), xs_(xs.begin(), xs.end()) {}

  void run(Value y);
  /// The derivative of the sum of y's elements by this value.
  Value derivative(Value x) {
    Value found = derivatives_.lookup(x);
    return found ? found : b_.constantLike(x, 0);
  }

private:
  bool depends(Value value);
  bool dependsOnXs(Value value);
  void give(Value operand, Value change);
  void visit(mlir::Operation *op, Value d);
  void visitAlu(graph::AluOp op, Value d);
  void visitReduce(graph::ReduceOp op, Value d);
  void visitGather(graph::GatherOp op, Value d);
  void refuse(mlir::Operation *op);
  /// What comes back of an axis that was expanded from `size`.
  Value collapse(Value d, int64_t axis, Expr size);

  TensorBuilder &b_;
  llvm::SmallDenseSet<Value> xs_;
  llvm::DenseMap<Value, bool> depends_;
  llvm::DenseMap<Value, Value> derivatives_;
};
} // namespace

/// The ops before this one that it depends on, itself last, each after its sources.
static llvm::SetVector<mlir::Operation *> inOrder(Value y) {
  llvm::SetVector<mlir::Operation *> done;
  llvm::SmallVector<std::pair<mlir::Operation *, unsigned>> open;
  auto enter = [&](Value value) {
    mlir::Operation *op = value.getDefiningOp();
    if (op && !done.contains(op))
      open.push_back({op, 0});
  };
  enter(y);
  while (!open.empty()) {
    auto &[op, next] = open.back();
    if (next < op->getNumOperands()) {
      enter(op->getOperand(next++));
    } else {
      done.insert(op);
      open.pop_back();
    }
  }
  return done;
}

void Backward::run(Value y) {
  llvm::SmallVector<mlir::Operation *> ops = inOrder(y).takeVector();
  for (mlir::Operation *op : ops) {
    // A region may read anything.
    bool any =
        op->getNumRegions() > 0 || llvm::any_of(op->getOperands(), [&](Value operand) { return depends(operand); });
    for (Value result : op->getResults())
      depends_[result] = any;
  }
  derivatives_[y] = b_.constantLike(y, 1);
  for (mlir::Operation *op : llvm::reverse(ops))
    for (Value result : op->getResults())
      if (Value d = derivatives_.lookup(result); d && depends_.lookup(result) && !xs_.contains(result) && b_.ok())
        visit(op, d);
}

bool Backward::depends(Value value) { return depends_.lookup(value) || xs_.contains(value); }
bool Backward::dependsOnXs(Value value) { return depends(value) && b_.isFloat(value); }

void Backward::give(Value operand, Value change) {
  if (!dependsOnXs(operand) || !change)
    return;
  Value &sum = derivatives_[operand];
  sum = sum ? b_.add(sum, change) : change;
}

void Backward::refuse(mlir::Operation *op) {
  std::string name = op->getName().stripDialect().str();
  if (auto alu = llvm::dyn_cast<graph::AluOp>(op))
    name = aluInfo(alu.getKind().getValue()).name.lower();
  if (auto reduce = llvm::dyn_cast<graph::ReduceOp>(op))
    name += " " + aluInfo(reduce.getKind().getValue()).name.lower();
  b_.fail("no derivative is known of '" + name + "'", "take the gradient of what does not depend on it");
}

Value Backward::collapse(Value d, int64_t axis, Expr size) {
  Expr repeated = b_.dim(d, axis);
  Expr step = *view::repeatStep(size, repeated);
  if (step.isConst(1))
    return d;
  Value total = b_.sum(d, {axis}, /*keepDims=*/true);
  if (step.isConst(0))
    return total;
  // Only the run knows whether the axis was repeated: then the total is all of it, else its elements are as they are.
  Shape shape = b_.shape(d), none(shape.size(), Expr(0)), rest = none;
  shape[axis] = size;
  Expr kept = view::minimum(size, repeated);
  rest[axis] = size - kept;
  Value own = b_.pad(b_.narrow(d, axis, 0, kept), none, rest);
  return b_.where(b_.cast(b_.size(step), b_.boolType()), own, b_.expand(total, shape));
}

void Backward::visit(mlir::Operation *op, Value d) {
  auto shapeOfOperand = [&] { return b_.shape(op->getOperand(0)); };
  llvm::TypeSwitch<mlir::Operation *>(op)
      .Case([&](graph::AluOp alu) { visitAlu(alu, d); })
      .Case([&](graph::ReduceOp reduce) { visitReduce(reduce, d); })
      .Case([&](graph::GatherOp gather) { visitGather(gather, d); })
      .Case([&](graph::ReshapeOp reshape) { give(reshape.getInput(), b_.reshape(d, shapeOfOperand())); })
      .Case([&](graph::PermuteOp permute) {
        llvm::SmallVector<int64_t> back(permute.getOrder().size());
        for (auto [to, from] : llvm::enumerate(permute.getOrder()))
          back[from] = int64_t(to);
        give(permute.getInput(), b_.permute(d, back));
      })
      .Case([&](graph::ExpandOp expand) {
        for (auto [axis, size] : llvm::enumerate(shapeOfOperand()))
          d = collapse(d, int64_t(axis), size);
        give(expand.getInput(), d);
      })
      .Case([&](graph::PadOp pad) {
        Shape begin(pad.getLow().getSizes()), end = shapeOfOperand();
        for (auto [last, first] : llvm::zip(end, begin))
          last = last + first;
        give(pad.getInput(), b_.shrink(d, begin, end));
      })
      .Case([&](graph::ShrinkOp shrink) {
        Shape low(shrink.getBegin().getSizes()), high = shapeOfOperand();
        for (auto [rest, end] : llvm::zip(high, shrink.getEnd().getSizes()))
          rest = rest - end;
        give(shrink.getInput(), b_.pad(d, low, high));
      })
      .Case([&](graph::FlipOp flip) { give(flip.getInput(), b_.flip(d, flip.getAxes())); })
      .Case([&](graph::ContiguousOp copy) { give(copy.getInput(), d); })
      .Default([&](mlir::Operation *other) { refuse(other); });
}

void Backward::visitAlu(graph::AluOp op, Value d) {
  Value x = op.getOperands()[0], r = op.getResult();
  Value y = op.getOperands().size() > 1 ? op.getOperands()[1] : Value();
  // The derivative for the operand that a choice took; half if both are equal.
  auto chosen = [&](Value less, Value equal) { return b_.where(equal, b_.mul(d, 0.5), b_.where(less, d, 0.0)); };
  switch (op.getKind().getValue()) {
  case Alu::NEG:
    return give(x, b_.neg(d));
  case Alu::RECIP:
    return give(x, b_.neg(b_.mul(d, b_.square(r))));
  case Alu::SQRT:
    return give(x, b_.div(b_.mul(d, 0.5), r));
  case Alu::EXP:
    return give(x, b_.mul(d, r));
  case Alu::EXP2:
    return give(x, b_.mul(b_.mul(d, r), std::numbers::ln2));
  case Alu::LOG:
    return give(x, b_.div(d, x));
  case Alu::LOG2:
    return give(x, b_.div(b_.mul(d, std::numbers::log2e), x));
  case Alu::SIN:
    return give(x, b_.mul(d, b_.cos(x)));
  case Alu::COS:
    return give(x, b_.neg(b_.mul(d, b_.sin(x))));
  case Alu::TANH:
    return give(x, b_.mul(d, b_.sub(1, b_.square(r))));
  case Alu::ERF:
    return give(x, b_.mul(b_.mul(d, 2 * std::numbers::inv_sqrtpi), b_.exp(b_.neg(b_.square(x)))));
  case Alu::FLOOR:
  case Alu::CEIL:
  case Alu::ROUND:
  case Alu::TRUNC:
  case Alu::CMPLT:
  case Alu::CMPNE:
  case Alu::CMPEQ:
    return; // flat except at the jumps
  case Alu::CAST:
    return b_.isFloat(x) ? give(x, b_.cast(d, b_.element(x))) : void();
  case Alu::ADD:
    give(x, d);
    return give(y, d);
  case Alu::MUL:
    give(x, dependsOnXs(x) ? b_.mul(d, y) : Value());
    return give(y, dependsOnXs(y) ? b_.mul(d, x) : Value());
  case Alu::FDIV:
    give(x, dependsOnXs(x) ? b_.div(d, y) : Value());
    return give(y, dependsOnXs(y) ? b_.neg(b_.div(b_.mul(d, r), y)) : Value());
  case Alu::MOD: // x - y·trunc(x/y)
    give(x, d);
    return give(y, dependsOnXs(y) ? b_.neg(b_.mul(d, b_.trunc(b_.div(x, y)))) : Value());
  case Alu::POW:
    give(x, dependsOnXs(x) ? b_.mul(d, b_.mul(y, b_.pow(x, b_.sub(y, 1)))) : Value());
    return give(y, dependsOnXs(y) ? b_.where(b_.greater(x, 0), b_.mul(d, b_.mul(r, b_.log(x))), 0.0) : Value());
  case Alu::MAX:
    give(x, dependsOnXs(x) ? chosen(b_.less(y, x), b_.equal(x, y)) : Value());
    return give(y, dependsOnXs(y) ? chosen(b_.less(x, y), b_.equal(x, y)) : Value());
  case Alu::MIN:
    give(x, dependsOnXs(x) ? chosen(b_.less(x, y), b_.equal(x, y)) : Value());
    return give(y, dependsOnXs(y) ? chosen(b_.less(y, x), b_.equal(x, y)) : Value());
  case Alu::WHERE:
    give(y, dependsOnXs(y) ? b_.where(x, d, 0.0) : Value());
    return give(op.getOperands()[2], b_.where(x, 0.0, d));
  default:
    return refuse(op);
  }
}

void Backward::visitReduce(graph::ReduceOp op, Value d) {
  Value x = op.getInput();
  Shape sizes = b_.shape(x);
  if (op.getScore() || op.getKind().getValue() == Alu::MUL)
    return refuse(op);
  if (op.getKind().getValue() == Alu::ADD)
    return give(x, b_.expand(d, sizes));
  // Elements that are equally large share the derivative.
  Value isOne = b_.cast(b_.equal(x, b_.expand(op.getResult(), sizes)), b_.element(x));
  Value share = b_.div(d, b_.sum(isOne, op.getAxes(), /*keepDims=*/true));
  give(x, b_.mul(isOne, b_.expand(share, sizes)));
}

/// The updates of one row are added in order; an index out of range ends the run.
void Backward::visitGather(graph::GatherOp op, Value d) {
  Value x = op.getInput(), indices = op.getIndices();
  if (!dependsOnXs(x))
    return;
  int64_t axis = int64_t(op.getAxis()), rank = b_.rank(x), count = b_.rank(indices);
  llvm::SmallVector<int64_t> indicesFirst, axisFirst{axis}, back(rank);
  for (int64_t i = 0; i < count; ++i)
    indicesFirst.push_back(axis + i);
  for (int64_t i = 0; i < rank; ++i)
    if (i != axis) {
      axisFirst.push_back(i);
      indicesFirst.push_back(i < axis ? i : i + count - 1);
    }
  for (auto [to, from] : llvm::enumerate(axisFirst))
    back[from] = int64_t(to);
  Value index = b_.cast(indices, b_.int64());
  Value places = b_.where(b_.less(index, 0), b_.add(index, b_.size(b_.dim(x, axis))), index);
  Value zeros = b_.constantLike(b_.permute(x, axisFirst), 0);
  give(x, b_.permute(scatter(b_, zeros, places, b_.permute(d, indicesFirst), Combine::Add), back));
}

llvm::SmallVector<Value> kiln::import::gradients(TensorBuilder &b, Value y, llvm::ArrayRef<Value> xs) {
  if (!y || llvm::is_contained(xs, Value()))
    return llvm::SmallVector<Value>(xs.size());
  for (Value value : llvm::concat<const Value>(llvm::ArrayRef(y), xs))
    if (!b.isFloat(value))
      return b.fail("a derivative of or by " + dtypeName(b.element(value)), "both are floats"),
             llvm::SmallVector<Value>(xs.size());
  Backward backward(b, xs);
  backward.run(y);
  return llvm::map_to_vector(xs, [&](Value x) { return b.ok() ? backward.derivative(x) : Value(); });
}
