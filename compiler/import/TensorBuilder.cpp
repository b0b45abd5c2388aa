#include "import/TensorBuilder.h"

#include "import/DType.h"
#include "ir/base/NarrowDType.h"
#include "ir/base/ObjectType.h"
#include "ir/graph/Source.h"
#include "support/Error.h"

#include "llvm/ADT/StringExtras.h"

using namespace kiln;
using namespace kiln::import;
using namespace mlir;
using llvm::Twine;

std::string kiln::import::describe(llvm::ArrayRef<Expr> shape) {
  return "[" + llvm::join(llvm::map_range(shape, [](Expr size) { return size.print(); }), ", ") + "]";
}

std::string kiln::import::describe(Value tensor) {
  Type element = TensorBuilder::element(tensor);
  return isContainer(element) ? dtypeName(element) : describe(shapeOf(tensor)) + " of " + dtypeName(element);
}

std::string kiln::import::written(llvm::ArrayRef<Expr> shape) {
  return "[" + llvm::join(llvm::map_range(shape, [](Expr size) { return size.render(); }), ", ") + "]";
}

TypedAttr Operand::number(Type element) const {
  bool integral = std::holds_alternative<int64_t>(held_);
  if (isa<FloatType>(element))
    return FloatAttr::get(element, integral ? double(std::get<int64_t>(held_)) : std::get<double>(held_));
  int64_t value;
  if (integral) {
    value = std::get<int64_t>(held_);
  } else {
    double number = std::get<double>(held_);
    if (!(number >= -0x1p63 && number < 0x1p63) || double(int64_t(number)) != number)
      return {};
    value = int64_t(number);
  }
  auto type = dyn_cast<IntegerType>(element);
  if (!type)
    return {};
  unsigned width = type.getWidth();
  bool isUnsigned = type.isUnsigned() || width == 1;
  bool fits = isUnsigned ? value >= 0 && llvm::isUIntN(width, uint64_t(value)) : llvm::isIntN(width, value);
  if (!fits)
    return {};
  return IntegerAttr::get(element, APInt(width, uint64_t(value), !isUnsigned, /*implicitTrunc=*/true));
}

std::string Operand::text() const {
  if (const int64_t *number = std::get_if<int64_t>(&held_))
    return std::to_string(*number);
  std::string text;
  llvm::raw_string_ostream stream(text);
  if (const double *number = std::get_if<double>(&held_))
    stream << llvm::format("%.9g", *number);
  else if (tensor())
    stream << describe(shapeOf(tensor()));
  return text;
}

Value TensorBuilder::fail(const Twine &cause, const Twine &remedy) { return fail(failure(cause, remedy)); }

Value TensorBuilder::fail(llvm::Error error) {
  std::string text = llvm::toString(std::move(error));
  if (cause_.empty())
    cause_ = std::move(text);
  return {};
}

llvm::StringRef TensorBuilder::node() const {
  auto sources = graph::sourcesOf(location_);
  return sources.empty() ? "size" : sources.back().node.getValue();
}

bool TensorBuilder::check(Expr condition, const Twine &message) {
  if (condition.isConst(0))
    return fail(message), false;
  if (condition.isConst())
    return true;
  std::string node;
  for (const graph::Source &source : graph::sourcesOf(location_))
    node = "node '" + source.node.str() + "': ";
  graph::CheckOp::create(builder_, location_, ExprAttr::get(builder_.getContext(), condition),
                         builder_.getStringAttr(node + message));
  return true;
}

void TensorBuilder::noteDiffering(Expr a, Expr b) {
  if (ok())
    differing_ = {a, b};
}

llvm::Error TensorBuilder::takeError() {
  if (cause_.empty())
    return llvm::Error::success();
  std::string cause;
  std::swap(cause, cause_);
  differing_.reset();
  return failure(cause);
}

Type TensorBuilder::element(Value x) { return x ? cast<RankedTensorType>(x.getType()).getElementType() : Type(); }

