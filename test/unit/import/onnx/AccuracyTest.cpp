// A function that an importer composes may lose its digits where a difference on the way cancels, and overflow where a
// square or a power on the way does. So each is asked where such a formula would: near 0, near the largest numbers and
// at the ends of its domain, in each dtype, and then all over its range. Wanted are numbers computed with 300 bits,
// where there are any, and elsewhere what the library computes in the next wider dtype. Distances are in units of the
// last place of what is wanted.
#include "OnnxModel.h"

#include <catch2/catch.hpp>

#include <cmath>

using namespace kiln;
using namespace kiln::test;
using Numbers = std::vector<double>;

namespace {
template <class T> struct Format;
template <> struct Format<Half> {
  static constexpr DType dtype = DType::F16;
  static constexpr int digits = 11, leastExponent = -14, onnx = ::onnx::TensorProto::FLOAT16;
};
template <> struct Format<BFloat16> {
  static constexpr DType dtype = DType::BF16;
  static constexpr int digits = 8, leastExponent = -126, onnx = ::onnx::TensorProto::BFLOAT16;
};
template <> struct Format<float> {
  static constexpr DType dtype = DType::F32;
  static constexpr int digits = 24, leastExponent = -126, onnx = ::onnx::TensorProto::FLOAT;
};
template <> struct Format<double> {
  static constexpr DType dtype = DType::F64;
  static constexpr int digits = 53, leastExponent = -1022, onnx = ::onnx::TensorProto::DOUBLE;
};
} // namespace

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

template <class T> static double wide(T value) {
  if constexpr (sizeof(T) == 2)
    return double(float(value));
  else
    return double(value);
}

/// Infinite where one is NaN, or infinite, or a zero of another sign, and the other is not.
template <class T, class Wanted> static double ulpsApart(T got, Wanted wanted) {
  Wanted value = Wanted(wide(got));
  if (std::isnan(value) && std::isnan(wanted))
    return 0;
  if (value == wanted)
    return std::signbit(value) == std::signbit(wanted) ? 0 : kInfinity;
  if (!std::isfinite(value) || !std::isfinite(wanted) || wanted == 0)
    return kInfinity;
  int exponent = std::max(std::ilogb(wanted), Format<T>::leastExponent);
  return double(std::fabs(value - wanted) / std::ldexp(Wanted(1), exponent - Format<T>::digits + 1));
}

template <class T> static std::vector<T> run(const std::string &op, llvm::ArrayRef<T> x, const char *mode = nullptr) {
  OnnxModel model(20);
  model.input("x", {int(x.size())}, Format<T>::onnx).output("y");
  ::onnx::NodeProto &node = model.node(op, {"x"}, {"y"});
  if (mode)
    setString(node, "approximate", mode);
  std::vector<HostTensor> outputs = model.run({HostTensor::of(Format<T>::dtype, {int64_t(x.size())}, x)});
  return outputs[0].elements<T>().vec();
}

/// Half precision is rounded once, from float32: that is half a unit.
template <class T>
static void expect(const std::string &op, const Numbers &numbers, const Numbers &wanted, const char *mode = nullptr) {
  std::vector<T> x;
  for (double number : numbers)
    x.push_back(T(number));
  std::vector<T> got = run<T>(op, x, mode);
  REQUIRE(got.size() == wanted.size());
  for (size_t i = 0; i < x.size(); ++i) {
    CAPTURE(op, numbers[i], wide(got[i]), wanted[i]);
    CHECK(ulpsApart(got[i], wanted[i]) <= (sizeof(T) == 2 ? 0.51 : 8));
  }
}

TEST_CASE("Asinh and Acosh of numbers whose square is too large, and near their zeros") {
  expect<Half>("Asinh", {100, 300, -20000, 0.0010004}, {5.29834237, 6.39693243, -10.5966347, 0.00100040419});
  expect<BFloat16>("Asinh", {0x1p100}, {70.0078652});
  expect<float>("Asinh", {1e-8, 1e-5, -3, 2e19, -3e38},
                {9.99999994e-9, 9.99999975e-6, -1.81844646, 45.1354111, -89.289993});
  expect<double>("Asinh", {1e-12, 1e-5, -1e200}, {1e-12, 9.9999999998333342e-6, -461.21016577936908});
  expect<Half>("Acosh", {1, 1.0009765625, 300, 60000}, {0, 0.0441905781, 6.39692688, 11.695247});
  expect<float>("Acosh", {1, 1.000001, 3, 2e19, 3e38}, {0, 0.00138106782, 1.76274717, 45.1354111, 89.289993});
  expect<double>("Acosh", {1.0000000001, 1e200}, {1.4142136208675861e-5, 461.21016577936908});
}

TEST_CASE("outside the domain is NaN, however far") {
  Numbers none(5, kNan);
  for (const char *op : {"Acosh", "Asin", "Acos", "Atanh"}) {
    expect<float>(op, {-4000, -1e5, -1e19, -3e38, -kInfinity}, none);
    expect<double>(op, {-4000, -1e9, -1e19, -1e308, -kInfinity}, none);
  }
  expect<float>("Acosh", {0.999999, 0, -1, -1.5, -2}, none);
  expect<float>("Atanh", {1.000001, 2, 1e19, 3e38, kInfinity}, none);
}

