#include "package/Safetensors.h"

#include "kiln/program.h"
extern "C" {
#include "runtime/src/safetensors.h"
}

#include <catch2/catch.hpp>
#include <cstring>
#include <map>

using namespace kiln;

static package::SafetensorsEntry entry(std::string name, kiln_dtype dtype, std::vector<int64_t> dims,
                                       std::string content) {
  return {name, dtype, dims, int64_t(content.size()), [content](llvm::raw_ostream &out) {
            out << content;
            return llvm::Error::success();
          }};
}

TEST_CASE("the runtime reads what is written; large tensors begin aligned") {
  std::string text;
  llvm::raw_string_ostream out(text);
  REQUIRE(!package::writeSafetensors({entry("small \"one\"", KILN_INT8, {3}, "abc"),
                                      entry("large", KILN_FLOAT32, {2, 32}, std::string(256, 'x')),
                                      entry("flag", KILN_BOOL, {}, "\1")},
                                     out));
  std::vector<std::max_align_t> aligned(text.size() / sizeof(std::max_align_t) + 1); // as a mapped file is
  memcpy(aligned.data(), text.data(), text.size());
  kiln_safetensors file;
  kiln_text cause = {};
  REQUIRE(kiln_safetensors_over(aligned.data(), text.size(), &file, &cause) == KILN_OK);
  std::map<std::string, kiln_safetensors_entry> entries;
  auto visit = [](void *user, const kiln_safetensors_entry *e) {
    (*static_cast<decltype(entries) *>(user))[e->name] = *e;
    return KILN_OK;
  };
  REQUIRE(kiln_safetensors_each(&file, visit, &entries, &cause) == KILN_OK);
  REQUIRE(entries.size() == 3);
  CHECK(std::string(entries["small \"one\""].data, 3) == "abc");
  CHECK(std::string(entries["small \"one\""].dtype) == "I8");
  CHECK(entries["large"].rank == 2);
  CHECK(entries["large"].dims[1] == 32);
  CHECK(entries["large"].bytes == 256);
  size_t at = entries["large"].data - reinterpret_cast<const char *>(aligned.data());
  CHECK(at % KILN_HOST_ALIGNMENT == 0);
  CHECK(entries["flag"].rank == 0);
  CHECK(*entries["flag"].data == 1);
}
