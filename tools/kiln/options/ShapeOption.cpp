#include "ShapeOption.h"

#include "support/Error.h"

using namespace kiln;

llvm::Error driver::parseShape(llvm::StringRef text, llvm::StringMap<std::vector<std::string>> &shapes) {
  auto wrong = [&](const llvm::Twine &cause) {
    return usageError("--shape " + text + ": " + cause,
                      "give INPUT=SIZE,SIZE..., each a number, a name or ? for one that stays open");
  };
  auto [input, list] = text.rsplit('=');
  if (input.empty() || !text.contains('='))
    return wrong("does not have an input and its sizes");
  llvm::SmallVector<llvm::StringRef> sizes;
  if (!list.empty())
    list.split(sizes, ',');
  std::vector<std::string> shape;
  for (llvm::StringRef size : sizes) {
    if (size.trim().empty())
      return wrong("a size is empty");
    shape.push_back(size.trim().str());
  }
  if (!shapes.try_emplace(input, std::move(shape)).second)
    return wrong("'" + input + "' is given twice");
  return llvm::Error::success();
}
