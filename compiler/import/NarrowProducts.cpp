#include "import/NarrowProducts.h"

#include "ir/graph/Movement.h"

#include "mlir/IR/TypeUtilities.h"

using namespace kiln;
using namespace mlir;
using view::ShapeTracker;

namespace {

/// An operand of a multiplication: a tensor, moved.
struct Operand {
  Value base;
  SmallVector<Operation *> movement; ///< from the tensor on
  ShapeTracker tracker;              ///< of the operand, over the tensor
};

class Narrower {
public:
  Narrower(ModuleOp module, Type dtype) : module_(module), dtype_(dtype) {}
  void run();

private:
  void narrow(graph::ReduceOp reduce);
  /// Whether a tensor is made of weights alone.
  bool isConstant(Value tensor);
  /// The operand, its tensor rounded.
  Value rounded(OpBuilder &builder, const Operand &operand);

  mutable ModuleOp module_;
  Type dtype_;
  llvm::DenseMap<Value, Value> narrow_; ///< tensors, rounded
  llvm::DenseMap<Operation *, bool> constant_;
};

} // namespace

static Operand operandOf(Value value) {
  Operand operand{value, {}, ShapeTracker::contiguous(shapeOf(value))};
  while (Operation *op = operand.base.getDefiningOp()) {
    if (op->getNumOperands() != 1 || !graph::movedBy(op, ShapeTracker::contiguous(shapeOf(op->getOperand(0)))))
      break;
    operand.movement.insert(operand.movement.begin(), op);
    operand.base = op->getOperand(0);
  }
  ShapeTracker tracker = ShapeTracker::contiguous(shapeOf(operand.base));
  for (Operation *op : operand.movement)
    tracker = *graph::movedBy(op, tracker);
  operand.tracker = tracker.simplify();
  return operand;
}

/// The axes of a product that an operand moves along.
static llvm::SmallBitVector movesOf(const Operand &operand) {
  llvm::SmallBitVector moves(operand.tracker.shape().size());
  for (auto [axis, stride] : llvm::enumerate(operand.tracker.realStrides(/*ignoreValid=*/true)))
    moves[axis] = (!stride || !stride->isConst(0)) && !operand.tracker.shape()[axis].isConst(1);
  return moves;
}

bool Narrower::isConstant(Value tensor) {
  Operation *op = tensor.getDefiningOp();
  if (!isa_and_nonnull<graph::WeightOp, graph::ConstOp, graph::IotaOp, graph::AluOp, graph::ReduceOp, graph::ReshapeOp,
                       graph::ExpandOp, graph::PermuteOp, graph::FlipOp, graph::PadOp, graph::ShrinkOp>(op))
    return false;
  if (auto known = constant_.find(op); known != constant_.end())
    return known->second;
  bool isMade = llvm::all_of(op->getOperands(), [&](Value operand) { return isConstant(operand); });
  return constant_[op] = isMade;
}

Value Narrower::rounded(OpBuilder &builder, const Operand &operand) {
  Value &narrow = narrow_[operand.base];
  Location loc = operand.base.getLoc();
  if (!narrow) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointAfterValue(operand.base);
    narrow = graph::AluOp::create(builder, loc, Alu::CAST, operand.base, dtype_);
  }
  // It is widened where it is multiplied, so that a loop reads data from outside in its stored form.
  bool isAlone = llvm::all_of(operand.movement, [](Operation *op) { return op->hasOneUse(); });
  OpBuilder::InsertionGuard guard(builder);
  if (isAlone && !operand.movement.empty())
    builder.setInsertionPoint(operand.movement.front());
  Value value = graph::AluOp::create(builder, loc, Alu::CAST, narrow, getElementTypeOrSelf(operand.base));
  for (Operation *op : operand.movement) {
    Operation *moved = isAlone ? op : builder.clone(*op);
    moved->setOperand(0, value);
    value = moved->getResult(0);
  }
  return value;
}

void Narrower::narrow(graph::ReduceOp reduce) {
  auto product = reduce.getInput().getDefiningOp<graph::AluOp>();
  bool isSum = reduce.getKind().getValue() == Alu::ADD && !reduce.getScore();
  if (!isSum || !product || product.getKind().getValue() != Alu::MUL || !getElementTypeOrSelf(product).isF32())
    return;
  Operand operands[] = {operandOf(product->getOperand(0)), operandOf(product->getOperand(1))};
  llvm::SmallBitVector moves[] = {movesOf(operands[0]), movesOf(operands[1])};
  for (int64_t axis : reduce.getAxes()) {
    // Summed up along an axis that only one of them has: the other scales a sum.
    bool scales = moves[0].test(axis) != moves[1].test(axis);
    if (scales)
      return;
    moves[0].reset(axis);
    moves[1].reset(axis);
  }
  bool isShared = moves[0].test(moves[1]) && moves[1].test(moves[0]);
  auto isMatrix = [&](unsigned side) {
    return isConstant(operands[side].base) && !moves[!side].test(moves[side]) && moves[side].test(moves[!side]);
  };
  if (!isShared && !isMatrix(0) && !isMatrix(1))
    return;
  OpBuilder builder(product);
  SmallVector<Value> factors{rounded(builder, operands[0]), rounded(builder, operands[1])};
  if (product->hasOneUse())
    return product->setOperands(factors);
  reduce.getInputMutable().assign(graph::AluOp::create(builder, product.getLoc(), Alu::MUL, factors));
}

void Narrower::run() {
  SmallVector<graph::ReduceOp> reduces;
  module_.walk([&](graph::ReduceOp reduce) { reduces.push_back(reduce); });
  for (graph::ReduceOp reduce : reduces)
    narrow(reduce);
}

void import::narrowProducts(ModuleOp module, Type dtype) { Narrower(module, dtype).run(); }
