//===- CommandTable.h - The command line's options as a manual and completions ----===//
//
// What --help prints, a manual page, docs/command-line.md and three shells' completions are one table: CLI11's. Nothing
// about an option is written twice.
//
//===------------------------------------------------------------------------------===//
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/raw_ostream.h"

#include <string>
#include <vector>

namespace CLI { // NOLINT(readability-identifier-naming)
class App;
}

namespace kiln::driver {

/// The words that an option's value may be.
struct OptionWords {
  std::string option; ///< "--emit"
  std::vector<std::string> words;
};

/// kiln(1) in the language of man.
void printManual(const CLI::App &app, llvm::StringRef version, llvm::raw_ostream &out);

/// docs/command-line.md.
void printPage(const CLI::App &app, llvm::raw_ostream &out);

/// What `shell`, one of bash, zsh and fish, reads to complete kiln's command line; another is wrong use.
llvm::Error printCompletion(const CLI::App &app, llvm::ArrayRef<OptionWords> words, llvm::StringRef shell,
                            llvm::raw_ostream &out);

} // namespace kiln::driver
