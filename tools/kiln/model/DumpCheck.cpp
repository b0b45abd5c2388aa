//===- DumpCheck.cpp - Check conditions that no verifier sees ------------===//
//
// A dump is text that people edit and disks damage, and compiling goes on from it. MLIR's parser and verifiers look at
// one op at a time and trust more than they should: for a result numbered %2#4000000000 the parser makes room for as
// many, some orders of uses before definitions leave it with a freed value, and a size such as n may occur in a type
// although nothing says what n is. Such a dump has to end in one line, so it is checked before MLIR reads it, and once
// more after.
//
//===---------------------------------------------------------------------===//
#include "DumpCheck.h"

#include "ir/base/Devices.h"
#include "ir/graph/Graph.h"
#include "ir/kernel/Kernel.h"
#include "support/Error.h"
#include "tools/kiln/Devices.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/StringExtras.h"

using namespace kiln;
using namespace kiln::driver;
using view::Expr;

namespace {

/// Searches a dump's text for faults that crash MLIR's parser; the parser itself refuses the others.
class TextCheck {
public:
  explicit TextCheck(llvm::StringRef text) : text_(text) {}
  llvm::Error run();

private:
  llvm::StringRef rest() const { return text_.substr(at_); }
  llvm::Error wrong(const llvm::Twine &cause) const {
    return failure(llvm::Twine(line_) + ":" + llvm::Twine(at_ - text_.rfind('\n', at_)) + ": " + cause);
  }
  void skipString();
  llvm::Error checkResultNumber();
  llvm::Error checkValue();
  void closeScope();

  llvm::StringRef text_;
  size_t at_ = 0, line_ = 1;
  std::vector<llvm::StringMap<size_t>> scopes_{1}; // for each region, its values and their first lines
};

void TextCheck::skipString() { // it ends with its line at the latest
  for (at_++; at_ < text_.size() && text_[at_] != '"' && text_[at_] != '\n'; at_++)
    at_ += text_[at_] == '\\';
  line_ += at_ < text_.size() && text_[at_] == '\n';
}

llvm::Error TextCheck::checkResultNumber() {
  static constexpr uint64_t kMost = (1 << 16) - 1; // no op comes near; MLIR takes 16 bytes for each result up to it
  llvm::StringRef digits = rest().drop_front().take_while(llvm::isDigit);
  uint64_t number = 0;
  if (!digits.empty() && (digits.getAsInteger(10, number) || number > kMost))
    return wrong("no op has a result " + digits.take_front(40));
  return llvm::Error::success();
}

// MLIR's parser accepts a value before the op that makes it. If that op is in a region of a later op, which is freed
// because of a mistake, the earlier use is left with a freed value.
llvm::Error TextCheck::checkValue() {
  llvm::StringRef name =
      rest().drop_front().take_while([](char c) { return llvm::isAlnum(c) || llvm::is_contained("_$.-", c); });
  llvm::StringRef after = rest().drop_front(1 + name.size());
  bool isArgument = after.starts_with(": "); // of a function or block; a use is `%0 : type`
  if (after.consume_front(":"))              // %0:2 = …
    after = after.drop_while(llvm::isDigit);
  bool isMade = after.ltrim(' ').starts_with("=");
  for (const llvm::StringMap<size_t> &scope : scopes_)
    if (auto found = scope.find(name); found != scope.end())
      return isMade && found->second > 0 && &scope != &scopes_.back()
                 ? wrong("%" + name + " is made here and stands in line " + llvm::Twine(found->second) + " already")
                 : llvm::Error::success();
  scopes_.back()[name] = isMade || isArgument ? 0 : line_;
  return llvm::Error::success();
}

// A value that a region uses and nothing has made yet may be made by a later region.
void TextCheck::closeScope() {
  llvm::StringMap<size_t> closed = std::move(scopes_.back());
  scopes_.pop_back();
  for (const auto &[name, line] : closed)
    if (line > 0)
      scopes_.back().try_emplace(name, line);
}

llvm::Error TextCheck::run() {
  for (; at_ < text_.size(); at_++) {
    llvm::Error error = llvm::Error::success();
    if (text_[at_] == '\n')
      line_++;
    else if (text_[at_] == '"')
      skipString();
    else if (rest().starts_with("//"))
      at_ = std::min(text_.find('\n', at_), text_.size()) - 1;
    else if (text_[at_] == '{')
      scopes_.emplace_back();
    else if (text_[at_] == '}' && scopes_.size() > 1)
      closeScope();
    else if (text_[at_] == '#')
      error = checkResultNumber();
    else if (text_[at_] == '%')
      error = checkValue();
    if (error)
      return error;
  }
  return llvm::Error::success();
}

} // namespace

llvm::Error driver::checkText(llvm::StringRef text) { return TextCheck(text).run(); }

using Known = llvm::function_ref<bool(Expr)>;

/// A variable in the op's attributes or types that is not known; none: "".
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
  auto add = [&](SymbolAttr symbol) {
    symbols.insert(Expr::variable(symbol.getName(), symbol.getMin(), symbol.getMax()));
  };
  for (mlir::ModuleOp each = module; each; each = each->getParentOfType<mlir::ModuleOp>())
    if (auto list = each->getAttrOfType<mlir::ArrayAttr>(graph::kSymbolsAttr))
      for (auto symbol : list.getAsRange<SymbolAttr>())
        add(symbol);
  module.walk([&](graph::BindOp bind) { add(bind.getSymbol()); });
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
  for (auto recipe : module.getOps<mlir::ModuleOp>())
    if (llvm::Error error = checkVariables(recipe))
      return error;
  return llvm::Error::success();
}

llvm::Error driver::checkDevices(mlir::ModuleOp module, Stage stage) {
  mlir::Attribute listed = module->getAttr(kDevicesAttr);
  auto list = llvm::dyn_cast_or_null<mlir::ArrayAttr>(listed);
  if (listed && (!list || llvm::any_of(list, [](mlir::Attribute one) { return !llvm::isa<TargetAttr>(one); })))
    return failure("its attribute kiln.devices is not a list of targets");
  if (list && stage < Stage::Lower)
    return failure("is for several devices, which its stage does not know; only a module of stage lower can be");
  for (TargetAttr target : llvm::drop_begin(targetsOf(module)))
    if (llvm::Error error = findDevice(target.getDevice()).takeError()) {
      llvm::consumeError(std::move(error));
      return failure("is for device " + target.getDevice() + ", which this kiln does not have");
    }
  int64_t count = targetsOf(module).size();
  for (auto kernel : module.getOps<mlir::FunctionOpInterface>())
    if (int64_t device = deviceOf(kernel); device < 0 || device >= count)
      return failure("kernel '" + kernel.getName() + "' is for device " + llvm::Twine(device) + " of " +
                     llvm::Twine(count) + "; list it in kiln.devices");
  return llvm::Error::success();
}
