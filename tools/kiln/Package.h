//===- Package.h - What `kiln compile` leaves behind --------------------------===//
#pragma once

#include "Options.h"
#include "Render.h"

namespace kiln::driver {

/// Usage errors that are known before anything is compiled.
llvm::Error checkArtefact(const CompileOptions &options, const ArtefactOptions &artefact);
/// Of these, what depends on the device: a dump has one of its own.
llvm::Error checkDevice(llvm::StringRef name, const ArtefactOptions &artefact);

/// A wrong use where one of these outputs would take the place of a file that the model was made of, or that holds its
/// weights, or of opts.
llvm::Error checkOutputs(const Model &model, const CompileOptions &options, const ArtefactOptions &artefact);

/// An object, and beside it a C header of the same name. Both are named after the output.
llvm::Error packageObject(const Rendering &rendering, const ArtefactOptions &artefact);

/// A program for this machine's system.
llvm::Error packageProgram(const Rendering &rendering, const ArtefactOptions &artefact);

} // namespace kiln::driver
