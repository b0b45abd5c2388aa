// Both ways of OpenCL's memory, on whatever device the machine has (PoCL where there is no other). The runtime works
// with slices at any offset, and OpenCL's buffers do not: a slice that begins in the wrong place is staged, as a copy
// that goes back after the launch. So the cases are those in which copies could be lost or mixed: two staged slices in
// one launch, copies that overlap, very many offsets.
#include "runtime/device/opencl/opencl.h"

#include <catch2/catch.hpp>

#include <functional>
#include <numeric>
#include <string>
#include <vector>

namespace {

const kiln_device *const devices[] = {&kiln_device_opencl, &kiln_device_opencl_buffers};

/// False, with the reason, where the machine has no OpenCL device; ctest then reports the test as skipped.
bool available() {
  char error[200];
  if (kiln_opencl_list([](void *, const char *) {}, nullptr, error, sizeof error) == KILN_OK)
    return true;
  WARN("SKIPPED: " << error);
  return false;
}

const char source[] = R"(
__kernel void add(__global int* data0, const __global int* data1, long n, long k) {
  long i = get_global_id(0);
  if (i < n) data0[i] = data1[i] + (int)k;
}
__kernel void place(__global int* data0) {
  data0[get_group_id(2) * 4 + get_group_id(1) * 2 + get_group_id(0)] = get_local_size(0) * 100 + get_local_size(1);
}
)";
const kiln_kernel kernels[] = {{"add", 2, 2, nullptr, {4, 1, 1}, 0, 0, nullptr},
                               {"place", 1, 0, nullptr, {2, 3, 1}, 0, 0, nullptr}};

/// What the host program of a test does; a model's `run` is a plain function.
thread_local std::function<void(kiln_context *, int64_t)> program;

const kiln_dim dims[] = {{"n", -1, 0}};
const kiln_port input = {"x", KILN_INT32, 1, dims, nullptr, nullptr, 0, 0},
                output = {"y", KILN_INT32, 1, dims, nullptr, nullptr, 0, 0};
const kiln_symbol symbol = {"n", 0, 1 << 20, 1};

kiln_model modelFor(const kiln_device *device) {
  static kiln_place place;
  place = {device, source, sizeof source - 1, 0, 0, {}};
  kiln_model model = {};
  model.abi = KILN_ABI_VERSION;
  model.name = "test";
  model.devices = &place;
  model.device_count = 1;
  model.kernels = kernels;
  model.kernel_count = 2;
  model.inputs = &input;
  model.outputs = &output;
  model.symbols = &symbol;
  model.input_count = model.output_count = model.symbol_count = 1;
  model.run = [](kiln_context *context, const int64_t *sizes) {
    program(context, sizes[0]);
    return KILN_OK;
  };
  return model;
}

/// Runs the test's program on x = 0, 1, 2 … and gives y.
std::vector<int32_t> run(const kiln_model &model, int64_t n, std::function<void(kiln_context *, int64_t)> body) {
  kiln_context *context = nullptr;
  char error[300] = "";
  kiln_options options = {};
  options.size = sizeof options;
  kiln_status status = kiln_context_create(&model, &options, &context, error, sizeof error);
  INFO(error);
  REQUIRE(status == KILN_OK);
  std::vector<int32_t> x(size_t(n) + 1), y(size_t(n) + 1);
  std::iota(x.begin(), x.end(), 0);
  kiln_tensor in = {x.data(), KILN_INT32, 1, {n}, 0}, out = {y.data(), KILN_INT32, 1, {n}, 4 * n};
  program = std::move(body);
  status = kiln_run(context, &in, 1, &out, 1);
  INFO(kiln_context_error(context));
  CHECK(status == KILN_OK);
  kiln_context_destroy(context);
  y.resize(size_t(n));
  return y;
}

void add(kiln_context *context, kiln_slice to, kiln_slice from, int64_t n, int64_t k) {
  const kiln_launch_info info = {0, nullptr};
  const kiln_slice buffers[] = {to, from};
  const int64_t sizes[] = {n, k}, grid[] = {(n + 3) / 4, 1, 1}, estimates[KILN_ESTIMATES] = {n, 8 * n};
  kiln_status status = kiln_rt_launch(context, &info, buffers, sizes, grid, estimates);
  INFO(kiln_context_error(context));
  CHECK(status == KILN_OK);
}

struct Ends {
  kiln_slice x, y;
};

