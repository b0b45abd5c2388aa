//===- SizesProperty.cpp - Sizes that are data, against the graph interpreter -===//
//
//   SizesProperty [--count N] [--bindings K] [--seed S] [--devices cpu,interp]
//
// Each of N models (RandomSizes.h) is imported with its sizes open and compiled once for each device. At K bindings the
// result of each device is compared with the graph interpreter's, and that with what the interpreter makes of the model
// with the binding's numbers written in it: bit for bit, as no node may depend on when its sizes are known, but for
// interpolations, whose weights are rounded at import or in the run.
//
// A find is printed with its seed: `--seed S --count 1 --keep FILE` works on that model alone and writes it.
//
//===--------------------------------------------------------------------------===//
#include "RandomSizes.h"

#include "interp/GraphInterpreter.h"
#include "tools/kiln/Devices.h"
#include "tools/kiln/model/Model.h"
#include "tools/kiln/running/Compare.h"
#include "tools/kiln/running/Load.h"
#include "tools/kiln/running/RunModel.h"

#include "llvm/ADT/StringExtras.h"

#include <CLI/CLI.hpp>

#include <chrono>
#include <csignal>
#include <fstream>
#include <iostream>
#include <unistd.h>

using namespace kiln;
using namespace kiln::driver;
using interp::HostTensor;
using test::Binding;

namespace {

struct Options {
  uint64_t seed = 1, count = 100;
  unsigned bindings = 5, level = 1, seconds = 0;
  std::vector<std::string> devices = {"cpu", "interp"};
  std::string keep;
};

/// A model and the options that it refers to.
struct Opened {
  CompileOptions options;
  std::unique_ptr<Model> model;
};

class SizesCheck {
public:
  SizesCheck(const Options &options, std::string path) : options_(options), path_(std::move(path)) {}
  void check(uint64_t seed);

  uint64_t models = 0, comparisons = 0, finds = 0, unbound = 0;

private:
  llvm::Expected<std::unique_ptr<Opened>> open(const ::onnx::ModelProto &model, const std::string &device);
  void find(const std::string &what);
  /// The interpreter's result for the model with the binding's numbers in it has to be `wanted`.
  void checkWritten(const test::SizesModel &model, const Binding &binding, const HostTensor &input,
                    const std::vector<HostTensor> &wanted);

  const Options &options_;
  std::string path_;
  uint64_t seed_ = 0;
};

/// The model that is worked on, for the line that is written when the process dies.
volatile uint64_t current;

void sayWhere(int signal) {
  char text[64];
  int length = snprintf(text, sizeof text, "seed %llu: dies of signal %d\n", (unsigned long long)current, signal);
  (void)!write(STDOUT_FILENO, text, size_t(length));
  std::signal(signal, SIG_DFL);
  raise(signal);
}

} // namespace

void SizesCheck::find(const std::string &what) {
  ++finds;
  std::cout << "seed " << seed_ << ": " << what << std::endl;
}

llvm::Expected<std::unique_ptr<Opened>> SizesCheck::open(const ::onnx::ModelProto &proto, const std::string &device) {
  std::ofstream file(path_, std::ios::binary);
  proto.SerializeToOstream(&file);
  file.close();
  auto opened = std::make_unique<Opened>();
  opened->options.model = path_;
  opened->options.device = device;
  opened->options.level = options_.level;
  llvm::Expected<std::unique_ptr<Model>> model = Model::open(opened->options);
  if (!model)
    return model.takeError();
  opened->model = std::move(*model);
  return opened;
}

void SizesCheck::checkWritten(const test::SizesModel &model, const Binding &binding, const HostTensor &input,
                              const std::vector<HostTensor> &wanted) {
  llvm::Expected<std::unique_ptr<Opened>> written = open(model.model(&binding), options_.devices.front());
  if (!written)
    return find("with " + binding.print() + " written: " + llvm::toString(written.takeError()));
  llvm::Expected<std::vector<HostTensor>> got = interp::interpretGraph((*written)->model->module(), {input}, {path_});
  if (!got)
    return find("with " + binding.print() + " written: " + llvm::toString(got.takeError()));
  bool isSame = got->front().dims == wanted.front().dims && got->front().bytes == wanted.front().bytes;
  if (!isSame && (model.isExact() || !compare(got->front(), wanted.front(), VerifyOptions()).equal))
    find("with " + binding.print() + " written the result is another: " + describe(got->front()) + " for " +
         describe(wanted.front()));
}

