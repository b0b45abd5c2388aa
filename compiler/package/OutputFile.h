//===- OutputFile.h - Files that appear whole or not at all -------------------------===//
#pragma once

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/raw_ostream.h"

namespace kiln::package {

/// The name of a new, empty file beside an output, which is removed at the end of its life, or when a signal ends the
/// process.
class TemporaryFile {
public:
  /// `suffix` ends the name: ".o". A folder that cannot be written is an error which names `output`.
  static llvm::Expected<TemporaryFile> beside(llvm::StringRef output, llvm::StringRef suffix);
  TemporaryFile(TemporaryFile &&other) noexcept : path_(std::move(other.path_)) { other.path_.clear(); }
  TemporaryFile &operator=(TemporaryFile &&) = delete;
  ~TemporaryFile();

  llvm::StringRef path() const { return path_; }
  /// Opens the file, lets `write` fill it and closes it.
  llvm::Error fill(llvm::function_ref<llvm::Error(llvm::raw_ostream &)> write);
  /// Gives the file its final name, replacing what is there.
  llvm::Error moveTo(llvm::StringRef output);

private:
  explicit TemporaryFile(llvm::StringRef path) : path_(path) {}
  llvm::SmallString<128> path_; // empty: it has moved
};

/// Writes `path` in whole; "-" is standard output, and a path that is no regular file (/dev/null, a pipe) is written to
/// as it is. What cannot be written is an error that names `path`.
llvm::Error writeFile(llvm::StringRef path, llvm::function_ref<llvm::Error(llvm::raw_ostream &)> write);

} // namespace kiln::package
