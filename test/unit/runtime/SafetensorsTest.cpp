// A weights file is mapped, and what it says of itself becomes addresses: a range that is believed too early is a crash
// or worse. So the header is cut off at every length and changed at every byte, its numbers are made too large, and it
// nests as deep as it is long. Each of these must be read or refused. One file is larger than 2 GB, so that a size of
// 32 bits would show.
#include "TempFolder.h"
#include "affine.h"

extern "C" {
#include "runtime/src/safetensors.h"
}

#include <catch2/catch.hpp>

#include <cstring>
#include <string>
#include <vector>

namespace {

std::string fileOf(const std::string &header, const std::string &data) {
  uint64_t length = header.size();
  return std::string(reinterpret_cast<char *>(&length), 8) + header + data;
}

/// The names and dims in `bytes`, one per line, then the error.
std::string listed(const std::string &bytes) {
  char error[300] = "";
  kiln_text cause = kiln_text_in(error, sizeof error);
  kiln_safetensors file;
  std::string lines;
  std::vector<char> exact(bytes.begin(), bytes.end()); // so that a sanitizer sees a step past the end
  if (kiln_safetensors_over(exact.data(), exact.size(), &file, &cause) == KILN_OK)
    kiln_safetensors_each(
        &file,
        [](void *user, const kiln_safetensors_entry *entry) {
          std::string &lines = *static_cast<std::string *>(user);
          lines += std::string(entry->name) + " " + entry->dtype;
          for (int32_t axis = 0; axis < entry->rank; axis++)
            lines += " " + std::to_string(entry->dims[axis]);
          lines += " '" + std::string(entry->data, size_t(entry->bytes)) + "'\n";
          return KILN_OK;
        },
        &lines, &cause);
  return lines + error;
}

const std::string twoTensors = R"({"__metadata__":{"format":"pt","nested":{"a":[1,"}"]}},)"
                               R"("a":{"dtype":"U8","shape":[2,1],"data_offsets":[0,2]},)"
                               R"( "b" : { "data_offsets" : [2, 5], "extra": null, "shape" : [], "dtype" : "I8" } })";

} // namespace

TEST_CASE("a name that breaks off is not a name") {
  std::string header = R"({"a":{"dtype":"U8","shape":[],"data_offsets":[0,1]},"bcd)";
  CHECK(listed(fileOf(header, "x")) == "a U8 'x'\nthe header is corrupt after 56 bytes; copy the file again");
}

TEST_CASE("tensors are listed with their data, metadata is skipped") {
  CHECK(listed(fileOf(twoTensors + "   ", "hello")) == "a U8 2 1 'he'\nb I8 'llo'\n");
  CHECK(listed(fileOf("{}", "")).empty());
}

TEST_CASE("names are decoded") {
  CHECK(listed(fileOf(R"({"\u00e9\ud83d\ude00\"\\\/\t":{"dtype":"U8","shape":[0],"data_offsets":[0,0]}})", "")) ==
        "\u00e9\U0001F600\"\\/\t U8 0 ''\n");
}

TEST_CASE("a header that ends anywhere is an error") {
  for (size_t length = 0; length < twoTensors.size(); length++)
    CHECK_THAT(listed(fileOf(twoTensors.substr(0, length), "hello")),
               Catch::Matchers::Contains("corrupt") || Catch::Matchers::Contains("is not a safetensors file"));
}

TEST_CASE("a header with any byte changed is read or refused, never trusted") {
  for (size_t i = 0; i < twoTensors.size(); i++)
    for (char byte : {'\0', '"', '\\', '{', ']', '9', '\xff'}) {
      std::string changed = twoTensors;
      changed[i] = byte;
      CHECK(listed(fileOf(changed, "hello")).size() < 300);
    }
}

TEST_CASE("lengths that cannot be") {
  std::string whole = fileOf(twoTensors, "hello");
  for (size_t length = 0; length < 8 + twoTensors.size(); length++)
    CHECK(listed(whole.substr(0, length)) ==
          "is not a safetensors file, or is cut off; name another, or copy it again");
  std::string huge = whole;
  std::memset(huge.data(), 0xff, 8);
  CHECK(listed(huge) == "is not a safetensors file, or is cut off; name another, or copy it again");
}

TEST_CASE("data must lie within the file") {
  using Catch::Matchers::Contains;
  auto one = [](const std::string &range) {
    return listed(fileOf(R"({"a":{"dtype":"U8","shape":[2],"data_offsets":)" + range + "}}", "hello"));
  };
  CHECK_THAT(one("[4,6]"), Contains(", at tensor 'a'; "));
  CHECK_THAT(one("[3,2]"), Contains(", at tensor 'a'; "));
  CHECK_THAT(one("[0]"), Contains(", at tensor 'a'; "));
  CHECK_THAT(one("[0,18446744073709551616]"), Contains(", at tensor 'a'; "));
  CHECK_THAT(one("[-1,2]"), Contains(", at tensor 'a'; "));
  CHECK(one("[0,5]") == "a U8 2 'hello'\n");
}

