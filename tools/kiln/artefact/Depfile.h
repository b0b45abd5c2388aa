//===- Depfile.h - The files that an output is made of, for make and ninja ----===//
#pragma once

#include "package/OutputFile.h"
#include "tools/kiln/model/Model.h"

namespace kiln::driver {

/// Whether --depfile can name the command's output: it goes to a file.
llvm::Error checkDepfile(const CompileOptions &options, const ArtefactOptions &artefact);

/// Adds the file of --depfile to the outputs, if it is asked for. It holds one rule in the language of make: the output
/// depends on the model, on the files of its weights, and on the file of opts. Paths are as the command line and the
/// model give them, so they are relative to the working folder if those are.
llvm::Error writeDepfile(const Model &model, const CompileOptions &options, const ArtefactOptions &artefact,
                         package::Outputs &outputs);

} // namespace kiln::driver
