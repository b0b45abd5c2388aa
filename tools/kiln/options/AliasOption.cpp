#include "AliasOption.h"

#include "support/Error.h"

using namespace kiln;

llvm::Error driver::parseAlias(llvm::StringRef text, std::vector<import::AliasOption> &aliases) {
  auto [input, output] = text.split('=');
  import::AliasOption alias{text.str(), input.str(), output.str(), std::nullopt};
  auto [name, capacity] = output.rsplit(':');
  if (int64_t number; !capacity.getAsInteger(10, number)) {
    alias.output = name.str();
    alias.capacity = number;
  }
  if (alias.input.empty() || alias.output.empty())
    return usageError("--alias " + text + ": does not name two tensors", "give INPUT=OUTPUT or INPUT=OUTPUT:CAPACITY");
  aliases.push_back(std::move(alias));
  return llvm::Error::success();
}
