//===- Scan.h - A graph run on each slice along an axis --------------------===//
#pragma once

#include "import/onnx/Registry.h"

namespace kiln::import::onnx {

/// ONNX's Scan: the states after the last slice, then the slices' results, stacked.
Tensors scan(Node &node, TensorBuilder &builder);

} // namespace kiln::import::onnx
