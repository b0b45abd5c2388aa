// Floats of 8 bits and fewer and integers of 4 and 2 bits are not dtypes of the graph: the importer writes casts from
// and to them as arithmetic on bytes. No example shows that such arithmetic rounds right everywhere. So all codes are
// tried, and of floats all numbers of a form, what lies halfway between two of them, and the floats next to that;
// LLVM's APFloat has the answers.
#include "OnnxModel.h"

#include "llvm/ADT/APFloat.h"

#include <catch2/catch.hpp>

#include <cmath>

using namespace kiln;
using namespace kiln::test;
using Catch::Contains;
using llvm::APFloat;
using Proto = ::onnx::TensorProto;
using Bytes = std::vector<uint8_t>;
using Floats = std::vector<float>;

namespace {
struct Form {
  int dtype;
  const llvm::fltSemantics &semantics;
  unsigned bits;
};
} // namespace

static const Form forms[] = {
    {Proto::FLOAT8E4M3FN, APFloat::Float8E4M3FN(), 8}, {Proto::FLOAT8E4M3FNUZ, APFloat::Float8E4M3FNUZ(), 8},
    {Proto::FLOAT8E5M2, APFloat::Float8E5M2(), 8},     {Proto::FLOAT8E5M2FNUZ, APFloat::Float8E5M2FNUZ(), 8},
    {Proto::FLOAT6E2M3, APFloat::Float6E2M3FN(), 6},   {Proto::FLOAT6E3M2, APFloat::Float6E3M2FN(), 6},
    {Proto::FLOAT4E2M1, APFloat::Float4E2M1FN(), 4},   {Proto::FLOAT8E8M0, APFloat::Float8E8M0FNU(), 8},
};

/// What LLVM says that a code is.
static float valueOf(const Form &form, unsigned code) {
  APFloat value(form.semantics, llvm::APInt(form.bits, code));
  return value.isNaN() ? NAN : value.convertToDouble();
}

static HostTensor tensorOf(DType dtype, size_t count, const void *data, size_t bytes) {
  HostTensor tensor = HostTensor::zeros(dtype, {int64_t(count)});
  memcpy(tensor.bytes.data(), data, bytes);
  return tensor;
}
static HostTensor codeTensor(const Bytes &codes) {
  return tensorOf(DType::U8, codes.size(), codes.data(), codes.size());
}
static HostTensor doubleTensor(const std::vector<double> &values) {
  return tensorOf(DType::F64, values.size(), values.data(), 8 * values.size());
}

static Bytes bytesOf(const HostTensor &tensor) { return Bytes(tensor.bytes.begin(), tensor.bytes.end()); }

/// y = x cast to a dtype.
static OnnxModel castModel(int from, int to) {
  OnnxModel model(25);
  model.input("x", {"n"}, from).output("y");
  setInt(model.node("Cast", {"x"}, {"y"}), "to", to);
  return model;
}

static Bytes encode(int dtype, const Floats &values, bool saturates = true, const char *mode = "up") {
  OnnxModel model = castModel(Proto::FLOAT, dtype);
  setInt(*model.graph().mutable_node(0), "saturate", saturates);
  setString(*model.graph().mutable_node(0), "round_mode", mode);
  return bytesOf(model.run({floatTensor({int64_t(values.size())}, values)}).front());
}

static Floats decode(int dtype, const Bytes &codes) {
  return castModel(dtype, Proto::FLOAT).runFloats({codeTensor(codes)});
}

TEST_CASE("every code of a small float is the number that it stands for") {
  for (const Form &form : forms) {
    Bytes codes;
    for (unsigned code = 0; code < (1u << form.bits); ++code)
      codes.push_back(code);
    Floats values = decode(form.dtype, codes);
    for (unsigned code : codes) {
      INFO(form.dtype << " " << code);
      float wanted = valueOf(form, code);
      CHECK((std::isnan(wanted) ? std::isnan(values[code])
                                : values[code] == wanted && std::signbit(values[code]) == std::signbit(wanted)));
    }
  }
}

/// Every number of the form, the middle between it and the next, and the floats next to that.
static Floats probes(const Form &form) {
  Floats values;
  for (unsigned code = 0; code + 1 < (1u << (form.bits - 1)); ++code) {
    float here = valueOf(form, code), next = valueOf(form, code + 1);
    if (!std::isfinite(here))
      continue;
    float middle = std::isfinite(next) ? here + (next - here) / 2 : here * 1.0625f;
    for (float value : {here, std::nextafter(middle, 0.0f), middle, std::nextafter(middle, INFINITY)})
      values.insert(values.end(), {value, -value});
  }
  return values;
}

