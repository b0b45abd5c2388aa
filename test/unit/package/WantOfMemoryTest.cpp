//===- WantOfMemoryTest.cpp - Processes whose memory ends -------===//
//
// An operator new of the test's own ends memory at one allocation after the other, in processes of their own. Each must
// end with one line, whichever of its threads finds no memory. Its files then have all their new names or none, and no
// folder is left.
//
//===-----------------------------------------------------------===//
#include "Folder.h"

#include "package/Interrupt.h"
#include "package/OutputFile.h"
#include "package/Spawn.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <dlfcn.h>
#include <new>
#include <spawn.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

using namespace kiln;
using kiln::test::Folder;

/// How many allocations of C++ succeed until one fails; negative: none does.
static long left = -1;

void *operator new(size_t bytes) {
  if (left-- == 0)
    std::get_new_handler()();
  return std::malloc(bytes);
}
void operator delete(void *memory) noexcept { std::free(memory); }
void operator delete(void *memory, size_t) noexcept { std::free(memory); }

static bool findsNoMemoryForFolder = false;

/// The C library's, but that there may be no memory for it.
extern "C" int posix_spawn_file_actions_addchdir_np(posix_spawn_file_actions_t *actions, const char *path) noexcept {
  if (findsNoMemoryForFolder)
    return ENOMEM;
  auto *real = reinterpret_cast<int (*)(posix_spawn_file_actions_t *, const char *)>(
      dlsym(RTLD_NEXT, "posix_spawn_file_actions_addchdir_np"));
  return real(actions, path);
}

TEST_CASE("a program that cannot be sent into its folder is not run") {
  Folder folder;
  package::Outputs outputs;
  llvm::Expected<package::StagedFile *> file = outputs.add(folder.path("out"));
  REQUIRE(bool(file));
  findsNoMemoryForFolder = true;
  llvm::Error error = package::spawn("sh", {"-c", "touch " + folder.path("ran")}, {**file, "copy"});
  findsNoMemoryForFolder = false;
  CHECK(llvm::toString(std::move(error)) == folder.path("out") + ": cannot copy: sh: Cannot allocate memory");
  CHECK(folder.read("ran") == "(no file)");
}

/// Begins an output in a process that has made none yet, after so many allocations without memory.
static void makeFirst(const std::string &path, long allocations) noexcept {
  alarm(20); // for one that waits for ever
  package::endOnWantOfMemory();
  left = allocations;
  package::Outputs outputs;
  bool isMade = bool(outputs.add(path));
  left = -1;
  _exit(isMade ? 0 : 2);
}

TEST_CASE("its own process", "[.first]") { makeFirst(getenv("KILN_TEST_PATH"), atol(getenv("KILN_TEST_LEFT"))); }

TEST_CASE("a process without memory for its first output ends, whichever allocation fails") {
  bool isMade = false;
  for (long allocations = 0; !isMade; ++allocations) {
    REQUIRE(allocations < 1000);
    INFO("after " << allocations << " allocations");
    Folder folder;
    setenv("KILN_TEST_PATH", folder.path("out").c_str(), 1);
    setenv("KILN_TEST_LEFT", std::to_string(allocations).c_str(), 1);
    pid_t child = fork();
    if (child == 0) {
      close(STDOUT_FILENO);
      close(STDERR_FILENO);
      execl("/proc/self/exe", "PackageTest", "[.first]", nullptr);
      _exit(3);
    }
    int status = 0;
    REQUIRE(waitpid(child, &status, 0) == child);
    REQUIRE(WIFEXITED(status));
    REQUIRE(WEXITSTATUS(status) < 2);
    isMade = WEXITSTATUS(status) == 0;
    CHECK((isMade || folder.files() == 0));
  }
}

/// A process in which several threads find no memory at once, with an output to remove. Writes to `out`.
static pid_t startWithoutMemory(const std::string &path, int out) {
  pid_t child = fork();
  if (child)
    return child;
  alarm(20);
  dup2(out, STDERR_FILENO);
  package::endOnWantOfMemory();
  package::Outputs outputs;
  if (!outputs.add(path))
    _exit(2);
  std::atomic<int> waiting = 8;
  auto allocate = [&] {
    for (--waiting; waiting > 0;)
      ;
    std::get_new_handler()();
  };
  std::vector<std::thread> threads;
  for (int more = waiting; more > 1; --more)
    threads.emplace_back(allocate);
  allocate();
  _exit(3);
}

TEST_CASE("threads that find no memory at once end the process with one line") {
  for (int round = 0; round < 20; ++round) {
    Folder folder;
    int ends[2], status = 0;
    REQUIRE(pipe(ends) == 0);
    pid_t child = startWithoutMemory(folder.path("out"), ends[1]);
    close(ends[1]);
    std::string text(4096, '\0');
    size_t length = 0;
    for (ssize_t more = 1; more > 0; length += std::max<ssize_t>(more, 0))
      more = read(ends[0], text.data() + length, text.size() - length);
    close(ends[0]);
    REQUIRE(waitpid(child, &status, 0) == child);
    CHECK((WIFEXITED(status) && WEXITSTATUS(status) == 1));
    CHECK(std::count(text.begin(), text.end(), '\n') == 1);
  }
}

/// Commits two files in a process of its own in which the allocation after so many fails. Whether it succeeds.
static bool commit(const Folder &folder, long allocations) {
  pid_t child = fork();
  if (child == 0) {
    package::endOnWantOfMemory();
    package::Outputs outputs;
    for (const char *name : {"one", "two"})
      if (outputs.write(folder.path(name), [](llvm::raw_ostream &out) {
            out << "new";
            return llvm::Error::success();
          }))
        _exit(2);
    close(STDERR_FILENO);
    left = allocations;
    llvm::Error error = outputs.commit();
    left = -1;
    _exit(error ? 2 : 0);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  REQUIRE(WIFEXITED(status));
  REQUIRE(WEXITSTATUS(status) < 2);
  return WEXITSTATUS(status) == 0;
}

TEST_CASE("all files have their names, or none, whichever allocation fails") {
  long allocations = 0;
  for (bool committed = false; !committed; ++allocations) {
    REQUIRE(allocations < 1000);
    Folder folder;
    folder.write("one", "old");
    folder.write("two", "old");
    committed = commit(folder, allocations);
    INFO("after " << allocations << " allocations");
    CHECK(folder.read("one") == folder.read("two"));
    CHECK((!committed || folder.read("one") == "new"));
    CHECK(folder.files() == 2);
  }
  CHECK(allocations > 1);
}
