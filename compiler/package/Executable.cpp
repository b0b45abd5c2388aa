#include "package/Executable.h"

#include "package/Spawn.h"
#include "support/Error.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

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

llvm::Error package::linkExecutable(llvm::ArrayRef<std::string> objects, const LinkOptions &options,
                                    const StagedFile &program) {
  std::vector<std::string> arguments = {"-o", "output", "-Wl,--gc-sections", "-Wl,--build-id=none"};
  if (options.isStatic)
    arguments.push_back("-static");
  if (options.strip)
    arguments.push_back("-s");
  llvm::append_range(arguments, objects);
  for (std::string library : {std::string("main"), std::string("cli"), std::string("npy"), "device_" + options.device,
                              std::string("runtime")})
    arguments.push_back(options.runtimeFolder + "/libkiln_" + library + ".a");
  llvm::append_range(arguments, llvm::ArrayRef<std::string>{"-pthread", "-lm"});
  return spawnCompiler(options.compiler, arguments, {.file = program, .doWhat = "link"});
}
