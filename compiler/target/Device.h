//===- Device.h - The devices that a compiler is built with ---------------------===//
//
// A device's compiler half is one value: what the device is called, what it is like, and how its kernels become text.
// No device registers itself: whoever builds a compiler puts the devices that it wants into a Devices table, so one
// that lives outside the tree is added in the same way.
//
//===----------------------------------------------------------------------------===//
#pragma once

#include "ir/uop/UOp.h"
#include "target/Target.h"

#include "llvm/ADT/SmallVector.h"

#include <functional>
#include <string>

namespace kiln::target {

struct Device {
  std::string name; ///< what --device says, and kiln_model.device
  Target target;    ///< without a machine at hand: modest numbers that hold for most
  /// The text of kernels that the device's runtime compiles: kiln_model.code. Null where kernels are code of the
  /// host's, compiled with the host program.
  std::function<std::string(llvm::ArrayRef<uop::FuncOp>)> source;
};

/// Devices by name, in the order in which they were added.
class Devices {
public:
  /// A second device of a name takes the first one's place.
  void add(Device device) {
    for (Device &known : devices_)
      if (known.name == device.name) {
        known = std::move(device);
        return;
      }
    devices_.push_back(std::move(device));
  }
  /// Null where there is none; valid until the next add.
  const Device *find(llvm::StringRef name) const {
    for (const Device &device : devices_)
      if (device.name == name)
        return &device;
    return nullptr;
  }
  llvm::ArrayRef<Device> all() const { return devices_; }

private:
  llvm::SmallVector<Device> devices_;
};

} // namespace kiln::target
