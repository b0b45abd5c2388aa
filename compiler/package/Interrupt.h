//===- Interrupt.h - Ctrl-C and kill leave nothing behind -------------------------===//
//
// SIGINT, SIGTERM and SIGHUP are blocked in every thread but one, which waits for them: it kills the program that kiln
// runs just then, takes away the folders in which outputs are made, and ends the process as the signal does. It is a
// thread and no handler, so that it may do all this, and wait for the short sections in which outputs get their names.
//
//===------------------------------------------------------------------------------===//
#pragma once

#include <mutex>
#include <string>
#include <sys/types.h>

namespace kiln::package {

/// Begins to wait. To be called once, before the process has another thread. A signal that the process was told to
/// ignore stays ignored.
void endOnInterrupts();

/// A time in which no interrupt ends the process; short, and only one at a time. It is also the only time to say what
/// an interrupt finds to do.
class Uninterrupted {
public:
  Uninterrupted();

  void removeAtInterrupt(const std::string &folder);
  void keepAtInterrupt(const std::string &folder);
  /// The leader of the process group that an interrupt kills; 0: none.
  void killAtInterrupt(pid_t group);

private:
  std::unique_lock<std::mutex> lock_;
};

} // namespace kiln::package
