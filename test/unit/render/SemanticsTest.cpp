// What Alu.def decides and C leaves open, computed on every device that takes source. Overflow, division by 0 and
// shifts past the width are undefined in C, so a renderer that writes the plain operator is right on one machine and
// wrong after the next update of a compiler. Each test gives rows of operands and results at such places. All of a test
// are one model, so that each compiler is started once for it.
#include "RunModel.h"

#include "llvm/ADT/StringSwitch.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <cstring>
#include <functional>
#include <limits>

using namespace kiln;

namespace {

template <class T> constexpr llvm::StringLiteral kTypeName = "";
template <> constexpr llvm::StringLiteral kTypeName<int8_t> = "i8";
template <> constexpr llvm::StringLiteral kTypeName<uint8_t> = "ui8";
template <> constexpr llvm::StringLiteral kTypeName<uint16_t> = "ui16";
template <> constexpr llvm::StringLiteral kTypeName<int32_t> = "i32";
template <> constexpr llvm::StringLiteral kTypeName<uint32_t> = "ui32";
template <> constexpr llvm::StringLiteral kTypeName<int64_t> = "i64";
template <> constexpr llvm::StringLiteral kTypeName<uint64_t> = "ui64";
template <> constexpr llvm::StringLiteral kTypeName<float> = "f32";
template <> constexpr llvm::StringLiteral kTypeName<double> = "f64";

/// result[i] = kind(operands[0][i], …) as a kernel of two to four pointers.
std::string elementwise(llvm::StringRef name, llvm::StringRef kind, llvm::ArrayRef<llvm::StringRef> types,
                        llvm::StringRef result, size_t count) {
  auto pointer = [](llvm::StringRef type) { return ("!uop.ptr<" + type + ", global>").str(); };
  std::string arguments = "%0: " + pointer(result), loads, names, operandTypes;
  for (auto [index, type] : llvm::enumerate(types)) {
    std::string number = std::to_string(index + 1), comma = index ? ", " : "";
    arguments += ", %" + number + ": " + pointer(type);
    loads += "%x" + number + " = uop.load %" + number + "[%i : i32] : " + pointer(type) + " -> " + type.str() + "\n";
    names += comma + "%x" + number;
    operandTypes += comma + type.str();
  }
  return test::kernelText(name, arguments,
                          "%from = uop.const 0 : i32\n%to = uop.const " + std::to_string(count) +
                              " : i32\nuop.range %i = %from to %to : i32 attributes {axis = 0 : i64} {\n" + loads +
                              "%y = uop.alu " + kind.str() + " " + names + " : (" + operandTypes + ") -> " +
                              result.str() + "\nuop.store %y, %0[%i : i32] : " + result.str() + ", " + pointer(result) +
                              "\nuop.yield\n}");
}

kiln_dtype dtypeNamed(llvm::StringRef type) {
  return llvm::StringSwitch<kiln_dtype>(type)
      .Case("i1", KILN_BOOL)
      .Case("i8", KILN_INT8)
      .Case("ui8", KILN_UINT8)
      .Case("i16", KILN_INT16)
      .Case("ui16", KILN_UINT16)
      .Case("i32", KILN_INT32)
      .Case("ui32", KILN_UINT32)
      .Case("i64", KILN_INT64)
      .Case("ui64", KILN_UINT64)
      .Case("f16", KILN_FLOAT16)
      .Case("bf16", KILN_BFLOAT16)
      .Case("f32", KILN_FLOAT32)
      .Case("f64", KILN_FLOAT64);
}

template <class R> bool same(R a, R b) {
  if constexpr (std::is_floating_point_v<R>)
    if (std::isnan(a) && std::isnan(b))
      return true;
  return std::memcmp(&a, &b, sizeof a) == 0;
}

/// A binary operation within one dtype.
template <class T> struct Row {
  T a, b, want;
};

/// One model of many operations: each a kernel with inputs and an output of its own.
class Suite {
public:
  /// `Result` and the operands are what lies in memory.
  template <class Result, class... Operands>
  void check(llvm::StringRef kind, llvm::ArrayRef<llvm::StringRef> types, llvm::StringRef resultType,
             std::vector<Result> want, std::vector<Operands>... operands) {
    unsigned number = checks_.size();
    kernels_ += elementwise("E_" + std::to_string(number), kind, types, resultType, want.size());
    std::string out = "%y" + std::to_string(number), buffers = out;
    auto port = [&](llvm::StringRef type) {
      return "#host.port<\"p\", tensor<" + std::to_string(want.size()) + "x" + type.str() + ">>";
    };
    outputs_ += (number ? ", " : "") + port(resultType);
    for (llvm::StringRef type : types) {
      std::string input = std::to_string(inputCount_++);
      inputs_ += (inputs_.empty() ? "" : ", ") + port(type);
      body_ += "%x" + input + " = host.input " + input + "\n";
      buffers += ", %x" + input;
    }
    body_ += "%n" + std::to_string(number) + " = arith.constant " + std::to_string(want.size()) + " : i64\n" + out +
             " = host.output " + std::to_string(number) + " dims(%n" + std::to_string(number) + ")\nhost.launch @E_" +
             std::to_string(number) + "(" + buffers + ") sizes() grid() estimates(%zero, %zero) from \"\"\n";
    auto type = types.begin();
    (given_.push_back(test::tensor(dtypeNamed(*type++), operands)), ...);
    checks_.push_back([=, what = kind.str() + " to " + resultType.str()](const test::RunModel &model) {
      std::vector<Result> got = model.output<Result>(number);
      REQUIRE(got.size() == want.size());
      for (size_t i = 0; i < want.size(); ++i) {
        INFO(what << ", row " << i << ": got " << Catch::Detail::stringify(got[i]) << ", want "
                  << Catch::Detail::stringify(want[i]));
        CHECK(same(got[i], want[i]));
      }
    });
  }
  template <class T> void binary(llvm::StringRef kind, std::initializer_list<Row<T>> rows) {
    std::vector<T> a, b, want;
    for (const Row<T> &row : rows) {
      a.push_back(row.a);
      b.push_back(row.b);
      want.push_back(row.want);
    }
    check<T>(kind, {kTypeName<T>, kTypeName<T>}, kTypeName<T>, want, a, b);
  }
  template <class T, class R> void convert(std::vector<T> from, std::vector<R> want) {
    check<R>("cast", {kTypeName<T>}, kTypeName<R>, want, from);
  }

