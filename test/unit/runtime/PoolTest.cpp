// A pool runs the chunks of a launch on a few threads that wait for work, and between launches fall asleep. What can go
// wrong shows rarely: a chunk that runs twice or never, a thread that is late and takes a chunk of the next launch, a
// wake-up that is lost. So thousands of launches follow each other, and each chunk is counted. Forks and signals are
// tried because the threads belong to somebody else's process.
#include "kiln/kiln.h"

extern "C" {
#include "runtime/device/cpu/pool.h"
}

#include <catch2/catch.hpp>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace {

void count(void *const *buffers, int64_t chunk) { static_cast<std::atomic<int> *>(buffers[0])[chunk]++; }

/// Runs `chunks` chunks and tells whether each ran once.
bool eachRunsOnce(kiln_pool *pool, int64_t chunks) {
  std::vector<std::atomic<int>> counts(static_cast<size_t>(chunks));
  void *buffers[] = {counts.data()};
  kiln_pool_run(pool, nullptr, count, buffers, 0, chunks);
  for (std::atomic<int> &each : counts)
    if (each != 1)
      return false;
  return true;
}

} // namespace

TEST_CASE("every chunk runs once, whatever the numbers of threads and chunks") {
  for (int threads : {1, 2, 3, 7}) {
    kiln_pool *pool = kiln_pool_create(threads, nullptr);
    for (int64_t chunks : {0, 1, 2, 3, 100, 1000})
      CHECK(eachRunsOnce(pool, chunks));
    kiln_pool_destroy(pool);
  }
}

TEST_CASE("launches back to back do not mix") {
  kiln_pool *pool = kiln_pool_create(4, nullptr);
  bool good = true;
  for (int launch = 0; launch < 5000; launch++)
    good &= eachRunsOnce(pool, 1 + launch % 9);
  CHECK(good);
  kiln_pool_destroy(pool);
}

TEST_CASE("what is launched again at the same place goes back through its chunks") {
  std::vector<int64_t> order;
  auto note = [](void *const *buffers, int64_t chunk) {
    static_cast<std::vector<int64_t> *>(buffers[0])->push_back(chunk);
  };
  void *buffers[] = {&order};
  const int step = 0, elsewhere = 0;
  kiln_pool *pool = kiln_pool_create(1, nullptr);
  kiln_pool_run(pool, &step, note, buffers, 0, 3);
  kiln_pool_run(pool, &elsewhere, note, buffers, 0, 1); // what is in one piece touches little
  kiln_pool_run(pool, &step, note, buffers, 0, 3);
  kiln_pool_run(pool, &step, note, buffers, 0, 3);
  CHECK(order == std::vector<int64_t>{0, 1, 2, 0, 2, 1, 0, 0, 1, 2});
  order.clear();
  kiln_pool_run(pool, &elsewhere, note, buffers, 0, 3);
  kiln_pool_run(pool, &step, note, buffers, 0, 3);
  CHECK(order == std::vector<int64_t>{0, 1, 2, 0, 1, 2});
  kiln_pool_destroy(pool);
}

TEST_CASE("each thread begins with its own share of the chunks") {
  struct Firsts {
    std::atomic<int> begun{0};
    std::atomic<int64_t> sum{0};
  } firsts;
  kiln_pool *pool = kiln_pool_create(2, nullptr);
  REQUIRE(eachRunsOnce(pool, 2));
  REQUIRE(kiln_pool_threads(pool) == 2);
  void *buffers[] = {&firsts};
  kiln_pool_run(
      pool, nullptr,
      [](void *const *buffers, int64_t chunk) {
        auto &firsts = *static_cast<Firsts *>(buffers[0]);
        if (firsts.begun++ < 2)
          firsts.sum += 100 + chunk;
        while (firsts.begun < 2) // so that nobody takes more than one before each has one
          std::this_thread::yield();
      },
      buffers, 0, 8);
  CHECK(firsts.sum == 100 + 0 + 100 + 4);
  kiln_pool_destroy(pool);
}

