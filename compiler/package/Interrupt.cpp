#include "package/Interrupt.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Signals.h"

#include <chrono>
#include <csignal>
#include <set>
#include <thread>

using namespace kiln::package;
namespace fs = llvm::sys::fs;

namespace {

struct Work {
  std::mutex mutex;
  std::set<std::string> folders;
  pid_t group = 0;
};

} // namespace

/// Never destroyed: the waiting thread may look at it while the process ends.
static Work &work() {
  static Work &instance = *new Work;
  return instance;
}

static void removeFolders() {
  for (const std::string &folder : work().folders)
    // Whoever was killed may be making its last file.
    for (int attempts = 0; attempts < 100 && fs::exists(folder); ++attempts) {
      fs::remove_directories(folder);
      if (fs::exists(folder))
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
}

static void awaitInterrupt(sigset_t signals) {
  int signal = 0;
  if (sigwait(&signals, &signal) != 0)
    return;
  work().mutex.lock();
  if (work().group)
    kill(-work().group, SIGKILL);
  removeFolders();
  std::signal(signal, SIG_DFL);
  pthread_sigmask(SIG_UNBLOCK, &signals, nullptr);
  raise(signal);
}

/// A crash ends the process from within; what it holds may be locked for good.
static void removeAtCrash(void *) {
  if (work().mutex.try_lock())
    removeFolders();
}

void kiln::package::endOnInterrupts() {
  sigset_t signals;
  sigemptyset(&signals);
  for (int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction action;
    if (sigaction(signal, nullptr, &action) == 0 && action.sa_handler != SIG_IGN)
      sigaddset(&signals, signal);
  }
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  std::thread(awaitInterrupt, signals).detach();
  llvm::sys::AddSignalHandler(removeAtCrash, nullptr);
}

Uninterrupted::Uninterrupted() : lock_(work().mutex) {}
void Uninterrupted::removeAtInterrupt(const std::string &folder) { work().folders.insert(folder); }
void Uninterrupted::keepAtInterrupt(const std::string &folder) { work().folders.erase(folder); }
void Uninterrupted::killAtInterrupt(pid_t group) { work().group = group; }
