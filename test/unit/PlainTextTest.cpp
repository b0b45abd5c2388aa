#include "support/PlainText.h"

#include <catch2/catch.hpp>

using kiln::plainText;

TEST_CASE("what moves a terminal's cursor is a question mark, and a line's end a blank") {
  CHECK(plainText("a\x1b[31m\nb\x7f") == "a?[31m b?");
  CHECK(plainText("a\xc2\x9b[31m") == "a?[31m");
  CHECK(kiln::plainLines("a\nb") == "a\nb");
}

TEST_CASE("letters of UTF-8 stay") {
  CHECK(plainText("n \xc3\xa9 \xe2\x82\xac \xf0\x9f\x94\xa5") == "n \xc3\xa9 \xe2\x82\xac \xf0\x9f\x94\xa5");
}

TEST_CASE("a byte that is not part of UTF-8 is a question mark") {
  CHECK(plainText("a\x9b[31m") == "a?[31m");
  CHECK(plainText("a\xe2\x82") == "a??");
  CHECK(plainText("\xc3") == "?");
  CHECK(plainText("\xc0\x9b") == "??");
}
