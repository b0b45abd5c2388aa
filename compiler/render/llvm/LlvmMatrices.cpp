#include "render/llvm/LlvmMatrices.h"

#include "render/llvm/LlvmProducts.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/IR/IntrinsicsX86.h"
#include "llvm/Transforms/Utils/CodeExtractor.h"

using namespace kiln;
using namespace kiln::render;
using llvm::BasicBlock;
using llvm::Value;

//===----------------------------------------------------------------------===//
// Instructions
//===----------------------------------------------------------------------===//

bool render::isMatrix(mlir::Type type) {
  auto vector = llvm::dyn_cast<mlir::VectorType>(type);
  return vector && vector.getRank() == 2;
}

/// The rows and the bytes of a row that a matrix of this type has.
static std::array<Value *, 2> sidesOf(llvm::IRBuilderBase &b, mlir::Type type) {
  auto matrix = llvm::cast<mlir::VectorType>(type);
  return {b.getInt16(matrix.getDimSize(0)), b.getInt16(matrix.getDimSize(1) * byteSize(matrix.getElementType()))};
}

static llvm::Type *tileType(llvm::IRBuilderBase &b) { return llvm::Type::getX86_AMXTy(b.getContext()); }

Value *render::zeroMatrix(llvm::IRBuilderBase &b, mlir::Type type) {
  return b.CreateIntrinsic(tileType(b), llvm::Intrinsic::x86_tilezero_internal, sidesOf(b, type));
}

Value *render::pitchInBytes(llvm::IRBuilderBase &b, mlir::Type matrix, Value *elements) {
  Value *pitch = b.CreateSExt(elements, b.getInt64Ty());
  return b.CreateMul(pitch, b.getInt64(byteSize(mlir::getElementTypeOrSelf(matrix))));
}

Value *render::loadMatrix(llvm::IRBuilderBase &b, mlir::Type type, Value *address, Value *pitch) {
  auto [rows, bytes] = sidesOf(b, type);
  return b.CreateIntrinsic(tileType(b), llvm::Intrinsic::x86_tileloadd64_internal, {rows, bytes, address, pitch});
}

void render::storeMatrix(llvm::IRBuilderBase &b, mlir::Type type, Value *address, Value *pitch, Value *stored) {
  auto [rows, bytes] = sidesOf(b, type);
  b.CreateIntrinsic(b.getVoidTy(), llvm::Intrinsic::x86_tilestored64_internal, {rows, bytes, address, pitch, stored});
}

Value *render::multiplyMatrices(llvm::IRBuilderBase &b, uop::WmmaOp op, Value *sum, Value *rows, Value *columns) {
  auto [height, bytes] = sidesOf(b, op.getType());
  Value *terms = sidesOf(b, op.getA().getType())[1];
  return b.CreateIntrinsic(tileType(b), matrixIntrinsic(op.getName()), {height, bytes, terms, sum, rows, columns});
}

//===----------------------------------------------------------------------===//
// Phases
//===----------------------------------------------------------------------===//

/// Whether an operation only computes and multiplies matrices.
static bool isOfMatrices(mlir::Operation &op) {
  if (auto range = llvm::dyn_cast<uop::RangeOp>(op))
    return llvm::all_of(range.getBody().front(), isOfMatrices);
  return llvm::isa<uop::LoadMatrixOp, uop::StoreMatrixOp, uop::PrefetchOp>(op) || mlir::isMemoryEffectFree(&op);
}

MatrixPhases::MatrixPhases(uop::FuncOp kernel) {
  llvm::SmallPtrSet<mlir::Operation *, 4> known;
  llvm::SmallSetVector<mlir::Type, 4> kinds;
  kernel.walk([&](uop::WmmaOp wmma) {
    kinds.insert(mlir::TupleType::get(wmma.getContext(), wmma->getOperandTypes()));
    // The loop over terms, and the stores of its results.
    mlir::Operation *first = wmma->getParentOp(), *last = first;
    if (!llvm::isa<uop::RangeOp>(first))
      return;
    while (llvm::isa<uop::RangeOp>(first->getParentOp()) && first->getNumResults() > 0 &&
           llvm::is_contained(first->getParentOp()->getResultTypes(), first->getResult(0).getType()))
      first = first->getParentOp();
    last = first;
    for (mlir::Operation *user : first->getUsers())
      if (user->getBlock() == first->getBlock() && last->isBeforeInBlock(user))
        last = user;
    while (llvm::isa<uop::RangeOp>(first->getParentOp()) && isOfMatrices(*first->getParentOp()))
      first = last = first->getParentOp();
    if (known.insert(first).second)
      phases_.push_back({first, last});
  });
  if (kinds.size() < 2)
    phases_.clear();
}

void MatrixPhases::before(mlir::Operation &op, llvm::IRBuilderBase &b) {
  Phase *phase = llvm::find_if(phases_, [&](const Phase &one) { return one.first == &op; });
  if (phase == phases_.end())
    return;
  phase->begin = BasicBlock::Create(b.getContext(), "matrices", b.GetInsertBlock()->getParent());
  b.CreateBr(phase->begin);
  b.SetInsertPoint(phase->begin);
}

void MatrixPhases::after(mlir::Operation &op, llvm::IRBuilderBase &b) {
  Phase *phase = llvm::find_if(phases_, [&](const Phase &one) { return one.last == &op; });
  if (phase == phases_.end())
    return;
  phase->end = BasicBlock::Create(b.getContext(), "afterwards", b.GetInsertBlock()->getParent());
  b.CreateBr(phase->end);
  b.SetInsertPoint(phase->end);
}

void MatrixPhases::split(llvm::Function &function) const {
  llvm::CodeExtractorAnalysisCache cache(function);
  for (const Phase &phase : phases_) {
    llvm::SmallVector<BasicBlock *> blocks;
    for (BasicBlock *block = phase.begin; block != phase.end; block = block->getNextNode())
      blocks.push_back(block);
    llvm::Function *made = llvm::CodeExtractor(blocks).extractCodeRegion(cache);
    made->addFnAttr(llvm::Attribute::NoInline);
  }
}