TEST_CASE("a float is rounded once, to the nearest number or the even one of two") {
  for (const Form &form : llvm::ArrayRef(forms).drop_back()) {
    Floats values = probes(form);
    Bytes codes = encode(form.dtype, values, /*saturates=*/false);
    for (auto [value, code] : llvm::zip(values, codes)) {
      INFO(form.dtype << " " << value);
      APFloat wanted(value);
      bool losesInfo;
      wanted.convert(form.semantics, APFloat::rmNearestTiesToEven, &losesInfo);
      CHECK((wanted.isNaN() ? std::isnan(valueOf(form, code)) : code == wanted.bitcastToAPInt().getZExtValue()));
    }
  }
}

TEST_CASE("a double is not rounded to a float on the way") {
  // Just above the middle of 1 and the next number: a float would be the middle itself, and go back to 1.
  double above = 1.0625 + 0x1p-40;
  CHECK(bytesOf(castModel(Proto::DOUBLE, Proto::FLOAT8E4M3FN).run({doubleTensor({1.0625, above})}).front()) ==
        Bytes{0x38, 0x39});
}

TEST_CASE("too large a number is the largest one, or what overflows") {
  Floats values{465, INFINITY, -INFINITY, 1e6f, -1e6f};
  CHECK(encode(Proto::FLOAT8E4M3FN, values) == Bytes{0x7e, 0x7e, 0xfe, 0x7e, 0xfe});
  CHECK(encode(Proto::FLOAT8E4M3FN, values, false) == Bytes{0x7f, 0x7f, 0xff, 0x7f, 0xff});
  CHECK(encode(Proto::FLOAT8E4M3FNUZ, values) == Bytes{0x7f, 0x7f, 0xff, 0x7f, 0xff});
  CHECK(encode(Proto::FLOAT8E4M3FNUZ, values, false) == Bytes{0x80, 0x80, 0x80, 0x80, 0x80});
  CHECK(encode(Proto::FLOAT8E5M2, values) == Bytes{0x5f, 0x7b, 0xfb, 0x7b, 0xfb});
  CHECK(encode(Proto::FLOAT8E5M2, values, false) == Bytes{0x5f, 0x7c, 0xfc, 0x7c, 0xfc});
  CHECK(encode(Proto::FLOAT4E2M1, values, false) == Bytes{7, 7, 15, 7, 15});
}

TEST_CASE("NaN and the zeros of small floats") {
  Floats values{NAN, 0, -0.0f, -1e-30f};
  CHECK(encode(Proto::FLOAT8E4M3FN, values) == Bytes{0x7f, 0, 0x80, 0x80});
  CHECK(encode(Proto::FLOAT8E4M3FNUZ, values) == Bytes{0x80, 0, 0, 0});
  CHECK(encode(Proto::FLOAT8E5M2, values) == Bytes{0x7e, 0, 0x80, 0x80});
  CHECK(encode(Proto::FLOAT8E5M2FNUZ, values) == Bytes{0x80, 0, 0, 0});
  CHECK(encode(Proto::FLOAT4E2M1, values) == Bytes{0, 0, 8, 8});
}

TEST_CASE("powers of two round as the node says") {
  Floats values{1, 1.25f, 1.5f, 1.75f, 0x1p127f, 0x1.8p127f, INFINITY, NAN, 0, 0x1p-127f};
  CHECK(encode(Proto::FLOAT8E8M0, values) == Bytes{127, 128, 128, 128, 254, 254, 254, 255, 0, 0});
  CHECK(encode(Proto::FLOAT8E8M0, values, true, "down") == Bytes{127, 127, 127, 127, 254, 254, 254, 255, 0, 0});
  CHECK(encode(Proto::FLOAT8E8M0, values, true, "nearest") == Bytes{127, 127, 128, 128, 254, 254, 254, 255, 0, 0});
  CHECK(encode(Proto::FLOAT8E8M0, values, false, "nearest") == Bytes{127, 127, 128, 128, 254, 255, 255, 255, 255, 0});
  OnnxModel model = castModel(Proto::FLOAT, Proto::FLOAT8E8M0);
  setString(*model.graph().mutable_node(0), "round_mode", "away");
  CHECK_THAT(model.import(), Contains("attribute 'round_mode' is 'away'; it is up, down or nearest"));
}

TEST_CASE("integers of 4 and 2 bits keep the low bits of integers") {
  Floats values{-9, -8, -1, 0, 7, 8, 1.75f};
  CHECK(encode(Proto::INT4, values) == Bytes{7, 8, 15, 0, 7, 8, 1});
  CHECK(encode(Proto::UINT4, values) == Bytes{7, 8, 15, 0, 7, 8, 1});
  CHECK(encode(Proto::INT2, values) == Bytes{3, 0, 3, 0, 3, 0, 1});
  // What lies above a code does not count.
  CHECK(decode(Proto::INT4, {0, 7, 8, 0xff, 0x17}) == Floats{0, 7, -8, -1, 7});
  CHECK(decode(Proto::UINT4, {0, 7, 8, 0xff, 0x17}) == Floats{0, 7, 8, 15, 7});
  CHECK(decode(Proto::INT2, {0, 1, 2, 0xff}) == Floats{0, 1, -2, -1});
  CHECK(decode(Proto::UINT2, {0, 1, 2, 0xff}) == Floats{0, 1, 2, 3});
}

