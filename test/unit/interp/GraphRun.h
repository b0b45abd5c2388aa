//===- GraphRun.h - Run a graph written as text -----------------------------===//
#pragma once

#include "interp/GraphInterpreter.h"
#include "ir/graph/Graph.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"

#include <catch2/catch.hpp>

using kiln::DType;
using kiln::interp::HostTensor;

inline HostTensor f32(llvm::ArrayRef<int64_t> dims, const std::vector<float> &elements) {
  return HostTensor::of<float>(DType::F32, dims, elements);
}
inline HostTensor i32(llvm::ArrayRef<int64_t> dims, const std::vector<int32_t> &elements) {
  return HostTensor::of<int32_t>(DType::I32, dims, elements);
}
inline HostTensor i64(llvm::ArrayRef<int64_t> dims, const std::vector<int64_t> &elements) {
  return HostTensor::of<int64_t>(DType::I64, dims, elements);
}
inline HostTensor boolean(bool value) { return HostTensor::of<bool>(DType::Bool, {}, value); }

template <class T> std::vector<T> elements(const HostTensor &tensor) { return tensor.elements<T>().vec(); }
inline std::vector<int64_t> dims(const HostTensor &tensor) { return {tensor.dims.begin(), tensor.dims.end()}; }

/// The outputs of `func.func @main`; `text` is everything after the name.
inline llvm::Expected<std::vector<HostTensor>> tryGraph(llvm::StringRef text, llvm::ArrayRef<HostTensor> inputs,
                                                        const kiln::interp::GraphInterpreterOptions &options = {
                                                            "m.onnx"}) {
  mlir::MLIRContext context;
  context.loadDialect<kiln::KilnDialect, kiln::graph::GraphDialect, mlir::func::FuncDialect>();
  auto module = mlir::parseSourceString<mlir::ModuleOp>(("func.func @main" + text).str(), &context);
  REQUIRE(module);
  return interpretGraph(*module, inputs, options);
}

inline std::vector<HostTensor> runGraph(llvm::StringRef text, llvm::ArrayRef<HostTensor> inputs = {}) {
  auto outputs = tryGraph(text, inputs);
  if (!outputs)
    FAIL(llvm::toString(outputs.takeError()));
  return std::move(*outputs);
}

inline std::string graphError(llvm::StringRef text, llvm::ArrayRef<HostTensor> inputs = {},
                              const kiln::interp::GraphInterpreterOptions &options = {"m.onnx"}) {
  auto outputs = tryGraph(text, inputs, options);
  REQUIRE_FALSE(bool(outputs));
  return llvm::toString(outputs.takeError());
}
