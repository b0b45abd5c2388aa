//===- Symbols.h - The sizes that a run has bound so far ------------------===//
#pragma once

#include "interp/HostTensor.h"
#include "view/ShapeTracker.h"

namespace kiln::interp {

class Symbols {
public:
  /// Fails if the expression has a symbol that nothing bound.
  llvm::Expected<int64_t> evaluate(view::Expr expr) const;
  llvm::Expected<Dims> evaluate(llvm::ArrayRef<view::Expr> exprs) const;

  /// The variable takes the value; fails if that is outside its bounds.
  llvm::Error bind(view::Expr variable, int64_t value);
  /// Binds the dims that are symbols not bound yet, then requires every dim to be `sizes`.
  llvm::Error match(llvm::ArrayRef<view::Expr> shape, llvm::ArrayRef<int64_t> sizes);

private:
  llvm::DenseMap<view::Expr, int64_t> values_;
};

} // namespace kiln::interp
