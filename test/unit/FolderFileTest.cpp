#include "support/FolderFile.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"

#include <catch2/catch.hpp>
#include <sys/stat.h>
#include <unistd.h>

using kiln::PathWalk;

namespace {

/// A folder "model" with a file "w", in a folder with a file "secret".
class Folders {
public:
  Folders() {
    REQUIRE_FALSE(llvm::sys::fs::createUniqueDirectory("kiln-folder", root_));
    REQUIRE(mkdir(model().c_str(), 0700) == 0);
    write("secret", "outside");
    write("model/w", "inside");
  }
  ~Folders() { llvm::sys::fs::remove_directories(root_); }

  std::string path(llvm::StringRef name) const { return (root_ + "/" + name).str(); }
  std::string model() const { return path("model"); }
  void write(llvm::StringRef name, llvm::StringRef text) const {
    std::error_code error;
    llvm::raw_fd_ostream(path(name), error) << text;
    REQUIRE_FALSE(error);
  }
  void link(const char *target, llvm::StringRef name) const {
    REQUIRE(symlink(target, (model() + "/" + name).str().c_str()) == 0);
  }
  /// What the file holds, or the error.
  std::string map(llvm::StringRef name, PathWalk walk = PathWalk::ByKernel) const {
    auto buffer = kiln::mapInFolder(model(), name, walk);
    return buffer ? (*buffer)->getBuffer().str() : llvm::toString(buffer.takeError());
  }

private:
  llvm::SmallString<128> root_;
};

constexpr char kOutside[] = "is outside the model's folder; move it into that folder";
constexpr char kIrregular[] = "is not a regular file; put the file itself there";

} // namespace

TEST_CASE("a file of the folder, and of one in it") {
  Folders folders;
  REQUIRE(mkdir((folders.model() + "/sub").c_str(), 0700) == 0);
  folders.write("model/sub/v", "deeper");
  for (PathWalk walk : {PathWalk::ByKernel, PathWalk::BySteps}) {
    CHECK(folders.map("w", walk) == "inside");
    CHECK(folders.map("sub/v", walk) == "deeper");
    CHECK(folders.map("./sub//v", walk) == "deeper");
    CHECK(folders.map("none", walk) ==
          "cannot be read: No such file or directory; it has to lie in the model's folder");
  }
}

TEST_CASE("names that leave the folder") {
  Folders folders;
  CHECK(folders.map("../secret") == kOutside);
  CHECK(folders.map("../model/w") == kOutside);
  CHECK(folders.map(folders.path("secret")) == kOutside);
  CHECK(folders.map("") == kOutside);
  CHECK(folders.map(llvm::StringRef("w\0x", 3)) == kOutside);
}

TEST_CASE("a link is followed within the folder alone") {
  Folders folders;
  folders.link("w", "near");
  folders.link("../secret", "far");
  folders.link("../no such file", "nowhere");
  folders.link("/etc/shadow", "forbidden");
  folders.link("..", "up");
  CHECK(folders.map("near") == "inside");
  for (const char *name : {"far", "nowhere", "forbidden", "up/secret"})
    CHECK(folders.map(name) == kOutside); // the same, whatever is there
  for (const char *name : {"near", "far", "nowhere", "forbidden", "up/secret"})
    CHECK(llvm::StringRef(folders.map(name, PathWalk::BySteps)).starts_with("cannot be read: "));
}

TEST_CASE("what is not a regular file is not read") {
  Folders folders;
  REQUIRE(mkfifo((folders.model() + "/pipe").c_str(), 0600) == 0);
  REQUIRE(mkdir((folders.model() + "/sub").c_str(), 0700) == 0);
  folders.link("/dev/zero", "endless");
  for (PathWalk walk : {PathWalk::ByKernel, PathWalk::BySteps}) {
    CHECK(folders.map("pipe", walk) == kIrregular);
    CHECK(folders.map("sub", walk) == kIrregular);
  }
  CHECK(folders.map("endless") == kOutside);
  CHECK(llvm::toString(kiln::openRegularFile("/dev/zero").takeError()) == kIrregular);
}

TEST_CASE("the root folder is a folder like any other") {
  auto buffer = kiln::mapInFolder("/", "etc/passwd");
  CHECK(bool(buffer));
  llvm::consumeError(buffer.takeError());
}
