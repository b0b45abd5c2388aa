//===- ObjectType.h - Elements that are not numbers ---------------------------===//
//
// No kernel computes with a string, but every device can move one: an element is a reference to it, of 64 bits
// (kiln/types.h), which the host makes and reads. So strings are an element type while a model is imported and at a
// program's edges, as narrow dtypes are (NarrowDType.h), and integers between. A sequence of tensors, or an optional
// one, is such an element too, of a tensor of rank 0.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "mlir/IR/Dialect.h"
#include "mlir/IR/Types.h"

namespace kiln {

namespace detail {
struct HeldTypeStorage;
} // namespace detail

/// !object.string
class StringType : public mlir::Type::TypeBase<StringType, mlir::Type, mlir::TypeStorage> {
public:
  using Base::Base;
  static constexpr llvm::StringLiteral name = "object.string";
};

/// !object.sequence<T>: T has the common properties of all its tensors. In a shape `?` is a size that differs or is not
/// known; tensor<*xf32> means that ranks differ; a dtype alone, f32, that there was no tensor yet.
class SequenceType : public mlir::Type::TypeBase<SequenceType, mlir::Type, detail::HeldTypeStorage> {
public:
  using Base::Base;
  static constexpr llvm::StringLiteral name = "object.sequence";
  static SequenceType get(mlir::Type held);
  mlir::Type getHeld() const;
};

/// !object.optional<T>, where T is a tensor type, as a sequence has it, or a sequence type.
class OptionalType : public mlir::Type::TypeBase<OptionalType, mlir::Type, detail::HeldTypeStorage> {
public:
  using Base::Base;
  static constexpr llvm::StringLiteral name = "object.optional";
  static OptionalType get(mlir::Type held);
  mlir::Type getHeld() const;
};

/// Has no attributes and no ops. The dialect kiln brings it.
class ObjectDialect : public mlir::Dialect {
public:
  explicit ObjectDialect(mlir::MLIRContext *context);
  static constexpr llvm::StringLiteral getDialectNamespace() { return "object"; }

  mlir::Type parseType(mlir::DialectAsmParser &parser) const override;
  void printType(mlir::Type type, mlir::DialectAsmPrinter &printer) const override;
};

/// Whether elements are references.
bool isObject(mlir::Type element);
/// Whether an element is a sequence or an optional.
bool isContainer(mlir::Type element);
/// The contents of a container's type.
mlir::Type heldBy(mlir::Type container);
/// The common properties of the tensors of a container's type.
mlir::Type heldTensor(mlir::Type container);
/// The common properties of tensors like these two; null if their dtypes differ.
mlir::Type commonTensor(mlir::Type a, mlir::Type b);
/// The type of a sequence or an optional that may be like one of these two; null if there is none.
mlir::Type commonContainer(mlir::Type a, mlir::Type b);

} // namespace kiln

MLIR_DECLARE_EXPLICIT_TYPE_ID(kiln::StringType)
MLIR_DECLARE_EXPLICIT_TYPE_ID(kiln::SequenceType)
MLIR_DECLARE_EXPLICIT_TYPE_ID(kiln::OptionalType)
MLIR_DECLARE_EXPLICIT_TYPE_ID(kiln::ObjectDialect)
