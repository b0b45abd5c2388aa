//===- Verify.cpp - kiln verify: is what a device computes right? -------===//
//
// What is right is what lies stored beside the model. Where nothing does, or --at asks for it, random inputs are run,
// and the graph interpreter judges: it evaluates the imported graph before any pass has touched it, so that no pass can
// make the same mistake on both sides. A dump of a later stage has no such graph and can only be held against what is
// stored.
// Sums of floats are made in another order, so results are compared within tolerances; a wrong output is told with its
// worst element.
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
#include "support/Error.h"
#include "support/PlainText.h"

#include "kiln/program.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace kiln;
using namespace kiln::driver;
using interp::HostTensor;

/// The names of a graph's outputs, in order.
static std::vector<std::string> outputNames(mlir::func::FuncOp main) {
  std::vector<std::string> names;
  for (unsigned i = 0; i < main.getNumResults(); ++i)
    names.push_back(main.getResultAttrOfType<mlir::StringAttr>(i, graph::kNameAttr).str());
  return names;
}

static std::vector<std::string> outputNames(const kiln_model &model) {
  std::vector<std::string> names;
  for (int32_t i = 0; i < model.output_count; ++i)
    names.push_back(model.outputs[i].name);
  return names;
}

/// Prints one line per output and returns how many of them differ.
static unsigned report(llvm::ArrayRef<std::string> names, const std::vector<HostTensor> &got,
                       const std::vector<HostTensor> &wanted, const VerifyOptions &options) {
  unsigned wrong = 0;
  for (auto [name, have, want] : llvm::zip(names, got, wanted)) {
    Comparison result = compare(have, want, options);
    llvm::outs() << plainText(name) << ": " << describe(have);
    if (result.comparable)
      llvm::outs() << ", largest error "
                   << llvm::format("%.3g absolute, %.3g relative, %.0f ULP", result.absolute, result.relative,
                                   result.ulps);
    llvm::outs() << ": " << (result.equal ? "ok" : result.mismatch) << "\n";
    wrong += !result.equal;
  }
  return wrong;
}

llvm::Expected<bool> driver::verify(const CompileOptions &given, const VerifyOptions &verify) {
  CompileOptions options = given;
  llvm::Expected<std::string> path = findModel(given.model);
  if (!path)
    return path.takeError();
  options.model = *path;
  llvm::Expected<std::unique_ptr<Model>> model = Model::open(options);
  if (!model)
    return model.takeError();
  llvm::Expected<std::vector<StoredCase>> cases =
      findCases(llvm::sys::path::parent_path(options.model), options.import.memoryLimit);
  if (!cases)
    return cases.takeError();
  bool isGraph = (*model)->stage() == Stage::Import;
  std::vector<Sizes> random = verify.at;
  if (random.empty() && cases->empty())
    random.emplace_back();
  if ((!random.empty() || verify.interpretsGraph) && !isGraph)
    return failure(options.model + (random.empty() ? ": only graphs can be interpreted"
                                                   : ": nothing is stored to compare with, and only graphs can be "
                                                     "interpreted"),
                   "verify the model's file");
  if (!verify.at.empty() && verify.interpretsGraph)
    return usageError("--at and --graph both ask for the interpreter", "leave one of them out");
  if (!random.empty() && verify.interpretsGraph)
    return failure(options.model + ": nothing is stored to compare with", "store input_0.npy … and output_0.npy …");
  mlir::OwningOpRef<mlir::ModuleOp> graph = (*model)->module().clone();
  std::unique_ptr<target::LoadedModel> loaded;
  if (!verify.interpretsGraph) {
    llvm::Expected<std::unique_ptr<target::LoadedModel>> made = load(**model, options);
    if (!made)
      return made.takeError();
    loaded = std::move(*made);
  }
  auto main = graph->lookupSymbol<mlir::func::FuncOp>("main");
  std::vector<std::string> names = loaded ? outputNames(loaded->model()) : outputNames(main);
  size_t inputCount = loaded ? loaded->model().input_count : main.getNumArguments();

  auto hasDefault = [&](size_t i) {
    return loaded ? loaded->model().inputs[i].value != nullptr : main.getArgAttr(i, graph::kValueAttr) != nullptr;
  };
  auto isList = [&](size_t i) {
    if (loaded)
      return loaded->model().inputs[i].element != nullptr;
    auto port = main.getArgAttrOfType<mlir::TypeAttr>(i, kPortDTypeAttr);
    return port && isContainer(port.getValue());
  };
  auto inModel = [&](llvm::Error error) { return failure(options.model + ": " + llvm::toString(std::move(error))); };
  auto interpret = [&](const std::vector<HostTensor> &inputs) {
    interp::GraphInterpreterOptions judge{.modelPath = (*model)->source().str(),
                                          .memoryLimit = options.import.memoryLimit};
    return interp::interpretGraph(*graph, inputs, judge);
  };
  ptrdiff_t storedCount = cases->size();
  for (const Sizes &sizes : random) {
    llvm::Expected<std::vector<HostTensor>> inputs = randomInputs(*graph, sizes);
    if (!inputs)
      return inputs.takeError();
    beginStage("interpret the graph");
    llvm::Expected<std::vector<HostTensor>> outputs = interpret(*inputs);
    if (!outputs)
      return outputs.takeError();
    cases->push_back({"", std::move(*inputs), std::move(*outputs)});
  }

  beginStage("");
  unsigned wrong = 0, compared = 0;
  for (StoredCase &stored : *cases) {
    bool isStored = &stored - cases->data() < storedCount;
    std::string folder = stored.folder.empty() ? "." : stored.folder;
    for (size_t i = stored.inputs.size(); isStored && i < inputCount; ++i)
      if (!hasDefault(i))
        return failure(folder + ": holds output_0 and no input_" + llvm::Twine(i) + ", which the model needs",
                       "store it, or take the outputs away");
    llvm::outs() << options.model << ": "
                 << (!isStored               ? "random inputs, against the graph interpreter"
                     : stored.folder.empty() ? "stored in ."
                                             : "stored in " + stored.folder)
                 << "\n";
    if (stored.inputs.size() > inputCount)
      return failure(stored.folder + ": has " + llvm::Twine(stored.inputs.size()) + " inputs where the model takes " +
                     llvm::Twine(inputCount));
    if (stored.outputs.size() != names.size()) {
      llvm::outs() << "the model has " << names.size() << " outputs, stored are " << stored.outputs.size() << "\n";
      ++wrong;
      continue;
    }
    stored.inputs.resize(inputCount);
    for (auto [index, input] : llvm::enumerate(stored.inputs))
      if (isList(index) && !input.isAbsent() && !input.isList)
        input = listOf({std::move(input)});
    beginStage(loaded ? "run" : "interpret the graph");
    llvm::Expected<std::vector<HostTensor>> outputs =
        loaded ? runModel(loaded->model(), stored.inputs, options.debug) : interpret(stored.inputs);
    if (!outputs) // the interpreter names the model by itself
      return loaded ? inModel(outputs.takeError()) : outputs.takeError();
    beginStage("");
    wrong += report(names, *outputs, stored.outputs, verify);
    compared += outputs->size();
  }
  llvm::outs() << (wrong ? "FAILED" : "verified") << " on "
               << (loaded ? targetOf((*model)->module()).getDevice() : "the graph interpreter") << ": "
               << compared - wrong << " of " << compared << " outputs agree\n";
  return wrong == 0;
}
