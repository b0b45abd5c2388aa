#include "MathKernel.h"

#include "interp/UopInterpreter.h"
#include "passes/Passes.h"
#include "target/Target.h"

#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"

#include <bit>
#include <cmath>
#include <random>

using namespace kiln;
using namespace kiln::test;

static double sigmoidOf(double x) { return 1 / (1 + std::exp(-x)); }

const std::vector<MathFunction> &test::mathFunctions() {
  static const std::vector<MathFunction> functions = {
      {"exp", {"exp"}, std::exp, 1},
      {"exp2", {"exp2"}, std::exp2, 1},
      {"log", {"log"}, std::log, 1},
      {"log2", {"log2"}, std::log2, 1},
      {"tanh", {"tanh"}, std::tanh, 2},
      {"erf", {"erf"}, std::erf, 2},
      {"sigmoid", {"neg", "exp", "add 1", "recip"}, sigmoidOf, 2},
      {"sin", {"sin"}, std::sin, 2},
      {"cos", {"cos"}, std::cos, 2},
  };
  return functions;
}

std::vector<float> test::stratified(unsigned count) {
  std::mt19937 random(1);
  std::vector<float> values;
  for (uint32_t top = 0; top < 512; ++top)
    for (uint32_t i = 0; i < count; ++i) {
      uint32_t stratum = uint32_t(uint64_t(i) << 23) / count, next = uint32_t((uint64_t(i) + 1) << 23) / count;
      uint32_t fraction = i == 0 ? 0 : i + 1 == count ? 0x7fffff : stratum + random() % (next - stratum);
      values.push_back(std::bit_cast<float>(top << 23 | fraction));
    }
  return values;
}

template <class T> int64_t test::distance(T a, T b) {
  using Bits = std::conditional_t<sizeof(T) == 4, int32_t, int16_t>;
  constexpr int64_t kFar = int64_t(1) << 40;
  auto wide = [](T value) { return static_cast<double>(static_cast<float>(value)); };
  if (std::isnan(wide(a)) || std::isnan(wide(b)))
    return std::isnan(wide(a)) && std::isnan(wide(b)) ? 0 : kFar;
  auto bits = [](T value) { return std::bit_cast<Bits>(value); };
  if (wide(a) == 0 && wide(b) == 0)
    return bits(a) == bits(b) ? 0 : kFar;
  auto place = [&](T value) {
    auto magnitude = int64_t(bits(value) & std::numeric_limits<Bits>::max());
    return bits(value) < 0 ? -magnitude : magnitude;
  };
  return std::abs(place(a) - place(b));
}
template int64_t test::distance(float, float);
template int64_t test::distance(Half, Half);
template int64_t test::distance(BFloat16, BFloat16);

static std::string textOf(llvm::ArrayRef<const char *> rows, const std::string &element, int64_t elements,
                          unsigned lanes) {
  std::string pointer = "!uop.ptr<" + element + ", global>";
  std::string type = lanes > 1 ? "vector<" + std::to_string(lanes) + "x" + element + ">" : element;
  std::string load = "[%at : i32] : " + pointer + " -> " + type + "\n";
  std::string text = "uop.func @kernel(%o: " + pointer + ", %x: " + pointer + ", %y: " + pointer +
                     ") attributes {sizes = #kiln.dims<[]>, grid = #kiln.dims<[1]>, local = array<i64: 1>, "
                     "operations = #kiln.expr<0>, bytes = #kiln.expr<0>} {\n"
                     "%zero = uop.const 0 : i32\n%step = uop.const " +
                     std::to_string(lanes) + " : i32\n%end = uop.const " + std::to_string(elements / lanes) +
                     " : i32\nuop.range %i = %zero to %end : i32 attributes {axis = 0} {\n"
                     "%at = uop.alu mul %i, %step : (i32, i32) -> i32\n%v0 = uop.load %x" +
                     load;
  unsigned count = 0;
  for (llvm::StringRef row : rows) {
    auto [name, number] = row.split(' ');
    std::string from = "%v" + std::to_string(count++), to = "%v" + std::to_string(count);
    if (!number.empty()) {
      text += "%n" + from.substr(1) + " = uop.const 1.0 : " + element + "\n";
      std::string splat = "%s" + from.substr(1);
      text += lanes > 1 ? splat + " = uop.vectorize %n" + from.substr(1) + " : " + element + " -> " + type + "\n" : "";
      from += ", " + (lanes > 1 ? splat : "%n" + from.substr(1));
    } else if (name == "pow" || name == "threefry") {
      text += "%p = uop.load %y" + load;
      from += ", %p";
    }
    std::string types = from.find(',') == std::string::npos ? type : type + ", " + type;
    text += to + " = uop.alu " + name.str() + " " + from + " : (" + types + ") -> " + type + "\n";
  }
  return text + "uop.store %v" + std::to_string(count) + ", %o[%at : i32] : " + type + ", " + pointer +
         "\nuop.yield\n}\nuop.yield\n}\n";
}

MathKernel::MathKernel(llvm::ArrayRef<const char *> rows, DType dtype, int64_t elements, unsigned lanes, bool fma,
                       bool isRewritten, bool scales)
    : bytes_(elements * byteSize(dtype)) {
  context_.loadDialect<KilnDialect, uop::UOpDialect>();
  module_ = mlir::parseSourceString<mlir::ModuleOp>(textOf(rows, dtypeName(dtype).str(), elements, lanes), &context_);
  if (!module_)
    llvm::report_fatal_error("a test's kernel does not parse");
  if (!isRewritten)
    return;
  std::string target =
      R"(#kiln.target<device = "cpu", lacks = [exp2, log2, exp, log, sin, cos, tanh, erf, pow, floor, ceil, round,
                       trunc)";
  target += scales ? "], fma = " : ", ldexp], fma = ";
  target += fma ? "true" : "false";
  target += ", rates = <bytes_per_ns = 10, ops_per_ns = 10, product_ops_per_ns = 60, launch_ns = 200, units = 1, "
            "tile_reuse = 8>>";
  (*module_)->setAttr(kTargetAttr, target::parseTarget(target, &context_));
  mlir::PassManager passes(&context_);
  passes.addPass(createRewriteUOps());
  if (failed(passes.run(*module_)))
    llvm::report_fatal_error("a test's kernel is not rewritten");
}

uop::FuncOp MathKernel::function() { return *module_->getOps<uop::FuncOp>().begin(); }

std::vector<char> MathKernel::interpret(const void *x, const void *y) {
  interp::UopProgram program = llvm::cantFail(interp::UopProgram::decode(function()));
  std::vector<char> result(bytes_);
  interp::UopBuffer buffers[] = {
      {result.data(), bytes_}, {const_cast<void *>(x), bytes_}, {const_cast<void *>(y ? y : x), bytes_}};
  llvm::cantFail(program.launch(buffers, {}, {1}));
  return result;
}
