//===- Render.cpp - A lowered model as text or machine code -------------===//
//
// There are three ways from kernels to an artefact. The device cpu: LLVM makes kernels and host program. The device c:
// both are one C file, for the user's C compiler. GPUs: kernels are text in the device's language, perhaps compiled
// here, which lies as data in a host program made by LLVM.
// Weights that a recipe computes are computed here, while they are written. That code is made for the least CPU of this
// architecture and not for this machine's, so that the same model gives the same bytes wherever it is compiled.
//
//===--------------------------------------------------------------------===//
#include "Render.h"

#include "ir/base/Target.h"
#include "package/CSource.h"
#include "package/Link.h"
#include "package/OutputFile.h"
#include "render/CHost.h"
#include "render/Jit.h"
#include "render/Listing.h"
#include "render/LlvmEmit.h"
#include "render/WeightData.h"
#include "support/Error.h"
#include "tools/kiln/options/TargetOption.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/TargetParser/Triple.h"

#include <sys/auxv.h>

using namespace kiln;
using namespace kiln::driver;

/// Recipes run once: compiling them well takes longer than it gains.
static constexpr target::OptLevel kRecipeLevel = 1;

Rendering::Rendering(const Model &model, const CompileOptions &options, const DeviceEntry &device)
    : model_(model), options_(options), device_(device) {}

llvm::Error Rendering::addVersion(const Model &model) {
  TargetAttr target = targetOf(model.module());
  llvm::Expected<target::Cpu> cpu =
      target::describeCpu(target.getCpu(), target.getFeatures(), tripleOf(model.module()));
  if (!cpu)
    return cpu.takeError();
  versions_.push_back({render::modelTables(model.module()), std::move(*cpu)});
  return llvm::Error::success();
}

llvm::Expected<Rendering> Rendering::create(llvm::ArrayRef<const Model *> models, const CompileOptions &options) {
  llvm::StringRef name = targetOf(models.front()->module()).getDevice();
  llvm::Expected<const DeviceEntry *> device = findDevice(name);
  if (!device)
    return device.takeError();
  if (!options.gpuArchs.empty() && !(*device)->compiler.sourceCompiler)
    return usageError("--gpu-arch " + options.gpuArchs + ": device " + name + " compiles for no architecture of GPUs",
                      "leave it out, or use device cuda");
  if (models.size() > 1 && (*device)->compiler.source)
    return usageError("--mcpu: device " + name + " has no kernels for CPUs", "name one, or use device cpu");
  Rendering rendering(*models.front(), options, **device);
  for (const Model *model : models)
    if (llvm::Error error = rendering.addVersion(*model))
      return error;
  render::shareWeights(rendering.versions_);
  if (render::usesReferences(rendering.tables()) && !llvm::Triple(rendering.cpu().triple).isArch64Bit())
    return failure(options.model + ": holds strings or sequences, which are pointers of 64 bits",
                   "make it for a system of 64 bits with --target");
  if (llvm::Error error = rendering.prepareRecipes())
    return error;
  return rendering;
}

llvm::Error Rendering::prepareRecipes() {
  std::vector<render::WeightEntry> weights = render::sharedWeights(versions_);
  if (llvm::none_of(weights, [](const render::WeightEntry &weight) { return weight.recipe; }))
    return llvm::Error::success();
  llvm::Expected<target::Cpu> cpu = target::describeCpu(target::baselineCpu());
  if (!cpu)
    return cpu.takeError();
  llvm::Expected<std::unique_ptr<render::Jit>> jit = render::Jit::create(*cpu, kRecipeLevel);
  if (!jit)
    return jit.takeError();
  recipes_ = std::make_unique<render::RecipeRunner>(std::move(*jit));
  return llvm::Error::success();
}

std::string Rendering::kernelText() const {
  std::vector<uop::FuncOp> kernels;
  for (const render::KernelEntry &kernel : tables().kernels)
    kernels.push_back(kernel.function);
  return device_.compiler.source(kernels);
}

