//===- UopDecoder.cpp - From the uop dialect to instructions ------------------===//
//
// A kernel runs once per item, perhaps millions of times, so that walking the ops of its IR each time would take longer
// than their computation. Here it is translated once: each value gets its bytes in a frame, loops and tests become
// jumps, and facts known beforehand (the function of an ALU row, how many bytes are moved) are in the instruction.
// Constants are in the frame from the start.
//
//===----------------------------------------------------------------------===//

#include "interp/UopCode.h"
#include "interp/UopInterpreter.h"
#include "support/Error.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace kiln;
using namespace kiln::interp;
using mlir::Value;

namespace {

class Decoder {
public:
  explicit Decoder(UopCode &code) : code_(code) {}
  llvm::Error decode(uop::FuncOp function);

private:
  llvm::Error block(mlir::Block &block);
  llvm::Error op(mlir::Operation *op);

  llvm::Error one(uop::ConstOp op);
  llvm::Error one(uop::SpecialOp op);
  llvm::Error one(uop::DefineOp op);
  llvm::Error one(uop::AluOp op);
  llvm::Error one(uop::FmaOp op);
  llvm::Error one(uop::VectorizeOp op);
  llvm::Error one(uop::GepOp op);
  llvm::Error one(uop::LoadOp op);
  llvm::Error one(uop::StoreOp op);
  llvm::Error one(uop::IfOp op);
  llvm::Error one(uop::RangeOp op);
  llvm::Error one(uop::PrefetchOp) { return llvm::Error::success(); } // a hint
  llvm::Error one(uop::BarrierOp op);
  llvm::Error one(uop::ShuffleOp op);
  llvm::Error one(uop::LoadMatrixOp op);
  llvm::Error one(uop::StoreMatrixOp op);
  llvm::Error one(uop::WmmaOp op);
  llvm::Error one(uop::DotOp op);
  llvm::Error one(uop::LookupOp op);

  Instruction &add(Opcode op) {
    code_.instructions.emplace_back();
    code_.instructions.back().op = op;
    return code_.instructions.back();
  }
  uint32_t here() const { return code_.instructions.size(); }
  void copy(Slot to, Slot from, Value type);
  Slot room(uint32_t bytes);
  /// The value's slot, made if it has none.
  Slot define(Value value) { return slots_[value] = room(bytesOf(value)); }
  Slot slot(Value value) const { return slots_.at(value); }
  /// One memory access, without the value that it moves.
  llvm::Error access(Instruction &instruction, Value moved, Value pointer, Value index, Value gate);
  llvm::Error accessMatrix(Instruction &instruction, Value moved, Value pointer, Value index, Value pitch);

  static DType dtype(Value value) { return *dtypeOf(mlir::getElementTypeOrSelf(value.getType())); }
  static uint32_t laneBytes(Value value) { return byteSize(dtype(value)); }
  static uint32_t bytesOf(Value value) { return laneBytes(value) * uop::lanesOf(value.getType()); }
  static bool isWide(Value index) { return index.getType().isInteger(64); }

  UopCode &code_;
  llvm::DenseMap<Value, Slot> slots_;
  llvm::DenseMap<Value, uint32_t> memories_;
};

} // namespace

Slot Decoder::room(uint32_t bytes) {
  Slot slot = llvm::alignTo(code_.frame.size(), 8);
  code_.frame.resize(slot + bytes);
  return slot;
}

void Decoder::copy(Slot to, Slot from, Value type) {
  if (to == from)
    return;
  Instruction &copy = add(Opcode::Copy);
  copy.result = to;
  copy.a = from;
  copy.bytes = bytesOf(type);
}

llvm::Error Decoder::one(uop::ConstOp op) {
  Slot slot = define(op.getResult());
  auto matrix = llvm::dyn_cast<mlir::SplatElementsAttr>(op.getValue());
  Scalar value = Scalar::of(matrix ? matrix.getSplatValue<mlir::TypedAttr>() : op.getValue());
  for (uint32_t lane = 0; lane < uop::lanesOf(op.getResult().getType()); ++lane)
    std::memcpy(&code_.frame[slot + lane * byteSize(value.dtype)], value.data(), byteSize(value.dtype));
  return llvm::Error::success();
}

llvm::Error Decoder::one(uop::SpecialOp op) {
  bool isLocal = op.getKind() == uop::SpecialKind::Local;
  if (op.getAxis() > 2)
    return failure("a launch has three axes");
  code_.specials.push_back({define(op.getResult()), isWide(op.getResult()), isLocal, unsigned(op.getAxis())});
  return llvm::Error::success();
}

