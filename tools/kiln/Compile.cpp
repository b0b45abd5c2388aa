//===- Compile.cpp - kiln compile: a model file becomes an artefact -----===//
//
// The stages of a compilation on one screen: a model goes from stage to stage until the one whose module, text or
// file is wanted. Compiling may take minutes, so whatever can be refused is refused as early as possible: first
// options that contradict each other, then whatever the model's files forbid, then whatever its stage does not
// allow. --why and --graph report the schedule's decisions, and use the common names of kernels, which they have
// once optimize has ordered their axes; so for them alone nothing after optimize runs. If several CPUs are named,
// each has a model of its own from the import on, and weights are packed so that all of them can read the same
// ones.
//
//===--------------------------------------------------------------------===//
#include "Compile.h"

#include "artefact/ArtefactFiles.h"
#include "artefact/Depfile.h"
#include "artefact/Freestanding.h"
#include "artefact/Package.h"
#include "inspect/GraphDrawing.h"
#include "inspect/LaunchRecords.h"
#include "inspect/Log.h"
#include "inspect/Progress.h"
#include "inspect/Stats.h"
#include "inspect/Summary.h"
#include "inspect/Why.h"
#include "ir/base/Devices.h"
#include "model/Debug.h"
#include "model/Model.h"
#include "model/Render.h"
#include "options/TargetOption.h"
#include "package/OutputFile.h"
#include "support/Error.h"
#include "support/Quote.h"

#include "llvm/Support/FileSystem.h"

#include <functional>
#include <set>

using namespace kiln;
using namespace kiln::driver;

/// For most products, how many vectors of columns a core sums up at a time; see optimize/choose/RegisterTile.h.
static constexpr int64_t kPanelVectors = 2;

/// Whether the stage whose module is to be printed is still to come, and fits the other options.
static llvm::Error checkStage(std::optional<Stage> wanted, const Model &model, const CompileOptions &options,
                              const ArtefactOptions &artefact) {
  if (!wanted)
    return llvm::Error::success();
  std::string word = artefact.emit == Emit::Opts ? "opts" : stageName(*wanted).str();
  if (artefact.showsStats && *wanted < Stage::Lower)
    return usageError("--stats counts lowered kernels, --emit " + word + " stops before", "leave one of them out");
  if (artefact.showsStats && (artefact.output.empty() || artefact.output == "-"))
    return usageError("--emit " + word + " and --stats both print on standard output", "name a file with -o");
  bool inspects = !artefact.why.empty() || !artefact.graphPath.empty();
  if (inspects && *wanted < Stage::Schedule)
    return usageError("--why and --graph speak of kernels, --emit " + stageName(*wanted) + " stops before",
                      "leave one of them out");
  if (*wanted < Stage::Optimize && !options.optsPath.empty())
    return usageError("--opts " + options.optsPath + ": --emit " + stageName(*wanted) +
                          " stops before opts are applied",
                      "leave one of them out");
  if (*wanted < model.stage())
    return usageError(options.model + ": has passed stage " + stageName(model.stage()) + " already",
                      "ask for this stage or a later one");
  return llvm::Error::success();
}

/// Whether there is a text of kernels that --kernel can choose from.
static llvm::Error checkKernelFilter(const CompileOptions &options, const ArtefactOptions &artefact) {
  if (options.kernels.empty() || options.debug >= 2)
    return llvm::Error::success();
  const std::string &name = options.kernels.front();
  if (std::optional<Stage> stage = emittedStage(artefact.emit); stage && *stage < Stage::Schedule)
    return usageError("--kernel " + name + ": --emit " + stageName(*stage) + " has no kernels yet",
                      "give --emit schedule or a later stage");
  if (isArtefact(artefact.emit))
    return usageError("--kernel " + name + ": chooses what --emit and DEBUG show",
                      "add --emit schedule, optimize, lower, opts, render, llvm or asm");
  return llvm::Error::success();
}

/// Whether several CPUs are named where the kernels of one are to be shown or given.
static llvm::Error checkVersions(const CompileOptions &options, const ArtefactOptions &artefact) {
  if (options.otherCpus.empty())
    return llvm::Error::success();
  auto refuse = [&](llvm::StringRef option) {
    return usageError(option + ": --mcpu names several CPUs, and each has kernels of its own", "name one");
  };
  if (emittedStage(artefact.emit))
    return refuse("--emit");
  if (artefact.showsStats)
    return refuse("--stats");
  if (!artefact.why.empty())
    return refuse("--why");
  if (!artefact.graphPath.empty())
    return refuse("--graph");
  return options.optsPath.empty() ? llvm::Error::success() : refuse("--opts " + options.optsPath);
}

