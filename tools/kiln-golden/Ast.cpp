//===- Ast.cpp - A kernel against the reference's AST --------------------===//
//
// Results do not show whether the scheduler forms the reference's kernels, since they are right for any partition. So
// the kernel and the reference's AST are walked together from the stores down: ops, dtypes, axes, buffers and views
// must be the same, and no node of the AST may be left over. Fewer views that read the same elements are accepted. Kiln
// writes a masked number as where(valid, number, 0), the reference as one CONST with views, and only the part of these
// that bears on validity counts.
//
//===----------------------------------------------------------------------===//
#include "tools/kiln-golden/Ast.h"

#include "tools/kiln-golden/Movement.h"
#include "tools/kiln-golden/PlainViews.h"
#include "tools/kiln-golden/Program.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace kiln;
using namespace kiln::golden;
using view::ShapeTracker;

namespace {
class AstComparison {
public:
  AstComparison(const Json &ast, std::string where, Report &report)
      : ast_(ast), where_(std::move(where)), report_(report), reached_(ast.size()) {}
  void run(kernel::FuncOp func);

private:
  void compare(size_t id, mlir::Operation *op);
  void compareViews(size_t id, const ShapeTracker &tracker);
  void compareConst(size_t id, mlir::TypedAttr value, const ShapeTracker *mask);
  void compareSources(size_t id, mlir::ValueRange operands);
  void compareMemory(size_t id, mlir::Value buffer, const ShapeTracker &tracker);
  void differs(size_t id, const std::string &what) {
    report_.mismatch(where_ + ": AST node " + std::to_string(id) + " (" + ast_[id].at("op").get<std::string>() +
                     "): " + what);
  }

  const Json &ast_;
  std::string where_;
  Report &report_;
  std::vector<bool> reached_;
  llvm::DenseSet<std::pair<size_t, mlir::Operation *>> compared_;
};
} // namespace

/// The tracker of where(valid(tracker), constant, 0), as a masked number is written.
static std::optional<ShapeTracker> maskOfNumber(kernel::AluOp alu) {
  if (alu.getKind().getValue() != Alu::WHERE)
    return std::nullopt;
  auto valid = alu->getOperand(0).getDefiningOp<kernel::ValidOp>();
  auto zero = alu->getOperand(2).getDefiningOp<kernel::ConstOp>();
  if (!valid || !alu->getOperand(1).getDefiningOp<kernel::ConstOp>() || !zero ||
      zero.getValue() != numberOf(0, zero.getResult().getType()))
    return std::nullopt;
  return valid.getTracker().getValue();
}

static std::string nameOf(mlir::Operation *op) {
  return llvm::TypeSwitch<mlir::Operation *, std::string>(op)
      .Case([](kernel::AluOp alu) { return aluInfo(alu.getKind().getValue()).name.str(); })
      .Case([](kernel::ReduceOp reduce) {
        Alu kind = reduce.getKind().getValue();
        return "REDUCE_" + (kind == Alu::ADD ? "SUM" : aluInfo(kind).name.str());
      })
      .Default([](mlir::Operation *other) { return other->getName().stripDialect().upper(); });
}

/// Fewer views are as good if they read the same elements.
static bool areSimpler(llvm::ArrayRef<view::View> views, const Json &reference, bool maskOnly) {
  if (views.size() >= reference.size())
    return false;
  PlainViews wanted;
  for (const Json &view : reference)
    wanted.push_back(toPlain(view));
  Numbers got = indicesOf(toPlain(views)), want = indicesOf(wanted);
  return llvm::equal(got, want, [&](int64_t a, int64_t b) { return maskOnly ? (a < 0) == (b < 0) : a == b; });
}

void AstComparison::compareViews(size_t id, const ShapeTracker &tracker) {
  const Json &views = ast_[id].at("views");
  bool same = views.size() == tracker.views().size();
  for (size_t i = 0; same && i < views.size(); ++i)
    same = isSameMap(tracker.views()[i], views[i]);
  if (!same && !areSimpler(tracker.views(), views, /*maskOnly=*/false))
    differs(id, "the views are " + tracker.print() + ", not " + views.dump());
}

void AstComparison::compareMemory(size_t id, mlir::Value buffer, const ShapeTracker &tracker) {
  unsigned index = llvm::cast<mlir::BlockArgument>(buffer).getArgNumber();
  if (ast_[id].at("buf") != index)
    differs(id, "buffer " + std::to_string(index) + ", not " + ast_[id].at("buf").dump());
  llvm::StringRef dtype = referenceName(llvm::cast<kernel::BufferType>(buffer.getType()).getElement());
  if (ast_[id].at("dtype") != dtype.str())
    differs(id, dtype.str() + ", not " + ast_[id].at("dtype").dump());
  compareViews(id, tracker);
}

