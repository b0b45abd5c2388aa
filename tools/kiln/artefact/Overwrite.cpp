#include "Overwrite.h"

#include "support/Error.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

using namespace kiln;
using namespace kiln::driver;
namespace fs = llvm::sys::fs;
namespace path = llvm::sys::path;

/// The file's name in its real folder: one path for all names of a file that does not exist yet.
static std::string placeOf(llvm::StringRef file) {
  llvm::SmallString<256> folder;
  llvm::StringRef parent = path::parent_path(file);
  if (fs::real_path(parent.empty() ? "." : parent, folder))
    return file.str();
  path::append(folder, path::filename(file));
  return folder.str().str();
}

static bool isSame(const std::string &one, const std::string &other) {
  if (one == "-" || other == "-")
    return false;
  fs::file_status first, second;
  bool isFirst = !fs::status(one, first), isSecond = !fs::status(other, second);
  if (!isFirst || !isSecond)
    return isFirst == isSecond && placeOf(one) == placeOf(other);
  return fs::is_regular_file(first) && fs::equivalent(first, second);
}

llvm::Error driver::checkOverwrites(llvm::ArrayRef<NamedFile> inputs, llvm::ArrayRef<NamedFile> outputs) {
  for (auto [index, output] : llvm::enumerate(outputs)) {
    for (const NamedFile &input : inputs)
      if (fs::exists(input.path) && isSame(output.path, input.path))
        return usageError(output.path + ": " + output.what + " would replace " + input.what, "name another file");
    for (const NamedFile &other : outputs.take_front(index))
      if (isSame(output.path, other.path))
        return usageError(output.path + ": " + output.what + " would replace " + other.what, "name two files");
  }
  return llvm::Error::success();
}

llvm::Error driver::checkIsOurs(llvm::StringRef path, llvm::StringRef what) {
  fs::file_status status;
  if (fs::status(path, status) || fs::is_directory(status))
    return llvm::Error::success();
  if (fs::is_regular_file(status)) {
    auto file = llvm::MemoryBuffer::getFile(path);
    if (!file)
      return failure(path + ": " + what +
                         " would replace this file, which cannot be read: " + file.getError().message(),
                     "name another output with -o, or take the file away");
    if ((*file)->getBuffer().split('\n').first.contains(", made by kiln."))
      return llvm::Error::success();
  }
  return failure(path + ": " + what + " would replace this file, which kiln did not make",
                 "name another output with -o, or take the file away");
}

llvm::Error driver::checkIsSameRuntime(llvm::StringRef path, bool isFreestanding) {
  auto file = llvm::MemoryBuffer::getFile(path);
  if (!file || (*file)->getBuffer().split('\n').first.contains("without an operating system") == isFreestanding)
    return llvm::Error::success();
  return failure(path + ": is the runtime of models that were made " + (isFreestanding ? "without" : "with") +
                     " --freestanding, and the runtime of this one would replace it",
                 "name a file in another folder with -o, or take this one away");
}
