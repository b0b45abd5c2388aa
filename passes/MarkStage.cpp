//===- MarkStage.cpp - Note which stage a module has passed, and check what it guarantees ----===//
// Every stage ends with this pass, so that a dump knows where to go on from and a stage that breaks its promise is
// found where it does, not where the next one trips over it.
//===----------------------------------------------------------------------------------------===//

#include "passes/Passes.h"

#include "ir/base/Target.h"

using namespace kiln;
using namespace mlir;

namespace kiln {
#define GEN_PASS_DEF_MARKSTAGE
#include "passes/Passes.h.inc"
} // namespace kiln

static bool isMovement(Operation *op) {
  return isa<graph::ReshapeOp, graph::ExpandOp, graph::PermuteOp, graph::FlipOp, graph::PadOp, graph::ShrinkOp>(op);
}

/// What a launch and its kernel do not agree on.
static llvm::StringRef violation(host::LaunchOp launch, SymbolTableCollection &symbols) {
  auto kernel = symbols.lookupNearestSymbolFrom<FunctionOpInterface>(launch, launch.getKernelAttr());
  if (!kernel)
    return "a launch names no kernel";
  size_t buffers =
      llvm::count_if(kernel.getArgumentTypes(), [](Type type) { return isa<kernel::BufferType, uop::PtrType>(type); });
  return launch.getBuffers().size() == buffers ? "" : "a launch does not pass the buffers that its kernel takes";
}

/// Whether an op of the host program stands for a port or weight that there is.
static bool namesWhatThereIs(Operation *op) {
  auto program = op->getParentOfType<host::ProgramOp>();
  auto isOne = [](int64_t index, ArrayAttr list) { return index >= 0 && index < int64_t(list.size()); };
  if (auto input = dyn_cast<host::InputOp>(op))
    return program && isOne(input.getIndex(), program.getInputs());
  if (auto weight = dyn_cast<host::WeightOp>(op))
    return program && isOne(weight.getIndex(), program.getWeights());
  auto output = dyn_cast<host::OutputOp>(op);
  if (!output)
    return true;
  if (!program || !isOne(output.getIndex(), program.getOutputs()))
    return false;
  auto port = cast<host::PortAttr>(program.getOutputs()[output.getIndex()]);
  return port.getType().getRank() == int64_t(output.getDims().size());
}

/// What a weight and the recipe that it names do not agree on.
static llvm::StringRef violation(host::ProgramOp program, SymbolTableCollection &symbols) {
  for (auto weight : program.getWeights().getAsRange<host::WeightAttr>()) {
    auto data = dyn_cast<graph::RecipeAttr>(weight.getData());
    if (!data)
      continue;
    // Inside the module that has the weight, or, where that is a recipe of another's result, beside it.
    auto name = StringAttr::get(program.getContext(), data.getModel());
    auto recipe = symbols.lookupNearestSymbolFrom<ModuleOp>(program, name);
    if (Operation *around = program->getParentOp()->getParentOp(); !recipe && around)
      recipe = symbols.lookupNearestSymbolFrom<ModuleOp>(around, name);
    if (!recipe || recipe.getOps<host::ProgramOp>().empty())
      return "a weight's recipe is no module with a program";
    ArrayAttr outputs = (*recipe.getOps<host::ProgramOp>().begin()).getOutputs();
    bool makesIt = data.getOutput() >= 0 && data.getOutput() < int64_t(outputs.size()) &&
                   cast<host::PortAttr>(outputs[data.getOutput()]).getType() == weight.getType();
    if (!makesIt)
      return "a weight's recipe does not make it";
  }
  return "";
}

/// Whether a matrix or dot instruction is one of the target's, and takes operands like these.
static bool isOfTarget(Operation *op) {
  auto name = op->getAttrOfType<StringAttr>("name");
  auto shapeOf = [&](unsigned operand) { return cast<VectorType>(op->getOperand(operand).getType()).getShape(); };
  auto dot = dyn_cast<uop::DotOp>(op);
  return llvm::any_of(targetOf(op->getParentOfType<ModuleOp>()).getProducts(), [&](ProductAttr product) {
    Type elements[] = {product.getA(), product.getB(), product.getSum()};
    for (auto [operand, element] : llvm::zip(op->getOperands(), elements))
      if (getElementTypeOrSelf(operand) != element)
        return false;
    if (name.getValue() != product.getName() || (dot != nullptr) != (product.getM() == 1))
      return false;
    if (dot)
      return product.getSteps() > 0 && dot.getTerms() == product.getK() && shapeOf(2).back() % product.getN() == 0;
    ArrayRef<int64_t> a = shapeOf(0), sum = shapeOf(2);
    return a[0] <= product.getM() && a[1] <= product.getK() && sum[1] <= product.getN();
  });
}

/// What `op` breaks of the stage's guarantees; empty when nothing.
static llvm::StringRef violation(llvm::StringRef stage, Operation *op, SymbolTableCollection &symbols) {
  llvm::StringRef dialect = op->getName().getDialectNamespace();
  if (stage == "view") {
    if (isMovement(op))
      return "a movement op is left";
    if (auto view = dyn_cast<graph::ViewOp>(op); view && view.getInput().getDefiningOp<graph::ViewOp>())
      return "a view reads a view";
  }
  if (stage == "schedule" || stage == "optimize" || stage == "lower")
    if (dialect == "graph" || dialect == "func")
      return "a tensor op is left";
  if (stage == "lower" && dialect == "kernel")
    return "a kernel is not lowered";
  if (auto alu = dyn_cast<uop::AluOp>(op); alu && stage == "lower" && alu.getKind().getValue() == Alu::THREEFRY)
    return "a row is left that no device has";
  if (stage == "lower" && isa<uop::WmmaOp, uop::DotOp>(op) && !isOfTarget(op))
    return "a product is by no instruction that the target has for its operands";
  if (!namesWhatThereIs(op))
    return "a port or weight is used that the program does not have";
  if (auto launch = dyn_cast<host::LaunchOp>(op))
    return violation(launch, symbols);
  if (auto program = dyn_cast<host::ProgramOp>(op))
    return violation(program, symbols);
  return "";
}

namespace {
struct MarkStage : kiln::impl::MarkStageBase<MarkStage> {
  using Base::Base;

  void runOnOperation() override {
    SymbolTableCollection symbols;
    WalkResult checked = getOperation().walk([&](Operation *op) {
      llvm::StringRef wrong = violation(stage, op, symbols);
      if (wrong.empty())
        return WalkResult::advance();
      op->emitError() << "after stage " << stage << ": " << wrong;
      return WalkResult::interrupt();
    });
    if (checked.wasInterrupted())
      return signalPassFailure();
    getOperation()->setAttr("kiln.stage", StringAttr::get(&getContext(), stage));
  }
};
} // namespace
