//===- Tree.cpp - A kernel as a tree, in tinygrad's form --------------------------===//

#include "ir/kernel/Kernel.h"
#include "support/Quote.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/raw_ostream.h"

using namespace kiln;
using namespace kiln::kernel;
using namespace mlir;

namespace {
/// Numbers the nodes in the order of printing; a node that came before prints as a reference to its number.
class TreePrinter {
public:
  explicit TreePrinter(llvm::raw_ostream &os) : os_(os) {}
  void print(Operation *op, const std::string &prefix, llvm::StringRef branch);

private:
  std::string label(Operation *op);
  std::string buffer(Value buffer, view::ShapeTracker tracker, Type element);

  llvm::raw_ostream &os_;
  llvm::DenseMap<Operation *, unsigned> numbers_;
};
} // namespace

std::string TreePrinter::buffer(Value buffer, view::ShapeTracker tracker, Type element) {
  unsigned index = cast<BlockArgument>(buffer).getArgNumber();
  return "MemBuffer(idx=" + std::to_string(index) + ", dtype=" + listingName(element).str() +
         ", st=" + tracker.render() + ")";
}

/// A number as Python prints it: 2, 0.25, 1e-05.
static std::string pythonNumber(Attribute value) {
  if (auto integer = dyn_cast<IntegerAttr>(value)) {
    if (integer.getType().isInteger(1))
      return integer.getValue().isZero() ? "False" : "True";
    llvm::SmallString<16> digits;
    integer.getValue().toString(digits, 10, !integer.getType().isUnsignedInteger());
    return digits.str().str();
  }
  llvm::SmallString<16> digits;
  double number = cast<FloatAttr>(value).getValueAsDouble();
  if (std::isnan(number) || std::isinf(number))
    return std::isnan(number) ? "nan" : number < 0 ? "-inf" : "inf";
  llvm::APFloat(number).toString(digits, 17, 15);
  std::string text = digits.str().str();
  return text.find_first_of(".eE") == std::string::npos ? text + ".0" : text;
}

std::string TreePrinter::label(Operation *op) {
  return llvm::TypeSwitch<Operation *, std::string>(op)
      .Case([&](StoreOp store) {
        return "STORE " + buffer(store.getBuffer(), store.getTracker().getValue(), store.getValue().getType());
      })
      .Case([&](LoadOp load) {
        return "LOAD " + buffer(load.getBuffer(), load.getTracker().getValue(), load.getResult().getType());
      })
      .Case([&](ConstOp constant) {
        return "CONST ConstBuffer(val=" + pythonNumber(constant.getValue()) +
               ", dtype=" + listingName(constant.getResult().getType()).str() + ")";
      })
      .Case([&](ValidOp valid) { return "VALID " + valid.getTracker().getValue().render(); })
      .Case([&](IndexOp index) { return "INDEX " + index.getTracker().getValue().render(); })
      .Case([&](SizeOp size) { return "SIZE " + size.getSize().getValue().render(); })
      .Case([&](ReduceOp reduce) {
        std::string name =
            reduce.getKind().getValue() == Alu::ADD ? "SUM" : aluInfo(reduce.getKind().getValue()).name.str();
        if (reduce.getScore())
          name += " scored";
        std::string axes;
        for (int64_t axis : reduce.getAxes())
          axes += std::to_string(axis) + (reduce.getAxes().size() == 1 ? "," : ", ");
        if (reduce.getAxes().size() > 1)
          axes.resize(axes.size() - 2);
        return name + " (" + axes + ")";
      })
      .Case([&](StageOp stage) {
        std::string axes;
        llvm::raw_string_ostream(axes) << "STAGE over ";
        for (AxisAttr axis : stage.getLoopAxes())
          axes += std::to_string(axis.getId()) + " ";
        axes.pop_back();
        return axes;
      })
      .Case([&](AluOp alu) {
        Alu kind = alu.getKind().getValue();
        std::string name = aluInfo(kind).name.str();
        if (kind == Alu::CAST || kind == Alu::BITCAST)
          name += " " + listingName(alu.getResult().getType()).str();
        return name;
      });
}

void TreePrinter::print(Operation *op, const std::string &prefix, llvm::StringRef branch) {
  auto [slot, fresh] = numbers_.try_emplace(op, numbers_.size());
  SmallVector<Operation *> children;
  if (fresh)
    for (Value operand : op->getOperands())
      if (Operation *child = operand.getDefiningOp())
        children.push_back(child);
  std::string lead =
      branch.empty() ? (children.empty() ? " ━━" : " ━┳") : branch.str() + (children.empty() ? "━━" : "━┳");
  std::string number = std::to_string(slot->second);
  os_ << std::string(number.size() < 3 ? 3 - number.size() : 0, ' ') << number << prefix << lead << ' ';
  if (!fresh) {
    os_ << "^\n";
    return;
  }
  os_ << plainText(label(op)) << '\n';
  std::string inner = prefix + (branch.empty() ? " " : branch == "┣" ? "┃ " : "  ");
  for (auto [index, child] : llvm::enumerate(children))
    print(child, inner + (branch.empty() ? " " : ""), index + 1 == children.size() ? "┗" : "┣");
}

void kernel::printTree(FuncOp func, llvm::raw_ostream &os) {
  TreePrinter printer(os);
  for (auto store : func.getBody().getOps<StoreOp>())
    printer.print(store, "", "");
}
