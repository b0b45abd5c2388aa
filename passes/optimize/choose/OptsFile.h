//===- OptsFile.h - Lists of opts as text -----------------------------------------===//
//
// One line per kernel, its opts in the order in which they are applied:
//
//   r_50_37_45: VECTOR 1 8, UPCAST 0 4, THREAD 0 3
//
// Empty lines and lines that begin with # are ignored. A kernel that no line names gets the opts that kiln chooses; one
// whose line lists none stays as it was scheduled. docs/opts.md explains each opt.
//
//===------------------------------------------------------------------------------===//
#pragma once

#include "ir/kernel/Kernel.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/raw_ostream.h"

#include <optional>
#include <string>
#include <vector>

namespace kiln::optimize {

/// The attribute of a kernel that is another one, which it names, working in place: it shares that one's opts.
inline constexpr llvm::StringLiteral kInPlaceOf = "in_place_of";

/// The opts of one kernel.
struct OptsLine {
  unsigned number; ///< of the line, from 1
  std::string kernel;
  llvm::SmallVector<kernel::OptAttr> opts;
};

/// A line that cannot be read, and why.
struct OptsFault {
  unsigned number;
  std::string what;
};

/// Reads a file of opts. A line that is not of the form above, or the second one of a kernel, is `fault`; the rest
/// after it is not read.
std::vector<OptsLine> parseOptsFile(mlir::MLIRContext *context, llvm::StringRef text, std::optional<OptsFault> &fault);

/// Writes the line of each kernel of a module, with its opts. parseOptsFile's result for that gives the same module
/// again.
void printOptsFile(mlir::ModuleOp module, llvm::raw_ostream &out);

} // namespace kiln::optimize
