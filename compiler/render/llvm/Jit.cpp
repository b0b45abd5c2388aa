//===- Jit.cpp - Objects in memory, linked by LLVM's ORC ----===//
//
// Kernels compile as for a file, each to an object of its own and in parallel, so the code here is the same as in a
// program. ORC only links them: to each other, to libc and libm, and to the runtime's functions, which are given by
// name, because this process need not export them. Loaded code keeps the linker alive, not the other way round.
//
//===----------------------------------------------------------------------===//

#include "render/llvm/Jit.h"

#include "render/llvm/LlvmEmit.h"
#include "render/llvm/LlvmKernel.h"
#include "render/model/WeightData.h"

#include "kiln/program.h"
#include "support/Error.h"
#include "llvm/ExecutionEngine/Orc/AbsoluteSymbols.h"
#include "llvm/ExecutionEngine/Orc/ExecutionUtils.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Target/TargetMachine.h"

using namespace kiln;
using namespace kiln::render;
namespace orc = llvm::orc;

namespace {

/// The code of objects that refer to one another; freed with this.
class LoadedObject {
public:
  static llvm::Expected<std::unique_ptr<LoadedObject>>
  load(std::shared_ptr<orc::LLJIT> jit, std::vector<ObjectBuffer> objects, const RuntimeSymbols &symbols);
  ~LoadedObject() { llvm::cantFail(jit_->getExecutionSession().removeJITDylib(library_)); }

  llvm::Expected<void *> find(llvm::StringRef name) {
    llvm::Expected<orc::ExecutorAddr> address = jit_->lookup(library_, name);
    if (!address)
      return address.takeError();
    return address->toPtr<void *>();
  }

private:
  LoadedObject(std::shared_ptr<orc::LLJIT> jit, orc::JITDylib &library) : jit_(std::move(jit)), library_(library) {}

  std::shared_ptr<orc::LLJIT> jit_;
  orc::JITDylib &library_;
};

class JitKernel final : public target::LoadedKernel {
public:
  using Entry = void (*)(void *const *, const int64_t *, int64_t);
  JitKernel(std::unique_ptr<LoadedObject> object, Entry entry) : object_(std::move(object)), entry_(entry) {}
  void run(void *const *buffers, const int64_t *sizes, int64_t chunk) const override { entry_(buffers, sizes, chunk); }

private:
  std::unique_ptr<LoadedObject> object_;
  Entry entry_;
};

class JitModel final : public target::LoadedModel {
public:
  JitModel(std::unique_ptr<llvm::WritableMemoryBuffer> weights, std::unique_ptr<LoadedObject> object,
           const kiln_model *model)
      : weights_(std::move(weights)), object_(std::move(object)), model_(model) {}
  const kiln_model &model() const override { return *model_; }

private:
  std::unique_ptr<llvm::WritableMemoryBuffer> weights_;
  std::unique_ptr<LoadedObject> object_;
  const kiln_model *model_;
};

} // namespace

llvm::Expected<std::unique_ptr<LoadedObject>>
LoadedObject::load(std::shared_ptr<orc::LLJIT> jit, std::vector<ObjectBuffer> objects, const RuntimeSymbols &symbols) {
  // A library of their own, so that two models may both define kiln_the_model.
  static std::atomic<unsigned> count = 0;
  orc::JITDylib &library = jit->getExecutionSession().createBareJITDylib("kiln." + std::to_string(count++));
  std::unique_ptr<LoadedObject> loaded(new LoadedObject(jit, library));
  orc::SymbolMap map;
  for (const llvm::StringMapEntry<void *> &symbol : symbols)
    map[jit->mangleAndIntern(symbol.first())] = {orc::ExecutorAddr::fromPtr(symbol.second),
                                                 llvm::JITSymbolFlags::Exported | llvm::JITSymbolFlags::Callable};
  if (llvm::Error error = library.define(orc::absoluteSymbols(std::move(map))))
    return error;
  // libm and libc.
  llvm::Expected<std::unique_ptr<orc::DynamicLibrarySearchGenerator>> process =
      orc::DynamicLibrarySearchGenerator::GetForCurrentProcess(jit->getDataLayout().getGlobalPrefix());
  if (!process)
    return process.takeError();
  library.addGenerator(std::move(*process));
  for (ObjectBuffer &object : objects)
    if (llvm::Error error = jit->addObjectFile(library, std::move(object)))
      return error;
  return loaded;
}