Ends endsOf(kiln_context *context, int64_t n) {
  Ends ends;
  REQUIRE(kiln_rt_input(context, 0, &ends.x) == KILN_OK);
  REQUIRE(kiln_rt_output(context, 0, &n, &ends.y) == KILN_OK);
  return ends;
}

kiln_slice at(kiln_slice slice, int64_t offset) { return {slice.memory, slice.offset + offset}; }

std::vector<int32_t> counted(int64_t n, int32_t from) {
  std::vector<int32_t> values(static_cast<size_t>(n));
  std::iota(values.begin(), values.end(), from);
  return values;
}

} // namespace

TEST_CASE("a launch passes buffers, then sizes") {
  if (!available())
    return;
  for (const kiln_device *device : devices)
    for (int64_t n : {1, 7, 1000})
      CHECK(run(modelFor(device), n, [](kiln_context *c, int64_t n) {
              Ends ends = endsOf(c, n);
              add(c, ends.y, ends.x, n, 5);
            }) == counted(n, 5));
}

TEST_CASE("a grid counts groups, and a kernel says how large they are") {
  if (!available())
    return;
  for (const kiln_device *device : devices)
    CHECK(run(modelFor(device), 8, [](kiln_context *c, int64_t n) {
            kiln_slice y = endsOf(c, n).y;
            const kiln_launch_info info = {1, nullptr};
            const int64_t grid[] = {2, 2, 2}, estimates[KILN_ESTIMATES] = {0, 0};
            CHECK(kiln_rt_launch(c, &info, &y, nullptr, grid, estimates) == KILN_OK);
          }) == std::vector<int32_t>(8, 203));
}

TEST_CASE("slices of the arena, aligned and not") {
  if (!available())
    return;
  for (const kiln_device *device : devices)
    for (int64_t step : {128, 1024, 4, 36, 132})
      CHECK(run(modelFor(device), 1, [step](kiln_context *c, int64_t n) {
              Ends ends = endsOf(c, n);
              kiln_slice arena;
              REQUIRE(kiln_rt_arena(c, 0, 40 * step, nullptr, &arena) == KILN_OK);
              add(c, arena, ends.x, 1, 0);
              for (int64_t i = 1; i < 40; i++)
                add(c, at(arena, i * step), at(arena, (i - 1) * step), 1, 1);
              add(c, ends.y, at(arena, 39 * step), 1, 0);
            }) == std::vector<int32_t>{39});
}

TEST_CASE("two staged slices of one launch keep each other's bytes") {
  if (!available())
    return;
  for (const kiln_device *device : devices)
    CHECK(run(modelFor(device), 4, [](kiln_context *c, int64_t n) {
            Ends ends = endsOf(c, n);
            kiln_slice arena;
            REQUIRE(kiln_rt_arena(c, 0, 64, nullptr, &arena) == KILN_OK);
            CHECK(kiln_rt_copy(c, at(arena, 20), ends.x, 16, 0, 0) == KILN_OK);
            add(c, at(arena, 4), at(arena, 20), 4, 10); // the source's copy holds what follows, the target's both
            CHECK(kiln_rt_copy(c, ends.y, at(arena, 4), 16, 0, 0) == KILN_OK);
            int64_t kept;
            CHECK(kiln_rt_read(c, 0, at(arena, 32), KILN_INT32, &kept) == KILN_OK);
            CHECK(kept == 3);
          }) == counted(4, 10));
}

TEST_CASE("offsets without end") {
  if (!available())
    return;
  for (const kiln_device *device : devices)
    CHECK(run(modelFor(device), 1, [](kiln_context *c, int64_t n) {
            Ends ends = endsOf(c, n);
            kiln_slice arena;
            REQUIRE(kiln_rt_arena(c, 0, 1024 * 1000, nullptr, &arena) == KILN_OK);
            add(c, arena, ends.x, 1, 0);
            for (int64_t i = 1; i < 1000; i++)
              add(c, at(arena, i * 1024), at(arena, (i - 1) * 1024), 1, 1);
            add(c, ends.y, at(arena, 999 * 1024), 1, 0);
          }) == std::vector<int32_t>{999});
}

