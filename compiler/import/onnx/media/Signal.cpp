//===- Signal.cpp - Signals, their windows and their frequencies --------------===//
//
// Operators on signals: windows that fade at their ends, the frequencies of a signal or of each of its windows, and how
// the ear weighs them. Fourier.cpp has the transforms themselves. A complex tensor is two real ones, and of a real
// signal's frequencies one half mirrors the other. Angles and places are computed in float64, as those of a long window
// are close to each other.
//
//===--------------------------------------------------------------------------===//
#include "import/DType.h"
#include "import/onnx/Importer.h"
#include "import/onnx/Registry.h"
#include "import/onnx/file/ElementType.h"
#include "import/onnx/media/Fourier.h"
#include "import/onnx/tensor/DataSizes.h"

#include <numbers>

using namespace kiln;
using namespace kiln::import;
using namespace kiln::import::onnx;
using mlir::Value;

/// a0 - a1 · cos(2πi/N) + a2 · cos(4πi/N), N being the length, or without `periodic` one less.
static auto cosineWindow(double a0, double a1, double a2) {
  return [=](Node &n, TensorBuilder &b) -> Tensor {
    int64_t dataType = n.integer("output_datatype", ::onnx::TensorProto::FLOAT);
    bool isPeriodic = n.flag("periodic", true);
    mlir::Type element = elementType(n.importer().builder().getContext(), dataType);
    std::optional<Elements> size = n.sizes(0);
    if (!size)
      return {};
    if (!element)
      return n.fail("dtype " + dataTypeName(dataType) + " is not supported", kKnownDTypes);
    if (size->size() != 1)
      return n.fail("the window's size is not one number");
    // In double, since the angles of a long window are close to each other.
    mlir::Type real = b.builder().getF64Type();
    Expr length = size->front(), period = isPeriodic ? length : length - 1;
    Value turn = b.div(b.cast(b.arange(length, b.int64()), real), b.cast(b.size(period), real));
    Value angle = b.mul(turn, 2 * std::numbers::pi);
    Value window = b.sub(a0, b.mul(b.cos(angle), a1));
    if (a2 != 0)
      window = b.add(window, b.mul(b.cos(b.mul(angle, 2)), a2));
    return b.cast(window, element);
  };
}

//===----------------------------------------------------------------------===//
// Fourier transforms
//===----------------------------------------------------------------------===//

/// The parts of [..., 1] or [..., 2].
static Complex partsOf(TensorBuilder &b, Value x) {
  auto part = [&](int64_t i) { return b.squeeze(b.narrow(x, -1, i, i + 1), {-1}); };
  return {part(0), b.dim(x, -1).isConst(1) ? Value() : part(1)};
}

static Value dft(Node &n, TensorBuilder &b) {
  Value x = n.input(0);
  bool inverse = n.flag("inverse", false), oneSided = n.flag("onesided", false);
  int64_t rank = b.rank(x);
  Elements axis{Expr(rank - 2)};
  if (n.opset() < 20) {
    std::optional<int64_t> known = b.normalizeAxis(n.integer("axis", 1), rank);
    if (!known)
      return {};
    axis[0] = *known;
  } else if (n.has(2)) {
    std::optional<Elements> given = axesInput(n, 2, "axis", rank);
    if (!given)
      return {};
    axis = *given;
  }
  if (!x)
    return {};
  bool isComplex = b.dim(x, -1).isConst(2);
  if (rank < 2 || !b.isFloat(x) || !(isComplex || b.dim(x, -1).isConst(1)) || axis.size() != 1)
    return b.fail("a signal " + describe(b.shape(x)),
                  "its last axis has 1 or 2 elements: real, or real and imaginary; fix an open one with --dim");
  if (oneSided && inverse != isComplex)
    return b.fail(inverse ? "a one-sided inverse of real numbers" : "one side of the frequencies of complex numbers",
                  "set attribute 'onesided' to 0");
  if (!b.check(view::less(axis[0], rank - 1), "the axis of a transform is that of the real and imaginary parts"))
    return {};
  Complex parts = partsOf(b, x);
  Shape shape = b.shape(parts.real);
  // In float64, as sums of a signal's length are.
  mlir::Type wide = b.builder().getF64Type();
  parts.real = b.cast(aroundAxis(n, b, parts.real, axis[0]), wide);
  if (parts.imaginary)
    parts.imaginary = b.cast(b.reshape(parts.imaginary, b.shape(parts.real)), wide);
  Expr along = b.dim(parts.real, 1), length = oneSided && inverse ? (along - 1) * 2 : along;
  if (n.has(1)) {
    std::optional<Elements> given = n.sizes(1);
    if (!given || given->size() != 1)
      return b.fail("the length of a transform is not one number");
    length = given->front();
  }
  bool isReal = oneSided && inverse;
  Expr count = oneSided && !inverse ? view::floorDiv(length, 2) + 1 : length;
  Complex result =
      isReal ? Complex{realSignal(n, b, parts, length), {}} : transform(n, b, parts, length, count, inverse);
  for (auto [i, size] : llvm::enumerate(shape))
    size = n.named("size", choose(isEqual(axis[0], int64_t(i)), count, size));
  auto part = [&](Value v) { return b.unsqueeze(b.reshape(b.cast(v, b.element(x)), shape), {-1}); };
  return isReal ? part(result.real) : b.concat({part(result.real), part(result.imaginary)}, -1);
}

