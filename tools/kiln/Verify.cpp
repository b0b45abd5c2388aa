//===- Verify.cpp - kiln verify: check a device's results ---------------===//
//
// Results stored with the model are right. Without any, or if --at asks for it, random inputs are
// run, and the graph interpreter judges: it evaluates the imported graph before any pass has
// touched it, so that no pass can make the same mistake on both sides. A dump of a later stage has
// no such graph and can only be compared with stored results. Sums of floats are made in another
// order, so results are compared within tolerances; of a wrong output the first element that
// differs is printed.
//
//===--------------------------------------------------------------------===//
#include "Verify.h"

#include "inspect/Progress.h"
#include "interp/GraphInterpreter.h"
#include "ir/base/NarrowDType.h"
#include "ir/base/ObjectType.h"
#include "ir/base/Target.h"
#include "ir/graph/Graph.h"
#include "running/Compare.h"
#include "running/Load.h"
#include "running/RandomInputs.h"
#include "running/RunModel.h"
#include "running/StoredCase.h"
#include "running/VerifyReport.h"
#include "support/Error.h"

#include "kiln/program.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/Support/Path.h"

using namespace kiln;
using namespace kiln::driver;
using interp::HostTensor;

namespace {
/// The model's inputs and outputs, as far as verify has to know them.
struct Ports {
  struct Input {
    bool hasDefault, isList;
  };
  std::vector<Input> inputs;
  std::vector<std::string> outputs; ///< names
};
} // namespace

static Ports portsOf(mlir::func::FuncOp main) {
  Ports ports;
  for (unsigned i = 0; i < main.getNumArguments(); ++i) {
    auto port = main.getArgAttrOfType<mlir::TypeAttr>(i, kPortDTypeAttr);
    ports.inputs.push_back({main.getArgAttr(i, graph::kValueAttr) != nullptr, port && isContainer(port.getValue())});
  }
  for (unsigned i = 0; i < main.getNumResults(); ++i)
    ports.outputs.push_back(main.getResultAttrOfType<mlir::StringAttr>(i, graph::kNameAttr).str());
  return ports;
}

static Ports portsOf(const kiln_model &model) {
  Ports ports;
  for (const kiln_port &input : llvm::ArrayRef(model.inputs, model.input_count))
    ports.inputs.push_back({input.value != nullptr, input.element != nullptr});
  for (const kiln_port &output : llvm::ArrayRef(model.outputs, model.output_count))
    ports.outputs.emplace_back(output.name);
  return ports;
}

namespace {
/// One model, and its device or the graph interpreter, which runs it.
class Verification {
public:
  Verification(const CompileOptions &options, const VerifyOptions &verify, Model &model, VerifyReport &report)
      : options_(options), verify_(verify), model_(model), graph_(model.module().clone()), report_(report) {}
  /// Prepares the compiled model, or the graph.
  llvm::Error prepare();
  /// A case with random inputs, and the graph interpreter's results for them.
  llvm::Expected<StoredCase> randomCase(const Sizes &sizes);
  /// Runs a case and reports how its outputs compare.
  llvm::Error check(StoredCase &one, bool isStored);
  /// The device, or the interpreter.
  std::string judged() const { return loaded_ ? targetOf(model_.module()).getDevice().str() : "the graph interpreter"; }

private:
  llvm::Expected<std::vector<HostTensor>> interpret(const std::vector<HostTensor> &inputs);
  llvm::Expected<std::vector<HostTensor>> run(std::vector<HostTensor> &inputs);
  llvm::Error checkInputs(const StoredCase &one, bool isStored) const;

  const CompileOptions &options_;
  const VerifyOptions &verify_;
  Model &model_;
  mlir::OwningOpRef<mlir::ModuleOp> graph_; ///< before any pass
  std::unique_ptr<target::LoadedModel> loaded_;
  Ports ports_;
  VerifyReport &report_;
};
} // namespace

llvm::Error Verification::prepare() {
  if (verify_.interpretsGraph) {
    ports_ = portsOf(graph_->lookupSymbol<mlir::func::FuncOp>("main"));
    return llvm::Error::success();
  }
  llvm::Expected<std::unique_ptr<target::LoadedModel>> made = load(model_, options_);
  if (!made)
    return made.takeError();
  loaded_ = std::move(*made);
  ports_ = portsOf(loaded_->model());
  return llvm::Error::success();
}

llvm::Expected<std::vector<HostTensor>> Verification::interpret(const std::vector<HostTensor> &inputs) {
  beginStage("interpret the graph");
  interp::GraphInterpreterOptions judge{.modelPath = model_.source().str(), .memoryLimit = options_.import.memoryLimit};
  return interp::interpretGraph(*graph_, inputs, judge);
}

llvm::Expected<StoredCase> Verification::randomCase(const Sizes &sizes) {
  llvm::Expected<std::vector<HostTensor>> inputs = randomInputs(*graph_, sizes);
  if (!inputs)
    return inputs.takeError();
  llvm::Expected<std::vector<HostTensor>> outputs = interpret(*inputs);
  if (!outputs)
    return outputs.takeError();
  return StoredCase{"", std::move(*inputs), std::move(*outputs)};
}

llvm::Expected<std::vector<HostTensor>> Verification::run(std::vector<HostTensor> &inputs) {
  if (!loaded_)
    return interpret(inputs); // names the model by itself
  beginStage("run");
  llvm::Expected<std::vector<HostTensor>> outputs = runModel(loaded_->model(), inputs, options_.debug);
  if (!outputs)
    return failure(options_.model + ": " + llvm::toString(outputs.takeError()));
  return outputs;
}

