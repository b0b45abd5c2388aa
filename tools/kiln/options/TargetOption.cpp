#include "TargetOption.h"

#include "ir/base/Target.h"
#include "support/Error.h"
#include "tools/kiln/Devices.h"

using namespace kiln;
using namespace kiln::driver;

static llvm::Error checkCpu(const DeviceEntry &device, llvm::StringRef cpu) {
  if (!device.isC || cpu.empty())
    return llvm::Error::success();
  return usageError("--mcpu " + cpu + ": the C compiler chooses the CPU of device " + device.compiler.name,
                    "leave it out, or use device cpu");
}

static constexpr llvm::StringLiteral kTripleAttr = "kiln.triple";

llvm::StringRef driver::tripleOf(mlir::ModuleOp module) {
  auto triple = module->getAttrOfType<mlir::StringAttr>(kTripleAttr);
  return triple ? triple.getValue() : "";
}

llvm::Error driver::parseCpus(llvm::StringRef text, CompileOptions &options) {
  llvm::SmallVector<llvm::StringRef> names;
  text.split(names, ',');
  for (auto [index, name] : llvm::enumerate(names)) {
    if (name.empty() && names.size() > 1)
      return usageError("--mcpu " + text + ": a name is missing", "give names with a comma between them");
    if (llvm::is_contained(llvm::ArrayRef(names).take_front(index), name))
      return usageError("--mcpu " + text + ": names " + name + " twice", "give each CPU once");
  }
  options.cpu = names.front().str();
  for (llvm::StringRef name : llvm::drop_begin(names))
    options.otherCpus.push_back(name.str());
  return llvm::Error::success();
}

std::vector<CompileOptions> driver::versionsOf(const CompileOptions &options) {
  std::vector<CompileOptions> versions = {options};
  versions.front().otherCpus.clear();
  if (!options.otherCpus.empty())
    versions.front().panel = 1; // as wide as its kernels want them, but independent of chunks
  for (const std::string &cpu : options.otherCpus) {
    versions.push_back(versions.front());
    versions.back().cpu = cpu;
  }
  return versions;
}

static llvm::Error checkVersion(llvm::StringRef device, llvm::StringRef cpu, llvm::StringRef triple) {
  llvm::Expected<const DeviceEntry *> entry = findDevice(device.empty() ? "cpu" : device);
  if (!entry)
    return entry.takeError();
  if (llvm::Error error = checkCpu(**entry, cpu))
    return error;
  bool isCompiledHere = (*entry)->isC || (*entry)->compiler.target.empty();
  if (!triple.empty() && !isCompiledHere)
    return usageError("--target " + triple + ": device " + device + " is of this machine's system",
                      "use device cpu or c");
  return target::describeCpu(cpu, "", triple).takeError();
}

llvm::Error driver::checkTarget(const CompileOptions &options) {
  std::vector<target::Cpu> cpus;
  for (const CompileOptions &version : versionsOf(options)) {
    if (llvm::Error error = checkVersion(version.device, version.cpu, version.triple))
      return error;
    target::Cpu cpu = llvm::cantFail(target::describeCpu(version.cpu, "", version.triple));
    for (const target::Cpu &earlier : cpus)
      if (llvm::includes(cpu.required, earlier.required))
        return usageError("--mcpu " + version.cpu + ": never runs after " + earlier.name +
                              ", whose instructions it has all",
                          "put the most capable CPU first");
    cpus.push_back(std::move(cpu));
  }
  return llvm::Error::success();
}

/// The target for a dump that carries this target, or none: properties without an option stay.
static llvm::Expected<TargetAttr> wantedTarget(TargetAttr carried, const CompileOptions &options,
                                               llvm::StringRef triple, bool newSystem, mlir::MLIRContext *context) {
  llvm::StringRef name = !options.device.empty() ? options.device : carried ? carried.getDevice() : "cpu";
  llvm::Expected<const DeviceEntry *> device = findDevice(name);
  if (!device) {
    if (!options.device.empty())
      return device.takeError();
    llvm::consumeError(device.takeError());
    return failure(options.model + ": is for device " + name + ", which this kiln does not have",
                   "`kiln devices` lists what it has");
  }
  if (llvm::Error error = checkCpu(**device, options.cpu))
    return error;
  bool keepsDevice = carried && carried.getDevice() == name;
  TargetAttr target = carried;
  if (!keepsDevice || !options.cpu.empty() || newSystem) {
    bool keepsCpu = carried && options.cpu.empty() && !newSystem;
    llvm::Expected<target::Cpu> cpu = keepsCpu ? target::describeCpu(carried.getCpu(), carried.getFeatures(), triple)
                                               : target::describeCpu(options.cpu, "", triple);
    if (!cpu)
      return cpu.takeError();
    target = describeTarget(**device, *cpu, context);
    if (keepsDevice)
      target = target.withRates(carried.getRates());
  }
  RatesAttr rates = target.getRates();
  for (const auto &[rate, value] : options.rates)
    rates = rates.with(rate, value);
  return target.withRates(rates);
}

/// The name of the target's CPU in messages.
static std::string cpuOf(TargetAttr target) {
  std::string features = target.getFeatures().empty() ? "" : (" with " + target.getFeatures()).str();
  return target.getCpu().str() + features;
}

llvm::Error driver::setTarget(mlir::ModuleOp module, const CompileOptions &options) {
  auto carried = module->getAttrOfType<TargetAttr>(kTargetAttr);
  bool isFixed = stageOf(module) >= Stage::Schedule;
  if (isFixed && !carried)
    return failure(options.model + ": its attribute kiln.target is missing",
                   "give a dump that `kiln compile --emit STAGE` wrote");
  llvm::StringRef carriedTriple = tripleOf(module);
  llvm::StringRef triple = options.triple.empty() ? carriedTriple : llvm::StringRef(options.triple);
  if (isFixed && triple != carriedTriple)
    return usageError(options.model + ": its kernels are for " +
                          (carriedTriple.empty() ? "the machine that made it" : carriedTriple) + ", not " + triple,
                      "leave --target out, or give it with the model's file");
  llvm::Expected<TargetAttr> wanted =
      wantedTarget(carried, options, triple, triple != carriedTriple, module.getContext());
  if (!wanted)
    return wanted.takeError();
  if (!isFixed) {
    module->setAttr(kTargetAttr, options.panel ? wanted->withPanel(options.panel) : *wanted);
    if (!triple.empty())
      module->setAttr(kTripleAttr, mlir::StringAttr::get(module.getContext(), triple));
    return llvm::Error::success();
  }
  auto refuse = [&](const llvm::Twine &cause, llvm::StringRef option) {
    return usageError(options.model + ": " + cause, "leave " + option + " out, or give it with the model's file");
  };
  if (wanted->getDevice() != carried.getDevice())
    return refuse("its kernels are for device " + carried.getDevice() + ", not " + wanted->getDevice(), "--device");
  if (wanted->getCpu() != carried.getCpu() || wanted->getFeatures() != carried.getFeatures())
    return refuse("its kernels are for CPU " + cpuOf(carried) + ", not " + cpuOf(*wanted), "--mcpu");
  if (wanted->getRates() != carried.getRates())
    return refuse("its kernels were formed at other rates", "--rates");
  return llvm::Error::success();
}
