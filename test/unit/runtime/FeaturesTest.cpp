extern "C" {
#include "runtime/device/cpu/cpu_features.h"
}
#include "affine.h"

#include <catch2/catch.hpp>

#include <string>

namespace {
std::string missingOf(const char *wanted, size_t bytes = 256) {
  std::string text(bytes, '\0');
  bool lacks = kiln_cpu_lacks(wanted, text.data(), bytes);
  text.resize(std::char_traits<char>::length(text.data()));
  return lacks ? text : "none";
}
} // namespace

TEST_CASE("no feature and no such feature are never missing") {
  CHECK(missingOf("") == "none");
  CHECK(missingOf("fast-gather,+tuning-of-some-kind") == "none");
}

#if defined(__x86_64__)
TEST_CASE("what every x86-64 has is there") { CHECK(missingOf("sse2,+cx8,64bit,cmov") == "none"); }

TEST_CASE("the check agrees with the compiler's own") {
  CHECK((missingOf("avx2") == "none") == bool(__builtin_cpu_supports("avx2")));
  CHECK((missingOf("fma") == "none") == bool(__builtin_cpu_supports("fma")));
  CHECK((missingOf("avx512f") == "none") == bool(__builtin_cpu_supports("avx512f")));
  CHECK((missingOf("avx512vnni") == "none") == bool(__builtin_cpu_supports("avx512vnni")));
  CHECK((missingOf("f16c") == "none") == bool(__builtin_cpu_supports("f16c")));
}

TEST_CASE("missing features are listed") {
  if (__builtin_cpu_supports("xop") || __builtin_cpu_supports("fma4"))
    return; // a CPU of 2011: it has what this test expects none to have
  CHECK(missingOf("sse2,+xop,fma4,nothing") == "xop, fma4");
  CHECK(missingOf("xop,fma4", 6) == "xop");

  kiln_model model = affine_model;
  model.features = "xop";
  kiln_context *context;
  char error[100];
  CHECK(kiln_context_create(&model, nullptr, &context, error, sizeof error) == KILN_UNAVAILABLE);
  CHECK(std::string(error) == "this CPU lacks xop; compile for it with --mcpu");
}
#endif
