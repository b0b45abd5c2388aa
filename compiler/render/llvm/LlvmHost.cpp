//===- LlvmHost.cpp - One function that calls the runtime, op by op ----------===//
// The program is a list of calls with sizes computed in between. Arrays for calls are in the frame, one for all calls
// of a kind, as large as the largest asks for. Every call may fail: all of them lead to one block, which returns the
// status of the one that did. Sizes are expressions; a part that several share is computed once, where it is first
// needed. Arithmetic on sizes checks for wrapping: a run whose sizes do not fit ends with an error, not with a small
// buffer.
//===----------------------------------------------------------------------------===//

#include "render/llvm/LlvmHost.h"

#include "render/llvm/LlvmAlu.h"

#include "ir/host/Call.h"
#include "kiln/program.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/IR/Module.h"

using namespace kiln;
using namespace kiln::render;
using llvm::BasicBlock;
using llvm::Value;
using view::Expr;

namespace {

class HostRenderer {
public:
  HostRenderer(const ModelTables &tables, llvm::Module &module)
      : tables_(tables), module_(module), context_(module.getContext()), b_(context_), alu_(b_, /*nativeHalf=*/false) {}

  llvm::Function *run();

private:
  void render(mlir::Block &block);
  void render(mlir::Operation &op);
  void render(host::LaunchOp op);
  void render(host::CallOp op);
  void render(host::PlanOp op);
  void render(host::CheckOp op);
  void render(host::BatchOp op);
  void render(mlir::scf::IfOp op);
  void render(mlir::scf::WhileOp op);
  bool renderArith(mlir::Operation &op);
  Value *renderSize(Expr expr, llvm::DenseMap<Expr, Value *> &known);
  /// A sum or product; whether it wraps is noted for endIfWrapped.
  Value *checked(Alu kind, Value *a, Value *b);
  void endIfWrapped(const llvm::Twine &message);
  void unless(Value *condition, llvm::function_ref<void()> fail);
  void failUnless(Value *condition, kiln_status status, const llvm::Twine &message);

  /// Calls the runtime; a status other than KILN_OK ends the run.
  void call(llvm::StringRef name, llvm::ArrayRef<Value *> arguments);
  void endUnlessOk(Value *status);
  /// Calls a function that gives an input's or a weight's slice, which each use reads from the frame. These calls come
  /// first: in registers, thousands of slices would live until their launches, and allocation takes the square of them.
  void callForPort(mlir::Value port, llvm::StringRef name, int32_t index);
  /// Calls a function whose last parameter receives a slice.
  Value *callForSlice(llvm::StringRef name, llvm::ArrayRef<Value *> arguments);
  /// Room in the frame, shared by all calls that need as much or less.
  Value *fill(llvm::AllocaInst *&room, llvm::ArrayRef<Value *> values, llvm::Type *type);
  llvm::AllocaInst *reserve(llvm::Type *type, unsigned count);
  /// The kernel that an error names if there is no memory for the op; null: none.
  template <typename Op> Value *busiest(Op op) {
    return op.getBusiest() ? static_cast<Value *>(b_.CreateGlobalString(*op.getBusiest(), "busiest"))
                           : llvm::ConstantPointerNull::get(b_.getPtrTy());
  }

  BasicBlock *newBlock(llvm::StringRef name) { return BasicBlock::Create(context_, name, function_); }
  Value *value(mlir::Value v) {
    if (llvm::AllocaInst *port = ports_.lookup(v))
      return b_.CreateLoad(sliceType_, port);
    return values_.lookup(v);
  }
  llvm::SmallVector<Value *> values(mlir::ValueRange range) {
    return llvm::map_to_vector(range, [&](mlir::Value v) { return value(v); });
  }
  /// The arguments that `kiln_slice` is to a C function: if registers have 64 bits its two members, in 32-bit Arm's
  /// convention 16 bytes that begin at an even register.
  llvm::SmallVector<Value *, 2> passed(Value *slice);
  /// The number of the device whose memory a slice is.
  llvm::ConstantInt *device(mlir::Value slice) { return b_.getInt32(host::deviceOf(slice)); }
  Value *memoryOf(Value *slice) { return b_.CreateExtractValue(slice, 0); }
  Value *offsetOf(Value *slice) { return b_.CreateExtractValue(slice, 1); }
  llvm::Type *typeOf(mlir::Type type) {
    return llvm::isa<host::SliceType>(type) ? static_cast<llvm::Type *>(sliceType_) : registerType(context_, type);
  }
  Value *dtype(mlir::Type type) { return b_.getInt32(static_cast<int32_t>(scalarDType(type))); }

