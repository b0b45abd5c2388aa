#include "render/llvm/LlvmProgram.h"

#include "ir/base/NarrowDType.h"
#include "ir/uop/LaunchCost.h"
#include "render/llvm/LlvmHost.h"
#include "render/llvm/LlvmKernel.h"
#include "render/model/EntryPoints.h"
#include "render/model/WeightData.h"
#include "target/Target.h"

#include "kiln/program.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/ModuleUtils.h"

using namespace kiln;
using namespace kiln::render;
using llvm::Constant;

namespace {

/// Writes structs of program.h as constants. Their members are in the header's order; LLVM lays them out as C does.
class TableWriter {
public:
  TableWriter(llvm::Module &module) : module_(module), b_(module.getContext()) {}

  Constant *number(int32_t value) { return b_.getInt32(value); }
  Constant *wide(int64_t value) { return b_.getInt64(value); }
  Constant *real(double value) { return llvm::ConstantFP::get(b_.getDoubleTy(), value); }
  Constant *null() { return llvm::ConstantPointerNull::get(b_.getPtrTy()); }
  Constant *dtype(DType value) { return number(static_cast<int32_t>(value)); }
  Constant *text(llvm::StringRef value) { return b_.CreateGlobalString(value, "text", 0, &module_); }
  Constant *record(llvm::ArrayRef<Constant *> members) { return llvm::ConstantStruct::getAnon(members); }

  Constant *global(Constant *content, llvm::StringRef name, unsigned alignment = 0) {
    auto *made = new llvm::GlobalVariable(module_, content->getType(), /*isConstant=*/true,
                                          llvm::GlobalValue::PrivateLinkage, content, name);
    made->setUnnamedAddr(llvm::GlobalValue::UnnamedAddr::Global);
    if (alignment)
      made->setAlignment(llvm::Align(alignment));
    return made;
  }
  /// Symbols that the runtime defines.
  Constant *external(const llvm::Twine &name) {
    llvm::SmallString<64> room;
    if (llvm::GlobalVariable *known = module_.getNamedGlobal(name.toStringRef(room)))
      return known;
    return new llvm::GlobalVariable(module_, b_.getInt8Ty(), /*isConstant=*/true, llvm::GlobalValue::ExternalLinkage,
                                    nullptr, name);
  }
  /// A pointer to the first of the entries; null if there are none.
  Constant *array(llvm::ArrayRef<Constant *> entries, llvm::StringRef name) {
    if (entries.empty())
      return null();
    auto *type = llvm::ArrayType::get(entries.front()->getType(), entries.size());
    return global(llvm::ConstantArray::get(type, entries), name);
  }
  Constant *bytes(llvm::StringRef content, llvm::StringRef name, unsigned alignment) {
    return global(llvm::ConstantDataArray::getString(module_.getContext(), content, /*AddNull=*/false), name,
                  alignment);
  }

  Constant *ports(llvm::ArrayRef<PortEntry> entries, llvm::StringRef name) {
    return array(llvm::map_to_vector(entries, [&](const PortEntry &entry) { return port(entry); }), name);
  }
  Constant *symbols(llvm::ArrayRef<SymbolEntry> entries);
  Constant *weights(llvm::ArrayRef<WeightEntry> entries);
  Constant *kernels(llvm::ArrayRef<KernelEntry> entries, llvm::ArrayRef<Constant *> functions);

  Constant *aliases(llvm::ArrayRef<AliasEntry> entries);
  Constant *places(llvm::ArrayRef<Place> entries);
  Constant *origin(const Origin &origin);

private:
  Constant *port(const PortEntry &entry);

  llvm::Module &module_;
  llvm::IRBuilder<> b_;
};

} // namespace

