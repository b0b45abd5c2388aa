// Lists never change, yet one that grows from another shares its memory, so that appending n tensors does not copy n²
// of them. The tests hold both: the older list stays what it was, whichever of two grew from it, and the copies are
// counted. Each allocation may fail, and is made to. Positions and sizes come from data and may be anything.
#include "kiln/call.h"
#include "kiln/kiln.h"
#include "kiln/program.h"

#include <catch2/catch.hpp>

#include <memory>
#include <vector>

using Ints = std::vector<int64_t>;
using Floats = std::vector<float>;

namespace {

/// Memory of a test with a limit.
struct Memory : kiln_scratch {
  Memory() : kiln_scratch{nullptr, keepIn} {}
  int64_t left = INT64_MAX; ///< allocations
  std::vector<std::unique_ptr<char[]>> blocks;

private:
  static void *keepIn(kiln_scratch *scratch, int64_t bytes) {
    auto &self = *static_cast<Memory *>(scratch);
    return self.left-- > 0 ? self.blocks.emplace_back(std::make_unique<char[]>(size_t(bytes))).get() : nullptr;
  }
};

/// A call's cause of failure, or "".
std::string call(kiln_call *function, Memory &memory, std::vector<const void *> buffers, Ints numbers) {
  const char *cause = function(const_cast<void *const *>(buffers.data()), numbers.data(), &memory);
  return cause ? cause : "";
}

kiln_sequence empty(Memory &memory) {
  kiln_sequence list = nullptr;
  CHECK(call(kiln_call_sequence_empty, memory, {&list}, {}) == "");
  return list;
}

kiln_sequence inserted(Memory &memory, kiln_sequence from, const Floats &tensor, const int64_t *at = nullptr,
                       const std::string &cause = "") {
  kiln_sequence list = nullptr;
  Ints numbers = {at != nullptr, KILN_FLOAT32, 1, int64_t(tensor.size())};
  CHECK(call(kiln_call_sequence_insert, memory, {&list, &from, tensor.data(), at}, numbers) == cause);
  return list;
}

std::vector<Floats> contents(kiln_sequence list) {
  std::vector<Floats> tensors;
  for (int64_t i = 0; i < list->count; i++) {
    auto *data = static_cast<const float *>(list->tensors[i].data);
    tensors.emplace_back(data, data + list->tensors[i].dims[0]);
  }
  return tensors;
}

} // namespace

TEST_CASE("lists that grow from one another keep what is theirs") {
  Memory memory;
  kiln_sequence one = inserted(memory, empty(memory), {1}), left = inserted(memory, one, {2, 3}),
                right = inserted(memory, one, {4});
  for (int i = 5; i < 12; i++)
    left = inserted(memory, left, {float(i)});
  CHECK(contents(one) == std::vector<Floats>{{1}});
  CHECK(contents(right) == std::vector<Floats>{{1}, {4}});
  CHECK(contents(left) == std::vector<Floats>{{1}, {2, 3}, {5}, {6}, {7}, {8}, {9}, {10}, {11}});
}

TEST_CASE("a list that grows step by step copies its tensors few times") {
  Memory memory;
  kiln_sequence list = empty(memory);
  size_t arrays = 0;
  for (int i = 0; i < 1000; i++) {
    const kiln_tensor *before = list->tensors;
    list = inserted(memory, list, {1});
    arrays += list->tensors != before;
  }
  CHECK(arrays < 12);
}

TEST_CASE("a caller's list has no room for another tensor") {
  Memory memory;
  float element = 1;
  kiln_tensor tensors[2] = {};
  tensors[0] = {&element, KILN_FLOAT32, 1, {1}, 0};
  tensors[1].rank = -1;
  kiln_list list = {tensors, 1, 0};
  CHECK(contents(inserted(memory, &list, {2})) == std::vector<Floats>{{1}, {2}});
  CHECK(tensors[1].rank == -1);
}

TEST_CASE("a tensor goes before a position, which may count from the end") {
  Memory memory;
  kiln_sequence list = inserted(memory, inserted(memory, empty(memory), {1}), {2});
  auto at = [&](int64_t position, const std::string &cause = "") {
    return inserted(memory, list, {9}, &position, cause);
  };
  CHECK(contents(at(0)) == std::vector<Floats>{{9}, {1}, {2}});
  CHECK(contents(at(2)) == std::vector<Floats>{{1}, {2}, {9}});
  CHECK(contents(at(-1)) == std::vector<Floats>{{1}, {9}, {2}});
  at(3, "the position is outside the sequence");
  at(-3, "the position is outside the sequence");
}

