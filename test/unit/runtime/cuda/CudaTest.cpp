// What the device cuda asks of a driver: the tests' own, which has one kernel and counts. On a GPU wrong order or a
// missing wait mostly goes unnoticed, and no test can count the calls. Here it can be compared which launches became a
// graph, how often memory was copied or waited for, and what is said when any of the calls fails.
#include "Fixture.h"

#include <numeric>

using namespace cuda_test;

namespace {

/// Memory of the driver.
void *deviceMemory(size_t bytes) {
  auto alloc = reinterpret_cast<int (*)(unsigned long long *, size_t)>(dlsym(library(), "cuMemAlloc_v2"));
  unsigned long long address = 0;
  REQUIRE(alloc(&address, bytes) == 0);
  return reinterpret_cast<void *>(address);
}
void freeDeviceMemory(void *memory) {
  auto release = reinterpret_cast<int (*)(unsigned long long)>(dlsym(library(), "cuMemFree_v2"));
  release(reinterpret_cast<unsigned long long>(memory));
}

} // namespace

TEST_CASE("launches that come again are one graph") {
  Fixture fixture;
  program = chain(100);
  for (int graphs : {0, 0, 1, 2, 3}) {
    CHECK(fixture.runOn(3) == std::vector<int32_t>{121, 122, 123});
    CHECK(driver().graph_launches == graphs);
  }
  CHECK(driver().launches == 8);
}

TEST_CASE("launches that end in another way than a graph are launched one by one") {
  Fixture fixture;
  program = chain(100);
  for (int i = 0; i < 3; i++)
    fixture.runOn(2);
  REQUIRE(driver().graph_launches == 1);
  program = chain(200);
  CHECK(fixture.runOn(2) == std::vector<int32_t>{221, 222});
  program = [](kiln_context *context, kiln_slice x, kiln_slice y, int64_t n) { return add(context, y, x, n, 1); };
  CHECK(fixture.runOn(2) == std::vector<int32_t>{1, 2});
  CHECK(driver().graph_launches == 1);
  program = chain(100);
  CHECK(fixture.runOn(2) == std::vector<int32_t>{121, 122});
  CHECK(driver().graph_launches == 2);
}

TEST_CASE("a launch that is timed takes what the GPU's events measured") {
  std::vector<double> seconds;
  Given given;
  given.spanUser = &seconds;
  given.span = [](void *user, const kiln_span *span) {
    if (std::string(span->name) != "copy")
      static_cast<std::vector<double> *>(user)->push_back(span->end - span->begin);
  };
  {
    Fixture fixture(given);
    program = chain(100);
    for (int i = 0; i < 3; i++)
      CHECK(fixture.runOn(3) == std::vector<int32_t>{121, 122, 123});
    CHECK(driver().graph_launches == 0); // a graph's launches have no times
  }
  REQUIRE(seconds.size() == 12);
  for (double each : seconds)
    CHECK(each == Approx(0.25));
  CHECK(driver().events == 0);
}

TEST_CASE("a graph is of one set of sizes") {
  Fixture fixture;
  program = chain(100);
  for (int64_t n : {3, 3, 3, 2, 3, 2, 2})
    CHECK(fixture.runOn(n).back() == 120 + n);
  CHECK(driver().graph_launches == 3);
}

TEST_CASE("copies are part of a graph, what is read between ends one") {
  Fixture fixture;
  program = [](kiln_context *context, kiln_slice x, kiln_slice y, int64_t n) {
    kiln_status status = chain(100)(context, x, y, n);
    kiln_slice second = {y.memory, 4};
    if (!status)
      status = kiln_rt_copy(context, second, y, 4, 0, 0);
    int64_t value = 0;
    if (!status)
      status = kiln_rt_read(context, 0, second, KILN_INT32, &value);
    return status ? status : add(context, y, y, 1, value);
  };
  for (int i = 0; i < 4; i++)
    CHECK(fixture.runOn(2) == std::vector<int32_t>{242, 121});
  CHECK(driver().graph_launches == 2);
}

TEST_CASE("memory of the device is used in place") {
  Fixture fixture;
  program = chain(100);
  auto *x = static_cast<int32_t *>(deviceMemory(8)), *y = static_cast<int32_t *>(deviceMemory(8));
  x[0] = 5, x[1] = 6;
  CHECK(fixture.runWith(x, y, 2) == KILN_OK);
  CHECK(y[1] == 127);
  CHECK(driver().copies == 0);
  CHECK(fixture.runWith(x, x, 2) == KILN_OK); // through memory between, as an input is read while an output is written
  CHECK(x[1] == 127);
  CHECK(fixture.runWith(x + 1, y, 1) == KILN_INVALID_ARGUMENT);
  CHECK(fixture.error() == "input 'x': memory of the device wanted at a multiple of 64 bytes");
  freeDeviceMemory(x);
  freeDeviceMemory(y);
}

