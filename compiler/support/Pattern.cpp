#include "support/Pattern.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

using llvm::StringRef;

bool kiln::matchesPattern(StringRef name, StringRef pattern) {
  llvm::SmallVector<StringRef> parts;
  pattern.split(parts, '*');
  if (!name.consume_front(parts.front()))
    return false;
  if (parts.size() == 1)
    return name.empty();
  for (StringRef part : llvm::ArrayRef(parts).drop_front().drop_back()) {
    size_t found = name.find(part);
    if (found == StringRef::npos)
      return false;
    name = name.drop_front(found + part.size());
  }
  return name.ends_with(parts.back());
}
