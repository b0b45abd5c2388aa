//===- Render.cpp - A lowered model as text or machine code -------------===//
//
// There are three ways from kernels to an artefact. The device cpu: LLVM makes kernels and host program. The device c:
// both are one C file, for the user's C compiler. GPUs: kernels are text in the device's language, perhaps compiled
// here, and become data in a host program made by LLVM. Weights of recipes are computed here, while they are written.
// Code for that is made for the least CPU of this architecture and not for this machine's, so that the same model gives
// the same bytes wherever it is compiled.
//
//===--------------------------------------------------------------------===//
#include "Render.h"

#include "ir/base/Devices.h"
#include "package/CSource.h"
#include "package/Link.h"
#include "package/OutputFile.h"
#include "render/c/CHost.h"
#include "render/kernel/Listing.h"
#include "render/llvm/Jit.h"
#include "render/model/WeightData.h"
#include "support/Error.h"
#include "target/Target.h"
#include "tools/kiln/options/TargetOption.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/TargetParser/Triple.h"

#include <sys/auxv.h>

using namespace kiln;
using namespace kiln::driver;

/// Recipes run once: optimising them well takes longer than it gains.
static constexpr target::OptLevel kRecipeLevel = 1;

Rendering::Rendering(const Model &model, const CompileOptions &options) : model_(model), options_(options) {}

llvm::Error Rendering::addVersion(const Model &model) {
  TargetAttr target = targetOf(model.module());
  llvm::Expected<target::Cpu> cpu =
      target::describeCpu(target.getCpu(), target.getFeatures(), tripleOf(model.module()));
  if (!cpu)
    return cpu.takeError();
  versions_.push_back({render::modelTables(model.module()), std::move(*cpu)});
  return llvm::Error::success();
}

llvm::Error Rendering::findDevices() {
  for (TargetAttr target : targetsOf(model_.module())) {
    llvm::Expected<const DeviceEntry *> device = findDevice(target.getDevice());
    if (!device)
      return device.takeError();
    devices_.push_back(*device);
  }
  for (const DeviceEntry *other : devices_) {
    const std::string &name = other->compiler.name;
    if (!other->compiler.source && other->isC != device().isC)
      return usageError(options_.model + ": the kernels of device " + name + " and the host program, which is " +
                            device().compiler.name + "'s, are made by two compilers",
                        "use one of cpu and c for both");
    if (other != &device() && other->compiler.source && !tripleOf(model_.module()).empty())
      return usageError("--target " + tripleOf(model_.module()) + ": device " + name + " loads its driver at run time",
                        "compile it on such a system");
  }
  return llvm::Error::success();
}