/// --why and --graph, for a model that has kernels.
static llvm::Error inspect(const Model &model, const ArtefactOptions &artefact, package::Outputs &outputs) {
  if (!artefact.why.empty()) {
    std::string text;
    llvm::raw_string_ostream out(text);
    if (llvm::Error error = printWhy(model.module(), model.source(), model.nodes(), artefact.why, out))
      return error;
    llvm::outs() << plainLines(text);
  }
  return artefact.graphPath.empty() ? llvm::Error::success()
                                    : drawGraph(model.module(), model.name(), artefact.graphPath, outputs);
}

static llvm::Error emitText(llvm::StringRef path, package::Outputs &outputs, package::Writer write) {
  hideProgress();
  return outputs.write(path.empty() ? "-" : path, write);
}

/// The module of a stage, or the opts that it chose.
static llvm::Error emitModule(const Model &model, const ArtefactOptions &artefact, package::Outputs &outputs) {
  return emitText(artefact.output, outputs, [&](llvm::raw_ostream &out) {
    if (artefact.emit == Emit::Opts)
      printOptsOf(model.module(), model.filter(), out);
    else
      model.print(out);
    return llvm::Error::success();
  });
}

static void showStats(const Model &model, bool asJson) {
  if (asJson)
    return printStatsJson(model.module(), model.name(), llvm::outs());
  std::string text;
  llvm::raw_string_ostream out(text);
  printStats(model.module(), out);
  printPlacements(model.module(), out);
  llvm::outs() << plainLines(text);
}

/// The model for other CPUs, each on its own: their needs may differ from the import on.
static llvm::Error addVersions(llvm::MutableArrayRef<CompileOptions> others,
                               std::vector<std::unique_ptr<Model>> &models) {
  for (CompileOptions &version : others) {
    version.panel = kPanelVectors * targetOf(models.front()->module()).vectorBits() / 8;
    llvm::Expected<std::unique_ptr<Model>> other = Model::open(version);
    if (!other)
      return other.takeError();
    if (llvm::Error error = (*other)->advance(Stage::Lower))
      return error;
    models.push_back(std::move(*other));
  }
  return llvm::Error::success();
}

/// Writes the text of a rendering that --emit asks for; null if it asks for a file.
static std::function<llvm::Error(llvm::raw_ostream &)> writerOf(Emit emit, const Rendering &rendering) {
  const KernelFilter &filter = rendering.model().filter();
  auto select = [&](KernelText form, llvm::Error (Rendering::*whole)(llvm::raw_ostream &) const) {
    return [&rendering, &filter, form, whole](llvm::raw_ostream &out) {
      return filter.isEmpty() ? (rendering.*whole)(out) : rendering.kernels(form, filter, out);
    };
  };
  switch (emit) {
  case Emit::Render:
    return select(KernelText::Source, &Rendering::source);
  case Emit::Llvm:
    return select(KernelText::Llvm, &Rendering::llvmText);
  case Emit::Asm:
    return select(KernelText::Assembly, &Rendering::assembly);
  default:
    return nullptr;
  }
}

/// Whether the artefact can be made: files can be written, and the model's devices have what it needs.
static llvm::Error checkFiles(const Model &model, const CompileOptions &options, const ArtefactOptions &artefact) {
  if (llvm::Error error = checkOutputs(model, options, artefact))
    return error;
  if (!artefact.onlyInspects)
    for (TargetAttr target : targetsOf(model.module()))
      if (llvm::Error error = checkDevice(target.getDevice(), artefact))
        return error;
  return llvm::Error::success();
}

static Summary summaryOf(const Rendering &rendering, const ArtefactOptions &artefact) {
  Summary summary;
  std::string output = ArtefactFiles(rendering.options(), artefact).output;
  if (output == "-")
    return summary;
  summary.files.push_back(output);
  if (!artefact.weightsPath.empty())
    summary.files.push_back(artefact.weightsPath);
  for (const render::Version &version : rendering.versions())
    summary.kernels += version.tables.kernels.size();
  summary.growth = growthOf(rendering.model().module());
  std::set<std::string> counted;
  for (const std::string &file : rendering.model().files())
    if (uint64_t size = 0; !llvm::StringRef(file).ends_with(".mlir") && counted.insert(file).second &&
                           !llvm::sys::fs::file_size(file, size))
      summary.modelBytes += int64_t(size);
  return summary;
}

