//===- Node.cpp - Reading a node's inputs and attributes ---------------===//
//
// The document has passed graph.schema.json, so each field has a type that it may have. Its meaning is left: a number
// among the inputs takes the dtype of the node's tensors or, if it has to be a tensor, is float32, int32 or bool by the
// way in which it is written; a size is a number or an expression over the graph's symbols, as "batch*seq". Failures go
// to the builder, which keeps the first one, so that an operator reads on with a default.
//
//===-------------------------------------------------------------------===//
#include "import/json/Node.h"

#include "import/DType.h"
#include "import/json/InlineData.h"
#include "support/Error.h"
#include "support/Page.h"

using namespace kiln;
using namespace kiln::import;
using namespace kiln::import::json;
using namespace mlir;
using llvm::StringRef;
using llvm::Twine;

Operand Node::operand(size_t index) {
  if (tensors_[index])
    return tensors_[index];
  const Json &number = json_["inputs"][index];
  if (number.is_boolean())
    return int64_t(number.get<bool>());
  if (number.is_number_unsigned() && number.get<uint64_t>() > uint64_t(INT64_MAX))
    return number.get<double>();
  return number.is_number_integer() ? Operand(number.get<int64_t>()) : Operand(number.get<double>());
}

Value Node::tensor(size_t index) {
  if (index >= tensors_.size())
    return {};
  if (tensors_[index])
    return tensors_[index];
  const Json &number = json_["inputs"][index];
  Type type = number.is_boolean() ? b.boolType() : number.is_number_integer() ? b.int32() : b.float32();
  return b.constant(operand(index), type);
}

bool Node::require(StringRef key) {
  if (!has(key))
    b.fail("the attribute '" + key + "' is missing", pagePath("json-graph.md") + " says what it is");
  return has(key);
}

int64_t Node::integer(StringRef key, std::optional<int64_t> missing) {
  if (missing && !has(key))
    return *missing;
  return require(key) ? json_[key.str()].get<int64_t>() : 0;
}

double Node::number(StringRef key, double missing) { return has(key) ? json_[key.str()].get<double>() : missing; }

std::optional<Operand> Node::operandAttribute(StringRef key) {
  if (!has(key))
    return std::nullopt;
  const Json &value = json_[key.str()];
  if (value.is_boolean())
    return int64_t(value.get<bool>());
  if (value.is_number_integer() && !(value.is_number_unsigned() && value.get<uint64_t>() > uint64_t(INT64_MAX)))
    return value.get<int64_t>();
  llvm::Expected<TypedAttr> number = readNumber(value, b.builder().getF64Type());
  if (number)
    return cast<FloatAttr>(*number).getValueAsDouble();
  b.fail(number.takeError());
  return std::nullopt;
}

SmallVector<int64_t> Node::integers(StringRef key) const {
  SmallVector<int64_t> result;
  if (has(key))
    for (const Json &value : json_[key.str()])
      result.push_back(value.get<int64_t>());
  return result;
}

SmallVector<int64_t> Node::axes(Value x) const { return has("axes") ? integers("axes") : TensorBuilder::allAxes(x); }

Type Node::dtype(StringRef key, Type missing) {
  if (missing && !has(key))
    return missing;
  if (!require(key))
    return {};
  std::string name = word(key, "");
  Type type = parseDType(b.builder().getContext(), name);
  if (!type)
    b.fail("unknown dtype '" + name + "'", "dtypes are " + dtypeNames());
  return type;
}

Expr Node::readSize(const Json &value) {
  if (value.is_number_integer())
    return value.get<int64_t>();
  llvm::Expected<Expr> size = symbols_.parse(value.get_ref<const std::string &>());
  if (size)
    return *size;
  b.fail(size.takeError());
  return 0;
}

Shape Node::sizes(StringRef key) {
  Shape result;
  if (require(key))
    for (const Json &value : json_[key.str()])
      result.push_back(readSize(value));
  return result;
}

std::pair<Shape, Shape> Node::pairs(StringRef key) {
  std::pair<Shape, Shape> result;
  if (!require(key))
    return result;
  for (const Json &pair : json_[key.str()]) {
    result.first.push_back(readSize(pair[0]));
    result.second.push_back(readSize(pair[1]));
  }
  return result;
}

SmallVector<Slice> Node::slices() {
  SmallVector<Slice> result;
  if (!require("slices"))
    return result;
  for (const Json &bounds : json_["slices"]) {
    Slice &slice = result.emplace_back();
    if (!bounds[0].is_null())
      slice.begin = readSize(bounds[0]);
    if (!bounds[1].is_null())
      slice.end = readSize(bounds[1]);
    if (bounds.size() < 3 || bounds[2].is_null())
      continue;
    if (bounds[2].is_number_integer())
      slice.step = bounds[2].get<int64_t>();
    else
      b.fail("the step " + bounds[2].dump() + " of a slice", "steps are integers");
  }
  return result;
}

Window Node::window() {
  Window window;
  window.kernel = integers("kernel");
  window.strides = integers("strides");
  window.dilations = integers("dilations");
  window.ceilMode = flag("ceil_mode");
  if (!has("pads"))
    return window;
  auto [low, high] = pairs("pads");
  for (auto &[amounts, sizes] : {std::pair(&window.padLow, low), std::pair(&window.padHigh, high)})
    for (Expr size : sizes) {
      if (!size.isConst())
        b.fail("a pad of " + size.print(), "the pads of windows are integers");
      amounts->push_back(size);
    }
  return window;
}
