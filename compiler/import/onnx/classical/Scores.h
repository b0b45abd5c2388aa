//===- Scores.h - The last steps of a classifier or regressor of ai.onnx.ml --===//
//
// The model of such an operator gives numbers, and all of these operators treat them alike: they may be mapped to
// probabilities (the attribute post_transform), a single score becomes one for each of two classes, and a place among
// the classes becomes the label there, an integer or a string.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "import/onnx/Registry.h"

namespace kiln::import::onnx {

enum class PostTransform { None, Softmax, Logistic, SoftmaxZero, Probit };

/// The node's attribute; a failure is noted if it is not a transform.
PostTransform postTransform(Node &n);
/// Scores [rows, classes], mapped. Of a single one ONNX Runtime maps only Probit.
mlir::Value transformed(TensorBuilder &b, mlir::Value scores, PostTransform transform);

/// From one score per row, [rows, 1], scores of two classes as ONNX Runtime makes them: [-s, s], or [1-s, s] for a
/// probability. Of the transforms only Logistic maps both; Probit maps the first, and ONNX Runtime leaves the other
/// one unwritten, which is s here.
mlir::Value ofTwoClasses(TensorBuilder &b, mlir::Value score, bool isProbability, PostTransform transform);

/// From sums [rows, classes]: each row's label, that of the largest, and its scores, mapped.
Tensors classified(TensorBuilder &b, mlir::Value labels, mlir::Value sums, PostTransform transform);
/// From one sum per row, [rows, 1]: the label, the second of two where the sum is above `threshold`, and two scores.
Tensors classifiedByOne(TensorBuilder &b, mlir::Value labels, mlir::Value sum, double threshold, bool isProbability,
                        PostTransform transform);

/// The labels in the attributes classlabels_strings and `integers`: a list; null if the node has neither.
mlir::Value classLabels(Node &n, TensorBuilder &b, llvm::StringRef integers);

/// A table of more numbers than this is certainly a mistake.
inline constexpr int64_t kMostNumbers = 1 << 26;

/// Numbers of an attribute; empty if it is absent.
std::vector<double> numbersOf(Node &n, llvm::StringRef name);
/// A weight that is this list, in int64.
mlir::Value intTable(TensorBuilder &b, llvm::StringRef name, llvm::ArrayRef<int64_t> numbers);
/// A weight of this shape, in float32 or in `like`'s float dtype.
mlir::Value realTable(TensorBuilder &b, llvm::StringRef name, llvm::ArrayRef<double> numbers,
                      llvm::ArrayRef<int64_t> shape, mlir::Value like = {});
/// The input as [rows, features], integers as float32; null, and a failure noted, if it is something else.
mlir::Value featureRows(Node &n, TensorBuilder &b);

} // namespace kiln::import::onnx
