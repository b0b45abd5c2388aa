#include "ir/kernel/Product.h"

#include "llvm/ADT/SetVector.h"

using namespace kiln;
using namespace kiln::kernel;
using namespace mlir;

Sources kernel::sourcesOf(Value value) {
  Sources sources;
  llvm::SetVector<Value> work;
  work.insert(value);
  for (size_t i = 0; i < work.size(); ++i) {
    Operation *op = work[i].getDefiningOp();
    if (auto load = dyn_cast<LoadOp>(op))
      sources.loads.push_back(load);
    else if (isa<ReduceOp>(op))
      sources.hasReduce = true;
    else if (isa<StageOp>(op))
      sources.hasStage = true;
    else
      work.insert(op->operand_begin(), op->operand_end());
  }
  return sources;
}

LoadOp kernel::onlyLoadOf(Value value) {
  Sources sources = sourcesOf(value);
  bool isOne = sources.loads.size() == 1 && !sources.hasReduce && !sources.hasStage;
  return isOne ? sources.loads.front() : nullptr;
}

Value kernel::narrowOperand(Value operand) {
  auto cast = operand.getDefiningOp<AluOp>();
  return cast && cast.getKind().getValue() == Alu::CAST ? cast->getOperand(0) : Value();
}

Value kernel::readOperand(Value operand) {
  Value source = narrowOperand(operand);
  return source && isa_and_nonnull<StageOp, LoadOp>(source.getDefiningOp()) ? source : operand;
}

LoadOp Operand::widestLoad() const {
  Sources sources = sourcesOf(value);
  LoadOp widest;
  auto sizeOf = [](LoadOp load) { return load.getTracker().getValue().realSize().max(); };
  for (LoadOp load : sources.loads)
    widest = !widest || sizeOf(load) > sizeOf(widest) ? load : widest;
  return sources.hasReduce ? nullptr : widest;
}

std::optional<Product> kernel::productOf(ReduceOp reduce) {
  auto multiply = reduce.getInput().getDefiningOp<AluOp>();
  bool isSum = reduce.getKind().getValue() == Alu::ADD && !reduce.getScore();
  if (!isSum || !multiply || multiply.getKind().getValue() != Alu::MUL)
    return std::nullopt;
  auto operandOf = [&](unsigned side) {
    Value value = multiply->getOperand(side);
    return Operand{value, narrowOperand(value)};
  };
  return Product{reduce, multiply, {operandOf(0), operandOf(1)}};
}

std::optional<Product> kernel::onlyProductOf(FuncOp func) {
  auto reduces = func.getBody().getOps<ReduceOp>();
  return llvm::hasSingleElement(reduces) ? productOf(*reduces.begin()) : std::nullopt;
}
