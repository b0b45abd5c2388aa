#include "support/Page.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace kiln;
namespace path = llvm::sys::path;

std::string kiln::pagePath(llvm::StringRef name) {
  std::string program = llvm::sys::fs::getMainExecutable(nullptr, reinterpret_cast<void *>(&pagePath));
  llvm::StringRef root = path::parent_path(path::parent_path(program)); // of bin/kiln
  llvm::SmallString<128> installed = root;
  path::append(installed, "share/doc/kiln/docs", name);
  llvm::SmallString<128> source = path::parent_path(root); // of build/bin/kiln
  path::append(source, "docs", name);
  std::string here = ("docs/" + name).str();
  for (llvm::StringRef page : {llvm::StringRef(installed), llvm::StringRef(source)})
    if (llvm::sys::fs::exists(page))
      return llvm::sys::fs::equivalent(page, here) ? here : page.str();
  return here;
}
