// Memory that a kernel asks for besides its tensors is a worker's, not a chunk's: as many pieces as may run at once,
// whatever the grid, and never one for two at a time. Chunks that meet in a piece at once, or find it where it should
// not be, are noted by the kernel itself.
#include "runtime/device/cpu/cpu.h"
#include "test/unit/runtime/ThreadTasks.h"

extern "C" {
#include "runtime/device/cpu/pool.h"
}

#include <catch2/catch.hpp>

#include <atomic>
#include <cstdint>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

namespace {

/// What the chunks of a launch saw of their scratch, which lies beyond the one buffer that all share.
struct Seen {
  std::atomic<bool> isShared{false}, isMisaligned{false};
  std::mutex mutex;
  std::set<void *> memories;
};

constexpr int64_t kFirstBytes = 8, kSecondBytes = 200;

/// Notes its memory, and whether another chunk writes there meanwhile.
void watch(void *const *buffers, const int64_t *, int64_t chunk) {
  Seen &seen = **static_cast<Seen **>(buffers[0]);
  auto *first = static_cast<volatile int64_t *>(buffers[1]);
  auto *last = static_cast<volatile char *>(buffers[2]) + kSecondBytes - 1;
  if (uintptr_t(buffers[1]) % KILN_ALIGNMENT || uintptr_t(buffers[2]) % KILN_ALIGNMENT)
    seen.isMisaligned = true;
  {
    std::lock_guard lock(seen.mutex);
    seen.memories.insert(buffers[1]);
  }
  *first = chunk;
  *last = char(chunk);
  for (int i = 0; i < 20; i++) {
    std::this_thread::yield();
    if (*first != chunk || *last != char(chunk))
      seen.isShared = true;
  }
}

Seen *watched;
std::vector<int64_t> launches; ///< how many chunks each has
int64_t moved;                 ///< bytes, as far as the device is told

kiln_status run(kiln_context *context, const int64_t *) {
  kiln_launch_info info = {0, nullptr};
  int64_t estimates[KILN_ESTIMATES] = {0, moved};
  for (int64_t chunks : launches) {
    int64_t grid[] = {chunks, 1, 1};
    kiln_slice buffers[] = {{static_cast<void *>(&watched), 0}, {nullptr, kFirstBytes}, {nullptr, kSecondBytes}};
    if (kiln_status status = kiln_rt_launch(context, &info, buffers, nullptr, grid, estimates))
      return status;
  }
  return KILN_OK;
}

kiln_model model() {
  static const kiln_kernel kernel = {"watch", 3, 0, watch, {1, 1, 1}, 2, 0, nullptr};
  kiln_model model = {};
  model.abi = KILN_ABI_VERSION;
  model.name = "test";
  static const kiln_place place = {&kiln_device_cpu, nullptr, 0, 0, 0, {}};
  model.devices = &place;
  model.device_count = 1;
  model.kernels = &kernel;
  model.kernel_count = 1;
  model.run = run;
  return model;
}

kiln_status runWith(kiln_options options, Seen &seen, std::vector<int64_t> chunks = {1, 100}, int64_t bytes = 1 << 20) {
  kiln_model watching = model();
  moved = bytes;
  launches = std::move(chunks);
  watched = &seen;
  options.size = sizeof options;
  kiln_context *context;
  kiln_status status = kiln_context_create(&watching, &options, &context, nullptr, 0);
  if (!status)
    status = kiln_run(context, nullptr, 0, nullptr, 0);
  kiln_context_destroy(context);
  return status;
}

} // namespace

TEST_CASE("each worker has scratch of its own, for however many chunks") {
  Seen seen;
  kiln_options options = {};
  options.threads = 3;
  REQUIRE(runWith(options, seen) == KILN_OK);
  CHECK_FALSE(seen.isShared);
  CHECK_FALSE(seen.isMisaligned);
  CHECK(seen.memories.size() <= 4); // of the first launch, which one worker runs, and then of three
}

TEST_CASE("the caller alone runs the chunks of a launch that has little work") {
  Seen seen;
  kiln_options options = {};
  options.threads = 3;
  REQUIRE(runWith(options, seen, {100}, /*bytes=*/6400) == KILN_OK);
  CHECK(seen.memories.size() == 1);
}

TEST_CASE("any thread may run a chunk, of fewer chunks than threads too") {
  Seen seen;
  kiln_options options = {};
  options.threads = 6;
  REQUIRE(runWith(options, seen, std::vector<int64_t>(3000, 2)) == KILN_OK);
  CHECK_FALSE(seen.isShared);
  CHECK(seen.memories.count(nullptr) == 0);
}

TEST_CASE("tasks of the caller's share out scratch among them, more than there are workers too") {
  Seen seen;
  kiln_options options = {};
  options.threads = 2;
  options.run_tasks = kiln::test::runOnThreads;
  REQUIRE(runWith(options, seen) == KILN_OK);
  CHECK_FALSE(seen.isShared);
  CHECK(seen.memories.size() <= 3);
}

TEST_CASE("a worker's buffers are a stride from the next one's") {
  struct Place {
    std::atomic<int> running{0};
    std::atomic<bool> isShared{false};
  } places[3];
  void *buffers[] = {&places[0], nullptr, &places[1], nullptr, &places[2], nullptr};
  kiln_pool *pool = kiln_pool_create(3, nullptr);
  REQUIRE(kiln_pool_workers(pool) == 3);
  kiln_pool_run(
      pool, nullptr,
      [](void *const *buffers, int64_t) {
        auto &place = *static_cast<Place *>(buffers[0]);
        if (place.running++ != 0)
          place.isShared = true;
        std::this_thread::yield();
        place.running--;
      },
      buffers, 2, 300);
  for (Place &place : places)
    CHECK_FALSE(place.isShared);
  kiln_pool_destroy(pool);
}