llvm::Error Decoder::one(uop::DefineOp op) {
  uop::PtrType type = op.getResult().getType();
  std::optional<DType> element = dtypeOf(type.getElement());
  if (!element || type.getMemory() == uop::Memory::Global)
    return failure("'" + op.getName().str() + "' is neither local nor register memory of a dtype");
  memories_[op.getResult()] = code_.memories.size();
  code_.memories.push_back({op.getName().str(), type.getMemory(), byteSize(*element), int64_t(op.getElements()), true});
  return llvm::Error::success();
}

llvm::Error Decoder::one(uop::AluOp op) {
  Value last = op.getOperands().back();
  AluLoop loop = aluLoop(op.getKind().getValue(), dtype(last), dtype(op.getResult()));
  if (!loop)
    return failure(stringifyAlu(op.getKind().getValue()) + " is not defined for " + dtypeName(dtype(last)));
  Slot result = define(op.getResult());
  Instruction &alu = add(Opcode::Alu);
  alu.loop = loop;
  alu.lanes = uop::lanesOf(op.getResult().getType());
  alu.result = result;
  Slot *operands[] = {&alu.a, &alu.b, &alu.c};
  for (auto [index, operand] : llvm::enumerate(op.getOperands()))
    *operands[index] = slot(operand);
  return llvm::Error::success();
}

llvm::Error Decoder::one(uop::FmaOp op) {
  Slot result = define(op.getResult());
  Instruction &fma = add(Opcode::Alu);
  fma.loop = fmaLoop(dtype(op.getResult()));
  fma.lanes = uop::lanesOf(op.getResult().getType());
  fma.result = result;
  fma.a = slot(op.getA());
  fma.b = slot(op.getB());
  fma.c = slot(op.getC());
  return llvm::Error::success();
}

llvm::Error Decoder::one(uop::VectorizeOp op) {
  Slot result = define(op.getResult());
  uint32_t bytes = laneBytes(op.getResult());
  if (op.getLanes().size() == 1) {
    Instruction &fill = add(Opcode::Fill);
    fill.result = result;
    fill.a = slot(op.getLanes().front());
    fill.bytes = bytes;
    fill.lanes = uop::lanesOf(op.getResult().getType());
    return llvm::Error::success();
  }
  for (auto [index, lane] : llvm::enumerate(op.getLanes()))
    copy(result + index * bytes, slot(lane), lane);
  return llvm::Error::success();
}

llvm::Error Decoder::one(uop::GepOp op) {
  // Lanes need no instruction: they are a place within their vector.
  slots_[op.getResult()] = slot(op.getVector()) + op.getLane() * laneBytes(op.getVector());
  return llvm::Error::success();
}

llvm::Error Decoder::access(Instruction &instruction, Value moved, Value pointer, Value index, Value gate) {
  auto memory = memories_.find(pointer);
  if (memory == memories_.end())
    return failure("a pointer is neither an argument nor a define");
  instruction.memory = memory->second;
  instruction.a = slot(index);
  instruction.isWide = isWide(index);
  instruction.lanes = uop::lanesOf(moved.getType());
  instruction.bytes = laneBytes(moved);
  if (gate) {
    instruction.b = slot(gate);
    instruction.gateLanes = uop::lanesOf(gate.getType());
  }
  return llvm::Error::success();
}

llvm::Error Decoder::one(uop::LoadOp op) {
  Slot result = define(op.getResult());
  Instruction &load = add(Opcode::Load);
  load.result = result;
  if (op.getOtherwise())
    load.c = slot(op.getOtherwise());
  if (llvm::Error error = access(load, op.getResult(), op.getPointer(), op.getIndex(), op.getGate()))
    return error;
  const UopMemory &memory = code_.memories[load.memory];
  if (memory.kind == uop::Memory::Global && !memory.isWritten && load.lanes == 1 && !load.gateLanes)
    load.op = Opcode::PlainLoad;
  return llvm::Error::success();
}

llvm::Error Decoder::one(uop::StoreOp op) {
  Instruction &store = add(Opcode::Store);
  store.c = slot(op.getValue());
  return access(store, op.getValue(), op.getPointer(), op.getIndex(), op.getGate());
}

llvm::Error Decoder::one(uop::IfOp op) {
  uint32_t skipThen = here();
  add(Opcode::JumpIfFalse).a = slot(op.getCondition());
  if (llvm::Error error = block(op.getThenRegion().front()))
    return error;
  if (!op.getElseRegion().empty()) {
    uint32_t skipElse = here();
    add(Opcode::Jump);
    code_.instructions[skipThen].target = here();
    skipThen = skipElse;
    if (llvm::Error error = block(op.getElseRegion().front()))
      return error;
  }
  code_.instructions[skipThen].target = here();
  return llvm::Error::success();
}

