#include "Version.h"

#include "tools/kiln/Commit.inc" // made by cmake/Commit.cmake

#include "llvm/ADT/Twine.h"
#include "llvm/Config/llvm-config.h"

using namespace kiln;

llvm::StringRef driver::commit() { return KILN_COMMIT; }

std::string driver::versionLine() {
  std::string known = commit().empty() ? "" : ("commit " + commit() + ", ").str();
  return "kiln " KILN_VERSION " (" + known + "LLVM " LLVM_VERSION_STRING ")";
}
