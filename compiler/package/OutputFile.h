//===- OutputFile.h - Files that appear whole or not at all -------------------------===//
//
// What a command makes is made in a folder of its own beside the place where it is to lie, and gets its name when all
// of the command's outputs are whole and on the disk. The folder is open to its owner alone, so nobody can put a link
// in the way, and its files have plain names whatever the output is called. A command that fails, or that a signal
// ends, takes it away with all it holds; only SIGKILL and a loss of power leave it there.
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

/// An output on its way, in a folder of its own that goes with it.
class StagedFile {
public:
  /// Beside the file `output`. A folder that cannot be written is an error which names `output`.
  static llvm::Expected<std::unique_ptr<StagedFile>> beside(llvm::StringRef output);
  /// In the folder for temporary files, which TMPDIR names: for what is used and never moved. `name` is what errors
  /// call it; where the folder cannot be written, they name that.
  static llvm::Expected<std::unique_ptr<StagedFile>> temporary(llvm::StringRef name);
  StagedFile(const StagedFile &) = delete;
  StagedFile &operator=(const StagedFile &) = delete;
  ~StagedFile();

  llvm::StringRef output() const { return output_; }
  llvm::StringRef folder() const { return folder_; }
  /// Where the file is made. It is the only file of the folder that is kept.
  std::string path() const { return part("output"); }
  /// Where something is made that the output is made of. The name is plain.
  std::string part(llvm::StringRef name) const { return (folder_ + "/" + name).str(); }

  /// Makes the file, or one of its parts, of what `write` gives. Errors name the output.
  llvm::Error fill(Writer write) const { return fillPart("output", write); }
  llvm::Error fillPart(llvm::StringRef name, Writer write) const;

  /// Where it lies cannot be written, by the file's folder or by who is to make a part of it.
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
  /// Adds a file of what `write` gives. "-" is standard output, and a path that is not a regular file (/dev/null, a
  /// pipe) is written to as it is, at once.
  llvm::Error write(llvm::StringRef path, Writer write);
  /// Gives all files their names, replacing what is there; a link is replaced, not followed. Where one cannot have its
  /// name, none has.
  llvm::Error commit();

private:
  std::vector<std::unique_ptr<StagedFile>> files_;
};

} // namespace kiln::package