llvm::StringRef Rendering::gpuArchs() const {
  return options_.gpuArchs.empty() ? device_.compiler.sourceCompiler->archs : options_.gpuArchs;
}

llvm::Expected<llvm::StringRef> Rendering::code() const {
  if (code_ || !device_.compiler.source)
    return code_ ? llvm::StringRef(*code_) : "";
  llvm::Expected<std::string> code = kernelText();
  if (code && device_.compiler.sourceCompiler)
    code = device_.compiler.sourceCompiler->code(*code, gpuArchs());
  if (!code)
    return code.takeError();
  return *(code_ = std::move(*code));
}

llvm::Expected<std::string> Rendering::sourceC(const ModelNames &names, const WeightsOf &weights,
                                               bool isSelfContained) const {
  render::CHostOptions options;
  options.name = model_.name();
  options.symbol = names.symbol;
  options.prefix = names.prefix;
  options.isSelfContained = isSelfContained;
  options.weights = weightSource();
  options.weightsInFile = weights.placement == render::WeightPlacement::Absent;
  options.weightsDigest = weights.digest;
  return render::renderCHost(tables(), options);
}

static render::ProgramOptions programOptions(const Rendering &rendering, const ModelNames &names, llvm::StringRef code,
                                             const WeightsOf &weights) {
  render::ProgramOptions options;
  options.name = rendering.model().name();
  options.symbol = names.symbol;
  options.prefix = names.prefix;
  options.device = rendering.device().compiler.name;
  options.code = llvm::ArrayRef(code.data(), code.size());
  options.weights = weights.placement;
  options.weightsDigest = weights.digest;
  return options;
}

llvm::Error Rendering::source(llvm::raw_ostream &out) const {
  if (device_.isC) {
    llvm::Expected<std::string> text = sourceC({}, render::WeightPlacement::Section);
    if (!text)
      return text.takeError();
    out << *text;
    return llvm::Error::success();
  }
  if (!device_.compiler.source)
    return llvmText(out);
  out << kernelText();
  return llvm::Error::success();
}

llvm::Error Rendering::llvmText(llvm::raw_ostream &out) const {
  if (device_.isC)
    return usageError("--emit llvm: the device " + device_.compiler.name + " does not go through LLVM",
                      "use --emit render, or the device cpu");
  llvm::Expected<llvm::StringRef> code = this->code();
  if (!code)
    return code.takeError();
  return render::emitProgram(versions_, options_.level,
                             programOptions(*this, {}, *code, render::WeightPlacement::Section), render::LlvmFile::Text,
                             weightSource(), out);
}

static llvm::Expected<package::CSourceOptions> cOptions(const CompileOptions &options) {
  llvm::Expected<std::string> runtime = package::findRuntime(runningProgram());
  if (!runtime)
    return runtime.takeError();
  package::CSourceOptions result;
  result.includeFolder = *runtime + "/include";
  result.level = options.level;
  return result;
}

llvm::Error Rendering::compileC(const package::StagedFile &to, llvm::StringRef name, const ModelNames &names,
                                package::CResult result, const WeightsOf &weights) const {
  llvm::Expected<package::CSourceOptions> options = cOptions(options_);
  if (!options)
    return options.takeError();
  options->result = result;
  options->compiler = cCompiler();
  options->isX86 = llvm::Triple(cpu().triple).isX86();
  llvm::Expected<std::string> source = sourceC(names, weights);
  if (!source)
    return source.takeError();
  bool needsWeights = weights.placement == render::WeightPlacement::Section && !render::weightsInSource(tables()) &&
                      result != package::CResult::Assembly;
  if (needsWeights) {
    options->weightsPart = "weights.bin";
    if (llvm::Error error = to.fillPart(options->weightsPart, [&](llvm::raw_ostream &out) {
          return render::writeWeights(tables().weights, weightSource(), out);
        }))
      return error;
  }
  return package::compileC(*source, *options, to, name);
}

