#include "package/Safetensors.h"
#include "support/ContentHash.h"

#include "kiln/program.h"
extern "C" {
#include "runtime/src/safetensors.h"
}

#include "llvm/ADT/SmallString.h"

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
  llvm::SmallString<0> text;
  llvm::raw_svector_ostream out(text);
  llvm::Expected<std::string> digest = package::writeSafetensors(
      {entry("small \"one\"", KILN_INT8, {3}, "abc"), entry("large", KILN_FLOAT32, {2, 32}, std::string(256, 'x')),
       entry("flag", KILN_BOOL, {}, "\1")},
      out);
  REQUIRE(bool(digest));
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

/// The digest of a file of one tensor, and the file.
static std::pair<std::string, std::string> fileOf(const char *name, const char *content) {
  llvm::SmallString<0> text;
  llvm::raw_svector_ostream out(text);
  std::string digest = llvm::cantFail(package::writeSafetensors({entry(name, KILN_INT8, {3}, content)}, out));
  return {digest, text.str().str()};
}

TEST_CASE("a file says its digest, which every byte of it decides") {
  auto [digest, text] = fileOf("w", "abc");
  CHECK(digest.size() == 64);
  CHECK(fileOf("w", "abc").first == digest);
  CHECK(fileOf("w", "abd").first != digest);
  CHECK(fileOf("v", "abc").first != digest);
  kiln_safetensors file;
  kiln_text cause = {};
  char found[80];
  REQUIRE(kiln_safetensors_over(text.data(), text.size(), &file, &cause) == KILN_OK);
  REQUIRE(kiln_safetensors_metadata(&file, KILN_DIGEST_KEY, found, sizeof found));
  CHECK(digest == found);
  CHECK_FALSE(kiln_safetensors_metadata(&file, "other", found, sizeof found));
  CHECK_FALSE(kiln_safetensors_metadata(&file, KILN_DIGEST_KEY, found, 64));
  size_t at = text.find(digest);
  CHECK(contentHash(text.replace(at, 64, std::string(64, '0'))) == digest);
}

TEST_CASE("metadata are not a tensor's name") {
  llvm::SmallString<0> text;
  llvm::raw_svector_ostream out(text);
  CHECK(llvm::toString(package::writeSafetensors({entry("__metadata__", KILN_INT8, {1}, "a")}, out).takeError()) ==
        "weight '__metadata__': a safetensors file holds no tensor of this name; leave --weights out, or rename it");
}
