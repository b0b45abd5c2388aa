//===- ViewProperty.cpp - Random movements against their meaning ----------===//
//
//   ViewProperty [--chains N] [--seed S] [--length L]
//
// Each chain has a seed of its own, printed where it fails: ViewProperty --seed S --chains 1 runs it alone. Every other
// chain has symbolic dims.
//
//===----------------------------------------------------------------------===//
#include "Chains.h"

#include <CLI/CLI.hpp>

#include <iostream>

int main(int argc, char **argv) {
  uint64_t seed = 1, chains = 1000;
  unsigned length = 8;
  CLI::App app("Random chains of movements against brute force");
  app.add_option("--seed", seed, "the first chain's seed; the next ones follow");
  app.add_option("--chains", chains, "how many chains");
  app.add_option("--length", length, "the most movements a chain");
  CLI11_PARSE(app, argc, argv);

  uint64_t failed = 0;
  for (uint64_t i = 0; i < chains && failed < 10; ++i) {
    std::mt19937_64 random(seed + i);
    kiln::test::Chain chain = kiln::test::randomChain(random, 1 + random() % length, (seed + i) % 2);
    std::string wrong = kiln::test::checkChain(chain);
    if (wrong.empty())
      continue;
    ++failed;
    std::cout << "seed " << seed + i << ": " << chain.text << "\n  " << wrong << "\n";
    for (auto [symbol, value] : chain.binding)
      std::cout << "  " << symbol.render() << " = " << value << "\n";
  }
  std::cout << "seeds " << seed << " to " << seed + chains - 1 << ": " << failed << " failed" << std::endl;
  return failed != 0;
}
