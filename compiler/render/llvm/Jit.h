//===- Jit.h - Kernels and models in this process ----------------------------------===//
#pragma once

#include "render/model/WeightData.h"
#include "target/Codegen.h"
#include "target/KernelRunner.h"

#include "llvm/ADT/StringMap.h"

namespace llvm::orc {
class LLJIT;
}

namespace kiln::render {

/// Functions that a model calls and that are not in libc or libm: kiln_rt_input and so on, by name.
using RuntimeSymbols = llvm::StringMap<void *>;

/// Compiles for one CPU at one level. Code that it has loaded may outlive it.
class Jit final : public target::KernelRunner {
public:
  static llvm::Expected<std::unique_ptr<Jit>> create(const target::Cpu &cpu, target::OptLevel level,
                                                     RuntimeSymbols symbols = {});
  ~Jit() override;

  llvm::Expected<std::unique_ptr<target::LoadedKernel>> load(uop::FuncOp kernel) override;

  /// A whole model, its weights read into memory. `name` is for messages.
  llvm::Expected<std::unique_ptr<target::LoadedModel>> loadModel(const ModelTables &tables, llvm::StringRef name,
                                                                 const WeightSource &source,
                                                                 std::vector<Place> places = {{"cpu", ""}});

private:
  Jit(target::Cpu cpu, target::OptLevel level, RuntimeSymbols symbols, std::shared_ptr<llvm::orc::LLJIT> jit);

  target::Cpu cpu_;
  target::OptLevel level_;
  RuntimeSymbols symbols_;
  std::shared_ptr<llvm::orc::LLJIT> jit_;
};

} // namespace kiln::render
