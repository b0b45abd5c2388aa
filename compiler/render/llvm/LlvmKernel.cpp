//===- LlvmKernel.cpp - Ranges become loops, and a few kernels several functions ---===//
// A uop has about one instruction, so most of this is a switch. The difficult parts are around it:
// - A kernel is called through an entry of one form, with arrays of pointers and sizes. Its own function takes them one
//   by one, each with the known facts: aliasing, alignment, bounds. LLVM uses these well.
// - Lanes are already chosen. LLVM's own vectoriser is kept out of loops where it would be wrong.
// - Matrix registers are configured once per function, so loops over matrices may have to become functions of their
//   own (LlvmMatrices.h).
//===----------------------------------------------------------------------------===//

#include "render/llvm/LlvmKernel.h"

#include "ir/base/Devices.h"
#include "ir/base/Target.h"
#include "ir/uop/FarLoads.h"
#include "ir/uop/Late.h"
#include "ir/uop/PastCaches.h"
#include "ir/uop/ShortLoops.h"
#include "render/kernel/Alignment.h"
#include "render/llvm/IntegerBounds.h"
#include "render/llvm/LlvmAlu.h"
#include "render/llvm/LlvmLanes.h"
#include "render/llvm/LlvmLookup.h"
#include "render/llvm/LlvmMatrices.h"
#include "render/llvm/LlvmProducts.h"

#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Analysis/VectorUtils.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/PatternMatch.h"

using namespace kiln;
using namespace kiln::render;
using llvm::BasicBlock;
using llvm::Value;

namespace {

class KernelRenderer {
public:
  KernelRenderer(uop::FuncOp kernel, const target::Cpu &cpu, llvm::Module &module)
      : kernel_(kernel), module_(module), context_(module.getContext()), b_(context_), alu_(b_, cpu.half),
        phases_(kernel) {}

  llvm::Function *run();

private:
  llvm::Function *declareKernel();
  llvm::Function *renderEntry(llvm::Function *body);

  void render(mlir::Block &block);
  void render(mlir::Operation &op);
  void render(uop::RangeOp op);
  void render(uop::IfOp op);
  void render(uop::LoadOp op);
  void render(uop::StoreOp op);
  void render(uop::PrefetchOp op);
  void render(uop::DefineOp op);
  void render(uop::AluOp op);
  void render(uop::VectorizeOp op);
  void render(uop::SpecialOp op);
  void render(uop::LoadMatrixOp op);
  void render(uop::StoreMatrixOp op);
  void render(uop::WmmaOp op);
  void render(uop::DotOp op);

  /// Whether a store goes past the caches: if marked, and if it surely begins at a line.
  bool goesPastCaches(uop::StoreOp op) const;
  Value *address(mlir::Value pointer, mlir::Value index, bool inBounds);
  Value *loadFrom(uop::LoadOp op, Value *address);
  /// Calls `make` for each part of a vector in memory that one register holds, with the part's type, its address, and a
  /// function that takes the same lanes of other vectors. A masked access is made of such parts. If LLVM 22 splits a
  /// wider one itself and knows that no lane of a half is accessed, it sometimes accesses all of that half.
  void forEachRegister(
      llvm::FixedVectorType *type, Value *address,
      llvm::function_ref<void(llvm::FixedVectorType *, Value *, llvm::function_ref<Value *(Value *)>)> make);
  Value *loadMasked(llvm::Type *type, Value *address, llvm::Align align, Value *gate, Value *fill);
  /// What `load` gives where the gate, one for all lanes, holds, else `otherwise`.
  Value *loadUnder(Value *gate, Value *otherwise, llvm::function_ref<Value *()> load);
  void storeMasked(Value *stored, Value *address, llvm::Align align, Value *gate);
  void under(Value *condition, llvm::function_ref<void()> body);
  BasicBlock *newBlock(llvm::StringRef name) { return BasicBlock::Create(context_, name, function_); }

