//===- OutputFile.h - Files that appear whole or not at all -------------------------===//
//
// A command makes its output in a folder of its own next to the output's place. The output gets its name when all of
// the command's outputs are whole and on the disk. Only the owner may enter the folder, so nobody can put a link in the
// way, and its files have plain names whatever the output's name is. A command that fails, or that a signal ends,
// removes the folder; only SIGKILL and a loss of power leave it there.
//
//===--------------------------------------------------------------------------------===//
#pragma once

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/raw_ostream.h"

#include <memory>
#include <string>
#include <vector>

namespace kiln::package {

using Writer = llvm::function_ref<llvm::Error(llvm::raw_fd_ostream &)>;

/// An unfinished output, in a folder of its own that is removed with it.
class StagedFile {
public:
  /// In the folder of the file `output`, or while that is missing in the nearest one around it. A folder that cannot be
  /// written is an error which names `output`.
  static llvm::Expected<std::unique_ptr<StagedFile>> beside(llvm::StringRef output);
  /// In the folder for temporary files, which TMPDIR names: for files that are used and never moved. `name` is their
  /// name in errors; if the folder cannot be written, they name that.
  static llvm::Expected<std::unique_ptr<StagedFile>> temporary(llvm::StringRef name);
  StagedFile(const StagedFile &) = delete;
  StagedFile &operator=(const StagedFile &) = delete;
  ~StagedFile();

  llvm::StringRef output() const { return output_; }
  llvm::StringRef folder() const { return folder_; }
  /// The path of the unfinished file. It is the only file of the folder that is kept.
  std::string path() const { return part("output"); }
  /// The path of a part that the output is made of. The name is plain.
  std::string part(llvm::StringRef name) const { return (folder_ + "/" + name).str(); }

  /// Makes the file, or one of its parts, from the output of `write`. Errors name the output.
  llvm::Error fill(Writer write) const { return fillPart("output", write); }
  llvm::Error fillPart(llvm::StringRef name, Writer write) const;

  /// Its place cannot be written, by the file's folder or by the program that makes a part of it.
  llvm::Error cannotWrite(std::error_code cause) const;
  bool isTemporary() const { return isTemporary_; }

private:
  StagedFile(llvm::StringRef output, llvm::StringRef folder, bool isTemporary);
  std::string output_;
  bool isTemporary_;
  llvm::SmallString<128> folder_;
};

/// The outputs of one command.
class Outputs {
public:
  /// A file that commit() moves to `path`, valid as long as this.
  llvm::Expected<StagedFile *> add(llvm::StringRef path);
  /// Adds a file with the output of `write`. "-" is standard output, and a path that is not a regular file (/dev/null,
  /// a pipe) is written to directly, at once.
  llvm::Error write(llvm::StringRef path, Writer write);
  /// Gives all files their names, replacing older files; a link is replaced, not followed. Makes missing folders. If
  /// one cannot have its name, none has.
  llvm::Error commit();

private:
  std::vector<std::unique_ptr<StagedFile>> files_;
};

} // namespace kiln::package
