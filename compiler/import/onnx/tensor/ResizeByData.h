//===- ResizeByData.h - Resize by scales, regions and sizes that are data ----===//
#pragma once

#include "import/Sample.h"
#include "import/onnx/Node.h"

namespace kiln::import::onnx {

/// The places of the result's elements, by the attribute coordinate_transformation_mode.
enum class ResizeMode {
  HalfPixel,
  HalfPixelForNearest,
  HalfPixelSymmetric,
  PytorchHalfPixel,
  AlignCorners,
  Asymmetric,
  Crop
};

/// An axis of the input that changes: by a factor (a float64 scalar), to a size.
struct AxisByData {
  int64_t axis;
  mlir::Value scale;
  Expr count;
};

/// The axes' factors and sizes by an input of scales, one per axis. A run ends if one is not positive and finite.
std::optional<llvm::SmallVector<AxisByData>> axesByScales(Node &n, mlir::Value x, llvm::ArrayRef<int64_t> axes,
                                                          int scalesInput);

/// The same by sizes. If the policy (keep_aspect_ratio_policy) is not stretch, all axes have the smallest or the
/// largest factor.
std::optional<llvm::SmallVector<AxisByData>> axesBySizes(Node &n, mlir::Value x, llvm::ArrayRef<int64_t> axes,
                                                         llvm::ArrayRef<Expr> sizes, llvm::StringRef policy);

/// The input resized along these axes. `region` (floats, all begins and then all ends) is null except for
/// ResizeMode::Crop.
mlir::Value resizeByData(Node &n, mlir::Value x, llvm::ArrayRef<AxisByData> axes, ResizeMode mode,
                         const Resampling &how, mlir::Value region);

} // namespace kiln::import::onnx
