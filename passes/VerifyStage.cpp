//===- VerifyStage.cpp - Check what a stage guarantees, and note that the module has passed it ----===//
//
// Every stage ends with this pass, so that a dump knows where to go on from and a stage that breaks its
// promise is found there, not where the next one fails. The later stages keep what one stage makes true, up to
// some last one, so a promise is a row of a table with a first and a last stage. A dump that somebody has
// edited by hand passes here too before it is used. So a row relies only on the ops' verifiers and the rows
// before it.
//
//===----------------------------------------------------------------------------------------===//

#include "passes/Passes.h"
#include "passes/Pipeline.h"

#include "ir/base/AluTraits.h"
#include "ir/base/Target.h"
#include "ir/kernel/Attention.h"

using namespace kiln;
using namespace mlir;

namespace kiln {
#define GEN_PASS_DEF_VERIFYSTAGE
#include "passes/Passes.h.inc"
} // namespace kiln

static bool isMovement(Operation *op) {
  return isa<graph::ReshapeOp, graph::ExpandOp, graph::PermuteOp, graph::FlipOp, graph::PadOp, graph::ShrinkOp>(op);
}

static bool isViewOfNumber(Operation *op) {
  auto view = dyn_cast_or_null<graph::ViewOp>(op);
  return view && view.getInput().getDefiningOp<graph::ConstOp>();
}

/// Whether outputs that are to lie in an input's memory are assigned there, or are the input.
static bool assignsAliases(func::FuncOp main) {
  for (BlockArgument input : main.getArguments()) {
    auto alias = main.getArgAttrOfType<graph::AliasAttr>(input.getArgNumber(), graph::kAliasAttr);
    if (!alias)
      continue;
    OperandRange outputs = main.getBody().front().getTerminator()->getOperands();
    if (alias.getOutput() < 0 || alias.getOutput() >= int64_t(outputs.size()))
      return false;
    Value output = outputs[alias.getOutput()];
    while (auto view = output.getDefiningOp<graph::ViewOp>())
      output = view.getInput();
    auto assign = output.getDefiningOp<graph::AssignOp>();
    Value memory = assign ? Value(assign.getTarget()) : output;
    if (auto room = memory.getDefiningOp<graph::RoomOp>())
      memory = room.getInput();
    if (memory != input)
      return false;
  }
  return true;
}

/// The kernel of a launch; null if none has the name.
static FunctionOpInterface kernelOf(host::LaunchOp launch, SymbolTableCollection &symbols) {
  return symbols.lookupNearestSymbolFrom<FunctionOpInterface>(launch, launch.getKernelAttr());
}

static bool passesBuffers(host::LaunchOp launch, SymbolTableCollection &symbols) {
  size_t buffers = llvm::count_if(kernelOf(launch, symbols).getArgumentTypes(),
                                  [](Type type) { return isa<kernel::BufferType, uop::PtrType>(type); });
  return launch.getBuffers().size() == buffers;
}

static bool passesSizes(host::LaunchOp launch, SymbolTableCollection &symbols) {
  auto sizes = kernelOf(launch, symbols)->getAttrOfType<DimsAttr>("sizes");
  return !sizes || launch.getSizes().size() == sizes.getSizes().size();
}

/// Whether a launch's grid has as many axes as that of its kernel, which lowered ones have.
static bool passesGrid(host::LaunchOp launch, SymbolTableCollection &symbols) {
  auto lowered = dyn_cast<uop::FuncOp>(*kernelOf(launch, symbols));
  return !lowered || launch.getGrid().size() == lowered.getGrid().getSizes().size();
}

/// Whether an op of the host program refers to an existing port or weight.
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

/// The module of the recipe that makes a weight, with its program; null if there is none.
static host::ProgramOp recipeOf(host::ProgramOp program, graph::RecipeAttr data, SymbolTableCollection &symbols) {
  // Inside the module that has the weight, or, if that is a recipe of another's result, next to it.
  auto name = StringAttr::get(program.getContext(), data.getModel());
  auto recipe = symbols.lookupNearestSymbolFrom<ModuleOp>(program, name);
  if (Operation *around = program->getParentOp()->getParentOp(); !recipe && around)
    recipe = symbols.lookupNearestSymbolFrom<ModuleOp>(around, name);
  if (!recipe || recipe.getOps<host::ProgramOp>().empty())
    return {};
  return *recipe.getOps<host::ProgramOp>().begin();
}

