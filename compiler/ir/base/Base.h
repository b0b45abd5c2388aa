//===- Base.h - Attributes that every stage uses ----------------------------===//
#pragma once

#include "ir/base/Alu.h"
#include "view/ShapeTracker.h"

#include "mlir/IR/Attributes.h"
#include "mlir/IR/BuiltinAttributeInterfaces.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/IR/TensorEncoding.h"

template <> struct mlir::FieldParser<kiln::Alu> {
  static FailureOr<kiln::Alu> parse(AsmParser &parser);
};

namespace kiln {
/// Prints the mnemonic, as FieldParser reads it.
mlir::AsmPrinter &operator<<(mlir::AsmPrinter &printer, Alu kind);
inline llvm::hash_code hash_value(Alu kind) { return llvm::hash_value(static_cast<uint32_t>(kind)); }
} // namespace kiln

#include "ir/base/BaseDialect.h.inc"
#define GET_ATTRDEF_CLASSES
#include "ir/base/BaseAttrs.h.inc"

namespace kiln {

/// How ops write their row of the table: its bare mnemonic.
mlir::ParseResult parseAluRow(mlir::AsmParser &parser, AluKindAttr &row);
void printAluRow(mlir::AsmPrinter &printer, mlir::Operation *op, AluKindAttr row);

/// The sizes of a tensor's dims: constants, and the encoding's expressions for the dynamic ones.
view::Shape shapeOf(mlir::RankedTensorType type);
inline view::Shape shapeOf(mlir::Value tensor) { return shapeOf(llvm::cast<mlir::RankedTensorType>(tensor.getType())); }

/// The tensor type of these sizes; it has an encoding only if a size is not constant.
mlir::RankedTensorType tensorType(llvm::ArrayRef<view::Expr> shape, mlir::Type element);

/// tinygrad's name of a dtype: dtypes.int, dtypes.float, dtypes.bool, dtypes.half …
llvm::StringRef listingName(mlir::Type element);

/// Bytes of one element in memory; bool takes one.
unsigned byteSize(mlir::Type element);

} // namespace kiln
