//===- CommandLine.h - From argv to options -----------------------------------===//
#pragma once

#include "Options.h"
#include "tools/kiln/Flags.h"
#include "tools/kiln/inspect/Log.h"

#include <optional>

namespace kiln::driver {

enum class Command { Compile, Run, Verify, Devices, Flags, Doctor };

struct CommandLine {
  Command command = Command::Compile;
  CompileOptions compile;
  ArtefactOptions artefact;
  RunOptions run;
  VerifyOptions verify;
  FlagsOptions flags;
  LogLevel logLevel = LogLevel::Warning;
  bool isQuiet = false;     ///< --quiet: no progress is shown
  bool timesStages = false; ///< --time-stages
  bool isJson = false;      ///< --json: results, and an error, as JSON
};

/// Reads the command line and, from the environment, DEBUG and NOOPT. Nothing if help or the version was asked for and
/// has been printed; a usage error, or a failure to read a file that an option names.
llvm::Expected<std::optional<CommandLine>> parseCommandLine(int argc, char **argv);

} // namespace kiln::driver
