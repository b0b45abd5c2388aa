#include "render/llvm/LlvmProducts.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Analysis/VectorUtils.h"
#include "llvm/IR/IntrinsicsX86.h"

using namespace kiln;
using llvm::Value;

namespace {
struct MatrixRow {
  llvm::StringLiteral name;
  llvm::Intrinsic::ID intrinsic;
};

struct DotRow {
  llvm::StringLiteral name;
  llvm::Intrinsic::ID intrinsic;
  bool adds; ///< to a sum, which is its first operand; otherwise an addition follows
};
} // namespace

static constexpr MatrixRow kMatrices[] = {
    {"tdpbf16ps", llvm::Intrinsic::x86_tdpbf16ps_internal}, {"tdpfp16ps", llvm::Intrinsic::x86_tdpfp16ps_internal},
    {"tdpbssd", llvm::Intrinsic::x86_tdpbssd_internal},     {"tdpbusd", llvm::Intrinsic::x86_tdpbusd_internal},
    {"tdpbuud", llvm::Intrinsic::x86_tdpbuud_internal},
};

static constexpr DotRow kDots[] = {
    {"vdpbf16ps", llvm::Intrinsic::x86_avx512bf16_dpbf16ps_512, true},
    {"vpdpwssd", llvm::Intrinsic::x86_avx512_vpdpwssd_512, true},
    {"vpdpwssd.ymm", llvm::Intrinsic::x86_avx512_vpdpwssd_256, true},
    {"vpmaddwd.zmm", llvm::Intrinsic::x86_avx512_pmaddw_d_512, false},
    {"vpmaddwd", llvm::Intrinsic::x86_avx2_pmadd_wd, false},
};

template <class Row, size_t N> static const Row &find(const Row (&rows)[N], llvm::StringRef name) {
  const Row *row = llvm::find_if(rows, [&](const Row &each) { return each.name == name; });
  assert(row != std::end(rows) && "a target says how long this instruction takes");
  return *row;
}

llvm::Intrinsic::ID render::matrixIntrinsic(llvm::StringRef name) { return find(kMatrices, name).intrinsic; }

static unsigned lanesOf(llvm::Type *type) { return llvm::cast<llvm::FixedVectorType>(type)->getNumElements(); }

Value *render::emitDot(llvm::IRBuilderBase &b, llvm::StringRef name, Value *x, Value *y, Value *sum) {
  const DotRow &row = find(kDots, name);
  llvm::FunctionType *signature = llvm::Intrinsic::getType(b.getContext(), row.intrinsic);
  unsigned lanes = lanesOf(sum->getType()), own = lanesOf(signature->getReturnType());
  auto slice = [&](Value *vector, unsigned from, unsigned count) {
    llvm::SmallVector<int> mask = llvm::to_vector(llvm::seq<int>(from, from + count));
    return count == lanesOf(vector->getType()) ? vector : b.CreateShuffleVector(vector, mask);
  };
  // Terms that all lanes share are one number of a sum's width, which a load spreads over the lanes.
  unsigned bits = sum->getType()->getScalarSizeInBits();
  auto termsFrom = [&](Value *all, unsigned from) {
    unsigned terms = bits / all->getType()->getScalarSizeInBits();
    bool isShared = lanesOf(all->getType()) == terms;
    return isShared ? b.CreateVectorSplat(own, b.CreateBitCast(all, b.getIntNTy(bits)))
                    : slice(all, from * terms, own * terms);
  };
  llvm::SmallVector<Value *> parts;
  for (unsigned from = 0; from < lanes; from += own) {
    llvm::SmallVector<Value *> operands{termsFrom(x, from), termsFrom(y, from)};
    Value *before = slice(sum, from, own);
    if (row.adds)
      operands.insert(operands.begin(), before);
    for (auto [operand, type] : llvm::zip(operands, signature->params()))
      operand = b.CreateBitCast(operand, type);
    Value *made = b.CreateIntrinsic(row.intrinsic, operands);
    parts.push_back(row.adds ? made : b.CreateAdd(before, made));
  }
  return llvm::concatenateVectors(b, parts);
}
