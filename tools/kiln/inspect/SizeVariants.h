//===- SizeVariants.h - Kernels that the host program chooses by sizes ----------------------===//
#pragma once

#include "ir/host/Host.h"

#include <string>

namespace kiln::driver {

/// "step of 2 to 8": the sizes for which the host program chooses this launch, if it chooses others for other sizes;
/// else "".
std::string forSizes(host::LaunchOp launch);

/// Of the launches that the host program chooses `launch` from, the one that says which tensors it computes; null if
/// none does.
host::LaunchOp mainVariant(host::LaunchOp launch);

} // namespace kiln::driver