llvm::Error Decoder::one(uop::RangeOp op) {
  Slot index = define(op.getIndex());
  for (auto [carried, init, result] : llvm::zip(op.getCarried(), op.getInits(), op.getResults())) {
    slots_[result] = define(carried);
    copy(slot(carried), slot(init), init);
  }
  auto loop = [&](Opcode opcode) -> Instruction & {
    Instruction &instruction = add(opcode);
    instruction.result = index;
    instruction.b = slot(op.getTo());
    instruction.isWide = isWide(op.getTo());
    return instruction;
  };
  uint32_t enter = here();
  loop(Opcode::Enter).a = slot(op.getFrom());
  if (llvm::Error error = block(op.getBody().front()))
    return error;

  // A yield that permutes the carried values must read all of them before it writes one.
  mlir::ValueRange yields = op.getYield().getValues();
  llvm::SmallVector<Slot> sources;
  for (auto [carried, yield] : llvm::zip(op.getCarried(), yields)) {
    Slot source = slot(yield);
    bool isPermuted = source != slot(carried) && llvm::any_of(op.getCarried(), [&](Value other) {
                        return source >= slot(other) && source < slot(other) + bytesOf(other);
                      });
    if (isPermuted) {
      Slot kept = room(bytesOf(yield));
      copy(kept, source, yield);
      source = kept;
    }
    sources.push_back(source);
  }
  for (auto [carried, yield, source] : llvm::zip(op.getCarried(), yields, sources))
    copy(slot(carried), source, yield);
  loop(Opcode::Next).target = enter + 1;
  code_.instructions[enter].target = here();
  return llvm::Error::success();
}

llvm::Error Decoder::one(uop::BarrierOp) {
  add(Opcode::Barrier);
  return llvm::Error::success();
}

llvm::Error Decoder::one(uop::ShuffleOp op) {
  Instruction &shuffle = add(Opcode::Shuffle);
  shuffle.a = slot(op.getValue());
  shuffle.result = define(op);
  shuffle.bytes = bytesOf(op.getValue());
  shuffle.bit = op.getBit();
  return llvm::Error::success();
}

llvm::Error Decoder::accessMatrix(Instruction &instruction, Value moved, Value pointer, Value index, Value pitch) {
  if (isWide(index) != isWide(pitch))
    return failure("a matrix has an index and a pitch of different widths");
  if (llvm::Error error = access(instruction, moved, pointer, index, /*gate=*/{}))
    return error;
  llvm::ArrayRef<int64_t> shape = llvm::cast<mlir::VectorType>(moved.getType()).getShape();
  instruction.rows = shape[0];
  instruction.lanes = shape[1];
  instruction.b = slot(pitch);
  return llvm::Error::success();
}

llvm::Error Decoder::one(uop::LoadMatrixOp op) {
  Slot result = define(op);
  Instruction &load = add(Opcode::LoadMatrix);
  load.result = result;
  return accessMatrix(load, op, op.getPointer(), op.getIndex(), op.getPitch());
}

llvm::Error Decoder::one(uop::StoreMatrixOp op) {
  Instruction &store = add(Opcode::StoreMatrix);
  store.c = slot(op.getValue());
  return accessMatrix(store, op.getValue(), op.getPointer(), op.getIndex(), op.getPitch());
}

llvm::Error Decoder::one(uop::WmmaOp op) {
  MatrixLoop loop = matrixLoop(op.getName(), dtype(op.getA()), dtype(op.getB()), dtype(op));
  auto shapeOf = [](Value matrix) { return llvm::cast<mlir::VectorType>(matrix.getType()).getShape(); };
  uint32_t terms = shapeOf(op.getA())[1], steps = shapeOf(op.getB())[0];
  if (!loop || terms / steps > kMostSide)
    return failure("the interpreter does not know matrix instruction '" + op.getName() + "'");
  Slot result = define(op);
  Instruction &multiply = add(Opcode::Multiply);
  multiply.result = result;
  multiply.a = slot(op.getA());
  multiply.b = slot(op.getB());
  multiply.c = slot(op.getSum());
  multiply.product = code_.products.size();
  code_.products.push_back({loop, {uint32_t(shapeOf(op)[0]), uint32_t(shapeOf(op)[1]), steps, terms / steps}});
  return llvm::Error::success();
}

