#include "Flags.h"

#include "Devices.h"
#include "model/Render.h"
#include "package/Link.h"
#include "support/Error.h"
#include "support/Quote.h"

using namespace kiln;
using namespace kiln::driver;

llvm::Error driver::printFlags(const FlagsOptions &options, llvm::raw_ostream &out) {
  llvm::Expected<const DeviceEntry *> device = findDevice(options.device);
  if (!device)
    return device.takeError();
  if ((*device)->isInternal)
    return usageError("--device " + options.device + ": only kiln itself runs it", "name another device");
  llvm::Expected<std::string> runtime = package::findRuntime(runningProgram());
  if (!runtime)
    return runtime.takeError();
  const std::string folder = shellWord(*runtime);
  bool both = !options.compiling && !options.linking;
  if (options.compiling || both)
    out << "-I" << folder << "/include" << (both ? " " : "\n");
  if (options.linking || both)
    out << folder << "/libkiln_device_" << ((*device)->isC ? "cpu" : options.device) << ".a " << folder
        << "/libkiln_runtime.a -pthread -lm\n";
  return llvm::Error::success();
}