/// The frequencies of each of the windows that begin `step` apart.
static Value stft(Node &n, TensorBuilder &b) {
  Value x = n.input(0), window = n.optionalInput(2);
  bool oneSided = n.flag("onesided", true);
  std::optional<Elements> step = n.numbers(1, 1, view::kMaxDim);
  if (!x || !step)
    return {};
  if (b.rank(x) == 2)
    x = b.unsqueeze(x, {-1});
  bool isComplex = b.dim(x, -1).isConst(2);
  if (b.rank(x) != 3 || !(isComplex || b.dim(x, 2).isConst(1)) || step->size() != 1)
    return b.fail("a signal " + describe(b.shape(x)), "it is [batch, length, 1 or 2]; fix an open axis with --dim");
  if (oneSided && isComplex)
    return b.fail("one side of the frequencies of complex numbers", "set attribute 'onesided' to 0");
  Expr length = window ? b.dim(window, 0) : b.dim(x, 1), signal = b.dim(x, 1);
  if (n.has(3)) {
    std::optional<Elements> given = n.sizes(3);
    if (!given || given->size() != 1)
      return b.fail("the length of a frame is not one number");
    length = given->front();
  }
  if (!b.check(view::greaterEqual(signal, length), "a frame of a signal is longer than the signal"))
    return {};
  Expr frames = n.named("frames", view::floorDiv(signal - length, step->front()) + 1);
  Value begin = b.mul(b.unsqueeze(b.arange(frames, b.int64()), {1}), b.size(step->front()));
  Value place = b.add(begin, b.unsqueeze(b.arange(length, b.int64()), {0}));
  // [batch · frames, length, 1]: signals to transform.
  auto framed = [&](Value part) {
    if (!part)
      return part;
    Value cut = b.gather(part, place, 1);
    if (window)
      cut = b.mul(cut, window);
    return b.cast(b.reshape(cut, {b.dim(part, 0) * frames, length, 1}), b.builder().getF64Type());
  };
  Complex parts = partsOf(b, x);
  parts = {framed(parts.real), framed(parts.imaginary)};
  Expr count = oneSided ? view::floorDiv(length, 2) + 1 : length;
  Complex result = transform(n, b, parts, length, count, /*inverse=*/false);
  Value both = b.cast(b.concat({result.real, result.imaginary}, -1), b.element(x));
  return b.reshape(both, {b.dim(x, 0), frames, count, 2});
}

/// ONNX Runtime's own, of an even number of reals along the last axis, and back from [..., half + 1, 2].
static Value realTransform(Node &n, TensorBuilder &b, bool inverse) {
  Value x = n.input(0);
  int64_t axes = inverse ? n.integer("signal_ndim") : n.integer("signal_ndim", 1);
  bool oneSided = n.flag("onesided", true), isNormalized = n.flag("normalized", false);
  if (!x || !b.ok())
    return {};
  if (axes != 1 || !oneSided || isNormalized || !b.isFloat(x) || b.rank(x) < (inverse ? 2 : 1))
    return b.fail("a transform of " + describe(b.shape(x)) + " along " + llvm::Twine(axes) + " axes",
                  "it is of one axis, with attributes 'onesided' 1 and 'normalized' 0");
  mlir::Type real = b.builder().getF64Type();
  Complex parts = inverse ? partsOf(b, x) : Complex{x, {}};
  Shape shape = b.shape(parts.real);
  Expr along = shape.pop_back_val(), rows = view::product(shape);
  auto rowsOf = [&](Value v) { return v ? b.cast(b.reshape(v, {rows, along, 1}), real) : v; };
  parts = {rowsOf(parts.real), rowsOf(parts.imaginary)};
  Expr length = inverse ? (along - 1) * 2 : along, half = view::floorDiv(along, 2) + 1;
  shape.push_back(inverse ? length : half);
  if (inverse)
    return b.cast(b.reshape(realSignal(n, b, parts, length), shape), b.element(x));
  Complex result = transform(n, b, parts, length, half, /*inverse=*/false);
  return b.cast(b.stack({b.reshape(result.real, shape), b.reshape(result.imaginary, shape)}, -1), b.element(x));
}

