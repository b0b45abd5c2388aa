#include "ir/base/Products.h"

#include "llvm/ADT/STLExtras.h"

using namespace kiln;

static constexpr ProductRow kRows[] = {
#define KILN_PRODUCT(NAME, CPU, FEATURE, A, B, SUM, M, N, K, LOOP, ADDS, INTRINSIC, STEPS, FAST_STEPS, FAST_WITH)      \
  {NAME, ProductCpu::CPU, FEATURE, DType::A, DType::B, DType::SUM, M, N, K, true, STEPS, FAST_STEPS, FAST_WITH},
#define KILN_PRODUCT_LISTED(NAME, CPU, FEATURE, A, B, SUM, M, N, K)                                                    \
  {NAME, ProductCpu::CPU, FEATURE, DType::A, DType::B, DType::SUM, M, N, K, false},
#include "ir/base/Products.def"
};

llvm::ArrayRef<ProductRow> kiln::productRows() { return kRows; }

std::optional<size_t> kiln::productNumber(llvm::StringRef name) {
  const ProductRow *row = findProductRow(name);
  return row ? std::optional<size_t>(row - kRows) : std::nullopt;
}

const ProductRow *kiln::findProductRow(llvm::StringRef name) {
  const ProductRow *row = llvm::find_if(kRows, [&](const ProductRow &each) { return each.name == name; });
  return row == std::end(kRows) ? nullptr : row;
}
