//===- MathBench.cpp - Errors and times of the mathematical functions -----------------===//
// `MathBench [CPU]` prints the table of docs/transcendental.md: for each function the largest distance from the nearest
// float32 over a stratified million, without and with multiply-adds, and nanoseconds an element in cache, as kiln
// writes it and as a call of libm. Times are the best of many runs of one core.
//===--------------------------------------------------------------------------------===//

#include "render/llvm/Jit.h"
#include "target/Target.h"
#include "test/unit/lower/MathKernel.h"

#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

#include <chrono>
#include <cmath>
#include <cstring>
#include <random>

using namespace kiln;
using namespace kiln::test;

static constexpr int64_t kElements = 4096;

static double nanoseconds(target::LoadedKernel &kernel, std::vector<float> &x, std::vector<float> &y) {
  std::vector<float> out(kElements);
  void *buffers[] = {out.data(), x.data(), y.data()};
  double best = INFINITY;
  for (int run = 0; run < 300; ++run) {
    auto start = std::chrono::steady_clock::now();
    for (int repeat = 0; repeat < 4; ++repeat)
      kernel.run(buffers, nullptr, 0);
    std::chrono::duration<double, std::nano> time = std::chrono::steady_clock::now() - start;
    best = std::min(best, time.count() / 4 / kElements);
  }
  return best;
}

/// Positive numbers, as logarithms take them, and exponents of either sign.
static std::vector<float> operands(float low, float high) {
  std::mt19937 random(1);
  std::uniform_real_distribution<float> between(low, high);
  std::vector<float> values(kElements);
  for (float &value : values)
    value = between(random);
  return values;
}

static double time(llvm::ArrayRef<const char *> rows, const target::Cpu &cpu, bool isRewritten, bool isSigned) {
  mlir::MLIRContext context;
  context.loadDialect<KilnDialect>();
  TargetAttr like = target::cpuTarget("cpu", cpu, &context);
  MathKernel kernel(rows, DType::F32, kElements, like.vectorBits() / 32, like.getFma(), isRewritten,
                    like.isNative(Alu::LDEXP));
  std::unique_ptr<render::Jit> jit = llvm::cantFail(render::Jit::create(cpu, 2));
  std::unique_ptr<target::LoadedKernel> loaded = llvm::cantFail(jit->load(kernel.function()));
  std::vector<float> x = operands(isSigned ? -4 : 0.1f, 8), y = operands(-4, 4);
  return nanoseconds(*loaded, x, y);
}

static int64_t worst(llvm::ArrayRef<const char *> rows, bool fma, const std::vector<float> &x,
                     const std::vector<float> &y, llvm::ArrayRef<float> wanted) {
  MathKernel kernel(rows, DType::F32, int64_t(x.size()), 256, fma);
  std::vector<char> bytes = kernel.interpret(x.data(), y.data());
  int64_t most = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    float got;
    std::memcpy(&got, &bytes[i * sizeof(float)], sizeof(float));
    most = std::max(most, distance(got, wanted[i]));
  }
  return most;
}

static void printRow(const char *name, llvm::ArrayRef<const char *> rows, const std::vector<float> &x,
                     const std::vector<float> &y, llvm::ArrayRef<float> wanted, const target::Cpu &cpu) {
  bool isSigned = llvm::StringRef(name).substr(0, 3) != "log" && llvm::StringRef(name) != "pow";
  llvm::outs() << "| " << name << " | " << worst(rows, false, x, y, wanted) << " | " << worst(rows, true, x, y, wanted)
               << llvm::format(" | %.2f | %.2f |\n", time(rows, cpu, true, isSigned), time(rows, cpu, false, isSigned));
  llvm::outs().flush();
}

int main(int argc, char **argv) {
  target::Cpu cpu = llvm::cantFail(target::describeCpu(argc > 1 ? argv[1] : ""));
  llvm::outs() << "| function | ULP | ULP with fma | ns on " << cpu.name << " | ns by libm |\n|---|---|---|---|---|\n";
  std::vector<float> x = stratified(2048), y(x.size(), 0), wanted(x.size());
  for (const MathFunction &function : mathFunctions()) {
    for (size_t i = 0; i < x.size(); ++i)
      wanted[i] = float(function.reference(double(x[i])));
    printRow(function.name, function.rows, x, y, wanted, cpu);
  }
  std::mt19937 random(2);
  for (size_t i = 0; i < x.size(); ++i) {
    double logarithm = std::log2(std::fabs(double(x[i]))), power = double(random()) / 0x1p32 * 290 - 155;
    y[i] = logarithm == 0 || !std::isfinite(logarithm) ? 1 : float(power / logarithm);
    if (x[i] < 0)
      y[i] = std::nearbyint(y[i]);
    wanted[i] = float(std::pow(double(x[i]), double(y[i])));
  }
  printRow("pow", {"pow"}, x, y, wanted, cpu);
}
