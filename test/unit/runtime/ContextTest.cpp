// A context is what a program deals with that has a model in it: it runs a model again and again, at other sizes, with
// memory of the caller's that may be unaligned, small or reused. The model is written by hand (affine.h), so that
// neither compiler nor renderer takes part. What the caller does wrong has to be a status and one line; the next run
// works again.
#include "affine.h"

#include "runtime/device/cpu/cpu.h"

#include <catch2/catch.hpp>

#include <cstring>
#include <string>
#include <thread>
#include <vector>

namespace {

/// A context over `model`; its creation must succeed.
struct Context {
  kiln_context *context = nullptr;

  explicit Context(const kiln_model &model = affine_model, int threads = 1) {
    kiln_options options = {};
    options.size = sizeof options;
    options.threads = threads;
    char error[256];
    INFO(error);
    REQUIRE(kiln_context_create(&model, &options, &context, error, sizeof error) == KILN_OK);
  }
  ~Context() { kiln_context_destroy(context); }

  kiln_status run(const std::vector<kiln_tensor> &inputs, kiln_tensor &output) {
    return kiln_run(context, inputs.data(), int32_t(inputs.size()), &output, 1);
  }
  std::string error() const { return kiln_context_error(context); }
};

kiln_tensor floats(float *data, std::vector<int64_t> dims) {
  kiln_tensor tensor = {data, KILN_FLOAT32, int32_t(dims.size()), {}, 0};
  std::copy(dims.begin(), dims.end(), tensor.dims);
  return tensor;
}

alignas(64) float rows[] = {1, 2, 3, 4, 5, 6};
const kiln_tensor none = {};

std::vector<float> values(const kiln_tensor &tensor) {
  const float *data = static_cast<const float *>(tensor.data);
  return {data, data + tensor.dims[0]};
}

} // namespace

TEST_CASE("a model runs with a symbol, a weight, an arena and a default") {
  Context c;
  kiln_tensor y = {};
  REQUIRE(c.run({floats(rows, {2, 3}), none}, y) == KILN_OK);
  CHECK(y.dtype == KILN_FLOAT32);
  CHECK(y.rank == 1);
  CHECK(values(y) == std::vector<float>{327, 660});
}

TEST_CASE("a given input takes the place of the default") {
  Context c;
  alignas(64) float bias[] = {0, 0, 0};
  kiln_tensor y = {};
  REQUIRE(c.run({floats(rows, {2, 3}), floats(bias, {3})}, y) == KILN_OK);
  CHECK(values(y) == std::vector<float>{321, 654});
}

TEST_CASE("one context runs at several sizes, and outputs of the context are valid until the next run") {
  Context c;
  std::vector<float> many(64 * 3, 1.0f);
  for (int64_t batch : {1, 64, 3}) {
    kiln_tensor y = {};
    REQUIRE(c.run({floats(many.data(), {batch, 3}), none}, y) == KILN_OK);
    CHECK(values(y) == std::vector<float>(size_t(batch), 117.0f));
  }
}

TEST_CASE("input memory need not be aligned") {
  Context c;
  alignas(64) float shifted[7] = {0, 1, 2, 3, 4, 5, 6};
  kiln_tensor y = {};
  REQUIRE(c.run({floats(shifted + 1, {2, 3}), none}, y) == KILN_OK);
  CHECK(values(y) == std::vector<float>{327, 660});
}

TEST_CASE("results do not depend on the number of threads") {
  std::vector<float> many(64 * 3);
  for (size_t i = 0; i < many.size(); i++)
    many[i] = float(i) * 0.37f;
  Context alone(affine_model, 1);
  kiln_tensor want = {};
  REQUIRE(alone.run({floats(many.data(), {64, 3}), none}, want) == KILN_OK);
  for (int threads : {0, 2, 3, 8}) {
    Context c(affine_model, threads);
    kiln_tensor y = {};
    REQUIRE(c.run({floats(many.data(), {64, 3}), none}, y) == KILN_OK);
    CHECK(values(y) == values(want));
  }
}

