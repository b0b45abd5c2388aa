//===- Devices.h - The devices that kiln compiles for and runs on -------------===//
#pragma once

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

namespace kiln::driver {

/// Usage error, with the devices that there are, where none has this name.
llvm::Error checkDevice(llvm::StringRef name);

/// `kiln devices`: a line a device, and whether this machine has it.
void listDevices(llvm::raw_ostream &out);

} // namespace kiln::driver
