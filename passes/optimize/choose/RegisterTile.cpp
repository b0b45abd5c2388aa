#include "passes/optimize/choose/RegisterTile.h"

#include "target/Times.h"

#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <limits>

using namespace kiln;
using namespace kiln::optimize;
using namespace kiln::target::times;

RegisterTile optimize::bestTile(int64_t rows, int64_t vectors, int64_t registers, int64_t mostTotals, bool areMasked,
                                llvm::ArrayRef<int64_t> widths, std::optional<int64_t> mostRows) {
  RegisterTile best{1, 1};
  bool isUnknown = rows < 0;
  int64_t most = mostRows.value_or(isUnknown ? kMostUnknownRows : rows);
  rows = isUnknown ? kTypicalRows : rows;
  double least = std::numeric_limits<double>::infinity();
  // LLVM does not make good code for vectors of three registers, and with four it is faster only if masks are fewer.
  static constexpr int64_t kWidths[] = {1, 2, 4};
  widths = widths.empty() ? llvm::ArrayRef(kWidths).take_front(areMasked ? 3 : 2) : widths;
  for (int64_t wide : widths.take_while([&](int64_t width) { return width <= vectors; }))
    for (int64_t tall = 1;
         tall * wide + wide + 1 <= registers && tall * wide <= mostTotals && tall <= std::min(most, rows); ++tall) {
      auto step = [&](int64_t high) {
        return std::max<double>(high * wide, kTotalsInFlight) + kLoadSteps * (high + wide) +
               (areMasked ? kMaskSteps * high : 0);
      };
      int64_t whole = rows / tall;
      double all = step(tall) * double(whole) + (rows % tall ? step(rows % tall) : 0);
      double time = all * double(llvm::divideCeil(vectors, wide));
      if (time < least) {
        least = time;
        best = {tall, wide, time};
      }
    }
  return best;
}

int64_t optimize::bestRows(int64_t size, int64_t most) {
  int64_t best = 1;
  auto cost = [&](int64_t tile) { return llvm::divideCeil(size, tile) * (tile + 1); };
  for (int64_t tile = 2; tile <= std::min(size, most); ++tile)
    if (cost(tile) <= cost(best))
      best = tile;
  return best;
}
