//===- OptsProperty.cpp - Random opts against the graph interpreter ---------===//
//
//   OptsProperty [--device D] [--lists N] [--first K] [--seed S] [--without KIND,...] [--most N] GRAPH...
//
// For each graph N lists of opts for each of its kernels, each list at random; the model that they make is run and
// compared. An opt may be refused, in one line. Whatever else ends a list, be it an assertion or that it takes too
// long to compile, is a find and printed as a file of opts, which `kiln verify --opts` repeats. A list that compiles
// and runs for too long is printed and counted apart: a stage that every chunk fills anew is slow by its own wish.
//
// A graph is worked on in a process of its own: where that dies, another goes on after the list that killed it.
//
//===------------------------------------------------------------------------===//
#include "RandomOpts.h"

#include "interp/GraphInterpreter.h"
#include "ir/graph/Graph.h"
#include "tools/kiln/Devices.h"
#include "tools/kiln/model/Model.h"
#include "tools/kiln/running/Compare.h"
#include "tools/kiln/running/Load.h"
#include "tools/kiln/running/RandomInputs.h"
#include "tools/kiln/running/RunModel.h"

#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassInstrumentation.h"
#include "mlir/Pass/PassManager.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/xxhash.h"

#include <CLI/CLI.hpp>

#include <csignal>
#include <fcntl.h>
#include <fstream>
#include <iostream>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace kiln;
using namespace kiln::driver;
using interp::HostTensor;

namespace {

struct Options {
  std::string device = "cpu";
  unsigned lists = 10, first = 0, seconds = 30, level = 1, gigabytes = 6;
  uint64_t seed = 1;
  test::OptsChoice choice;
  double relative = 1e-3, absolute = 1e-4;
};

/// What the process of a graph tells the one that watches it.
struct Progress {
  unsigned list;      ///< that is worked on
  char text[1 << 16]; ///< its file of opts, or as much of it as there is
  uint64_t pairs;     ///< kernels and lists that were compiled, run and found right
  uint64_t refused;   ///< lists that a stage after the opts refused
  uint64_t finds;
  bool isRunning; ///< compiled, and what it computes is awaited
  uint64_t slow;  ///< lists that ran for too long
};

/// Inputs at some sizes, and what the interpreter makes of them.
struct Case {
  std::string sizes;
  std::vector<HostTensor> inputs, wanted;
};

/// Keeps the module as it is before opts are applied.
class BeforeOpts final : public mlir::PassInstrumentation {
public:
  explicit BeforeOpts(mlir::OwningOpRef<mlir::ModuleOp> &module) : module_(module) {}
  void runBeforePass(mlir::Pass *pass, mlir::Operation *op) override {
    if (pass->getArgument() == "kiln-optimize-kernels" && !op->getParentOp())
      module_ = mlir::cast<mlir::ModuleOp>(op->clone());
  }

private:
  mlir::OwningOpRef<mlir::ModuleOp> &module_;
};

class GraphCheck {
public:
  GraphCheck(const Options &options, std::string path, Progress &progress)
      : options_(options), path_(std::move(path)), progress_(progress) {}
  /// Works on the lists from progress.list on. An error where the graph itself cannot be checked.
  llvm::Error run();

private:
  llvm::Error prepare();
  void checkList();
  void find(const std::string &what) {
    ++progress_.finds;
    std::cout << path_ << ", list " << progress_.list << ": " << what << "\n" << progress_.text << std::flush;
  }
  std::unique_ptr<Model> open() { return llvm::cantFail(Model::open(compile_)); }

  const Options &options_;
  std::string path_;
  Progress &progress_;
  CompileOptions compile_;
  std::unique_ptr<Model> scheduled_; ///< whose context `kernels_` lives in
  mlir::OwningOpRef<mlir::ModuleOp> kernels_;
  std::vector<Case> cases_;
};

} // namespace

