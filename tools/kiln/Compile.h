//===- Compile.h - kiln compile: a model file becomes an artefact -------------===//
#pragma once

#include "options/Options.h"

namespace kiln::driver {

llvm::Error compile(const CompileOptions &options, const ArtefactOptions &artefact);

} // namespace kiln::driver