  const ModelTables &tables_;
  llvm::Module &module_;
  llvm::LLVMContext &context_;
  llvm::IRBuilder<> b_;
  LlvmAlu alu_;
  llvm::StructType *sliceType_ = nullptr;
  llvm::Function *function_ = nullptr;
  Value *runContext_ = nullptr;
  llvm::PHINode *status_ = nullptr;                       // of the block that ends a failed run
  llvm::DenseMap<mlir::Value, llvm::AllocaInst *> ports_; // the slices of inputs and weights
  llvm::AllocaInst *sliceRoom_ = nullptr, *slicesRoom_ = nullptr, *sizesRoom_ = nullptr, *bytesRoom_ = nullptr,
                   *gridRoom_ = nullptr, *estimatesRoom_ = nullptr, *numberRoom_ = nullptr;
  Value *wraps_ = nullptr; // whether something wrapped since the last endIfWrapped; null: nothing can have
  llvm::DenseMap<mlir::Value, Value *> values_;
};

} // namespace

llvm::Function *render::renderHost(const ModelTables &tables, llvm::Module &module) {
  return HostRenderer(tables, module).run();
}

//===----------------------------------------------------------------------===//
// Frame
//===----------------------------------------------------------------------===//

llvm::AllocaInst *HostRenderer::reserve(llvm::Type *type, unsigned count) {
  return b_.CreateAlloca(llvm::ArrayType::get(type, std::max(count, 1u)));
}

llvm::Function *HostRenderer::run() {
  sliceType_ = llvm::StructType::get(b_.getPtrTy(), b_.getInt64Ty());
  llvm::Type *parameters[] = {b_.getPtrTy(), b_.getPtrTy()};
  function_ = llvm::Function::Create(llvm::FunctionType::get(b_.getInt32Ty(), parameters, false),
                                     llvm::GlobalValue::InternalLinkage, "run", module_);
  function_->setDoesNotThrow();
  runContext_ = function_->getArg(0);
  BasicBlock *entry = newBlock("entry"), *failed = newBlock("failed");
  b_.SetInsertPoint(failed);
  status_ = b_.CreatePHI(b_.getInt32Ty(), 4);
  b_.CreateRet(status_);

  b_.SetInsertPoint(entry);
  unsigned buffers = 0, sizes = KILN_MAX_RANK;
  for (const KernelEntry &kernel : tables_.kernels) {
    buffers = std::max<unsigned>(buffers, kernel.buffers);
    sizes = std::max<unsigned>(sizes, kernel.sizes);
  }
  host::ProgramOp(tables_.program).walk([&](host::PlanOp plan) {
    buffers = std::max<unsigned>(buffers, plan.getNumResults());
    sizes = std::max<unsigned>(sizes, plan.getNumResults());
  });
  host::ProgramOp(tables_.program).walk([&](host::CheckOp check) {
    sizes = std::max<unsigned>(sizes, check.getSizes().size());
  });
  host::ProgramOp(tables_.program).walk([&](host::ZerosOp zeros) {
    sizes = std::max<unsigned>(sizes, zeros.getSizes().size());
  });
  unsigned bytes = 0;
  host::ProgramOp(tables_.program).walk([&](host::CallOp call) {
    buffers = std::max<unsigned>(buffers, call.getBuffers().size());
    bytes = std::max<unsigned>(bytes, call.getBytes().size());
    sizes = std::max<unsigned>(sizes, call.getSizes().size());
  });
  sliceRoom_ = reserve(sliceType_, 1);
  slicesRoom_ = reserve(sliceType_, buffers);
  sizesRoom_ = reserve(b_.getInt64Ty(), sizes);
  bytesRoom_ = bytes ? reserve(b_.getInt64Ty(), bytes) : nullptr;
  gridRoom_ = reserve(b_.getInt64Ty(), KILN_MAX_GRID);
  estimatesRoom_ = reserve(b_.getInt64Ty(), KILN_ESTIMATES);
  numberRoom_ = reserve(b_.getInt64Ty(), 1);
  mlir::Block &body = tables_.program->getRegion(0).front();
  for (auto [index, symbol] : llvm::enumerate(body.getArguments()))
    values_[symbol] =
        b_.CreateLoad(b_.getInt64Ty(), b_.CreateConstInBoundsGEP1_64(b_.getInt64Ty(), function_->getArg(1), index));
  render(body);
  b_.CreateRet(b_.getInt32(KILN_OK));
  if (status_->getNumIncomingValues() == 0)
    failed->eraseFromParent();
  return function_;
}