TEST_CASE("threads that sleep wake up again") {
  kiln_pool *pool = kiln_pool_create(3, nullptr);
  for (int i = 0; i < 5; i++) {
    CHECK(eachRunsOnce(pool, 50));
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  kiln_pool_destroy(pool);
}

TEST_CASE("the caller sleeps through long chunks") {
  kiln_pool *pool = kiln_pool_create(2, nullptr);
  std::atomic<int> done{0};
  void *buffers[] = {&done};
  kiln_pool_run(
      pool, nullptr,
      [](void *const *buffers, int64_t chunk) {
        std::this_thread::sleep_for(std::chrono::milliseconds(chunk * 30));
        ++*static_cast<std::atomic<int> *>(buffers[0]);
      },
      buffers, 0, 3);
  CHECK(done == 3);
  kiln_pool_destroy(pool);
}

TEST_CASE("signals are for the process's own threads") {
  static std::atomic<bool> handledElsewhere, handled;
  static thread_local bool isMine = false;
  isMine = true;
  auto before = std::signal(SIGUSR1, [](int) { (isMine ? handled : handledElsewhere) = true; });
  sigset_t usr1, mask;
  sigemptyset(&usr1);
  sigaddset(&usr1, SIGUSR1);
  kiln_pool *pool = kiln_pool_create(4, nullptr);
  CHECK(eachRunsOnce(pool, 20));
  pthread_sigmask(SIG_BLOCK, nullptr, &mask);
  CHECK(sigismember(&mask, SIGUSR1) == 0); // the caller's own mask is as it was
  pthread_sigmask(SIG_BLOCK, &usr1, nullptr);
  kill(getpid(), SIGUSR1);
  for (int i = 0; i < 5; i++) {
    CHECK(eachRunsOnce(pool, 20));
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  CHECK_FALSE(handledElsewhere);
  pthread_sigmask(SIG_UNBLOCK, &usr1, nullptr);
  CHECK(handled);
  std::signal(SIGUSR1, before);
  kiln_pool_destroy(pool);
}

TEST_CASE("a child of a fork has a pool of its own threads, and may end it") {
  for (bool runs : {false, true}) {
    kiln_pool *pool = kiln_pool_create(3, nullptr);
    CHECK(eachRunsOnce(pool, 50));
    pid_t child = fork();
    if (child == 0) {
      alarm(20);
      bool good = !runs || (eachRunsOnce(pool, 50) && kiln_pool_threads(pool) == 3);
      kiln_pool_destroy(pool);
      _exit(good ? 0 : 1);
    }
    int status = -1;
    REQUIRE(waitpid(child, &status, 0) == child);
    CHECK(status == 0);
    CHECK(eachRunsOnce(pool, 50));
    kiln_pool_destroy(pool);
  }
}

TEST_CASE("a child of a fork gives memory back to whom it is from") {
  static int out = 0;
  static const kiln_allocator memory = {
      [](void *, size_t bytes, size_t alignment) { return ++out, std::aligned_alloc(alignment, bytes); },
      [](void *, void *given) { --out, std::free(given); }, nullptr};
  kiln_pool *pool = kiln_pool_create(3, &memory);
  CHECK(eachRunsOnce(pool, 50));
  pid_t child = fork();
  if (child == 0) {
    alarm(20);
    bool good = eachRunsOnce(pool, 50);
    kiln_pool_destroy(pool);
    _exit(good && out == 0 ? 0 : 1);
  }
  int status = -1;
  CHECK(waitpid(child, &status, 0) == child);
  CHECK(status == 0);
  kiln_pool_destroy(pool);
  CHECK(out == 0);
}

TEST_CASE("one thread starts no other, and others start only for work that can be shared") {
  kiln_pool *alone = kiln_pool_create(1, nullptr), *several = kiln_pool_create(3, nullptr);
  CHECK(eachRunsOnce(alone, 10));
  CHECK(kiln_pool_threads(alone) == 1);
  CHECK(eachRunsOnce(several, 1));
  CHECK(kiln_pool_threads(several) == 1);
  CHECK(eachRunsOnce(several, 2));
  CHECK(kiln_pool_threads(several) == 3);
  kiln_pool_destroy(alone);
  kiln_pool_destroy(several);
}
