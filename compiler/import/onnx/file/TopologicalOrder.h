//===- TopologicalOrder.h - Nodes after those that they need ----------------===//
#pragma once

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Error.h"

#include <onnx-ml.pb.h>

namespace kiln::import::onnx {

/// The indices of the nodes in an order in which every name is made before it is read; the given order, if it is one.
/// Names that none of the nodes makes are left to the caller. Fails on a cycle and on a name made twice.
llvm::Expected<llvm::SmallVector<unsigned>>
topologicalOrder(const google::protobuf::RepeatedPtrField<::onnx::NodeProto> &nodes);

/// The names that a node reads: its inputs, and those that its graphs read from around them.
void collectReads(const ::onnx::NodeProto &node, llvm::StringSet<> &reads);

/// "Relu"; for another domain than ONNX's own "com.microsoft:Gelu".
std::string operatorName(const ::onnx::NodeProto &node);

/// "node 'NAME' (OP)", or its index if it has no name.
std::string nodeName(const ::onnx::NodeProto &node, unsigned index);

} // namespace kiln::import::onnx
