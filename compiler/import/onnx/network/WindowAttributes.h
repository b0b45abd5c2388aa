//===- WindowAttributes.h - kernel_shape, strides, pads, auto_pad -----------===//
#pragma once

#include "import/onnx/Node.h"

namespace kiln::import::onnx {

/// The window that a pooling's or convolution's attributes describe over the spatial axes (all but the first two) of
/// `x`. `kernel` is the kernel's size if something besides an attribute gives it: a convolution's weight. A failure is
/// noted, and nullopt returned, if the attributes do not fit.
std::optional<Window> readWindow(Node &node, mlir::Value x, llvm::ArrayRef<Expr> kernel = {});

} // namespace kiln::import::onnx
