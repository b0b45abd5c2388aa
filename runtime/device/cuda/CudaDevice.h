//===- CudaDevice.h - The compiler's half of CUDA ----------------------------===//
#pragma once

#include "render/kernel/CLanguage.h"
#include "target/Device.h"

namespace kiln::cuda {

/// CUDA C++ as NVRTC reads it without any header. Sizes come as long long, whatever the type in which a kernel uses
/// them.
extern const render::CLanguage kCudaC;

/// The device "cuda".
target::Device device();

} // namespace kiln::cuda