  void run() const {
    std::string text = kernels_ + "host.program @model attributes {inputs = [" + inputs_ + "], outputs = [" + outputs_ +
                       "], weights = [], symbols = []} {\n%zero = arith.constant 0 : i64\n" + body_ + "host.done\n}\n";
    for (const test::Setup &setup : test::setups()) {
      INFO(setup.device.name << " by " << setup.compiler.str());
      test::RunModel model(setup, text);
      kiln_status status = model.run(given_);
      INFO(model.error());
      REQUIRE(status == KILN_OK);
      for (auto &check : checks_)
        check(model);
    }
  }

private:
  std::string kernels_, inputs_, outputs_, body_;
  unsigned inputCount_ = 0;
  std::vector<test::Tensor> given_;
  std::vector<std::function<void(const test::RunModel &)>> checks_;
};

constexpr int32_t kLeast = std::numeric_limits<int32_t>::min(), kMost = std::numeric_limits<int32_t>::max();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN(), kInf = std::numeric_limits<float>::infinity();

} // namespace

TEST_CASE("integers wrap, whatever their width") {
  Suite suite;
  suite.binary<int32_t>("add", {{kMost, 1, kLeast}, {-1, 1, 0}});
  suite.binary<int32_t>("mul", {{65536, 65536, 0}, {kLeast, -1, kLeast}});
  suite.binary<int8_t>("add", {{127, 1, -128}});
  suite.binary<int8_t>("mul", {{-128, -1, -128}});
  suite.binary<uint16_t>("mul", {{65535, 65535, 1}});
  suite.check<int8_t>("neg", {"i8"}, "i8", {-128}, std::vector<int8_t>{-128});
  suite.run();
}

