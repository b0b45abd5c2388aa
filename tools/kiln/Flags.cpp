#include "Flags.h"

#include "Devices.h"
#include "model/Render.h"
#include "package/Link.h"
#include "support/Error.h"

#include "llvm/ADT/StringExtras.h"

using namespace kiln;
using namespace kiln::driver;

/// A path as a shell reads it and pkg-config prints it: what is special to a shell has a backslash before it.
static std::string quoted(llvm::StringRef path) {
  std::string text;
  for (char c : path) {
    if (llvm::isASCII(c) && !llvm::isAlnum(c) && !llvm::StringRef("_-./+,:=@%^").contains(c))
      text += '\\';
    text += c;
  }
  return text;
}

llvm::Error driver::printFlags(const FlagsOptions &options, llvm::raw_ostream &out) {
  llvm::Expected<const DeviceEntry *> device = findDevice(options.device);
  if (!device)
    return device.takeError();
  if ((*device)->isInternal)
    return usageError("--device " + options.device + ": only kiln itself runs it", "name another device");
  llvm::Expected<std::string> runtime = package::findRuntime(runningProgram());
  if (!runtime)
    return runtime.takeError();
  const std::string folder = quoted(*runtime);
  bool both = !options.compiling && !options.linking;
  if (options.compiling || both)
    out << "-I" << folder << "/include" << (both ? " " : "\n");
  if (options.linking || both)
    out << folder << "/libkiln_device_" << ((*device)->isC ? "cpu" : options.device) << ".a " << folder
        << "/libkiln_runtime.a -pthread -lm\n";
  return llvm::Error::success();
}
