//===- Device.h - A device's half of the compiler ---------------------------===//
//
// One value: what the device is called, what it is like, and how its kernels become text. Its other half is the
// runtime's kiln_device. docs/adding-a-device.md says how both become part of kiln.
//
//===----------------------------------------------------------------------------===//
#pragma once

#include "ir/uop/UOp.h"
#include "target/Target.h"

#include "llvm/ADT/ArrayRef.h"

#include <functional>
#include <string>

namespace kiln::target {

struct Device {
  std::string name;    ///< what --device says; kiln_device_NAME is its half in the runtime
  std::string summary; ///< what `kiln devices` says of it
  Target target;       ///< without a machine at hand: modest numbers that hold for most. The CPU's where source is null
  /// The text of kernels that the device's runtime compiles: kiln_model.code. Null where kernels are code of the
  /// host's, compiled with the host program.
  std::function<std::string(llvm::ArrayRef<uop::FuncOp>)> source;
};

} // namespace kiln::target
