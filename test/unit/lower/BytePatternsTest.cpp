// Numbers that are rounded to bytes. Quotients become products, and bytes that are only made floats again stay floats:
// to the bit what they were. A mistake would show at single numbers out of 2³². So all are tried at which a result
// changes, and their neighbours, for many divisors and zero points; and numbers of all kinds, infinities and NaN too.
#include "MathKernel.h"

#include "interp/UopInterpreter.h"
#include "passes/Passes.h"
#include "target/Target.h"

#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <cstring>
#include <random>

using namespace kiln;

namespace {
constexpr unsigned kLanes = 8;

/// x / divisor, rounded, plus zero, as bytes.
std::string quantized(float divisor, int zero, llvm::StringRef byte, size_t elements) {
  auto number = [](double value) {
    char text[40];
    std::snprintf(text, sizeof text, "%.9e", value);
    return std::string(text);
  };
  std::string lanes = "vector<" + std::to_string(kLanes) + "x", real = lanes + "f32>", small = lanes + byte.str() + ">",
              out = "!uop.ptr<" + byte.str() + ", global>", in = "!uop.ptr<f32, global>";
  return "uop.func @kernel(%o: " + out + ", %x: " + in +
         ") attributes {sizes = #kiln.dims<[]>, grid = #kiln.dims<[1]>, local = array<i64: 1>, "
         "operations = #kiln.expr<0>, bytes = #kiln.expr<0>} {\n"
         "%first = uop.const 0 : i32\n%step = uop.const " +
         std::to_string(kLanes) + " : i32\n%end = uop.const " + std::to_string(elements / kLanes) +
         " : i32\n%d = uop.const " + number(divisor) + " : f32\n%c = uop.vectorize %d : f32 -> " + real +
         "\n%z = uop.const " + number(zero) + " : f32\n%s = uop.vectorize %z : f32 -> " + real +
         "\nuop.range %i = %first to %end : i32 attributes {axis = 0} {\n"
         "%at = uop.alu mul %i, %step : (i32, i32) -> i32\n%v = uop.load %x[%at : i32] : " +
         in + " -> " + real + "\n%q = uop.alu fdiv %v, %c : (" + real + ", " + real + ") -> " + real +
         "\n%r = uop.alu round %q : (" + real + ") -> " + real + "\n%t = uop.alu add %r, %s : (" + real + ", " + real +
         ") -> " + real + "\n%b = uop.alu cast %t : (" + real + ") -> " + small +
         "\nuop.store %b, %o[%at : i32] : " + small + ", " + out + "\nuop.yield\n}\nuop.yield\n}\n";
}

/// The same bytes plus another number, as floats.
std::string requantized(float divisor, int zero, int added, llvm::StringRef byte, size_t elements) {
  std::string text = quantized(divisor, zero, byte, elements), lanes = "vector<" + std::to_string(kLanes) + "x",
              real = lanes + "f32>", small = lanes + byte.str() + ">", wide = lanes + "i32>";
  auto replace = [&](const std::string &from, const std::string &to) {
    size_t at = text.find(from);
    REQUIRE(at != std::string::npos);
    text.replace(at, from.size(), to);
  };
  std::string out = "!uop.ptr<" + byte.str() + ", global>", in = "!uop.ptr<f32, global>";
  replace("%o: " + out, "%o: " + in);
  replace("uop.range",
          "%m = uop.const " + std::to_string(added) + " : i32\n%n = uop.vectorize %m : i32 -> " + wide + "\nuop.range");
  std::string sum = added == 0 ? "%w" : "%a";
  replace("uop.store %b, %o[%at : i32] : " + small + ", " + out,
          "%w = uop.alu cast %b : (" + small + ") -> " + wide + "\n" +
              (added == 0 ? "" : "%a = uop.alu add %w, %n : (" + wide + ", " + wide + ") -> " + wide + "\n") +
              "%f = uop.alu cast " + sum + " : (" + wide + ") -> " + real + "\nuop.store %f, %o[%at : i32] : " + real +
              ", " + in);
  return text;
}

struct Counts {
  int divisions = 0, products = 0, casts = 0;
};

/// By the interpreter, as they are or rewritten for a device.
std::vector<char> compute(const std::string &text, const std::vector<float> &x, bool isRewritten, Counts &counts,
                          size_t bytes = 1) {
  mlir::MLIRContext context;
  context.loadDialect<KilnDialect, uop::UOpDialect>();
  auto module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
  REQUIRE(module);
  if (isRewritten) {
    llvm::StringRef target = R"(#kiln.target<device = "cpu", lacks = [], fma = true, rates = <bytes_per_ns = 10,
      ops_per_ns = 10, product_ops_per_ns = 60, launch_ns = 200, units = 1, tile_reuse = 8>>)";
    (*module)->setAttr(kTargetAttr, target::parseTarget(target, &context));
    mlir::PassManager passes(&context);
    passes.addPass(createRewriteUOps());
    REQUIRE(succeeded(passes.run(*module)));
  }
  uop::FuncOp func = *module->getOps<uop::FuncOp>().begin();
  func.walk([&](uop::AluOp op) { counts.divisions += op.getKind().getValue() == Alu::FDIV; });
  func.walk([&](uop::AluOp op) { counts.casts += op.getKind().getValue() == Alu::CAST; });
  func.walk([&](uop::FmaOp) { ++counts.products; });
  interp::UopProgram program = llvm::cantFail(interp::UopProgram::decode(func));
  std::vector<char> result(x.size() * bytes);
  interp::UopBuffer buffers[] = {{result.data(), int64_t(result.size())},
                                 {const_cast<float *>(x.data()), int64_t(x.size() * sizeof(float))}};
  llvm::cantFail(program.launch(buffers, {}, {1}));
  return result;
}

