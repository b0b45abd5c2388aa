#include "passes/schedule/Cost.h"

#include "ir/base/AluTraits.h"

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

double schedule::operationsOf(Alu kind) { return aluTraits(kind).steps; }
