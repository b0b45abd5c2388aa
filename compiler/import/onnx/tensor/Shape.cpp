//===- Shape.cpp - Shapes, constants and ranges -----------------------------===//
//
// Shape gives sizes as data, yet nothing has to read them: its result is a tensor whose elements are known, as
// expressions over the model's symbols, and operators after it compute with these (Fold.h) until a Reshape or an Expand
// takes them for sizes again. Constant, short ranges and short lists of one number belong to the same arithmetic. If
// the ends of a range are data, its length becomes a symbol, bound when the program runs.
//
//===------------------------------------------------------------------------===//
#include "import/DType.h"
#include "import/onnx/Fold.h"
#include "import/onnx/Importer.h"
#include "import/onnx/Microsoft.h"
#include "import/onnx/Registry.h"
#include "import/onnx/file/ElementType.h"
#include "import/onnx/tensor/DataSizes.h"
#include "import/onnx/text/Strings.h"

using namespace kiln;
using namespace kiln::import;
using namespace kiln::import::onnx;
using llvm::Twine;
using mlir::Value;

/// The input's sizes from axis `start` to `end`.
static Tensor shape(Node &n, TensorBuilder &b) {
  int64_t start = n.integer("start", 0), end = n.integer("end", INT64_MAX);
  const Tensor &input = n.tensor(0);
  if (!input)
    return {};
  Shape sizes = input.shape();
  int64_t rank = sizes.size();
  auto within = [&](int64_t axis) {
    return std::clamp(axis < 0 ? std::max(axis, -rank) + rank : axis, int64_t(0), rank);
  };
  start = within(start);
  end = std::max(within(end), start);
  return Tensor(b.int64(), {end - start}, Elements(sizes.begin() + start, sizes.begin() + end));
}

static Tensor size(Node &n, TensorBuilder &b) {
  const Tensor &input = n.tensor(0);
  return input ? Tensor(b.int64(), {}, {view::product(input.shape())}) : Tensor();
}

static Tensor constantOf(Node &n, const ::onnx::TensorProto &proto, llvm::StringRef name) {
  llvm::Expected<Constant> constant = n.importer().file().constant(n.importer().builder().getContext(), proto);
  if (!constant)
    return n.builder().fail(constant.takeError()), Tensor();
  return Tensor(constant->type, constant->data, name);
}

template <typename T>
static Tensor numbers(mlir::Type element, llvm::ArrayRef<T> values, bool isList, llvm::StringRef name) {
  llvm::SmallVector<int64_t> shape;
  if (isList)
    shape.push_back(values.size());
  auto type = mlir::RankedTensorType::get(shape, element);
  return Tensor(type, mlir::DenseElementsAttr::get(type, values), name);
}

static Tensor constant(Node &n, TensorBuilder &b) {
  std::string name = n.scope().prefix() + (n.proto().output_size() ? n.proto().output(0) : "");
  if (n.hasAttr("value"))
    if (const ::onnx::TensorProto *proto = n.tensorAttr("value"))
      return constantOf(n, *proto, name);
  if (n.hasAttr("value_int"))
    return numbers<int64_t>(b.int64(), {n.integer("value_int", 0)}, false, name);
  if (n.hasAttr("value_ints"))
    return numbers<int64_t>(b.int64(), n.integers("value_ints"), true, name);
  if (n.hasAttr("value_float"))
    return numbers<float>(b.float32(), {float(n.real("value_float", 0))}, false, name);
  if (std::optional<llvm::SmallVector<double>> values = n.reals("value_floats"))
    return numbers<float>(b.float32(), llvm::SmallVector<float>(values->begin(), values->end()), true, name);
  if (n.hasAttr("value_string"))
    return stringConstant(b, name, {n.string("value_string", "")}, {});
  if (n.hasAttr("value_strings"))
    return stringList(b, name, n.strings("value_strings"));
  if (const ::onnx::SparseTensorProto *sparse = n.sparseAttr("sparse_value")) {
    llvm::Expected<Constant> constant = n.importer().file().constant(b.builder().getContext(), *sparse);
    if (!constant)
      return b.fail(constant.takeError());
    return Tensor(constant->type, constant->data, name);
  }
  return n.fail("attribute 'value' is missing", "the operator needs it");
}

