//===- Fixture.h - A model on the tests' driver ------------------------------===//
//
// The device cuda is mostly about order: what goes to the stream at once, what is held back for a graph, and what the
// caller is told when something fails in between. A machine without a GPU can look at that with a driver that counts
// (driver.c), under a model whose host program each test writes as a lambda.
//
//===---------------------------------------------------------------------------===//
#pragma once

#include "runtime/device/cuda/cuda.h"
#include "runtime/device/cuda/image.h"

extern "C" {
#include "driver.h"
#include "runtime/device/cuda/api.h"
}

#include <catch2/catch.hpp>
#include <dlfcn.h>

#include <functional>
#include <numeric>
#include <string>
#include <vector>

namespace cuda_test {

inline void *library() {
  static void *opened = dlopen("libcuda.so.1", RTLD_NOW);
  return opened;
}
inline fake_driver &driver() { return *static_cast<fake_driver *>(dlsym(library(), "fake_cuda")); }

struct Images {
  cuda_images head = {KILN_CUDA_MAGIC, 12080, 1};
  cuda_image image = {CUDA_IMAGE_EXACT, 90, sizeof(cuda_images) + sizeof(cuda_image), 4};
  char code[4] = "";
};

/// What the host program of a thread's test does; a model's `run` is a plain function.
inline thread_local std::function<kiln_status(kiln_context *, kiln_slice x, kiln_slice y, int64_t n)> program;

inline kiln_status run(kiln_context *context, const int64_t *sizes) {
  kiln_slice x, y;
  if (kiln_status status = kiln_rt_input(context, 0, &x))
    return status;
  if (kiln_status status = kiln_rt_output(context, 0, sizes, &y))
    return status;
  return program(context, x, y, sizes[0]);
}

inline kiln_status add(kiln_context *context, kiln_slice y, kiln_slice x, int64_t n, int64_t k, int32_t kernel = 0) {
  kiln_launch_info info = {kernel, ""};
  kiln_slice buffers[] = {y, x};
  int64_t sizes[] = {n, k}, grid[KILN_MAX_GRID] = {1, 1, 1}, estimates[KILN_ESTIMATES] = {};
  return kiln_rt_launch(context, &info, buffers, sizes, grid, estimates);
}

/// The options of a context.
struct Given {
  void *stream = nullptr;
  std::vector<int32_t> weight = {}; ///< in the artefact, or empty
  const char *weightFile = nullptr; ///< where it is instead, with as many elements
  kiln_allocator memory = {};
  void (*span)(void *user, const kiln_span *span) = nullptr;
  void *spanUser = nullptr;
};

/// A model and a context on the tests' driver, with tensors of `n` elements; error() tells why there is none.
class Opened {
public:
  explicit Opened(const Given &given) : weight_(given.weight) {
    static const Images images;
    model_.abi = KILN_ABI_VERSION;
    model_.name = "test";
    model_.devices = &place_;
    model_.features = "";
    model_.inputs = &input_;
    model_.outputs = &output_;
    model_.symbols = &symbol_;
    model_.kernels = kernels_;
    model_.device_count = 1;
    model_.input_count = model_.output_count = model_.symbol_count = 1;
    model_.kernel_count = 2;
    place_.code = &images;
    place_.code_bytes = sizeof images;
    model_.run = run;
    if (!weight_.empty()) {
      elements_ = int64_t(weight_.size());
      described_.bytes = model_.weight_bytes = 4 * elements_;
      model_.weights = &described_;
      model_.weight_count = 1;
      model_.weight_data = given.weightFile ? nullptr : weight_.data();
    }
    kiln_options options = {};
    options.size = sizeof options;
    options.stream = given.stream;
    options.weights_path = given.weightFile;
    options.memory = given.memory;
    options.span = given.span;
    options.span_user = given.spanUser;
    char error[200] = "";
    status_ = kiln_context_create(&model_, &options, &context_, error, sizeof error);
    error_ = error;
  }
  Opened(const Opened &) = delete;
  Opened &operator=(const Opened &) = delete;
  ~Opened() { kiln_context_destroy(context_); }

  /// y of x = 0, 1, 2 … in the host's memory.
  std::vector<int32_t> runOn(int64_t n) {
    std::vector<int32_t> x(n), y(n);
    std::iota(x.begin(), x.end(), 0);
    status_ = runWith(x.data(), y.data(), n);
    return y;
  }
  kiln_status runWith(void *x, void *y, int64_t n) {
    kiln_tensor input = {x, KILN_INT32, 1, {n}, 0}, output = {y, KILN_INT32, 1, {n}, 4 * n};
    return runOn(input, output);
  }
  kiln_status runOn(const kiln_tensor &input, kiln_tensor &output) { return kiln_run(context_, &input, 1, &output, 1); }
  bool isOpen() const { return context_; }
  std::string error() const { return context_ ? kiln_context_error(context_) : error_; }
  kiln_status status() const { return status_; }

private:
  kiln_place place_ = {&kiln_device_cuda, nullptr, 0, 0, 0, {}};
  kiln_dim dim_ = {"n", -1, 0};
  kiln_port input_ = {"x", KILN_INT32, 1, &dim_, nullptr, nullptr, 0, 0},
            output_ = {"y", KILN_INT32, 1, &dim_, nullptr, nullptr, 0, 0};
  kiln_symbol symbol_ = {"n", 0, 1 << 23, 1};
  kiln_kernel kernels_[2] = {{"add", 2, 2, nullptr, {32, 1, 1}, 0, 0, nullptr},
                             {"add_last", 2, 2, nullptr, {32, 1, 1}, 0, 0, nullptr}};
  std::vector<int32_t> weight_;
  int64_t elements_ = 0;
  kiln_weight described_ = {"w", KILN_INT32, 1, &elements_, 0, 0, 0};
  kiln_model model_ = {};
  kiln_context *context_ = nullptr;
  kiln_status status_ = KILN_OK;
  std::string error_;
};

/// One on a driver that has counted nothing.
class Fixture : public Opened {
public:
  explicit Fixture(const Given &given = {}) : Opened((driver() = {}, given)) {
    INFO(error());
    REQUIRE(isOpen());
  }
};

/// Four launches; the last adds `last`.
inline auto chain(int64_t last) {
  return [last](kiln_context *context, kiln_slice x, kiln_slice y, int64_t n) {
    kiln_status status = add(context, y, x, n, 1);
    for (int i = 0; i < 2 && !status; i++)
      status = add(context, y, y, n, 10);
    return status ? status : add(context, y, y, n, last, 1);
  };
}

} // namespace cuda_test
