#include "import/onnx/SharedSizes.h"

#include "ir/graph/Graph.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"

using namespace kiln;
using namespace kiln::import::onnx;
using mlir::Operation;
using mlir::Value;
using view::Expr;

bool kiln::import::onnx::isPlaceholder(llvm::StringRef name) {
  // tf2onnx numbers them. A number alone would read as a size that is given.
  bool isNumbered = name.consume_front("unk__");
  if (!name.empty() && llvm::all_of(name, llvm::isDigit))
    return true;
  if (isNumbered)
    return false;
  return llvm::StringSwitch<bool>(name.lower())
      .Cases({"", "?", "-1", "none", "null", "unk", "unknown", "undefined", "*"}, true)
      .Default(false);
}

namespace {
/// Which symbols of one name are found together.
class Meetings {
public:
  using Names = llvm::MapVector<std::string, std::string, llvm::StringMap<unsigned>>;

  explicit Meetings(const Names &names) : names_(names) {
    for (const auto &[symbol, name] : names)
      order_.try_emplace(symbol, order_.size());
  }

  void look(Operation *op) {
    if (auto check = llvm::dyn_cast<graph::CheckOp>(op)) {
      joinCompared(check.getCondition().getValue());
    } else if (auto loop = llvm::dyn_cast<graph::LoopOp>(op)) {
      mlir::Block &body = loop.getBody().front();
      Operation *yield = body.getTerminator();
      for (auto [i, init] : llvm::enumerate(loop.getInits()))
        join({init, body.getArgument(1 + i), yield->getOperand(1 + i), loop->getResult(i)});
    } else if (auto branch = llvm::dyn_cast<graph::IfOp>(op)) {
      for (auto [i, result] : llvm::enumerate(branch->getResults()))
        join({result, branch.getThenRegion().front().getTerminator()->getOperand(i),
              branch.getElseRegion().front().getTerminator()->getOperand(i)});
    }
  }

  bool addTo(JoinedSizes &joined) const {
    bool isNew = false;
    for (const auto &symbol : names_) {
      auto leader = classes_.findLeader(order_.lookup(symbol.first));
      if (leader == classes_.member_end())
        continue;
      unsigned first = *std::min_element(leader, classes_.member_end());
      if (first != order_.lookup(symbol.first))
        isNew |= joined.try_emplace(symbol.first, (names_.begin() + first)->first).second;
    }
    return isNew;
  }

private:
  using Symbols = llvm::SmallVector<unsigned, 4>;

  /// Adds the expression's symbols that share a name with others.
  void collect(Expr expression, Symbols &found) const {
    expression.forEachVariable([&](Expr variable) {
      if (auto place = order_.find(variable.name()); place != order_.end())
        found.push_back(place->second);
    });
  }
  bool haveOneName(unsigned one, unsigned other) const {
    return one != other && (names_.begin() + one)->second == (names_.begin() + other)->second;
  }
  bool hasNameTwice(llvm::ArrayRef<unsigned> symbols) const {
    return llvm::any_of(symbols, [&](unsigned one) {
      return llvm::any_of(symbols, [&](unsigned other) { return haveOneName(one, other); });
    });
  }
  /// Two sizes are one if all their symbols are. Where one has a name twice, as a concatenation's sum or a reshape's
  /// product, nothing says which of these belongs to which symbol of the other.
  void join(llvm::ArrayRef<unsigned> ones, llvm::ArrayRef<unsigned> others) {
    if (hasNameTwice(ones) || hasNameTwice(others))
      return;
    for (unsigned one : ones)
      for (unsigned other : others)
        if (haveOneName(one, other))
          classes_.unionSets(one, other);
  }
  /// Joins the symbols on both sides of each comparison.
  void joinCompared(Expr condition) {
    if (condition.isConst() || condition.kind() == Expr::Kind::Var)
      return;
    if (condition.kind() != Expr::Kind::Less) {
      for (Expr operand : condition.operands())
        joinCompared(operand);
      return;
    }
    Symbols less, more;
    for (auto [i, side] : llvm::enumerate(condition.operands())) {
      bool isSum = side.kind() == Expr::Kind::Add;
      for (Expr term : isSum ? side.operands() : llvm::ArrayRef(side))
        collect(term, (term.min() < 0) == (i == 0) ? more : less);
    }
    join(less, more);
  }
  /// Joins axes of tensors that are one.
  void join(llvm::ArrayRef<Value> values) {
    for (Value one : values)
      for (Value other : values)
        for (auto [size, otherSize] : llvm::zip(shapeOf(one), shapeOf(other))) {
          Symbols ones, others;
          collect(size, ones);
          collect(otherSize, others);
          join(ones, others);
        }
  }

  const Names &names_;
  llvm::StringMap<unsigned> order_;
  llvm::EquivalenceClasses<unsigned> classes_;
};
} // namespace

bool SharedSizes::joinMet(mlir::ModuleOp module, JoinedSizes &joined) const {
  bool areShared = llvm::any_of(names_, [](const auto &symbol) { return symbol.first != symbol.second; });
  if (!areShared)
    return false;
  Meetings meetings(names_);
  module.walk([&](Operation *op) { meetings.look(op); });
  return meetings.addTo(joined);
}

bool SharedSizes::joinAll(JoinedSizes &joined) const {
  llvm::StringMap<std::string> firsts;
  bool isNew = false;
  for (const auto &[symbol, name] : names_) {
    auto [first, isFirst] = firsts.try_emplace(name, symbol);
    if (!isFirst)
      isNew |= joined.try_emplace(symbol, first->second).second;
  }
  return isNew;
}
