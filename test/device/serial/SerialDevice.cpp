//===- SerialDevice.cpp - The compiler's half of the device "serial" -----------===//
#include "target/Device.h"

namespace kiln::serial {

/// Its kernels are code of the host's, so there is no text to render, and nothing to say that the CPU does not say.
target::Device device() {
  return {.name = "serial", .summary = "the chunks of a launch one after another", .target = "", .source = nullptr};
}

} // namespace kiln::serial
