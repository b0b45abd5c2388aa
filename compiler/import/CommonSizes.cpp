#include "import/CommonSizes.h"

#include "ir/graph/Graph.h"

using namespace kiln;
using namespace kiln::import;
using namespace mlir;
using view::Expr;

static Expr isEqual(Expr a, Expr b) { return view::logicalAnd({view::greaterEqual(a, b), view::greaterEqual(b, a)}); }

static Expr bindTo(Expr symbol, Expr value, OpBuilder &builder, Location location) {
  auto scalar = tensorType({}, builder.getI64Type());
  Value size = graph::SizeOp::create(builder, location, scalar, ExprAttr::get(builder.getContext(), value));
  int64_t usual = std::clamp<int64_t>(1, symbol.min(), symbol.max());
  graph::BindOp::create(builder, location,
                        SymbolAttr::get(builder.getContext(), symbol.name(), symbol.min(), symbol.max(), usual), size);
  return symbol;
}

Expr CommonSizes::read(llvm::StringRef name, Value scalar, SymbolBounds bounds, OpBuilder &builder, Location location,
                       llvm::StringRef meaning) {
  Expr symbol = symbols_.fresh(name, bounds);
  auto attribute = SymbolAttr::get(builder.getContext(), symbol.name(), bounds.min, bounds.max, bounds.value);
  graph::BindOp::create(builder, location, attribute, scalar,
                        meaning.empty() ? StringAttr() : builder.getStringAttr(meaning));
  return symbol;
}

Expr CommonSizes::named(llvm::StringRef name, Expr value, SymbolBounds bounds, OpBuilder &builder, Location location) {
  if (value.isConst() || value.kind() == Expr::Kind::Var)
    return value;
  if (Expr known = names_.lookup(value); known != Expr())
    return known;
  bool isOfInputs = true;
  value.forEachVariable([&](Expr symbol) { isOfInputs &= symbols_.isKept(symbol.name()); });
  OpBuilder::InsertionGuard guard(builder);
  if (isOfInputs) {
    if (last_)
      builder.setInsertionPointAfter(last_);
    else
      builder.setInsertionPointToStart(entry_);
    Expr symbol = bindTo(symbols_.keep(name, bounds), value, builder, location);
    last_ = &*std::prev(builder.getInsertionPoint());
    return names_[value] = symbol;
  }
  for (auto bind : builder.getInsertionBlock()->getOps<graph::BindOp>())
    if (auto size = bind.getValue().getDefiningOp<graph::SizeOp>(); size && size.getSize().getValue() == value)
      return Expr::variable(bind.getSymbol().getName(), bind.getSymbol().getMin(), bind.getSymbol().getMax());
  return bindTo(symbols_.fresh(name, bounds), value, builder, location);
}

Expr CommonSizes::of(Expr a, Expr b, llvm::StringRef node, OpBuilder &builder, Location location) {
  // The larger one, but 0 where the other is 0: that is 1 then. Nothing is multiplied, which could pass 64 bits.
  bool isEmptyNever = a.min() >= 1 && b.min() >= 1;
  Expr larger = view::maximum(a, b), size = isEmptyNever ? larger : larger * view::minimum(view::minimum(a, b), 1);
  SymbolBounds bounds;
  bounds.min = isEmptyNever ? larger.min() : 0;
  bounds.max = larger.max();
  Expr symbol = named((node + ".common").str(), size, bounds, builder, location);
  llvm::SmallVector<Expr> parts;
  for (Expr part : {a, b}) {
    parts.push_back(part);
    if (auto known = parts_.find(part); known != parts_.end())
      llvm::append_range(parts, known->second);
  }
  parts_[symbol] = parts;
  return symbol;
}

bool CommonSizes::isPart(Expr part, Expr whole) const {
  auto known = parts_.find(whole);
  return known != parts_.end() && llvm::is_contained(known->second, part);
}

Expr CommonSizes::stepOf(Expr part, Expr whole, llvm::StringRef node, OpBuilder &builder, Location location) {
  SymbolBounds bounds;
  bounds.min = 0;
  bounds.max = 1;
  return named((node + ".step").str(), isEqual(part, whole), bounds, builder, location);
}