static Tensor constantOfShape(Node &n, TensorBuilder &b) {
  mlir::TypedAttr value = mlir::FloatAttr::get(b.float32(), 0);
  if (const ::onnx::TensorProto *proto = n.tensorAttr("value")) {
    Tensor given = constantOf(n, *proto, "");
    auto dense = llvm::dyn_cast_or_null<mlir::DenseElementsAttr>(given.data);
    if (!given)
      return {};
    if (!dense || dense.getNumElements() != 1)
      return n.fail("attribute 'value' has not one element", "it is the element to repeat");
    value = *dense.value_begin<mlir::TypedAttr>();
  }
  std::optional<Elements> sizes = n.sizes(0);
  if (!sizes)
    return {};
  for (Expr size : *sizes)
    if (size.max() < 0)
      return n.fail("a size is " + size.print(), "sizes are not negative");
  // A list of equal integers may be a shape, as in expansions of LayerNormalization.
  auto integer = llvm::dyn_cast<mlir::IntegerAttr>(value);
  if (integer && sizes->size() == 1 && sizes->front().isConst() && sizes->front().constant() <= kMostElements) {
    int64_t count = sizes->front().constant();
    auto repeated = mlir::RankedTensorType::get({count}, integer.getType());
    return Tensor(repeated, mlir::DenseElementsAttr::get(repeated, llvm::SmallVector<mlir::Attribute>(count, integer)),
                  "");
  }
  return b.constant(value, *sizes);
}

/// start, start + delta … before limit, if they are data: their number is read at run time.
static Tensor countedRange(Node &n, TensorBuilder &b) {
  Value first = b.reshape(n.input(0), {}), limit = b.reshape(n.input(1), {});
  if (!first || !limit)
    return {};
  Value delta = n.has(2) ? b.reshape(n.input(2), {}) : b.constantLike(first, 1);
  if (n.has(2)) {
    // The sign is enough to see a step of 0.
    Value sign = b.sub(b.cast(b.greater(delta, 0), b.int64()), b.cast(b.less(delta, 0), b.int64()));
    Expr step = n.importer().bind(n.scope().prefix() + n.proto().input(2) + ".sign", sign, b, {-1, 1, 1}, "its sign");
    b.check(Expr(1) - isEqual(step, 0), "the step " + quoted(n.proto().input(2)) + " is 0 or no number; give another");
  }
  for (int i = 0; i < 2 && b.isFloat(first); ++i) {
    // Its sign if it is infinite, 0 if it is no number.
    Value bound = i == 0 ? first : limit, sign = b.where(b.isNaN(bound), b.constant(0, b.int64()), 2);
    sign = b.where(b.isInf(bound), b.sub(b.cast(b.greater(bound, 0), b.int64()), b.cast(b.less(bound, 0), b.int64())),
                   sign);
    std::string name = n.proto().input(i);
    Expr kind = n.importer().bind(n.scope().prefix() + name + ".sign", sign, b, {-1, 2, 2}, "its sign");
    b.check(isEqual(kind, 2), "the range's " + Twine(i == 0 ? "start " : "limit ") + quoted(name) +
                                  " is infinite or no number; give a finite one");
  }
  mlir::Type element = b.element(first), real = b.isFloat(first) ? element : b.builder().getF64Type();
  Value steps = b.div(b.sub(b.cast(limit, real), b.cast(first, real)), b.cast(delta, real));
  std::string bounds = "the range from " + quoted(n.proto().input(0)) + " to " + quoted(n.proto().input(1));
  Expr count = computedSize(n, "length", b.cast(b.ceil(steps), b.int64()), bounds);
  return b.add(b.mul(b.cast(b.arange(count, b.int64()), element), delta), first);
}

