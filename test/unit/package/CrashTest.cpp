//===- CrashTest.cpp - A process that crashes ends ------------------------------===//
#include "Folder.h"

#include "package/Interrupt.h"
#include "package/OutputFile.h"

#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/Signals.h"

#include <csignal>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace kiln;
using kiln::test::Folder;

/// As the printing of a stack that wants memory from a heap whose lock the crash holds, but that the test ends.
static void standStill(void *) {
  sleep(60);
  _exit(0);
}

TEST_CASE("a crash whose report stands still ends all the same") {
  pid_t child = fork();
  if (child == 0) {
    package::endOnInterrupts();
    llvm::sys::AddSignalHandler(standStill, nullptr);
    raise(SIGSEGV);
    _exit(0);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  REQUIRE(WIFSIGNALED(status));
  CHECK(WTERMSIG(status) == SIGABRT);
}

TEST_CASE("what LLVM does not go on after leaves no folder behind") {
  Folder folder;
  pid_t child = fork();
  if (child == 0) {
    package::endOnWantOfMemory();
    package::Outputs outputs;
    if (llvm::Expected<package::StagedFile *> file = outputs.add(folder.path("out")); !file)
      _exit(2);
    dup2(open(folder.path("said").c_str(), O_WRONLY | O_CREAT, 0600), STDERR_FILENO);
    llvm::reportFatalUsageError("no such relocation");
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  REQUIRE(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 1);
  CHECK(folder.read("said") == "kiln: LLVM: no such relocation\n");
  CHECK(folder.files() == 1); // what was said
}
