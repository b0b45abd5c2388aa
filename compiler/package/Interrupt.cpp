#include "package/Interrupt.h"

#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Signals.h"

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <list>
#include <new>
#include <thread>
#include <unistd.h>
#include <utility>

using namespace kiln::package;
namespace fs = llvm::sys::fs;

namespace {

struct Work {
  std::mutex mutex;
  std::list<std::string> folders;
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

static void endWithoutMemory() {
  static constexpr llvm::StringLiteral kText =
      "kiln: no memory is left; end other programs, or take a larger machine\n";
  // Whoever has the lock may be the one that wants memory. The list of folders is whole at any time.
  work().mutex.try_lock();
  if (work().group)
    kill(-work().group, SIGKILL);
  removeFolders();
  [[maybe_unused]] ssize_t written = write(STDERR_FILENO, kText.data(), kText.size());
  _exit(EXIT_FAILURE);
}

void kiln::package::endOnWantOfMemory() {
  std::set_new_handler(endWithoutMemory);
  static bool isInstalled = false;
  if (!std::exchange(isInstalled, true))
    llvm::install_bad_alloc_error_handler([](void *, const char *, bool) { endWithoutMemory(); });
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

const std::string *Uninterrupted::makeFolder(std::string name) {
  std::string &folder = work().folders.emplace_back(std::move(name)); // before there is one that could be left behind
  if (mkdtemp(folder.data()))
    return &folder;
  int error = errno;
  work().folders.pop_back();
  errno = error;
  return nullptr;
}

void Uninterrupted::forgetFolder(llvm::StringRef name) { work().folders.remove(name.str()); }
void Uninterrupted::killAtInterrupt(pid_t group) { work().group = group; }
