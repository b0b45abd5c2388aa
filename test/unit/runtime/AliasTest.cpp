// Outputs that lie in an input's memory: models here append to their input, or count in it, as generated code would.
// Such memory is the one thing of a caller's that a run changes. So it has to be big enough and nobody else's, also
// where the device cannot use it in place and copies it there and back, and everything else that overlaps is refused.
#include "kiln/cli.h"
#include "runtime/device/cpu/cpu.h"

#include <catch2/catch.hpp>

#include <cstdlib>
#include <string>
#include <vector>

namespace {

const kiln_dim pastDims[] = {{"2", 2, -1}, {"n", -1, 0}}, nowDims[] = {{"2", 2, -1}, {"n + 1", -1, -1}};
const kiln_dim flagDims[] = {{"2", 2, -1}};
const kiln_port ins[] = {{"past", KILN_INT8, 2, pastDims, nullptr, nullptr, 0, 0},
                         {"flags", KILN_BOOL, 1, flagDims, nullptr, nullptr, 0, 0}};
const kiln_port outs[] = {{"now", KILN_INT8, 2, nowDims, nullptr, nullptr, 0, 0},
                          {"not", KILN_BOOL, 1, flagDims, nullptr, nullptr, 0, 0}};
const kiln_symbol symbols[] = {{"n", 0, 1000, 1}};
const kiln_alias aliases[] = {{0, 0, 1, 4}, {1, 1, -1, 0}};

/// Appends n to each of the two rows, and turns the flags.
kiln_status appendAndTurn(kiln_context *c, const int64_t *sizes) {
  kiln_slice past, flags, same;
  if (kiln_status status = kiln_rt_input(c, 0, &past))
    return status;
  if (kiln_status status = kiln_rt_input(c, 1, &flags))
    return status;
  for (int row : {0, 1}) {
    static_cast<int8_t *>(past.memory)[4 * row + sizes[0]] = int8_t(sizes[0]);
    static_cast<uint8_t *>(flags.memory)[row] ^= 1;
  }
  const int64_t now[] = {2, sizes[0] + 1}, two = 2;
  if (kiln_status status = kiln_rt_output(c, 0, now, &same))
    return status;
  return kiln_rt_output(c, 1, &two, &same);
}

struct Cache {
  kiln_model model = {};
  kiln_context *context = nullptr;
  alignas(64) int8_t memory[256] = {};
  alignas(64) uint8_t flags[64] = {1, 0};
  kiln_tensor inputs[2], outputs[2] = {};

  Cache() {
    model.abi = KILN_ABI_VERSION;
    model.name = "cache";
    static const kiln_place place = {&kiln_device_cpu, nullptr, 0, 0, 0, {}};
    model.devices = &place;
    model.device_count = 1;
    model.symbols = symbols;
    model.symbol_count = 1;
    model.inputs = ins;
    model.outputs = outs;
    model.input_count = model.output_count = 2;
    model.aliases = aliases;
    model.alias_count = 2;
    model.run = appendAndTurn;
    REQUIRE(kiln_context_create(&model, nullptr, &context, nullptr, 0) == KILN_OK);
    inputs[0] = {memory, KILN_INT8, 2, {2, 0}, 8};
    inputs[1] = {flags, KILN_BOOL, 1, {2}, 0};
  }
  ~Cache() { kiln_context_destroy(context); }
  kiln_status run(int64_t past) {
    inputs[0].dims[1] = past;
    return kiln_run(context, inputs, 2, outputs, 2);
  }
  std::string refusal(int64_t past) {
    CHECK(run(past) == KILN_INVALID_ARGUMENT);
    return kiln_context_error(context);
  }
};

} // namespace

TEST_CASE("an output in an input's memory is there, with its own sizes") {
  Cache cache;
  for (int64_t past = 0; past < 4; past++) {
    REQUIRE(cache.run(past) == KILN_OK);
    CHECK(cache.outputs[0].data == cache.memory);
    CHECK(cache.outputs[0].dims[1] == past + 1);
    CHECK(cache.outputs[1].data == cache.flags);
    CHECK(cache.flags[0] == past % 2);
  }
  for (int i = 0; i < 8; i++)
    CHECK(cache.memory[i] == i % 4);
}