TEST_CASE("two threads run one model with two contexts") {
  bool good[2] = {true, true};
  auto work = [&](int index) {
    Context c(affine_model, 2);
    std::vector<float> x(64 * 3, float(index + 1));
    for (int i = 0; i < 200; i++) {
      kiln_tensor y = {};
      good[index] &= c.run({floats(x.data(), {64, 3}), none}, y) == KILN_OK;
      good[index] &= values(y) == std::vector<float>(64, 111.0f * float(index + 1) + 6);
    }
  };
  std::thread other(work, 1);
  work(0);
  other.join();
  CHECK(good[0]);
  CHECK(good[1]);
}

TEST_CASE("a result goes to the caller's memory, aligned or not") {
  Context c;
  alignas(64) float room[9];
  for (int shift : {0, 1}) {
    std::fill(std::begin(room), std::end(room), -1.0f);
    kiln_tensor y = floats(room + shift, {});
    y.capacity = 8;
    REQUIRE(c.run({floats(rows, {2, 3}), none}, y) == KILN_OK);
    CHECK(y.data == room + shift);
    CHECK(y.rank == 1);
    CHECK(values(y) == std::vector<float>{327, 660});
    CHECK(room[shift + 2] == -1.0f);
  }
}

TEST_CASE("a result may replace the input that it comes from") {
  Context c;
  alignas(64) float shared[] = {1, 2, 3, 4, 5, 6};
  kiln_tensor y = floats(shared, {});
  y.capacity = sizeof shared;
  REQUIRE(c.run({floats(shared, {2, 3}), none}, y) == KILN_OK);
  CHECK(values(y) == std::vector<float>{327, 660});
}

TEST_CASE("an output's room is its capacity in bytes, whatever its dims and dtype were") {
  Context c;
  uint16_t room[4] = {1, 2, 3, 4};
  kiln_tensor y = {room, KILN_FLOAT16, 1, {4}, 0};
  CHECK(c.run({floats(rows, {2, 3}), none}, y) == KILN_INVALID_ARGUMENT);
  CHECK(c.error() == "output 'y': wanted room for 8 bytes, given a capacity of 0");
  y.capacity = 7;
  CHECK(c.run({floats(rows, {2, 3}), none}, y) == KILN_INVALID_ARGUMENT);
  CHECK(c.error() == "output 'y': wanted room for 8 bytes, given a capacity of 7");
  CHECK(room[0] == 1);
  y.capacity = 8;
  CHECK(c.run({floats(rows, {2, 3}), none}, y) == KILN_OK);
  CHECK(y.dtype == KILN_FLOAT32);
}

TEST_CASE("the array of the outputs serves the next run, also with a larger batch") {
  Context c;
  std::vector<float> many(64 * 3, 1.0f);
  kiln_tensor y = {};
  for (int64_t batch : {1, 8, 64, 2}) {
    REQUIRE(c.run({floats(many.data(), {batch, 3}), none}, y) == KILN_OK);
    CHECK(y.capacity == KILN_CONTEXT_MEMORY);
    CHECK(values(y) == std::vector<float>(size_t(batch), 117.0f));
  }
}

TEST_CASE("the numbers of inputs and outputs are the model's") {
  Context c;
  kiln_tensor inputs[] = {floats(rows, {2, 3}), none, none}, y = {};
  auto fails = [&](const kiln_tensor *given, int32_t count, kiln_tensor *made, int32_t results) {
    CHECK(kiln_run(c.context, given, count, made, results) == KILN_INVALID_ARGUMENT);
    return c.error();
  };
  CHECK(fails(inputs, 1, &y, 1) == "affine: wanted 2 inputs, given 1");
  CHECK(fails(inputs, 3, &y, 1) == "affine: wanted 2 inputs, given 3");
  CHECK(fails(nullptr, 2, &y, 1) == "affine: wanted 2 inputs, given 0");
  CHECK(fails(inputs, 2, &y, 0) == "affine: wanted 1 outputs, given 0");
  CHECK(fails(inputs, 2, nullptr, 1) == "affine: wanted 1 outputs, given 0");
  CHECK(fails(nullptr, 0, &y, 1) == "input 'x': wanted float32 [batch, 3], given none");
}

