//===- OpenClDevice.h - The compiler's half of OpenCL ----------------------------===//
#pragma once

#include "render/kernel/CLanguage.h"
#include "target/Device.h"

namespace kiln::opencl {

/// OpenCL C 1.2. Sizes come as long, whatever the type in which a kernel uses them; doubles need cl_khr_fp64.
extern const render::CLanguage kOpenClC;

/// The device "opencl".
target::Device device();

} // namespace kiln::opencl