llvm::Error GraphCheck::prepare() {
  compile_.model = path_;
  compile_.level = options_.level;
  compile_.device = options_.device;
  llvm::Expected<std::unique_ptr<Model>> model = Model::open(compile_);
  if (!model)
    return model.takeError();
  scheduled_ = std::move(*model);

  // The result that the lists have to give.
  mlir::ModuleOp graph = scheduled_->module();
  auto symbols = graph->getAttrOfType<mlir::ArrayAttr>(graph::kSymbolsAttr).getAsRange<SymbolAttr>();
  for (int64_t size : {5, 1, 18}) {
    Sizes sizes;
    for (SymbolAttr symbol : symbols)
      sizes[symbol.getName()] = std::clamp(size, symbol.getMin(), symbol.getMax());
    llvm::Expected<std::vector<HostTensor>> inputs = randomInputs(graph, sizes);
    if (!inputs)
      return inputs.takeError();
    llvm::Expected<std::vector<HostTensor>> wanted = interp::interpretGraph(graph, *inputs, {path_});
    if (!wanted)
      return wanted.takeError();
    cases_.push_back({symbols.empty() ? "" : " at " + std::to_string(size), std::move(*inputs), std::move(*wanted)});
    if (symbols.empty())
      break;
  }

  if (llvm::Error error = scheduled_->advance(Stage::Schedule))
    return error;
  mlir::PassManager passes(graph.getContext());
  PipelineOptions plain = compile_.pipeline;
  plain.noOpt = true;
  addStage(passes, Stage::Optimize, plain);
  passes.addInstrumentation(std::make_unique<BeforeOpts>(kernels_));
  if (mlir::failed(passes.run(graph)))
    return llvm::createStringError("stage optimize failed");
  return llvm::Error::success();
}

/// Ends this process where it computes for longer than this, or waits for much longer.
static void limitTime(unsigned seconds) {
  itimerval limit = {{}, {seconds, 0}};
  setitimer(ITIMER_PROF, &limit, nullptr);
  alarm(20 * seconds);
}

/// How the outputs of a run differ from what is wanted; "" where they do not.
static std::string difference(const std::vector<HostTensor> &got, const std::vector<HostTensor> &wanted,
                              const VerifyOptions &tolerance) {
  for (size_t i = 0; i < got.size(); ++i) {
    Comparison result = compare(got[i], wanted[i], tolerance);
    if (!result.equal)
      return "output " + std::to_string(i) + ", " + describe(got[i]) + ": " + result.mismatch;
  }
  return "";
}

void GraphCheck::checkList() {
  // Lists of another graph are others: its name says which it is, whatever folder it is in.
  std::mt19937_64 random(llvm::xxh3_64bits(llvm::sys::path::filename(path_)) + options_.seed * 1'000'003 +
                         progress_.list);
  std::string text, refused;
  auto write = [&](const std::string &lines) { snprintf(progress_.text, sizeof progress_.text, "%s", lines.c_str()); };
  uint64_t kernels = 0;
  mlir::OwningOpRef<mlir::ModuleOp> module = kernels_->clone();
  for (auto func : module->getOps<kernel::FuncOp>()) {
    std::string name = func.getName().str() + ": ";
    test::RandomList list = test::applyRandomOpts(func, random, options_.choice,
                                                  [&](const std::string &tried) { write(text + name + tried + "\n"); });
    if (!list.wrong.empty())
      find(list.wrong);
    if (!list.refused.empty() && random() % 20 == 0)
      refused = text + name + list.refused + "\n";
    if (list.accepted.empty())
      continue;
    text += name + list.accepted + "\n";
    ++kernels;
  }
  bool isRefused = !refused.empty();
  write(isRefused ? refused : text);
  compile_.pipeline.opts = progress_.text;
  std::unique_ptr<Model> model = open();
  llvm::Expected<std::unique_ptr<target::LoadedModel>> loaded = load(*model, compile_);
  if (!loaded) {
    std::string message = llvm::toString(loaded.takeError());
    if (message.empty() || llvm::StringRef(message).contains('\n'))
      find("refused in more than a line, or none: " + message);
    else if (!isRefused && llvm::StringRef(message).contains("opt "))
      find("an opt that was taken before is refused: " + message);
    ++progress_.refused;
    return;
  }
  if (isRefused)
    return find("an opt that was refused before is taken");
  VerifyOptions tolerance;
  tolerance.relative = options_.relative;
  tolerance.absolute = options_.absolute;
  progress_.isRunning = true;
  for (Case &one : cases_) {
    llvm::Expected<std::vector<HostTensor>> got = runModel((*loaded)->model(), one.inputs, 0);
    if (!got)
      return find("the run fails" + one.sizes + ": " + llvm::toString(got.takeError()));
    if (std::string wrong = difference(*got, one.wanted, tolerance); !wrong.empty())
      return find("wrong" + one.sizes + ": " + wrong);
  }
  progress_.pairs += kernels;
}

