//===- ArtefactFiles.h - The files that an artefact consists of ---------------===//
#pragma once

#include "tools/kiln/options/Options.h"

namespace kiln::driver {

/// An artefact's files by their paths; "" if it has none of a kind.
struct ArtefactFiles {
  std::string output;                       ///< -o, or named after the model
  std::string header;                       ///< next to the output
  std::string pkgConfig;                    ///< of a static library
  std::string runtimeSource, runtimeHeader; ///< kiln.c and kiln.h next to a source
  std::string prefix;                       ///< the beginning of names in the header

  ArtefactFiles(const CompileOptions &options, const ArtefactOptions &artefact);
  /// The files next to the output that kiln makes and nobody named, with their names in errors.
  std::vector<std::pair<std::string, const char *>> companions() const;
};

/// Whether it consists of compiled code and goes to files.
bool isArtefact(Emit emit);

} // namespace kiln::driver
