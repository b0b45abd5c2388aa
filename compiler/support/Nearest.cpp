#include "support/Nearest.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

using namespace kiln;

/// The number of letters that two names share at the front, and how near the characters after these are: v5 is nearer
/// to v4 than to v2.
static std::pair<size_t, int> likeness(llvm::StringRef given, llvm::StringRef name) {
  auto [mine, its] = std::mismatch(given.begin(), given.end(), name.begin(), name.end());
  bool bothGoOn = mine != given.end() && its != name.end();
  return {mine - given.begin(), bothGoOn ? -std::abs(*mine - *its) : 0};
}

std::string kiln::didYouMean(llvm::StringRef given, llvm::ArrayRef<llvm::StringRef> names, llvm::StringRef otherwise,
                             unsigned most) {
  // A third of the letters may be wrong, and at least one.
  unsigned distance = std::min<unsigned>((given.size() + 2) / 3, most) + 1;
  llvm::StringRef best;
  for (llvm::StringRef name : names) {
    // A name in another case is as good as found.
    unsigned edits =
        given.equals_insensitive(name) ? 0 : given.edit_distance(name, /*AllowReplacements=*/true, distance);
    bool isNearer = edits == distance && !best.empty() && likeness(given, name) > likeness(given, best);
    if (edits < distance || isNearer) {
      distance = edits;
      best = name;
    }
  }
  return best.empty() ? otherwise.str() : "did you mean '" + best.str() + "'?";
}
