//===- InterpDevice.h - The interpreter of uops as a device of the runtime ----===//
#pragma once

#include "ir/uop/UOp.h"

#include "kiln/program.h"

#include <string>

namespace kiln::driver {

/// The form of a model's code for the device: the kernels as a module's text.
std::string interpSource(llvm::ArrayRef<uop::FuncOp> kernels);

/// Runs every launch in compiler/interp. A race, or an access outside its memory, fails the launch with its place.
extern const kiln_device kiln_device_interp;

} // namespace kiln::driver
