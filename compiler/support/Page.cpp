#include "support/Page.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace kiln;
namespace path = llvm::sys::path;

std::string kiln::pagePath(llvm::StringRef name) {
  std::string program = llvm::sys::fs::getMainExecutable(nullptr, reinterpret_cast<void *>(&pagePath));
  llvm::StringRef root = path::parent_path(path::parent_path(program)); // of bin/kiln
  for (llvm::SmallString<128> page : {root, path::parent_path(root)}) {
    if (page == root)
      path::append(page, "share", "doc", "kiln");
    path::append(page, "docs", name);
    if (!llvm::sys::fs::exists(page))
      continue;
    llvm::SmallString<128> working;
    llvm::StringRef shown = page;
    if (!llvm::sys::fs::current_path(working) && shown.consume_front(working) && shown.consume_front("/"))
      return shown.str();
    return page.str().str();
  }
  return ("docs/" + name).str();
}