Constant *TableWriter::port(const PortEntry &entry) {
  Constant *dims = array(llvm::map_to_vector(entry.dims,
                                             [&](const DimEntry &dim) {
                                               return record({text(dim.text), wide(dim.size), number(dim.symbol)});
                                             }),
                         "dims");
  Constant *value = null();
  if (entry.value) {
    std::string content;
    llvm::raw_string_ostream out(content);
    writeElements(entry.value, out);
    value = bytes(content, "default", KILN_ALIGNMENT);
  }
  return record({text(entry.name), number(runtimeDType(entry.element)),
                 number(entry.hasRank ? int64_t(entry.dims.size()) : -1), dims, value, ports(entry.holds, "holds"),
                 number(entry.device), number(entry.optionalAxes)});
}

Constant *TableWriter::symbols(llvm::ArrayRef<SymbolEntry> entries) {
  return array(llvm::map_to_vector(entries,
                                   [&](const SymbolEntry &entry) {
                                     return record(
                                         {text(entry.name), wide(entry.min), wide(entry.max), wide(entry.value)});
                                   }),
               "symbols");
}

Constant *TableWriter::aliases(llvm::ArrayRef<AliasEntry> entries) {
  return array(llvm::map_to_vector(entries,
                                   [&](const AliasEntry &entry) {
                                     return record({number(entry.input), number(entry.output), number(entry.axis),
                                                    wide(entry.capacity)});
                                   }),
               "aliases");
}

Constant *TableWriter::weights(llvm::ArrayRef<WeightEntry> entries) {
  return array(llvm::map_to_vector(entries,
                                   [&](const WeightEntry &entry) {
                                     Constant *dims = array(
                                         llvm::map_to_vector(entry.dims, [&](int64_t size) { return wide(size); }),
                                         "dims");
                                     return record({text(entry.name), dtype(entry.dtype), number(entry.dims.size()),
                                                    dims, wide(entry.offset), wide(entry.bytes), number(entry.device)});
                                   }),
               "weights");
}

Constant *TableWriter::kernels(llvm::ArrayRef<KernelEntry> entries, llvm::ArrayRef<Constant *> functions) {
  llvm::SmallVector<Constant *> rows;
  for (auto [entry, function] : llvm::zip(entries, functions)) {
    uop::FuncOp kernel = entry.function;
    auto *local = llvm::ConstantDataArray::get(module_.getContext(), llvm::ArrayRef<int64_t>(entry.local));
    rows.push_back(record({text(kernel.getSymName()), number(entry.buffers), number(entry.sizes), function, local,
                           number(entry.scratch), number(entry.device),
                           uop::axesOf(kernel).empty() ? null() : text(uop::axesOf(kernel))}));
  }
  return array(rows, "kernels");
}

Constant *TableWriter::places(llvm::ArrayRef<Place> entries) {
  return array(
      llvm::map_to_vector(entries,
                          [&](const Place &entry) {
                            Constant *code = entry.code.empty() ? null() : bytes(entry.code, "code", KILN_ALIGNMENT);
                            return record({external("kiln_device_" + entry.device), code, wide(entry.code.size()),
                                           real(entry.operationsPerNs), real(entry.bytesPerNs),
                                           wide(entry.caches[0].bytes), real(entry.caches[0].bytesPerNs),
                                           wide(entry.caches[1].bytes), real(entry.caches[1].bytesPerNs)});
                          }),
      "devices");
}

Constant *TableWriter::origin(const Origin &origin) {
  return global(record({text(origin.kiln), text(origin.digest), text(llvm::join(origin.cpus, ",")), text(origin.target),
                        text(llvm::join(origin.libraries, ","))}),
                "origin");
}

/// Linkers keep notes, whether they are referred to or not.
static void addNote(const Origin &origin, llvm::Module &module) {
  llvm::IRBuilder<> b(module.getContext());
  std::string description = originJson(origin);
  uint32_t bytes = description.size() + 1;
  description.resize(llvm::alignTo(bytes, kNoteAlignment));
  auto text = [&](llvm::StringRef value) {
    return llvm::ConstantDataArray::getString(module.getContext(), value, /*AddNull=*/false);
  };
  Constant *content =
      llvm::ConstantStruct::getAnon({b.getInt32(kNoteOwnerBytes), b.getInt32(bytes), b.getInt32(kNoteType),
                                     text(llvm::StringRef(kNoteOwner, sizeof kNoteOwner)), text(description)});
  auto *note = new llvm::GlobalVariable(module, content->getType(), /*isConstant=*/true,
                                        llvm::GlobalValue::PrivateLinkage, content, "note");
  note->setSection(kNoteSection);
  note->setAlignment(llvm::Align(kNoteAlignment));
  llvm::appendToCompilerUsed(module, note);
}

