#include "Load.h"

#include "render/llvm/Jit.h"
#include "support/Error.h"
#include "tools/kiln/inspect/Progress.h"
#include "tools/kiln/model/Debug.h"
#include "tools/kiln/model/Render.h"
#include "tools/kiln/options/TargetOption.h"

#include "kiln/call.h"
#include "kiln/program.h"

#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/Triple.h"

#include <dlfcn.h>

using namespace kiln;
using namespace kiln::driver;

/// The functions that a host program calls.
static render::RuntimeSymbols runtimeSymbols(llvm::ArrayRef<const DeviceEntry *> devices) {
  render::RuntimeSymbols symbols;
  auto add = [&](llvm::StringRef name, auto *function) { symbols[name] = reinterpret_cast<void *>(function); };
  add("kiln_rt_input", kiln_rt_input);
  add("kiln_rt_weight", kiln_rt_weight);
  add("kiln_rt_output", kiln_rt_output);
  add("kiln_rt_arena", kiln_rt_arena);
  add("kiln_rt_zeros", kiln_rt_zeros);
  add("kiln_rt_plan", kiln_rt_plan);
  add("kiln_rt_alloc", kiln_rt_alloc);
  add("kiln_rt_free", kiln_rt_free);
  add("kiln_rt_copy", kiln_rt_copy);
  add("kiln_rt_read", kiln_rt_read);
  add("kiln_rt_write", kiln_rt_write);
  add("kiln_rt_fail", kiln_rt_fail);
  add("kiln_rt_fail_at", kiln_rt_fail_at);
  add("kiln_rt_launch", kiln_rt_launch);
  add("kiln_rt_batch_sample", kiln_rt_batch_sample);
  add("kiln_rt_batch_end", kiln_rt_batch_end);
  for (const DeviceEntry *device : devices)
    symbols["kiln_device_" + device->compiler.name] = const_cast<kiln_device *>(device->runtime);
  add("kiln_rt_call", kiln_rt_call);
#define KILN_CALL(NAME) add("kiln_call_" #NAME, kiln_call_##NAME);
  KILN_CALLS
#undef KILN_CALL
  return symbols;
}

namespace {

/// A model in a shared library.
class LibraryModel final : public target::LoadedModel {
public:
  LibraryModel(void *library, const kiln_model *model) : library_(library), model_(model) {}
  ~LibraryModel() override { dlclose(library_); }
  const kiln_model &model() const override { return *model_; }

private:
  void *library_;
  const kiln_model *model_;
};

} // namespace

/// Has the C compiler make a shared library and loads it; its file is deleted when this returns.
static llvm::Expected<std::unique_ptr<target::LoadedModel>> loadLibrary(const Rendering &rendering) {
  llvm::Expected<std::unique_ptr<package::StagedFile>> file =
      package::StagedFile::temporary(rendering.model().source());
  if (!file)
    return file.takeError();
  if (llvm::Error error = rendering.sharedLibrary(**file))
    return error;
  void *library = dlopen((*file)->path().c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library)
    return failure(rendering.model().source() + ": cannot be loaded: " + dlerror());
  auto *model = static_cast<const kiln_model *>(dlsym(library, "kiln_the_model"));
  return std::make_unique<LibraryModel>(library, model);
}

llvm::Expected<std::unique_ptr<target::LoadedModel>> driver::load(Model &model, const CompileOptions &options) {
  llvm::StringRef system = tripleOf(model.module());
  if (!system.empty() && llvm::Triple(system).getArch() != llvm::Triple(llvm::sys::getDefaultTargetTriple()).getArch())
    return failure(options.model + ": is for " + system + ", which this machine cannot run",
                   "compile it, or give the model's file");

  // view, schedule, optimize, lower
  if (llvm::Error error = model.advance(Stage::Lower))
    return error;

  // render
  beginStage(stageName(Stage::Render));
  llvm::Expected<Rendering> rendering = Rendering::create({&model}, options);
  if (!rendering)
    return rendering.takeError();
  if (llvm::Error error = printRendering(*rendering, options.debug, model.filter()))
    return error;
  if (rendering->device().isC)
    return loadLibrary(*rendering);
  // The kernels of other devices may be for a CPU that this machine is not; the host program runs here.
  llvm::Expected<target::Cpu> cpu = rendering->hasHostKernels() ? rendering->cpu() : target::describeCpu("");
  if (!cpu)
    return cpu.takeError();
  llvm::Expected<std::unique_ptr<render::Jit>> jit =
      render::Jit::create(*cpu, options.level, runtimeSymbols(rendering->devices()));
  if (!jit)
    return jit.takeError();
  llvm::Expected<std::vector<render::Place>> places = rendering->places();
  if (!places)
    return places.takeError();
  return (*jit)->loadModel(rendering->tables(), model.name(), rendering->weightSource(), std::move(*places));
}
