#include "package/Spawn.h"

#include "package/OutputFile.h"
#include "support/Error.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Program.h"

using namespace kiln;
using namespace kiln::package;

/// What a compiler or linker complained of first: the line with "error", else the first line.
static std::string firstComplaint(llvm::StringRef output) {
  llvm::SmallVector<llvm::StringRef> lines;
  output.split(lines, '\n', -1, /*KeepEmpty=*/false);
  for (llvm::StringRef line : lines)
    if (line.contains("error") || line.contains("undefined"))
      return line.trim().str();
  return lines.empty() ? "it gave no reason" : lines.front().trim().str();
}

llvm::Error package::spawn(const std::string &program, llvm::ArrayRef<std::string> arguments, llvm::StringRef input,
                           llvm::StringRef output, llvm::StringRef doWhat) {
  llvm::Expected<TemporaryFile> complaints = TemporaryFile::beside(output, ".log");
  if (!complaints)
    return complaints.takeError();
  llvm::SmallVector<llvm::StringRef> command = {program};
  llvm::append_range(command, arguments);
  std::string cause;
  // An empty name is /dev/null.
  int status = llvm::sys::ExecuteAndWait(program, command, /*Env=*/std::nullopt,
                                         /*Redirects=*/{input, complaints->path(), complaints->path()},
                                         /*SecondsToWait=*/0, /*MemoryLimit=*/0, &cause);
  if (status == 0)
    return llvm::Error::success();
  if (status < 0)
    return failure(output + ": cannot " + doWhat + ": " + program + ": " + cause);
  llvm::ErrorOr<std::unique_ptr<llvm::MemoryBuffer>> text = llvm::MemoryBuffer::getFile(complaints->path());
  return failure(output + ": cannot " + doWhat + ": " +
                 (text ? firstComplaint((*text)->getBuffer()) : "it gave no reason"));
}

llvm::Error package::spawnCompiler(const std::string &compiler, llvm::ArrayRef<std::string> arguments,
                                   llvm::StringRef input, llvm::StringRef output, llvm::StringRef doWhat) {
  llvm::ErrorOr<std::string> program = llvm::sys::findProgramByName(compiler);
  if (!program)
    return failure(output + ": cannot " + doWhat + ": no C compiler '" + compiler + "' is in PATH",
                   "install one, or make an object for the device cpu with --emit obj");
  return spawn(*program, arguments, input, output, doWhat);
}
