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
/// Scores [rows, classes], mapped.
mlir::Value transformed(TensorBuilder &b, mlir::Value scores, PostTransform transform);

/// From one score per row, [rows, 1], scores of two classes, mapped: [-s, s], or [1-s, s] for a probability, unless
/// Logistic makes it one only now.
mlir::Value ofTwoClasses(TensorBuilder &b, mlir::Value score, bool isProbability, PostTransform transform);

/// From sums [rows, classes], or [rows, 1] for the second of two classes: each row's label, and its scores, mapped.
/// `isProbability`: a single sum is one.
Tensors classified(TensorBuilder &b, mlir::Value labels, mlir::Value sums, bool isSingle, bool isProbability,
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