TEST_CASE("division truncates, and has a value where C has none") {
  Suite suite;
  suite.binary<int32_t>("idiv", {{7, 2, 3}, {-7, 2, -3}, {7, 0, 0}, {kLeast, -1, kLeast}, {5, -1, -5}});
  suite.binary<int32_t>("mod", {{7, 2, 1}, {-7, 2, -1}, {7, 0, 7}, {kLeast, -1, 0}});
  suite.binary<int8_t>("idiv", {{-128, -1, -128}, {1, 0, 0}});
  suite.binary<uint32_t>("idiv", {{7, 0, 0}, {0xffffffffu, 2, 0x7fffffffu}});
  suite.binary<uint32_t>("mod", {{7, 0, 7}, {7, 4, 3}});
  suite.binary<int32_t>("fdiv", {{7, 2, 3}, {7, 0, 0}});
  suite.check<int32_t>("recip", {"i32"}, "i32", {1, 0, 0, -1}, std::vector<int32_t>{1, 2, 0, -1});
  suite.binary<float>("idiv", {{7, 2, 3}, {-7, 2, -3}});
  suite.binary<float>("mod", {{-7.5f, 2, -1.5f}});
  suite.run();
}

TEST_CASE("flooring division rounds down") {
  Suite suite;
  suite.binary<int32_t>("floordiv",
                        {{7, 2, 3}, {-7, 2, -4}, {7, -2, -4}, {-8, 2, -4}, {7, 0, 0}, {kLeast, -1, kLeast}});
  suite.binary<int32_t>("floormod", {{7, 2, 1}, {-7, 2, 1}, {7, -2, -1}, {-8, 2, 0}, {7, 0, 7}, {kLeast, -1, 0}});
  suite.binary<int64_t>("floordiv", {{-7, 2, -4}});
  suite.binary<uint8_t>("floormod", {{7, 0, 7}, {7, 4, 3}});
  suite.binary<float>("floordiv", {{-7, 2, -4}});
  suite.binary<float>("floormod", {{-7.5f, 2, 0.5f}, {7.5f, -2, -0.5f}, {6, 2, 0}});
  suite.run();
}

TEST_CASE("MAX and MIN keep a NaN on either side") {
  Suite suite;
  suite.binary<float>("max", {{1, 2, 2}, {2, 1, 2}, {kNan, 1, kNan}, {1, kNan, kNan}, {-kInf, 3, 3}});
  suite.binary<float>("min", {{1, 2, 1}, {2, 1, 1}, {kNan, 1, kNan}, {1, kNan, kNan}});
  suite.binary<int32_t>("max", {{kLeast, 0, 0}});
  suite.binary<uint64_t>("min", {{1ull << 63, 2, 2}});
  suite.run();
}

TEST_CASE("shifts past the width leave zeros, or the sign") {
  Suite suite;
  suite.binary<int32_t>("shl", {{1, 31, kLeast}, {1, 32, 0}, {1, -1, 0}, {-1, 4, -16}});
  suite.binary<int32_t>("shr", {{-8, 1, -4}, {-8, 40, -1}, {8, 40, 0}, {-8, -1, -1}});
  suite.binary<uint8_t>("shl", {{255, 4, 240}, {1, 8, 0}});
  suite.binary<uint32_t>("shr", {{0x80000000u, 31, 1}, {1, 32, 0}});
  suite.run();
}

TEST_CASE("powers of integers wrap, and negative ones truncate") {
  Suite suite;
  suite.binary<int32_t>("pow", {{3, 4, 81}, {2, 32, 0}, {2, -1, 0}, {-1, -3, -1}, {1, -7, 1}, {0, 0, 1}});
  suite.binary<uint8_t>("pow", {{3, 5, 243}, {2, 8, 0}});
  suite.run();
}

TEST_CASE("float to integer truncates and saturates, NaN gives 0") {
  Suite suite;
  suite.convert<float, int32_t>({1.9f, -1.9f, 3e9f, -3e9f, kNan, kInf}, {1, -1, kMost, kLeast, 0, kMost});
  suite.convert<float, uint8_t>({-0.5f, -3, 255.9f, 256}, {0, 0, 255, 255});
  suite.convert<float, int8_t>({-128.9f, 127.9f, -129}, {-128, 127, -128});
  suite.convert<double, int64_t>({9.3e18, -9.3e18, 1e15}, {INT64_MAX, INT64_MIN, 1000000000000000});
  suite.convert<float, uint64_t>({1.9e19f, -1}, {UINT64_MAX, 0});
  suite.convert<int32_t, int8_t>({300, -129}, {44, 127});
  suite.convert<uint32_t, float>({0xffffffffu}, {4294967296.0f});
  suite.run();
}