void SizesCheck::check(uint64_t seed) {
  current = seed_ = seed;
  ++models;
  test::SizesModel model(seed);
  test::Random random(seed);
  ::onnx::ModelProto proto = model.model();
  if (!options_.keep.empty()) {
    std::ofstream file(options_.keep, std::ios::binary);
    proto.SerializeToOstream(&file);
  }
  // Fixed sizes may leave no size for a window, and then the import refuses the model.
  if (test::Random tried = random; !model.bind(tried)) {
    ++unbound;
    return;
  }
  llvm::Expected<std::unique_ptr<Opened>> judge = open(proto, options_.devices.front());
  if (!judge)
    return find(llvm::toString(judge.takeError()));
  std::vector<std::pair<std::unique_ptr<Opened>, std::unique_ptr<target::LoadedModel>>> programs;
  for (const std::string &device : options_.devices) {
    llvm::Expected<std::unique_ptr<Opened>> opened = open(proto, device);
    if (!opened)
      return find(llvm::toString(opened.takeError()));
    llvm::Expected<std::unique_ptr<target::LoadedModel>> loaded = load(*(*opened)->model, (*opened)->options);
    if (!loaded)
      return find("on " + device + ": " + llvm::toString(loaded.takeError()));
    programs.emplace_back(std::move(*opened), std::move(*loaded));
  }
  for (unsigned i = 0; i < options_.bindings; ++i) {
    std::optional<Binding> binding = model.bind(random);
    if (!binding) {
      ++unbound;
      return;
    }
    std::vector<HostTensor> inputs = model.inputs(*binding, random);
    llvm::Expected<std::vector<HostTensor>> wanted = interp::interpretGraph((*judge)->model->module(), inputs, {path_});
    if (!wanted)
      return find("at " + binding->print() + ": " + llvm::toString(wanted.takeError()));
    checkWritten(model, *binding, inputs.front(), *wanted);
    VerifyOptions tolerance;
    for (auto [device, program] : llvm::zip(options_.devices, programs)) {
      llvm::Expected<std::vector<HostTensor>> got = runModel(program.second->model(), inputs, 0);
      if (!got) {
        find("on " + device + " at " + binding->print() + ": " + llvm::toString(got.takeError()));
        continue;
      }
      if (Comparison result = compare(got->front(), wanted->front(), tolerance); !result.equal)
        find("on " + device + " at " + binding->print() + ": " + result.mismatch);
      ++comparisons;
    }
  }
}

int main(int argc, char **argv) {
  Options options;
  std::string devices = "cpu,interp";
  CLI::App app("Sizes that are data against the graph interpreter");
  app.add_option("--count", options.count, "how many models");
  app.add_option("--bindings", options.bindings, "how many choices of sizes for each");
  app.add_option("--seed", options.seed, "that of the first model; each after it has the next");
  app.add_option("--seconds", options.seconds, "stop after so many; 0: never");
  app.add_option("--devices", devices, "where the kernels run, NAME,NAME");
  app.add_option("-O", options.level, "of the code generator");
  app.add_option("--keep", options.keep, "a file to write the last model to");
  CLI11_PARSE(app, argc, argv);
  options.devices.clear();
  for (llvm::StringRef device : llvm::split(devices, ','))
    options.devices.push_back(device.str());
  for (int signal : {SIGABRT, SIGSEGV, SIGFPE, SIGILL, SIGBUS})
    std::signal(signal, sayWhere);

  std::string path = "/tmp/SizesProperty." + std::to_string(getpid()) + ".onnx";
  SizesCheck check(options, path);
  auto start = std::chrono::steady_clock::now();
  for (uint64_t i = 0; i < options.count; ++i) {
    check.check(options.seed + i);
    if (options.seconds && std::chrono::steady_clock::now() - start > std::chrono::seconds(options.seconds))
      break;
  }
  unlink(path.c_str());
  std::cout << check.models << " models from seed " << options.seed << " on, " << check.comparisons
            << " results compared, " << check.unbound << " without numbers that fit, " << check.finds << " finds"
            << std::endl;
  return check.finds != 0;
}