static Value rfft(Node &n, TensorBuilder &b) { return realTransform(n, b, /*inverse=*/false); }
static Value irfft(Node &n, TensorBuilder &b) { return realTransform(n, b, /*inverse=*/true); }

/// Products of complex numbers [..., 2], the second's conjugates perhaps.
static Value complexProduct(Node &n, TensorBuilder &b, bool conjugates) {
  Complex x = partsOf(b, n.input(0)), y = partsOf(b, n.input(1));
  if (!x.imaginary || !y.imaginary)
    return b.ok() ? b.fail("its last axis has not 2 elements", "they are real and imaginary") : Value();
  if (conjugates)
    y.imaginary = b.neg(y.imaginary);
  return b.stack({b.sub(b.mul(x.real, y.real), b.mul(x.imaginary, y.imaginary)),
                  b.add(b.mul(x.real, y.imaginary), b.mul(x.imaginary, y.real))},
                 -1);
}

static Value complexMul(Node &n, TensorBuilder &b) { return complexProduct(n, b, /*conjugates=*/false); }
static Value complexMulConj(Node &n, TensorBuilder &b) { return complexProduct(n, b, /*conjugates=*/true); }

/// A triangle over the frequencies for each of bins that are evenly spaced in mels: [frequencies, bins].
static Tensor melWeightMatrix(Node &n, TensorBuilder &b) {
  int64_t dataType = n.integer("output_datatype", ::onnx::TensorProto::FLOAT);
  mlir::Type element = elementType(n.importer().builder().getContext(), dataType), real = b.builder().getF64Type();
  std::optional<Elements> bins = n.sizes(0), length = n.sizes(1);
  auto scalar = [&](int index) { return b.cast(b.reshape(n.input(index), {}), real); };
  if (!bins || !length)
    return {};
  if (!element)
    return n.fail("dtype " + dataTypeName(dataType) + " is not supported", kKnownDTypes);
  if (bins->size() != 1 || length->size() != 1)
    return n.fail("the number of bins and the length of the transform are one number each");
  Value rate = scalar(2), low = scalar(3), high = scalar(4);
  double perDecade = 2595, corner = 700, tens = std::numbers::ln10;
  auto toMel = [&](Value hertz) { return b.mul(b.log(b.add(b.div(hertz, corner), 1)), perDecade / tens); };
  Expr count = bins->front(), frequencies = n.named("frequencies", view::floorDiv(length->front(), 2) + 1);
  Value from = toMel(low), step = b.div(b.sub(toMel(high), from), b.cast(b.size(count + 2), real));
  // The frequency at which a triangle begins, is highest and ends.
  auto edge = [&](int64_t i) {
    Value number = b.cast(b.add(b.arange(count, b.int64()), i), real);
    Value mel = b.add(b.mul(number, step), from);
    Value hertz = b.mul(b.sub(b.exp(b.mul(mel, tens / perDecade)), 1), corner);
    return b.unsqueeze(b.floor(b.div(b.mul(hertz, b.cast(b.size(length->front() + 1), real)), rate)), {0});
  };
  Value left = edge(0), middle = edge(1), right = edge(2);
  Value at = b.unsqueeze(b.cast(b.arange(frequencies, b.int64()), real), {1});
  Value rising = b.div(b.sub(at, left), b.maximum(b.sub(middle, left), 1));
  Value falling = b.div(b.sub(right, at), b.maximum(b.sub(right, middle), 1));
  Value isTop = b.equal(at, middle);
  return b.cast(b.where(isTop, b.constant(1, real), b.maximum(b.minimum(rising, falling), 0)), element);
}

void kiln::import::onnx::addSignals(Registry &r) {
  r.add("DFT", 17, dft);
  r.add("MelWeightMatrix", 17, melWeightMatrix);
  r.add("STFT", 17, stft);
  r.add("BlackmanWindow", 17, cosineWindow(0.42, 0.5, 0.08));
  r.add("HammingWindow", 17, cosineWindow(25.0 / 46, 21.0 / 46, 0));
  r.add("HannWindow", 17, cosineWindow(0.5, 0.5, 0));
  r.add("com.microsoft", "ComplexMul", 1, complexMul);
  r.add("com.microsoft", "ComplexMulConj", 1, complexMulConj);
  r.add("com.microsoft", "Irfft", 1, irfft);
  r.add("com.microsoft", "Rfft", 1, rfft);
}
