extern "C" {
#include "runtime/src/size.h"
}

#include <catch2/catch.hpp>

#include <string>

namespace {

/// The value of `text` with past = 5, seq = 3 and max_length = 10, or "error".
std::string valueOf(const std::string &text) {
  static const kiln_symbol symbols[] = {{"past", 0, 9, 1},      {"seq", 0, 9, 1},      {"max_length", 0, 99, 1},
                                        {"past seq", 0, 99, 1}, {"[k]\"\"+", 0, 9, 1}, {"--past", 0, 99, 1},
                                        {"2", 0, 99, 1},        {"min", 0, 99, 1}};
  kiln_model model = {};
  model.symbols = symbols;
  model.symbol_count = 8;
  int64_t sizes[] = {5, 3, 10, 77, 4, 50, 60, 70}, size;
  return kiln_evaluate_size(&model, text.c_str(), sizes, &size) ? std::to_string(size) : "error";
}

} // namespace

TEST_CASE("numbers and symbols") {
  CHECK(valueOf("12") == "12");
  CHECK(valueOf(" past ") == "5");
  CHECK(valueOf("max_length") == "10");
}

TEST_CASE("a name that may be read as something else is in quotes") {
  CHECK(valueOf("\"past seq\" + past") == "82");
  CHECK(valueOf("2*\"[k]\"\"\"\"+\"+-1") == "7");
  CHECK(valueOf("\"--past\"*2") == "100");
  CHECK(valueOf("--past*2") == "10");
  CHECK(valueOf("\"2\"+2") == "62");
  CHECK(valueOf("min(\"min\", 75)") == "70");
  for (const char *text : {"past seq", "[k]", "\"past", "\"", "\"\"", "\"batch\"", "\"[k]\"\"+\""})
    CHECK(valueOf(text) == "error");
}

TEST_CASE("operators bind as in arithmetic") {
  CHECK(valueOf("past + seq") == "8");
  CHECK(valueOf("2*past+seq") == "13");
  CHECK(valueOf("2 * (past - seq) * 2") == "8");
  CHECK(valueOf("past - seq - 1") == "1");
  CHECK(valueOf("-past + 6") == "1");
}

TEST_CASE("division and remainder round down") {
  CHECK(valueOf("past // 2") == "2");
  CHECK(valueOf("-past // 2") == "-3");
  CHECK(valueOf("-past % 3") == "1");
  CHECK(valueOf("past % -3") == "-1");
  CHECK(valueOf("(seq - 1) // 1 * 2") == "4");
}

TEST_CASE("min and max") {
  CHECK(valueOf("min(past, seq)") == "3");
  CHECK(valueOf("max(past, seq, max_length - 1)") == "9");
  CHECK(valueOf("max_length - max(1, 2)") == "8");
}

TEST_CASE("a sum of many negative numbers is not deep") {
  std::string text = "1000";
  for (int i = 0; i < 999; i++)
    text += " + -1";
  CHECK(valueOf(text.c_str()) == "1");
}

TEST_CASE("what is not a size") {
  for (const char *text :
       {"", "batch", "past +", "seq past", "pasts", "(past", "past)", "min(past", "past // 0", "past % (seq-3)",
        "9223372036854775807 + 1", "9223372036854775808", "past * 9223372036854775807", "&"}) {
    INFO(text);
    CHECK(valueOf(text) == "error");
  }
  CHECK(valueOf(std::string(100000, '(')) == "error");
  CHECK(valueOf(std::string(100000, '-')) == "error");
}
