//===- SharedSizes.h - Sizes that a file gives one name ----------------------===//
//
// The name of a size is a hint. Exporters give equal sizes one name, but they also name sizes that they know nothing
// about, and other runtimes do not hold inputs to it. So each axis first has a size of its own, whatever its name is.
// If an operator needs two sizes of one name equal, or repeats one along the other, they become one, and the model is
// imported again: from the first node on, everything that follows from their being equal is then known.
//
//===--------------------------------------------------------------------------===//
#pragma once

#include "view/Expr.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringMap.h"

#include <string>

namespace kiln::import::onnx {

/// For sizes of inputs, by their symbols: the symbol that each is one with.
using JoinedSizes = llvm::StringMap<std::string>;

/// Whether exporters write this name for an unknown size. Two sizes with such a name need not be equal.
bool isPlaceholder(llvm::StringRef name);

/// The symbols for sizes to which a file gives one name.
class SharedSizes {
public:
  /// The first of a name comes first.
  void add(llvm::StringRef symbol, llvm::StringRef name) { names_.insert({symbol.str(), name.str()}); }

  /// Adds to `joined` the sizes of one name that a check of the module compares, or that a loop or branch makes one.
  /// Returns whether there are any.
  bool joinMet(mlir::ModuleOp module, JoinedSizes &joined) const;
  /// Adds to `joined` all sizes that share a name. Returns whether there are any.
  bool joinAll(JoinedSizes &joined) const;

private:
  llvm::MapVector<std::string, std::string, llvm::StringMap<unsigned>> names_;
};

} // namespace kiln::import::onnx
