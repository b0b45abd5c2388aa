#include "import/MemoryLimit.h"

#include "import/DType.h"
#include "ir/base/Base.h"
#include "support/Error.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace kiln;
using llvm::Twine;

llvm::Expected<int64_t> kiln::import::byteCount(llvm::ArrayRef<int64_t> shape, mlir::Type element, int64_t limit) {
  int64_t bytes = byteSize(element);
  bool tooMany = false;
  for (int64_t size : shape)
    tooMany = size < 0 || llvm::MulOverflow(bytes, size, bytes) || tooMany;
  if (llvm::is_contained(shape, 0))
    return 0;
  if (!tooMany && bytes <= limit)
    return bytes;
  std::string sizes = llvm::join(llvm::map_range(shape, [](int64_t size) { return std::to_string(size); }), ", ");
  return failure("a tensor [" + sizes + "] of " + dtypeName(element) + " takes more than the memory limit of " +
                     Twine(limit) + " bytes",
                 "make it smaller, or raise the limit with --memory-limit");
}

llvm::Error kiln::import::checkMemory(llvm::ArrayRef<view::Expr> shape, mlir::Type element, int64_t limit) {
  llvm::SmallVector<int64_t> least;
  for (view::Expr size : shape)
    least.push_back(size.isConst() ? size.constant() : std::max<int64_t>(size.min(), 1));
  return byteCount(least, element, limit).takeError();
}