llvm::Expected<Rendering> Rendering::create(llvm::ArrayRef<const Model *> models, const CompileOptions &options) {
  Rendering rendering(*models.front(), options);
  if (llvm::Error error = rendering.findDevices())
    return error;
  const std::string &name = rendering.device().compiler.name;
  if (!options.gpuArchs.empty() && llvm::none_of(rendering.devices_, [](const DeviceEntry *device) {
        return device->compiler.sourceCompiler.has_value();
      }))
    return usageError("--gpu-arch " + options.gpuArchs + ": device " + name + " compiles for no architecture of GPUs",
                      "leave it out, or use device cuda");
  if (models.size() > 1 && rendering.device().compiler.source)
    return usageError("--mcpu: device " + name + " has no kernels for CPUs", "name one, or use device cpu");
  if (models.size() > 1 && rendering.devices_.size() > 1)
    return usageError("--mcpu: " + options.model + " is for several devices", "name one CPU");
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

std::vector<uop::FuncOp> Rendering::kernelsOf(size_t number, const KernelFilter &filter) const {
  std::vector<uop::FuncOp> kernels;
  for (const render::KernelEntry &kernel : tables().kernels)
    if (uop::FuncOp function = kernel.function;
        kernel.device == int64_t(number) && filter.passes(function.getSymName()))
      kernels.push_back(function);
  return kernels;
}

std::string Rendering::kernelText(size_t number, const KernelFilter &filter) const {
  return devices_[number]->compiler.source(kernelsOf(number, filter));
}

llvm::StringRef Rendering::gpuArchs(const target::SourceCompiler &compiler) const {
  return options_.gpuArchs.empty() ? compiler.archs : options_.gpuArchs;
}

llvm::Expected<std::vector<render::Place>> Rendering::places() const {
  llvm::SmallVector<TargetAttr> targets = targetsOf(model_.module());
  std::vector<render::Place> made;
  for (size_t number = 0; number < devices_.size() && places_.empty(); ++number) {
    const target::Device &compiler = devices_[number]->compiler;
    llvm::Expected<std::string> code = compiler.source ? kernelText(number) : "";
    if (code && compiler.sourceCompiler)
      code = compiler.sourceCompiler->code(*code, gpuArchs(*compiler.sourceCompiler));
    if (!code)
      return code.takeError();
    TargetAttr target = targets[number];
    made.push_back({compiler.name, std::move(*code), target.getRates().getProductOpsPerNs(),
                    target.getRates().getBytesPerNs(), target::cacheRates(target)});
  }
  if (places_.empty())
    places_ = std::move(made);
  return places_;
}

llvm::Expected<std::string> Rendering::sourceC(const ModelNames &names, const WeightsOf &weights,
                                               bool isSelfContained) const {
  render::CHostOptions options;
  options.name = model_.name();
  options.origin = origin();
  llvm::Expected<std::vector<render::Place>> places = this->places();
  if (!places)
    return places.takeError();
  options.places = std::move(*places);
  options.symbol = names.symbol;
  options.prefix = names.prefix;
  options.isSelfContained = isSelfContained;
  options.weights = weightSource();
  options.weightsInFile = weights.placement == render::WeightPlacement::Absent;
  options.weightsDigest = weights.digest;
  return render::renderCHost(tables(), options);
}

/// A system as --target names it: LLVM's name without the vendor.
static std::string systemName(llvm::StringRef name) {
  llvm::Triple triple(llvm::Triple::normalize(name));
  return (triple.getArchName() + "-" + triple.getOSName() + "-" + triple.getEnvironmentName()).str();
}

render::Origin Rendering::origin() const {
  render::Origin origin;
  origin.kiln = KILN_VERSION;
  origin.model = model_.name();
  origin.digest = model_.digest();
  for (const DeviceEntry *device : devices_)
    origin.devices.push_back(device->compiler.name);
  if (!device().isC) { // else whoever calls the C compiler chooses
    for (const render::Version &version : versions_)
      origin.cpus.push_back(version.cpu.name);
    origin.target = systemName(cpu().triple);
  }
  for (const render::LibraryEntry &library : tables().libraries)
    origin.libraries.push_back(library.word.str());
  return origin;
}

static render::ProgramOptions programOptions(const Rendering &rendering, const ModelNames &names,
                                             std::vector<render::Place> places, const WeightsOf &weights) {
  render::ProgramOptions options;
  options.name = rendering.model().name();
  options.origin = rendering.origin();
  options.symbol = names.symbol;
  options.prefix = names.prefix;
  options.places = std::move(places);
  options.weights = weights.placement;
  options.weightsDigest = weights.digest;
  return options;
}

llvm::Error Rendering::source(llvm::raw_ostream &out) const {
  if (device().isC) {
    llvm::Expected<std::string> text = sourceC({}, render::WeightPlacement::Section);
    if (!text)
      return text.takeError();
    out << *text;
    return llvm::Error::success();
  }
  if (!llvm::all_of(devices_, [](const DeviceEntry *device) { return bool(device->compiler.source); }))
    return llvmText(out);
  for (size_t number = 0; number < devices_.size(); ++number)
    out << kernelText(number);
  return llvm::Error::success();
}

llvm::Error Rendering::emitText(render::LlvmFile form, llvm::raw_ostream &out) const {
  llvm::Expected<std::vector<render::Place>> places = this->places();
  if (!places)
    return places.takeError();
  return render::emitProgram(versions_, options_.level,
                             programOptions(*this, {}, *places, render::WeightPlacement::Section), form, weightSource(),
                             out);
}

llvm::Error Rendering::llvmText(llvm::raw_ostream &out) const {
  if (device().isC)
    return usageError("--emit llvm: the device " + device().compiler.name + " does not go through LLVM",
                      "use --emit render, or the device cpu");
  return emitText(render::LlvmFile::Text, out);
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

llvm::Error Rendering::assembly(llvm::raw_ostream &out) const {
  if (const std::optional<target::SourceCompiler> &compiler = device().compiler.sourceCompiler)
    return write(out, compiler->assembly(kernelText(), gpuArchs(*compiler)));
  if (!device().isC)
    return emitText(render::LlvmFile::Assembly, out);
  llvm::Expected<std::string> source = sourceC({}, render::WeightPlacement::Section);
  return source ? assembleC(*source, out) : source.takeError();
}

llvm::Error Rendering::assembleC(llvm::StringRef source, llvm::raw_ostream &out) const {
  llvm::Expected<std::unique_ptr<package::StagedFile>> file = package::StagedFile::temporary(model_.source());
  if (!file)
    return file.takeError();
  llvm::Expected<package::CSourceOptions> options = cOptions(options_);
  if (!options)
    return options.takeError();
  options->result = package::CResult::Assembly;
  options->compiler = cCompiler();
  options->isX86 = llvm::Triple(cpu().triple).isX86();
  if (llvm::Error error = package::compileC(source, *options, **file, "output"))
    return error;
  return copyFile((*file)->path(), out);
}

llvm::Error Rendering::printKernels(size_t number, KernelText form, const KernelFilter &filter,
                                    llvm::raw_ostream &out) const {
  std::vector<uop::FuncOp> kernels = kernelsOf(number, filter);
  if (kernels.empty())
    return llvm::Error::success();
  const DeviceEntry &device = *devices_[number];
  bool isLlvm = !device.isC && !device.compiler.source;
  if (form == KernelText::Llvm && !isLlvm)
    return usageError("--emit llvm: the device " + device.compiler.name + " does not go through LLVM",
                      "use --emit render, or the device cpu");
  if (isLlvm) {
    bool isText = form == KernelText::Source || form == KernelText::Llvm;
    return render::emitKernels(kernels, cpu(), options_.level,
                               isText ? render::LlvmFile::Text : render::LlvmFile::Assembly, model_.name(), out);
  }
  bool isSource = form == KernelText::Source;
  if (device.isC) {
    std::string text = render::renderCKernels(kernels, /*isComplete=*/!isSource);
    return isSource ? write(out, text) : assembleC(text, out);
  }
  std::string text = device.compiler.source(kernels);
  if (isSource)
    return write(out, text);
  const std::optional<target::SourceCompiler> &compiler = device.compiler.sourceCompiler;
  if (!compiler && form == KernelText::MachineCode) // its driver compiles them
    return llvm::Error::success();
  if (!compiler)
    return usageError("--emit asm: the driver of device " + device.compiler.name + " compiles its kernels",
                      "use --emit render");
  return write(out, form == KernelText::Assembly ? compiler->assembly(text, gpuArchs(*compiler))
                                                 : compiler->listing(text, gpuArchs(*compiler)));
}

llvm::Error Rendering::kernels(KernelText form, const KernelFilter &filter, llvm::raw_ostream &out) const {
  for (size_t number = 0; number < devices_.size(); ++number)
    if (llvm::Error error = printKernels(number, form, filter, out))
      return error;
  return llvm::Error::success();
}

llvm::Error Rendering::object(const package::StagedFile &to, const ModelNames &names, const WeightsOf &weights,
                              llvm::StringRef name) const {
  if (device().isC)
    return compileC(to, name, names, package::CResult::Object, weights);
  llvm::Expected<std::vector<render::Place>> places = this->places();
  if (!places)
    return places.takeError();
  return to.fillPart(name, [&](llvm::raw_ostream &out) {
    return render::emitProgram(versions_, options_.level, programOptions(*this, names, *places, weights),
                               render::LlvmFile::Object, weightSource(), out);
  });
}

llvm::Expected<std::string> Rendering::selfContainedC(const ModelNames &names, const WeightsOf &weights) const {
  return sourceC(names, weights, /*isSelfContained=*/true);
}

std::string Rendering::cCompiler() const {
  if (llvm::StringRef given = llvm::StringRef(options_.compiler).trim(); !given.empty())
    return given.str();
  llvm::StringRef triple = tripleOf(model_.module());
  if (!triple.empty())
    return (triple + "-gcc").str();
  llvm::StringRef chosen = llvm::StringRef(getenv("CC")).trim();
  return chosen.empty() ? "cc" : chosen.str();
}

bool Rendering::hasHostKernels() const {
  return !device().isC && llvm::any_of(tables().kernels, [&](const render::KernelEntry &kernel) {
    return !devices_[kernel.device]->compiler.source;
  });
}

llvm::Error Rendering::parts(const package::StagedFile &to, llvm::StringRef object, llvm::StringRef kernels,
                             const ModelNames &names, const WeightsOf &weights) const {
  llvm::Expected<std::vector<render::Place>> places = this->places();
  if (!places)
    return places.takeError();
  return to.fillPart(object, [&](llvm::raw_ostream &host) {
    return to.fillPart(kernels, [&](llvm::raw_ostream &archive) {
      return render::emitParts(versions_, options_.level, programOptions(*this, names, *places, weights),
                               weightSource(), host, archive);
    });
  });
}

llvm::Error Rendering::sharedLibrary(const package::StagedFile &to) const {
  return compileC(to, "output", {}, package::CResult::SharedLibrary, render::WeightPlacement::Section);
}

std::string driver::runningProgram() {
  // Without /proc the kernel still gives the path by which the program was run.
  const auto *path = reinterpret_cast<const char *>(getauxval(AT_EXECFN)); // NOLINT(performance-no-int-to-ptr)
  return llvm::sys::fs::getMainExecutable(path, reinterpret_cast<void *>(&runningProgram));
}