TEST_CASE("options say which members they have") {
  kiln_options options = {};
  kiln_context *context;
  char error[100];
  CHECK(kiln_context_create(&affine_model, &options, &context, error, sizeof error) == KILN_INVALID_ARGUMENT);
  CHECK(std::string(error) == "kiln_options.size is 0; set it to sizeof(kiln_options)");
  // Of an older program: bytes after its last member are not read.
  options.size = offsetof(kiln_options, device);
  options.device = reinterpret_cast<const char *>(1);
  options.run_tasks = reinterpret_cast<decltype(options.run_tasks)>(1);
  REQUIRE(kiln_context_create(&affine_model, &options, &context, error, sizeof error) == KILN_OK);
  kiln_tensor inputs[] = {floats(rows, {2, 3}), none}, y = {};
  CHECK(kiln_run(context, inputs, 2, &y, 1) == KILN_OK);
  kiln_context_destroy(context);
}

TEST_CASE("the caller's threads run the chunks") {
  struct Runner {
    std::vector<int64_t> counts;
    static void run(void *user, kiln_task task, void *argument, int64_t count) {
      static_cast<Runner *>(user)->counts.push_back(count);
      std::vector<std::thread> threads;
      for (int64_t index = count; index-- > 0;)
        threads.emplace_back(task, argument, index);
      for (std::thread &thread : threads)
        thread.join();
    }
  } runner;
  kiln_options options = {};
  options.size = sizeof options;
  options.run_tasks = Runner::run;
  options.tasks_user = &runner;
  kiln_context *context;
  REQUIRE(kiln_context_create(&affine_model, &options, &context, nullptr, 0) == KILN_OK);
  kiln_tensor inputs[] = {floats(rows, {2, 3}), none}, y = {};
  REQUIRE(kiln_run(context, inputs, 2, &y, 1) == KILN_OK);
  CHECK(values(y) == std::vector<float>{327, 660});
  CHECK(runner.counts == std::vector<int64_t>{2, 2});
  inputs[0].dims[0] = 1; // one chunk is the calling thread's
  REQUIRE(kiln_run(context, inputs, 2, &y, 1) == KILN_OK);
  CHECK(runner.counts.size() == 2);
  kiln_context_destroy(context);
}

TEST_CASE("inputs that do not fit say what was wanted and what was given") {
  Context c;
  kiln_tensor y = {}, x = floats(rows, {2, 3});
  auto fails = [&](kiln_tensor first, kiln_tensor second = none) {
    CHECK(c.run({first, second}, y) == KILN_INVALID_ARGUMENT);
    return c.error();
  };
  CHECK(fails(none) == "input 'x': wanted float32 [batch, 3], given none");
  CHECK(fails(floats(rows, {6})) == "input 'x': wanted float32 [batch, 3], given float32 [6]");
  CHECK(fails(floats(rows, {3, 2})) == "input 'x': wanted float32 [batch, 3], given float32 [3, 2]");
  CHECK(fails(x, floats(rows, {2})) == "input 'bias': wanted float32 [3], given float32 [2]");
  CHECK(fails(floats(rows, {0, 3})) == "input 'x': axis 0 (batch): wanted a size from 1 to 64, given 0");
  CHECK(fails(floats(rows, {65, 3})) == "input 'x': axis 0 (batch): wanted a size from 1 to 64, given 65");
  CHECK(fails(floats(rows, {-1, 3})) == "input 'x': the sizes of float32 [-1, 3] are negative or too large");
  kiln_tensor integers = x;
  integers.dtype = KILN_INT64;
  CHECK(fails(integers) == "input 'x': wanted float32 [batch, 3], given int64 [2, 3]");
  kiln_tensor deep = x;
  deep.rank = 9;
  CHECK(fails(deep) == "input 'x': wanted float32 [batch, 3], given a tensor of rank 9");
}

TEST_CASE("an error is gone after the next run that succeeds") {
  Context c;
  kiln_tensor y = {};
  CHECK(c.run({none, none}, y) == KILN_INVALID_ARGUMENT);
  CHECK(c.run({floats(rows, {2, 3}), none}, y) == KILN_OK);
  CHECK(c.error().empty());
}

