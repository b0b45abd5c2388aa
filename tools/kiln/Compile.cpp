#include "Compile.h"

#include "Model.h"
#include "OutputFile.h"
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

llvm::Error driver::compile(const CompileOptions &options, const ArtefactOptions &artefact) {
  // import: a file becomes a graph of tensor ops; a dump goes on from its stage.
  llvm::Expected<std::unique_ptr<Model>> opened = Model::open(options);
  if (!opened)
    return opened.takeError();
  Model &model = **opened;

  // view: movement folds into views.  schedule: kernels, and the host program that launches them.
  // optimize: opts and the memory plan.  lower: kernels become loops of uops.
  std::optional<Stage> wanted = emittedStage(artefact.emit);
  if (wanted && *wanted < model.stage())
    return usageError(options.model + ": has passed stage " + stageName(model.stage()) + " already",
                      "ask for this stage or a later one");
  if (llvm::Error error = model.advance(wanted.value_or(Stage::Lower)))
    return error;
  if (wanted)
    return writeFile(artefact.output, [&](llvm::raw_ostream &out) {
      model.print(out);
      return llvm::Error::success();
    });

  // render: one source or object for the device, one for the host.
  // package: what the user asked for.
  return llvm::Error::success();
}
