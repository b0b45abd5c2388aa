#include "support/Page.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace kiln;
namespace path = llvm::sys::path;

std::string kiln::pagePath(llvm::StringRef name) {
  std::string program = llvm::sys::fs::getMainExecutable(nullptr, reinterpret_cast<void *>(&pagePath));
  llvm::StringRef root = path::parent_path(path::parent_path(program)); // of bin/kiln
  llvm::SmallString<128> page = root;
  path::append(page, "share/doc/kiln/docs", name);
  return llvm::sys::fs::exists(page) ? page.str().str() : ("docs/" + name).str();
}
