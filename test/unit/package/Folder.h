//===- Folder.h - A folder for one test ------------------------------------------===//
#pragma once

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

#include <catch2/catch.hpp>
#include <cstdlib>
#include <string>
#include <tuple>

namespace kiln::test {

/// Removed with all that is in it.
class Folder {
public:
  Folder() { REQUIRE(!llvm::sys::fs::createUniqueDirectory("kiln-test", path_)); }
  ~Folder() { std::ignore = llvm::sys::fs::remove_directories(path_); }

  std::string path(llvm::StringRef name) const {
    llvm::SmallString<128> whole(path_);
    llvm::sys::path::append(whole, name);
    return whole.str().str();
  }
  std::string read(llvm::StringRef name) const {
    auto file = llvm::MemoryBuffer::getFile(path(name));
    return file ? (*file)->getBuffer().str() : "(no file)";
  }
  void write(llvm::StringRef name, llvm::StringRef text) const {
    std::error_code error;
    llvm::raw_fd_ostream(path(name), error) << text;
    REQUIRE(!error);
  }
  size_t files() const {
    size_t count = 0;
    std::error_code error;
    for (llvm::sys::fs::directory_iterator it(path_, error), end; it != end && !error; it.increment(error))
      ++count;
    return count;
  }
  /// Runs a shell command in the folder; its exit status.
  int shell(const std::string &command) const {
    // NOLINTNEXTLINE(bugprone-command-processor): a shell is what is wanted
    return std::system(("cd '" + path_.str().str() + "' && " + command).c_str());
  }

private:
  llvm::SmallString<128> path_;
};

} // namespace kiln::test
