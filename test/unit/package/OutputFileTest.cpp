// A command that fails must leave what was there before, and nothing else. Most tests let a step go wrong: writing,
// opening, one of several outputs that cannot have its name, a program that ends with an error. Then they look at all
// that the folder holds. Who can read a file on its way is looked at too.
#include "Folder.h"
#include "WriteFile.h"

#include "package/OutputFile.h"
#include "package/Spawn.h"
#include "support/Error.h"

#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

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
  REQUIRE(!test::writeFile(folder.path("out"), text("new")));
  CHECK(folder.read("out") == "new");
  CHECK(folder.files() == 1);
}

TEST_CASE("a failure leaves the old file and nothing else") {
  Folder folder;
  folder.write("out", "old");
  std::string message = llvm::toString(test::writeFile(folder.path("out"), [](llvm::raw_ostream &out) {
    out << "half";
    return failure("no more");
  }));
  CHECK(message == "no more");
  CHECK(folder.read("out") == "old");
  CHECK(folder.files() == 1);
}

TEST_CASE("where no more files can be opened, nothing else is left all the same") {
  Folder folder;
  folder.write("out", "old");
  rlimit before{};
  REQUIRE(getrlimit(RLIMIT_NOFILE, &before) == 0);
  {
    package::Outputs outputs;
    REQUIRE(!outputs.write(folder.path("out"), text("new")));
    rlimit none{0, before.rlim_max};
    REQUIRE(setrlimit(RLIMIT_NOFILE, &none) == 0);
  }
  REQUIRE(setrlimit(RLIMIT_NOFILE, &before) == 0);
  CHECK(folder.read("out") == "old");
  CHECK(folder.files() == 1);
}

TEST_CASE("folders that a program made beside the output go with it") {
  Folder folder;
  {
    package::Outputs outputs;
    llvm::Expected<package::StagedFile *> file = outputs.add(folder.path("out"));
    REQUIRE(bool(file));
    REQUIRE(
        !package::spawn("sh", {"-c", "mkdir -p a/b; touch a/one a/b/two; ln -s /nowhere a/link"}, {**file, "copy"}));
  }
  CHECK(folder.files() == 0);
}

TEST_CASE("a place that cannot be written is named") {
  Folder folder;
  std::string path = "/proc/missing/out";
  CHECK(llvm::toString(test::writeFile(path, text(""))) ==
        path + ": cannot be written: No such file or directory; name another place");
  CHECK(llvm::toString(test::writeFile(folder.path(""), text(""))).find("Is a directory") != std::string::npos);
  CHECK(llvm::toString(test::writeFile("/dev/full", text("x"))).find("No space left") != std::string::npos);
}

TEST_CASE("any name that a file can have will do") {
  Folder folder;
  for (const char *name : {"a%20b", "-o", "@x", "two\nlines", "it's \"x\" \\"}) {
    REQUIRE(!test::writeFile(folder.path(name), text("new")));
    CHECK(folder.read(name) == "new");
  }
  std::string longest(255, 'x');
  REQUIRE(!test::writeFile(folder.path(longest), text("new")));
  CHECK(folder.files() == 6);
}

TEST_CASE("an output has the rights that the user's mask gives, on its way nobody else can see it") {
  Folder folder;
  mode_t mask = umask(0027);
  package::Outputs outputs;
  llvm::Expected<package::StagedFile *> file = outputs.add(folder.path("out"));
  REQUIRE(bool(file));
  REQUIRE(!(*file)->fill(text("new")));
  struct stat status;
  REQUIRE(stat((*file)->folder().str().c_str(), &status) == 0);
  CHECK((status.st_mode & 0777) == 0700);
  REQUIRE(!outputs.commit());
  umask(mask);
  REQUIRE(stat(folder.path("out").c_str(), &status) == 0);
  CHECK((status.st_mode & 0777) == 0640);
}