static Constant *placeWeights(WeightPlacement placement, llvm::Module &module) {
  llvm::Type *type = llvm::ArrayType::get(llvm::Type::getInt8Ty(module.getContext()), 0);
  if (placement == WeightPlacement::Absent)
    return llvm::ConstantPointerNull::get(llvm::PointerType::get(module.getContext(), 0));
  bool external = placement == WeightPlacement::External;
  auto *data =
      new llvm::GlobalVariable(module, type, /*isConstant=*/true,
                               external ? llvm::GlobalValue::ExternalLinkage : llvm::GlobalValue::InternalLinkage,
                               external ? nullptr : llvm::Constant::getNullValue(type), kWeightSymbol);
  data->setAlignment(llvm::Align(KILN_ALIGNMENT));
  if (!external)
    data->setSection(kWeightSection);
  return data;
}

static void addEntryPoint(const EntryPoint &entry, llvm::StringRef prefix, llvm::GlobalVariable *model,
                          llvm::Module &module) {
  llvm::IRBuilder<> b(module.getContext());
  llvm::SmallVector<llvm::Type *> types;
  for (char letter : entry.types)
    types.push_back(letter == 'v'   ? b.getVoidTy()
                    : letter == 'p' ? static_cast<llvm::Type *>(b.getPtrTy())
                    : letter == 'i' ? b.getInt32Ty()
                                    : b.getIntPtrTy(module.getDataLayout()));
  llvm::ArrayRef<llvm::Type *> parameters = llvm::ArrayRef(types).drop_front();
  auto *function = llvm::Function::Create(llvm::FunctionType::get(types.front(), parameters, false),
                                          llvm::GlobalValue::ExternalLinkage, prefix + "_" + entry.suffix, module);
  llvm::SmallVector<llvm::Value *> arguments;
  llvm::SmallVector<llvm::Type *> targetTypes;
  if (entry.passesModel) {
    arguments.push_back(model);
    targetTypes.push_back(b.getPtrTy());
  }
  for (llvm::Argument &argument : function->args())
    arguments.push_back(&argument);
  llvm::append_range(targetTypes, parameters);
  llvm::FunctionCallee target =
      module.getOrInsertFunction(entry.target, llvm::FunctionType::get(types.front(), targetTypes, false));
  b.SetInsertPoint(llvm::BasicBlock::Create(module.getContext(), "", function));
  llvm::CallInst *call = b.CreateCall(target, arguments);
  call->setTailCall();
  if (types.front()->isVoidTy())
    b.CreateRetVoid();
  else
    b.CreateRet(call);
}

/// RISC-V's registers hold an int32_t with its sign extended; others' callees do not look at the upper half.
static void extendIntegers(llvm::Module &module) {
  auto isNarrow = [](llvm::Type *type) { return type->isIntegerTy(32); };
  auto extend = [&](auto &callable, llvm::FunctionType *type) {
    if (isNarrow(type->getReturnType()))
      callable.addRetAttr(llvm::Attribute::SExt);
    for (auto [index, parameter] : llvm::enumerate(type->params()))
      if (isNarrow(parameter))
        callable.addParamAttr(index, llvm::Attribute::SExt);
  };
  for (llvm::Function &function : module) {
    if (function.isIntrinsic())
      continue;
    extend(function, function.getFunctionType());
    for (llvm::User *user : function.users())
      if (auto *call = llvm::dyn_cast<llvm::CallInst>(user); call && call->getCalledFunction() == &function)
        extend(*call, function.getFunctionType());
  }
}