TEST_CASE("Sinh and Cosh are finite as long as what they give can be written") {
  expect<Half>("Sinh", {0.0010004, 11.703125, -11.703125}, {0.00100040453, 60474.5455, -60474.5455});
  expect<float>("Sinh", {1e-8, -1e-5, 1, 89, -89.4},
                {9.99999994e-9, -9.99999975e-6, 1.17520119, 2.24480641e38, -3.34886275e38});
  expect<double>("Sinh", {1e-12, -1e-5, 710, -710.4},
                 {1e-12, -1.0000000000166667e-5, 1.1169973830808555e308, -1.6663642832806496e308});
  expect<Half>("Cosh", {11.5, 11.703125}, {49357.8855, 60474.5455});
  expect<float>("Cosh", {0.5, 89, -89.4}, {1.12762597, 2.24480641e38, 3.34886275e38});
  expect<double>("Cosh", {0.5, 710, -710.4}, {1.1276259652063808, 1.1169973830808555e308, 1.6663642832806496e308});
}

TEST_CASE("Atanh near 0 and near the ends of its domain") {
  expect<Half>("Atanh", {0.0010004, -0.9990234375}, {0.00100040469, -3.81206529});
  expect<float>("Atanh", {1e-8, -1e-5, 0.25, -0.9999999}, {9.99999994e-9, -9.99999975e-6, 0.255412812, -8.31776614});
  expect<double>("Atanh", {1e-12, -1e-5, 0.9999999999}, {1e-12, -1.0000000000333334e-5, 11.859499013855017});
}

TEST_CASE("exponential units near 0") {
  for (const char *op : {"Elu", "Celu"}) {
    expect<Half>(op, {-0.0010004, -2}, {-0.00099990412, -0.864664717});
    expect<float>(op, {-1e-8, -1e-5, -1, -3}, {-9.99999989e-9, -9.99994975e-6, -0.632120559, -0.950212932});
    expect<double>(op, {-1e-12, -1e-5}, {-9.9999999999949998e-13, -9.9999500001666671e-6});
  }
  expect<Half>("Selu", {-0.0010004, -2}, {-0.00175793078, -1.52016647});
  expect<float>("Selu", {-1e-8, -1e-5, -1, -3}, {-1.75809933e-8, -1.75809051e-5, -1.11133074, -1.67056873});
  expect<double>("Selu", {-1e-12, -1e-5}, {-1.7580993463421512e-12, -1.7580905558756003e-5});
}

TEST_CASE("Celu with a negative alpha is what its definition says") {
  OnnxModel model(20);
  model.input("x", {2}).output("y");
  setFloat(model.node("Celu", {"x"}, {"y"}), "alpha", -1);
  CHECK(model.runFloats({floatTensor({2}, {-20, 1})}) == std::vector<float>{-std::exp(20.0f) + 1, 1});
}

TEST_CASE("Softplus, Mish and Sigmoid where they vanish") {
  expect<Half>("Softplus", {-12, -3}, {6.14419348e-6, 0.0485873516});
  expect<float>("Softplus", {-80, -20, -15, -10, 1, 50},
                {1.80485139e-35, 2.06115362e-9, 3.05902274e-7, 4.53988992e-5, 1.31326169, 50});
  expect<double>("Softplus", {-700, -40}, {9.8596765437597709e-305, 4.248354255291589e-18});
  expect<Half>("Mish", {-12, -3}, {-7.37303217e-5, -0.145647461});
  expect<float>("Mish", {-80, -20, -1e-5, 1, 50}, {-1.44388111e-33, -4.12230724e-8, -5.99996785e-6, 0.865098388, 50});
  expect<double>("Mish", {-700, -40}, {-6.9017735806318396e-302, -1.6993417021166356e-16});
  expect<Half>("Sigmoid", {-12}, {6.1441746e-6});
}

TEST_CASE("Gelu by tanh keeps its digits where tanh is near -1") {
  // What the exponent's rounding makes of the result grows with the exponent.
  std::vector<float> tail = run<float>("Gelu", {-6, -4}, "tanh");
  CHECK(ulpsApart(tail[0], -8.4396467e-11) <= 100);
  CHECK(ulpsApart(tail[1], -7.02459482e-5) <= 50);
  expect<float>("Gelu", {1, 50}, {0.841191991, 50}, "tanh");
  expect<Half>("Gelu", {-3, 41}, {-0.00363739208, 41}, "tanh");
}

TEST_CASE("HardSwish of the largest numbers is those numbers") {
  expect<Half>("HardSwish", {11000, 60000}, {11000, 60000});
  expect<BFloat16>("HardSwish", {0x1p126}, {0x1p126});
  expect<float>("HardSwish", {1e38, -1}, {1e38, -1.0 / 3});
  expect<double>("HardSwish", {1e308, -1}, {1e308, -1.0 / 3});
}