llvm::Error Decoder::one(uop::DotOp op) {
  DotLoop loop = dotLoop(op.getName(), dtype(op.getA()), dtype(op.getB()), dtype(op));
  if (!loop)
    return failure("the interpreter does not know dot instruction '" + op.getName() + "'");
  uint32_t lanes = uop::lanesOf(op.getType()), side = op.getTerms();
  auto stepOf = [&](Value operand) { return uop::lanesOf(operand.getType()) > side ? side : 0; };
  Slot result = define(op);
  Instruction &dot = add(Opcode::Dot);
  dot.result = result;
  dot.a = slot(op.getA());
  dot.b = slot(op.getB());
  dot.c = slot(op.getSum());
  dot.product = code_.dots.size();
  code_.dots.push_back({loop, {lanes, side, stepOf(op.getA()), stepOf(op.getB())}});
  return llvm::Error::success();
}

llvm::Error Decoder::one(uop::LookupOp op) {
  auto memory = memories_.find(op.getTable());
  if (memory == memories_.end())
    return failure("a table is not an argument");
  Slot result = define(op.getResult());
  Instruction &lookup = add(Opcode::Lookup);
  lookup.result = result;
  lookup.a = slot(op.getIndex());
  lookup.memory = memory->second;
  lookup.lanes = uop::lanesOf(op.getType());
  lookup.bytes = 1;
  return llvm::Error::success();
}

llvm::Error Decoder::op(mlir::Operation *op) {
  for (mlir::Value result : op->getResults())
    if (!llvm::isa<uop::PtrType>(result.getType()) && !dtypeOf(mlir::getElementTypeOrSelf(result.getType())))
      return failure("a value's dtype is none that the interpreter computes in");
  return llvm::TypeSwitch<mlir::Operation *, llvm::Error>(op)
      .Case<uop::ConstOp, uop::SpecialOp, uop::DefineOp, uop::AluOp, uop::FmaOp, uop::VectorizeOp, uop::GepOp,
            uop::LoadOp, uop::StoreOp, uop::PrefetchOp, uop::IfOp, uop::RangeOp, uop::BarrierOp, uop::ShuffleOp,
            uop::LoadMatrixOp, uop::StoreMatrixOp, uop::WmmaOp, uop::DotOp, uop::LookupOp>(
          [&](auto known) { return one(known); })
      .Default([](mlir::Operation *unknown) {
        return failure("the interpreter does not know " + unknown->getName().getStringRef());
      });
}

llvm::Error Decoder::block(mlir::Block &block) {
  for (mlir::Operation &inner : block)
    if (!llvm::isa<uop::YieldOp>(inner))
      if (llvm::Error error = op(&inner))
        return error;
  return llvm::Error::success();
}

llvm::Error Decoder::decode(uop::FuncOp function) {
  code_.name = function.getSymName().str();
  code_.buffers = function.getBufferCount();
  for (auto [axis, items] : llvm::enumerate(function.getLocal()))
    code_.local[axis] = items;
  for (auto [index, argument] : llvm::enumerate(function.getBody().getArguments())) {
    if (auto pointer = llvm::dyn_cast<uop::PtrType>(argument.getType())) {
      std::optional<DType> element = dtypeOf(pointer.getElement());
      if (!element)
        return failure("kernel '" + code_.name + "': a buffer's dtype is none that the interpreter computes in");
      memories_[argument] = index;
      code_.memories.push_back(
          {"data" + std::to_string(index), uop::Memory::Global, byteSize(*element), 0, function.writes(index)});
    } else {
      code_.sizes.push_back({define(argument), isWide(argument)});
    }
  }
  if (llvm::Error error = block(function.getBody().front()))
    return failure("kernel '" + code_.name + "': " + llvm::toString(std::move(error)));
  add(Opcode::End);
  return llvm::Error::success();
}

llvm::Expected<UopProgram> UopProgram::decode(uop::FuncOp function) {
  auto code = std::make_shared<UopCode>();
  if (llvm::Error error = Decoder(*code).decode(function))
    return std::move(error);
  return UopProgram(std::move(code));
}

llvm::Expected<std::vector<UopProgram>> interp::decodeUops(mlir::ModuleOp module) {
  std::vector<UopProgram> programs;
  for (auto function : module.getOps<uop::FuncOp>()) {
    llvm::Expected<UopProgram> program = UopProgram::decode(function);
    if (!program)
      return program.takeError();
    programs.push_back(std::move(*program));
  }
  return programs;
}

llvm::StringRef UopProgram::name() const { return code_->name; }