  Value *value(mlir::Value v);
  llvm::Type *elementInMemory(mlir::Value pointer) {
    return memoryType(context_, llvm::cast<uop::PtrType>(pointer.getType()).getElement());
  }
  llvm::Align alignment(mlir::Value pointer) {
    return llvm::Align(byteSize(llvm::cast<uop::PtrType>(pointer.getType()).getElement()));
  }

  uop::FuncOp kernel_;
  llvm::Module &module_;
  llvm::LLVMContext &context_;
  llvm::IRBuilder<> b_;
  LlvmAlu alu_;
  IntegerBounds bounds_;
  llvm::Function *function_ = nullptr;
  Value *chunk_ = nullptr;
  llvm::SmallBitVector alignedToLines_;
  bool goesPastCaches_ = false; ///< some store
  MatrixPhases phases_;
  llvm::DenseMap<mlir::Value, Value *> values_;
};

} // namespace

llvm::Function *render::renderKernel(uop::FuncOp kernel, const target::Cpu &cpu, llvm::Module &module) {
  return KernelRenderer(kernel, cpu, module).run();
}

std::string render::entryName(uop::FuncOp kernel, size_t number) {
  return (kernel.getSymName() + ".entry").str() + (number ? "." + std::to_string(number) : "");
}

void render::shareEntry(llvm::Function *entry, llvm::StringRef name) {
  entry->setName(name);
  entry->setLinkage(llvm::GlobalValue::ExternalLinkage);
  entry->setVisibility(llvm::GlobalValue::HiddenVisibility);
}

static llvm::Function *makeEntry(uop::FuncOp kernel, llvm::Module &module) {
  llvm::IRBuilder<> builder(module.getContext());
  llvm::Type *types[] = {builder.getPtrTy(), builder.getPtrTy(), builder.getInt64Ty()};
  auto *entry = llvm::Function::Create(llvm::FunctionType::get(builder.getVoidTy(), types, false),
                                       llvm::GlobalValue::InternalLinkage, entryName(kernel), module);
  entry->setDoesNotThrow();
  return entry;
}

llvm::Function *render::declareEntry(uop::FuncOp kernel, size_t number, llvm::Module &module) {
  llvm::Function *entry = makeEntry(kernel, module);
  shareEntry(entry, entryName(kernel, number));
  return entry;
}

llvm::Function *KernelRenderer::run() {
  function_ = declareKernel();
  alignedToLines_ = alignedBuffers(kernel_, uop::kLineBytes);
  b_.SetInsertPoint(newBlock("entry"));
  render(kernel_.getBody().front());
  // Other threads see stores that went past the caches only after these were waited for.
  if (goesPastCaches_)
    b_.CreateFence(llvm::AtomicOrdering::SequentiallyConsistent);
  b_.CreateRetVoid();
  phases_.split(*function_);
  return renderEntry(function_);
}

llvm::Function *KernelRenderer::declareKernel() {
  llvm::SmallVector<llvm::Type *> types;
  for (mlir::Type type : kernel_.getArgumentTypes())
    types.push_back(llvm::isa<uop::PtrType>(type) ? b_.getPtrTy() : registerType(context_, type));
  types.push_back(b_.getInt64Ty());
  auto *function = llvm::Function::Create(llvm::FunctionType::get(b_.getVoidTy(), types, false),
                                          llvm::GlobalValue::InternalLinkage, kernel_.getSymName(), module_);
  function->setDoesNotThrow();
  function->addFnAttr(llvm::Attribute::NoInline); // it keeps its arguments' attributes and its name in a profile
  for (auto [index, argument] : llvm::enumerate(kernel_.getBody().getArguments())) {
    values_[argument] = function->getArg(index);
    function->addParamAttr(index, llvm::Attribute::NoUndef);
    if (!llvm::isa<uop::PtrType>(argument.getType()))
      continue;
    // Not nonnull: a tensor without elements may have no memory.
    function->addParamAttr(index, llvm::Attribute::NoAlias);
    function->addParamAttr(index, llvm::Attribute::getWithCaptureInfo(context_, llvm::CaptureInfo::none()));
    function->addParamAttr(index, llvm::Attribute::getWithAlignment(context_, alignment(argument)));
    if (!kernel_.writes(index))
      function->addParamAttr(index, llvm::Attribute::ReadOnly);
  }
  chunk_ = function->getArg(types.size() - 1);
  return function;
}

