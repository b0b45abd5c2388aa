#include "render/llvm/LlvmProducts.h"

#include "ir/base/Products.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Analysis/VectorUtils.h"
#include "llvm/IR/IntrinsicsAArch64.h"
#include "llvm/IR/IntrinsicsX86.h"

using namespace kiln;
using llvm::Value;

namespace {
/// The rest of a row of Products.def.
struct Made {
  llvm::Intrinsic::ID intrinsic = llvm::Intrinsic::not_intrinsic;
  bool adds = false; ///< to a sum, which is its first operand; otherwise an addition follows
};
} // namespace

static constexpr Made kMade[] = {
#define KILN_PRODUCT(NAME, CPU, FEATURE, A, B, SUM, M, N, K, LOOP, ADDS, INTRINSIC, STEPS, FAST_STEPS, FAST_WITH)      \
  {llvm::Intrinsic::INTRINSIC, ADDS},
#define KILN_PRODUCT_LISTED(NAME, ...) {},
#include "ir/base/Products.def"
};

static const Made &find(llvm::StringRef name) {
  std::optional<size_t> number = productNumber(name);
  assert(number && productRows()[*number].isMade && "a target's products are rows, and those that are chosen are made");
  return kMade[*number];
}

llvm::Intrinsic::ID render::matrixIntrinsic(llvm::StringRef name) { return find(name).intrinsic; }

static unsigned lanesOf(llvm::Type *type) { return llvm::cast<llvm::FixedVectorType>(type)->getNumElements(); }

Value *render::emitDot(llvm::IRBuilderBase &b, llvm::StringRef name, Value *x, Value *y, Value *sum) {
  const Made &row = find(name);
  llvm::SmallVector<llvm::Type *> types; // that an intrinsic for several is taken for
  if (llvm::Intrinsic::isOverloaded(row.intrinsic)) {
    const ProductRow &shape = *findProductRow(name);
    types = {llvm::FixedVectorType::get(b.getInt32Ty(), shape.n),
             llvm::FixedVectorType::get(b.getInt8Ty(), shape.n * shape.k)};
  }
  llvm::FunctionType *signature = llvm::Intrinsic::getType(b.getContext(), row.intrinsic, types);
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
    Value *made = b.CreateIntrinsic(row.intrinsic, types, operands);
    parts.push_back(row.adds ? made : b.CreateAdd(before, made));
  }
  return llvm::concatenateVectors(b, parts);
}
