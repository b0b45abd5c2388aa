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
      llvm::SmallVector<unsigned> found;
      collect(check.getCondition().getValue(), found);
      join(found);
    } else if (auto loop = llvm::dyn_cast<graph::LoopOp>(op)) {
      mlir::Block &body = loop.getBody().front();
      Operation *yield = body.getTerminator();
      for (auto [i, init] : llvm::enumerate(loop.getInits()))
        join({init, body.getArgument(1 + i), yield->getOperand(1 + i), loop->getResult(i)});
    } else if (auto branch = llvm::dyn_cast<graph::IfOp>(op)) {
      for (auto [i, result] : llvm::enumerate(branch->getResults()))
        join({result, branch.getThenRegion().front().getTerminator()->getOperand(i),
              branch.getElseRegion().front().getTerminator()->getOperand(i)});
    } else if (!op->hasTrait<mlir::OpTrait::IsTerminator>() && !llvm::isa<mlir::func::FuncOp, mlir::ModuleOp>(op)) {
      llvm::SmallVector<Value> values(op->operand_begin(), op->operand_end());
      llvm::append_range(values, op->getResults());
      join(values);
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
  /// The expression's symbols that share a name with others. A sum of two of these, as of a concatenation, does not
  /// need them equal.
  void collect(Expr expression, llvm::SmallVectorImpl<unsigned> &found) const {
    expression.forEachVariable([&](Expr variable) {
      if (auto place = order_.find(variable.name()); place != order_.end())
        found.push_back(place->second);
    });
  }
  bool haveOneName(unsigned one, unsigned other) const {
    return one != other && (names_.begin() + one)->second == (names_.begin() + other)->second;
  }
  void join(llvm::ArrayRef<unsigned> found) {
    for (unsigned one : found)
      for (unsigned other : found)
        if (haveOneName(one, other))
          classes_.unionSets(one, other);
  }
  void join(llvm::ArrayRef<Value> values) {
    llvm::SmallVector<unsigned> all;
    for (Value value : values)
      for (Expr size : shapeOf(value)) {
        llvm::SmallVector<unsigned> own;
        collect(size, own);
        bool isSum = size.kind() == Expr::Kind::Add && llvm::any_of(own, [&](unsigned one) {
                       return llvm::any_of(own, [&](unsigned other) { return haveOneName(one, other); });
                     });
        if (!isSum)
          all.append(own);
      }
    join(all);
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