llvm::Function *KernelRenderer::renderEntry(llvm::Function *body) {
  llvm::Function *entry = makeEntry(kernel_, module_);
  b_.SetInsertPoint(BasicBlock::Create(context_, "entry", entry));
  llvm::SmallVector<Value *> arguments;
  unsigned buffers = kernel_.getBufferCount();
  for (auto [index, type] : llvm::enumerate(body->getFunctionType()->params().drop_back())) {
    bool isBuffer = index < buffers;
    llvm::Type *slot = isBuffer ? type : b_.getInt64Ty();
    Value *address = b_.CreateConstInBoundsGEP1_64(slot, entry->getArg(!isBuffer), isBuffer ? index : index - buffers);
    Value *loaded = b_.CreateLoad(slot, address);
    arguments.push_back(isBuffer ? loaded : b_.CreateTrunc(loaded, type));
  }
  arguments.push_back(entry->getArg(2));
  b_.CreateCall(body, arguments)->setTailCall();
  b_.CreateRetVoid();
  return entry;
}

//===----------------------------------------------------------------------===//
// Structure
//===----------------------------------------------------------------------===//

void KernelRenderer::render(mlir::Block &block) {
  for (mlir::Operation &op : block) {
    phases_.before(op, b_);
    render(op);
    phases_.after(op, b_);
  }
}

void KernelRenderer::render(mlir::Operation &op) {
  llvm::TypeSwitch<mlir::Operation *>(&op)
      .Case<uop::RangeOp, uop::IfOp, uop::LoadOp, uop::StoreOp, uop::PrefetchOp, uop::DefineOp, uop::AluOp,
            uop::VectorizeOp, uop::SpecialOp, uop::LoadMatrixOp, uop::StoreMatrixOp, uop::WmmaOp, uop::DotOp>(
          [&](auto typed) { render(typed); })
      .Case([&](uop::LookupOp l) { values_[l] = emitLookup(b_, value(l.getTable()), value(l.getIndex())); })
      .Case([&](uop::ConstOp c) {
        if (!isMatrix(c.getType()))
          values_[c] = constantOf(context_, c.getValue());
      })
      .Case([&](uop::FmaOp f) {
        values_[f] =
            alu_.fma(mlir::getElementTypeOrSelf(f.getType()), value(f.getA()), value(f.getB()), value(f.getC()));
      })
      .Case([&](uop::GepOp g) {
        Value *vector = value(g.getVector());
        auto lanes = llvm::to_vector(llvm::seq<int>(g.getLane(), g.getLane() + uop::lanesOf(g.getType())));
        bool isOne = !llvm::isa<mlir::VectorType>(g.getType());
        values_[g] = isOne ? b_.CreateExtractElement(vector, g.getLane()) : b_.CreateShuffleVector(vector, lanes);
      })
      .Case<uop::YieldOp>([](auto) {})   // its owner reads the values
      .Case<uop::BarrierOp>([](auto) {}) // a group of one item need not wait
      .Default([](mlir::Operation *unknown) { llvm_unreachable("every uop is rendered"); });
}

/// Whether a loop computes a remainder of integers, as an index that starts again does.
static bool wrapsIndices(uop::RangeOp op) {
  auto isRemainder = [](uop::AluOp alu) {
    Alu kind = alu.getKind().getValue();
    return (kind == Alu::MOD || kind == Alu::FLOORMOD) && mlir::getElementTypeOrSelf(alu.getType()).isInteger();
  };
  return op
      .walk([&](uop::AluOp alu) {
        return isRemainder(alu) ? mlir::WalkResult::interrupt() : mlir::WalkResult::advance();
      })
      .wasInterrupted();
}

/// A loop of more ops is too long to be unrolled, unless it has few steps: LLVM would count what that takes, twice.
static constexpr int64_t kMostUnrolled = 128, kFewSteps = 8;