/// Whether there is a document to print; if there is not even a model, that is the error.
static llvm::Error checkJson(const CompileOptions &options, const ArtefactOptions &artefact) {
  if (!artefact.isJson || artefact.showsStats)
    return llvm::Error::success();
  if (llvm::Error error = Model::checkFile(options.model))
    return error;
  return usageError("--json: is the form of --stats", "add --stats");
}

/// All stages, and their files: `outputs` do not have their names yet.
static llvm::Error make(const CompileOptions &options, const ArtefactOptions &artefact, package::Outputs &outputs,
                        Summary &summary) {
  if (llvm::Error error = checkJson(options, artefact))
    return error;
  if (llvm::Error error = checkArtefact(options, artefact))
    return error;
  if (llvm::Error error = checkKernelFilter(options, artefact))
    return error;
  if (llvm::Error error = checkVersions(options, artefact))
    return error;
  std::vector<CompileOptions> versions = versionsOf(options);

  // import: a file becomes a graph of tensor ops; a dump goes on from its stage.
  llvm::Expected<std::unique_ptr<Model>> opened = Model::open(versions.front());
  if (!opened)
    return opened.takeError();
  Model &model = **opened;
  if (llvm::Error error = checkFiles(model, options, artefact))
    return error;
  if (llvm::Error error = writeDepfile(model, options, artefact, outputs))
    return error;

  // view: movement folds into views.  schedule: kernels, and the host program that launches them.
  // optimize: opts and the memory plan.  lower: kernels become loops of uops.
  std::optional<Stage> wanted = emittedStage(artefact.emit);
  if (llvm::Error error = checkStage(wanted, model, options, artefact))
    return error;
  bool needsNames = artefact.onlyInspects && !artefact.showsStats;
  if (!artefact.why.empty() || !artefact.graphPath.empty() || artefact.showsStats)
    model.recordModelShapes();
  if (llvm::Error error = model.advance(wanted.value_or(needsNames ? Stage::Optimize : Stage::Lower)))
    return error;
  hideProgress();
  if (artefact.isFreestanding)
    if (llvm::Error error = checkFreestanding(*model.module().getOps<host::ProgramOp>().begin(), options.model))
      return error;
  if (llvm::Error error = inspect(model, artefact, outputs))
    return error;
  if (artefact.showsStats)
    showStats(model, artefact.isJson);
  if (wanted)
    return emitModule(model, artefact, outputs);
  if (artefact.onlyInspects)
    return llvm::Error::success();

  std::vector<std::unique_ptr<Model>> models;
  models.push_back(std::move(*opened));
  if (llvm::Error error = addVersions(llvm::MutableArrayRef(versions).drop_front(), models))
    return error;

  // render: kernels become the device's text or code, the host program with them.
  beginStage(stageName(Stage::Render));
  llvm::Expected<Rendering> rendering = Rendering::create(
      llvm::map_to_vector(models, [](const std::unique_ptr<Model> &one) -> const Model * { return one.get(); }),
      options);
  if (!rendering)
    return rendering.takeError();
  if (llvm::Error error = printRendering(*rendering, options.debug, model.filter()))
    return error;
  if (auto write = writerOf(artefact.emit, *rendering))
    return emitText(artefact.output, outputs, write);

  // package: a program, or a file that other programs are built with.
  beginStage(stageName(Stage::Package));
  summary = summaryOf(*rendering, artefact);
  return artefact.emit == Emit::Exe ? packageProgram(*rendering, artefact, outputs)
                                    : packageForPrograms(*rendering, artefact, outputs);
}

llvm::Error driver::compile(const CompileOptions &options, const ArtefactOptions &artefact) {
  package::Outputs outputs;
  Summary summary;
  if (llvm::Error error = make(options, artefact, outputs, summary))
    return error;
  // Shown text is an output as well: if nobody can read it, no file is left.
  if (llvm::Error error = flushOutput())
    return error;
  if (llvm::Error error = outputs.commit())
    return error;
  tellSummary(summary);
  return llvm::Error::success();
}
