// Where a run's inputs and outputs lie: models here copy inputs to outputs, by a kernel that may not run in place. An
// output in a context's memory may be the next run's input, and then the run must not write where it reads. The kernel
// writes its last element first, so that memory shared by mistake shows in the result; the addresses tell whether
// anything was copied without need.
#include "runtime/device/cpu/cpu.h"

#include <catch2/catch.hpp>

#include <cstring>
#include <string>
#include <vector>

namespace {

// y = [x, 1], of one element more than x; a and b are copies of p and q.
const kiln_dim xDims[] = {{"n", -1, 0}}, yDims[] = {{"n + 1", -1, -1}};
const kiln_port growIn = {"x", KILN_INT8, 1, xDims, nullptr, nullptr, 0, 0},
                growOut = {"y", KILN_INT8, 1, yDims, nullptr, nullptr, 0, 0};
const kiln_symbol symbols[] = {{"n", 0, 1000, 1}};

kiln_model modelOf(const char *name, kiln_status (*run)(kiln_context *, const int64_t *)) {
  kiln_model model = {};
  model.abi = KILN_ABI_VERSION;
  model.name = name;
  static const kiln_place place = {&kiln_device_cpu, nullptr, 0, 0, 0, {}};
  model.devices = &place;
  model.device_count = 1;
  model.symbols = symbols;
  model.symbol_count = 1;
  model.run = run;
  return model;
}

/// Writes the last element first, so that memory shared with the input would show.
kiln_model growing() {
  kiln_model model = modelOf("growing", [](kiln_context *c, const int64_t *sizes) {
    kiln_slice x, y;
    int64_t n = sizes[0], longer = n + 1;
    if (kiln_status status = kiln_rt_input(c, 0, &x))
      return status;
    if (kiln_status status = kiln_rt_output(c, 0, &longer, &y))
      return status;
    auto *to = static_cast<int8_t *>(y.memory);
    std::memset(to, 1, size_t(longer));
    for (int64_t i = 0; i < n; i++)
      to[i] = int8_t(static_cast<int8_t *>(x.memory)[i] + 1);
    return KILN_OK;
  });
  model.inputs = &growIn;
  model.outputs = &growOut;
  model.input_count = model.output_count = 1;
  return model;
}

const kiln_port pairIn[] = {{"p", KILN_BOOL, 1, xDims, nullptr, nullptr, 0, 0},
                            {"q", KILN_BOOL, 1, xDims, nullptr, nullptr, 0, 0}};
const kiln_port pairOut[] = {{"a", KILN_BOOL, 1, xDims, nullptr, nullptr, 0, 0},
                             {"b", KILN_BOOL, 1, xDims, nullptr, nullptr, 0, 0}};

kiln_model swapping() {
  kiln_model model = modelOf("swapping", [](kiln_context *c, const int64_t *sizes) {
    kiln_slice p, q, a, b;
    for (int32_t i : {0, 1})
      if (kiln_status status = kiln_rt_input(c, i, i ? &q : &p))
        return status;
    for (int32_t i : {0, 1})
      if (kiln_status status = kiln_rt_output(c, i, sizes, i ? &b : &a))
        return status;
    std::memcpy(a.memory, q.memory, size_t(sizes[0]));
    std::memcpy(b.memory, p.memory, size_t(sizes[0]));
    return KILN_OK;
  });
  model.inputs = pairIn;
  model.outputs = pairOut;
  model.input_count = model.output_count = 2;
  return model;
}

struct Context {
  kiln_model model;
  kiln_context *context = nullptr;
  explicit Context(kiln_model made) : model(made) {
    REQUIRE(kiln_context_create(&model, nullptr, &context, nullptr, 0) == KILN_OK);
  }
  ~Context() { kiln_context_destroy(context); }
  kiln_status run(const kiln_tensor *inputs, kiln_tensor *outputs) {
    return kiln_run(context, inputs, model.input_count, outputs, model.output_count);
  }
};

kiln_tensor bytesAt(void *data, int64_t count, kiln_dtype dtype = KILN_INT8) { return {data, dtype, 1, {count}, 0}; }

} // namespace

TEST_CASE("a result is the next run's input, and nothing is copied but what the model computes") {
  Context c(growing());
  int8_t first[1] = {1};
  kiln_tensor cache = bytesAt(first, 0);
  for (int step = 0; step < 100; step++) {
    kiln_tensor next = {};
    REQUIRE(c.run(&cache, &next) == KILN_OK);
    REQUIRE(next.dims[0] == step + 1);
    for (int64_t i = 0; i <= step; i++)
      REQUIRE(static_cast<int8_t *>(next.data)[i] == step + 1 - i);
    CHECK(next.data != cache.data);
    cache = next;
  }
}