/// The CPU features that the code needs: those of all code, and the matrix and dot instructions in its kernels.
static std::string featuresFor(const ModelTables &tables, const target::Cpu &cpu) {
  llvm::SmallSetVector<llvm::StringRef, 16> features(cpu.required.begin(), cpu.required.end());
  for (const KernelEntry &kernel : tables.kernels)
    uop::FuncOp(kernel.function).walk([&](mlir::Operation *op) {
      if (llvm::isa<uop::WmmaOp, uop::DotOp>(op))
        features.insert(target::featureOf(op->getAttrOfType<mlir::StringAttr>("name")));
    });
  return llvm::join(features, ",");
}

/// Has LLVM compile functions without a CPU of their own for this one.
static void noteCpu(const target::Cpu &cpu, llvm::Module &module) {
  for (llvm::Function &function : module)
    if (!function.isDeclaration() && !function.hasFnAttribute("target-cpu")) {
      function.addFnAttr("target-cpu", cpu.name);
      function.addFnAttr("target-features", cpu.features);
    }
}

/// The kiln_model of the version with this number. `weights`, `origin` and `otherwise` are members of it.
static Constant *renderVersion(const Version &version, size_t number, const ProgramOptions &options, Constant *weights,
                               Constant *origin, Constant *otherwise, llvm::Module &module) {
  const ModelTables &tables = version.tables;
  TableWriter write(module);
  llvm::SmallVector<Constant *> entries;
  for (const KernelEntry &kernel : tables.kernels) {
    if (!options.places[kernel.device].code.empty())
      entries.push_back(write.null());
    else if (options.separateKernels)
      entries.push_back(declareEntry(kernel.function, number, module));
    else
      entries.push_back(renderKernel(kernel.function, version.cpu, module));
  }
  return write.record({write.number(KILN_ABI_VERSION),
                       write.text(options.name),
                       write.places(options.places),
                       write.text(featuresFor(tables, version.cpu)),
                       write.ports(tables.inputs, "inputs"),
                       write.ports(tables.outputs, "outputs"),
                       write.symbols(tables.symbols),
                       write.weights(tables.weights),
                       write.kernels(tables.kernels, entries),
                       write.number(options.places.size()),
                       write.number(tables.inputs.size()),
                       write.number(tables.outputs.size()),
                       write.number(tables.symbols.size()),
                       write.number(tables.weights.size()),
                       write.number(tables.kernels.size()),
                       weights,
                       write.wide(tables.weightBytes),
                       renderHost(tables, module),
                       options.weightsDigest.empty() ? write.null() : write.text(options.weightsDigest),
                       write.aliases(tables.aliases),
                       write.number(tables.aliases.size()),
                       otherwise,
                       origin});
}

void render::renderProgram(llvm::ArrayRef<Version> versions, const ProgramOptions &options, llvm::Module &module) {
  bool hasWeights = llvm::any_of(versions, [](const Version &version) { return !version.tables.weights.empty(); });
  Constant *weights = placeWeights(hasWeights ? options.weights : WeightPlacement::Absent, module);
  Constant *next = llvm::ConstantPointerNull::get(llvm::PointerType::get(module.getContext(), 0));
  Constant *origin = next;
  if (!options.origin.kiln.empty()) {
    origin = TableWriter(module).origin(options.origin);
    addNote(options.origin, module);
  }
  llvm::GlobalVariable *first = nullptr;
  for (size_t number = versions.size(); number-- > 0;) {
    Constant *model = renderVersion(versions[number], number, options, weights, origin, next, module);
    if (versions.size() > 1)
      noteCpu(versions[number].cpu, module);
    next = first =
        new llvm::GlobalVariable(module, model->getType(), /*isConstant=*/true,
                                 number == 0 ? llvm::GlobalValue::ExternalLinkage : llvm::GlobalValue::InternalLinkage,
                                 model, number == 0 ? options.symbol : "otherwise");
  }
  if (!options.prefix.empty())
    for (const EntryPoint &entry : entryPoints())
      addEntryPoint(entry, options.prefix, first, module);
  if (module.getTargetTriple().isRISCV64())
    extendIntegers(module);
}
