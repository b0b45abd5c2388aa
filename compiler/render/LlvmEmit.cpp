#include "render/LlvmEmit.h"

#include "render/WeightData.h"
#include "target/ObjectSection.h"

#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Target/TargetMachine.h"

using namespace kiln;
using namespace kiln::render;

llvm::Error render::emitProgram(const ModelTables &tables, const target::Cpu &cpu, target::OptLevel level,
                                const ProgramOptions &options, LlvmFile file, llvm::StringRef folder,
                                llvm::raw_ostream &out) {
  llvm::Expected<std::unique_ptr<llvm::TargetMachine>> machine = target::makeTargetMachine(cpu, level);
  if (!machine)
    return machine.takeError();
  llvm::LLVMContext context;
  llvm::Module module(options.name, context);
  target::configure(module, **machine);
  renderProgram(tables, cpu, options, module);
  target::optimize(module, **machine, level);
  if (file == LlvmFile::Text) {
    out << module;
    return llvm::Error::success();
  }
  llvm::SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream code(bytes);
  bool isObject = file == LlvmFile::Object;
  target::emit(module, **machine, isObject ? target::MachineFile::Object : target::MachineFile::Assembly, code);
  if (!isObject || tables.weights.empty() || options.weights != WeightPlacement::Section) {
    out << code.str();
    return llvm::Error::success();
  }
  return target::fillSection(
      code.str(), kWeightSection, tables.weightBytes,
      [&](llvm::raw_ostream &to) { return writeWeights(tables, folder, to); }, out);
}
