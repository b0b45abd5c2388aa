//===- Node.h - One node, as its operator's importer sees it ----------------===//
//
// An operator's importer reads its node through this. An input can be asked for as a tensor or for its elements:
// if an operator needs numbers (sizes, axes, amounts to pad), they may be known at import, or they become
// symbols that the program binds when it runs. An attribute that no one has asked for when the importer ends is
// an error, so that none of a newer opset is silently ignored. Errors are sticky, as TensorBuilder's are: a
// fault of the model is noted, something harmless is returned, and the importer ends with one line about the
// first cause.
//
//===------------------------------------------------------------------------===//
#pragma once

#include "import/TensorBuilder.h"
#include "import/onnx/Scope.h"
#include "import/onnx/control/OpenIf.h"

#include "llvm/ADT/StringSet.h"

#include <onnx-ml.pb.h>

namespace kiln::import::onnx {

class Importer;

class Node {
public:
  Node(Importer &importer, Scope &scope, const ::onnx::NodeProto &proto, TensorBuilder &builder);

  const ::onnx::NodeProto &proto() const { return proto_; }
  llvm::StringRef op() const { return proto_.op_type(); }
  /// The version of the operator's domain that the model imports.
  int64_t opset() const { return scope_.opset(proto_.domain()); }
  Importer &importer() { return importer_; }
  Scope &scope() { return scope_; }
  TensorBuilder &builder() { return builder_; }

  /// Notes the cause and returns nothing.
  Tensor fail(const llvm::Twine &cause, const llvm::Twine &remedy = "");

  // Inputs. An optional one may be absent: left out at the end, or named "".

  int numInputs() const { return proto_.input_size(); }
  bool has(int index) const;
  /// Null, and a failure noted, if it is absent.
  const Tensor &tensor(int index);
  /// The input as data; null, and a failure noted, if it is absent.
  mlir::Value input(int index);
  /// The input as data, or null if it is absent.
  mlir::Value optionalInput(int index) { return has(index) ? input(index) : mlir::Value(); }
  /// All inputs from `first` on, as data.
  llvm::SmallVector<mlir::Value> inputs(int first = 0);
  mlir::Value asValue(const Tensor &tensor);

  /// The input's elements, if they are known at import.
  const Elements *elements(int index);
  /// The input's elements as sizes. Those that are data are read at run time: each becomes a symbol of its own, bound
  /// here. Null, and a failure noted, if the input is not a list of integers of known length.
  std::optional<Elements> sizes(int index) { return numbers(index, 0, view::kMaxDim); }
  /// The same for numbers from `min` to `max`. One that is data and outside them ends the run with an error, or, with
  /// `clamps`, counts as the nearest of them.
  std::optional<Elements> numbers(int index, int64_t min, int64_t max, bool clamps = false);
  /// The same for a list whose length may be data, too: the run ends with an error if it has not `count` elements.
  std::optional<Elements> countedNumbers(int index, int64_t count, int64_t min, int64_t max, bool clamps = false);
  /// A symbol with the value of an expression over values known at run time; constants and symbols are returned
  /// unchanged. A value outside the bounds ends the run with an error.
  view::Expr named(llvm::StringRef what, view::Expr value, int64_t min = 0, int64_t max = view::kMaxDim);
  /// "size 1 of 'y'" for "size.1" and "the length of 'y'" for "length", where 'y' is the node's first output.
  std::string meaning(llvm::StringRef what) const;
  /// Constant integers; a failure that calls the input `what` is noted if they are not known at import.
  std::optional<llvm::SmallVector<int64_t>> integers(int index, llvm::StringRef what);
  /// The number that a constant of one element holds.
  std::optional<double> number(int index);
  /// Constant numbers; as integers() is.
  std::optional<llvm::SmallVector<double>> reals(int index, llvm::StringRef what);
  /// The constant elements of an input.
  mlir::DenseElementsAttr dense(int index);

  // Attributes. One of another type than asked for is a failure, and so is one that is never asked for: see unread().

  bool hasAttr(llvm::StringRef name) { return attribute(name) != nullptr; }
  int64_t integer(llvm::StringRef name, int64_t otherwise);
  /// Notes a failure if it is absent.
  int64_t integer(llvm::StringRef name);
  /// Notes a failure if it is neither 0 nor 1: runtimes differ in how they take other numbers.
  bool flag(llvm::StringRef name, bool otherwise);
  double real(llvm::StringRef name, double otherwise);
  std::string string(llvm::StringRef name, llvm::StringRef otherwise);
  llvm::SmallVector<int64_t> integers(llvm::StringRef name);
  std::optional<llvm::SmallVector<double>> reals(llvm::StringRef name);
  llvm::SmallVector<std::string> strings(llvm::StringRef name);
  const ::onnx::TensorProto *tensorAttr(llvm::StringRef name);
  const ::onnx::SparseTensorProto *sparseAttr(llvm::StringRef name);
  const ::onnx::TypeProto *typeAttr(llvm::StringRef name);
  /// Notes a failure if it is absent.
  const ::onnx::GraphProto *graph(llvm::StringRef name);
  // An If that stays open (control/OpenIf.h), whose versions give the node's outputs. The importer then returns none.

  void leaveOpen(std::unique_ptr<OpenIf> open) { open_ = std::move(open); }
  std::unique_ptr<OpenIf> takeOpen() { return std::move(open_); }

  /// Marks attributes as known to the operator and without effect here.
  void ignore(std::initializer_list<llvm::StringRef> names);
  /// An attribute that the importer never asked for, or "": the operator has none of that name.
  llvm::StringRef unread() const;

private:
  /// Symbols for `count` elements of an input that is data.
  Elements boundNumbers(int index, int64_t count, int64_t min, int64_t max, bool clamps);
  const ::onnx::AttributeProto *attribute(llvm::StringRef name);
  const ::onnx::AttributeProto *attribute(llvm::StringRef name, ::onnx::AttributeProto::AttributeType type);

  Importer &importer_;
  Scope &scope_;
  const ::onnx::NodeProto &proto_;
  TensorBuilder &builder_;
  llvm::SmallVector<std::pair<const ::onnx::AttributeProto *, bool>> attributes_; ///< and whether it was read
  llvm::StringMap<const ::onnx::AttributeProto *> references_;                    ///< a function call's attributes
  std::unique_ptr<OpenIf> open_;
};

} // namespace kiln::import::onnx
