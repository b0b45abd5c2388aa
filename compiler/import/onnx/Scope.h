//===- Scope.h - The names that a node can see ------------------------------===//
#pragma once

#include "import/onnx/file/Tensor.h"

#include "llvm/ADT/StringMap.h"

#include <onnx-ml.pb.h>

namespace kiln::import::onnx {

/// The names of one graph. An If's or Loop's graph sees those around it; a function sees its arguments alone.
class Scope {
public:
  /// `prefix` is put before the names of nodes, symbols and weights: the calls on the way here.
  explicit Scope(std::string prefix = "") : prefix_(std::move(prefix)) {}
  /// A graph within a graph.
  explicit Scope(Scope &parent) : parent_(&parent), prefix_(parent.prefix_) {}

  /// False if this graph has made the name before.
  bool define(llvm::StringRef name, Tensor tensor) { return names_.try_emplace(name, std::move(tensor)).second; }
  /// Null if there is no such name.
  const Tensor *find(llvm::StringRef name) const;

  /// The op that this graph, or one around it, has made of a constant tensor; null if neither has.
  mlir::Value made(const Tensor *tensor) const;
  void setMade(const Tensor *tensor, mlir::Value value) { made_[tensor] = value; }
  /// Call this before such an op is erased.
  void forgetMade() { made_.clear(); }

  /// The imported version of a domain ("" and "ai.onnx" are one); 0 if it is not imported.
  int64_t opset(llvm::StringRef domain) const;
  void setOpset(llvm::StringRef domain, int64_t version);

  /// In a function: the caller's attribute (or the function's default) of this name, or null.
  const ::onnx::AttributeProto *argument(llvm::StringRef name) const;
  void setArgument(llvm::StringRef name, const ::onnx::AttributeProto *attribute) { arguments_[name] = attribute; }

  /// The model's declarations of values that nodes of this graph make.
  void declare(const google::protobuf::RepeatedPtrField<::onnx::ValueInfoProto> &values);
  /// Null if it declares nothing.
  const ::onnx::TypeProto *declared(llvm::StringRef name) const { return declared_.lookup(name); }

  const std::string &prefix() const { return prefix_; }

  /// Within this scope, and in functions called in it, a condition is known to hold or not to.
  void assume(const Tensor &condition, bool holds) { assumed_.push_back({condition, holds}); }
  /// nullopt if nothing is known of the condition.
  std::optional<bool> assumed(const Tensor &condition) const;
  /// `caller`: the scope that calls the function of this one.
  void setCaller(const Scope &caller) { caller_ = &caller; }

private:
  const Scope *parent_ = nullptr;
  std::string prefix_;
  llvm::StringMap<Tensor> names_;
  llvm::DenseMap<const Tensor *, mlir::Value> made_;
  llvm::StringMap<int64_t> opsets_;
  llvm::StringMap<const ::onnx::AttributeProto *> arguments_;
  llvm::StringMap<const ::onnx::TypeProto *> declared_;
  llvm::SmallVector<std::pair<Tensor, bool>, 0> assumed_;
  const Scope *caller_ = nullptr;
};

} // namespace kiln::import::onnx
