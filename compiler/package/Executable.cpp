#include "package/Executable.h"

#include "package/OutputFile.h"
#include "support/Error.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"

using namespace kiln;
using namespace kiln::package;
namespace fs = llvm::sys::fs;

llvm::Expected<std::string> package::findRuntime(llvm::StringRef executable) {
  llvm::SmallString<128> folder(llvm::sys::path::parent_path(llvm::sys::path::parent_path(executable)));
  llvm::sys::path::append(folder, "lib", "kiln");
  if (!fs::is_directory(folder))
    return failure(folder + ": the runtime's libraries are not there", "build or install kiln as a whole");
  return folder.str().str();
}

/// What a compiler or linker complained of first: the line with "error", else the first line.
static std::string firstComplaint(llvm::StringRef output) {
  llvm::SmallVector<llvm::StringRef> lines;
  output.split(lines, '\n', -1, /*KeepEmpty=*/false);
  for (llvm::StringRef line : lines)
    if (line.contains("error") || line.contains("undefined"))
      return line.trim().str();
  return lines.empty() ? "it gave no reason" : lines.front().trim().str();
}

static llvm::Error run(const std::string &program, llvm::ArrayRef<std::string> arguments, llvm::StringRef output) {
  llvm::Expected<TemporaryFile> complaints = TemporaryFile::beside(output, ".log");
  if (!complaints)
    return complaints.takeError();
  llvm::SmallVector<llvm::StringRef> command = {program};
  llvm::append_range(command, arguments);
  std::string cause;
  int status = llvm::sys::ExecuteAndWait(program, command, /*Env=*/std::nullopt,
                                         /*Redirects=*/{llvm::StringRef(), complaints->path(), complaints->path()},
                                         /*SecondsToWait=*/0, /*MemoryLimit=*/0, &cause);
  if (status == 0)
    return llvm::Error::success();
  if (status < 0)
    return failure(output + ": cannot link: " + program + ": " + cause);
  llvm::ErrorOr<std::unique_ptr<llvm::MemoryBuffer>> text = llvm::MemoryBuffer::getFile(complaints->path());
  return failure(output + ": cannot link: " + (text ? firstComplaint((*text)->getBuffer()) : "it gave no reason"));
}

llvm::Error package::linkExecutable(llvm::ArrayRef<std::string> objects, const LinkOptions &options,
                                    llvm::StringRef output) {
  llvm::ErrorOr<std::string> compiler = llvm::sys::findProgramByName(options.compiler);
  if (!compiler)
    return failure(output + ": cannot link: no C compiler '" + options.compiler + "' is in PATH",
                   "install one, or make an object with --emit obj");
  llvm::Expected<TemporaryFile> program = TemporaryFile::beside(output, "");
  if (!program)
    return program.takeError();
  std::vector<std::string> arguments = {"-o", program->path().str(), "-Wl,--gc-sections", "-Wl,--build-id=none"};
  if (options.isStatic)
    arguments.push_back("-static");
  if (options.strip)
    arguments.push_back("-s");
  llvm::append_range(arguments, objects);
  // The libraries name one another in a circle: the program's start is in one, the devices that it opens in another.
  arguments.push_back("-Wl,--start-group");
  for (std::string library : {std::string("main"), std::string("cli"), std::string("npy"), std::string("runtime"),
                              "devices_" + options.device, "device_" + options.device})
    arguments.push_back(options.runtimeFolder + "/libkiln_" + library + ".a");
  llvm::append_range(arguments, llvm::ArrayRef<std::string>{"-Wl,--end-group", "-pthread", "-lm"});
  if (llvm::Error error = run(*compiler, arguments, output))
    return error;
  return program->moveTo(output);
}
