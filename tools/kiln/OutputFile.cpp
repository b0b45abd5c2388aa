#include "OutputFile.h"

#include "support/Error.h"

#include "llvm/Support/FileSystem.h"

using namespace kiln;
namespace fs = llvm::sys::fs;

static llvm::Error cannotWrite(llvm::StringRef path, const llvm::Twine &cause) {
  return failure(path + ": cannot be written: " + cause);
}

/// Ends writing; a stream whose error nobody takes would end the process.
static llvm::Error finish(llvm::StringRef path, llvm::raw_fd_ostream &out, llvm::Error error) {
  out.flush();
  std::error_code failed = out.error();
  out.clear_error();
  if (error || !failed)
    return error;
  return cannotWrite(path, failed.message());
}

llvm::Error driver::writeFile(llvm::StringRef path, llvm::function_ref<llvm::Error(llvm::raw_ostream &)> write) {
  if (path.empty() || path == "-")
    return finish("standard output", llvm::outs(), write(llvm::outs()));

  fs::file_status status;
  if (!fs::status(path, status) && status.type() != fs::file_type::regular_file) {
    std::error_code failed;
    llvm::raw_fd_ostream out(path, failed);
    return failed ? cannotWrite(path, failed.message()) : finish(path, out, write(out));
  }

  llvm::Expected<fs::TempFile> file = fs::TempFile::create(path + ".%%%%%%", fs::all_read | fs::all_write, fs::OF_None);
  if (!file)
    return cannotWrite(path, llvm::toString(file.takeError()));
  llvm::raw_fd_ostream out(file->FD, /*shouldClose=*/false);
  llvm::Error error = finish(path, out, write(out));
  if (!error)
    error = file->keep(path);
  else
    llvm::consumeError(file->discard());
  return error;
}
