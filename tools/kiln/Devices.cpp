#include "Devices.h"

#include "support/Error.h"
#include "target/Cpu.h"

#include "kiln/program.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

#include "runtime/device/cpu/cpu.h"

using namespace kiln;

const kiln_device *const *kiln_devices() {
  static const kiln_device *const devices[] = {&kiln_device_cpu, &kiln_device_c, nullptr};
  return devices;
}

llvm::Error driver::checkDevice(llvm::StringRef name) {
  std::string known;
  for (const kiln_device *const *device = kiln_devices(); *device; ++device) {
    if (name == (*device)->name)
      return llvm::Error::success();
    known += (known.empty() ? "" : ", ") + std::string((*device)->name);
  }
  return usageError("--device " + name + ": no such device", "devices are " + known);
}

llvm::Expected<target::Target> driver::describeTarget(llvm::StringRef device, llvm::StringRef cpu) {
  if (device != "cpu")
    return target::Target();
  llvm::Expected<target::Cpu> found = target::describeCpu(cpu);
  if (!found)
    return found.takeError();
  return target::Target{.vectorBits = found->vectorBits,
                        .vectorRegisters = found->vectorRegisters,
                        .l2Bytes = found->l2Bytes,
                        .l3Bytes = found->l3Bytes};
}

void driver::listDevices(llvm::raw_ostream &out) {
  for (const kiln_device *const *device = kiln_devices(); *device; ++device)
    out << (*device)->name << "\n";
}
