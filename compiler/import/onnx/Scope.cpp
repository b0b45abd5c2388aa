#include "import/onnx/Scope.h"

using namespace kiln::import::onnx;

const Tensor *Scope::find(llvm::StringRef name) const {
  for (const Scope *scope = this; scope; scope = scope->parent_)
    if (auto found = scope->names_.find(name); found != scope->names_.end())
      return &found->second;
  return nullptr;
}

mlir::Value Scope::made(const Tensor *tensor) const {
  for (const Scope *scope = this; scope; scope = scope->parent_)
    if (mlir::Value value = scope->made_.lookup(tensor))
      return value;
  return {};
}

static llvm::StringRef canonical(llvm::StringRef domain) { return domain == "ai.onnx" ? "" : domain; }

int64_t Scope::opset(llvm::StringRef domain) const {
  const Scope *scope = this;
  while (scope->parent_)
    scope = scope->parent_;
  return scope->opsets_.lookup(canonical(domain));
}

void Scope::setOpset(llvm::StringRef domain, int64_t version) { opsets_[canonical(domain)] = version; }

const ::onnx::AttributeProto *Scope::argument(llvm::StringRef name) const {
  for (const Scope *scope = this; scope; scope = scope->parent_)
    if (const ::onnx::AttributeProto *found = scope->arguments_.lookup(name))
      return found;
  return nullptr;
}

void Scope::declare(const google::protobuf::RepeatedPtrField<::onnx::ValueInfoProto> &values) {
  for (const ::onnx::ValueInfoProto &value : values)
    if (value.has_type())
      declared_[value.name()] = &value.type();
}

std::optional<bool> Scope::assumed(const Tensor &condition) const {
  for (const Scope *scope = this; scope; scope = scope->parent_ ? scope->parent_ : scope->caller_)
    for (const auto &[known, holds] : scope->assumed_)
      if (known.elements && condition.elements ? *known.elements == *condition.elements
                                               : known.value && known.value == condition.value)
        return holds;
  return std::nullopt;
}
