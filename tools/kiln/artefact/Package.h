//===- Package.h - Make the files of `kiln compile` ---------------------------===//
#pragma once

#include "package/Link.h"
#include "package/OutputFile.h"
#include "tools/kiln/model/Render.h"
#include "tools/kiln/options/Options.h"

namespace kiln::driver {

/// Usage errors that are known before anything is compiled.
llvm::Error checkArtefact(const CompileOptions &options, const ArtefactOptions &artefact);
/// Those that depend on the device: a dump has one of its own.
llvm::Error checkDevice(llvm::StringRef name, const ArtefactOptions &artefact);

/// A wrong use if one of these outputs would replace a file that the model was made of, or that holds its weights, or
/// of opts.
llvm::Error checkOutputs(const Model &model, const CompileOptions &options, const ArtefactOptions &artefact);

/// A program for this machine's system, as one of the files `outputs`.
llvm::Error packageProgram(const Rendering &rendering, const ArtefactOptions &artefact, package::Outputs &outputs);

/// Files that other programs are built with: an object, library, header or source, each with the files that go with it.
llvm::Error packageForPrograms(const Rendering &rendering, const ArtefactOptions &artefact, package::Outputs &outputs);

/// The parts of `file` that the model's code is compiled to, by their names.
llvm::Expected<std::vector<std::string>> compileObjects(const Rendering &rendering, const ModelNames &names,
                                                        const WeightsOf &weights, const package::StagedFile &file);

/// How the code of `rendering` is linked.
llvm::Expected<package::LinkOptions> linkOptions(const Rendering &rendering);

/// Puts the weights where they are asked for: into the artefact, or into a file of their own, which is written.
llvm::Expected<WeightsOf> placeWeights(const Rendering &rendering, const std::string &path, package::Outputs &outputs);

} // namespace kiln::driver
