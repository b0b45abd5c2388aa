#include "DumpCheck.h"

#include "ir/graph/Graph.h"
#include "ir/kernel/Kernel.h"
#include "support/Error.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "llvm/ADT/StringExtras.h"

using namespace kiln;
using namespace kiln::driver;
using view::Expr;

llvm::Error driver::checkResultNumbers(llvm::StringRef text) {
  static constexpr uint64_t kMost = (1 << 16) - 1; // no op comes near; MLIR takes 16 bytes for each result up to it
  size_t line = 1;
  for (size_t at = 0; at < text.size(); at++) {
    if (text[at] == '\n') {
      line++;
    } else if (text[at] == '"') { // a string ends with its line at the latest
      for (at++; at < text.size() && text[at] != '"' && text[at] != '\n'; at++)
        at += text[at] == '\\';
      line += at < text.size() && text[at] == '\n';
    } else if (text.substr(at).starts_with("//")) {
      at = std::min(text.find('\n', at), text.size()) - 1;
    } else if (text[at] == '#') {
      llvm::StringRef digits = text.substr(at + 1).take_while(llvm::isDigit);
      uint64_t number = 0;
      if (!digits.empty() && (digits.getAsInteger(10, number) || number > kMost))
        return failure(llvm::Twine(line) + ":" + llvm::Twine(at - text.rfind('\n', at)) + ": no op has a result " +
                       digits.take_front(40));
    }
  }
  return llvm::Error::success();
}

using Known = llvm::function_ref<bool(Expr)>;

/// A variable that the op's attributes or types have and that is not known; none: "".
static std::string unknownIn(mlir::Operation *op, Known isKnown) {
  std::string unknown;
  auto look = [&](Expr expr) {
    expr.forEachVariable([&](Expr variable) {
      if (unknown.empty() && !isKnown(variable))
        unknown = variable.print();
    });
  };
  mlir::AttrTypeWalker walker;
  walker.addWalk([&](ExprAttr expr) { look(expr.getValue()); });
  walker.addWalk([&](DimsAttr dims) { llvm::for_each(dims.getSizes(), look); });
  walker.addWalk([&](TrackerAttr attribute) {
    view::ShapeTracker tracker = attribute.getValue();
    for (const view::View &view : tracker.views()) {
      llvm::for_each(view.shape(), look);
      llvm::for_each(view.strides(), look);
      look(view.offset());
      if (auto mask = view.mask())
        for (const view::Range &range : *mask)
          look(range.begin), look(range.end);
    }
  });
  walker.walk(op->getAttrDictionary());
  for (mlir::Type type : op->getResultTypes())
    walker.walk(type);
  for (mlir::Region &region : op->getRegions())
    for (mlir::Type type : region.getArgumentTypes())
      walker.walk(type);
  return unknown;
}

/// The same for an op and all in it.
static llvm::Error check(mlir::Operation *root, Known isKnown) {
  std::string unknown;
  root->walk([&](mlir::Operation *op) {
    unknown = unknownIn(op, isKnown);
    return unknown.empty() ? mlir::WalkResult::advance() : mlir::WalkResult::interrupt();
  });
  return unknown.empty() ? llvm::Error::success() : failure("nothing says what the size '" + unknown + "' is");
}

llvm::Error driver::checkVariables(mlir::ModuleOp module) {
  llvm::DenseSet<Expr> symbols;
  std::string empty; // a symbol that can have no value
  auto add = [&](SymbolAttr symbol) {
    if (symbol.getMin() <= symbol.getMax())
      symbols.insert(Expr::variable(symbol.getName(), symbol.getMin(), symbol.getMax()));
    else
      empty = symbol.getName().str();
  };
  for (mlir::ModuleOp each = module; each; each = each->getParentOfType<mlir::ModuleOp>())
    if (auto list = each->getAttrOfType<mlir::ArrayAttr>(graph::kSymbolsAttr))
      for (auto symbol : list.getAsRange<SymbolAttr>())
        add(symbol);
  module.walk([&](graph::BindOp bind) { add(bind.getSymbol()); });
  if (!empty.empty())
    return failure("the size '" + empty + "' has bounds that no value lies between");
  for (auto function : module.getOps<mlir::func::FuncOp>())
    if (llvm::Error error = check(function, [&](Expr variable) { return symbols.contains(variable); }))
      return error;
  for (auto kernel : module.getOps<kernel::FuncOp>()) {
    llvm::ArrayRef<Expr> sizes = kernel.getSizes().getSizes();
    auto isKnown = [&](Expr variable) {
      int64_t id = kernel::loopAxisOf(variable);
      if (id < 0)
        return llvm::is_contained(sizes, variable);
      kernel::AxisAttr axis = kernel.getLoopAxis(id);
      return axis && kernel::loopVariable(axis) == variable;
    };
    if (llvm::Error error = check(kernel, isKnown))
      return error;
  }
  return llvm::Error::success();
}