llvm::Error GraphCheck::run() {
  limitTime(options_.seconds);
  progress_.text[0] = 0;
  if (llvm::Error error = prepare())
    return error;
  for (; progress_.list < options_.first + options_.lists; ++progress_.list) {
    limitTime(options_.seconds);
    progress_.isRunning = false;
    checkList();
  }
  return llvm::Error::success();
}

/// What a process that ended so has died of; "" where it has not.
static std::string deathOf(int status, const Options &options, const std::string &log) {
  if (!WIFSIGNALED(status))
    return "";
  if (WTERMSIG(status) == SIGPROF || WTERMSIG(status) == SIGALRM)
    return "takes more than " + std::to_string(options.seconds) + " seconds of computing";
  std::ifstream file(log);
  std::string line, said;
  while (said.empty() && std::getline(file, line))
    if (!line.empty())
      said = line;
  return "dies of signal " + std::to_string(WTERMSIG(status)) + ": " + said;
}

int main(int argc, char **argv) {
  Options options;
  std::vector<std::string> graphs;
  std::string without;
  CLI::App app("Random opts against the graph interpreter");
  app.add_option("--device", options.device, "where the kernels run");
  app.add_option("--lists", options.lists, "how many lists for each kernel of a graph");
  app.add_option("--first", options.first, "the first list's number");
  app.add_option("--seed", options.seed, "the lists' seed");
  app.add_option("--seconds", options.seconds, "how long one list may compute");
  app.add_option("-O", options.level, "of the code generator");
  app.add_option("--rtol", options.relative, "the largest relative error");
  app.add_option("--atol", options.absolute, "the largest absolute error");
  app.add_option("--without", without, "kinds of opts to leave out, KIND,KIND");
  app.add_option("--most", options.choice.most, "the largest amount of a split");
  app.add_option("GRAPH", graphs, "models' files")->required();
  CLI11_PARSE(app, argc, argv);
  for (llvm::StringRef kind : llvm::split(without, ','))
    options.choice.without.insert(kind.str());

  auto *progress = static_cast<Progress *>(
      mmap(nullptr, sizeof(Progress), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  std::string log = "/tmp/OptsProperty." + std::to_string(getpid());
  for (const std::string &graph : graphs)
    for (progress->list = options.first; progress->list < options.first + options.lists;) {
      pid_t child = fork();
      if (child == 0) {
        int file = open(log.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
        dup2(file, STDERR_FILENO);
        rlimit limit = {rlim_t(options.gigabytes) << 30, rlim_t(options.gigabytes) << 30};
        setrlimit(RLIMIT_AS, &limit);
        llvm::Error error = GraphCheck(options, graph, *progress).run();
        if (!error)
          _exit(0);
        std::cout << graph << ": " << llvm::toString(std::move(error)) << std::endl;
        _exit(1);
      }
      int status;
      waitpid(child, &status, 0);
      std::string death = deathOf(status, options, log);
      if (death.empty()) {
        progress->finds += WEXITSTATUS(status) != 0;
        break;
      }
      bool isSlow = progress->isRunning && llvm::StringRef(death).starts_with("takes");
      ++(isSlow ? progress->slow : progress->finds);
      std::cout << graph << ", list " << progress->list++ << ": " << death << "\n" << progress->text << std::flush;
    }
  unlink(log.c_str());
  std::cout << graphs.size() << " graphs, " << progress->pairs << " pairs of a kernel and a list of opts right, "
            << progress->refused << " refused, " << progress->slow << " ran too long, " << progress->finds << " finds"
            << std::endl;
  return progress->finds != 0;
}
