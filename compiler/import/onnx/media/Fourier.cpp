//===- Fourier.cpp - Discrete Fourier transforms as graphs --------------------===//
//
// A discrete Fourier transform is the product of a signal with a matrix of sines and cosines. That takes n²
// multiplications, for every length, symbolic ones too. A known length that is a product p · q takes n · (p + q): q
// transforms of p elements that lie q apart, each result turned by an angle of its own, and p transforms of q (Cooley
// and Tukey, 1965); both in turn. Angles are counted in parts of a turn, as integers, before they become numbers: so no
// angle is larger than 2π, however long the signal.
//
//===--------------------------------------------------------------------------===//
#include "import/onnx/media/Fourier.h"

#include "import/onnx/tensor/DataSizes.h"

#include <cmath>
#include <numbers>

using namespace kiln;
using namespace kiln::import;
using namespace kiln::import::onnx;
using mlir::Value;
using view::Expr;

/// Longer ones are transformed in two steps, if their length can be divided.
static constexpr int64_t kLongestMatrix = 24;

/// cos and sin of 2π·row·column / length: [rows, columns], each in memory, as every product with it walks it again.
static Complex turns(TensorBuilder &b, Expr rows, Expr columns, Expr length) {
  mlir::Type real = b.builder().getF64Type();
  Value row = b.unsqueeze(b.arange(rows, b.int64()), {1}), column = b.unsqueeze(b.arange(columns, b.int64()), {0});
  Value whole = b.size(view::maximum(length, 1)), part = b.floorMod(b.mul(row, column), whole);
  Value angle = b.mul(b.div(b.cast(part, real), b.cast(whole, real)), 2 * std::numbers::pi);
  return {b.contiguous(b.cos(angle)), b.contiguous(b.sin(angle))};
}

/// The same of known sizes. As long doubles, so that rounding leaves what every machine has.
static Complex knownTurns(TensorBuilder &b, int64_t rows, int64_t columns, int64_t length) {
  llvm::SmallVector<double> cosines, sines;
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < columns; ++j) {
      long double angle = 2 * std::numbers::pi_v<long double> * static_cast<long double>(i * j % length) /
                          static_cast<long double>(length);
      cosines.push_back(double(std::cos(angle)));
      sines.push_back(double(std::sin(angle)));
    }
  auto type = mlir::RankedTensorType::get({rows, columns}, b.builder().getF64Type());
  return {b.weight("cosines", mlir::DenseElementsAttr::get(type, llvm::ArrayRef(cosines))),
          b.weight("sines", mlir::DenseElementsAttr::get(type, llvm::ArrayRef(sines)))};
}

/// x times cos + i·sin, or times cos - i·sin, by this product.
static Complex turned(TensorBuilder &b, Complex x, Complex turn, bool isForward,
                      llvm::function_ref<Value(Value, Value)> product) {
  Value real = product(turn.real, x.real), imaginary = product(turn.imaginary, x.real);
  if (isForward)
    imaginary = b.neg(imaginary);
  if (!x.imaginary)
    return {real, imaginary};
  Value crossed = product(turn.imaginary, x.imaginary);
  return {isForward ? b.add(real, crossed) : b.sub(real, crossed), b.add(imaginary, product(turn.real, x.imaginary))};
}

static Complex multiplied(TensorBuilder &b, Complex x, Complex turn, bool isForward) {
  return turned(b, x, turn, isForward, [&](Value matrix, Value signal) { return b.matmul(matrix, signal); });
}

/// The largest divisor that is at most the square root.
static int64_t divisorOf(int64_t n) {
  int64_t divisor = int64_t(std::sqrt(double(n)));
  while (n % divisor != 0)
    --divisor;
  return divisor;
}

/// All frequencies of signals [before, n, after].
static Complex frequencies(TensorBuilder &b, Complex x, bool isForward) {
  int64_t n = b.dim(x.real, 1).constant(), p = divisorOf(n), q = n / p;
  Expr before = b.dim(x.real, 0), after = b.dim(x.real, 2);
  if (n <= kLongestMatrix || p == 1)
    return multiplied(b, x, knownTurns(b, n, n, n), isForward);
  auto reshaped = [&](Complex v, Shape shape) {
    return Complex{b.reshape(v.real, shape), v.imaginary ? b.reshape(v.imaginary, shape) : Value()};
  };
  // Element j·q + k of a signal, frequency u + p·v of its transform.
  Complex inside = frequencies(b, reshaped(x, {before, p, after * q}), isForward);
  inside = reshaped(inside, {before, p, q, after});
  Complex turn = reshaped(knownTurns(b, p, q, n), {1, p, q, 1});
  inside = turned(b, inside, turn, isForward, [&](Value angle, Value signal) { return b.mul(angle, signal); });
  inside = {b.contiguous(inside.real), b.contiguous(inside.imaginary)};
  Complex outside = frequencies(b, reshaped(inside, {before * p, q, after}), isForward);
  auto ordered = [&](Value v) {
    return b.reshape(b.transpose(b.reshape(v, {before, p, q, after}), 1, 2), {before, n, after});
  };
  return {ordered(outside.real), ordered(outside.imaginary)};
}

/// The first `length` elements along the middle axis of [before, n, after], or all if there are fewer.
static Complex atMost(Node &n, TensorBuilder &b, Complex x, Expr length) {
  Expr kept = view::minimum(b.dim(x.real, 1), length);
  if (view::provablyEqual(kept, b.dim(x.real, 1)))
    return x;
  kept = n.named("kept", kept);
  return {b.narrow(x.real, 1, 0, kept), x.imaginary ? b.narrow(x.imaginary, 1, 0, kept) : Value()};
}

/// [before, length, after] with zeros appended.
static Complex filled(TensorBuilder &b, Complex x, Expr length) {
  auto fill = [&](Value v) { return v ? b.pad(v, Shape{0, 0, 0}, Shape{0, length - b.dim(v, 1), 0}) : v; };
  return {fill(x.real), fill(x.imaginary)};
}

Complex kiln::import::onnx::transform(Node &n, TensorBuilder &b, Complex x, Expr length, Expr count, bool inverse) {
  if (!x.real)
    return {};
  x = atMost(n, b, x, length);
  Complex result;
  bool isSplit = length.isConst() && length.constant() > kLongestMatrix && divisorOf(length.constant()) > 1;
  if (isSplit && b.dim(x.real, 1).isConst()) {
    result = frequencies(b, filled(b, x, length), !inverse);
    result = {b.narrow(result.real, 1, 0, count), b.narrow(result.imaginary, 1, 0, count)};
  } else {
    result = multiplied(b, x, turns(b, count, b.dim(x.real, 1), length), !inverse);
  }
  if (!inverse)
    return result;
  Value whole = b.cast(b.size(view::maximum(length, 1)), b.element(result.real));
  return {b.div(result.real, whole), b.div(result.imaginary, whole)};
}

Value kiln::import::onnx::realSignal(Node &n, TensorBuilder &b, Complex x, Expr length) {
  if (!x.real)
    return {};
  x = atMost(n, b, x, view::floorDiv(length, 2) + 1);
  mlir::Type element = b.element(x.real);
  Expr half = b.dim(x.real, 1);
  Value frequency = b.reshape(b.arange(half, b.int64()), {half, 1});
  Value isAlone = b.bitOr(b.equal(frequency, 0), b.equal(b.mul(frequency, 2), b.size(length)));
  Value times = b.where(isAlone, b.constant(1, element), 2);
  x = {b.mul(x.real, times), x.imaginary ? b.mul(x.imaginary, times) : Value()};
  return transform(n, b, x, length, length, /*inverse=*/true).real;
}
