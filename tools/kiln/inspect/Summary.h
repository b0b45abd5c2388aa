//===- Summary.h - One line on a terminal about what was made -----------------------===//
#pragma once

#include "Growth.h"

#include <string>
#include <vector>

namespace kiln::driver {

struct Summary {
  std::vector<std::string> files; ///< the artefact, then its weights' file if it has one; none: nothing to tell
  size_t kernels = 0;
  Growth growth;
  int64_t modelBytes = 0; ///< of the model's files
};

/// Tells of files that have their names: "mnist: 125 kB, 6 kernels, 0.7 s", in a line that is shown where progress was:
/// on a terminal, or in the log if it has steps.
void tellSummary(const Summary &summary);

} // namespace kiln::driver