Jit::Jit(target::Cpu cpu, target::OptLevel level, RuntimeSymbols symbols, std::shared_ptr<orc::LLJIT> jit)
    : cpu_(std::move(cpu)), level_(level), symbols_(std::move(symbols)), jit_(std::move(jit)) {}

Jit::~Jit() = default;

llvm::Expected<std::unique_ptr<Jit>> Jit::create(const target::Cpu &cpu, target::OptLevel level,
                                                 RuntimeSymbols symbols) {
  llvm::Expected<std::unique_ptr<llvm::TargetMachine>> machine = target::makeTargetMachine(cpu, level);
  if (!machine)
    return machine.takeError();
  llvm::Expected<std::unique_ptr<orc::LLJIT>> jit =
      orc::LLJITBuilder()
          .setJITTargetMachineBuilder(orc::JITTargetMachineBuilder(llvm::Triple(cpu.triple)))
          .setDataLayout((*machine)->createDataLayout())
          .create();
  if (!jit)
    return jit.takeError();
  return std::unique_ptr<Jit>(new Jit(cpu, level, std::move(symbols), std::move(*jit)));
}

llvm::Expected<std::unique_ptr<target::LoadedKernel>> Jit::load(uop::FuncOp kernel) {
  llvm::Expected<ObjectBuffer> code = compileKernel(kernel, cpu_, level_);
  if (!code)
    return code.takeError();
  std::vector<ObjectBuffer> objects;
  objects.push_back(std::move(*code));
  llvm::Expected<std::unique_ptr<LoadedObject>> object = LoadedObject::load(jit_, std::move(objects), symbols_);
  if (!object)
    return object.takeError();
  llvm::Expected<void *> address = (*object)->find(entryName(kernel));
  if (!address)
    return address.takeError();
  return std::make_unique<JitKernel>(std::move(*object), reinterpret_cast<JitKernel::Entry>(*address));
}

llvm::Expected<std::unique_ptr<target::LoadedModel>>
Jit::loadModel(const ModelTables &tables, llvm::StringRef name, const WeightSource &source, std::vector<Place> places) {
  std::unique_ptr<llvm::WritableMemoryBuffer> weights =
      llvm::WritableMemoryBuffer::getNewUninitMemBuffer(tables.weightBytes, "weights", llvm::Align(KILN_ALIGNMENT));
  if (!weights)
    return failure(name + ": no memory for " + llvm::Twine(tables.weightBytes) + " bytes of weights");
  if (llvm::Error error = readWeights(tables.weights, source, weights->getBuffer()))
    return error;
  ProgramOptions options;
  options.name = name.str();
  options.places = std::move(places);
  options.weights = WeightPlacement::External;
  llvm::Expected<std::vector<ObjectBuffer>> parts = compileParts(Version{tables, cpu_}, level_, options);
  if (!parts)
    return parts.takeError();
  RuntimeSymbols symbols = symbols_;
  symbols[kWeightSymbol] = weights->getBufferStart();
  llvm::Expected<std::unique_ptr<LoadedObject>> object = LoadedObject::load(jit_, std::move(*parts), symbols);
  if (!object)
    return object.takeError();
  llvm::Expected<void *> model = (*object)->find(options.symbol);
  if (!model)
    return model.takeError();
  return std::make_unique<JitModel>(std::move(weights), std::move(*object), static_cast<const kiln_model *>(*model));
}
