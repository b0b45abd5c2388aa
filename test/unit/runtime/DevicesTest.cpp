// A model on several devices, with devices that are nothing but a queue and memory of their own. What a queue is given
// waits there until somebody asks for a result, as late as an interface allows: whoever reads another device's memory
// too early, or writes it while it is still read, gives wrong numbers here every time. Each piece of memory knows whose
// it is, so that a kernel or a copy that is given another device's is counted.
#include "runtime/device/cpu/cpu.h"

#include <catch2/catch.hpp>

#include <cstring>
#include <functional>
#include <string>
#include <vector>

namespace {

struct Seen {
  int opened, closed, allocations, freed, foreign, reads, writes, copies, received;
  bool refusesOpening, cannotReceive;
  const void *owned; ///< memory of the first fake device in a caller's hands
};
Seen seen;

struct Fake {
  const kiln_model *model;
  int32_t place;
  std::vector<std::function<void()>> queue;

  void wait() {
    std::vector<std::function<void()>> given = std::move(queue);
    queue.clear();
    for (const std::function<void()> &task : given)
      task();
  }
};

struct Memory {
  Fake *owner;
  std::vector<char> bytes;
};

Fake &fakeOf(void *state) { return *static_cast<Fake *>(state); }

char *bytesOf(const Fake &fake, kiln_slice slice) {
  auto &memory = *static_cast<Memory *>(slice.memory);
  seen.foreign += memory.owner != &fake;
  return memory.bytes.data() + slice.offset;
}

kiln_status openFake(const kiln_model *model, int32_t place, const kiln_options *, void **state, char *error,
                     size_t errorBytes) {
  if (place > 0 && seen.refusesOpening) {
    snprintf(error, errorBytes, "no second machine; plug one in");
    return KILN_UNAVAILABLE;
  }
  seen.opened++;
  *state = new Fake{model, place, {}};
  return KILN_OK;
}

void closeFake(void *state) {
  seen.closed++;
  delete &fakeOf(state);
}

void *allocFake(void *state, int64_t bytes) {
  seen.allocations++;
  return new Memory{&fakeOf(state), std::vector<char>(size_t(bytes))};
}

void freeFake(void *state, void *memory) {
  fakeOf(state).wait();
  seen.freed++;
  delete static_cast<Memory *>(memory);
}

kiln_status writeFake(void *state, kiln_slice to, const void *from, int64_t bytes) {
  seen.writes++;
  std::vector<char> kept(static_cast<const char *>(from), static_cast<const char *>(from) + bytes);
  fakeOf(state).queue.push_back(
      [kept, target = bytesOf(fakeOf(state), to)] { memcpy(target, kept.data(), kept.size()); });
  return KILN_OK;
}

kiln_status readFake(void *state, void *to, kiln_slice from, int64_t bytes) {
  seen.reads++;
  fakeOf(state).wait();
  memcpy(to, bytesOf(fakeOf(state), from), size_t(bytes));
  return KILN_OK;
}

kiln_status copyFake(void *state, kiln_slice to, kiln_slice from, int64_t bytes) {
  seen.copies++;
  fakeOf(state).queue.push_back([target = bytesOf(fakeOf(state), to), source = bytesOf(fakeOf(state), from), bytes] {
    memmove(target, source, size_t(bytes));
  });
  return KILN_OK;
}

kiln_status launchFake(void *state, const kiln_launch_info *info, const kiln_slice *buffers, const int64_t *,
                       const int64_t *, const int64_t *, double *) {
  const kiln_kernel &kernel = fakeOf(state).model->kernels[info->kernel];
  seen.foreign += kernel.device != fakeOf(state).place;
  std::vector<void *> pointers(kernel.buffers);
  for (int32_t i = 0; i < kernel.buffers; i++)
    pointers[i] = bytesOf(fakeOf(state), buffers[i]);
  fakeOf(state).queue.push_back([pointers, entry = kernel.entry] { entry(pointers.data(), nullptr, 0); });
  return KILN_OK;
}

kiln_status synchronizeFake(void *state) {
  fakeOf(state).wait();
  return KILN_OK;
}

int32_t ownsFake(void *state, const void *data) { return fakeOf(state).place == 0 && data == seen.owned; }

/// The bytes as they are when the other's queue has come so far: its signal, and ours, are that both wait.
kiln_status receiveFake(void *state, kiln_slice to, const kiln_device *, void *otherState, kiln_slice from,
                        int64_t bytes) {
  if (seen.cannotReceive)
    return KILN_UNAVAILABLE;
  seen.received++;
  fakeOf(otherState).wait();
  fakeOf(state).wait();
  memcpy(bytesOf(fakeOf(state), to), bytesOf(fakeOf(otherState), from), size_t(bytes));
  return KILN_OK;
}

kiln_device fakeNamed(const char *name) {
  kiln_device device = {};
  device.name = name;
  device.open = openFake;
  device.close = closeFake;
  device.alloc = allocFake;
  device.free = freeFake;
  device.write = writeFake;
  device.read = readFake;
  device.copy = copyFake;
  device.launch = launchFake;
  device.synchronize = synchronizeFake;
  device.owns = ownsFake;
  return device;
}

const kiln_device left = fakeNamed("left"), right = fakeNamed("right");
const kiln_device receiving = [] {
  kiln_device device = fakeNamed("right");
  device.receive = receiveFake;
  return device;
}();

void addOne(void *const *buffers, const int64_t *, int64_t) {
  *static_cast<int32_t *>(buffers[0]) = *static_cast<const int32_t *>(buffers[1]) + 1;
}
void twice(void *const *buffers, const int64_t *, int64_t) {
  *static_cast<int32_t *>(buffers[0]) = *static_cast<const int32_t *>(buffers[1]) * 2;
}

enum Kernel { kAdd, kTwice };
const int64_t kOne[3] = {1, 1, 1}, kNothing[2] = {0, 0};

kiln_status launch(kiln_context *context, Kernel kernel, kiln_slice to, kiln_slice from) {
  const kiln_launch_info info = {kernel, ""};
  const kiln_slice buffers[2] = {to, from};
  return kiln_rt_launch(context, &info, buffers, nullptr, kOne, kNothing);
}

/// x on the first device, which adds one, and y on the second, which doubles: y = 2 (x + 1). The first goes on to write
/// what has been copied.
kiln_status program(kiln_context *context, const int64_t *) {
  kiln_slice x, y, near, far;
  kiln_status status;
  (status = kiln_rt_input(context, 0, &x)) || (status = kiln_rt_output(context, 0, nullptr, &y)) ||
      (status = kiln_rt_arena(context, 0, 64, nullptr, &near)) ||
      (status = kiln_rt_arena(context, 1, 64, nullptr, &far)) || (status = launch(context, kAdd, near, x)) ||
      (status = kiln_rt_copy(context, far, near, 4, 1, 0)) || (status = launch(context, kAdd, near, near)) ||
      (status = launch(context, kTwice, y, far));
  return status;
}

const kiln_port xPort = {"x", KILN_INT32, 0, nullptr, nullptr, nullptr, 0, 0},
                yPort = {"y", KILN_INT32, 0, nullptr, nullptr, nullptr, 1, 0};
const kiln_kernel kernels[] = {{"add", 2, 0, addOne, {1, 1, 1}, 0, 0, nullptr},
                               {"twice", 2, 0, twice, {1, 1, 1}, 0, 1, nullptr}};

struct Model : kiln_model {
  Model(const kiln_device &first, const kiln_device &second,
        kiln_status (*run)(kiln_context *, const int64_t *) = program)
      : kiln_model{}, places{{&first, nullptr, 0, 0, 0, {}}, {&second, nullptr, 0, 0, 0, {}}} {
    seen = {};
    abi = KILN_ABI_VERSION;
    name = "pair";
    features = "";
    devices = places;
    inputs = &xPort;
    outputs = &yPort;
    this->kernels = ::kernels;
    device_count = 2;
    input_count = output_count = 1;
    kernel_count = 2;
    this->run = run;
  }
  Model(const Model &) = delete;

