#include "interp/Symbols.h"

#include "support/Error.h"

using namespace kiln;
using namespace kiln::interp;
using view::Expr;

llvm::Expected<int64_t> Symbols::evaluate(Expr expr) const {
  if (std::optional<int64_t> value = expr.evaluate(values_))
    return *value;
  return failure("the size " + llvm::Twine(expr.render()) + " is not known: no input or bind gives its symbols");
}

llvm::Expected<Dims> Symbols::evaluate(llvm::ArrayRef<Expr> exprs) const {
  Dims sizes;
  for (Expr expr : exprs) {
    llvm::Expected<int64_t> size = evaluate(expr);
    if (!size)
      return size.takeError();
    sizes.push_back(*size);
  }
  return sizes;
}

llvm::Error Symbols::bind(Expr variable, int64_t value) {
  if (value < variable.min() || value > variable.max())
    return failure("'" + variable.name() + "' is " + llvm::Twine(value) + ", outside its bounds of " +
                       llvm::Twine(variable.min()) + " to " + llvm::Twine(variable.max()),
                   "see --dim");
  values_[variable] = value;
  return llvm::Error::success();
}

llvm::Error Symbols::match(llvm::ArrayRef<Expr> shape, llvm::ArrayRef<int64_t> sizes) {
  if (shape.size() != sizes.size())
    return failure("it has rank " + llvm::Twine(sizes.size()) + " where " + llvm::Twine(shape.size()) + " is declared");
  for (auto [dim, size] : llvm::zip(shape, sizes))
    if (dim.kind() == Expr::Kind::Var && !values_.contains(dim))
      if (llvm::Error error = bind(dim, size))
        return error;
  for (auto [axis, dim] : llvm::enumerate(shape)) {
    llvm::Expected<int64_t> wanted = evaluate(dim);
    if (!wanted)
      return wanted.takeError();
    if (*wanted != sizes[axis])
      return failure("its size along axis " + llvm::Twine(axis) + " is " + llvm::Twine(sizes[axis]) + " where " +
                     dim.render() + (dim.isConst() ? "" : " = " + std::to_string(*wanted)) + " is declared");
  }
  return llvm::Error::success();
}
