#include "Compile.h"

#include "Debug.h"
#include "Model.h"
#include "Package.h"
#include "Render.h"
#include "Stats.h"
#include "package/OutputFile.h"
#include "support/Error.h"

using namespace kiln;
using namespace kiln::driver;

/// The stage whose module --emit asks for.
static std::optional<Stage> emittedStage(Emit emit) {
  switch (emit) {
  case Emit::Import:
    return Stage::Import;
  case Emit::View:
    return Stage::View;
  case Emit::Schedule:
    return Stage::Schedule;
  case Emit::Optimize:
    return Stage::Optimize;
  case Emit::Lower:
    return Stage::Lower;
  default:
    return std::nullopt;
  }
}

static llvm::Error emitText(llvm::StringRef path, llvm::function_ref<llvm::Error(llvm::raw_ostream &)> write) {
  return package::writeFile(path.empty() ? "-" : path, write);
}

llvm::Error driver::compile(const CompileOptions &options, const ArtefactOptions &artefact) {
  if (llvm::Error error = checkArtefact(options, artefact))
    return error;

  // import: a file becomes a graph of tensor ops; a dump goes on from its stage.
  llvm::Expected<std::unique_ptr<Model>> opened = Model::open(options);
  if (!opened)
    return opened.takeError();
  Model &model = **opened;

  // view: movement folds into views.  schedule: kernels, and the host program that launches them.
  // optimize: opts and the memory plan.  lower: kernels become loops of uops.
  std::optional<Stage> wanted = emittedStage(artefact.emit);
  if (wanted && artefact.showsStats)
    return usageError("--stats counts lowered kernels, --emit " + stageName(*wanted) + " stops before",
                      "leave one of them out");
  if (wanted && *wanted < model.stage())
    return usageError(options.model + ": has passed stage " + stageName(model.stage()) + " already",
                      "ask for this stage or a later one");
  if (llvm::Error error = model.advance(wanted.value_or(Stage::Lower)))
    return error;
  if (wanted)
    return emitText(artefact.output, [&](llvm::raw_ostream &out) {
      model.print(out);
      return llvm::Error::success();
    });

  if (artefact.showsStats)
    printStats(model.module(), llvm::outs());

  // render: kernels become the device's text or code, the host program with them.
  llvm::Expected<Rendering> rendering = Rendering::create(model, options);
  if (!rendering)
    return rendering.takeError();
  if (llvm::Error error = printRendering(*rendering, options.debug))
    return error;
  if (artefact.emit == Emit::Render)
    return emitText(artefact.output, [&](llvm::raw_ostream &out) { return rendering->source(out); });
  if (artefact.emit == Emit::Llvm)
    return emitText(artefact.output, [&](llvm::raw_ostream &out) { return rendering->llvmText(out); });
  if (artefact.emit == Emit::Asm)
    return emitText(artefact.output, [&](llvm::raw_ostream &out) { return rendering->assembly(out); });

  // package: an object with its header, or a program.
  return artefact.emit == Emit::Obj ? packageObject(*rendering, artefact) : packageProgram(*rendering, artefact);
}
