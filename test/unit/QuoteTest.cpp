#include "support/Quote.h"

#include <catch2/catch.hpp>

#include <string>

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

TEST_CASE("what turns the direction of text is a control character, too") {
  CHECK(plainText("a\xe2\x80\xae"
                  "b\xe2\x81\xa6\xe2\x80\xa8") == "a?b??");
}

TEST_CASE("a comment of C ends where kiln ends it") {
  CHECK(kiln::cComment("*/ f(); /*") == "*? f(); /?");
  CHECK(kiln::cComment("/*/") == "/?/");
  CHECK(kiln::cComment("a\\\n?"
                       "?/\nb") == "a?_?_/?b");
  CHECK(kiln::cComment("layer/0/y:0") == "layer/0/y:0");
  CHECK(kiln::cComment(std::string(1000, 'x')).size() == 400);
  for (int first = 0; first < 256; ++first)
    for (int second = 0; second < 256; ++second)
      for (int third : {'*', '/', '\\', '?', '\n'}) {
        std::string text = kiln::cComment(std::string{char(first), char(second), char(third)});
        CHECK((text.find("*/") == text.npos && text.find("/*") == text.npos && text.find('\\') == text.npos &&
               text.find("?"
                         "?") == text.npos &&
               text.find('\n') == text.npos));
      }
}

TEST_CASE("a string of C holds any bytes and no trigraph") {
  CHECK(kiln::cString("a\"\\\n?"
                      "?/%s") == "\"a\\\"\\\\\\n\\077\\077/%s\"");
  CHECK(kiln::cString(llvm::StringRef("\0007", 2)) == "\"\\0007\"");
}

TEST_CASE("identifiers") {
  CHECK(kiln::cIdentifier("a-b/0") == "a_b_0");
  CHECK(kiln::cIdentifier("0") == "_0");
  CHECK(kiln::cIdentifier("") == "_");
  CHECK(kiln::isCIdentifier("r_3_n"));
  for (const char *name : {"", "3", "a b", "a;", "\xc3\xa9"})
    CHECK_FALSE(kiln::isCIdentifier(name));
}

TEST_CASE("strings of Graphviz") { CHECK(kiln::dotString("a\"\\N\n&lt;\x1b") == "\"a\\\"\\\\N\\n&amp;lt;?\""); }

TEST_CASE("words of a shell") {
  CHECK(kiln::shellWord("lib a$(b)`;'\".so") == "lib\\ a\\$\\(b\\)\\`\\;\\'\\\".so");
  CHECK(kiln::shellWord("/usr/lib/x-1.0_y.a") == "/usr/lib/x-1.0_y.a");
}

TEST_CASE("files of a rule of make") {
  CHECK(kiln::makeWord("/a/b-1.onnx") == "/a/b-1.onnx");
  CHECK(kiln::makeWord("it's $5 #1") == "it's\\ $$5\\ \\#1");
  CHECK(kiln::makeWord("a\\b\\ c") == "a\\b\\\\\\ c");
}

TEST_CASE("a long name is cut in the middle") {
  std::string shown = kiln::quotedName("begin" + std::string(1000, '/') + "end");
  CHECK(shown.size() < 130);
  CHECK(shown.find("'begin/") == 0);
  CHECK(shown.find("...") != shown.npos);
  CHECK(shown.substr(shown.size() - 4) == "end'");
}
