#include "target/Codegen.h"

#include "support/Error.h"
#include "target/SingleLaneStores.h"

#include "llvm/IR/InstIterator.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/PassInstrumentation.h"
#include "llvm/IR/Verifier.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Target/TargetOptions.h"

using namespace kiln;

llvm::Expected<std::unique_ptr<llvm::TargetMachine>> target::makeTargetMachine(const Cpu &cpu, OptLevel level) {
  initializeTargets();
  std::string error;
  llvm::Triple triple(cpu.triple);
  const llvm::Target *target = llvm::TargetRegistry::lookupTarget(triple, error);
  if (!target)
    return failure("LLVM has no code generator for " + cpu.triple);
  llvm::TargetOptions options;
  options.AllowFPOpFusion = llvm::FPOpFusion::Strict; // contraction exists only as uop.fma
  options.FunctionSections = true;                    // so that a linker drops unused ones
  options.DataSections = true;
  if (triple.isRISCV64())
    options.MCOptions.ABIName = "lp64d";
  std::optional<llvm::CodeGenOptLevel> effort = llvm::CodeGenOpt::getLevel(level);
  return std::unique_ptr<llvm::TargetMachine>(target->createTargetMachine(
      triple, cpu.name, cpu.features, options, llvm::Reloc::PIC_, llvm::CodeModel::Small, effort.value()));
}

void target::configure(llvm::Module &module, const llvm::TargetMachine &machine) {
  module.setTargetTriple(machine.getTargetTriple());
  module.setDataLayout(machine.createDataLayout());
  module.setPICLevel(llvm::PICLevel::BigPIC);
  // A CPU that checks the targets of calls and returns checks a program only if its every object allows it.
  if (machine.getTargetTriple().isX86())
    for (llvm::StringRef check : {"cf-protection-branch", "cf-protection-return"})
      module.addModuleFlag(llvm::Module::Min, check, 1);
}

/// Whether it computes with the tiles of x86's matrix instructions.
static bool hasTiles(const llvm::Module &module) {
  return llvm::any_of(module, [](const llvm::Function &function) {
    return llvm::any_of(llvm::instructions(function),
                        [](const llvm::Instruction &op) { return op.getType()->isX86_AMXTy(); });
  });
}

void target::optimize(llvm::Module &module, llvm::TargetMachine &machine, OptLevel level) {
  assert(!llvm::verifyModule(module, &llvm::errs()) && "kiln made invalid LLVM IR");
  if (level == 0 && hasTiles(module)) { // LLVM's own pass for tiles at this level makes code that it then crashes on
    level = 1;
    machine.setOptLevel(llvm::CodeGenOptLevel::Less);
  }
  const llvm::OptimizationLevel levels[] = {llvm::OptimizationLevel::O0, llvm::OptimizationLevel::O1,
                                            llvm::OptimizationLevel::O2, llvm::OptimizationLevel::O3};
  llvm::PipelineTuningOptions tuning;
  tuning.LoopVectorization = level >= 2;
  tuning.SLPVectorization = false; // LLVM 22 keeps nuw where it makes x + 5 of x - -5: wrong results
  // A kernel does not load what it has stored in the step before, and to see that LLVM compares all of a loop's
  // accesses.
  llvm::PassInstrumentationCallbacks callbacks;
  callbacks.registerShouldRunOptionalPassCallback(
      [](llvm::StringRef pass, llvm::Any) { return pass != "LoopLoadEliminationPass"; });
  llvm::PassBuilder builder(&machine, tuning, std::nullopt, &callbacks);
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  llvm::ModulePassManager passes =
      level == 0 ? builder.buildO0DefaultPipeline(levels[0]) : builder.buildPerModuleDefaultPipeline(levels[level]);
  passes.run(module, modules);
  storeSingleLanes(module);
}

void target::emit(llvm::Module &module, llvm::TargetMachine &machine, MachineFile file, llvm::raw_pwrite_stream &out) {
  llvm::legacy::PassManager passes;
  bool refused = machine.addPassesToEmitFile(passes, out, nullptr,
                                             file == MachineFile::Object ? llvm::CodeGenFileType::ObjectFile
                                                                         : llvm::CodeGenFileType::AssemblyFile);
  assert(!refused && "every target kiln uses writes objects and assembly");
  (void)refused;
  passes.run(module);
}
