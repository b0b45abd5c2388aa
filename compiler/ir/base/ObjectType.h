//===- ObjectType.h - Elements that are no numbers ---------------------------===//
//
// No kernel computes with a string, but every device can move one: an element is a reference to it, of 64 bits
// (kiln/types.h), which the host makes and reads. So strings are an element type while a model is imported and at a
// program's edges, as narrow dtypes are (NarrowDType.h), and integers between.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "mlir/IR/Dialect.h"
#include "mlir/IR/Types.h"

namespace kiln {

/// !object.string
class StringType : public mlir::Type::TypeBase<StringType, mlir::Type, mlir::TypeStorage> {
public:
  using Base::Base;
  static constexpr llvm::StringLiteral name = "object.string";
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

} // namespace kiln

MLIR_DECLARE_EXPLICIT_TYPE_ID(kiln::StringType)
MLIR_DECLARE_EXPLICIT_TYPE_ID(kiln::ObjectDialect)
