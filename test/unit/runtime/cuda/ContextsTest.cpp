// What a context on the device cuda has of its own, and what it shares: weights, threads, and memory that is not to be
// had.
#include "../TempFolder.h"
#include "Fixture.h"

#include <algorithm>
#include <cstdlib>
#include <thread>

using namespace cuda_test;

namespace {

std::vector<int32_t> counted(int64_t n) {
  std::vector<int32_t> values(n);
  std::iota(values.begin(), values.end(), 0);
  return values;
}

/// y = the weight + x[0].
kiln_status addWeight(kiln_context *context, kiln_slice, kiln_slice y, int64_t n) {
  kiln_slice weight;
  kiln_status status = kiln_rt_weight(context, 0, &weight);
  return status ? status : add(context, y, weight, n, 5);
}

/// Host memory that remembers the largest block it gave.
struct Largest {
  static void *allocate(void *user, size_t bytes, size_t alignment) {
    auto *self = static_cast<Largest *>(user);
    self->bytes = std::max(self->bytes, bytes);
    return std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
  }
  static void release(void *, void *memory) { std::free(memory); }
  kiln_allocator allocator() { return {allocate, release, this}; }
  size_t bytes = 0;
};

} // namespace

TEST_CASE("weights go to the device once per context, not once per run") {
  {
    Fixture first({.weight = {10, 20, 30}});
    CHECK(driver().copies == 1);
    program = addWeight;
    int64_t blocks = 0;
    for (int run = 0; run < 4; run++) {
      CHECK(first.runOn(3) == std::vector<int32_t>{15, 25, 35});
      CHECK(driver().copies == 1 + 2 * (run + 1)); // of x and y, in the host's memory
      CHECK((run == 0 || driver().blocks == blocks));
      blocks = driver().blocks;
    }
    Opened second({.weight = {1, 2, 3}});
    CHECK(second.runOn(3) == std::vector<int32_t>{6, 7, 8});
    CHECK(first.runOn(3) == std::vector<int32_t>{15, 25, 35});
  }
  CHECK(driver().blocks == 0);
}

TEST_CASE("weights of the artefact and of a file are read where they are mapped") {
  constexpr int64_t n = 5 << 19; // 10 MB, five pinned pieces
  std::vector<int32_t> values = counted(n), wanted = values;
  for (int32_t &value : wanted)
    value += 5;
  program = addWeight;
  TempFolder folder;
  std::string data(reinterpret_cast<const char *>(values.data()), 4 * n);
  std::string header = R"({"w":{"dtype":"I32","shape":[)" + std::to_string(n) + R"(],"data_offsets":[0,)" +
                       std::to_string(4 * n) + "]}}";
  header.resize((header.size() + 63) / 64 * 64 - 8, ' ');
  std::string length(8, '\0');
  for (size_t i = 0; i < 8; i++)
    length[i] = char(header.size() >> 8 * i);
  std::string path = folder.write("w.safetensors", length + header + data);
  for (const char *file : {static_cast<const char *>(nullptr), path.c_str()}) {
    Largest largest;
    Fixture fixture({.weight = values, .weightFile = file, .memory = largest.allocator()});
    CHECK(largest.bytes < 1 << 20);
    CHECK(driver().copies == 5);
    CHECK(driver().pinned == 2);
    CHECK(fixture.runOn(n) == wanted);
  }
}

TEST_CASE("threads run models side by side, each with contexts of its own") {
  driver() = {};
  constexpr int kThreads = 6, kRuns = 60;
  std::vector<std::string> wrong(kThreads);
  std::vector<std::thread> threads;
  threads.reserve(kThreads);
  for (int thread = 0; thread < kThreads; thread++)
    threads.emplace_back([thread, &wrong] {
      for (int round = 0; round < 3; round++) {
        Opened first({.weight = {thread, 100}}), second(Given{});
        for (int run = 0; run < kRuns && first.isOpen() && second.isOpen(); run++) {
          program = addWeight;
          if (first.runOn(2) != std::vector<int32_t>{thread + 5, 105})
            wrong[thread] = "the first model " + first.error();
          program = chain(thread);
          int64_t n = 1 + run % 3;
          if (second.runOn(n).back() != 20 + thread + n)
            wrong[thread] = "the second model " + second.error();
        }
        if (!first.isOpen() || !second.isOpen())
          wrong[thread] = first.error() + second.error();
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  CHECK(wrong == std::vector<std::string>(kThreads));
  CHECK(driver().graph_launches > kThreads * kRuns); // each captures graphs while others launch
  CHECK(driver().strays == 0);
  CHECK(driver().blocks == 0);
  CHECK(driver().pinned == 0);
}

TEST_CASE("memory that is not to be had is told with what wanted it, and a smaller run goes on") {
  Fixture fixture;
  driver().most_bytes = 1000;
  program = [](kiln_context *context, kiln_slice x, kiln_slice y, int64_t n) {
    kiln_slice arena;
    kiln_status status = kiln_rt_arena(context, 0, n * 300, "add", &arena);
    return status ? status : add(context, y, x, n, 1);
  };
  CHECK(fixture.runOn(2) == std::vector<int32_t>{1, 2});
  fixture.runOn(4);
  CHECK(fixture.status() == KILN_OUT_OF_MEMORY);
  CHECK(fixture.error() == "arena: no memory for 1200 bytes on device 'cuda', most of it for kernel 'add'");
  CHECK(fixture.runOn(3) == std::vector<int32_t>{1, 2, 3});
  fixture.runOn(400);
  CHECK(fixture.status() == KILN_OUT_OF_MEMORY);
  CHECK(fixture.error() == "x: no memory for 1600 bytes on device 'cuda'");
}

TEST_CASE("a weight for which there is no memory is named") {
  driver() = {};
  driver().most_bytes = 100;
  Opened opened({.weight = counted(1000)});
  CHECK(!opened.isOpen());
  CHECK(opened.status() == KILN_OUT_OF_MEMORY);
  CHECK(opened.error() == "w: no memory for 4000 bytes on device 'cuda'");
  CHECK(driver().blocks == 0);
}
