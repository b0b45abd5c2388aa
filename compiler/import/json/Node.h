//===- Node.h - One node of the document, as an operator's function sees it ---===//
#pragma once

#include "import/Symbols.h"
#include "import/TensorBuilder.h"
#include "import/json/Document.h"

namespace kiln::import::json {

/// Reads inputs and attributes. Anything that does not fit is kept as the builder's failure, and a null or default
/// value returned.
class Node {
public:
  Node(const Json &json, TensorBuilder &builder, Symbols &symbols, llvm::StringRef name,
       llvm::ArrayRef<mlir::Value> tensors)
      : b(builder), json_(json), symbols_(symbols), name_(name), tensors_(tensors) {}

  TensorBuilder &b;

  llvm::StringRef name() const { return name_; }
  size_t inputs() const { return tensors_.size(); }
  size_t outputs() const { return json_.contains("outputs") ? json_["outputs"].size() : 1; }
  /// A tensor or a number.
  Operand operand(size_t index);
  /// A tensor; a number becomes a float32 or int32 scalar. Null without failure if there is no such input.
  mlir::Value tensor(size_t index);

  bool has(llvm::StringRef key) const { return json_.contains(key); }
  int64_t integer(llvm::StringRef key, std::optional<int64_t> missing = std::nullopt);
  double number(llvm::StringRef key, double missing);
  /// A number for a tensor of this dtype.
  std::optional<Operand> operandAttribute(llvm::StringRef key);
  bool flag(llvm::StringRef key, bool missing = false) const { return json_.value(key, missing); }
  std::string word(llvm::StringRef key, llvm::StringRef missing) const { return json_.value(key, missing.str()); }
  /// Empty when missing.
  llvm::SmallVector<int64_t> integers(llvm::StringRef key) const;
  /// Every axis of `x` when missing.
  llvm::SmallVector<int64_t> axes(mlir::Value x) const;
  mlir::Type dtype(llvm::StringRef key, mlir::Type missing = {});
  Expr size(llvm::StringRef key) { return require(key) ? readSize(json_[key.str()]) : Expr(0); }
  Shape sizes(llvm::StringRef key);
  /// The firsts and the seconds of a list of pairs.
  std::pair<Shape, Shape> pairs(llvm::StringRef key);
  llvm::SmallVector<Slice> slices();
  /// kernel, strides, dilations, pads and ceil_mode.
  Window window();

private:
  bool require(llvm::StringRef key);
  Expr readSize(const Json &value);

  const Json &json_;
  Symbols &symbols_;
  llvm::StringRef name_;
  llvm::ArrayRef<mlir::Value> tensors_;
};

} // namespace kiln::import::json