/// start, start + delta … before limit. In ONNX Runtime's own the step may be left out.
static Tensor range(Node &n, TensorBuilder &b) {
  const Tensor &first = n.tensor(0);
  bool hasStep = !isRuntimes(n) || n.has(2);
  if (!first || !n.tensor(1) || (hasStep && !n.tensor(2)))
    return {};
  if (first.element() != n.tensor(1).element() || (hasStep && first.element() != n.tensor(2).element()))
    return n.fail("its inputs differ in dtype", "cast them");
  if (llvm::isa<mlir::FloatType>(first.element())) {
    std::optional<double> start = n.number(0), limit = n.number(1), delta = hasStep ? n.number(2) : 1;
    if (!start || !limit || !delta)
      return countedRange(n, b);
    double count = *delta == 0 ? -1 : std::max(std::ceil((*limit - *start) / *delta), 0.0);
    if (!(count >= 0 && count <= double(view::kMaxDim)))
      return n.fail("the range has no finite length", "limit and step decide it");
    Value steps = b.cast(b.arange(int64_t(count), b.int64()), first.element());
    return b.add(b.mul(steps, *delta), *start);
  }
  const Elements one{1}, *deltas = hasStep ? n.elements(2) : &one;
  if (!deltas || (deltas->size() == 1 && !deltas->front().isConst()))
    return countedRange(n, b);
  std::optional<Elements> start = n.sizes(0), limit = n.sizes(1);
  if (!start || !limit)
    return {};
  if (start->size() != 1 || limit->size() != 1 || deltas->size() != 1 || deltas->front() == 0 ||
      deltas->front() == INT64_MIN)
    return n.fail("start, limit and step are not single numbers, the step not 0");
  int64_t step = deltas->front().constant();
  if (!fitsInto(start->front(), b.int64()) || !fitsInto(limit->front(), b.int64()))
    return n.fail("the range from " + start->front().print() + " to " + limit->front().print() + " is too long",
                  "bounds are within 2^62 of 0");
  Expr span = step > 0 ? limit->front() - start->front() : start->front() - limit->front();
  Expr count = view::maximum(view::ceilDiv(span, std::abs(step)), 0);
  if (count.isConst() && count.constant() <= kMostElements) {
    Elements elements;
    for (int64_t i = 0; i < count.constant(); ++i)
      elements.push_back(start->front() + Expr(i) * step);
    if (llvm::all_of(elements, [&](Expr element) { return fitsInto(element, first.element()); }))
      return Tensor(first.element(), {count.constant()}, elements);
  }
  Value steps = b.mul(b.arange(count, first.element()), step);
  return b.add(steps, b.cast(b.size(start->front()), first.element()));
}

/// Ones on a diagonal of a matrix of the input's shape.
static Tensor eyeLike(Node &n, TensorBuilder &b) {
  const Tensor &input = n.tensor(0);
  // One that lies outside any matrix leaves zeros.
  int64_t diagonal = std::clamp(n.integer("k", 0), -view::kMaxDim, view::kMaxDim);
  mlir::Type element = input ? input.element() : mlir::Type();
  if (n.hasAttr("dtype")) {
    element = elementType(n.importer().builder().getContext(), n.integer("dtype"));
    if (!element)
      return n.fail("dtype " + dataTypeName(n.integer("dtype")) + " is not supported", kKnownDTypes);
  }
  if (!input)
    return {};
  if (input.type.getRank() != 2)
    return n.fail("its input is " + describe(input.shape()), "it must be a matrix");
  Shape shape = input.shape();
  Value from = b.triangle(shape[0], shape[1], diagonal), after = b.triangle(shape[0], shape[1], diagonal + 1);
  return b.cast(b.bitXor(from, after), element);
}

void kiln::import::onnx::addShapes(Registry &r) {
  r.add("Constant", 1, constant);
  r.add("ConstantOfShape", 9, constantOfShape);
  r.add("EyeLike", 9, eyeLike);
  r.add("Range", 11, range);
  r.add("Shape", 1, shape);
  r.add("Size", 1, size);
  r.add("com.microsoft", "Range", 1, range);
}
