#include "package/Interrupt.h"

#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/Signals.h"

#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <dirent.h>
#include <fcntl.h>
#include <list>
#include <new>
#include <pthread.h>
#include <thread>
#include <unistd.h>
#include <utility>

using namespace kiln::package;

namespace {

/// Opened when it is made, so that removing it and its files needs neither memory nor a descriptor.
struct Folder {
  std::string name;
  int descriptor = -1;
};

struct Work {
  std::mutex mutex;
  std::list<Folder> folders;
  pid_t group = 0;
};

} // namespace

/// Never destroyed: the waiting thread may look at it while the process ends. When memory runs out, the thread that
/// ends the process asks for it too, maybe while it is being made, so its memory is not allocated.
static Work &work() {
  alignas(Work) static std::byte memory[sizeof(Work)];
  static Work &instance = *new (memory) Work;
  return instance;
}

static bool isDots(const char *name) { return name[0] == '.' && (!name[1] || (name[1] == '.' && !name[2])); }

static void empty(int folder) {
  alignas(dirent64) char entries[4096];
  lseek(folder, 0, SEEK_SET);
  for (ssize_t bytes; (bytes = getdents64(folder, entries, sizeof entries)) > 0;)
    for (ssize_t at = 0; at < bytes;) {
      const auto *entry = reinterpret_cast<const dirent64 *>(entries + at);
      at += entry->d_reclen;
      if (isDots(entry->d_name) || unlinkat(folder, entry->d_name, 0) == 0)
        continue;
      if (int inner = openat(folder, entry->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC); inner >= 0) {
        empty(inner);
        close(inner);
        unlinkat(folder, entry->d_name, AT_REMOVEDIR);
      }
    }
}

/// Whether the folder has been removed.
static bool remove(const Folder &folder) {
  empty(folder.descriptor);
  return rmdir(folder.name.c_str()) == 0 || errno == ENOENT;
}

static void removeFolders() {
  for (const Folder &folder : work().folders)
    // The killed program may still be making its last file.
    for (int attempts = 0; attempts < 100 && !remove(folder); ++attempts)
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
}

static constexpr int kInterrupts[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGXCPU};

/// Those of them that are waited for.
static sigset_t awaited;
static pthread_t waiting;

/// The signal that tells the waiting thread to end, once this process intends it. If several signals are pending, the
/// thread gets this one first.
static int leaveSignal() { return SIGRTMIN; }
static std::atomic<bool> isLeft = false;

static void *awaitInterrupt(void *) {
  int signal = 0;
  sigset_t all = awaited;
  sigaddset(&all, leaveSignal());
  do
    if (sigwait(&all, &signal) != 0 || (signal == leaveSignal() && isLeft))
      return nullptr;
  while (signal == leaveSignal()); // somebody else sent it
  work().mutex.lock();
  if (work().group)
    kill(-work().group, SIGKILL);
  removeFolders();
  std::signal(signal, SIG_DFL);
  pthread_sigmask(SIG_UNBLOCK, &awaited, nullptr);
  raise(signal);
  return nullptr;
}

static void abortAtOnce(int) {
  std::signal(SIGABRT, SIG_DFL);
  kill(getpid(), SIGABRT);
}

/// A crash ends the process from within; its locks may never be released. If the heap is broken or locked, anything
/// that needs memory from here on, such as the stack's names, would wait for ever. LLVM then raises the signal once
/// more. The lock is released, as the process lives on if somebody else sent the signal and the caller had it ignored.
static void removeAtCrash(void *) {
  constexpr unsigned kSeconds = 5;
  sigset_t alarms;
  sigemptyset(&alarms);
  sigaddset(&alarms, SIGALRM);
  std::signal(SIGALRM, abortAtOnce);
  pthread_sigmask(SIG_UNBLOCK, &alarms, nullptr);
  alarm(kSeconds);
  if (work().mutex.try_lock()) {
    removeFolders();
    work().mutex.unlock();
  }
}

static void say(llvm::StringRef text) {
  [[maybe_unused]] ssize_t written = write(STDERR_FILENO, text.data(), text.size());
}