static bool isLong(uop::RangeOp op) {
  auto from = op.getFrom().getDefiningOp<uop::ConstOp>(), to = op.getTo().getDefiningOp<uop::ConstOp>();
  auto number = [](uop::ConstOp of) { return llvm::cast<mlir::IntegerAttr>(of.getValue()).getInt(); };
  if (from && to && number(to) - number(from) <= kFewSteps)
    return false;
  int64_t ops = 0;
  auto count = [&](mlir::Operation *) {
    return ++ops > kMostUnrolled ? mlir::WalkResult::interrupt() : mlir::WalkResult::advance();
  };
  return op.walk(count).wasInterrupted();
}

/// What LLVM should not do with a loop; null: nothing.
static llvm::MDNode *hintsFor(uop::RangeOp op, llvm::LLVMContext &context) {
  llvm::SmallVector<llvm::Metadata *> hints{nullptr};
  // LLVM's vectoriser (22.1) treats an index modulo a power of two as if it did not wrap, guarded by a test of
  // something else.
  if (wrapsIndices(op)) {
    llvm::Metadata *off[] = {llvm::MDString::get(context, "llvm.loop.vectorize.enable"),
                             llvm::ConstantAsMetadata::get(llvm::ConstantInt::getFalse(context))};
    hints.push_back(llvm::MDNode::get(context, off));
  }
  if (op->hasAttr(uop::kShortLoop) || isLong(op))
    hints.push_back(llvm::MDNode::get(context, llvm::MDString::get(context, "llvm.loop.unroll.disable")));
  if (hints.size() == 1)
    return nullptr;
  llvm::MDNode *loop = llvm::MDNode::getDistinct(context, hints);
  loop->replaceOperandWith(0, loop);
  return loop;
}

void KernelRenderer::render(uop::RangeOp op) {
  Value *from = value(op.getFrom()), *to = value(op.getTo());
  BasicBlock *before = b_.GetInsertBlock();
  llvm::SmallVector<Value *> inits = llvm::map_to_vector(op.getInits(), [&](mlir::Value v) { return value(v); });
  BasicBlock *header = newBlock("range"), *body = newBlock("body"), *after = newBlock("after");
  b_.CreateBr(header);
  b_.SetInsertPoint(header);
  llvm::PHINode *index = b_.CreatePHI(from->getType(), 2, "i");
  index->addIncoming(from, before);
  values_[op.getIndex()] = index;
  llvm::SmallVector<llvm::PHINode *> carried;
  for (auto [argument, init, result] : llvm::zip(op.getCarried(), inits, op.getResults())) {
    llvm::PHINode *phi = b_.CreatePHI(init->getType(), 2);
    phi->addIncoming(init, before);
    values_[argument] = values_[result] = phi;
    carried.push_back(phi);
  }
  b_.CreateCondBr(b_.CreateICmpSLT(index, to), body, after);
  b_.SetInsertPoint(body);
  render(op.getBody().front());
  std::optional<Interval> start = bounds_.of(op.getFrom());
  Value *next =
      b_.CreateAdd(index, llvm::ConstantInt::get(index->getType(), 1), "", /*HasNUW=*/start && start->min >= 0,
                   /*HasNSW=*/true);
  index->addIncoming(next, b_.GetInsertBlock());
  for (auto [phi, yielded] : llvm::zip(carried, op.getYield().getValues()))
    phi->addIncoming(value(yielded), b_.GetInsertBlock());
  llvm::BranchInst *back = b_.CreateBr(header);
  if (llvm::MDNode *hints = hintsFor(op, context_))
    back->setMetadata(llvm::LLVMContext::MD_loop, hints);
  b_.SetInsertPoint(after);
}

void KernelRenderer::under(Value *condition, llvm::function_ref<void()> body) {
  BasicBlock *inside = newBlock("then"), *after = newBlock("endif");
  b_.CreateCondBr(condition, inside, after);
  b_.SetInsertPoint(inside);
  body();
  b_.CreateBr(after);
  b_.SetInsertPoint(after);
}

