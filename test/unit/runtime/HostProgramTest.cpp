// What a host program calls, each on its own: models here are nothing but a `run`. Its sizes may come from data, so any
// number may arrive: negative, or such that a product passes 64 bits. That has to end as a status and not as a small
// allocation. Memory is reused within a run and from run to run, and two tensors that live at the same time must never
// share any.
#include "runtime/device/cpu/cpu.h"

extern "C" {
#include "runtime/src/context.h"
}

#include <catch2/catch.hpp>

#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

namespace {

kiln_model modelOf(kiln_status (*run)(kiln_context *, const int64_t *)) {
  kiln_model model = {};
  model.abi = KILN_ABI_VERSION;
  model.name = "test";
  static const kiln_place place = {&kiln_device_cpu, nullptr, 0, 0, 0, {}};
  model.devices = &place;
  model.device_count = 1;
  model.run = run;
  return model;
}

struct Outcome {
  kiln_status status;
  std::string error;
};

Outcome runOnce(const kiln_model &model, const kiln_tensor *inputs = nullptr, kiln_tensor *outputs = nullptr) {
  kiln_context *context;
  REQUIRE(kiln_context_create(&model, nullptr, &context, nullptr, 0) == KILN_OK);
  kiln_status status = kiln_run(context, inputs, inputs ? model.input_count : 0, outputs, model.output_count);
  Outcome outcome = {status, kiln_context_error(context)};
  kiln_context_destroy(context);
  return outcome;
}

Outcome runOnce(kiln_status (*run)(kiln_context *, const int64_t *)) { return runOnce(modelOf(run)); }

kiln_slice at(kiln_slice slice, int64_t offset) { return {slice.memory, slice.offset + offset}; }

} // namespace

TEST_CASE("an element that is written reads back, in every dtype") {
  CHECK(runOnce([](kiln_context *c, const int64_t *) {
          kiln_slice arena;
          CHECK(kiln_rt_arena(c, 0, 64, nullptr, &arena) == KILN_OK);
          for (int dtype = KILN_INT8; dtype <= KILN_FLOAT64; dtype++) {
            int64_t value = 0;
            CHECK(kiln_rt_write(c, 0, at(arena, 8), kiln_dtype(dtype), 100) == KILN_OK);
            CHECK(kiln_rt_read(c, 0, at(arena, 8), kiln_dtype(dtype), &value) == KILN_OK);
            CHECK(value == 100);
          }
          return KILN_OK;
        }).status == KILN_OK);
}

