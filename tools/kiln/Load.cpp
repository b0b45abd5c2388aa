#include "Load.h"

#include "Devices.h"
#include "render/Jit.h"

#include "kiln/program.h"

using namespace kiln;
using namespace kiln::driver;

/// What a host program calls.
static render::RuntimeSymbols runtimeSymbols() {
  render::RuntimeSymbols symbols;
  auto add = [&](llvm::StringRef name, auto *function) { symbols[name] = reinterpret_cast<void *>(function); };
  add("kiln_rt_input", kiln_rt_input);
  add("kiln_rt_weight", kiln_rt_weight);
  add("kiln_rt_output", kiln_rt_output);
  add("kiln_rt_arena", kiln_rt_arena);
  add("kiln_rt_alloc", kiln_rt_alloc);
  add("kiln_rt_free", kiln_rt_free);
  add("kiln_rt_copy", kiln_rt_copy);
  add("kiln_rt_read", kiln_rt_read);
  add("kiln_rt_write", kiln_rt_write);
  add("kiln_rt_fail", kiln_rt_fail);
  add("kiln_rt_launch", kiln_rt_launch);
  return symbols;
}

llvm::Expected<std::unique_ptr<target::LoadedModel>> driver::load(Model &model, const CompileOptions &options) {
  // view, schedule, optimize, lower
  if (llvm::Error error = model.advance(Stage::Lower))
    return error;

  // render
  llvm::Expected<target::Cpu> cpu = target::describeCpu(options.pipeline.cpu);
  if (!cpu)
    return cpu.takeError();
  render::ModelTables tables = render::modelTables(model.module());
  llvm::Expected<std::unique_ptr<render::Jit>> jit = render::Jit::create(*cpu, options.level, runtimeSymbols());
  if (!jit)
    return jit.takeError();
  return (*jit)->loadModel(tables, model.name(), model.folder(), options.pipeline.device, {});
}
