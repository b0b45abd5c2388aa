//===- Symbols.h - The named sizes of a model -------------------------------===//
//
// A size that is not known yet is an expression over symbols. A symbol's bounds and default come from --dim if given,
// else from the file, else they are 0 to 2^31-1 and 1. A name in --dim has to be a size of the model. So the names that
// were asked for are kept, even those that --dim made numbers.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "import/Import.h"
#include "view/Expr.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/ADT/MapVector.h"

namespace kiln::import {

/// The most that named sizes can be for the model to make sense, whatever it is run with.
using SymbolLimits = llvm::StringMap<int64_t>;

/// Two sizes have to be equal. If one is the other cut off at a number, as a table of positions is, the other's symbol
/// is no larger. Adds that to `limits`; false if nothing follows that they do not say.
bool limitToEqual(view::Expr a, view::Expr b, SymbolLimits &limits);

class Symbols {
public:
  /// --dim of a symbol takes precedence over `limits`.
  explicit Symbols(const ImportOptions &options, const SymbolLimits &limits = {})
      : options_(options), limits_(limits) {}

  /// The file's declaration of a symbol; --dim overrides it. Call this before the symbol's first use.
  void declare(llvm::StringRef name, SymbolBounds bounds) { declared_[name] = bounds; }

  /// The symbol of this name: a constant if its bounds leave one value.
  view::Expr symbol(llvm::StringRef name);

  /// The symbol `name` within these bounds.
  view::Expr symbol(llvm::StringRef name, SymbolBounds bounds);

  /// The symbol `name`, which has the bounds of `like` unless --dim names it.
  view::Expr symbolLike(llvm::StringRef name, llvm::StringRef like);

  /// The value of --dim for a size of this name, which then counts as a size of the model; null without one.
  const SymbolBounds *given(llvm::StringRef name);

  /// Whether --dim can name it: it is a size of the model's inputs.
  bool isDim(llvm::StringRef name) const { return llvm::is_contained(asked_, name); }

  const SymbolLimits &limits() const { return limits_; }
  const ImportOptions &options() const { return options_; }

  /// A new symbol, named `name` or, if that is taken, name.1, name.2 …
  view::Expr fresh(llvm::StringRef name, SymbolBounds bounds);

  /// A new symbol for an axis of the tensor `name`, within these bounds as far as they make sense for a size.
  view::Expr freshSize(const std::string &name, size_t axis, int64_t min, int64_t max);

  /// Reads a size such as "batch*seq" or "past+1", its names replaced by symbols.
  llvm::Expected<view::Expr> parse(llvm::StringRef text);

  /// The same for the whole model: forget() does not drop it, and it is not newer than any moment.
  view::Expr keep(llvm::StringRef name, SymbolBounds bounds);
  /// Whether the name is a size of the inputs, or was made by keep().
  bool isKept(llvm::StringRef name) const { return kept_.contains(name.str()) || llvm::is_contained(asked_, name); }

  /// The number of symbols used so far; forget() drops those that came after such a moment.
  size_t count() const { return used_.size(); }
  void forget(size_t count);
  /// True if the expression holds a symbol that came after such a moment.
  bool isNewer(view::Expr size, size_t count) const;

  /// The symbols used so far, in order of first use, without those that keep() made.
  llvm::SmallVector<llvm::StringRef> names() const;

  /// A wrong use if --dim names something that is not a size of the model; ask after the last use of symbol().
  llvm::Error checkDims() const;

  /// An error if a size has kiln's name of a loop; ask then, too.
  llvm::Error checkNames() const;

  /// An error if the file declares a symbol that is in none of its sizes; ask then, too.
  llvm::Error checkDeclared() const;

  /// The same with their bounds, as the module's kiln.symbols.
  mlir::ArrayAttr attribute(mlir::MLIRContext *context) const;

private:
  SymbolBounds boundsOf(llvm::StringRef name) const;

  const ImportOptions &options_;
  const SymbolLimits limits_;
  llvm::StringMap<SymbolBounds> declared_;
  llvm::SmallVector<std::string> asked_; ///< what symbol() was asked for, also where --dim made it a number
  using Bounds = llvm::MapVector<std::string, SymbolBounds, llvm::StringMap<unsigned>>;
  std::string unused(llvm::StringRef name) const;

  Bounds used_, kept_;
};

} // namespace kiln::import
