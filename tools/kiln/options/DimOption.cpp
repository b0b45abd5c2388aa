#include "DimOption.h"

#include "support/Error.h"

#include <algorithm>

using namespace kiln;

llvm::Error driver::parseDim(llvm::StringRef text, llvm::StringMap<import::SymbolBounds> &dims) {
  auto wrong = [&](const llvm::Twine &cause) {
    return usageError("--dim " + text + ": " + cause, "give NAME=VALUE or NAME=LO..HI,default=V");
  };
  auto [name, value] = text.split('=');
  if (name.empty() || value.empty())
    return wrong("does not have a name and a value");

  import::SymbolBounds bounds;
  auto [range, rest] = value.split(',');
  auto [least, most] = range.split("..");
  bool isRange = range.contains("..");
  if (least.getAsInteger(10, bounds.min) || (isRange && most.getAsInteger(10, bounds.max)))
    return wrong("'" + range + "' is not a size");
  if (!isRange)
    bounds.max = bounds.min;
  bounds.value = std::clamp(bounds.value, bounds.min, std::max(bounds.min, bounds.max));
  if (!rest.empty() && (!rest.consume_front("default=") || rest.getAsInteger(10, bounds.value)))
    return wrong("'" + rest + "' is not a default");
  if (bounds.min > bounds.max)
    return wrong("the least size is above the largest");
  if (bounds.min < 0 || bounds.max > import::SymbolBounds().max)
    return wrong("sizes lie between 0 and " + llvm::Twine(import::SymbolBounds().max));
  if (bounds.value < bounds.min || bounds.value > bounds.max)
    return wrong("the default lies outside the bounds");
  if (!dims.try_emplace(name, bounds).second)
    return wrong("'" + name + "' is given twice");
  return llvm::Error::success();
}