TEST_CASE("a link at an output's name is replaced, not followed") {
  Folder folder;
  folder.write("victim", "precious");
  REQUIRE(symlink("victim", folder.path("out").c_str()) == 0);
  REQUIRE(!test::writeFile(folder.path("out"), text("new")));
  CHECK(folder.read("out") == "new");
  CHECK(folder.read("victim") == "precious");
}

TEST_CASE("several outputs have their names together") {
  Folder folder;
  folder.write("old", "old");
  package::Outputs outputs;
  REQUIRE(!outputs.write(folder.path("old"), text("new")));
  REQUIRE(!outputs.write(folder.path("other"), text("too")));
  CHECK(folder.read("old") == "old");
  CHECK(folder.read("other") == "(no file)");
  REQUIRE(!outputs.commit());
  CHECK(folder.read("old") == "new");
  CHECK(folder.read("other") == "too");
  CHECK(folder.files() == 2);
}

TEST_CASE("where one output cannot have its name, none has") {
  Folder folder;
  folder.write("old", "old");
  {
    package::Outputs outputs;
    for (const char *name : {"old", "fresh", "taken"})
      REQUIRE(!outputs.write(folder.path(name), text("new")));
    REQUIRE(!llvm::sys::fs::create_directory(folder.path("taken")));
    CHECK(llvm::toString(outputs.commit()) ==
          folder.path("taken") + ": cannot be written: Is a directory; name another place");
  }
  CHECK(folder.read("old") == "old");
  CHECK(folder.read("fresh") == "(no file)");
  CHECK(folder.files() == 2);
}

TEST_CASE("missing folders are made when outputs get their names, all or none") {
  Folder folder;
  {
    package::Outputs outputs;
    for (const char *name : {"a/b/one", "a/c/two", "taken"})
      REQUIRE(!outputs.write(folder.path(name), text("new")));
    CHECK(!llvm::sys::fs::exists(folder.path("a")));
    REQUIRE(!llvm::sys::fs::create_directory(folder.path("taken")));
    CHECK(llvm::toString(outputs.commit()).find("Is a directory") != std::string::npos);
  }
  CHECK(folder.files() == 1);
  package::Outputs outputs;
  for (const char *name : {"a/b/one", "a/c/two"})
    REQUIRE(!outputs.write(folder.path(name), text("new")));
  REQUIRE(!outputs.commit());
  CHECK(folder.read("a/b/one") == "new");
  CHECK(folder.read("a/c/two") == "new");
}

TEST_CASE("a program that is run works in the output's folder and leaves nothing elsewhere") {
  Folder folder;
  package::Outputs outputs;
  llvm::Expected<package::StagedFile *> file = outputs.add(folder.path("out"));
  REQUIRE(bool(file));
  REQUIRE(!(*file)->fillPart("words", text("from a part")));
  REQUIRE(!package::spawn("sh", {"-c", "cat > output; test $TMPDIR = ."}, {**file, "copy", "words"}));
  REQUIRE(!outputs.commit());
  CHECK(folder.read("out") == "from a part");
  CHECK(folder.files() == 1);
}

TEST_CASE("a program's failure is told in its own words") {
  Folder folder;
  package::Outputs outputs;
  llvm::Expected<package::StagedFile *> file = outputs.add(folder.path("out"));
  REQUIRE(bool(file));
  auto words = [&](const char *script) {
    return llvm::toString(package::spawn("sh", {"-c", script}, {**file, "link"}))
        .substr(folder.path("out: cannot link: ").size());
  };
  CHECK(words("echo 'ld: final link failed: No space left on device'; echo 'collect2: error: ld returned 1'; exit 1") ==
        "ld: final link failed: No space left on device; see whether 'sh' works by itself");
  CHECK(words("echo 'collect2: error: ld returned 1'; exit 1") ==
        "collect2: error: ld returned 1; see whether 'sh' works by itself");
  const char *silent = "sh ended with status 3 and gave no reason; see what it is and whether it works by itself";
  CHECK(words("exit 3") == silent);
  CHECK(words("ls >&2; exit 3") == silent); // so what it says needs no room where the disk may be full
  CHECK(words("kill -9 $$") == "sh was ended by signal 9");
}
