#include "import/LeastSize.h"

#include "llvm/ADT/SetVector.h"

using namespace kiln;
using view::Expr;

/// Sizes that a padding rounds up need not grow with the symbol, so values are tried one by one, up to this many.
static constexpr int64_t kMostTried = int64_t(1) << 14;

std::optional<import::LeastSize> import::leastFor(Expr size, int64_t wanted) {
  llvm::SetVector<Expr> symbols;
  size.forEachVariable([&](Expr variable) { symbols.insert(variable); });
  if (symbols.size() != 1)
    return std::nullopt;
  Expr symbol = symbols.front();
  auto isEnough = [&](int64_t value) { return size.evaluate({{symbol, value}}).value_or(wanted - 1) >= wanted; };
  int64_t value = symbol.min(), end = value + kMostTried;
  if (isEnough(value))
    return std::nullopt;
  while (value < end && !isEnough(value))
    ++value;
  return value < end ? std::optional(LeastSize{symbol, value}) : std::nullopt;
}
