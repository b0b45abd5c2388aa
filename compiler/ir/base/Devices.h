//===- Devices.h - A module for several devices --------------------------------===//
#pragma once

#include "ir/base/Target.h"

namespace kiln {

/// For a module for several devices: an array of the targets of those after the first, which is `kiln.target`. A
/// device's number is its place among all of them; an op that names none has number 0.
inline constexpr llvm::StringLiteral kDevicesAttr = "kiln.devices";
/// For a kernel: the number of the device that runs it.
inline constexpr llvm::StringLiteral kDeviceAttr = "kiln.device";

/// The targets of all the module's devices, by their numbers: targetOf and maybe more.
llvm::SmallVector<TargetAttr> targetsOf(mlir::ModuleOp module);
int64_t deviceOf(mlir::Operation *kernel);

} // namespace kiln