TEST_CASE("tensors neither overlap nor leave bytes out") {
  auto two = [](const std::string &first, const std::string &second) {
    return listed(fileOf(R"({"a":{"dtype":"U8","shape":[2],"data_offsets":)" + first +
                             R"(},"b":{"dtype":"U8","shape":[3],"data_offsets":)" + second + "}}",
                         "hello"));
  };
  using Catch::Matchers::EndsWith;
  CHECK(two("[3,5]", "[0,3]") == "a U8 2 'lo'\nb U8 3 'hel'\n");
  CHECK(two("[0,0]", "[0,5]") == "a U8 2 ''\nb U8 3 'hello'\n");
  CHECK_THAT(two("[0,2]", "[1,5]"),
             EndsWith("\ntensor 'b' begins at byte 1, and those before it end at byte 2; write the file again"));
  CHECK_THAT(two("[3,5]", "[0,2]"),
             EndsWith("\ntensor 'a' begins at byte 3, and those before it end at byte 2; write the file again"));
  CHECK_THAT(two("[1,2]", "[2,5]"),
             EndsWith("\ntensor 'a' begins at byte 1, and those before it end at byte 0; write the file again"));
  CHECK_THAT(two("[0,2]", "[2,4]"), EndsWith("\nthe tensors end at byte 4 of 5; write the file again"));
  CHECK_THAT(two("[0,5]", "[0,5]"), EndsWith("write the file again"));
}

TEST_CASE("nesting as deep as the file is long") {
  std::string deep = R"({"__metadata__":)" + std::string(1 << 20, '[');
  CHECK_THAT(listed(fileOf(deep, "")), Catch::Matchers::Contains("corrupt"));
  CHECK(listed(fileOf(deep + std::string(1 << 20, ']') + "}", "")).empty());
}

namespace {

const float weight[] = {1, 10, 100};

std::string weightFile(const std::string &entry, size_t padding = 0) {
  return fileOf("{" + entry + "}" + std::string(padding, ' '),
                std::string(reinterpret_cast<const char *>(weight), sizeof weight));
}

/// Opens a model with three bools for weights.
kiln_status openBools(const std::string &data, std::string &error) {
  static const int64_t dims[] = {3};
  static const kiln_weight bools = {"w", KILN_BOOL, 1, dims, 0, 3, 0};
  kiln_model model = affine_model_without_weights;
  model.weights = &bools;
  TempFolder folder;
  std::string path = folder.write("w", fileOf(R"({"w":{"dtype":"BOOL","shape":[3],"data_offsets":[0,3]}})", data));
  kiln_options options = {};
  options.size = sizeof options;
  options.weights_path = path.c_str();
  kiln_context *context;
  char text[300] = "";
  kiln_status status = kiln_context_create(&model, &options, &context, text, sizeof text);
  error = std::string(text).substr(std::min(std::strlen(text), path.size()));
  kiln_context_destroy(context);
  return status;
}

const std::string good = R"("layer.weight":{"dtype":"F32","shape":[3],"data_offsets":[0,12]})";

/// Runs the model with this weights file; the result's first element, or the error after the path.
std::string runWith(const std::string &bytes) {
  TempFolder folder;
  std::string path = folder.write("w.safetensors", bytes);
  kiln_options options = {};
  options.size = sizeof options;
  options.threads = 1;
  options.weights_path = path.c_str();
  kiln_context *context;
  char error[400];
  kiln_status status = kiln_context_create(&affine_model_without_weights, &options, &context, error, sizeof error);
  if (status) {
    CHECK(status == KILN_IO_ERROR);
    CHECK(std::string(error).substr(0, path.size() + 2) == path + ": ");
    return std::string(error).substr(path.size() + 2);
  }
  float x[] = {1, 2, 3};
  kiln_tensor inputs[] = {{x, KILN_FLOAT32, 2, {1, 3}, 0}, {}}, y = {};
  REQUIRE(kiln_run(context, inputs, 2, &y, 1) == KILN_OK);
  std::string text = std::to_string(int(*static_cast<float *>(y.data)));
  kiln_context_destroy(context);
  return text;
}

} // namespace

TEST_CASE("weights come from a file, wherever in it they lie") {
  for (size_t padding = 0; padding < 64; padding += 3)
    CHECK(runWith(weightFile(good, padding)) == "327");
  CHECK(runWith(weightFile(R"("unused":{"dtype":"F8_E4M3","shape":[0],"data_offsets":[0,0]},)" + good)) == "327");
}