TEST_CASE("copies overlap, elements are written and read") {
  if (!available())
    return;
  for (const kiln_device *device : devices)
    CHECK(run(modelFor(device), 6, [](kiln_context *c, int64_t n) {
            Ends ends = endsOf(c, n);
            kiln_slice memory;
            REQUIRE(kiln_rt_alloc(c, 0, 24, &memory) == KILN_OK);
            CHECK(kiln_rt_copy(c, memory, ends.x, 24, 0, 0) == KILN_OK);
            CHECK(kiln_rt_copy(c, at(memory, 4), memory, 20, 0, 0) == KILN_OK);
            CHECK(kiln_rt_copy(c, memory, memory, 24, 0, 0) == KILN_OK);
            CHECK(kiln_rt_write(c, 0, memory, KILN_INT32, -1) == KILN_OK);
            int64_t value;
            CHECK(kiln_rt_read(c, 0, at(memory, 20), KILN_INT32, &value) == KILN_OK);
            CHECK(value == 4);
            CHECK(kiln_rt_copy(c, ends.y, memory, 24, 0, 0) == KILN_OK);
            CHECK(kiln_rt_free(c, 0, memory) == KILN_OK);
          }) == std::vector<int32_t>{-1, 0, 1, 2, 3, 4});
}

TEST_CASE("empty tensors") {
  if (!available())
    return;
  for (const kiln_device *device : devices)
    CHECK(run(modelFor(device), 0, [](kiln_context *c, int64_t n) {
            Ends ends = endsOf(c, n);
            add(c, ends.y, ends.x, 0, 1);
          }).empty());
}

TEST_CASE("weights are on the device") {
  if (!available())
    return;
  alignas(KILN_ALIGNMENT) static const int32_t data[] = {7, 8, 9};
  static const int64_t weightDims[] = {2};
  static const kiln_weight weight = {"w", KILN_INT32, 1, weightDims, 4, 8, 0};
  for (const kiln_device *device : devices) {
    kiln_model model = modelFor(device);
    model.weights = &weight;
    model.weight_count = 1;
    model.weight_data = data;
    model.weight_bytes = sizeof data;
    CHECK(run(model, 2, [](kiln_context *c, int64_t n) {
            kiln_slice weight;
            REQUIRE(kiln_rt_weight(c, 0, &weight) == KILN_OK);
            add(c, endsOf(c, n).y, weight, 2, 100);
          }) == std::vector<int32_t>{108, 109});
  }
}

namespace {
std::string createError(const kiln_model &model, const char *device, kiln_status want) {
  kiln_options options = {};
  options.size = sizeof options;
  options.device = device;
  kiln_context *context;
  char error[400];
  CHECK(kiln_context_create(&model, &options, &context, error, sizeof error) == want);
  CHECK(context == nullptr);
  return error;
}
} // namespace

TEST_CASE("code that does not compile shows the first line of the compiler's log") {
  if (!available())
    return;
  kiln_model model = modelFor(&kiln_device_opencl);
  const kiln_place wrong = {&kiln_device_opencl, "__kernel void add() { nonsense }", 32, 0, 0, {}};
  model.devices = &wrong;
  std::string error = createError(model, nullptr, KILN_DEVICE_ERROR);
  CHECK_THAT(error, Catch::Matchers::StartsWith("the device's compiler refused the kernels: "));
  CHECK(error.size() > 50);
  CHECK(error.find('\n') == std::string::npos);
}

TEST_CASE("a kernel that the code lacks") {
  if (!available())
    return;
  static const kiln_kernel absent = {"absent", 0, 0, nullptr, {1, 1, 1}, 0, 0, nullptr};
  kiln_model model = modelFor(&kiln_device_opencl);
  model.kernels = &absent;
  model.kernel_count = 1;
  CHECK(createError(model, nullptr, KILN_DEVICE_ERROR) == "absent: CL_INVALID_KERNEL_NAME");
}

TEST_CASE("a device is picked by a part of its name") {
  if (!available())
    return;
  std::string first;
  char error[100];
  CHECK(kiln_opencl_list(
            [](void *user, const char *name) {
              std::string &first = *static_cast<std::string *>(user);
              first = first.empty() ? name : first;
            },
            &first, error, sizeof error) == KILN_OK);
  kiln_model model = modelFor(&kiln_device_opencl);
  kiln_options options = {};
  options.size = sizeof options;
  options.device = first.c_str();
  kiln_context *context;
  CHECK(kiln_context_create(&model, &options, &context, nullptr, 0) == KILN_OK);
  kiln_context_destroy(context);
  CHECK_THAT(createError(model, "Analytical Engine", KILN_UNAVAILABLE),
             Catch::Matchers::StartsWith("no OpenCL device has 'Analytical Engine' in its name; there are " + first));
}
