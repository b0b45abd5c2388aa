//===- Interrupt.h - Remove folders on Ctrl-C, kill and lack of memory ------------===//
//
// SIGINT, SIGTERM, SIGHUP, SIGQUIT and SIGXCPU are blocked in every thread but one, which waits for them: it kills the
// program that kiln currently runs, removes the folders in which outputs are made, and ends the process as the signal
// does. It is a thread and not a handler, so that it may do all this, and wait for the short sections in which outputs
// get their names. SIGXFSZ is ignored: the write fails. A crash removes the folders as well and ends within seconds,
// even if its reporter hangs.
//
//===------------------------------------------------------------------------------===//
#pragma once

#include "llvm/ADT/StringRef.h"

#include <mutex>
#include <string>
#include <sys/types.h>

namespace kiln::package {

/// Begins to wait. To be called once, before the process has another thread. A signal that the process was told to
/// ignore stays ignored.
void endOnInterrupts();

/// Waits no longer: from now on such a signal ends the process as usual, unless the calling thread blocks it. To be
/// called when no folder is left, by the thread that called begin, which then gets the signals.
void leaveInterruptsToSystem();

/// From now on lack of memory, or of a thread for LLVM, ends the process with a line that says so, and removes the
/// folders: C++ and LLVM report it where nothing can be undone. LLVM's own start-up replaces this handler, so this is
/// called before that and after.
void endOnWantOfMemory();

/// A period in which no interrupt ends the process; short, and only one at a time. Only in it may the work for an
/// interrupt be changed.
class Uninterrupted {
public:
  Uninterrupted();

  /// Makes a folder, its name ending in the XXXXXX of mkdtemp(), that an interrupt removes. Null: errno says why
  /// not.
  const std::string *makeFolder(std::string name);
  /// Removes such a folder with the files in it, which needs neither memory nor a descriptor.
  void removeFolder(llvm::StringRef name);
  /// The leader of the process group that an interrupt kills; 0: none.
  void killAtInterrupt(pid_t group);

private:
  std::unique_lock<std::mutex> lock_;
};

} // namespace kiln::package
