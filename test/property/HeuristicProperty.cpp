//===- HeuristicProperty.cpp - The opts that kiln chooses fit -----------------===//
//
//   HeuristicProperty [--models N] [--seed S] [--target NAME] [--print]
//
// N models at random, each for one of many targets, go as far as stage optimize. None may be refused there, and no opt
// that kiln chose may turn out not to fit. A find is printed with the seed that makes this one model again.
//
//===------------------------------------------------------------------------===//
#include "RandomModels.h"

#include "ir/base/Target.h"
#include "passes/Pipeline.h"
#include "tools/kiln/options/TargetOption.h"

#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"

#include <CLI/CLI.hpp>

#include <csignal>
#include <ctime>
#include <iostream>
#include <unistd.h>

using namespace kiln;

namespace {

struct Target {
  const char *name, *device, *cpu, *triple;
};

constexpr Target kTargets[] = {{"x86-64", "cpu", "x86-64", ""},
                               {"x86-64-v3", "cpu", "x86-64-v3", ""},
                               {"x86-64-v4", "cpu", "x86-64-v4", ""},
                               {"znver4", "cpu", "znver4", ""},
                               {"sapphirerapids", "cpu", "sapphirerapids", ""},
                               {"aarch64", "cpu", "generic", "aarch64-linux-gnu"},
                               {"neoverse-v1", "cpu", "neoverse-v1", "aarch64-linux-gnu"},
                               {"c", "c", "", ""},
                               {"opencl", "opencl", "", ""},
                               {"cuda", "cuda", "", ""}};
/// A context keeps what it has interned, so it serves so many models.
constexpr uint64_t kModelsOfContext = 500;
constexpr double kSlowSeconds = 10;

uint64_t current; ///< the seed of the model at hand

} // namespace

extern "C" void onDeath(int signal) {
  dprintf(STDOUT_FILENO, "--models 1 --seed %llu: dies of signal %d\n", (unsigned long long)current, signal);
  _exit(1);
}

static mlir::DialectRegistry dialects() {
  mlir::DialectRegistry registry;
  registerDialects(registry);
  return registry;
}

/// Takes a model as far as stage optimize; what is wrong, "" where nothing is.
static std::string check(mlir::ModuleOp module, const Target &target) {
  std::string wrong;
  mlir::ScopedDiagnosticHandler handler(module.getContext(), [&](mlir::Diagnostic &diagnostic) {
    bool counts = diagnostic.getSeverity() == mlir::DiagnosticSeverity::Error ||
                  diagnostic.getSeverity() == mlir::DiagnosticSeverity::Warning;
    if (counts && wrong.empty())
      wrong = diagnostic.str();
  });
  driver::CompileOptions options;
  options.model = "random";
  options.device = target.device;
  options.cpu = target.cpu;
  options.triple = target.triple;
  if (llvm::Error error = driver::setTarget(module, options))
    return llvm::toString(std::move(error));
  for (Stage stage : {Stage::View, Stage::Schedule, Stage::Optimize}) {
    mlir::PassManager passes(module.getContext());
    addStage(passes, stage, {});
    if (mlir::failed(passes.run(module)))
      return "stage " + stageName(stage).str() + " failed: " + wrong;
  }
  return wrong;
}

static std::string printed(mlir::ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream(text) << module;
  return text;
}

int main(int argc, char **argv) {
  uint64_t models = 1000, seed = 1;
  bool print = false;
  std::string only;
  CLI::App app("The opts that kiln chooses fit");
  app.add_option("--models", models, "how many models");
  app.add_option("--seed", seed, "of the first model; the next has the next one");
  app.add_option("--target", only, "for this target alone");
  app.add_flag("--print", print, "print each model as it is before the stages");
  CLI11_PARSE(app, argc, argv);
  std::signal(SIGABRT, onDeath);
  std::signal(SIGSEGV, onDeath);

  uint64_t finds = 0, checked = 0;
  for (uint64_t first = 0; first < models; first += kModelsOfContext) {
    mlir::MLIRContext context(dialects(), mlir::MLIRContext::Threading::DISABLED);
    context.loadAllAvailableDialects();
    for (uint64_t i = first; i < std::min(models, first + kModelsOfContext); ++i) {
      current = seed + i;
      std::mt19937_64 random(current * 0x9e3779b97f4a7c15);
      const Target *target = &kTargets[random() % std::size(kTargets)];
      for (const Target &each : kTargets)
        target = only == each.name ? &each : target;
      test::RandomModel model = test::randomModel(context, random);
      if (!model.module)
        continue;
      if (mlir::failed(mlir::verify(*model.module)))
        return std::cout << "--seed " << current << ": not a model:" << model.text << std::endl, 1;
      if (print)
        std::cout << printed(*model.module) << std::endl;
      std::clock_t begin = std::clock();
      std::string wrong = check(*model.module, *target);
      double seconds = double(std::clock() - begin) / CLOCKS_PER_SEC;
      if (wrong.empty() && seconds > kSlowSeconds)
        wrong = "takes " + std::to_string(seconds) + " seconds of the CPU's time";
      ++checked;
      if (wrong.empty())
        continue;
      ++finds;
      std::cout << "--models 1 --seed " << current << ": " << target->name << ":" << model.text << "\n  " << wrong
                << std::endl;
    }
  }
  std::cout << checked << " models, " << finds << " finds" << std::endl;
  return finds != 0;
}
