//===- OptionTable.h - The options of each command ---------------------------===//
#pragma once

#include "CommandLine.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace CLI { // NOLINT(readability-identifier-naming)
class App;
}

namespace kiln::driver {

/// The texts that CLI11 fills and that are interpreted later.
struct Texts {
  std::vector<std::string> aliases, dims, shapes, inputs, named, at, sizes;
  std::string cpus, emit, schedule = "default", logLevel = "warning", precision = "f32", rates, outputDir, random,
                          bench, profile, threads, shell;
  std::optional<double> memoryLimit; ///< in GiB
  bool checksIndices = false;
  bool list = false, noPrint = false, outputNames = false, profileKernels = false;
};

/// The heading of the options that programs have as well.
inline constexpr char kOfPrograms[] = "The run";

/// kiln with all commands and their options: parsing fills `line` and `texts`, which have to live as long.
std::unique_ptr<CLI::App> makeOptionTable(CommandLine &line, Texts &texts);

} // namespace kiln::driver
