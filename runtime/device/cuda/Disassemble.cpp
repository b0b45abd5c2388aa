#include "runtime/device/cuda/Disassemble.h"

#include "support/Error.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"

#include <cstdlib>

using namespace kiln;

std::optional<std::string> cuda::findDisassembler() {
  if (const char *named = getenv("KILN_NVDISASM"))
    return *named ? std::optional<std::string>(named) : std::nullopt;
  if (llvm::StringRef built = KILN_NVDISASM_PROGRAM; llvm::sys::fs::can_execute(built))
    return built.str();
  const llvm::SmallVector<llvm::StringRef> searchPath, toolkit{"/usr/local/cuda/bin"};
  for (const llvm::SmallVector<llvm::StringRef> &folders : {searchPath, toolkit})
    for (llvm::StringRef name : {"nvdisasm", "cuobjdump"})
      if (llvm::ErrorOr<std::string> found = llvm::sys::findProgramByName(name, folders))
        return *found;
  return std::nullopt;
}

/// A temporary file of its own, deleted with `remover`.
static llvm::Error makeFile(llvm::StringRef suffix, llvm::SmallString<128> &path, llvm::FileRemover &remover) {
  if (std::error_code problem = llvm::sys::fs::createTemporaryFile("kiln", suffix, path))
    return failure("cannot make a temporary file: " + problem.message());
  remover.setFile(path);
  return llvm::Error::success();
}

llvm::Expected<std::string> cuda::disassemble(llvm::StringRef disassembler, llvm::StringRef cubin) {
  llvm::SmallString<128> input, output, said;
  llvm::FileRemover removers[3];
  if (llvm::Error error = makeFile("cubin", input, removers[0]))
    return error;
  if (llvm::Error error = makeFile("sass", output, removers[1]))
    return error;
  if (llvm::Error error = makeFile("said", said, removers[2]))
    return error;
  std::error_code problem;
  llvm::raw_fd_ostream file(input, problem);
  file << cubin;
  file.close();
  if (problem || file.has_error())
    return failure(input + ": cannot be written: " + (problem ? problem : file.error()).message());
  // nvdisasm shows only code if told so, cuobjdump sections of every kind.
  bool isObjdump = llvm::sys::path::filename(disassembler).starts_with("cuobjdump");
  llvm::StringRef arguments[] = {disassembler, isObjdump ? "-sass" : "-c", input};
  std::optional<llvm::StringRef> streams[] = {llvm::StringRef(), output.str(), said.str()};
  std::string cause;
  int status = llvm::sys::ExecuteAndWait(disassembler, arguments, std::nullopt, streams, 0, 0, &cause);
  auto read = [](llvm::StringRef path) {
    auto text = llvm::MemoryBuffer::getFile(path, /*IsText=*/true);
    return text ? (*text)->getBuffer().str() : std::string();
  };
  if (!status)
    return read(output);
  if (cause.empty())
    cause = llvm::StringRef(read(said)).ltrim().split('\n').first.str();
  if (cause.empty())
    cause = "ended with status " + std::to_string(status);
  return failure(disassembler + ": " + cause, "let KILN_NVDISASM name the nvdisasm or cuobjdump of a newer CUDA");
}
