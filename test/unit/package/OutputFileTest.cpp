#include "Folder.h"

#include "package/OutputFile.h"
#include "support/Error.h"

using namespace kiln;
using kiln::test::Folder;

static auto text(const char *content) {
  return [content](llvm::raw_ostream &out) {
    out << content;
    return llvm::Error::success();
  };
}

TEST_CASE("a file replaces the one of its name") {
  Folder folder;
  folder.write("out", "old and longer");
  REQUIRE(!package::writeFile(folder.path("out"), text("new")));
  CHECK(folder.read("out") == "new");
  CHECK(folder.files() == 1);
}

TEST_CASE("a failure leaves the old file and nothing else") {
  Folder folder;
  folder.write("out", "old");
  llvm::Error error = package::writeFile(folder.path("out"), [](llvm::raw_ostream &out) {
    out << "half";
    return failure("no more");
  });
  CHECK(llvm::toString(std::move(error)) == "no more");
  CHECK(folder.read("out") == "old");
  CHECK(folder.files() == 1);
}

TEST_CASE("a place that cannot be written is named") {
  Folder folder;
  std::string path = folder.path("missing/out");
  CHECK(llvm::toString(package::writeFile(path, text(""))) ==
        path + ": cannot be written: No such file or directory; name another place");
  CHECK(llvm::toString(package::writeFile(folder.path(""), text(""))).find("Is a directory") != std::string::npos);
  CHECK(llvm::toString(package::writeFile("/dev/full", text("x"))).find("No space left") != std::string::npos);
}
