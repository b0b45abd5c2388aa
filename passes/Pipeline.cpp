#include "passes/Pipeline.h"

#include "passes/Passes.h"

#include "mlir/IR/DialectRegistry.h"

using namespace kiln;
using namespace mlir;

static constexpr llvm::StringLiteral kStageNames[] = {"import", "view",   "schedule", "optimize",
                                                      "lower",  "render", "package"};
static constexpr llvm::StringLiteral kStageAttr = "kiln.stage";

llvm::StringRef kiln::stageName(Stage stage) { return kStageNames[static_cast<int>(stage)]; }

std::optional<Stage> kiln::stageByName(llvm::StringRef name) {
  const auto *found = llvm::find(kStageNames, name);
  if (found == std::end(kStageNames))
    return std::nullopt;
  return static_cast<Stage>(found - std::begin(kStageNames));
}

Stage kiln::stageOf(ModuleOp module) {
  auto name = module->getAttrOfType<StringAttr>(kStageAttr);
  return name ? stageByName(name.getValue()).value_or(Stage::Import) : Stage::Import;
}

static void addFormKernels(OpPassManager &manager, const PipelineOptions &options) {
  FormKernelsOptions schedule;
  schedule.classic = options.classic;
  manager.addPass(createFormKernels(schedule));
}

static void addOptimize(OpPassManager &manager, const PipelineOptions &options) {
  if (!options.classic && !options.noOpt)
    manager.addPass(createSplitByRepeats()); // with a known step axes merge, and lanes are neighbours in memory
  manager.addPass(createCollapseSums());     // leaves axes of one point, which the next pass drops
  manager.addPass(createNormalizeAxes());    // opts name axes by number, so axes are settled before the first opt
  FoldArithmeticOptions fold;
  fold.reals = options.classic;
  manager.addPass(createFoldArithmetic(fold)); // opts depend on a kernel's ops, so known ones go first
  if (!options.classic && !options.noOpt) {
    manager.addPass(createBoundRows());   // before opts, which ask what a gather costs
    manager.addPass(createSplitByRows()); // a kernel gets one list of opts
  }
  OptimizeKernelsOptions optimize;
  optimize.noOpt = options.noOpt;
  optimize.opts = options.opts;
  optimize.optsPath = options.optsPath;
  manager.addPass(createOptimizeKernels(optimize)); // axes are settled and arithmetic known: opts can be chosen
  manager.addPass(createSplitLaunches());           // opts make the stages that all chunks share
  optimize.isLast = true;
  manager.addPass(createOptimizeKernels(optimize)); // the kernels that splitting made
  manager.addPass(createPassScratch());             // once no stage becomes a launch any more
  if (!options.classic)                             // its kernels stay as the reference has them
    manager.addPass(createReuseInputs());           // needs the order in which opts read elements
  manager.addPass(createPlanMemory());              // last: splitting, scratch and reuse change what is in memory
}

/// Recipes take no option: the bytes that they make are the same everywhere.
static PipelineOptions recipeOptions() { return {}; }

static void addLower(OpPassManager &manager, const PipelineOptions &options, bool isOfRecipes = false) {
  manager.addPass(createLowerKernels()); // all is decided: opts, stages and memory
  RewriteUOpsOptions rewrite;
  rewrite.isListed = options.classic || options.noOpt;
  rewrite.logged.assign(options.loggedKernels.begin(), options.loggedKernels.end());
  if (!rewrite.isListed)
    manager.addPass(createTabulateBytes());    // while uops are the graph's operations
  manager.addPass(createRewriteUOps(rewrite)); // after all that opts decide, so that they change no rounding
  if (rewrite.isListed)
    return;
  ShareKernelsOptions share;
  share.all = isOfRecipes;                    // those of all recipes are compiled together
  manager.addPass(createShareKernels(share)); // last: rewriting goes by what numbers are
}

void kiln::addStage(OpPassManager &manager, Stage stage, const PipelineOptions &options) {
  switch (stage) {
  case Stage::View:
    manager.addPass(createAssignAliases()); // looks for concatenations, which are still movement
    manager.addPass(createFoldMovement());  // all later stages know views alone
    break;
  case Stage::Schedule:
    if (!options.classic) {
      manager.addPass(createDropIdentities());  // the next ones look at what a tensor is made of
      manager.addPass(createGatherNarrow());    // before tables are weights of their own
      manager.addPass(createJoinSlices());      // the next ones look at products
      manager.addPass(createSumByBlocks());     // makes products of bytes, as the next ones look for
      manager.addPass(createNarrowBytes());     // leaves less to correct
      manager.addPass(createMultiplyBytes());   // the next one looks at what is left
      manager.addPass(createNarrowIntegers());  // makes constants and casts, as the next ones look for
      manager.addPass(createShrinkConstants()); // the next two ask how large a constant is
      manager.addPass(createFoldScales());      // makes constants that recipes compute
      if (options.winograd) {
        WinogradOptions winograd;
        winograd.outputs = options.winograd;
        manager.addPass(createWinograd(winograd)); // windows as they will be, with their scales
      }
      manager.addPass(createJoinTaps());                         // if nothing else made fewer of them
      manager.addPass(createMakeRecipes());                      // to kernels, what is constant is a weight like others
      addFormKernels(manager.nest<ModuleOp>(), recipeOptions()); // each recipe is a model of its own
    }
    addFormKernels(manager, options); // last: no graph is left to change
    break;
  case Stage::Optimize:
    if (!options.classic && !options.noOpt) {
      manager.addPass(createCopyPaddedInputs()); // makes temporaries, whose layouts come next
      manager.addPass(createAssignLayouts());    // while an axis of a kernel still is one axis of a tensor
      manager.addPass(createPlaceParts());       // only parts that lie in long rows of the whole may be placed there
      manager.addPass(createStoreParts());       // what is left of copies
      manager.addPass(createWalkBatch());        // layouts and parts decide the distance between two samples
    }
    addOptimize(manager, options); // this may make recipes of its own
    addOptimize(manager.nest<ModuleOp>(), recipeOptions());
    break;
  case Stage::Lower:
    addLower(manager.nest<ModuleOp>(), recipeOptions(), /*isOfRecipes=*/true);
    addLower(manager, options);
    break;
  default:
    llvm_unreachable("not a stage of passes");
  }
  VerifyStageOptions verify;
  verify.stage = stageName(stage).str();
  manager.addPass(createVerifyStage(verify)); // the stage's last: checks what the stage promises
}

void kiln::registerDialects(DialectRegistry &registry) {
  registry.insert<KilnDialect, graph::GraphDialect, kernel::KernelDialect, uop::UOpDialect, host::HostDialect,
                  func::FuncDialect, arith::ArithDialect, scf::SCFDialect>();
}

void kiln::registerPasses() {
  registerKilnPasses();
  for (Stage stage : {Stage::View, Stage::Schedule, Stage::Optimize, Stage::Lower})
    PassPipelineRegistration<>("kiln-stage-" + stageName(stage).str(), "the passes of stage " + stageName(stage).str(),
                               [stage](OpPassManager &manager) { addStage(manager, stage, {}); });
}