TEST_CASE("bool is what is not 0") {
  Suite suite;
  suite.check<unsigned char>("cast", {"f32"}, "i1", {0, 0, 1, 1}, std::vector<float>{0, -0.0f, 0.5f, kNan});
  suite.check<float>("cast", {"i1"}, "f32", {0, 1}, std::vector<unsigned char>{0, 1});
  suite.run();
}

TEST_CASE("bool arithmetic saturates in one bit") {
  Suite suite;
  auto table = [&suite](llvm::StringRef kind, std::initializer_list<unsigned char> want) {
    suite.check<unsigned char>(kind, {"i1", "i1"}, "i1", want, std::vector<unsigned char>{0, 0, 1, 1},
                               std::vector<unsigned char>{0, 1, 0, 1});
  };
  table("add", {0, 1, 1, 1});
  table("mul", {0, 0, 0, 1});
  table("max", {0, 1, 1, 1});
  table("xor", {0, 1, 1, 0});
  table("mod", {0, 0, 1, 0});
  table("pow", {1, 0, 1, 1});
  table("cmpne", {0, 1, 1, 0});
  suite.run();
}

TEST_CASE("halves and bfloat16s are stored, and rounded to even") {
  Suite suite;
  // 1, 65504, 2^-24 (the least), 65520 (to infinity), 1+2^-11 (a tie, down), 1+3·2^-11 (a tie, up), NaN
  suite.check<uint16_t>("cast", {"f32"}, "f16", {0x3c00, 0x7bff, 0x0001, 0x7c00, 0x3c00, 0x3c02, 0x7e00, 0x8000},
                        std::vector<float>{1, 65504, 0x1p-24f, 65520, 1 + 0x1p-11f, 1 + 0x3p-11f, kNan, -0.0f});
  suite.check<float>("cast", {"f16"}, "f32", {1, 65504, 0x1p-24f, kInf, kNan, -0x3p-24f},
                     std::vector<uint16_t>{0x3c00, 0x7bff, 0x0001, 0x7c00, 0x7e00, 0x8003});
  // A float in between would make a tie of what is above one.
  suite.check<uint16_t>("cast", {"f64"}, "f16", {0x3c01, 0xbc01, 0x3c00, 0x7c00, 0},
                        std::vector<double>{1 + 0x1p-11 + 0x1p-40, -1 - 0x1p-11 - 0x1p-40, 1, 1e300, 1e-300});
  suite.check<uint16_t>("cast", {"f32"}, "bf16", {0x3f80, 0x3f80, 0x3f82, 0x7f80, 0x7fc0},
                        std::vector<float>{1, 1 + 0x1p-8f, 1 + 0x3p-8f, 3.4e38f, kNan});
  suite.check<float>("cast", {"bf16"}, "f32", {1, -2}, std::vector<uint16_t>{0x3f80, 0xc000});
  suite.check<uint16_t>("add", {"f16", "f16"}, "f16", {0x4200}, std::vector<uint16_t>{0x3c00},
                        std::vector<uint16_t>{0x4000});
  suite.check<uint16_t>("where", {"i1", "f16", "f16"}, "f16", {1, 2}, std::vector<uint8_t>{1, 0},
                        std::vector<uint16_t>{1, 1}, std::vector<uint16_t>{2, 2});
  suite.check<int16_t>("bitcast", {"f16"}, "i16", {-1}, std::vector<uint16_t>{0xffff});
  suite.run();
}

TEST_CASE("bits are reinterpreted") {
  Suite suite;
  suite.check<int32_t>("bitcast", {"f32"}, "i32", {0x3f800000}, std::vector<float>{1});
  suite.check<double>("bitcast", {"ui64"}, "f64", {1}, std::vector<uint64_t>{0x3ff0000000000000});
  suite.run();
}

TEST_CASE("functions of reals take integers to double and back") {
  Suite suite;
  suite.check<int32_t>("sqrt", {"i32"}, "i32", {3, 0}, std::vector<int32_t>{15, -1});
  suite.check<int32_t>("floor", {"i32"}, "i32", {15}, std::vector<int32_t>{15});
  suite.check<float>("round", {"f32"}, "f32", {2, 2, -0.0f}, std::vector<float>{1.5f, 2.5f, -0.4f});
  suite.run();
}
