//===- FunctionText.h - Functions of kiln's dialects, read and written -----------===//
#pragma once

#include "mlir/Interfaces/FunctionImplementation.h"

namespace kiln {

/// Reads an op that is a function, as func.func is written, without variadic arguments.
template <typename FuncOp> mlir::ParseResult parseFunction(mlir::OpAsmParser &parser, mlir::OperationState &result) {
  auto buildType = [](mlir::Builder &builder, llvm::ArrayRef<mlir::Type> arguments, llvm::ArrayRef<mlir::Type> results,
                      mlir::function_interface_impl::VariadicFlag,
                      std::string &) { return builder.getFunctionType(arguments, results); };
  return mlir::function_interface_impl::parseFunctionOp(
      parser, result, /*allowVariadic=*/false, FuncOp::getFunctionTypeAttrName(result.name), buildType,
      FuncOp::getArgAttrsAttrName(result.name), FuncOp::getResAttrsAttrName(result.name));
}

template <typename FuncOp> void printFunction(FuncOp func, mlir::OpAsmPrinter &printer) {
  mlir::function_interface_impl::printFunctionOp(printer, func, /*isVariadic=*/false, func.getFunctionTypeAttrName(),
                                                 func.getArgAttrsAttrName(), func.getResAttrsAttrName());
}

} // namespace kiln