  kiln_place places[2];
};

class Context {
public:
  explicit Context(const Model &model, const kiln_options *options = nullptr) {
    char text[200] = "";
    status = kiln_context_create(&model, options, &context_, text, sizeof text);
    error = text;
  }
  Context(const Context &) = delete;
  ~Context() { kiln_context_destroy(context_); }

  int32_t run(int32_t value) {
    kiln_tensor x = {&value, KILN_INT32, 0, {}, 0}, y = {};
    return run(x, y) ? -1 : *static_cast<const int32_t *>(y.data);
  }
  kiln_status run(const kiln_tensor &x, kiln_tensor &y) {
    status = kiln_run(context_, &x, 1, &y, 1);
    error = kiln_context_error(context_);
    return status;
  }

  kiln_status status;
  std::string error;

private:
  kiln_context *context_ = nullptr;
};

} // namespace

TEST_CASE("kernels on two devices have memory of their own, and what goes from one to the other is copied once") {
  Model model(left, right);
  {
    Context context(model);
    CHECK(context.run(20) == 42);
    CHECK(context.error.empty());
    CHECK(seen.foreign == 0);
    CHECK(seen.copies == 0);
    CHECK(seen.writes == 2); // x, and what was copied
    CHECK(seen.reads == 2);  // the same, and y
  }
  CHECK(seen.opened == 2);
  CHECK(seen.closed == 2);
  CHECK(seen.freed == seen.allocations);
}

TEST_CASE("memory of the host's is copied to and from as it lies, when its device and the other are done") {
  Model there(kiln_device_cpu, right), back(left, kiln_device_cpu);
  CHECK(Context(there).run(20) == 42);
  CHECK(Context(back).run(20) == 42);
  CHECK(seen.foreign == 0);
}