[[noreturn]] static void endWith(llvm::StringRef text) {
  // One thread ends the process; others that find no memory meanwhile wait for that. If it is here for the second time,
  // there is no memory to end with.
  static std::atomic<bool> isEnding = false;
  static thread_local bool isHere = false;
  if (std::exchange(isHere, true))
    _exit(EXIT_FAILURE);
  while (isEnding.exchange(true))
    pause();
  say(text);
  // The thread that holds the lock may be the one that needs memory. The list of folders is whole at any time.
  work().mutex.try_lock();
  if (work().group)
    kill(-work().group, SIGKILL);
  removeFolders();
  _exit(EXIT_FAILURE);
}

static void endWithoutMemory() { endWith("kiln: no memory is left; end other programs, or take a larger machine\n"); }
static void endWithoutThread() {
  endWith("kiln: no thread can be begun; end other programs, or allow more processes (ulimit -u)\n");
}

/// Failures that LLVM cannot go on after, such as a thread that the system refuses. If LLVM is at fault it crashes once
/// this returns; otherwise it would call exit, and nothing would remove the folders of outputs.
static void endOnFatalError(void *, const char *reason, bool isCrash) {
  if (llvm::StringRef(reason).starts_with("pthread_create failed"))
    endWithoutThread();
  say("kiln: LLVM: ");
  say(reason);
  if (!isCrash)
    endWith("\n");
  say("\n");
}

void kiln::package::endOnWantOfMemory() {
  std::set_new_handler(endWithoutMemory);
  static bool isInstalled = false;
  if (std::exchange(isInstalled, true))
    return;
  llvm::install_bad_alloc_error_handler([](void *, const char *, bool) { endWithoutMemory(); });
  llvm::install_fatal_error_handler(endOnFatalError);
}

void kiln::package::endOnInterrupts() {
  sigemptyset(&awaited);
  for (int signal : kInterrupts) {
    struct sigaction action;
    if (sigaction(signal, nullptr, &action) == 0 && action.sa_handler != SIG_IGN)
      sigaddset(&awaited, signal);
  }
  sigset_t blocked = awaited;
  sigaddset(&blocked, leaveSignal());
  pthread_sigmask(SIG_BLOCK, &blocked, nullptr);
  // std::thread would end the process by an exception if none can be had
  if (pthread_create(&waiting, nullptr, awaitInterrupt, nullptr) != 0)
    endWithoutThread();
  llvm::sys::AddSignalHandler(removeAtCrash, nullptr);
  for (int signal : {SIGQUIT, SIGXCPU}) // LLVM takes them for crashes, even if they were ignored
    if (!sigismember(&awaited, signal))
      std::signal(signal, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN); // the write fails, as on a full disk
}

void kiln::package::leaveInterruptsToSystem() {
  // If the thread has an interrupt already, it ends the process meanwhile.
  isLeft = true;
  pthread_kill(waiting, leaveSignal());
  pthread_join(waiting, nullptr);
  for (int signal : kInterrupts)
    if (sigismember(&awaited, signal))
      std::signal(signal, SIG_DFL); // LLVM has handlers of its own
  pthread_sigmask(SIG_UNBLOCK, &awaited, nullptr);
}

Uninterrupted::Uninterrupted() : lock_(work().mutex) {}

const std::string *Uninterrupted::makeFolder(std::string name) {
  Folder &folder =
      work().folders.emplace_back(Folder{std::move(name)}); // before a folder exists that might be left there
  bool isMade = mkdtemp(folder.name.data());
  if (isMade)
    folder.descriptor = open(folder.name.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder.descriptor >= 0)
    return &folder.name;
  int error = errno;
  if (isMade)
    rmdir(folder.name.c_str());
  work().folders.pop_back();
  errno = error;
  return nullptr;
}

void Uninterrupted::removeFolder(llvm::StringRef name) {
  work().folders.remove_if([name](const Folder &folder) {
    if (folder.name != name)
      return false;
    remove(folder);
    close(folder.descriptor);
    return true;
  });
}

void Uninterrupted::killAtInterrupt(pid_t group) { work().group = group; }
