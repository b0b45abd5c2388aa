#include "import/Symbols.h"

#include "ir/base/Base.h"
#include "support/Error.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/StringExtras.h"

using namespace kiln;
using namespace kiln::import;
using view::Expr;

Expr Symbols::symbol(llvm::StringRef name) {
  if (!llvm::is_contained(asked_, name))
    asked_.push_back(name.str());
  SymbolBounds bounds;
  if (auto given = declared_.find(name); given != declared_.end())
    bounds = given->second;
  if (auto given = options_.dims.find(name); given != options_.dims.end())
    bounds = given->second;
  if (bounds.min == bounds.max)
    return bounds.min;
  used_.insert({name.str(), bounds});
  return Expr::variable(name, bounds.min, bounds.max);
}

Expr Symbols::fresh(llvm::StringRef name, SymbolBounds bounds) {
  std::string unique = name.str();
  for (unsigned i = 1; used_.contains(unique); ++i)
    unique = (name + "." + llvm::Twine(i)).str();
  used_.insert({unique, bounds});
  return Expr::variable(unique, bounds.min, bounds.max);
}

void Symbols::forget(size_t count) {
  while (used_.size() > count)
    used_.pop_back();
}

bool Symbols::isNewer(Expr size, size_t count) const {
  bool newer = false;
  size.forEachVariable([&](Expr variable) {
    const auto *place = used_.find(variable.name().str());
    newer |= size_t(place - used_.begin()) >= count;
  });
  return newer;
}

llvm::Expected<Expr> Symbols::parse(llvm::StringRef text) {
  llvm::Expected<Expr> parsed = Expr::parse(text);
  if (!parsed)
    return parsed.takeError();
  llvm::DenseMap<Expr, Expr> values;
  parsed->forEachVariable([&](Expr variable) { values[variable] = symbol(variable.name()); });
  return parsed->substitute(values);
}

llvm::SmallVector<llvm::StringRef> Symbols::names() const {
  return llvm::map_to_vector(used_, [](const auto &entry) { return llvm::StringRef(entry.first); });
}

llvm::Error Symbols::checkDims() const {
  for (const auto &dim : options_.dims)
    if (!llvm::is_contained(asked_, dim.first()))
      return usageError("--dim names '" + dim.first() + "', which is no size of the model",
                        asked_.empty() ? "it has none" : "it has " + llvm::join(asked_, ", "));
  return llvm::Error::success();
}

mlir::ArrayAttr Symbols::attribute(mlir::MLIRContext *context) const {
  llvm::SmallVector<mlir::Attribute> attributes;
  for (const auto &[name, bounds] : used_)
    attributes.push_back(SymbolAttr::get(context, name, bounds.min, bounds.max, bounds.value));
  return mlir::ArrayAttr::get(context, attributes);
}