void KernelRenderer::render(uop::IfOp op) {
  Value *condition = value(op.getCondition());
  under(condition, [&] { render(op.getThenRegion().front()); });
  if (!op.getElseRegion().empty())
    under(b_.CreateNot(condition), [&] { render(op.getElseRegion().front()); });
}

void KernelRenderer::render(uop::SpecialOp op) {
  assert(op.getKind() == uop::SpecialKind::Chunk && op.getAxis() == 0 && "a CPU's launch has one axis, of chunks");
  values_[op] = b_.CreateTrunc(chunk_, registerType(context_, op.getType()), "chunk", /*IsNUW=*/true, /*IsNSW=*/true);
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

void KernelRenderer::render(uop::DefineOp op) {
  BasicBlock &entry = function_->getEntryBlock();
  llvm::IRBuilder<> top(&entry, entry.begin());
  auto *type = llvm::ArrayType::get(elementInMemory(op), op.getElements());
  llvm::AllocaInst *memory = top.CreateAlloca(type, nullptr, op.getName());
  memory->setAlignment(llvm::Align(64));
  values_[op] = memory;
}

Value *KernelRenderer::address(mlir::Value pointer, mlir::Value index, bool inBounds) {
  auto move = [&](Value *from, Value *distance, std::optional<Interval> range, bool isInside) {
    llvm::GEPNoWrapFlags flags;
    if (isInside) {
      flags = llvm::GEPNoWrapFlags::inBounds();
      if (range && range->min >= 0)
        flags |= llvm::GEPNoWrapFlags::noUnsignedWrap();
    }
    return b_.CreateGEP(elementInMemory(pointer), from, distance, "", flags);
  };
  // The constant is separate: addresses that differ only by it, as the rows of a register tile, share one register, and
  // LLVM makes it the instruction's displacement. It does not find that through the extension of a 32-bit sum.
  auto sum = index.getDefiningOp<uop::AluOp>();
  if (sum && sum.getKind().getValue() == Alu::ADD && bounds_.cannotWrap(sum))
    if (auto apart = sum->getOperand(1).getDefiningOp<uop::ConstOp>()) {
      std::optional<Interval> rest = bounds_.of(sum->getOperand(0)), constant = bounds_.of(apart);
      bool isBetween = rest && rest->min >= 0 && constant->min >= 0;
      Value *base = move(value(pointer), value(sum->getOperand(0)), rest, inBounds && isBetween);
      return move(base, b_.getInt64(constant->min), constant, inBounds && isBetween);
    }
  return move(value(pointer), value(index), bounds_.of(index), inBounds);
}

/// Reads a value, all of it; a bool's byte becomes an i1.
Value *KernelRenderer::loadFrom(uop::LoadOp op, Value *address) {
  llvm::Type *type = memoryType(context_, op.getType());
  llvm::LoadInst *load = b_.CreateAlignedLoad(type, address, alignment(op.getPointer()));
  if (auto argument = llvm::dyn_cast<mlir::BlockArgument>(op.getPointer());
      argument && !kernel_.writes(argument.getArgNumber()))
    load->setMetadata(llvm::LLVMContext::MD_invariant_load, llvm::MDNode::get(context_, {}));
  if (type == registerType(context_, op.getType()))
    return load;
  return b_.CreateICmpNE(load, llvm::Constant::getNullValue(type));
}

/// Some lanes of a vector. A comparison is made anew for these alone: the mask of more lanes than a register has would
/// be packed to narrow ones, and each part of it unpacked.
static Value *lanesOf(llvm::IRBuilderBase &b, Value *vector, unsigned first, unsigned lanes) {
  if (Value *scalar = llvm::getSplatValue(vector))
    return b.CreateVectorSplat(lanes, scalar);
  auto *operation = llvm::dyn_cast<llvm::Instruction>(vector);
  auto part = [&](unsigned operand) { return lanesOf(b, operation->getOperand(operand), first, lanes); };
  if (auto *comparison = llvm::dyn_cast<llvm::CmpInst>(vector))
    return b.CreateCmp(comparison->getPredicate(), part(0), part(1));
  if (operation && operation->isBitwiseLogicOp())
    return b.CreateBinOp(llvm::Instruction::BinaryOps(operation->getOpcode()), part(0), part(1));
  return b.CreateShuffleVector(vector, llvm::createSequentialMask(first, lanes, /*NumUndefs=*/0));
}

void KernelRenderer::forEachRegister(
    llvm::FixedVectorType *type, Value *address,
    llvm::function_ref<void(llvm::FixedVectorType *, Value *, llvm::function_ref<Value *(Value *)>)> make) {
  unsigned count = type->getNumElements();
  TargetAttr target = targetsOf(kernel_->getParentOfType<mlir::ModuleOp>())[deviceOf(kernel_)];
  unsigned most = target.vectorBits() / type->getScalarSizeInBits();
  unsigned each = most > 0 ? std::min(most, count) : count;
  for (unsigned first = 0; first < count; first += each) {
    unsigned lanes = std::min(each, count - first);
    auto part = [&](Value *vector) { return lanes == count ? vector : lanesOf(b_, vector, first, lanes); };
    Value *at = first ? b_.CreateConstGEP1_64(type->getElementType(), address, first) : address;
    make(llvm::FixedVectorType::get(type->getElementType(), lanes), at, part);
  }
}

Value *KernelRenderer::loadMasked(llvm::Type *type, Value *address, llvm::Align align, Value *gate, Value *fill) {
  llvm::SmallVector<Value *> parts;
  forEachRegister(llvm::cast<llvm::FixedVectorType>(type), address, [&](auto *own, Value *at, auto part) {
    parts.push_back(b_.CreateMaskedLoad(own, at, align, part(gate), part(fill)));
  });
  return parts.size() == 1 ? parts.front() : llvm::concatenateVectors(b_, parts);
}

/// How many lanes a mask leaves, all of them before those that it takes away; null: it is another mask.
static Value *countOfLanes(Value *gate) {
  auto *comparison = llvm::dyn_cast<llvm::ICmpInst>(gate);
  auto *numbers = comparison ? llvm::dyn_cast<llvm::ConstantDataVector>(comparison->getOperand(0)) : nullptr;
  if (!numbers || comparison->getPredicate() != llvm::CmpInst::ICMP_SLT)
    return nullptr;
  for (unsigned lane = 0; lane < numbers->getNumElements(); ++lane)
    if (numbers->getElementAsInteger(lane) != lane)
      return nullptr;
  return llvm::getSplatValue(comparison->getOperand(1));
}

void KernelRenderer::storeMasked(Value *stored, Value *address, llvm::Align align, Value *gate) {
  // Of several registers at most one is stored in part: some CPUs take as long for a masked store as for ten others.
  Value *count = countOfLanes(gate);
  unsigned first = 0;
  forEachRegister(llvm::cast<llvm::FixedVectorType>(stored->getType()), address, [&](auto *own, Value *at, auto part) {
    Value *lanes = part(stored), *mask = part(gate);
    unsigned end = first + own->getNumElements();
    auto isMore = [&](unsigned number) {
      return b_.CreateICmpSGT(count, llvm::ConstantInt::get(count->getType(), number));
    };
    if (!count || lanes == stored)
      return void(b_.CreateMaskedStore(lanes, at, align, mask));
    under(isMore(first), [&] {
      Value *isWhole = isMore(end - 1);
      under(isWhole, [&] { b_.CreateAlignedStore(lanes, at, align); });
      under(b_.CreateNot(isWhole), [&] { b_.CreateMaskedStore(lanes, at, align, mask); });
    });
    first = end;
  });
}

void KernelRenderer::render(uop::PrefetchOp op) {
  // Into the second cache: the first holds the data in use now. There may be nothing at the address. A line to be
  // written is taken from the other cores at once, not when the store comes.
  constexpr int kSecondCache = 2, kData = 1;
  Value *at = address(op.getPointer(), op.getIndex(), /*inBounds=*/false);
  b_.CreateIntrinsic(llvm::Intrinsic::prefetch, {at->getType()},
                     {at, b_.getInt32(op.getToWrite()), b_.getInt32(kSecondCache), b_.getInt32(kData)});
}

Value *KernelRenderer::loadUnder(Value *gate, Value *otherwise, llvm::function_ref<Value *()> load) {
  BasicBlock *before = b_.GetInsertBlock(), *inside = nullptr;
  Value *loaded = nullptr;
  under(gate, [&] {
    loaded = load();
    inside = b_.GetInsertBlock();
  });
  llvm::PHINode *phi = b_.CreatePHI(loaded->getType(), 2);
  phi->addIncoming(otherwise, before);
  phi->addIncoming(loaded, inside);
  return phi;
}

void KernelRenderer::render(uop::LoadOp op) {
  if (!op.getGate()) {
    values_[op] = loadFrom(op, address(op.getPointer(), op.getIndex(), /*inBounds=*/true));
    return;
  }
  Value *gate = value(op.getGate()), *otherwise = value(op.getOtherwise());
  if (gate->getType()->isVectorTy()) {
    llvm::Type *type = memoryType(context_, op.getType());
    bool isBool = type != otherwise->getType();
    Value *fill = isBool ? b_.CreateZExt(otherwise, type) : otherwise;
    // Lanes that are not read may lie outside the buffer, the first one too.
    auto load = [&](Value *mask) {
      return loadMasked(type, address(op.getPointer(), op.getIndex(), /*inBounds=*/false), alignment(op.getPointer()),
                        mask, fill);
    };
    using namespace llvm::PatternMatch;
    Value *own = nullptr, *splat = nullptr;
    bool isFar = op->hasAttr(uop::kFarLoad) && match(gate, m_And(m_Value(own), m_Value(splat)));
    Value *shared = isFar ? llvm::getSplatValue(splat) : nullptr;
    Value *loaded = shared ? loadUnder(shared, fill, [&] { return load(own); }) : load(gate);
    values_[op] = isBool ? b_.CreateICmpNE(loaded, llvm::Constant::getNullValue(type)) : loaded;
    return;
  }
  values_[op] = loadUnder(gate, otherwise,
                          [&] { return loadFrom(op, address(op.getPointer(), op.getIndex(), /*inBounds=*/true)); });
}

bool KernelRenderer::goesPastCaches(uop::StoreOp op) const {
  auto buffer = llvm::dyn_cast<mlir::BlockArgument>(op.getPointer());
  return op->hasAttr(uop::kPastCaches) && buffer && alignedToLines_.test(buffer.getArgNumber()) &&
         divisorOf(op.getIndex()) * byteSize(mlir::getElementTypeOrSelf(op.getValue().getType())) % uop::kLineBytes ==
             0;
}

void KernelRenderer::render(uop::StoreOp op) {
  Value *stored = value(op.getValue());
  llvm::Type *type = memoryType(context_, op.getValue().getType());
  if (type != stored->getType())
    stored = b_.CreateZExt(stored, type);
  Value *gate = op.getGate() ? value(op.getGate()) : nullptr;
  llvm::Align align = alignment(op.getPointer());
  auto store = [&] {
    llvm::StoreInst *made =
        b_.CreateAlignedStore(stored, address(op.getPointer(), op.getIndex(), /*inBounds=*/true), align);
    if (!goesPastCaches(op))
      return;
    made->setAlignment(llvm::Align(uop::kLineBytes));
    made->setMetadata(llvm::LLVMContext::MD_nontemporal,
                      llvm::MDNode::get(context_, llvm::ConstantAsMetadata::get(b_.getInt32(1))));
    goesPastCaches_ = true;
  };
  if (!gate)
    store();
  else if (gate->getType()->isVectorTy())
    storeMasked(stored, address(op.getPointer(), op.getIndex(), /*inBounds=*/false), align, gate);
  else
    under(gate, store);
}

//===----------------------------------------------------------------------===//
// Matrices
//===----------------------------------------------------------------------===//

Value *KernelRenderer::value(mlir::Value v) {
  // The zeros of a matrix are made where they are used: there are too few registers for matrices to keep them.
  return isMatrix(v.getType()) && v.getDefiningOp<uop::ConstOp>() ? zeroMatrix(b_, v.getType()) : values_.lookup(v);
}

void KernelRenderer::render(uop::LoadMatrixOp op) {
  Value *pitch = pitchInBytes(b_, op.getType(), value(op.getPitch()));
  values_[op] = loadMatrix(b_, op.getType(), address(op.getPointer(), op.getIndex(), /*inBounds=*/true), pitch);
}

void KernelRenderer::render(uop::StoreMatrixOp op) {
  mlir::Type type = op.getValue().getType();
  Value *pitch = pitchInBytes(b_, type, value(op.getPitch()));
  Value *at = address(op.getPointer(), op.getIndex(), /*inBounds=*/true);
  storeMatrix(b_, type, at, pitch, value(op.getValue()));
}

void KernelRenderer::render(uop::WmmaOp op) {
  Value *sum = value(op.getSum()), *rows = value(op.getA()), *columns = value(op.getB());
  values_[op] = multiplyMatrices(b_, op, sum, rows, columns);
}

void KernelRenderer::render(uop::DotOp op) {
  values_[op] = emitDot(b_, op.getName(), value(op.getA()), value(op.getB()), value(op.getSum()));
}

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

/// The same value, which LLVM does not know: it neither moves it nor what is computed from it out of a loop.
static Value *kept(llvm::IRBuilderBase &b, Value *value) {
  auto *type = llvm::FunctionType::get(value->getType(), {value->getType()}, /*isVarArg=*/false);
  return b.CreateCall(llvm::InlineAsm::get(type, "", "=r,0", /*hasSideEffects=*/true), {value});
}

void KernelRenderer::render(uop::AluOp op) {
  Alu kind = op.getKind().getValue();
  llvm::SmallVector<Value *, 3> operands =
      llvm::map_to_vector<3>(op.getOperands(), [&](mlir::Value v) { return value(v); });
  mlir::Type from = mlir::getElementTypeOrSelf(op.getOperands()[kind == Alu::WHERE ? 1 : 0]);
  AluFacts facts;
  if (llvm::isa<mlir::IntegerType>(from)) {
    auto atLeast = [&](mlir::Value v, int64_t least) {
      std::optional<Interval> range = bounds_.of(v);
      return range && range->min >= least;
    };
    facts.noWrap = bounds_.cannotWrap(op);
    facts.nonNegative = llvm::all_of(op.getOperands(), [&](mlir::Value v) { return atLeast(v, 0); });
    facts.divisorNonZero = op.getNumOperands() == 2 && atLeast(op.getOperands()[1], 1);
  }
  Value *result = alu_.emit(kind, from, mlir::getElementTypeOrSelf(op.getType()), operands, facts);
  values_[op] = op->hasAttr(uop::kLate) ? kept(b_, result) : result;
}

void KernelRenderer::render(uop::VectorizeOp op) {
  auto *type = llvm::cast<llvm::FixedVectorType>(registerType(context_, op.getType()));
  if (op.getLanes().size() == 1) {
    values_[op] = b_.CreateVectorSplat(type->getElementCount(), value(op.getLanes()[0]));
    return;
  }
  if (values_.contains(op))
    return;
  auto valueOf = [&](mlir::Value v) { return value(v); };
  for (auto [made, turned] : turnLanes(b_, op, valueOf))
    values_[made] = turned;
  if (values_.contains(op))
    return;
  if (Value *picked = pickLanes(b_, op, valueOf)) {
    values_[op] = picked;
    return;
  }
  Value *vector = llvm::PoisonValue::get(type);
  for (auto [lane, scalar] : llvm::enumerate(op.getLanes()))
    vector = b_.CreateInsertElement(vector, value(scalar), lane);
  values_[op] = vector;
}
