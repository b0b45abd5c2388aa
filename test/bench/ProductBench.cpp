//===- ProductBench.cpp - Products compared with the peak of one core ------------------------===//
// `ProductBench KILN SOURCE-FOLDER` runs products on one thread and prints what they reach, in GFLOP/s and as a part
// of the multiply-add peak that it measures along with it: times alone say little on a machine whose clock moves.
//===--------------------------------------------------------------------------------===//

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <string>

namespace {

#if defined(__AVX512F__)
constexpr int kVectorBytes = 64;
#elif defined(__AVX__)
constexpr int kVectorBytes = 32;
#else
constexpr int kVectorBytes = 16;
#endif
typedef float Lanes __attribute__((vector_size(kVectorBytes)));

// Twelve chains hide the latency of four or five cycles on two units.
constexpr int kChains = 12, kLanes = kVectorBytes / sizeof(float);
volatile float sink;

double peakOnce() {
  constexpr long kSteps = 4'000'000;
  Lanes sums[kChains] = {}, factor = Lanes{} + 0.999f, term = Lanes{} + 0.001f;
  auto start = std::chrono::steady_clock::now();
  for (long step = 0; step < kSteps; ++step) {
#pragma GCC unroll 12
    for (int chain = 0; chain < kChains; ++chain)
      sums[chain] = sums[chain] * factor + term;
  }
  double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  Lanes total = {};
  for (Lanes sum : sums)
    total += sum;
  sink = total[0];
  return 2.0 * kSteps * kChains * kLanes / seconds * 1e-9;
}

/// The best of several: another program may run at the same time, but nothing runs faster than the peak.
double measurePeak() {
  double best = 0;
  for (int run = 0; run < 40; ++run)
    best = std::max(best, peakOnce());
  return best;
}

struct Product {
  const char *name, *graph; ///< below the source folder
  double operations;        ///< a multiply-add is two
};

constexpr double cube(double size) { return size * size * size; }

constexpr Product kProducts[] = {
    {"512 x 512 x 512", "test/bench/matmul_512.json", 2 * cube(512)},
    {"1024 x 1024 x 1024", "samples/matmul/graph.json", 2 * cube(1024)},
    {"997 x 997 x 997", "test/bench/matmul_997.json", 2 * cube(997)},
    {"1024, both transposed", "test/bench/matmul_transposed.json", 2 * cube(1024)},
    {"16 of 256 x 256 x 256", "test/bench/matmul_batched.json", 2 * 16 * cube(256)},
    {"convolution 64 3 x 3", "test/bench/conv_3x3.json", 2.0 * 64 * 64 * 9 * 56 * 56},
};

/// The fastest of `runs` runs on one thread, packing and all, in seconds; 0 where kiln failed.
double timeProduct(const std::string &kiln, const std::string &graph, const char *runs) {
  std::string command = "'" + kiln + "' run '" + graph + "' --random --threads 1 --bench=" + runs + " 2>&1";
  FILE *pipe = popen(command.c_str(), "r");
  if (!pipe)
    return 0;
  char line[4096], medianUnit[8], leastUnit[8];
  double median = 0, least = 0;
  while (fgets(line, sizeof line, pipe)) {
    sscanf(line, "median %lf %7[a-z], min %lf %7[a-z] over", &median, medianUnit, &least, leastUnit);
    if (std::string(line).rfind("kiln: ", 0) == 0)
      fputs(line, stderr);
  }
  return pclose(pipe) == 0 ? least * 1e-3 : 0;
}

} // namespace

int main(int count, char **arguments) {
  if (count < 3) {
    fprintf(stderr, "ProductBench KILN SOURCE-FOLDER [RUNS [PRODUCTS]]: the first PRODUCTS of the table\n");
    return 2;
  }
  const char *runs = count > 3 ? arguments[3] : "30";
  size_t most = count > 4 ? strtoul(arguments[4], nullptr, 10) : std::size(kProducts);
  most = std::min(most, std::size(kProducts));
  double rates[std::size(kProducts)], peak = measurePeak();
  for (size_t index = 0; index < most; ++index) {
    const Product &product = kProducts[index];
    double seconds = timeProduct(arguments[1], std::string(arguments[2]) + "/" + product.graph, runs);
    if (seconds <= 0) {
      fprintf(stderr, "%s: kiln printed no time\n", product.name);
      return 1;
    }
    rates[index] = product.operations / seconds * 1e-9;
    peak = std::max(peak, measurePeak()); // again: the clock may have moved meanwhile
  }
  printf("one core's multiply-add peak: %.1f GFLOP/s\n", peak);
  for (size_t index = 0; index < most; ++index)
    printf("%-24s %8.1f GFLOP/s %5.0f %%\n", kProducts[index].name, rates[index], 100 * rates[index] / peak);
  return 0;
}
