//===- RotaryEmbedding.h - Heads turned by the angles of their positions -------===//
#pragma once

#include "import/TensorBuilder.h"

namespace kiln::import::onnx {

/// x [batch, heads, rows, size] turned by the angles of its rows' positions [batch, rows] or [rows]; the tables are
/// [positions, turned/2], and the rest of the size stays. Null after a failure.
mlir::Value rotateAt(TensorBuilder &b, mlir::Value x, mlir::Value positions, mlir::Value cosines, mlir::Value sines,
                     bool interleaved);

} // namespace kiln::import::onnx