llvm::Error Verification::checkInputs(const StoredCase &one, bool isStored) const {
  for (size_t i = one.inputs.size(); isStored && i < ports_.inputs.size(); ++i)
    if (!ports_.inputs[i].hasDefault)
      return failure((one.folder.empty() ? "." : one.folder) + ": holds output_0 and no input_" + llvm::Twine(i) +
                         ", which the model needs",
                     "store it, or take the outputs away");
  return llvm::Error::success();
}

llvm::Error Verification::check(StoredCase &one, bool isStored) {
  if (llvm::Error error = checkInputs(one, isStored))
    return error;
  report_.beginCase(one, isStored);
  size_t inputCount = ports_.inputs.size();
  if (one.inputs.size() > inputCount)
    return failure(one.folder + ": has " + llvm::Twine(one.inputs.size()) + " inputs where the model takes " +
                   llvm::Twine(inputCount));
  if (one.outputs.size() != ports_.outputs.size()) {
    report_.differInNumber(ports_.outputs.size(), one.outputs.size());
    return llvm::Error::success();
  }
  one.inputs.resize(inputCount);
  for (auto [port, input] : llvm::zip(ports_.inputs, one.inputs))
    if (port.isList && !input.isAbsent() && !input.isList)
      input = listOf({std::move(input)});
  llvm::Expected<std::vector<HostTensor>> outputs = run(one.inputs);
  if (!outputs)
    return outputs.takeError();
  beginStage("");
  for (auto [name, have, want] : llvm::zip(ports_.outputs, *outputs, one.outputs))
    report_.compare(name, have, compare(have, want, verify_));
  return llvm::Error::success();
}

/// Whether a graph cannot run without an input that somebody gives.
static bool needsInput(mlir::ModuleOp graph) {
  auto main = graph.lookupSymbol<mlir::func::FuncOp>("main");
  for (unsigned i = 0; i < main.getNumArguments(); ++i)
    if (!main.getArgAttr(i, graph::kValueAttr))
      return true;
  return false;
}

/// Removes outputs that are not a stored case: outputs next to the model, without the inputs that they would be
/// computed from, were left there by its own program. In a folder of test data they are an incomplete case.
static void dropResults(std::vector<StoredCase> &cases, const std::string &model, VerifyReport &report) {
  llvm::erase_if(cases, [&](const StoredCase &found) {
    bool isResult = found.folder == llvm::sys::path::parent_path(model) && found.inputs.empty();
    if (isResult)
      report.note("output_0 next to it is not compared with, there is no input_0");
    return isResult;
  });
}

/// Whether the model is a graph if one is needed, as a judge or to be judged itself.
static llvm::Error checkJudge(const Model &model, const CompileOptions &options, const VerifyOptions &verify,
                              bool needsRandom) {
  if ((needsRandom || verify.interpretsGraph) && model.stage() != Stage::Import)
    return failure(options.model + (needsRandom ? ": nothing is stored to compare with, and only graphs can be "
                                                  "interpreted"
                                                : ": only graphs can be interpreted"),
                   "verify the model's file");
  if (!verify.at.empty() && verify.interpretsGraph)
    return usageError("--at and --graph both ask for the interpreter", "leave one of them out");
  if (needsRandom && verify.interpretsGraph)
    return failure(options.model + ": nothing is stored to compare with", "store input_0.npy … and output_0.npy …");
  return llvm::Error::success();
}

/// From the stored inputs; a default has none.
static std::vector<std::optional<int64_t>> ranksOf(const std::vector<HostTensor> &inputs) {
  std::vector<std::optional<int64_t>> ranks;
  for (const HostTensor &input : inputs)
    ranks.push_back(input.isAbsent() ? std::nullopt : std::optional<int64_t>(input.dims.size()));
  return ranks;
}

llvm::Expected<bool> driver::verify(const CompileOptions &given, const VerifyOptions &verify) {
  CompileOptions options = given;
  llvm::Expected<std::vector<StoredCase>> cases =
      findCases(llvm::sys::path::parent_path(options.model), options.import.memoryLimit);
  if (!cases)
    return cases.takeError();
  if (!cases->empty())
    options.import.ranks = ranksOf(cases->front().inputs);
  llvm::Expected<std::unique_ptr<Model>> model = Model::open(options);
  if (!model)
    return model.takeError();
  VerifyReport report(options.model, verify.isJson);
  if ((*model)->stage() == Stage::Import && needsInput((*model)->module()))
    dropResults(*cases, options.model, report);
  std::vector<Sizes> random = verify.at;
  if (random.empty() && cases->empty())
    random.emplace_back();
  if (llvm::Error error = checkJudge(**model, options, verify, !random.empty()))
    return error;

  for (const Sizes &sizes : verify.at)
    if (llvm::Error error = checkSizes((*model)->module(), sizes))
      return error;

  Verification verification(options, verify, **model, report);
  if (llvm::Error error = verification.prepare())
    return error;
  size_t storedCount = cases->size();
  for (const Sizes &sizes : random) {
    llvm::Expected<StoredCase> made = verification.randomCase(sizes);
    if (!made)
      return made.takeError();
    cases->push_back(std::move(*made));
  }
  beginStage("");
  for (auto [number, one] : llvm::enumerate(*cases))
    if (llvm::Error error = verification.check(one, number < storedCount))
      return error;
  return report.conclude(verification.judged());
}
