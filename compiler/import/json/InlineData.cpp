#include "import/json/InlineData.h"

#include "import/DType.h"
#include "import/TensorBuilder.h"
#include "support/Error.h"

#include "llvm/ADT/StringExtras.h"

using namespace kiln;
using namespace kiln::import;
using namespace kiln::import::json;
using namespace mlir;
using llvm::Twine;

llvm::Expected<TypedAttr> kiln::import::json::readNumber(const Json &value, Type element) {
  TypedAttr number;
  if (value.is_boolean())
    number = Operand(int64_t(value.get<bool>())).number(element);
  else if (value.is_number_unsigned() && value.get<uint64_t>() > uint64_t(INT64_MAX) && element.isUnsignedInteger(64))
    number = IntegerAttr::get(element, APInt(64, value.get<uint64_t>()));
  else if (value.is_number_integer() && !(value.is_number_unsigned() && value.get<uint64_t>() > uint64_t(INT64_MAX)))
    number = Operand(value.get<int64_t>()).number(element);
  else if (value.is_number())
    number = Operand(value.get<double>()).number(element);
  else if (value.is_string() && isa<FloatType>(element))
    for (auto [word, special] : {std::pair("inf", INFINITY), std::pair("-inf", -INFINITY), std::pair("nan", NAN)})
      if (value.get_ref<const std::string &>() == word)
        number = Operand(double(special)).number(element);
  if (number)
    return number;
  return failure(llvm::StringRef(value.dump(-1, ' ', false, Json::error_handler_t::replace)).take_front(40) +
                     " is not a value of " + dtypeName(element),
                 "give a number that the dtype can hold");
}

/// Appends the numbers below `value`, which must nest as `shape` says.
static llvm::Error flatten(const Json &value, ArrayRef<int64_t> shape, std::vector<const Json *> &numbers) {
  if (shape.empty()) {
    numbers.push_back(&value);
    return llvm::Error::success();
  }
  if (!value.is_array() || int64_t(value.size()) != shape.front())
    return failure((value.is_array() ? "a list of " + Twine(value.size()) : Twine("a number")) + " stands where " +
                       Twine(shape.front()) + " are wanted",
                   "nest the numbers as the shape says");
  for (const Json &part : value)
    if (llvm::Error error = flatten(part, shape.drop_front(), numbers))
      return error;
  return llvm::Error::success();
}

llvm::Expected<DenseElementsAttr> kiln::import::json::readInlineData(const Json &value, ArrayRef<int64_t> shape,
                                                                     Type element) {
  auto type = RankedTensorType::get(shape, element);
  int64_t count = type.getNumElements();
  std::vector<const Json *> numbers;
  bool flat = value.is_array() && shape.size() != 1 && (value.empty() || !value.front().is_array());
  if (flat && int64_t(value.size()) != count)
    return failure(Twine(value.size()) + " numbers are not the " + Twine(count) + " of " +
                       describe(Shape(shape.begin(), shape.end())),
                   "give as many as the shape says");
  if (!value.is_array())
    numbers.push_back(&value);
  else if (flat)
    for (const Json &number : value)
      numbers.push_back(&number);
  else if (llvm::Error error = flatten(value, shape, numbers))
    return error;
  SmallVector<APInt> integers;
  SmallVector<APFloat> floats;
  for (const Json *number : numbers) {
    llvm::Expected<TypedAttr> attribute = readNumber(*number, element);
    if (!attribute)
      return attribute.takeError();
    if (auto integer = dyn_cast<IntegerAttr>(*attribute))
      integers.push_back(integer.getValue());
    else
      floats.push_back(cast<FloatAttr>(*attribute).getValue());
  }
  return isa<FloatType>(element) ? DenseElementsAttr::get(type, floats) : DenseElementsAttr::get(type, integers);
}