TEST_CASE("results of one size take turns in two memories") {
  Context c(swapping());
  uint8_t p[3] = {0, 1, 0}, q[3] = {1, 1, 0};
  kiln_tensor inputs[] = {bytesAt(p, 3, KILN_BOOL), bytesAt(q, 3, KILN_BOOL)};
  std::vector<void *> seen;
  for (int step = 0; step < 40; step++) {
    kiln_tensor outputs[2] = {};
    REQUIRE(c.run(inputs, outputs) == KILN_OK);
    CHECK(std::memcmp(outputs[0].data, step % 2 ? p : q, 3) == 0);
    CHECK(std::memcmp(outputs[1].data, step % 2 ? q : p, 3) == 0);
    for (int i : {0, 1}) {
      seen.push_back(outputs[i].data);
      inputs[i] = outputs[i];
    }
  }
  for (size_t i = 4; i < seen.size(); i++)
    CHECK(seen[i] == seen[i - 4]);
}

TEST_CASE("without such an input the memory stays the same") {
  Context c(growing());
  int8_t x[8] = {1, 2, 3};
  kiln_tensor input = bytesAt(x, 3), one = {}, two = {};
  REQUIRE(c.run(&input, &one) == KILN_OK);
  REQUIRE(c.run(&input, &two) == KILN_OK);
  CHECK(one.data == two.data);
}

TEST_CASE("inputs in both memories of the context are read before either is written") {
  Context c(swapping());
  uint8_t p[3] = {0, 1, 0}, q[3] = {1, 1, 0};
  kiln_tensor inputs[] = {bytesAt(p, 3, KILN_BOOL), bytesAt(q, 3, KILN_BOOL)}, one[2] = {}, two[2] = {}, three[2] = {};
  REQUIRE(c.run(inputs, one) == KILN_OK); // a = q, b = p
  inputs[0] = one[0];
  REQUIRE(c.run(inputs, two) == KILN_OK); // a = q, b = q
  inputs[0] = two[0];
  inputs[1] = one[0]; // of the same output, from the run before the last
  REQUIRE(c.run(inputs, three) == KILN_OK);
  CHECK(std::memcmp(three[0].data, q, 3) == 0);
  CHECK(std::memcmp(three[1].data, q, 3) == 0);
}

TEST_CASE("outputs in the caller's memory share no byte") {
  Context c(swapping());
  uint8_t p[3] = {0, 1, 0}, q[3] = {1, 1, 0}, room[8] = {};
  kiln_tensor inputs[] = {bytesAt(p, 3, KILN_BOOL), bytesAt(q, 3, KILN_BOOL)};
  auto run = [&](int64_t first, int64_t second) {
    kiln_tensor outputs[] = {bytesAt(room + first, 0), bytesAt(room + second, 0)};
    outputs[0].capacity = outputs[1].capacity = 3;
    return c.run(inputs, outputs);
  };
  CHECK(run(0, 0) == KILN_INVALID_ARGUMENT);
  CHECK(std::string(kiln_context_error(c.context)) ==
        "outputs 'a' and 'b': given memory that overlaps; give each its own");
  CHECK(run(0, 2) == KILN_INVALID_ARGUMENT);
  CHECK(run(3, 1) == KILN_INVALID_ARGUMENT);
  CHECK(run(0, 3) == KILN_OK);
  CHECK(std::memcmp(room, q, 3) == 0);
  CHECK(std::memcmp(room + 3, p, 3) == 0);
}

TEST_CASE("what is not 0 is true") {
  Context c(swapping());
  uint8_t p[4] = {0, 2, 255, 1}, q[4] = {1, 0, 1, 0};
  kiln_tensor inputs[] = {bytesAt(p, 4, KILN_BOOL), bytesAt(q, 4, KILN_BOOL)}, outputs[2] = {};
  REQUIRE(c.run(inputs, outputs) == KILN_OK);
  const uint8_t want[4] = {0, 1, 1, 1};
  CHECK(std::memcmp(outputs[1].data, want, 4) == 0);
  CHECK(std::memcmp(outputs[0].data, q, 4) == 0);
  CHECK(p[1] == 2);
}