TEST_CASE("weights beyond 2 GB are mapped, not read") {
  TempFolder folder;
  const int64_t padding = int64_t(3) << 30;
  std::string header = R"({"padding":{"dtype":"U8","shape":[)" + std::to_string(padding) + R"(],"data_offsets":[0,)" +
                       std::to_string(padding) + R"(]},"layer.weight":{"dtype":"F32","shape":[3],"data_offsets":[)" +
                       std::to_string(padding) + "," + std::to_string(padding + 12) + "]}}";
  header.resize((header.size() + 63) / 64 * 64 - 8, ' ');
  std::string path = folder.write("large.safetensors", fileOf(header, ""));
  std::filesystem::resize_file(path, 8 + header.size() + size_t(padding)); // a hole, which takes no room
  std::ofstream(path, std::ios::binary | std::ios::app).write(reinterpret_cast<const char *>(weight), sizeof weight);
  kiln_options options = {};
  options.size = sizeof options;
  options.weights_path = path.c_str();
  kiln_context *context;
  char error[300] = "";
  kiln_status status = kiln_context_create(&affine_model_without_weights, &options, &context, error, sizeof error);
  INFO(error);
  REQUIRE(status == KILN_OK);
  float x[] = {1, 2, 3};
  kiln_tensor inputs[] = {{x, KILN_FLOAT32, 2, {1, 3}, 0}, {}}, y = {};
  REQUIRE(kiln_run(context, inputs, 2, &y, 1) == KILN_OK);
  CHECK(*static_cast<float *>(y.data) == 327);
  kiln_context_destroy(context);
}

TEST_CASE("a weights file that does not fit") {
  CHECK(runWith(weightFile("")) == "the tensors end at byte 0 of 12; write the file again");
  CHECK(runWith(weightFile(R"("other":{"dtype":"F32","shape":[3],"data_offsets":[0,12]})")) ==
        "weight 'layer.weight' is missing");
  CHECK(runWith(weightFile(R"("layer.weight":{"dtype":"F32","shape":[3,1],"data_offsets":[0,12]})")) ==
        "weight 'layer.weight': wanted float32 [3], given float32 [3, 1] in 12 bytes");
  CHECK(runWith(weightFile(R"("layer.weight":{"dtype":"F32","shape":[3],"data_offsets":[0,8]})")) ==
        "weight 'layer.weight': wanted float32 [3], given float32 [3] in 8 bytes");
  CHECK(runWith(weightFile(R"("layer.weight":{"dtype":"F4","shape":[3],"data_offsets":[0,12]})")) ==
        "weight 'layer.weight': wanted float32 [3], given the dtype F4 in 12 bytes");
  CHECK(runWith(weightFile(good + "," + good)) == "weight 'layer.weight' is there twice");
  CHECK(runWith("") == "is empty; name the file of weights");
  CHECK(runWith("1234567") == "is not a safetensors file, or is cut off; name another, or copy it again");
  CHECK(runWith(weightFile(good + ",")) ==
        "the header is corrupt after 66 bytes, at tensor 'layer.weight'; copy the file again");
}

TEST_CASE("weights files that cannot be opened") {
  kiln_options options = {};
  options.size = sizeof options;
  kiln_context *context;
  char error[100];
  CHECK(kiln_context_create(&affine_model_without_weights, &options, &context, error, sizeof error) ==
        KILN_INVALID_ARGUMENT);
  CHECK(std::string(error) == "the weights are not part of this program; name their file");
  options.weights_path = "/none/such";
  CHECK(kiln_context_create(&affine_model_without_weights, &options, &context, error, sizeof error) == KILN_IO_ERROR);
  CHECK(std::string(error) == "/none/such: cannot be read: No such file or directory; name the file of weights");
  options.weights_path = "/";
  CHECK(kiln_context_create(&affine_model_without_weights, &options, &context, error, sizeof error) == KILN_IO_ERROR);
  CHECK(std::string(error) == "/: is not a regular file; name the file of weights");
}

TEST_CASE("bools in a file are 0 or 1") {
  std::string error;
  CHECK(openBools(std::string("\0\1\1", 3), error) == KILN_OK);
  CHECK(openBools(std::string("\0\2\1", 3), error) == KILN_IO_ERROR);
  CHECK(error == ": weight 'w': a bool is neither 0 nor 1");
}

TEST_CASE("metadata are found wherever they stand, and no crash where they are none") {
  auto found = [](const std::string &header, const char *key) {
    std::string bytes = fileOf(header, "");
    char error[300], value[8] = "";
    kiln_text cause = kiln_text_in(error, sizeof error);
    kiln_safetensors file;
    if (kiln_safetensors_over(bytes.data(), bytes.size(), &file, &cause) != KILN_OK ||
        !kiln_safetensors_metadata(&file, key, value, sizeof value))
      return std::string("none");
    return std::string(value);
  };
  CHECK(found(R"({"__metadata__":{"k":"v"}})", "k") == "v");
  CHECK(found(R"({"a":{"dtype":"U8","shape":[0],"data_offsets":[0,0]},"__metadata__":{"j":[{}],"k":"v"}})", "k") ==
        "v");
  for (const char *header :
       {"{}", "[]", R"({"__metadata__":"k"})", R"({"__metadata__":{}})", R"({"__metadata__":{"k":1}})",
        R"({"__metadata__":{"k":"too long"}})", R"({"__metadata__":{"k")", R"({"a":{"k":"v"}})"})
    CHECK(found(header, "k") == "none");
}
