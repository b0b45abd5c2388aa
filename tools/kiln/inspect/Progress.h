//===- Progress.h - How far a command is, and what its stages cost ------------===//
//
// A line on a terminal says what is being done and changes in place; it is gone when the command ends or prints. A
// table of --time-stages says afterwards how long each stage took and how much memory. Both are the process's: there is
// one terminal, one clock and one memory.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/raw_ostream.h"

namespace kiln::driver {

/// Has progress shown from now on where standard error is a terminal.
void showProgress();

/// Has stages and steps said from now on as lines of the log.
void logProgress();

/// Has stages timed from now on, for printStageTimes.
void timeStages();

/// A stage begins, and the one before has ended. "": none does.
void beginStage(llvm::StringRef name);

/// What the running stage does now, on the line alone.
void showStep(llvm::StringRef what);

/// Takes the line away, before something is printed.
void hideProgress();

/// The table; nothing where stages were not timed.
void printStageTimes(llvm::raw_ostream &out);

} // namespace kiln::driver
