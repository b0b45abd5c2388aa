//===- AxisLetters.h - What becomes of each axis of a kernel ------------------------===//
#pragma once

#include "ir/kernel/Kernel.h"

#include <string>

namespace kiln::kernel {

/// A letter for each size of the domain that is not 1, as kiln_kernel.axes: each is a number in the kernel's name. An
/// axis that opts have split counts as its most telling part.
std::string axisLetters(FuncOp func);

} // namespace kiln::kernel
