//===- Progress.h - A command's progress, and the cost of its stages ----------===//
//
// A line on a terminal shows the current step and changes in place; it disappears when the command ends or prints. A
// table of --time-stages shows afterwards how long each stage took and how much memory. Both belong to the process:
// there is one terminal, one clock and one memory.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/raw_ostream.h"

namespace kiln::driver {

/// From now on progress is shown if standard error is a terminal.
void showProgress();

/// From now on stages and steps are lines of the log.
void logProgress();

/// From now on stages are timed, for printStageTimes.
void timeStages();

/// A stage begins, and the one before has ended. "": none does.
void beginStage(llvm::StringRef name);

/// The running stage's current step, on the line alone.
void showStep(llvm::StringRef what);

/// Erases the line, before something is printed.
void hideProgress();

/// Of this process.
double secondsSinceStart();

/// A line that stays where progress was shown, and in a log that has steps; else nothing.
void tell(llvm::StringRef line);

/// The table; nothing if stages were not timed.
void printStageTimes(llvm::raw_ostream &out);

} // namespace kiln::driver