/// Whether `holds` is true for all weights of recipes, asked with the recipe's program.
static bool
eachRecipe(host::ProgramOp program, SymbolTableCollection &symbols,
           llvm::function_ref<bool(host::WeightAttr weight, graph::RecipeAttr data, host::ProgramOp recipe)> holds) {
  return llvm::all_of(program.getWeights().getAsRange<host::WeightAttr>(), [&](host::WeightAttr weight) {
    auto data = dyn_cast<graph::RecipeAttr>(weight.getData());
    return !data || holds(weight, data, recipeOf(program, data, symbols));
  });
}

/// Whether the named output of a recipe's program fits the weight.
static bool makes(host::ProgramOp recipe, graph::RecipeAttr data, host::WeightAttr weight) {
  ArrayAttr outputs = recipe.getOutputs();
  return data.getOutput() >= 0 && data.getOutput() < int64_t(outputs.size()) &&
         cast<host::PortAttr>(outputs[data.getOutput()]).getType() == weight.getType();
}

/// Whether a row is a rounding of float32 or narrower for which the target has no instruction.
static bool isLackedRounding(uop::AluOp alu) {
  Alu kind = alu.getKind().getValue();
  auto type = dyn_cast<FloatType>(getElementTypeOrSelf(alu));
  return type && type.getWidth() <= 32 && aluTraits(kind).family == AluClass::Rounding &&
         !targetOf(alu->getParentOfType<ModuleOp>()).isNative(kind);
}

/// Whether a matrix or dot instruction is one of the target's, and takes such operands.
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

namespace {
/// A condition for each op after the stages from `first` to `last`, and the error if it does not hold.
struct Promise {
  Stage first, last;
  llvm::StringLiteral message;
  bool (*holds)(Operation *op, SymbolTableCollection &symbols);
};
} // namespace

static bool isOf(Operation *op, llvm::StringRef dialect) { return op->getName().getDialectNamespace() == dialect; }

