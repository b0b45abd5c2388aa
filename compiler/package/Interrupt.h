//===- Interrupt.h - Ctrl-C, kill and want of memory leave nothing behind ---------===//
//
// SIGINT, SIGTERM, SIGHUP, SIGQUIT and SIGXCPU are blocked in every thread but one, which waits for them: it kills the
// program that kiln runs just then, takes away the folders in which outputs are made, and ends the process as the
// signal does. It is a thread and not a handler, so that it may do all this, and wait for the short sections in which
// outputs get their names. SIGXFSZ is ignored: the write fails. A crash takes the folders away as well and ends within
// seconds, also where what reports it stands still.
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

/// Waits no longer: from now on such a signal ends the process as it ends any, unless the calling thread blocks it. To
/// be called where no folder is left, by the thread that began, which the signals then go to.
void leaveInterruptsToSystem();

/// From now on want of memory, or of a thread that LLVM begins, ends the process with a line that says so, and takes
/// the folders away: C++ and LLVM tell of it where nothing can be given back. LLVM's own beginnings put theirs in its
/// place, so it is called before them and after.
void endOnWantOfMemory();

/// A time in which no interrupt ends the process; short, and only one at a time. It is also the only time to say what
/// an interrupt finds to do.
class Uninterrupted {
public:
  Uninterrupted();

  /// Makes a folder, its name ending in the XXXXXX of mkdtemp(), that an interrupt takes away. Null: errno says why
  /// not.
  const std::string *makeFolder(std::string name);
  /// Takes such a folder away with the files in it, which wants neither memory nor a descriptor.
  void removeFolder(llvm::StringRef name);
  /// The leader of the process group that an interrupt kills; 0: none.
  void killAtInterrupt(pid_t group);

private:
  std::unique_lock<std::mutex> lock_;
};

} // namespace kiln::package
