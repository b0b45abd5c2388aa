#include "CompiledC.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"

#include <catch2/catch.hpp>

#include <dlfcn.h>

using namespace kiln;

test::CompiledC::CompiledC(llvm::StringRef compiler, llvm::StringRef source, llvm::ArrayRef<std::string> flags) {
  REQUIRE_FALSE(llvm::sys::fs::createUniqueDirectory("kiln-render", folder_));
  auto path = [&](llvm::StringRef name) { return (folder_ + "/" + name).str(); };
  std::error_code failed;
  llvm::raw_fd_ostream(path("kernels.c"), failed) << source;
  REQUIRE_FALSE(failed);

  llvm::ErrorOr<std::string> program = llvm::sys::findProgramByName(compiler);
  REQUIRE(program);
  std::vector<std::string> words = {
      compiler.str(), "-std=c11", "-Wall", "-Wextra",          "-Werror",        "-O2", "-fwrapv", "-ffp-contract=off",
      "-shared",      "-fPIC",    "-o",    path("kernels.so"), path("kernels.c")};
  words.insert(words.end(), flags.begin(), flags.end());
  words.push_back("-lm");
  std::vector<llvm::StringRef> arguments(words.begin(), words.end());
  std::string messages = path("messages");
  std::optional<llvm::StringRef> redirects[] = {std::nullopt, llvm::StringRef(messages), llvm::StringRef(messages)};
  int status = llvm::sys::ExecuteAndWait(*program, arguments, std::nullopt, redirects);
  auto text = llvm::MemoryBuffer::getFile(messages);
  INFO(source.str());
  INFO((text ? (*text)->getBuffer().str() : ""));
  REQUIRE(status == 0);
  library_ = dlopen(path("kernels.so").c_str(), RTLD_NOW | RTLD_LOCAL);
  REQUIRE(library_);
}

test::CompiledC::~CompiledC() {
  if (library_)
    dlclose(library_);
  llvm::sys::fs::remove_directories(folder_);
}

void *test::CompiledC::address(const char *name) const {
  void *found = dlsym(library_, name);
  REQUIRE(found);
  return found;
}
