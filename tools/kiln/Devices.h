//===- Devices.h - The devices that kiln compiles for and runs on -------------===//
#pragma once

#include "target/Device.h"
#include "target/Target.h"

#include "kiln/program.h"

#include "llvm/Support/Error.h"
#include "llvm/Support/raw_ostream.h"

#include <optional>

namespace kiln::driver {

/// A device as kiln has it: the compiler's half and the runtime's.
struct DeviceEntry {
  target::Device compiler;
  const kiln_device *runtime;
  /// Kernels and host program become one C file, which a C compiler compiles; else LLVM compiles the host program.
  bool isC = false;
  /// Only kiln itself runs this device: no program can be made for it.
  bool isInternal = false;
};

/// The device of this name; a usage error that lists the devices if there is none.
llvm::Expected<const DeviceEntry *> findDevice(llvm::StringRef name);

/// A device's properties if `cpu` is the host's.
TargetAttr describeTarget(const DeviceEntry &device, const target::Cpu &cpu, mlir::MLIRContext *context);

/// All devices, `cpu` first.
llvm::ArrayRef<DeviceEntry> devices();

std::vector<std::string> deviceNames();

/// The most that a core of this machine does in a second, as kiln counts with it.
struct CoreRates {
  double gflops; ///< of sums of products
  double memory; ///< in GB
  target::CacheRates caches;
};

/// This machine's units of a device: names, or why it has none; and the rates of a CPU.
struct Found {
  std::vector<std::string> names;
  std::string problem;
  std::optional<CoreRates> rates = std::nullopt;
};
Found findOn(const DeviceEntry &entry);

/// `kiln devices`: a line per device, with this machine's units of it.
void listDevices(llvm::raw_ostream &out);
/// The same as one JSON document.
void listDevicesJson(llvm::raw_ostream &out);

} // namespace kiln::driver