static llvm::Error copyFile(llvm::StringRef path, llvm::raw_ostream &out) {
  auto file = llvm::MemoryBuffer::getFile(path, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (!file)
    return failure(path + ": cannot be read: " + file.getError().message());
  out << (*file)->getBuffer();
  return llvm::Error::success();
}

static llvm::Error write(llvm::raw_ostream &out, llvm::Expected<std::string> text) {
  if (!text)
    return text.takeError();
  out << *text;
  return llvm::Error::success();
}

llvm::Error Rendering::machineCode(llvm::raw_ostream &out) const {
  if (const std::optional<target::SourceCompiler> &compiler = device_.compiler.sourceCompiler)
    return write(out, compiler->listing(kernelText(), gpuArchs()));
  return assembly(out);
}

llvm::Error Rendering::assembly(llvm::raw_ostream &out) const {
  if (const std::optional<target::SourceCompiler> &compiler = device_.compiler.sourceCompiler)
    return write(out, compiler->assembly(kernelText(), gpuArchs()));
  if (!device_.isC) {
    llvm::Expected<llvm::StringRef> code = this->code();
    if (!code)
      return code.takeError();
    return render::emitProgram(versions_, options_.level,
                               programOptions(*this, {}, *code, render::WeightPlacement::Section),
                               render::LlvmFile::Assembly, weightSource(), out);
  }
  llvm::Expected<std::unique_ptr<package::StagedFile>> file = package::StagedFile::temporary(model_.source());
  if (!file)
    return file.takeError();
  if (llvm::Error error = compileC(**file, "output", {}, package::CResult::Assembly, render::WeightPlacement::Section))
    return error;
  return copyFile((*file)->path(), out);
}

llvm::Error Rendering::object(const package::StagedFile &to, const ModelNames &names, const WeightsOf &weights,
                              llvm::StringRef name) const {
  if (device_.isC)
    return compileC(to, name, names, package::CResult::Object, weights);
  llvm::Expected<llvm::StringRef> code = this->code();
  if (!code)
    return code.takeError();
  return to.fillPart(name, [&](llvm::raw_ostream &out) {
    return render::emitProgram(versions_, options_.level, programOptions(*this, names, *code, weights),
                               render::LlvmFile::Object, weightSource(), out);
  });
}

llvm::Expected<std::string> Rendering::selfContainedC(const ModelNames &names, const WeightsOf &weights) const {
  return sourceC(names, weights, /*isSelfContained=*/true);
}

std::string Rendering::cCompiler() const {
  llvm::StringRef triple = tripleOf(model_.module());
  if (!triple.empty())
    return (triple + "-gcc").str();
  llvm::StringRef chosen = llvm::StringRef(getenv("CC")).trim();
  return chosen.empty() ? "cc" : chosen.str();
}

bool Rendering::hasHostKernels() const { return !device_.isC && !device_.compiler.source && !tables().kernels.empty(); }

llvm::Error Rendering::parts(const package::StagedFile &to, llvm::StringRef object, llvm::StringRef kernels,
                             const ModelNames &names, const WeightsOf &weights) const {
  return to.fillPart(object, [&](llvm::raw_ostream &host) {
    return to.fillPart(kernels, [&](llvm::raw_ostream &archive) {
      return render::emitParts(versions_, options_.level, programOptions(*this, names, "", weights), weightSource(),
                               host, archive);
    });
  });
}

llvm::Error Rendering::sharedLibrary(const package::StagedFile &to) const {
  return compileC(to, "output", {}, package::CResult::SharedLibrary, render::WeightPlacement::Section);
}

std::string driver::runningProgram() {
  // Where /proc is not there the kernel still says by which path the program was run.
  const auto *path = reinterpret_cast<const char *>(getauxval(AT_EXECFN)); // NOLINT(performance-no-int-to-ptr)
  return llvm::sys::fs::getMainExecutable(path, reinterpret_cast<void *>(&runningProgram));
}