TEST_CASE("outputs in memory of the context are not paged") {
  {
    Fixture fixture;
    program = chain(100);
    for (int64_t n : {2, 1, 3}) {
      std::vector<int32_t> x(n, 7);
      kiln_tensor input = {x.data(), KILN_INT32, 1, {n}, 0}, output = {};
      REQUIRE(fixture.runOn(input, output) == KILN_OK);
      CHECK(static_cast<int32_t *>(output.data)[n - 1] == 128);
      CHECK(driver().pinned == 1);
    }
  }
  CHECK(driver().pinned == 0);
}

TEST_CASE("memory that is paged goes through two pinned pieces") {
  constexpr int64_t n = (5 << 19) + 1000; // 2 MB a piece
  {
    Fixture fixture;
    program = [](kiln_context *context, kiln_slice x, kiln_slice y, int64_t count) {
      return add(context, y, x, count, 7);
    };
    std::vector<int32_t> wanted(n);
    std::iota(wanted.begin(), wanted.end(), 7);
    CHECK(fixture.runOn(n) == wanted);
    CHECK(driver().pinned == 2);
    CHECK(driver().copies == 12);
    CHECK(fixture.runOn(n) == wanted);
    CHECK(driver().pinned == 2);
  }
  CHECK(driver().pinned == 0);
  CHECK(driver().events == 0);
}

TEST_CASE("where nothing can be pinned, the driver copies what is paged") {
  Fixture fixture;
  program = chain(100);
  driver().fail_host_alloc = 1;
  CHECK(fixture.runOn(1 << 20)[5] == 126);
  CHECK(driver().copies == 2);
  driver().fail_host_alloc = 0;
}

TEST_CASE("on a caller's stream a run waits for host memory alone") {
  int stream;
  Fixture fixture({.stream = &stream});
  program = chain(100);
  auto *x = static_cast<int32_t *>(deviceMemory(4)), *y = static_cast<int32_t *>(deviceMemory(4));
  *x = 5;
  CHECK(fixture.runWith(x, y, 1) == KILN_OK);
  CHECK(*y == 126);
  CHECK(driver().waits == 0);
  CHECK(fixture.runOn(1) == std::vector<int32_t>{121});
  CHECK(driver().waits > 0);
  freeDeviceMemory(x);
  freeDeviceMemory(y);
}

TEST_CASE("what fails is named") {
  Fixture fixture;
  program = chain(100);
  driver().fail_launch = 4;
  fixture.runOn(1);
  CHECK(fixture.status() == KILN_DEVICE_ERROR);
  CHECK(fixture.error() == "add_last: cuLaunchKernel: OUT_OF_RESOURCES");
  driver().fail_wait = 1;
  fixture.runOn(1);
  CHECK(fixture.error() == "y: a kernel from add to add_last: ILLEGAL_ADDRESS; DEBUG=2 tells which");
  driver().fail_wait = 0;
}

TEST_CASE("a launch for which there is no memory is named") {
  Fixture fixture;
  program = chain(100);
  driver().fail_launch = 4;
  driver().launch_error = CUDA_OUT_OF_MEMORY;
  fixture.runOn(1);
  CHECK(fixture.status() == KILN_OUT_OF_MEMORY);
  CHECK(fixture.error() == "add_last: cuLaunchKernel: OUT_OF_MEMORY");
}

TEST_CASE("a lost GPU is told by the kernels before, whatever is called then") {
  Fixture fixture;
  program = chain(100);
  driver().lost_after = 3;
  fixture.runOn(1);
  CHECK(fixture.status() == KILN_DEVICE_ERROR);
  CHECK(fixture.error() == "add_last: kernel add: ILLEGAL_ADDRESS");
  fixture.runOn(1);
  CHECK(fixture.error() == "x: a kernel from add to add_last: ILLEGAL_ADDRESS; DEBUG=2 tells which");
  driver().is_lost = 0;
}

TEST_CASE("a launch that was held back is named where it fails") {
  Fixture fixture;
  program = chain(100);
  for (int i = 0; i < 3; i++)
    fixture.runOn(1);
  program = chain(200);
  driver().fail_launch = 1;
  fixture.runOn(1);
  CHECK(fixture.error() == "add_last: kernel add: cuLaunchKernel: OUT_OF_RESOURCES");
}
