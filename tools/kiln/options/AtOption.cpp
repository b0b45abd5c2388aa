#include "AtOption.h"

#include "support/Error.h"

#include "llvm/ADT/StringExtras.h"

using namespace kiln;
using namespace kiln::driver;

llvm::Expected<Sizes> driver::parseSizes(llvm::StringRef text) {
  Sizes sizes;
  for (llvm::StringRef part : llvm::split(text, ',')) {
    auto [name, value] = part.rsplit('=');
    int64_t size;
    if (name.empty() || value.getAsInteger(10, size) || size < 0)
      return usageError("--at " + text + ": '" + part + "' is not a name and a size", "give NAME=SIZE,NAME=SIZE");
    if (!sizes.try_emplace(name, size).second)
      return usageError("--at " + text + ": '" + name + "' is given twice", "give it once, or --at for each");
  }
  return sizes;
}
