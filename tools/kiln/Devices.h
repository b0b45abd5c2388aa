//===- Devices.h - The devices that kiln compiles for and runs on -------------===//
#pragma once

#include "target/Target.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

namespace kiln::driver {

/// Usage error, with the devices that there are, where none has this name.
llvm::Error checkDevice(llvm::StringRef name);

/// What a device is like; `cpu` is what --mcpu says.
llvm::Expected<target::Target> describeTarget(llvm::StringRef device, llvm::StringRef cpu);

/// `kiln devices`: a line a device, and whether this machine has it.
void listDevices(llvm::raw_ostream &out);

} // namespace kiln::driver
