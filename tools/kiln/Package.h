//===- Package.h - What `kiln compile` leaves behind --------------------------===//
#pragma once

#include "Options.h"
#include "Render.h"

namespace kiln::driver {

/// Usage errors that are known before anything is compiled.
llvm::Error checkArtefact(const CompileOptions &options, const ArtefactOptions &artefact);

/// An object, and beside it a C header of the same name. Both are named after the output.
llvm::Error packageObject(const Rendering &rendering, const ArtefactOptions &artefact);

/// A program for this machine's system.
llvm::Error packageProgram(const Rendering &rendering, const ArtefactOptions &artefact);

} // namespace kiln::driver