TEST_CASE("memory that the device cannot use where it lies is copied there and back") {
  Cache cache;
  cache.inputs[0].data = cache.memory + 3;
  cache.flags[0] = 7; // not 1, but true: what is copied is 0 or 1
  cache.memory[3] = 9;
  REQUIRE(cache.run(1) == KILN_OK);
  CHECK(cache.outputs[0].data == cache.memory + 3);
  CHECK(cache.memory[3] == 9);
  CHECK(cache.memory[4] == 1);
  CHECK(cache.memory[8] == 1);
  CHECK(cache.flags[0] == 0);
  CHECK(cache.flags[1] == 1);
}

TEST_CASE("an aliased input has room for its capacity") {
  Cache cache;
  cache.inputs[0].capacity = 7;
  CHECK(cache.refusal(0) == "input 'past': wanted room for 8 bytes, given a capacity of 7");
  cache.inputs[0].capacity = 8;
  CHECK(cache.refusal(5) == "input 'past': axis 1: wanted at most the capacity of 4, given 5");
  cache.inputs[0].data = nullptr;
  CHECK(cache.refusal(0) == "input 'past': wanted memory of the caller's, in which 'now' comes to lie; given none");
}

TEST_CASE("what is written is nobody else's memory") {
  Cache cache;
  cache.inputs[1].data = cache.memory + 7;
  CHECK(cache.refusal(0) ==
        "inputs 'past' and 'flags': given memory that overlaps, and the first is written; give each its own");
  cache.inputs[1].data = cache.flags;
  cache.outputs[0] = {cache.memory + 64, KILN_INT8, 2, {2, 1}, 8};
  CHECK(cache.refusal(0) == "output 'now': comes to lie in the memory of input 'past'; give it none of its own");
  cache.outputs[0].data = cache.memory;
  CHECK(cache.run(0) == KILN_OK);
}

TEST_CASE("an output of its own in memory that is written is refused") {
  Cache cache;
  cache.model.alias_count = 1; // 'not' has memory of its own
  cache.model.run = [](kiln_context *c, const int64_t *) {
    kiln_slice slice;
    const int64_t two = 2;
    return kiln_rt_output(c, 1, &two, &slice);
  };
  cache.outputs[1] = {cache.memory + 6, KILN_BOOL, 1, {2}, 2};
  CHECK(cache.refusal(0) == "output 'not': given memory of input 'past', which is written; give it its own");
}

TEST_CASE("aliases can be asked for") {
  Cache cache;
  kiln_alias alias;
  CHECK(kiln_alias_count(&cache.model) == 2);
  REQUIRE(kiln_alias_info(&cache.model, 0, &alias) == KILN_OK);
  CHECK(alias.axis == 1);
  CHECK(alias.capacity == 4);
  CHECK(kiln_alias_info(&cache.model, 2, &alias) == KILN_INVALID_ARGUMENT);
}

TEST_CASE("a tensor gets room and comes out of it") {
  auto *data = static_cast<int8_t *>(malloc(6));
  for (int i = 0; i < 6; i++)
    data[i] = int8_t(i);
  kiln_tensor tensor = {data, KILN_INT8, 2, {2, 3}, 0};
  REQUIRE(kiln_room_give(&aliases[0], &tensor));
  CHECK(tensor.capacity == 8);
  kiln_tensor dense = tensor;
  REQUIRE(kiln_room_take(&aliases[0], &dense));
  const auto *there = static_cast<int8_t *>(tensor.data), *out = static_cast<int8_t *>(dense.data);
  CHECK(std::vector<int>(there, there + 8) == std::vector<int>{0, 1, 2, 0, 3, 4, 5, 0});
  CHECK(std::vector<int>(out, out + 6) == std::vector<int>{0, 1, 2, 3, 4, 5});
  free(dense.data);
  free(tensor.data);
}
