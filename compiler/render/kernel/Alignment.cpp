#include "render/kernel/Alignment.h"

#include "ir/host/Host.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Matchers.h"

using namespace kiln;
using namespace kiln::render;

static bool isMultiple(mlir::Value bytes, int64_t multiple) {
  llvm::APInt number;
  if (mlir::matchPattern(bytes, mlir::m_ConstantInt(&number)))
    return number.getSExtValue() % multiple == 0;
  auto size = bytes.getDefiningOp<host::EvalOp>(); // of a sample or a slot
  return size && view::exactQuotient(size.getExpr().getValue(), multiple);
}

static bool isAligned(mlir::Value slice, int64_t multiple) {
  mlir::Operation *op = slice.getDefiningOp();
  if (auto part = llvm::dyn_cast_or_null<host::OffsetOp>(op))
    return isMultiple(part.getBytes(), multiple) && isAligned(part.getSlice(), multiple);
  return llvm::isa_and_nonnull<host::InputOp, host::WeightOp, host::OutputOp, host::PlanOp, host::ArenaOp,
                               host::AllocOp, host::ScratchOp>(op);
}

static unsigned zeroBits(mlir::Value index) {
  constexpr unsigned kMost = 4;
  if (auto constant = index.getDefiningOp<uop::ConstOp>())
    if (auto number = llvm::dyn_cast<mlir::IntegerAttr>(constant.getValue()))
      return std::min(kMost, number.getValue().countr_zero());
  auto alu = index.getDefiningOp<uop::AluOp>();
  if (!alu)
    return 0;
  auto bits = llvm::map_to_vector(alu.getOperands(), zeroBits);
  switch (alu.getKind().getValue()) {
  case Alu::ADD:
    return std::min(bits[0], bits[1]);
  case Alu::MUL:
    return std::min(kMost, bits[0] + bits[1]);
  case Alu::MULACC:
    return std::min({kMost, bits[0] + bits[1], bits[2]});
  default:
    return 0;
  }
}

int64_t render::divisorOf(mlir::Value index) { return int64_t(1) << zeroBits(index); }

llvm::SmallBitVector render::alignedBuffers(uop::FuncOp kernel, int64_t bytes) {
  unsigned count = llvm::count_if(kernel.getArgumentTypes(), llvm::IsaPred<uop::PtrType>);
  llvm::SmallBitVector aligned(count, true);
  bool isLaunched = false;
  if (auto module = kernel->getParentOfType<mlir::ModuleOp>())
    for (auto program : module.getOps<host::ProgramOp>())
      program.walk([&](host::LaunchOp launch) {
        if (launch.getKernel() != kernel.getSymName())
          return;
        isLaunched = true;
        for (auto [index, buffer] : llvm::enumerate(launch.getBuffers()))
          if (!isAligned(buffer, bytes))
            aligned.reset(index);
      });
  return isLaunched ? aligned : llvm::SmallBitVector(count);
}
