#include "SizeVariants.h"

#include "ir/host/Roles.h"
#include "ir/kernel/Kernel.h"
#include "ir/uop/UOp.h"
#include "support/Quote.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringExtras.h"

#include <algorithm>

using namespace kiln;
using namespace kiln::driver;
using view::Expr;

namespace {
struct Interval {
  int64_t least, most;
};
} // namespace

/// A branch that the optimizer made: what the model's own control flow becomes has the name of a node.
static mlir::scf::IfOp choiceAround(mlir::Operation *op) {
  auto branch = llvm::dyn_cast<mlir::scf::IfOp>(op->getParentOp());
  return branch && !branch->hasAttr(host::kNodeAttr) ? branch : mlir::scf::IfOp();
}

/// The number that a condition asks a size to be less than; nullopt if it is another condition.
static std::optional<int64_t> boundOf(mlir::Value condition) {
  auto compare = condition.getDefiningOp<mlir::arith::CmpIOp>();
  llvm::APInt bound;
  if (!compare || compare.getPredicate() != mlir::arith::CmpIPredicate::slt ||
      !mlir::matchPattern(compare.getRhs(), mlir::m_ConstantInt(&bound)))
    return std::nullopt;
  return bound.getSExtValue();
}

/// Whether a condition asks whether one of some steps is 0, that is whether an axis of one element is repeated.
static bool asksForRepeats(mlir::Value condition) {
  if (auto either = condition.getDefiningOp<mlir::arith::OrIOp>())
    return asksForRepeats(either.getLhs()) && asksForRepeats(either.getRhs());
  return boundOf(condition) == 1;
}

/// The symbol that a value is in this launch, with its bounds in the whole program if it is the model's.
static std::optional<Expr> symbolOf(mlir::Value value, host::LaunchOp launch) {
  auto program = launch->getParentOfType<host::ProgramOp>();
  auto argument = llvm::dyn_cast<mlir::BlockArgument>(value);
  if (argument && argument.getOwner() == &program.getBody().front()) {
    auto symbol = llvm::cast<SymbolAttr>(program.getSymbols()[argument.getArgNumber()]);
    return Expr::variable(symbol.getName(), symbol.getMin(), symbol.getMax());
  }
  auto position = llvm::find(launch.getSizes(), value);
  mlir::Operation *kernel = program->getParentOfType<mlir::ModuleOp>().lookupSymbol(launch.getKernelAttr().getAttr());
  if (!kernel || position == launch.getSizes().end())
    return std::nullopt;
  return kernel->getAttrOfType<DimsAttr>("sizes").getSizes()[position - launch.getSizes().begin()];
}

static std::string text(llvm::StringRef name, Interval values) {
  std::string text = plainText(name) + " of " + std::to_string(values.least);
  if (values.most >= std::numeric_limits<int32_t>::max())
    return text + " or more";
  return values.least == values.most ? text : text + " to " + std::to_string(values.most);
}

std::string driver::forSizes(host::LaunchOp launch) {
  llvm::MapVector<llvm::StringRef, Interval> sizes;
  std::vector<std::string> parts;
  mlir::Operation *op = launch;
  for (auto branch = choiceAround(op); branch; op = branch, branch = choiceAround(op)) {
    mlir::Value condition = branch.getCondition();
    bool holds = op->getParentRegion() == &branch.getThenRegion();
    if (asksForRepeats(condition)) {
      parts.push_back(holds ? "sizes that repeat an axis of 1" : "sizes that repeat no axis");
      continue;
    }
    std::optional<int64_t> bound = boundOf(condition);
    std::optional<Expr> symbol =
        bound ? symbolOf(condition.getDefiningOp<mlir::arith::CmpIOp>().getLhs(), launch) : std::nullopt;
    if (!symbol)
      continue;
    Interval &values = sizes.try_emplace(symbol->name(), Interval{symbol->min(), symbol->max()}).first->second;
    if (holds)
      values.most = std::min(values.most, *bound - 1);
    else
      values.least = std::max(values.least, *bound);
  }
  for (const auto &[name, values] : sizes)
    parts.push_back(text(name, values));
  return llvm::join(parts, ", ");
}

host::LaunchOp driver::mainVariant(host::LaunchOp launch) {
  mlir::Operation *outermost = launch;
  while (auto branch = choiceAround(outermost))
    outermost = branch;
  host::LaunchOp found;
  outermost->walk([&](host::LaunchOp one) {
    if (one.getTensorsAttr())
      found = one;
  });
  return found;
}