void AstComparison::compareConst(size_t id, mlir::TypedAttr value, const ShapeTracker *mask) {
  const Json &node = ast_[id];
  llvm::StringRef dtype = referenceName(value.getType());
  if (node.at("dtype") != dtype.str())
    return differs(id, dtype.str() + ", not " + node.at("dtype").dump());
  if (value != numberOf(node.at("value"), value.getType()))
    differs(id, "another number than " + node.at("value").dump());
  const Json &views = node.at("views");
  bool wantsMask = std::any_of(views.begin(), views.end(), [](const Json &v) { return !v.at("mask").is_null(); });
  if (wantsMask != (mask != nullptr))
    return differs(id, wantsMask ? "no mask" : "a mask");
  if (!mask)
    return;
  // The first view's strides and offset lead into the number's buffer, which does not exist.
  bool same = views.size() == mask->views().size();
  for (size_t i = 0; same && i < views.size(); ++i) {
    Json reference = views[i];
    const view::View &view = mask->views()[i];
    if (i == 0) {
      reference["offset"] = view.offset().constant();
      for (auto [axis, stride] : llvm::enumerate(view.strides()))
        reference["strides"][axis] = stride.constant();
    }
    same = isSameMap(view, reference);
  }
  if (!same && !areSimpler(mask->views(), views, /*maskOnly=*/true))
    differs(id, "the mask is " + mask->print() + ", not " + views.dump());
}

void AstComparison::compareSources(size_t id, mlir::ValueRange operands) {
  const Json &sources = ast_[id].at("src");
  if (sources.size() != operands.size())
    return differs(id, std::to_string(operands.size()) + " operands");
  for (auto [source, operand] : llvm::zip(sources, operands))
    compare(source, operand.getDefiningOp());
}

void AstComparison::compare(size_t id, mlir::Operation *op) {
  reached_[id] = true;
  if (!compared_.insert({id, op}).second)
    return;
  const Json &node = ast_[id];
  report_.expectFields(node, {"op", "src", "buf", "dtype", "views", "value", "axis"});
  if (auto alu = llvm::dyn_cast<kernel::AluOp>(op); alu && node.at("op") == "CONST")
    if (std::optional<ShapeTracker> mask = maskOfNumber(alu))
      return compareConst(id, alu->getOperand(1).getDefiningOp<kernel::ConstOp>().getValue(), &*mask);
  if (node.at("op") != nameOf(op))
    return differs(id, "kiln has " + nameOf(op));
  llvm::TypeSwitch<mlir::Operation *>(op)
      .Case([&](kernel::ConstOp constant) { compareConst(id, constant.getValue(), nullptr); })
      .Case([&](kernel::LoadOp load) { compareMemory(id, load.getBuffer(), load.getTracker().getValue()); })
      .Case([&](kernel::StoreOp store) {
        compareMemory(id, store.getBuffer(), store.getTracker().getValue());
        compareSources(id, store.getValue());
      })
      .Case([&](kernel::ReduceOp reduce) {
        if (Json(reduce.getAxes().vec()) != node.at("axis"))
          differs(id, "over " + Json(reduce.getAxes().vec()).dump() + ", not " + node.at("axis").dump());
        compareSources(id, reduce.getInput());
      })
      .Case([&](kernel::AluOp alu) {
        if (node.contains("dtype") && node.at("dtype") != referenceName(alu.getResult().getType()).str())
          differs(id, "another dtype than " + node.at("dtype").dump());
        compareSources(id, alu->getOperands());
      });
}

void AstComparison::run(kernel::FuncOp func) {
  std::vector<size_t> stores;
  for (size_t id = 0; id < ast_.size(); ++id)
    if (ast_[id].at("op") == "STORE")
      stores.push_back(id);
  auto found = llvm::to_vector(func.getBody().getOps<kernel::StoreOp>());
  if (stores.size() != found.size())
    return report_.mismatch(where_ + ": " + std::to_string(found.size()) + " stores");
  for (auto [id, store] : llvm::zip(stores, found))
    compare(id, store);
  for (size_t id = 0; id < ast_.size(); ++id)
    if (!reached_[id])
      differs(id, "kiln has none");
}

void golden::checkAst(kernel::FuncOp func, const Json &ast, const std::string &where, Report &report) {
  AstComparison(ast, where, report).run(func);
}
