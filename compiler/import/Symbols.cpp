#include "import/Symbols.h"

#include "ir/base/Base.h"
#include "support/Error.h"
#include "support/Nearest.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/StringExtras.h"

using namespace kiln;
using namespace kiln::import;
using view::Expr;

/// max if `size` is k·symbol + c and at most `most`, k positive: then the symbol is at most that.
static std::optional<std::pair<llvm::StringRef, int64_t>> limitOf(Expr size, int64_t most) {
  llvm::SmallVector<Expr, 2> variables;
  size.forEachVariable([&](Expr variable) { variables.push_back(variable); });
  if (variables.size() != 1)
    return std::nullopt;
  std::optional<int64_t> zero = size.evaluate({{variables[0], 0}}), one = size.evaluate({{variables[0], 1}});
  if (!zero || !one || *one <= *zero || size != variables[0] * (*one - *zero) + *zero || most < *zero)
    return std::nullopt;
  return std::pair(variables[0].name(), (most - *zero) / (*one - *zero));
}

bool kiln::import::limitToEqual(Expr a, Expr b, SymbolLimits &limits) {
  for (auto [cut, whole] : {std::pair(a, b), std::pair(b, a)}) {
    if (cut.kind() != Expr::Kind::Min || !llvm::is_contained(cut.operands(), whole))
      continue;
    Expr most = cut.operands()[cut.operands()[0] == whole ? 1 : 0];
    std::optional<std::pair<llvm::StringRef, int64_t>> limit;
    if (most.isConst())
      limit = limitOf(whole, most.constant());
    if (!limit)
      continue;
    auto [known, isNew] = limits.try_emplace(limit->first, limit->second);
    if (isNew || limit->second < known->second) {
      known->second = limit->second;
      return true;
    }
  }
  return false;
}

SymbolBounds Symbols::boundsOf(llvm::StringRef name) const {
  if (auto given = options_.dims.find(name); given != options_.dims.end())
    return given->second;
  SymbolBounds bounds;
  if (auto given = declared_.find(name); given != declared_.end())
    bounds = given->second;
  if (auto limit = limits_.find(name); limit != limits_.end())
    bounds.max = std::min(bounds.max, limit->second);
  return bounds;
}

Expr Symbols::symbol(llvm::StringRef name, SymbolBounds bounds) {
  if (!llvm::is_contained(asked_, name))
    asked_.push_back(name.str());
  if (bounds.min == bounds.max)
    return bounds.min;
  used_.insert({name.str(), bounds});
  return Expr::variable(name, bounds.min, bounds.max);
}

Expr Symbols::symbol(llvm::StringRef name) { return symbol(name, boundsOf(name)); }

Expr Symbols::symbolLike(llvm::StringRef name, llvm::StringRef like) {
  if (options_.dims.contains(name))
    return symbol(name);
  SymbolBounds bounds = boundsOf(like);
  if (auto limit = limits_.find(name); limit != limits_.end() && !options_.dims.contains(like))
    bounds.max = std::min(bounds.max, limit->second);
  return symbol(name, bounds);
}

const SymbolBounds *Symbols::given(llvm::StringRef name) {
  auto found = options_.dims.find(name);
  if (found == options_.dims.end())
    return nullptr;
  if (!llvm::is_contained(asked_, name))
    asked_.push_back(name.str());
  return &found->second;
}

/// kiln's names for the axes, loops and chunks of kernels.
static bool isReserved(llvm::StringRef name) {
  if (!name.consume_front("_"))
    return false;
  llvm::StringRef word = name.take_while(llvm::isAlpha), number = name.drop_front(word.size());
  return (!number.empty() && llvm::all_of(number, llvm::isDigit) &&
          llvm::is_contained({"x", "i", "at", "row"}, word)) ||
         name == "chunk" || name == "turn";
}

std::string Symbols::unused(llvm::StringRef name) const {
  std::string unique = name.str();
  for (unsigned i = 1; used_.contains(unique) || kept_.contains(unique) || isReserved(unique); ++i)
    unique = (name + "." + llvm::Twine(i)).str();
  return unique;
}

Expr Symbols::fresh(llvm::StringRef name, SymbolBounds bounds) {
  std::string unique = unused(name);
  used_.insert({unique, bounds});
  return Expr::variable(unique, bounds.min, bounds.max);
}

Expr Symbols::freshSize(const std::string &name, size_t axis, int64_t min, int64_t max) {
  SymbolBounds bounds;
  bounds.min = std::max<int64_t>(min, 0);
  bounds.max = std::clamp(max, bounds.min, bounds.max);
  bounds.value = std::clamp(bounds.value, bounds.min, bounds.max);
  return fresh(name + ".dim" + std::to_string(axis), bounds);
}

Expr Symbols::keep(llvm::StringRef name, SymbolBounds bounds) {
  std::string unique = unused(name);
  kept_.insert({unique, bounds});
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
    newer |= !kept_.contains(variable.name().str()) && size_t(place - used_.begin()) >= count;
  });
  return newer;
}

llvm::Expected<Expr> Symbols::parse(llvm::StringRef text) {
  llvm::Expected<Expr> parsed = Expr::parse(text);
  if (!parsed)
    return failure(llvm::toString(parsed.takeError()),
                   "write a size as a number, a name of letters, digits, _ and ., or an expression of these");
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
      return usageError("--dim names '" + dim.first() + "', which is not a size of the model",
                        asked_.empty() ? "it has none" : "it has " + llvm::join(asked_, ", "));
  return llvm::Error::success();
}

llvm::Error Symbols::checkNames() const {
  for (const std::string &name : asked_)
    if (isReserved(name))
      return failure("size '" + name + "': kiln calls loops so", "give the size another name");
  return llvm::Error::success();
}

llvm::Error Symbols::checkDeclared() const {
  llvm::SmallVector<llvm::StringRef> unused;
  for (const auto &declared : declared_)
    if (!llvm::is_contained(asked_, declared.first()))
      unused.push_back(declared.first());
  if (unused.empty())
    return llvm::Error::success();
  llvm::StringRef name = *llvm::min_element(unused);
  return failure(
      "symbol '" + name + "' is in no size of the model",
      didYouMean(name, llvm::to_vector_of<llvm::StringRef>(asked_), "use it in an input's shape, or remove it"));
}

mlir::ArrayAttr Symbols::attribute(mlir::MLIRContext *context) const {
  llvm::SmallVector<mlir::Attribute> attributes;
  for (const Bounds *all : {&used_, &kept_})
    for (const auto &[name, bounds] : *all)
      attributes.push_back(SymbolAttr::get(context, name, bounds.min, bounds.max, bounds.value));
  return mlir::ArrayAttr::get(context, attributes);
}
