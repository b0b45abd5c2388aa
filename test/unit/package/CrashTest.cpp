//===- CrashTest.cpp - A process that crashes ends ------------------------------===//
#include "package/Interrupt.h"

#include "llvm/Support/Signals.h"

#include <catch2/catch.hpp>

#include <csignal>
#include <sys/wait.h>
#include <unistd.h>

using namespace kiln;

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