/// In this order: the first broken one is reported, and a row relies on the rows before it.
static const Promise kPromises[] = {
    {Stage::View, Stage::View, "a movement op is left", [](Operation *op, auto &) { return !isMovement(op); }},
    {Stage::View, Stage::View, "a view reads a view",
     [](Operation *op, auto &) {
       auto view = dyn_cast<graph::ViewOp>(op);
       return !view || !view.getInput().getDefiningOp<graph::ViewOp>();
     }},
    {Stage::View, Stage::View, "a view of a number is not the number",
     [](Operation *op, auto &) {
       return !isViewOfNumber(op) || cast<graph::ViewOp>(op).getTracker().getValue().isMasked();
     }},
    {Stage::View, Stage::View, "a cast is of a view of a number",
     [](Operation *op, auto &) {
       auto alu = dyn_cast<graph::AluOp>(op);
       return !alu || alu.getKind().getValue() != Alu::CAST || !isViewOfNumber(alu->getOperand(0).getDefiningOp());
     }},
    {Stage::View, Stage::View, "a reduce is over an axis of one point",
     [](Operation *op, auto &) {
       auto reduce = dyn_cast<graph::ReduceOp>(op);
       return !reduce || llvm::none_of(reduce.getAxes(), [shape = shapeOf(reduce.getInput())](int64_t axis) {
         return shape[axis].isConst(1);
       });
     }},
    {Stage::View, Stage::View, "an output is to lie in an input's memory and is not assigned there",
     [](Operation *op, auto &) {
       auto main = dyn_cast<func::FuncOp>(op);
       return !main || assignsAliases(main);
     }},
    {Stage::Schedule, Stage::Lower, "a tensor op is left",
     [](Operation *op, auto &) { return !isOf(op, "graph") && !isOf(op, "func"); }},
    {Stage::Schedule, Stage::Schedule, "a kernel is to hold rows of scores and lacks one of attention's sums",
     [](Operation *op, auto &) {
       auto func = dyn_cast<kernel::FuncOp>(op);
       return !func || !func.getOpts().empty() || !kernel::hasRoles(func) || kernel::hasEachRole(func);
     }},
    {Stage::Lower, Stage::Lower, "a kernel is not lowered", [](Operation *op, auto &) { return !isOf(op, "kernel"); }},
    {Stage::Lower, Stage::Lower, "a row is left that no device has",
     [](Operation *op, auto &) {
       auto alu = dyn_cast<uop::AluOp>(op);
       return !alu || alu.getKind().getValue() != Alu::THREEFRY;
     }},
    {Stage::Lower, Stage::Lower, "a rounding is left that the device lacks",
     [](Operation *op, auto &) { return !isa<uop::AluOp>(op) || !isLackedRounding(cast<uop::AluOp>(op)); }},
    {Stage::Lower, Stage::Lower, "a product is by no instruction that the target has for its operands",
     [](Operation *op, auto &) { return !isa<uop::WmmaOp, uop::DotOp>(op) || isOfTarget(op); }},
    {Stage::Lower, Stage::Lower, "bytes are looked up, which the target cannot do",
     [](Operation *op, auto &) {
       return !isa<uop::LookupOp>(op) || targetOf(op->getParentOfType<ModuleOp>()).hasLookups();
     }},
    {Stage::View, Stage::Lower, "a port or weight is used that the program does not have",
     [](Operation *op, auto &) { return namesWhatThereIs(op); }},
    {Stage::View, Stage::Lower, "a launch names no kernel",
     [](Operation *op, auto &symbols) {
       auto launch = dyn_cast<host::LaunchOp>(op);
       return !launch || kernelOf(launch, symbols);
     }},
    {Stage::View, Stage::Lower, "a launch does not pass the buffers that its kernel takes",
     [](Operation *op, auto &symbols) {
       auto launch = dyn_cast<host::LaunchOp>(op);
       return !launch || passesBuffers(launch, symbols);
     }},
    {Stage::View, Stage::Lower, "a launch does not pass the sizes that its kernel asks for",
     [](Operation *op, auto &symbols) {
       auto launch = dyn_cast<host::LaunchOp>(op);
       return !launch || passesSizes(launch, symbols);
     }},
    {Stage::Lower, Stage::Lower, "a launch does not have the grid of its kernel",
     [](Operation *op, auto &symbols) {
       auto launch = dyn_cast<host::LaunchOp>(op);
       return !launch || passesGrid(launch, symbols);
     }},
    {Stage::View, Stage::Lower, "a weight's recipe is not a module with a program",
     [](Operation *op, auto &symbols) {
       auto program = dyn_cast<host::ProgramOp>(op);
       return !program || eachRecipe(program, symbols, [](auto, auto, host::ProgramOp recipe) { return bool(recipe); });
     }},
    {Stage::View, Stage::Lower, "a weight's recipe does not make it",
     [](Operation *op, auto &symbols) {
       auto program = dyn_cast<host::ProgramOp>(op);
       return !program || eachRecipe(program, symbols, [](host::WeightAttr weight, auto data, host::ProgramOp recipe) {
         return makes(recipe, data, weight);
       });
     }},
};

namespace {
struct VerifyStage : kiln::impl::VerifyStageBase<VerifyStage> {
  using Base::Base;

  void runOnOperation() override {
    std::optional<Stage> passed = stageByName(stage);
    if (!passed) {
      getOperation().emitError() << "there is no stage '" << stage << "'";
      return signalPassFailure();
    }
    SymbolTableCollection symbols;
    WalkResult checked = getOperation().walk([&](Operation *op) {
      for (const Promise &promise : kPromises)
        if (promise.first <= *passed && *passed <= promise.last && !promise.holds(op, symbols)) {
          op->emitError() << "after stage " << stage << ": " << promise.message;
          return WalkResult::interrupt();
        }
      return WalkResult::advance();
    });
    if (checked.wasInterrupted())
      return signalPassFailure();
    getOperation()->setAttr("kiln.stage", StringAttr::get(&getContext(), stage));
  }
};
} // namespace
