//===- LlvmEmit.cpp - One module for all, or one for each kernel -------===//
//
// LLVM compiles a module in one thread, and a model may have hundreds of kernels. So for a link or a JIT each kernel is
// a module of its own, compiled in parallel with the host program's, and the results are kept in the order of the
// kernels: the bytes do not show which thread was done first. A file that has to be complete is one module. If a model
// is compiled for several CPUs, each kernel is for its own, while the code that they share is for the least CPU of the
// architecture. Weights are written into the finished object and never pass through LLVM.
//
//===-------------------------------------------------------------------===//
#include "render/llvm/LlvmEmit.h"

#include "render/llvm/LlvmKernel.h"
#include "render/model/WeightData.h"
#include "support/Quote.h"
#include "support/Step.h"
#include "target/ObjectSection.h"

#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Object/ArchiveWriter.h"
#include "llvm/Support/SmallVectorMemoryBuffer.h"
#include "llvm/Support/ThreadPool.h"
#include "llvm/Target/TargetMachine.h"

using namespace kiln;
using namespace kiln::render;

using Bytes = llvm::SmallVector<char, 0>;
using Fill = llvm::function_ref<void(llvm::Module &)>;

/// Has `fill` write a module, optimises it and hands it to `use`.
static llvm::Error compile(llvm::StringRef name, const target::Cpu &cpu, target::OptLevel level, Fill fill,
                           llvm::function_ref<void(llvm::Module &, llvm::TargetMachine &)> use) {
  llvm::Expected<std::unique_ptr<llvm::TargetMachine>> machine = target::makeTargetMachine(cpu, level);
  if (!machine)
    return machine.takeError();
  llvm::LLVMContext context;
  llvm::Module module(plainText(name), context); // LLVM writes it into a comment unchanged
  target::configure(module, **machine);
  fill(module);
  target::optimize(module, **machine, level);
  use(module, **machine);
  return llvm::Error::success();
}

static llvm::Expected<Bytes> compileTo(target::MachineFile file, llvm::StringRef name, const target::Cpu &cpu,
                                       target::OptLevel level, Fill fill) {
  Bytes bytes;
  if (llvm::Error error = compile(name, cpu, level, fill, [&](llvm::Module &module, llvm::TargetMachine &machine) {
        llvm::raw_svector_ostream out(bytes);
        target::emit(module, machine, file, out);
      }))
    return error;
  return bytes;
}

static ObjectBuffer makeBuffer(Bytes bytes, llvm::StringRef name) {
  return std::make_unique<llvm::SmallVectorMemoryBuffer>(std::move(bytes), name, /*RequiresNullTerminator=*/false);
}

llvm::Expected<ObjectBuffer> render::compileKernel(uop::FuncOp kernel, const target::Cpu &cpu, target::OptLevel level,
                                                   size_t number) {
  auto fill = [&](llvm::Module &module) { shareEntry(renderKernel(kernel, cpu, module), entryName(kernel, number)); };
  llvm::Expected<Bytes> bytes = compileTo(target::MachineFile::Object, kernel.getSymName(), cpu, level, fill);
  if (!bytes)
    return bytes.takeError();
  return makeBuffer(std::move(*bytes), kernel.getSymName());
}

/// The CPU of the code that belongs to all versions.
static llvm::Expected<target::Cpu> commonCpu(llvm::ArrayRef<Version> versions) {
  if (versions.size() == 1)
    return versions.front().cpu;
  return target::describeCpu("", "", versions.front().cpu.triple); // the least of the architecture
}

/// Writes an object, and fills its section of weights if the options want them there.
static llvm::Error writeObject(llvm::StringRef object, llvm::ArrayRef<Version> versions, const ProgramOptions &options,
                               const WeightSource &source, llvm::raw_ostream &out) {
  std::vector<WeightEntry> weights = sharedWeights(versions);
  if (weights.empty() || options.weights != WeightPlacement::Section) {
    out << object;
    return llvm::Error::success();
  }
  return target::fillSection(
      object, kWeightSection, versions.front().tables.weightBytes,
      [&](llvm::raw_ostream &to) { return writeWeights(weights, source, to); }, out);
}