Value *HostRenderer::fill(llvm::AllocaInst *&room, llvm::ArrayRef<Value *> values, llvm::Type *type) {
  for (auto [index, value] : llvm::enumerate(values))
    b_.CreateStore(value, b_.CreateConstInBoundsGEP1_64(type, room, index));
  return room;
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

void HostRenderer::endUnlessOk(Value *status) {
  status_->addIncoming(status, b_.GetInsertBlock());
  BasicBlock *next = newBlock("next");
  Value *ok = b_.CreateICmpEQ(status, b_.getInt32(KILN_OK));
  b_.CreateCondBr(ok, next, status_->getParent());
  b_.SetInsertPoint(next);
}

void HostRenderer::call(llvm::StringRef name, llvm::ArrayRef<Value *> arguments) {
  llvm::SmallVector<Value *> all = {runContext_};
  llvm::append_range(all, arguments);
  llvm::SmallVector<llvm::Type *> types = llvm::map_to_vector(all, [](Value *v) { return v->getType(); });
  llvm::FunctionCallee callee =
      module_.getOrInsertFunction(name, llvm::FunctionType::get(b_.getInt32Ty(), types, false));
  endUnlessOk(b_.CreateCall(callee, all));
}

void HostRenderer::callForPort(mlir::Value port, llvm::StringRef name, int32_t index) {
  llvm::BasicBlock &entry = function_->getEntryBlock();
  llvm::AllocaInst *room = llvm::IRBuilder<>(&entry, entry.begin()).CreateAlloca(sliceType_);
  call(name, {b_.getInt32(index), room});
  ports_[port] = room;
}

Value *HostRenderer::callForSlice(llvm::StringRef name, llvm::ArrayRef<Value *> arguments) {
  llvm::SmallVector<Value *> all(arguments);
  all.push_back(sliceRoom_);
  call(name, all);
  return b_.CreateLoad(sliceType_, sliceRoom_);
}

void HostRenderer::render(host::LaunchOp op) {
  int32_t index = tables_.kernelIndex.at(op.getKernel());
  llvm::Constant *info =
      llvm::ConstantStruct::getAnon({b_.getInt32(index), b_.CreateGlobalString(op.getOrigin(), "origin")});
  auto *global = new llvm::GlobalVariable(module_, info->getType(), /*isConstant=*/true,
                                          llvm::GlobalValue::PrivateLinkage, info, "launch");
  llvm::SmallVector<Value *> grid = values(op.getGrid());
  grid.resize(KILN_MAX_GRID, b_.getInt64(1));
  llvm::Type *number = b_.getInt64Ty();
  Value *expected = op.getExpected() ? value(op.getExpected()) : b_.getInt64(0);
  call("kiln_rt_launch", {global, fill(slicesRoom_, values(op.getBuffers()), sliceType_),
                          fill(sizesRoom_, values(op.getSizes()), number), fill(gridRoom_, grid, number),
                          fill(estimatesRoom_, {value(op.getOperations()), value(op.getBytes()), expected}, number)});
}

void HostRenderer::render(host::CallOp op) {
  llvm::Type *number = b_.getInt64Ty();
  llvm::FunctionCallee function = module_.getOrInsertFunction(
      ("kiln_call_" + op.getCallee()).str(),
      llvm::FunctionType::get(b_.getPtrTy(), {b_.getPtrTy(), b_.getPtrTy()}, /*isVarArg=*/false));
  int32_t results = op.getResults(), inputs = int32_t(op.getBuffers().size()) - results;
  llvm::Constant *info = llvm::ConstantStruct::getAnon(
      {llvm::cast<llvm::Constant>(function.getCallee()), b_.CreateGlobalString(op.getOrigin(), "origin"),
       b_.getInt32(results), b_.getInt32(inputs), device(op.getBuffers().front())});
  auto *global = new llvm::GlobalVariable(module_, info->getType(), /*isConstant=*/true,
                                          llvm::GlobalValue::PrivateLinkage, info, "call");
  call("kiln_rt_call",
       {global, fill(slicesRoom_, values(op.getBuffers()), sliceType_), fill(bytesRoom_, values(op.getBytes()), number),
        fill(sizesRoom_, values(op.getSizes()), number)});
}

void HostRenderer::render(host::PlanOp op) {
  llvm::StructType *lifetime = llvm::StructType::get(b_.getInt32Ty(), b_.getInt32Ty());
  llvm::SmallVector<llvm::Constant *> rows;
  for (auto [first, last] : llvm::zip(op.getFirst(), op.getLast()))
    rows.push_back(llvm::ConstantStruct::get(lifetime, {b_.getInt32(first), b_.getInt32(last)}));
  llvm::Constant *table = llvm::ConstantArray::get(llvm::ArrayType::get(lifetime, rows.size()), rows);
  auto *global = new llvm::GlobalVariable(module_, table->getType(), /*isConstant=*/true,
                                          llvm::GlobalValue::PrivateLinkage, table, "lifetimes");
  call("kiln_rt_plan", {device(op.getSlices().front()), global, b_.getInt32(rows.size()),
                        fill(sizesRoom_, values(op.getBytes()), b_.getInt64Ty()), busiest(op), slicesRoom_});
  for (auto [index, slice] : llvm::enumerate(op.getSlices()))
    values_[slice] = b_.CreateLoad(sliceType_, b_.CreateConstInBoundsGEP1_64(sliceType_, slicesRoom_, index));
}

llvm::SmallVector<Value *, 2> HostRenderer::passed(Value *slice) {
  Value *memory = memoryOf(slice), *offset = offsetOf(slice);
  if (module_.getTargetTriple().isArch64Bit())
    return {memory, offset};
  Value *bytes = llvm::PoisonValue::get(llvm::ArrayType::get(b_.getInt64Ty(), 2));
  bytes = b_.CreateInsertValue(bytes, b_.CreatePtrToInt(memory, b_.getInt64Ty()), 0);
  return {b_.CreateInsertValue(bytes, offset, 1)};
}

void HostRenderer::unless(Value *condition, llvm::function_ref<void()> fail) {
  BasicBlock *fails = newBlock("check"), *after = newBlock("checked");
  b_.CreateCondBr(condition, after, fails);
  b_.SetInsertPoint(fails);
  fail();
  b_.CreateBr(after);
  b_.SetInsertPoint(after);
}

void HostRenderer::failUnless(Value *condition, kiln_status status, const llvm::Twine &message) {
  unless(condition,
         [&] { call("kiln_rt_fail", {b_.getInt32(status), b_.CreateGlobalString(message.str(), "message")}); });
}

void HostRenderer::render(host::CheckOp op) {
  unless(value(op.getCondition()), [&] {
    call("kiln_rt_fail_at", {b_.getInt32(KILN_INDEX_ERROR), b_.CreateGlobalString(op.getMessage(), "message"),
                             fill(sizesRoom_, values(op.getSizes()), b_.getInt64Ty())});
  });
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

void HostRenderer::render(mlir::Block &block) {
  for (mlir::Operation &op : block)
    render(op);
}

void HostRenderer::render(mlir::Operation &op) {
  llvm::TypeSwitch<mlir::Operation *>(&op)
      .Case<host::LaunchOp, host::CallOp, host::CheckOp, host::BatchOp, mlir::scf::IfOp, mlir::scf::WhileOp>(
          [&](auto typed) { render(typed); })
      .Case([&](host::EvalOp e) {
        llvm::DenseMap<Expr, Value *> known;
        unsigned next = 0;
        e.getExpr().getValue().forEachVariable([&](Expr symbol) { known[symbol] = value(e.getValues()[next++]); });
        values_[e] = renderSize(e.getExpr().getValue(), known);
        if (isEstimate(e))
          wraps_ = nullptr;
        endIfWrapped(wrapMessage(e.getExpr().getValue()));
      })
      .Case([&](host::InputOp i) { callForPort(i, "kiln_rt_input", i.getIndex()); })
      .Case([&](host::WeightOp w) { callForPort(w, "kiln_rt_weight", tables_.entryOf(w)); })
      .Case([&](host::OutputOp o) {
        assert(o.getDims().size() == tables_.outputs[o.getIndex()].dims.size() && "an output is given all its dims");
        Value *dims = fill(sizesRoom_, values(o.getDims()), b_.getInt64Ty());
        values_[o] = callForSlice("kiln_rt_output", {b_.getInt32(o.getIndex()), dims});
      })
      .Case([&](host::ArenaOp a) {
        values_[a] = callForSlice("kiln_rt_arena", {device(a), value(a.getBytes()), busiest(a)});
      })
      .Case([&](host::ZerosOp z) {
        values_[z] = callForSlice("kiln_rt_zeros", {device(z), b_.getInt32(z.getBlock()), value(z.getBytes()),
                                                    b_.getInt32(z.getSizes().size()),
                                                    fill(sizesRoom_, values(z.getSizes()), b_.getInt64Ty())});
      })
      .Case([&](host::PlanOp p) { render(p); })
      .Case([&](host::AllocOp a) { values_[a] = callForSlice("kiln_rt_alloc", {device(a), value(a.getBytes())}); })
      .Case([&](host::ScratchOp s) {
        Value *slice = llvm::ConstantAggregateZero::get(sliceType_);
        values_[s] = b_.CreateInsertValue(slice, value(s.getBytes()), 1);
      })
      .Case([&](host::FreeOp f) {
        llvm::SmallVector<Value *> arguments = {device(f.getSlice())};
        llvm::append_range(arguments, passed(value(f.getSlice())));
        call("kiln_rt_free", arguments);
      })
      .Case([&](host::OffsetOp o) {
        Value *slice = value(o.getSlice());
        values_[o] = b_.CreateInsertValue(slice, b_.CreateAdd(offsetOf(slice), value(o.getBytes())), 1);
      })
      .Case([&](host::CopyOp c) {
        llvm::SmallVector<Value *> arguments(passed(value(c.getTo())));
        llvm::append_range(arguments, passed(value(c.getFrom())));
        arguments.append({value(c.getBytes()), device(c.getTo()), device(c.getFrom())});
        call("kiln_rt_copy", arguments);
      })
      .Case([&](host::ReadOp r) {
        llvm::SmallVector<Value *> arguments = {device(r.getFrom())};
        llvm::append_range(arguments, passed(value(r.getFrom())));
        arguments.append({dtype(r.getDtype()), numberRoom_});
        call("kiln_rt_read", arguments);
        values_[r] = b_.CreateLoad(b_.getInt64Ty(), numberRoom_);
      })
      .Case([&](host::WriteOp w) {
        llvm::SmallVector<Value *> arguments = {device(w.getTo())};
        llvm::append_range(arguments, passed(value(w.getTo())));
        arguments.append({dtype(w.getDtype()), value(w.getValue())});
        call("kiln_rt_write", arguments);
      })
      .Case<host::DoneOp, mlir::scf::YieldOp, mlir::scf::ConditionOp>([](auto) {}) // their owners read the values
      .Default([&](mlir::Operation *other) {
        bool known = renderArith(*other);
        assert(known && "a host program has host, scf and arith ops");
        (void)known;
        endIfWrapped(kLoopWrapMessage);
      });
}

Value *HostRenderer::checked(Alu kind, Value *a, Value *b) {
  auto id = kind == Alu::MUL ? llvm::Intrinsic::smul_with_overflow : llvm::Intrinsic::sadd_with_overflow;
  Value *both = b_.CreateBinaryIntrinsic(id, a, b);
  Value *wraps = b_.CreateExtractValue(both, 1);
  wraps_ = wraps_ ? b_.CreateOr(wraps_, wraps) : wraps;
  return b_.CreateExtractValue(both, 0);
}

void HostRenderer::endIfWrapped(const llvm::Twine &message) {
  if (Value *wraps = std::exchange(wraps_, nullptr))
    failUnless(b_.CreateNot(wraps), KILN_INVALID_ARGUMENT, message);
}

/// Arithmetic on i64 and i1. Cases that LLVM leaves undefined (x/0) have Alu.def's value.
bool HostRenderer::renderArith(mlir::Operation &op) {
  namespace arith = mlir::arith;
  if (auto constant = llvm::dyn_cast<arith::ConstantOp>(op)) {
    values_[constant] = constantOf(context_, constant.getValue());
    return true;
  }
  if (op.getNumResults() != 1)
    return false;
  llvm::SmallVector<Value *> operands = values(op.getOperands());
  mlir::Type type = op.getOperand(0).getType();
  auto row = [&](Alu kind) { return alu_.emit(kind, type, op.getResult(0).getType(), operands); };
  llvm::Type *result = typeOf(op.getResult(0).getType());
  Value *made =
      llvm::TypeSwitch<mlir::Operation *, Value *>(&op)
          .Case([&](arith::AddIOp) { return checked(Alu::ADD, operands[0], operands[1]); })
          .Case([&](arith::SubIOp) { return b_.CreateSub(operands[0], operands[1]); })
          .Case([&](arith::MulIOp) { return checked(Alu::MUL, operands[0], operands[1]); })
          .Case([&](arith::DivSIOp) { return row(Alu::IDIV); })
          .Case([&](arith::FloorDivSIOp) { return row(Alu::FLOORDIV); })
          .Case([&](arith::RemSIOp) { return row(Alu::MOD); })
          .Case([&](arith::MaxSIOp) { return row(Alu::MAX); })
          .Case([&](arith::MinSIOp) { return row(Alu::MIN); })
          .Case([&](arith::AndIOp) { return row(Alu::AND); })
          .Case([&](arith::OrIOp) { return row(Alu::OR); })
          .Case([&](arith::XOrIOp) { return row(Alu::XOR); })
          .Case([&](arith::SelectOp) { return b_.CreateSelect(operands[0], operands[1], operands[2]); })
          .Case([&](arith::ExtUIOp) { return b_.CreateZExt(operands[0], result); })
          .Case([&](arith::ExtSIOp) { return b_.CreateSExt(operands[0], result); })
          .Case([&](arith::TruncIOp) { return b_.CreateTrunc(operands[0], result); })
          .Case([&](arith::CmpIOp compare) {
            static constexpr llvm::CmpInst::Predicate predicates[] = {
                llvm::CmpInst::ICMP_EQ,  llvm::CmpInst::ICMP_NE,  llvm::CmpInst::ICMP_SLT, llvm::CmpInst::ICMP_SLE,
                llvm::CmpInst::ICMP_SGT, llvm::CmpInst::ICMP_SGE, llvm::CmpInst::ICMP_ULT, llvm::CmpInst::ICMP_ULE,
                llvm::CmpInst::ICMP_UGT, llvm::CmpInst::ICMP_UGE}; // in the order of arith::CmpIPredicate
            return b_.CreateICmp(predicates[static_cast<unsigned>(compare.getPredicate())], operands[0], operands[1]);
          })
          .Default([](mlir::Operation *) { return nullptr; });
  values_[op.getResult(0)] = made;
  return made;
}

/// The value of a size; `known` holds the variables' values and takes every part that is computed.
Value *HostRenderer::renderSize(Expr expr, llvm::DenseMap<Expr, Value *> &known) {
  if (expr.isConst())
    return b_.getInt64(expr.constant());
  if (Value *done = known.lookup(expr))
    return done;
  mlir::Type number = mlir::IntegerType::get(tables_.program->getContext(), 64);
  auto row = [&](Alu kind, Value *a, Value *b, AluFacts facts = {}) {
    return alu_.emit(kind, number, number, {a, b}, facts);
  };
  llvm::SmallVector<Value *> operands;
  for (Expr operand : expr.operands())
    operands.push_back(renderSize(operand, known));
  Value *result = operands[0];
  auto fold = [&](Alu kind) {
    for (Value *operand : llvm::drop_begin(operands))
      result = mayWrap(expr) ? checked(kind, result, operand) : row(kind, result, operand);
  };
  switch (expr.kind()) {
  case Expr::Kind::Add:
    fold(Alu::ADD);
    break;
  case Expr::Kind::Mul:
    fold(Alu::MUL);
    break;
  case Expr::Kind::Min:
    fold(Alu::MIN);
    break;
  case Expr::Kind::Max:
    fold(Alu::MAX);
    break;
  case Expr::Kind::And:
    fold(Alu::AND);
    break;
  case Expr::Kind::FloorDiv:
  case Expr::Kind::Mod: {
    AluFacts facts;
    facts.nonNegative = expr.operands()[0].min() >= 0 && expr.operands()[1].min() >= 0;
    facts.divisorNonZero = expr.operands()[1].min() > 0;
    result = row(expr.kind() == Expr::Kind::Mod ? Alu::FLOORMOD : Alu::FLOORDIV, operands[0], operands[1], facts);
    break;
  }
  case Expr::Kind::Less:
    result = b_.CreateZExt(b_.CreateICmpSLT(operands[0], operands[1]), b_.getInt64Ty());
    break;
  case Expr::Kind::Const:
  case Expr::Kind::Var:
    llvm_unreachable("a constant was handled, and every variable has a value");
  }
  return known[expr] = result;
}

//===----------------------------------------------------------------------===//
// Control flow
//===----------------------------------------------------------------------===//

void HostRenderer::render(mlir::scf::IfOp op) {
  BasicBlock *blocks[2] = {newBlock("then"), newBlock("else")}, *after = newBlock("endif");
  b_.CreateCondBr(value(op.getCondition()), blocks[0], blocks[1]);
  llvm::SmallVector<Value *> yielded[2];
  for (unsigned side = 0; side < 2; ++side) {
    b_.SetInsertPoint(blocks[side]);
    if (mlir::Region &region = op->getRegion(side); !region.empty()) {
      render(region.front());
      yielded[side] = values(region.front().getTerminator()->getOperands());
    }
    blocks[side] = b_.GetInsertBlock();
    b_.CreateBr(after);
  }
  b_.SetInsertPoint(after);
  for (auto [index, result] : llvm::enumerate(op.getResults())) {
    llvm::PHINode *phi = b_.CreatePHI(typeOf(result.getType()), 2);
    for (unsigned side = 0; side < 2; ++side)
      phi->addIncoming(yielded[side][index], blocks[side]);
    values_[result] = phi;
  }
}

void HostRenderer::render(mlir::scf::WhileOp op) {
  BasicBlock *before = b_.GetInsertBlock(), *header = newBlock("while"), *body = newBlock("do"),
             *after = newBlock("done");
  llvm::SmallVector<Value *> inits = values(op.getInits());
  b_.CreateBr(header);
  b_.SetInsertPoint(header);
  llvm::SmallVector<llvm::PHINode *> carried;
  for (auto [argument, init] : llvm::zip(op.getBeforeArguments(), inits)) {
    llvm::PHINode *phi = b_.CreatePHI(typeOf(argument.getType()), 2);
    phi->addIncoming(init, before);
    values_[argument] = phi;
    carried.push_back(phi);
  }
  render(op.getBefore().front());
  mlir::scf::ConditionOp condition = op.getConditionOp();
  for (auto [argument, result, passed] : llvm::zip(op.getAfterArguments(), op.getResults(), condition.getArgs()))
    values_[argument] = values_[result] = value(passed);
  b_.CreateCondBr(value(condition.getCondition()), body, after);
  b_.SetInsertPoint(body);
  render(op.getAfter().front());
  for (auto [phi, yielded] : llvm::zip(carried, op.getYieldOp().getOperands()))
    phi->addIncoming(value(yielded), b_.GetInsertBlock());
  b_.CreateBr(header);
  b_.SetInsertPoint(after);
}

void HostRenderer::render(host::BatchOp op) {
  BasicBlock *before = b_.GetInsertBlock(), *body = newBlock("sample"), *after = newBlock("batched");
  llvm::Constant *samples = b_.getInt64(op.getSamples());
  b_.CreateBr(body);
  b_.SetInsertPoint(body);
  llvm::PHINode *sample = b_.CreatePHI(b_.getInt64Ty(), 2);
  sample->addIncoming(b_.getInt64(0), before);
  llvm::ConstantInt *device = b_.getInt32(op.getDevice());
  call("kiln_rt_batch_sample", {device, sample, samples, numberRoom_});
  values_[op.getSample()] = sample;
  values_[op.getSlot()] = b_.CreateLoad(b_.getInt64Ty(), numberRoom_);
  render(op.getBody().front());
  Value *next = b_.CreateNSWAdd(sample, b_.getInt64(1));
  sample->addIncoming(next, b_.GetInsertBlock());
  b_.CreateCondBr(b_.CreateICmpSLT(next, samples), body, after);
  b_.SetInsertPoint(after);
  call("kiln_rt_batch_end", {device});
}