std::vector<float> numbers(float divisor) {
  std::vector<float> x = test::stratified(2);
  for (int tie = -520; tie <= 520; ++tie) {
    float at = (float(tie) + 0.5f) * divisor;
    for (int step = 0; step < 3; ++step)
      at = std::nextafter(at, -INFINITY);
    for (int step = 0; step < 7; ++step, at = std::nextafter(at, INFINITY))
      x.push_back(at);
  }
  x.resize((x.size() + kLanes - 1) / kLanes * kLanes, NAN);
  return x;
}
} // namespace

TEST_CASE("A quotient that is rounded to bytes is a product") {
  std::mt19937 random(7);
  std::uniform_real_distribution<float> fraction(1, 2);
  Counts plain, rewritten;
  for (int each = 0; each < 200; ++each) {
    float divisor = each < 4 ? std::ldexp(1.0f, each - 2) : std::ldexp(fraction(random), each % 40 - 30);
    bool isSigned = each % 2;
    int zero = each % 3 == 0 ? 0 : int(random() % 256) - (isSigned ? 128 : 0);
    std::vector<float> x = numbers(divisor);
    std::string text = quantized(divisor, zero, isSigned ? "i8" : "ui8", x.size());
    INFO(text);
    REQUIRE(compute(text, x, /*isRewritten=*/false, plain) == compute(text, x, /*isRewritten=*/true, rewritten));
  }
  CHECK(plain.divisions == 200);
  CHECK(rewritten.divisions < 10);
  CHECK(rewritten.products > 100);
}

TEST_CASE("A byte that is only made a float again stays a float") {
  std::mt19937 random(7);
  Counts plain, rewritten;
  for (int each = 0; each < 40; ++each) {
    bool isSigned = each % 2;
    int zero = each % 3 == 0 ? 0 : int(random() % 256) - (isSigned ? 128 : 0);
    std::vector<float> x = numbers(0.37f);
    for (int added : {0, -zero, 77}) {
      std::string text = requantized(0.37f, zero, added, isSigned ? "i8" : "ui8", x.size());
      INFO(text);
      REQUIRE(compute(text, x, /*isRewritten=*/false, plain, sizeof(float)) ==
              compute(text, x, /*isRewritten=*/true, rewritten, sizeof(float)));
    }
  }
  CHECK(plain.casts == 40 * 3 * 3);
  CHECK(rewritten.casts == 0);
}

TEST_CASE("A quotient keeps its division where products do not give the same") {
  std::vector<float> x(kLanes, 3);
  for (float divisor : {0.0f, 1e-30f, 1e30f, -0.5f, INFINITY}) {
    Counts counts;
    std::string text = quantized(std::isinf(divisor) ? 1e-40f : divisor, 0, "ui8", x.size());
    compute(text, x, /*isRewritten=*/true, counts);
    CHECK(counts.divisions == 1);
  }
  // A quotient that is only stored has no byte.
  test::MathKernel stored({"neg", "fdiv 1"}, DType::F32, kLanes, kLanes, /*fma=*/true);
  int divisions = 0;
  stored.function().walk([&](uop::AluOp op) { divisions += op.getKind().getValue() == Alu::FDIV; });
  CHECK(divisions == 1);
  Counts wide;
  compute(quantized(0.3f, 5000, "ui8", x.size()), x, /*isRewritten=*/true, wide);
  CHECK(wide.divisions == 1);
}