TEST_CASE("a device that can takes from another without the host") {
  Model model(left, receiving);
  Context context(model);
  CHECK(context.run(20) == 42);
  CHECK(seen.received == 1);
  CHECK(seen.writes == 1);
  CHECK(seen.reads == 1);
  seen.cannotReceive = true;
  CHECK(context.run(4) == 10);
  CHECK(seen.received == 1);
  CHECK(seen.foreign == 0);
}

TEST_CASE("the second run on two devices allocates nothing") {
  static int taken;
  taken = 0;
  kiln_options options = {};
  options.size = sizeof options;
  options.memory.allocate = [](void *, size_t bytes, size_t alignment) {
    taken++;
    return aligned_alloc(alignment, (bytes / alignment + 1) * alignment);
  };
  options.memory.release = [](void *, void *memory) { free(memory); };
  Model model(left, right);
  Context context(model, &options);
  CHECK(context.run(1) == 4);
  int host = taken, device = seen.allocations;
  CHECK(context.run(2) == 6);
  CHECK(taken == host);
  CHECK(seen.allocations == device);
}

TEST_CASE("temporaries, plans and zeros of two devices are apart") {
  Model model(left, right, [](kiln_context *c, const int64_t *) {
    static const kiln_lifetime lifetimes[] = {{0, 1}, {1, 2}};
    static const int64_t bytes[] = {64, 64};
    kiln_slice first, second, plans[2][2], zeros[2], y;
    CHECK(kiln_rt_alloc(c, 0, 64, &first) == KILN_OK);
    CHECK(kiln_rt_free(c, 1, first) == KILN_INVALID_ARGUMENT);
    CHECK(kiln_rt_free(c, 0, first) == KILN_OK);
    CHECK(kiln_rt_alloc(c, 1, 64, &second) == KILN_OK);
    CHECK(second.memory != first.memory);
    for (int32_t device : {0, 1}) {
      int64_t value = -1;
      CHECK(kiln_rt_plan(c, device, lifetimes, 2, bytes, nullptr, plans[device]) == KILN_OK);
      CHECK(kiln_rt_zeros(c, device, 0, 64, 0, nullptr, &zeros[device]) == KILN_OK);
      CHECK(kiln_rt_write(c, device, plans[device][1], KILN_INT32, device) == KILN_OK);
      CHECK(kiln_rt_read(c, device, plans[device][1], KILN_INT32, &value) == KILN_OK);
      CHECK(value == device);
      CHECK(kiln_rt_read(c, device, zeros[device], KILN_INT32, &value) == KILN_OK);
      CHECK(value == 0);
    }
    CHECK(plans[0][0].memory != plans[1][0].memory);
    CHECK(kiln_rt_output(c, 0, nullptr, &y) == KILN_OK);
    return kiln_rt_write(c, 1, y, KILN_INT32, 3);
  });
  CHECK(Context(model).run(0) == 3);
  CHECK(seen.foreign == 0);
}

TEST_CASE("a weight that two devices read is in the memory of both") {
  alignas(KILN_ALIGNMENT) static const int32_t data[] = {20};
  static const kiln_weight weights[] = {{"w", KILN_INT32, 0, nullptr, 0, 4, 0}, {"w", KILN_INT32, 0, nullptr, 0, 4, 1}};
  Model model(left, right, [](kiln_context *c, const int64_t *) {
    kiln_slice near, far, y;
    CHECK(kiln_rt_weight(c, 0, &near) == KILN_OK);
    CHECK(kiln_rt_weight(c, 1, &far) == KILN_OK);
    CHECK(launch(c, kAdd, near, near) == KILN_OK);
    CHECK(kiln_rt_output(c, 0, nullptr, &y) == KILN_OK);
    return launch(c, kTwice, y, far);
  });
  model.weights = weights;
  model.weight_count = 2;
  model.weight_data = data;
  model.weight_bytes = sizeof data;
  CHECK(Context(model).run(0) == 40);
  CHECK(seen.foreign == 0);
}

TEST_CASE("a device that is missing is said, and what was opened before it is closed") {
  Model model(left, right);
  seen.refusesOpening = true;
  Context context(model);
  CHECK(context.status == KILN_UNAVAILABLE);
  CHECK(context.error == "no second machine; plug one in");
  CHECK(seen.closed == 1);
}

TEST_CASE("a tensor in memory of the wrong device is refused") {
  Model model(left, right);
  alignas(64) int32_t value = 1, result = 0;
  Context context(model);
  seen.owned = &result;
  kiln_tensor x = {&value, KILN_INT32, 0, {}, 0}, y = {&result, KILN_INT32, 0, {}, 4};
  CHECK(context.run(x, y) == KILN_INVALID_ARGUMENT);
  CHECK(context.error ==
        "output 'y': given memory of device 'left', wanted the host's or that of 'right'; copy it there first");
}

TEST_CASE("a table that names a device that the model does not list is refused") {
  Model model(left, right);
  model.device_count = 1;
  Context context(model);
  CHECK(context.status == KILN_UNAVAILABLE);
  CHECK(context.error == "pair: 'y' is on a device that is not listed; compile the model again");
}