TEST_CASE("a block of zeros is zero at first and keeps what a run writes") {
  kiln_model model = modelOf([](kiln_context *c, const int64_t *) {
    kiln_slice zeros;
    int64_t before = 0, last = 0;
    CHECK(kiln_rt_zeros(c, 0, 0, 200'000, 0, nullptr, &zeros) == KILN_OK);
    CHECK(kiln_rt_read(c, 0, at(zeros, 8), KILN_INT64, &before) == KILN_OK);
    CHECK(kiln_rt_read(c, 0, at(zeros, 199'992), KILN_INT64, &last) == KILN_OK);
    CHECK(last == 0);
    static int64_t runs = 0;
    CHECK(before == runs++);
    return kiln_rt_write(c, 0, at(zeros, 8), KILN_INT64, before + 1);
  });
  kiln_context *context;
  REQUIRE(kiln_context_create(&model, nullptr, &context, nullptr, 0) == KILN_OK);
  CHECK(kiln_run(context, nullptr, 0, nullptr, 0) == KILN_OK);
  CHECK(kiln_run(context, nullptr, 0, nullptr, 0) == KILN_OK);
  kiln_context_destroy(context);
}

TEST_CASE("blocks of zeros are apart, and one is zero again where a run has other sizes for it") {
  static int64_t size, found[2];
  kiln_model model = modelOf([](kiln_context *c, const int64_t *) {
    for (int32_t block : {1, 0}) {
      int64_t sizes[] = {block ? size : 0};
      kiln_slice zeros;
      CHECK(kiln_rt_zeros(c, 0, block, 64, 1, sizes, &zeros) == KILN_OK);
      CHECK(kiln_rt_read(c, 0, at(zeros, 8), KILN_INT64, &found[block]) == KILN_OK);
      CHECK(kiln_rt_write(c, 0, at(zeros, 8), KILN_INT64, found[block] + 1) == KILN_OK);
    }
    return KILN_OK;
  });
  kiln_context *context;
  REQUIRE(kiln_context_create(&model, nullptr, &context, nullptr, 0) == KILN_OK);
  int64_t runs = 0;
  for (auto [given, before] : {std::pair(3, 0), std::pair(3, 1), std::pair(4, 0), std::pair(3, 0)}) {
    size = given;
    CHECK(kiln_run(context, nullptr, 0, nullptr, 0) == KILN_OK);
    CHECK(found[1] == before);
    CHECK(found[0] == runs++);
  }
  kiln_context_destroy(context);
}

TEST_CASE("a block of zeros is zero again where a run wants another size of it") {
  static int64_t bytes, found;
  kiln_model model = modelOf([](kiln_context *c, const int64_t *) {
    kiln_slice zeros;
    CHECK(kiln_rt_zeros(c, 0, 0, bytes, 0, nullptr, &zeros) == KILN_OK);
    CHECK(kiln_rt_read(c, 0, at(zeros, 8), KILN_INT64, &found) == KILN_OK);
    return kiln_rt_write(c, 0, at(zeros, 8), KILN_INT64, 1);
  });
  kiln_context *context;
  REQUIRE(kiln_context_create(&model, nullptr, &context, nullptr, 0) == KILN_OK);
  for (int64_t wanted : {256, 64, 256}) {
    bytes = wanted;
    CHECK(kiln_run(context, nullptr, 0, nullptr, 0) == KILN_OK);
    CHECK(found == 0);
  }
  kiln_context_destroy(context);
}

TEST_CASE("reading truncates and saturates floats, keeps signs, and makes bools 0 or 1") {
  runOnce([](kiln_context *c, const int64_t *) {
    kiln_slice arena;
    int64_t value;
    CHECK(kiln_rt_arena(c, 0, 8, nullptr, &arena) == KILN_OK);
    auto readFloat = [&](double number) {
      std::memcpy(arena.memory, &number, 8);
      CHECK(kiln_rt_read(c, 0, arena, KILN_FLOAT64, &value) == KILN_OK);
      return value;
    };
    CHECK(readFloat(-2.9) == -2);
    CHECK(readFloat(1e30) == INT64_MAX);
    CHECK(readFloat(-1e30) == INT64_MIN);
    CHECK(readFloat(NAN) == 0);
    CHECK(kiln_rt_write(c, 0, arena, KILN_INT16, -5) == KILN_OK);
    CHECK(kiln_rt_read(c, 0, arena, KILN_INT16, &value) == KILN_OK);
    CHECK(value == -5);
    CHECK(kiln_rt_read(c, 0, arena, KILN_UINT16, &value) == KILN_OK);
    CHECK(value == 65531);
    CHECK(kiln_rt_write(c, 0, arena, KILN_BOOL, 2) == KILN_OK);
    CHECK(static_cast<char *>(arena.memory)[0] == 1);
    return KILN_OK;
  });
}

TEST_CASE("a plan follows the sizes from run to run") {
  static const kiln_lifetime lifetimes[] = {{0, 1}, {1, 2}, {2, 3}};
  auto run = [](kiln_context *c, const int64_t *) {
    auto plan = [&](int64_t bytes, kiln_slice *slices) {
      const int64_t sizes[] = {bytes, bytes, bytes};
      return kiln_rt_plan(c, 0, lifetimes, 3, sizes, nullptr, slices);
    };
    kiln_slice slices[3];
    for (int64_t bytes : {64, 64, 640, 100, 0}) {
      CHECK(plan(bytes, slices) == KILN_OK);
      int64_t apart = slices[1].offset - slices[0].offset;
      CHECK((apart < 0 ? -apart : apart) == (bytes + 63) / 64 * 64);
      CHECK(slices[2].offset == slices[0].offset);
      std::memset(static_cast<char *>(slices[1].memory) + slices[1].offset, 1, size_t(bytes));
    }
    return plan(INT64_MAX / 2, slices);
  };
  Outcome outcome = runOnce(run);
  CHECK(outcome.status == KILN_OUT_OF_MEMORY);
  CHECK(outcome.error == "no memory for 3 temporaries of these sizes");
}

TEST_CASE("the arena grows from run to run and is aligned") {
  kiln_model model = modelOf([](kiln_context *c, const int64_t *) {
    for (int64_t bytes : {0, 100, 1 << 23}) {
      kiln_slice arena;
      CHECK(kiln_rt_arena(c, 0, bytes, nullptr, &arena) == KILN_OK);
      CHECK(reinterpret_cast<uintptr_t>(arena.memory) % KILN_ALIGNMENT == 0);
      std::memset(arena.memory, 1, size_t(bytes));
    }
    return KILN_OK;
  });
  CHECK(runOnce(model).status == KILN_OK);
}

TEST_CASE("sizes that no machine has end the run for want of memory") {
  Outcome outcome = runOnce([](kiln_context *c, const int64_t *) {
    kiln_slice arena;
    return kiln_rt_arena(c, 0, INT64_MAX, "r_4_8", &arena);
  });
  CHECK(outcome.status == KILN_OUT_OF_MEMORY);
  CHECK(outcome.error ==
        "arena: no memory for 9223372036854775807 bytes on device 'cpu', most of it for kernel 'r_4_8'");
}

TEST_CASE("freed temporaries serve again, live ones stay apart, the rest is freed with the run") {
  CHECK(runOnce([](kiln_context *c, const int64_t *) {
          kiln_slice a, b, again, larger;
          CHECK(kiln_rt_alloc(c, 0, 100, &a) == KILN_OK);
          CHECK(kiln_rt_alloc(c, 0, 100, &b) == KILN_OK);
          CHECK(a.memory != b.memory);
          CHECK(kiln_rt_free(c, 0, a) == KILN_OK);
          CHECK(kiln_rt_alloc(c, 0, 60, &again) == KILN_OK);
          CHECK(again.memory == a.memory);
          CHECK(kiln_rt_free(c, 0, again) == KILN_OK);
          CHECK(kiln_rt_alloc(c, 0, 200, &larger) == KILN_OK);
          CHECK(larger.memory != a.memory);
          for (int i = 0; i < 100; i++)
            CHECK(kiln_rt_alloc(c, 0, 8, &a) == KILN_OK);
          return KILN_OK;
        }).status == KILN_OK);
}

TEST_CASE("a temporary of negative size is none that is free") {
  Outcome outcome = runOnce([](kiln_context *c, const int64_t *) {
    kiln_slice a;
    CHECK(kiln_rt_alloc(c, 0, 100, &a) == KILN_OK);
    CHECK(kiln_rt_free(c, 0, a) == KILN_OK);
    return kiln_rt_alloc(c, 0, -8, &a);
  });
  CHECK(outcome.status == KILN_OUT_OF_MEMORY);
  CHECK(outcome.error == "temporary: no memory for -8 bytes on device 'cpu'");
}

TEST_CASE("an arena of negative size is not the last run's") {
  Outcome outcome = runOnce([](kiln_context *c, const int64_t *) {
    kiln_slice arena;
    CHECK(kiln_rt_arena(c, 0, 64, nullptr, &arena) == KILN_OK);
    return kiln_rt_arena(c, 0, -64, nullptr, &arena);
  });
  CHECK(outcome.status == KILN_OUT_OF_MEMORY);
  CHECK(outcome.error == "arena: no memory for -64 bytes on device 'cpu'");
}

TEST_CASE("sizes that pass 64 bits are noticed") {
  auto wraps = [](int64_t (*function)(int64_t, int64_t, int *), int64_t a, int64_t b, int64_t want) {
    int wraps = 0;
    CHECK(function(a, b, &wraps) == want);
    return wraps != 0;
  };
  const int64_t least = INT64_MIN, most = INT64_MAX;
  CHECK_FALSE(wraps(kiln_size_mul, 0, least, 0));
  CHECK_FALSE(wraps(kiln_size_mul, -1, most, -most));
  CHECK_FALSE(wraps(kiln_size_mul, int64_t(1) << 31, int64_t(1) << 31, int64_t(1) << 62));
  CHECK_FALSE(wraps(kiln_size_mul, -(int64_t(1) << 31), int64_t(1) << 32, least));
  CHECK(wraps(kiln_size_mul, -1, least, least));
  CHECK(wraps(kiln_size_mul, least, -1, least));
  CHECK(wraps(kiln_size_mul, int64_t(1) << 32, int64_t(1) << 32, 0));
  CHECK(wraps(kiln_size_mul, int64_t(1) << 31, int64_t(1) << 32, least));
  CHECK_FALSE(wraps(kiln_size_add, most, least, -1));
  CHECK_FALSE(wraps(kiln_size_add, most, 0, most));
  CHECK(wraps(kiln_size_add, most, 1, least));
  CHECK(wraps(kiln_size_add, least, -1, most));
}

TEST_CASE("a grid of more items than 64 bits count is not launched") {
  static kiln_kernel kernel = {"E", 0, 0, [](void *const *, const int64_t *, int64_t) {}, {1, 1, 1}, 0, 0, nullptr};
  kiln_model model = modelOf([](kiln_context *c, const int64_t *sizes) {
    kiln_launch_info info = {0, nullptr};
    int64_t grid[] = {int64_t(1) << 32, int64_t(1) << 31, 2}, estimates[KILN_ESTIMATES] = {0, 0};
    return kiln_rt_launch(c, &info, nullptr, sizes, grid, estimates);
  });
  model.kernels = &kernel;
  model.kernel_count = 1;
  Outcome outcome = runOnce(model);
  CHECK(outcome.status == KILN_INVALID_ARGUMENT);
  CHECK(outcome.error == "E: a grid of 4294967296 by 2147483648 by 2 is too large");
}

TEST_CASE("temporaries of one run serve the next, and go when it does not need them") {
  static std::vector<void *> first, second;
  static int64_t bytes;
  kiln_model model = modelOf([](kiln_context *c, const int64_t *) {
    kiln_slice a, b;
    CHECK(kiln_rt_alloc(c, 0, bytes, &a) == KILN_OK);
    CHECK(kiln_rt_alloc(c, 0, 2 * bytes, &b) == KILN_OK);
    (first.empty() ? first : second) = {a.memory, b.memory};
    return KILN_OK;
  });
  kiln_context *context;
  REQUIRE(kiln_context_create(&model, nullptr, &context, nullptr, 0) == KILN_OK);
  bytes = 100;
  CHECK(kiln_run(context, nullptr, 0, nullptr, 0) == KILN_OK);
  CHECK(kiln_run(context, nullptr, 0, nullptr, 0) == KILN_OK);
  CHECK(second == first);
  bytes = 5000;
  CHECK(kiln_run(context, nullptr, 0, nullptr, 0) == KILN_OK);
  CHECK(context->temporary_count == 2);
  kiln_context_destroy(context);
}

TEST_CASE("freeing twice is an error") {
  Outcome outcome = runOnce([](kiln_context *c, const int64_t *) {
    kiln_slice a;
    CHECK(kiln_rt_alloc(c, 0, 100, &a) == KILN_OK);
    CHECK(kiln_rt_free(c, 0, a) == KILN_OK);
    return kiln_rt_free(c, 0, a);
  });
  CHECK(outcome.status == KILN_INVALID_ARGUMENT);
  CHECK(outcome.error == "the program freed memory that it does not hold");
}

TEST_CASE("copies may overlap and may be empty") {
  runOnce([](kiln_context *c, const int64_t *) {
    kiln_slice arena;
    CHECK(kiln_rt_arena(c, 0, 8, nullptr, &arena) == KILN_OK);
    std::memcpy(arena.memory, "abcdefg", 8);
    CHECK(kiln_rt_copy(c, at(arena, 1), arena, 6, 0, 0) == KILN_OK);
    CHECK(std::string(static_cast<char *>(arena.memory)) == "aabcdef");
    CHECK(kiln_rt_copy(c, at(arena, 1), arena, 0, 0, 0) == KILN_OK);
    return KILN_OK;
  });
}

TEST_CASE("an empty grid launches nothing") {
  static bool called;
  static kiln_kernel kernel = {"E",       0, 0, [](void *const *, const int64_t *, int64_t) { called = true; },
                               {1, 1, 1}, 0, 0, nullptr};
  kiln_model model = modelOf([](kiln_context *c, const int64_t *sizes) {
    kiln_launch_info info = {0, nullptr};
    int64_t grid[] = {4, 0, 1}, estimates[KILN_ESTIMATES] = {0, 0};
    return kiln_rt_launch(c, &info, nullptr, sizes, grid, estimates);
  });
  model.kernels = &kernel;
  model.kernel_count = 1;
  called = false;
  CHECK(runOnce(model).status == KILN_OK);
  CHECK_FALSE(called);
}

TEST_CASE("a run's own status becomes the call's, with a cause") {
  Outcome outcome = runOnce([](kiln_context *, const int64_t *) { return KILN_DEVICE_ERROR; });
  CHECK(outcome.status == KILN_DEVICE_ERROR);
  CHECK(outcome.error == "the program stopped");
}

TEST_CASE("a program that leaves an output out fails") {
  static const kiln_port port = {"y", KILN_INT32, 0, nullptr, nullptr, nullptr, 0, 0};
  kiln_model model = modelOf([](kiln_context *, const int64_t *) { return KILN_OK; });
  model.outputs = &port;
  model.output_count = 1;
  kiln_tensor y = {};
  Outcome outcome = runOnce(model, nullptr, &y);
  CHECK(outcome.status == KILN_DEVICE_ERROR);
  CHECK(outcome.error == "output 'y': the program made none");
}

namespace {
const kiln_dim dims[] = {{"past", -1, 0}, {"past + seq", -1, -1}};
const kiln_dim seqDims[] = {{"seq", -1, 1}};
const kiln_dim pastDims[] = {{"past", -1, 0}};
const kiln_port ports[] = {{"cache", KILN_INT8, 2, dims, nullptr, nullptr, 0, 0},
                           {"ids", KILN_INT8, 1, seqDims, nullptr, nullptr, 0, 0},
                           {"mask", KILN_INT8, 1, pastDims, nullptr, nullptr, 0, 0}};
const kiln_symbol symbols[] = {{"past", 0, 8, 1}, {"seq", 1, 8, 1}, {"trips", 0, 100, 42}};

kiln_model symbolic() {
  kiln_model model = modelOf([](kiln_context *c, const int64_t *sizes) {
    kiln_slice cache;
    CHECK(kiln_rt_input(c, 0, &cache) == KILN_OK);
    CHECK(sizes[2] == 42); // bound by no input: its value
    return KILN_OK;
  });
  model.inputs = ports;
  model.input_count = 3;
  model.symbols = symbols;
  model.symbol_count = 3;
  return model;
}

Outcome runSymbolic(int64_t past, int64_t total, int64_t seq, int64_t mask) {
  int8_t data[64] = {};
  kiln_tensor inputs[] = {{past * total ? data : nullptr, KILN_INT8, 2, {past, total}, 0},
                          {data, KILN_INT8, 1, {seq}, 0},
                          {mask ? data : nullptr, KILN_INT8, 1, {mask}, 0}};
  kiln_model model = symbolic();
  return runOnce(model, inputs);
}
} // namespace

TEST_CASE("a computed size is checked once all symbols are bound") {
  CHECK(runSymbolic(2, 5, 3, 2).status == KILN_OK);
  Outcome outcome = runSymbolic(2, 6, 3, 2);
  CHECK(outcome.status == KILN_INVALID_ARGUMENT);
  CHECK(outcome.error == "input 'cache': axis 1 (past + seq): wanted the size 5, given 6");
}

TEST_CASE("a size that cannot be computed is an error, not a guess") {
  static const kiln_dim odd[] = {{"len(x)", -1, -1}};
  static const kiln_port port = {"x", KILN_INT8, 1, odd, nullptr, nullptr, 0, 0};
  kiln_model model = modelOf([](kiln_context *, const int64_t *) { return KILN_OK; });
  model.inputs = &port;
  model.input_count = 1;
  int8_t data[4] = {};
  kiln_tensor x = {data, KILN_INT8, 1, {4}, 0};
  CHECK(runOnce(model, &x).error == "input 'x': axis 0 (len(x)): its size cannot be computed");
}

TEST_CASE("a program can end with a cause of its own") {
  Outcome outcome =
      runOnce([](kiln_context *c, const int64_t *) { return kiln_rt_fail(c, KILN_INDEX_ERROR, "100% wrong"); });
  CHECK(outcome.status == KILN_INDEX_ERROR);
  CHECK(outcome.error == "100% wrong");
}

TEST_CASE("a program can end with a cause that has numbers in it") {
  Outcome outcome = runOnce([](kiln_context *c, const int64_t *) {
    const int64_t sizes[] = {7, -INT64_MAX};
    return kiln_rt_fail_at(c, KILN_INDEX_ERROR, "100%% wrong (a=%d, b=%d)", sizes);
  });
  CHECK(outcome.status == KILN_INDEX_ERROR);
  CHECK(outcome.error == "100% wrong (a=7, b=-9223372036854775807)");
}

TEST_CASE("a symbol has one size") {
  CHECK(runSymbolic(2, 5, 3, 1).error ==
        "input 'mask': axis 0 (past): wanted the size 2 that it has in 'cache', given 1; "
        "give equal sizes, or compile an ONNX model with --dim mask.0=LO..HI");
}

TEST_CASE("an empty input needs no memory") { CHECK(runSymbolic(0, 3, 3, 0).status == KILN_OK); }
