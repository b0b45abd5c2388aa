//===- Unsupported.h - All operators that kiln lacks for a model, at once ---------===//
#pragma once

#include "import/onnx/file/ModelFile.h"

#include "llvm/ADT/STLFunctionalExtras.h"

namespace kiln::import::onnx {

/// The function of the model that a node calls; null if it is an operator.
using FunctionOf = llvm::function_ref<const ::onnx::FunctionProto *(const ::onnx::NodeProto &)>;

/// The error for a model with an operator that kiln does not have: it names all of these, in the graph, in the graphs
/// of its nodes and in functions that are called, in their order and with the number of their nodes: "Foo,
/// com.microsoft:Tokenizer x2, Relux (did you mean 'Relu'?)".
llvm::Error unsupportedOperators(const ::onnx::GraphProto &graph, FunctionOf functionOf);

} // namespace kiln::import::onnx