TEST_CASE("a port of a narrow dtype is bytes and says what they are") {
  std::string text = castModel(Proto::FLOAT, Proto::FLOAT8E5M2).import();
  CHECK_THAT(text, Contains(R"({graph.dtype = f8E5M2, graph.name = "y"})"));
  CHECK_THAT(text, !Contains("unrealized"));
  CHECK_THAT(castModel(Proto::INT4, Proto::FLOAT).import(), Contains(R"({graph.dtype = i4, graph.name = "x"})"));
}

TEST_CASE("nothing is computed with narrow dtypes") {
  OnnxModel model(25);
  model.input("x", {2}, Proto::FLOAT8E4M3FN).output("y").node("Add", {"x", "x"}, {"y"});
  CHECK_THAT(model.import(), Contains("add of float8_e4m3fn needs a wider dtype; cast it"));
}

TEST_CASE("a small float may be NaN or infinite") {
  for (auto [op, wanted] : {std::pair("IsNaN", Bytes{0, 1, 0}), {"IsInf", Bytes{1, 0, 0}}}) {
    OnnxModel model(20);
    model.input("x", {3}, Proto::FLOAT8E5M2).output("y").node(op, {"x"}, {"y"});
    CHECK(bytesOf(model.run({codeTensor({0xfc, 0x7e, 0x7b})}).front()) == wanted);
  }
}

/// y = a tensor in float, which is given in a field of the model.
static OnnxModel storedModel(int dtype, int64_t count) {
  OnnxModel model(25);
  model.output("y");
  setInt(model.node("Cast", {"w"}, {"y"}), "to", Proto::FLOAT);
  ::onnx::TensorProto &tensor = *model.graph().add_initializer();
  tensor.set_name("w");
  tensor.set_data_type(dtype);
  tensor.add_dims(count);
  return model;
}

TEST_CASE("codes of fewer than 8 bits are packed in a file") {
  struct Packed {
    int dtype;
    std::string bytes;
    Floats values;
  };
  const Packed cases[] = {{Proto::INT4, "\x81\x0f", {1, -8, -1}},
                          {Proto::UINT2, "\xe4\x02", {0, 1, 2, 3, 2}},
                          {Proto::FLOAT4E2M1, "\x2f\x01", {-6, 1, 0.5f}},
                          {Proto::FLOAT6E2M3, std::string("\x08\x00\x08\x10", 4), {1, 0, 0, 0.25f, 2}}};
  for (const Packed &packed : cases) {
    INFO(packed.dtype);
    OnnxModel raw = storedModel(packed.dtype, packed.values.size());
    raw.graph().mutable_initializer(0)->set_raw_data(packed.bytes);
    CHECK(raw.runFloats({}) == packed.values);
  }
}

TEST_CASE("numbers of a file hold packed codes too") {
  OnnxModel numbers = storedModel(Proto::INT4, 3);
  numbers.graph().mutable_initializer(0)->add_int32_data(0x81);
  CHECK_THAT(numbers.import(), Contains("its data has 1 numbers where its shape needs 2"));
  numbers.graph().mutable_initializer(0)->add_int32_data(0x0f);
  CHECK(numbers.runFloats({}) == Floats{1, -8, -1});
}

TEST_CASE("a large packed tensor stays packed in the program") {
  for (int dtype : {int(Proto::UINT4), int(Proto::INT2), int(Proto::FLOAT6E3M2)}) {
    int64_t width = dtype == Proto::UINT4 ? 4 : dtype == Proto::INT2 ? 2 : 6, count = 10001;
    OnnxModel model = storedModel(dtype, count);
    std::string bytes((count * width + 7) / 8, '\0');
    for (size_t i = 0; i < bytes.size(); ++i)
      bytes[i] = char(37 * i);
    model.graph().mutable_initializer(0)->set_raw_data(bytes);
    CHECK_THAT(model.import(), Contains("tensor<" + std::to_string(bytes.size()) + "xui8> = #graph.file"));
    Bytes codes;
    for (int64_t i = 0; i < count; ++i) {
      unsigned code = 0;
      for (int64_t bit = 0; bit < width; ++bit)
        code |= unsigned(uint8_t(bytes[(i * width + bit) / 8]) >> ((i * width + bit) % 8) & 1) << bit;
      codes.push_back(code);
    }
    CHECK(model.runFloats({}) == decode(dtype, codes));
  }
}