TEST_CASE("zeros keep their sign, infinities are limits and NaN stays") {
  auto check = [](const char *op, Numbers wanted) {
    Numbers x = {0.0, -0.0, kInfinity, -kInfinity, kNan};
    wanted.push_back(kNan);
    expect<float>(op, x, wanted);
    expect<double>(op, x, wanted);
  };
  constexpr double quarter = 1.5707963267948966;
  check("Sinh", {0.0, -0.0, kInfinity, -kInfinity});
  check("Cosh", {1, 1, kInfinity, kInfinity});
  check("Asinh", {0.0, -0.0, kInfinity, -kInfinity});
  check("Atanh", {0.0, -0.0, kNan, kNan});
  check("Asin", {0.0, -0.0, kNan, kNan});
  check("Atan", {0.0, -0.0, quarter, -quarter});
  check("Acosh", {kNan, kNan, kInfinity, kNan});
  check("Elu", {0.0, -0.0, kInfinity, -1});
  check("Celu", {0.0, -0.0, kInfinity, -1});
  check("Softplus", {0.69314718055994531, 0.69314718055994531, kInfinity, 0.0});
  check("Softsign", {0.0, -0.0, kNan, kNan});
  check("Mish", {0.0, -0.0, kInfinity, kNan});
  check("HardSwish", {0.0, -0.0, kInfinity, kNan});
  expect<float>("Atanh", {1, -1}, {kInfinity, -kInfinity});
}

//===----------------------------------------------------------------------===//
// All over the range
//===----------------------------------------------------------------------===//

/// `count` numbers of each sign and exponent.
template <class T> static std::vector<T> stratified(int least, int most, int count) {
  std::vector<T> numbers;
  for (int exponent = least; exponent < most; ++exponent)
    for (int i = 0; i < count; ++i) // unevenly, so that the digits differ
      for (T sign : {T(1), T(-1)})
        numbers.push_back(sign * std::ldexp(T(1) + T(i) / T(count) + T(i * i) / T(37 * count * count), exponent));
  return numbers;
}

template <class W> struct Function {
  const char *op;
  double ulps;
  W (*reference)(W);
};

/// docs/transcendental.md has these bounds.
template <class W> static const std::vector<Function<W>> &functions() {
  static const std::vector<Function<W>> all = {
      {"Sinh", 5, [](W x) { return std::sinh(x); }},
      {"Cosh", 5, [](W x) { return std::cosh(x); }},
      {"Asinh", 5, [](W x) { return std::asinh(x); }},
      {"Acosh", 5, [](W x) { return std::acosh(x); }},
      {"Atanh", 5, [](W x) { return std::atanh(x); }},
      {"Asin", 7, [](W x) { return std::asin(x); }},
      {"Acos", 7, [](W x) { return std::acos(x); }},
      {"Atan", 7, [](W x) { return std::atan(x); }},
      {"Elu", 5, [](W x) { return x < 0 ? std::expm1(x) : x; }},
      {"Celu", 5, [](W x) { return x < 0 ? std::expm1(x) : x; }},
      {"Selu", 5,
       [](W x) { return W(1.05070102214813232421875) * (x < 0 ? W(1.67326319217681884765625) * std::expm1(x) : x); }},
      {"Softplus", 5, [](W x) { return std::max(x, W(0)) + std::log1p(std::exp(-std::fabs(x))); }},
      {"Mish", 6, [](W x) { return x * std::tanh(std::max(x, W(0)) + std::log1p(std::exp(-std::fabs(x)))); }},
      {"HardSwish", 3, [](W x) { return x * std::clamp(x + 3, W(0), W(6)) / 6; }},
      {"Softsign", 2, [](W x) { return x / (1 + std::fabs(x)); }},
      {"Sigmoid", 4, [](W x) { return 1 / (1 + std::exp(-x)); }},
  };
  return all;
}

/// The largest distance where the result is a normal number, also before a large x was multiplied into it.
template <class T, class W> static void checkAll(const std::vector<T> &x) {
  for (const Function<W> &function : functions<W>()) {
    std::vector<T> got = run<T>(function.op, x);
    double most = 0, at = 0;
    for (size_t i = 0; i < x.size(); ++i) {
      W wanted = function.reference(W(x[i]));
      W least = W(std::numeric_limits<T>::min()) * std::max(W(1), std::fabs(W(x[i])));
      if (std::fabs(wanted) < least || std::fabs(wanted) > W(std::numeric_limits<T>::max()))
        continue;
      double apart = ulpsApart(got[i], wanted);
      if (apart > most)
        most = apart, at = double(x[i]);
    }
    INFO(function.op << " of " << at << " is " << most << " units of the last place away");
    CHECK(most <= function.ulps);
  }
}

TEST_CASE("no function of float32 is farther away than its bound") {
  checkAll<float, double>(stratified<float>(-123, 128, 24));
}

TEST_CASE("no function of float64 is farther away than its bound") {
  // Where the library has nothing wider its own error counts.
  checkAll<double, long double>(stratified<double>(-1019, 1024, 3));
  checkAll<double, long double>(stratified<double>(-30, 10, 64));
}