Expr TensorBuilder::dim(Value x, int64_t axis) {
  Shape sizes = shape(x);
  int64_t index = axis < 0 ? axis + int64_t(sizes.size()) : axis;
  return index >= 0 && index < int64_t(sizes.size()) ? sizes[index] : Expr(1);
}

bool TensorBuilder::isFloat(Value x) { return isa_and_nonnull<FloatType>(element(x)); }
bool TensorBuilder::isBool(Value x) { return x && element(x).isInteger(1); }
bool TensorBuilder::isInteger(Value x) {
  return isa_and_nonnull<IntegerType>(element(x)) && !isBool(x) && !isNarrow(element(x));
}

Type TensorBuilder::accumulator(Type element) {
  Builder builder(element.getContext());
  if (element.isF16() || element.isBF16())
    return builder.getF32Type();
  auto integer = dyn_cast<IntegerType>(element);
  if (!integer || integer.getWidth() >= 32)
    return element;
  return integer.isUnsigned() ? builder.getIntegerType(32, /*isSigned=*/false) : builder.getI32Type();
}

std::optional<int64_t> TensorBuilder::normalizeAxis(int64_t axis, int64_t rank) {
  if (axis >= -rank && axis < rank)
    return axis < 0 ? axis + rank : axis;
  fail("axis " + Twine(axis) + " is out of range for a tensor of rank " + Twine(rank),
       rank ? "axes run from " + Twine(-rank) + " to " + Twine(rank - 1) : Twine("a scalar has no axes"));
  return std::nullopt;
}

std::optional<SmallVector<int64_t>> TensorBuilder::normalizeAxes(Axes axes, int64_t rank) {
  SmallVector<int64_t> result;
  for (int64_t axis : axes) {
    std::optional<int64_t> index = normalizeAxis(axis, rank);
    if (!index)
      return std::nullopt;
    if (llvm::is_contained(result, *index)) {
      fail("axis " + Twine(axis) + " is named twice", "name each axis once");
      return std::nullopt;
    }
    result.push_back(*index);
  }
  llvm::sort(result);
  return result;
}

SmallVector<int64_t> TensorBuilder::allAxes(Value x) { return llvm::to_vector(llvm::seq<int64_t>(0, rank(x))); }

bool TensorBuilder::fits(Sizes shape) {
  int64_t count = 1;
  for (Expr size : shape) {
    if (size.max() < 0) {
      fail("a tensor of shape " + describe(shape), "sizes are not negative");
      return false;
    }
    if (size.isConst() && size.constant() != 0 && llvm::MulOverflow(count, size.constant(), count)) {
      fail("a tensor of shape " + describe(shape) + " has more than 2^63 elements", "make it smaller");
      return false;
    }
  }
  return true;
}

Value TensorBuilder::constant(TypedAttr number, Sizes shape) {
  if (!number || !fits(shape))
    return {};
  return graph::ConstOp::create(builder_, location_, tensorType(shape, number.getType()), number);
}

Value TensorBuilder::constant(Operand number, Type element, Sizes shape) {
  if (!element) // of a null tensor
    return {};
  TypedAttr value = number.number(element);
  if (!value)
    return fail(number.text() + " is not a value of " + dtypeName(element), "give a number that the dtype can hold");
  return constant(value, shape);
}

Value TensorBuilder::constantLike(Value x, Operand number) {
  return x ? constant(number, element(x), shape(x)) : Value();
}

Value TensorBuilder::weight(llvm::StringRef name, DenseElementsAttr data) {
  auto type = cast<RankedTensorType>(data.getType());
  if (data.isSplat())
    return constant(data.getSplatValue<TypedAttr>(), shapeOf(type));
  return graph::WeightOp::create(builder_, location_, type, name, data);
}

Value TensorBuilder::size(Expr size) {
  if (std::optional<int64_t> value = size.asConst())
    return constant(*value, int64());
  return graph::SizeOp::create(builder_, location_, tensorType({}, int64()),
                               ExprAttr::get(builder_.getContext(), size));
}
