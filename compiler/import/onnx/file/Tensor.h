//===- Tensor.h - The value of a name in an ONNX graph ----------------------===//
//
// Exporters compute shapes with tensors: Shape, Gather, Mul, Concat, Reshape. Such values are carried here as
// expressions over the model's symbols, in addition to an op or instead of one, so that Reshape gets batch*seq and not
// a number read at run time.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "import/Quantize.h"
#include "ir/base/Base.h"

#include <memory>
#include <optional>
#include <vector>

namespace kiln::import::onnx {

/// Row-major elements of an integer or bool tensor, as expressions.
using Elements = llvm::SmallVector<view::Expr, 4>;

/// More elements than this are not carried.
inline constexpr int64_t kMostElements = 1024;

struct Tensor {
  Tensor() = default;
  Tensor(mlir::Value made)
      : type(made ? llvm::cast<mlir::RankedTensorType>(made.getType()) : mlir::RankedTensorType()), value(made) {}
  template <typename Op>
    requires std::is_base_of_v<mlir::OpState, Op>
  Tensor(Op op) : Tensor(op->getResult(0)) {}
  /// A constant: dense elements or a #graph.file. `name` is what the weight will be called.
  Tensor(mlir::RankedTensorType type, mlir::Attribute data, llvm::StringRef name);
  /// A tensor known by its elements, which must be as many as `shape` says.
  Tensor(mlir::Type element, llvm::ArrayRef<int64_t> shape, Elements elements)
      : type(mlir::RankedTensorType::get(shape, element)), elements(std::move(elements)) {}

  /// A sequence or an optional is a scalar (ir/base/ObjectType.h).
  mlir::RankedTensorType type;
  /// Null until something reads the tensor as data.
  mlir::Value value;
  std::optional<Elements> elements;
  mlir::Attribute data;
  std::string name;
  /// The contents of a sequence or an optional, if they are known at import. Null otherwise.
  std::shared_ptr<const std::vector<Tensor>> items;
  /// The source of a dequantised tensor. Null otherwise.
  std::shared_ptr<const Quantized> quantized;

  /// The elements to compute with. Null if they are not known, or if a constant is so near the ends of 64 bits that an
  /// expression of it may not be exact.
  const Elements *exactElements() const;

  explicit operator bool() const { return bool(type); }
  mlir::Type element() const { return type.getElementType(); }
  view::Shape shape() const { return shapeOf(type); }
};

} // namespace kiln::import::onnx
