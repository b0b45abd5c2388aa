//===- SharedSizes.h - Sizes that a file gives one name ----------------------===//
//
// A name of a size is a hint. Exporters give one to sizes that are equal, but also to sizes of which they know nothing,
// and other runtimes do not look whether inputs keep to it. So each input has a size of its own at first, whatever it
// is called. Where an operator brings two sizes of one name together they are one, and the model is imported anew with
// what was learnt, so that all that follows from their being equal is known from the first node on.
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

/// Whether exporters write this for a size of which they know nothing. It says nothing of other sizes called so.
bool isPlaceholder(llvm::StringRef name);

/// The symbols for sizes to which a file gives one name.
class SharedSizes {
public:
  /// Symbols of one input and of one name are the same; the first of a name comes first.
  void add(llvm::StringRef symbol, llvm::StringRef name) { names_.insert({symbol.str(), name.str()}); }

  /// Adds to `joined` those of one name that an op of the module has together; false where there are none.
  bool joinMet(mlir::ModuleOp module, JoinedSizes &joined) const;
  /// Adds all that have one name; false where there are none.
  bool joinAll(JoinedSizes &joined) const;

private:
  llvm::MapVector<std::string, std::string, llvm::StringMap<unsigned>> names_;
};

} // namespace kiln::import::onnx
