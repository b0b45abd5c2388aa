//===- Scores.h - What a classifier or regressor of ai.onnx.ml ends in -------===//
//
// Its model gives numbers. What becomes of them is common to all of these operators: they may be mapped to
// probabilities (the attribute post_transform), a lone score becomes one for each of two classes, and a place among the
// classes becomes the label there, an integer or a string.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "import/onnx/Node.h"

namespace kiln::import::onnx {

enum class PostTransform { None, Softmax, Logistic, SoftmaxZero, Probit };

/// The node's attribute; a failure is noted where it is not a transform.
PostTransform postTransform(Node &n);
/// Scores [rows, classes], mapped.
mlir::Value transformed(TensorBuilder &b, mlir::Value scores, PostTransform transform);

/// Of one score a row, [rows, 1], scores of two classes, mapped: [-s, s], or [1-s, s] of what is a probability already
/// and does not become one only now, by Logistic.
mlir::Value ofTwoClasses(TensorBuilder &b, mlir::Value score, bool isProbability, PostTransform transform);

/// The labels in the attributes classlabels_strings and `integers`: a list; null where the node has neither.
mlir::Value classLabels(Node &n, TensorBuilder &b, llvm::StringRef integers);

/// Nobody means a table of more numbers than this.
inline constexpr int64_t kMostNumbers = 1 << 26;

/// Numbers of an attribute; empty where it is absent.
std::vector<double> numbersOf(Node &n, llvm::StringRef name);
/// A weight that is this list, in int64.
mlir::Value intTable(TensorBuilder &b, llvm::StringRef name, llvm::ArrayRef<int64_t> numbers);
/// A weight of this shape, in float32 or in `like`'s float dtype.
mlir::Value realTable(TensorBuilder &b, llvm::StringRef name, llvm::ArrayRef<double> numbers,
                      llvm::ArrayRef<int64_t> shape, mlir::Value like = {});
/// The input as [rows, features], integers as float32; null, and a failure noted, where it is something else.
mlir::Value featureRows(Node &n, TensorBuilder &b);

} // namespace kiln::import::onnx
