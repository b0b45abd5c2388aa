#include "passes/schedule/Cost.h"

using namespace kiln;
using view::Expr;

static constexpr int64_t kTypicalSize = 16;

double schedule::typicalSize(Expr size) {
  if (size.isConst())
    return size.constant();
  llvm::DenseMap<Expr, int64_t> values;
  size.forEachVariable(
      [&](Expr symbol) { values[symbol] = std::clamp<int64_t>(kTypicalSize, symbol.min(), symbol.max()); });
  return size.evaluate(values).value_or(1);
}

double schedule::elementsOf(llvm::ArrayRef<Expr> shape) {
  double elements = 1;
  for (Expr size : shape)
    elements *= typicalSize(size);
  return elements;
}

double schedule::operationsOf(Alu kind) {
  switch (kind) {
  case Alu::CAST:
  case Alu::BITCAST:
    return 0.5;
  case Alu::FDIV:
  case Alu::IDIV:
  case Alu::MOD:
  case Alu::FLOORDIV:
  case Alu::FLOORMOD:
  case Alu::RECIP:
  case Alu::SQRT:
    return 4;
  case Alu::EXP:
  case Alu::EXP2:
  case Alu::LOG:
  case Alu::LOG2:
  case Alu::SIN:
  case Alu::COS:
  case Alu::TANH:
  case Alu::ERF:
  case Alu::POW:
  case Alu::THREEFRY:
    return 20;
  default:
    return 1;
  }
}