TEST_CASE("a launch is logged in tinygrad's columns") {
  std::vector<std::string> lines;
  kiln_options options = {};
  options.size = sizeof options;
  options.threads = 1;
  options.debug = 2;
  options.log = [](void *user, const char *line) { static_cast<std::vector<std::string> *>(user)->push_back(line); };
  options.log_user = &lines;
  kiln_context *context;
  REQUIRE(kiln_context_create(&affine_model, &options, &context, nullptr, 0) == KILN_OK);
  kiln_tensor inputs[] = {floats(rows, {2, 3}), none}, y = {};
  REQUIRE(kiln_run(context, inputs, 2, &y, 1) == KILN_OK);
  kiln_context_destroy(context);
  REQUIRE(lines.size() == 3);
  CHECK(lines[0] == "opened device cpu");
  using Catch::Matchers::Matches;
  CHECK_THAT(lines[1], Matches(R"(\*\*\* CPU        1 E_3 {36}arg   3 mem  0\.00 GB tm [ 0-9]{6}\.\d\d[um]s/)"
                               R"([ 0-9]{6}\.\d\dms \([ 0-9]{5}\.\d\d GFLOPS, [ 0-9]{4}\.\d\d GB/s\) \['mul'\])"));
  CHECK_THAT(lines[2], Matches(R"(\*\*\* CPU        2 r_3 .*\['add', 'sum'\])"));
}

TEST_CASE("a model of another runtime is refused, and a short error buffer is enough") {
  kiln_model model = affine_model;
  model.abi = 99;
  kiln_context *context;
  char error[16];
  CHECK(kiln_context_create(&model, nullptr, &context, error, sizeof error) == KILN_UNAVAILABLE);
  CHECK(std::string(error) == "affine: made fo");
  CHECK(kiln_context_create(&model, nullptr, &context, nullptr, 0) == KILN_UNAVAILABLE);
}

TEST_CASE("a model with more axes than the runtime's arrays is refused") {
  const kiln_port deep = {"deep", KILN_FLOAT32, KILN_MAX_RANK + 1, nullptr, nullptr, nullptr, 0, 0};
  const kiln_weight heavy = {"heavy", KILN_FLOAT32, -1, nullptr, 0, 0, 0};
  auto error = [](const kiln_model &model) {
    kiln_context *context;
    char text[100];
    CHECK(kiln_context_create(&model, nullptr, &context, text, sizeof text) == KILN_UNAVAILABLE);
    return std::string(text);
  };
  kiln_model input = affine_model, output = affine_model, weight = affine_model;
  input.inputs = output.outputs = &deep;
  input.input_count = output.output_count = 1;
  weight.weights = &heavy;
  CHECK(error(input) == "affine: 'deep' has more than 8 axes; compile the model again");
  CHECK(error(output) == "affine: 'deep' has more than 8 axes; compile the model again");
  CHECK(error(weight) == "affine: 'heavy' has more than 8 axes; compile the model again");
}

TEST_CASE("two names, one device") {
  kiln_model model = affine_model;
  static const kiln_place place = {&kiln_device_c, nullptr, 0, 0, 0, {}};
  model.devices = &place;
  model.device_count = 1;
  Context c(model);
  kiln_tensor y = {};
  REQUIRE(c.run({floats(rows, {2, 3}), none}, y) == KILN_OK);
  CHECK(values(y) == std::vector<float>{327, 660});
}

TEST_CASE("a model says what it takes and gives") {
  CHECK(kiln_input_count(&affine_model) == 2);
  CHECK(kiln_output_count(&affine_model) == 1);
  kiln_port_info info;
  REQUIRE(kiln_input_info(&affine_model, 0, &info) == KILN_OK);
  CHECK(std::string(info.name) == "x");
  CHECK(info.rank == 2);
  CHECK(info.dims[0] == -1);
  CHECK(std::string(info.dim_texts[0]) == "batch");
  CHECK(info.dims[1] == 3);
  CHECK(!info.has_default);
  REQUIRE(kiln_input_info(&affine_model, 1, &info) == KILN_OK);
  CHECK(info.has_default);
  REQUIRE(kiln_output_info(&affine_model, 0, &info) == KILN_OK);
  CHECK(info.dtype == KILN_FLOAT32);
  CHECK(kiln_input_info(&affine_model, 2, &info) == KILN_INVALID_ARGUMENT);
  CHECK(kiln_output_info(&affine_model, -1, &info) == KILN_INVALID_ARGUMENT);
}
