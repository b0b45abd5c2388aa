//===- ArtefactFiles.h - The files that an artefact consists of ---------------===//
#pragma once

#include "tools/kiln/options/Options.h"

namespace kiln::driver {

/// An artefact's files by their paths; "" where it has none of a kind.
struct ArtefactFiles {
  std::string output;                       ///< -o, or after the model
  std::string header;                       ///< beside the output
  std::string pkgConfig;                    ///< of a static library
  std::string runtimeSource, runtimeHeader; ///< kiln.c and kiln.h beside a source
  std::string prefix;                       ///< what names in the header begin with

  ArtefactFiles(const CompileOptions &options, const ArtefactOptions &artefact);
  /// The files that kiln makes beside the output and that nobody named, with what they are called in errors.
  std::vector<std::pair<std::string, const char *>> companions() const;
};

/// Whether it is made of compiled code and goes to files.
bool isArtefact(Emit emit);

} // namespace kiln::driver