llvm::Error render::emitProgram(llvm::ArrayRef<Version> versions, target::OptLevel level, const ProgramOptions &options,
                                LlvmFile file, const WeightSource &source, llvm::raw_ostream &out) {
  llvm::Expected<target::Cpu> cpu = commonCpu(versions);
  if (!cpu)
    return cpu.takeError();
  auto fill = [&](llvm::Module &module) { renderProgram(versions, options, module); };
  if (file == LlvmFile::Text)
    return compile(options.name, *cpu, level, fill,
                   [&](llvm::Module &module, llvm::TargetMachine &) { out << module; });
  bool isObject = file == LlvmFile::Object;
  llvm::Expected<Bytes> bytes = compileTo(isObject ? target::MachineFile::Object : target::MachineFile::Assembly,
                                          options.name, *cpu, level, fill);
  if (!bytes)
    return bytes.takeError();
  llvm::StringRef text(bytes->data(), bytes->size());
  if (isObject)
    return writeObject(text, versions, options, source, out);
  out << text;
  return llvm::Error::success();
}

llvm::Error render::emitKernels(llvm::ArrayRef<uop::FuncOp> kernels, const target::Cpu &cpu, target::OptLevel level,
                                LlvmFile file, llvm::StringRef model, llvm::raw_ostream &out) {
  auto fill = [&](llvm::Module &module) {
    for (uop::FuncOp kernel : kernels)
      shareEntry(renderKernel(kernel, cpu, module), entryName(kernel));
  };
  if (file == LlvmFile::Text)
    return compile(model, cpu, level, fill, [&](llvm::Module &module, llvm::TargetMachine &) { out << module; });
  llvm::Expected<Bytes> bytes = compileTo(target::MachineFile::Assembly, model, cpu, level, fill);
  if (!bytes)
    return bytes.takeError();
  out << llvm::StringRef(bytes->data(), bytes->size());
  return llvm::Error::success();
}

namespace {

struct NumberedKernel {
  uop::FuncOp function;
  size_t number; ///< of its version
};

} // namespace

llvm::Expected<std::vector<ObjectBuffer>> render::compileParts(llvm::ArrayRef<Version> versions, target::OptLevel level,
                                                               const ProgramOptions &options) {
  llvm::Expected<target::Cpu> cpu = commonCpu(versions);
  if (!cpu)
    return cpu.takeError();
  ProgramOptions separate = options;
  separate.separateKernels = true;
  std::vector<NumberedKernel> kernels;
  for (const auto &[number, version] : llvm::enumerate(versions))
    for (const KernelEntry &kernel : version.tables.kernels)
      if (options.places[kernel.device].code.empty())
        kernels.push_back({kernel.function, number});
  std::vector<ObjectBuffer> parts(1 + kernels.size());
  llvm::Error failed = llvm::Error::success();
  std::mutex lock;
  auto keep = [&](size_t index, llvm::Expected<ObjectBuffer> part) {
    std::lock_guard<std::mutex> guard(lock);
    if (part)
      parts[index] = std::move(*part);
    else
      failed = llvm::joinErrors(std::move(failed), part.takeError());
  };
  llvm::DefaultThreadPool pool(llvm::hardware_concurrency());
  for (size_t index = 0; index < kernels.size(); ++index)
    pool.async([&, index] {
      beginStep("kernel " + llvm::Twine(index + 1) + " of " + llvm::Twine(kernels.size()));
      auto [function, number] = kernels[index];
      keep(index + 1, compileKernel(function, versions[number].cpu, level, number));
    });
  llvm::Expected<Bytes> host = compileTo(target::MachineFile::Object, options.name, *cpu, level,
                                         [&](llvm::Module &module) { renderProgram(versions, separate, module); });
  if (host)
    keep(0, makeBuffer(std::move(*host), options.name));
  else
    keep(0, host.takeError());
  pool.wait();
  if (failed)
    return failed;
  return std::move(parts);
}

llvm::Error render::emitParts(llvm::ArrayRef<Version> versions, target::OptLevel level, const ProgramOptions &options,
                              const WeightSource &source, llvm::raw_ostream &host, llvm::raw_ostream &kernels) {
  llvm::Expected<std::vector<ObjectBuffer>> parts = compileParts(versions, level, options);
  if (!parts)
    return parts.takeError();
  std::vector<llvm::NewArchiveMember> members;
  for (const ObjectBuffer &part : llvm::drop_begin(*parts))
    members.emplace_back(part->getMemBufferRef());
  if (llvm::Error error = llvm::writeArchiveToStream(kernels, members, llvm::SymtabWritingMode::NormalSymtab,
                                                     llvm::object::Archive::K_GNU, /*Deterministic=*/true,
                                                     /*Thin=*/false))
    return error;
  return writeObject(parts->front()->getBuffer(), versions, options, source, host);
}
