#include "Summary.h"

#include "Progress.h"
#include "support/Quote.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"

using namespace kiln;
using namespace kiln::driver;

void driver::tellSummary(const Summary &summary) {
  if (summary.files.empty())
    return;
  std::string text, separator;
  int64_t bytes = 0;
  for (const std::string &file : summary.files) {
    uint64_t size = 0;
    if (llvm::sys::fs::file_size(file, size))
      return; // somebody has moved it already
    bytes += int64_t(size);
    text += separator + plainText(file) + ": " + sizeText(double(size));
    separator = ", ";
  }
  text += llvm::formatv(", {0} {1}, {2:F1} s", summary.kernels, summary.kernels == 1 ? "kernel" : "kernels",
                        secondsSinceStart())
              .str();
  std::string why = growthText(summary.growth, bytes, summary.modelBytes);
  tell(text + (why.empty() ? "" : "; " + why));
}
