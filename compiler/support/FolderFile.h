//===- FolderFile.h - Files that a model names in its own folder -----------------===//
//
// A model from elsewhere may name any file: with .., as an absolute path, or through a symbolic link, which can change
// between the check and the opening. It may also name a pipe, whose opening waits, or a device that never ends. So the
// kernel itself follows the path, never past the folder, and the opened file is the one that is judged and mapped.
//
//===------------------------------------------------------------------------------===//
#pragma once

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBuffer.h"

#include <memory>

namespace kiln {

/// Whether a name, as written, is not of a file in a folder: empty, absolute, or with a step "..".
bool leavesFolder(llvm::StringRef name);

/// The remedy if a file cannot be read.
inline constexpr llvm::StringLiteral kBesideModel = "it has to lie in the model's folder";

enum class PathWalk {
  ByKernel, ///< openat2, or BySteps if the kernel has none; links within the folder are followed
  BySteps,  ///< one open per step; no link is followed
};

/// Maps the regular file `name` of `folder`; "" is the working folder. Nothing outside is opened. The error begins with
/// the file's fault, without its name: "is outside the model's folder; …".
llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>> mapInFolder(llvm::StringRef folder, llvm::StringRef name,
                                                                PathWalk walk = PathWalk::ByKernel);

/// Opens or maps a regular file, wherever it is. The error as above, with another remedy if it cannot be read.
llvm::Expected<int> openRegularFile(llvm::StringRef path, llvm::StringRef remedy = kBesideModel);
llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>> mapRegularFile(llvm::StringRef path,
                                                                   llvm::StringRef remedy = kBesideModel);

} // namespace kiln
