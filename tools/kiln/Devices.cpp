#include "Devices.h"

#include "InterpDevice.h"
#include "runtime/device/cpu/cpu.h"
#include "support/Error.h"
#include "target/Cpu.h"
#ifdef KILN_HAS_OPENCL
#include "runtime/device/opencl/OpenClDevice.h"
#include "runtime/device/opencl/opencl.h"
#endif

#include "llvm/ADT/StringExtras.h"

using namespace kiln;
using namespace kiln::driver;

/// More than most machines have cores, so that uneven chunks even out.
static constexpr int64_t kMostChunks = 32;

/// The one place that names every device.
static llvm::ArrayRef<DeviceEntry> devices() {
  static const std::vector<DeviceEntry> entries = {
      {.compiler = {"cpu", {}, nullptr}, .runtime = &kiln_device_cpu, .summary = "this machine's CPU, through LLVM"},
      {.compiler = {"c", {.maxChunks = kMostChunks}, nullptr},
       .runtime = &kiln_device_c,
       .summary = "any CPU, through a C compiler",
       .isC = true},
#ifdef KILN_HAS_OPENCL
      {.compiler = opencl::device(), .runtime = &kiln_device_opencl, .summary = "OpenCL, through its own compiler"},
#endif
      {.compiler = {"interp", {}, interpSource},
       .runtime = &kiln_device_interp,
       .summary = "the interpreter of uops, which reports races; for kiln run and kiln verify",
       .isInternal = true},
  };
  return entries;
}

const kiln_device *const *kiln_devices() {
  static const std::vector<const kiln_device *> table = [] {
    std::vector<const kiln_device *> pointers;
    for (const DeviceEntry &entry : devices())
      pointers.push_back(entry.runtime);
    pointers.push_back(nullptr);
    return pointers;
  }();
  return table.data();
}

llvm::Expected<const DeviceEntry *> driver::findDevice(llvm::StringRef name) {
  std::vector<llvm::StringRef> known;
  for (const DeviceEntry &entry : devices()) {
    if (entry.compiler.name == name)
      return &entry;
    known.push_back(entry.compiler.name);
  }
  return usageError("--device " + name + ": no such device", "devices are " + llvm::join(known, ", "));
}

llvm::Expected<target::Target> driver::describeTarget(const DeviceEntry &device, llvm::StringRef cpu) {
  if (device.compiler.name != "cpu")
    return device.compiler.target;
  llvm::Expected<target::Cpu> found = target::describeCpu(cpu);
  if (!found)
    return found.takeError();
  return target::Target{.vectorBits = found->vectorBits,
                        .vectorRegisters = found->vectorRegisters,
                        .l1Bytes = found->l1Bytes,
                        .l2Bytes = found->l2Bytes,
                        .l3Bytes = found->l3Bytes,
                        .maxChunks = kMostChunks};
}

#ifdef KILN_HAS_OPENCL
static void listOpenCl(llvm::raw_ostream &out) {
  char error[256] = "";
  auto print = [](void *user, const char *name) {
    *static_cast<llvm::raw_ostream *>(user) << "          " << name << "\n";
  };
  if (kiln_opencl_list(print, &out, error, sizeof error))
    out << "          not on this machine: " << error << "\n";
}
#endif

void driver::listDevices(llvm::raw_ostream &out) {
  for (const DeviceEntry &entry : devices()) {
    out << llvm::left_justify(entry.compiler.name, 10) << entry.summary << "\n";
    if (entry.runtime == &kiln_device_cpu)
      if (llvm::Expected<target::Cpu> cpu = target::describeCpu(""))
        out << "          " << cpu->name << ", vectors of " << cpu->vectorBits << " bits\n";
#ifdef KILN_HAS_OPENCL
    if (entry.runtime == &kiln_device_opencl)
      listOpenCl(out);
#endif
  }
}