TEST_CASE("a tensor is erased") {
  Memory memory;
  kiln_sequence list = inserted(memory, inserted(memory, empty(memory), {1}), {2}), none = empty(memory), result;
  auto erase = [&](kiln_sequence from, int64_t at) {
    return call(kiln_call_sequence_erase, memory, {&result, &from, &at}, {});
  };
  CHECK(erase(list, 0) == "");
  CHECK(contents(result) == std::vector<Floats>{{2}});
  CHECK(erase(list, -1) == "");
  CHECK(contents(result) == std::vector<Floats>{{1}});
  CHECK(erase(list, 2) == "the position is outside the sequence");
  CHECK(erase(none, -1) == "the position is outside the sequence");
}

TEST_CASE("a tensor is read that is like the model says") {
  Memory memory;
  kiln_sequence list = inserted(memory, empty(memory), {1, 2});
  int64_t at = 0, shape = 0;
  float elements[2] = {};
  CHECK(call(kiln_call_sequence_shape, memory, {&shape, &list, &at}, {1}) == "");
  CHECK(shape == 2);
  CHECK(call(kiln_call_sequence_shape, memory, {&shape, &list, &at}, {2}) ==
        "the tensor has not as many axes as the model says");
  CHECK(call(kiln_call_sequence_at, memory, {elements, &list, &at}, {KILN_FLOAT32, 1, 2}) == "");
  CHECK(elements[1] == 2);
  std::string other = "the tensor has not the dtype and the shape that the model says";
  CHECK(call(kiln_call_sequence_at, memory, {elements, &list, &at}, {KILN_FLOAT32, 1, 1}) == other);
  CHECK(call(kiln_call_sequence_at, memory, {elements, &list, &at}, {KILN_INT8, 1, 2}) == other);
  at = 1;
  CHECK(call(kiln_call_sequence_at, memory, {elements, &list, &at}, {KILN_FLOAT32, 1, 2}) ==
        "the position is outside the sequence");
}

TEST_CASE("a caller's bools are true where they are not 0") {
  Memory memory;
  uint8_t given[2] = {0, 7}, got[2] = {9, 9};
  kiln_tensor tensor = {given, KILN_BOOL, 1, {2}, 0};
  kiln_list list = {&tensor, 1, 0};
  kiln_sequence sequence = &list;
  int64_t at = 0;
  CHECK(call(kiln_call_sequence_at, memory, {got, &sequence, &at}, {KILN_BOOL, 1, 2}) == "");
  CHECK((got[0] == 0 && got[1] == 1));
}

namespace {
/// [rows, columns] tensors, filled with 0, 1, 2 …
struct Tables {
  explicit Tables(std::vector<Ints> shapes) : data(100) {
    for (size_t i = 0; i < data.size(); i++)
      data[i] = float(i);
    for (const Ints &shape : shapes)
      tensors.push_back({data.data(), KILN_FLOAT32, 2, {shape[0], shape[1]}, 0});
    list = {tensors.data(), int64_t(tensors.size()), 0};
  }
  Floats data;
  std::vector<kiln_tensor> tensors;
  kiln_list list;
  kiln_sequence sequence = &list;
};
} // namespace

TEST_CASE("tensors are concatenated along an axis") {
  Memory memory;
  Tables tables({{2, 1}, {2, 2}});
  Ints shape(2);
  CHECK(call(kiln_call_sequence_concat_shape, memory, {shape.data(), &tables.sequence}, {KILN_FLOAT32, 2, 1, 0}) == "");
  CHECK(shape == Ints{2, 3});
  Floats result(6);
  CHECK(call(kiln_call_sequence_concat, memory, {result.data(), &tables.sequence}, {2, 3}) == "");
  CHECK(result == Floats{0, 0, 1, 1, 2, 3});
}

TEST_CASE("tensors are stacked along a new axis") {
  Memory memory;
  Tables tables({{1, 2}, {1, 2}});
  Ints shape(3);
  CHECK(call(kiln_call_sequence_concat_shape, memory, {shape.data(), &tables.sequence}, {KILN_FLOAT32, 2, 2, 1}) == "");
  CHECK(shape == Ints{1, 2, 2});
}

