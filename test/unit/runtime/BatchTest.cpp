// Samples of a batch go through their launches in any order, several at a time, on any number of threads. A program of
// three launches passes numbers on in its slot's memory, where a sample that is computed meanwhile in the same slot, or
// a launch that comes too early, would leave others.
#include "runtime/device/cpu/cpu.h"
#include "test/unit/runtime/ThreadTasks.h"

#include <catch2/catch.hpp>

#include <cstdint>
#include <cstring>
#include <set>
#include <thread>
#include <vector>

namespace {

constexpr int64_t kChunks = 5, kElements = 4 * kChunks, kSlotBytes = kElements * int64_t(sizeof(int64_t));

void fill(void *const *buffers, const int64_t *sizes, int64_t chunk) {
  auto *to = static_cast<int64_t *>(buffers[0]);
  for (int64_t i = 0; i < 4; i++)
    to[4 * chunk + i] = sizes[0] * 1000 + 4 * chunk + i;
}

/// Each chunk reads what all chunks of the launch before wrote, by way of scratch.
void sumUp(void *const *buffers, const int64_t *, int64_t chunk) {
  auto *to = static_cast<int64_t *>(buffers[0]), *held = static_cast<int64_t *>(buffers[2]);
  std::memcpy(held, buffers[1], kSlotBytes);
  std::this_thread::yield();
  int64_t sum = 0;
  for (int64_t i = 0; i < kElements; i++)
    sum += held[i];
  to[chunk] = sum + chunk;
}

void collect(void *const *buffers, const int64_t *, int64_t) {
  auto *from = static_cast<int64_t *>(buffers[1]);
  auto *to = static_cast<int64_t *>(buffers[0]);
  *to = 0;
  for (int64_t i = 0; i < kChunks; i++)
    *to += from[i];
}

constexpr kiln_kernel kKernels[] = {{"fill", 1, 1, fill, {1, 1, 1}, 0, 0, nullptr},
                                    {"sum", 3, 0, sumUp, {1, 1, 1}, 1, 0, nullptr},
                                    {"collect", 2, 0, collect, {1, 1, 1}, 0, 0, nullptr}};

struct Batch {
  int64_t samples = 8, failsAt = -1;
  bool isFilled = false;
  std::vector<int64_t> results;
  std::set<int64_t> slots;
} batch;

kiln_status launch(kiln_context *context, int32_t kernel, const kiln_slice *buffers, const int64_t *sizes,
                   int64_t chunks) {
  static const kiln_launch_info infos[] = {{0, ""}, {1, ""}, {2, ""}};
  int64_t grid[] = {chunks, 1, 1}, estimates[KILN_ESTIMATES] = {0, 1 << 20};
  return kiln_rt_launch(context, &infos[kernel], buffers, sizes, grid, estimates);
}

kiln_status run(kiln_context *context, const int64_t *) {
  kiln_slice slots;
  kiln_status status = kiln_rt_arena(context, 0, 2 * kSlotBytes * batch.samples, nullptr, &slots);
  // Before the batch a launch of its own, which is done when it returns.
  int64_t number = 7;
  std::vector<int64_t> before(size_t{kElements});
  kiln_slice filled = {before.data(), 0};
  status = status ? status : launch(context, 0, &filled, &number, kChunks);
  batch.isFilled = before.back() == 7000 + kElements - 1;
  for (int64_t sample = 0; !status && sample < batch.samples; sample++) {
    int64_t slot;
    if ((status = kiln_rt_batch_sample(context, 0, sample, batch.samples, &slot)))
      return status;
    batch.slots.insert(slot);
    kiln_slice filled = {slots.memory, 2 * slot * kSlotBytes}, sums = {slots.memory, filled.offset + kSlotBytes};
    kiln_slice summing[] = {sums, filled, {nullptr, sample == batch.failsAt ? INT64_MAX : kSlotBytes}};
    kiln_slice collecting[] = {{batch.results.data(), sample * int64_t(sizeof(int64_t))}, sums};
    status = launch(context, 0, &filled, &sample, kChunks);
    if (!status)
      status = launch(context, 1, summing, nullptr, kChunks);
    if (!status)
      status = launch(context, 2, collecting, nullptr, 1);
  }
  return status ? status : kiln_rt_batch_end(context, 0);
}

struct Program {
  kiln_model model = {};
  kiln_context *context = nullptr;

  explicit Program(kiln_options options, int64_t samples = 8) {
    static const kiln_place place = {&kiln_device_cpu, nullptr, 0, 0, 0, {}};
    model.abi = KILN_ABI_VERSION;
    model.name = "test";
    model.devices = &place;
    model.device_count = 1;
    model.kernels = kKernels;
    model.kernel_count = 3;
    model.run = ::run;
    options.size = sizeof options;
    batch = {};
    batch.samples = samples;
    batch.results.assign(size_t(samples), -1);
    REQUIRE(kiln_context_create(&model, &options, &context, nullptr, 0) == KILN_OK);
  }
  ~Program() { kiln_context_destroy(context); }

  kiln_status run() { return kiln_run(context, nullptr, 0, nullptr, 0); }
};

kiln_options with(int32_t threads) {
  kiln_options options = {};
  options.threads = threads;
  return options;
}

bool isRight() {
  if (!batch.isFilled)
    return false;
  for (int64_t sample = 0; sample < batch.samples; sample++) {
    int64_t sum = kElements * sample * 1000 + kElements * (kElements - 1) / 2;
    if (batch.results[size_t(sample)] != kChunks * sum + kChunks * (kChunks - 1) / 2)
      return false;
  }
  return true;
}

} // namespace

TEST_CASE("samples of a batch have their own results on any number of threads") {
  for (int32_t threads : {1, 2, 3, 5, 8, 12})
    for (int64_t samples : {1, 7, 8, 70}) {
      Program program(with(threads), samples);
      CAPTURE(threads, samples);
      for (int again = 0; again < 20; again++) {
        batch.results.assign(size_t(samples), -1);
        REQUIRE(program.run() == KILN_OK);
        REQUIRE(isRight());
      }
    }
}

TEST_CASE("as many samples are in memory as threads compute together") {
  auto slotsWith = [](int32_t threads, int64_t samples) {
    Program program(with(threads), samples);
    CHECK(program.run() == KILN_OK);
    return batch.slots.size();
  };
  CHECK(slotsWith(1, 8) == 1);
  CHECK(slotsWith(2, 8) == 2);
  CHECK(slotsWith(3, 8) == 3);
  CHECK(slotsWith(5, 8) == 4); // in two turns, both alike
  CHECK(slotsWith(12, 8) == 8);
}

TEST_CASE("tasks of the caller's compute a batch") {
  kiln_options options = with(3);
  options.run_tasks = kiln::test::runOnThreads;
  Program program(options, 7);
  CHECK(program.run() == KILN_OK);
  CHECK(isRight());
}

TEST_CASE("launches that are timed are told of each by itself") {
  int64_t told = 0;
  kiln_options options = with(2);
  options.span_user = &told;
  options.span = [](void *user, const kiln_span *span) {
    if (span->thread < 0)
      ++*static_cast<int64_t *>(user);
  };
  Program program(options);
  CHECK(program.run() == KILN_OK);
  CHECK(isRight());
  CHECK(told == 1 + 3 * 8);
  CHECK(batch.slots.size() == 1);
}

TEST_CASE("a run after one that failed within a batch is whole") {
  Program program(with(2));
  batch.failsAt = 3;
  CHECK(program.run() == KILN_OUT_OF_MEMORY);
  batch.failsAt = -1;
  CHECK(program.run() == KILN_OK);
  CHECK(isRight());
}
