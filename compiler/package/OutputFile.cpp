#include "package/OutputFile.h"

#include "support/Error.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Signals.h"

using namespace kiln;
using namespace kiln::package;
namespace fs = llvm::sys::fs;

static llvm::Error cannotWrite(llvm::StringRef path, std::error_code cause) {
  return failure(path + ": cannot be written: " + cause.message(), "name another place");
}

llvm::Expected<TemporaryFile> TemporaryFile::beside(llvm::StringRef output, llvm::StringRef suffix) {
  if (fs::is_directory(output))
    return cannotWrite(output, std::make_error_code(std::errc::is_a_directory));
  llvm::SmallString<128> path;
  int descriptor = -1;
  if (std::error_code error = fs::createUniqueFile(output + ".tmp-%%%%%%%%" + suffix, descriptor, path))
    return cannotWrite(output, error);
  llvm::sys::RemoveFileOnSignal(path);
  llvm::raw_fd_ostream(descriptor, /*shouldClose=*/true).close();
  return TemporaryFile(path);
}

TemporaryFile::~TemporaryFile() {
  if (path_.empty())
    return;
  fs::remove(path_);
  llvm::sys::DontRemoveFileOnSignal(path_);
}

llvm::Error TemporaryFile::fill(llvm::function_ref<llvm::Error(llvm::raw_ostream &)> write) {
  std::error_code error;
  llvm::raw_fd_ostream out(path_, error);
  if (error)
    return cannotWrite(path_, error);
  llvm::Error result = write(out);
  out.close();
  error = out.error();
  out.clear_error();
  if (result)
    return result;
  return error ? cannotWrite(path_, error) : llvm::Error::success();
}

llvm::Error TemporaryFile::moveTo(llvm::StringRef output) {
  if (std::error_code error = fs::rename(path_, output))
    return cannotWrite(output, error);
  llvm::sys::DontRemoveFileOnSignal(path_);
  path_.clear();
  return llvm::Error::success();
}

static llvm::Error writeTo(llvm::raw_fd_ostream &out, llvm::StringRef path,
                           llvm::function_ref<llvm::Error(llvm::raw_ostream &)> write) {
  llvm::Error result = write(out);
  out.flush();
  std::error_code error = out.error();
  out.clear_error();
  if (result)
    return result;
  return error ? cannotWrite(path, error) : llvm::Error::success();
}

llvm::Error package::writeFile(llvm::StringRef path, llvm::function_ref<llvm::Error(llvm::raw_ostream &)> write) {
  if (path == "-")
    return writeTo(llvm::outs(), "standard output", write);
  if (fs::exists(path) && !fs::is_regular_file(path) && !fs::is_directory(path)) {
    std::error_code error;
    llvm::raw_fd_ostream out(path, error);
    return error ? cannotWrite(path, error) : writeTo(out, path, write);
  }
  llvm::Expected<TemporaryFile> file = TemporaryFile::beside(path, "");
  if (!file)
    return file.takeError();
  if (llvm::Error error = file->fill(write))
    return error;
  // A temporary file is its owner's alone; an output has the rights that the user's mask gives.
  unsigned mask = fs::getUmask();
  if (std::error_code error = fs::setPermissions(file->path(), static_cast<fs::perms>(0666 & ~mask)))
    return cannotWrite(path, error);
  return file->moveTo(path);
}