TEST_CASE("tensors that do not go together are not concatenated") {
  Memory memory;
  Ints shape(3);
  auto cause = [&](std::vector<Ints> shapes, Ints numbers) {
    Tables tables(shapes);
    return call(kiln_call_sequence_concat_shape, memory, {shape.data(), &tables.sequence}, numbers);
  };
  CHECK(cause({{1, 2}, {2, 2}}, {KILN_FLOAT32, 2, 1, 0}) == "the tensors of the sequence have different sizes");
  CHECK(cause({{1, 2}, {1, 3}}, {KILN_FLOAT32, 2, 0, 1}) == "the tensors of the sequence have different sizes");
  CHECK(cause({}, {KILN_FLOAT32, 2, 0, 0}) == "the sequence is empty: there is nothing to concatenate");
  std::string other = "a tensor has not the dtype and as many axes as the model says";
  CHECK(cause({{1, 2}}, {KILN_FLOAT32, 3, 0, 0}) == other);
  CHECK(cause({{1, 2}}, {KILN_INT8, 2, 0, 0}) == other);
}

namespace {
/// 0, 1, 2 … as [2, 3], split along an axis.
std::string split(Memory &memory, kiln_sequence &result, int64_t axis, Ints sizes, bool isEqual, bool keeps = true) {
  static const float data[6] = {0, 1, 2, 3, 4, 5};
  return call(kiln_call_sequence_split, memory, {&result, data, sizes.data()},
              {axis, isEqual ? -1 : int64_t(sizes.size()), keeps, KILN_FLOAT32, 2, 2, 3});
}
} // namespace

TEST_CASE("a tensor is split into parts") {
  Memory memory;
  kiln_sequence parts;
  CHECK(split(memory, parts, 1, {2}, /*isEqual=*/true) == "");
  REQUIRE(parts->count == 2);
  CHECK((parts->tensors[0].dims[1] == 2 && parts->tensors[1].dims[1] == 1));
  CHECK(static_cast<float *>(parts->tensors[0].data)[2] == 3);
  CHECK(static_cast<float *>(parts->tensors[1].data)[1] == 5);
  CHECK(split(memory, parts, 0, {0, 2}, /*isEqual=*/false) == "");
  CHECK((parts->tensors[0].dims[0] == 0 && parts->tensors[1].dims[0] == 2));
  CHECK(split(memory, parts, 0, {1}, /*isEqual=*/true, /*keeps=*/false) == "");
  CHECK((parts->tensors[1].rank == 1 && parts->tensors[1].dims[0] == 3));
}

TEST_CASE("parts that do not make up an axis are wrong") {
  Memory memory;
  kiln_sequence parts;
  CHECK(split(memory, parts, 1, {1, 1}, false) == "the parts do not make up the axis");
  CHECK(split(memory, parts, 1, {4, -1}, false) == "the size of a part is negative or too large");
  CHECK(split(memory, parts, 1, {INT64_MAX, 4}, false) == "the size of a part is negative or too large");
  CHECK(split(memory, parts, 1, {0}, true) == "the size of the parts is not positive");
}

TEST_CASE("an optional has to be there") {
  Memory memory;
  kiln_sequence none = nullptr, result;
  CHECK(call(kiln_call_optional_get, memory, {&result, &none}, {}) == "the optional has no element");
}

TEST_CASE("each allocation of a list may fail") {
  std::string cause = "no memory for its sequence";
  Memory memory;
  kiln_sequence list = inserted(memory, inserted(memory, empty(memory), {1}), {2}), result;
  int64_t at = 0;
  const float element = 3;
  auto failures = [&](auto use) {
    int failed = 0;
    for (memory.left = 0; use() == cause; memory.left = ++failed)
      REQUIRE(failed < 20);
    memory.left = INT64_MAX;
    return failed;
  };
  CHECK(failures([&] { return call(kiln_call_sequence_empty, memory, {&result}, {}); }) == 2);
  CHECK(failures([&] { return call(kiln_call_sequence_erase, memory, {&result, &list, &at}, {}); }) == 2);
  Ints numbers = {1, KILN_FLOAT32, 1, 1};
  CHECK(failures([&] { return call(kiln_call_sequence_insert, memory, {&result, &list, &element, &at}, numbers); }) ==
        3);
  numbers[0] = 0;
  CHECK(failures([&] { return call(kiln_call_sequence_insert, memory, {&result, &list, &element}, numbers); }) == 2);
  CHECK(failures([&] { return split(memory, result, 0, {1}, true); }) == 4);
}
