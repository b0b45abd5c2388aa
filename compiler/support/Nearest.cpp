#include "support/Nearest.h"

using namespace kiln;

std::string kiln::didYouMean(llvm::StringRef given, llvm::ArrayRef<llvm::StringRef> names, llvm::StringRef otherwise) {
  // A third of the letters may be wrong, and at least one.
  unsigned distance = (given.size() + 2) / 3 + 1;
  llvm::StringRef best;
  for (llvm::StringRef name : names) {
    // A name in another case is as good as found.
    unsigned edits =
        given.equals_insensitive(name) ? 0 : given.edit_distance(name, /*AllowReplacements=*/true, distance);
    if (edits < distance) {
      distance = edits;
      best = name;
    }
  }
  return best.empty() ? otherwise.str() : "did you mean '" + best.str() + "'?";
}
