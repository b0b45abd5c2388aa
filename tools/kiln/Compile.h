//===- Compile.h - kiln compile: a model file becomes an artefact -------------===//
#pragma once

#include "Options.h"

namespace kiln::driver {

llvm::Error compile(const CompileOptions &options, const ArtefactOptions &artefact);

} // namespace kiln::driver
