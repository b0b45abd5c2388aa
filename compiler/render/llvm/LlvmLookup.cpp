#include "render/llvm/LlvmLookup.h"

#include "llvm/ADT/Sequence.h"
#include "llvm/Analysis/VectorUtils.h"
#include "llvm/IR/IntrinsicsX86.h"

#include <array>

using namespace kiln::render;
using llvm::Value;

static constexpr int kLanes = 64;

Value *kiln::render::emitLookup(llvm::IRBuilderBase &b, Value *table, Value *index) {
  auto *part = llvm::FixedVectorType::get(b.getInt8Ty(), kLanes);
  std::array<Value *, 4> quarters;
  for (auto [number, quarter] : llvm::enumerate(quarters))
    quarter = b.CreateAlignedLoad(part, b.CreateConstGEP1_64(b.getInt8Ty(), table, number * kLanes), llvm::Align(1));
  int lanes = int(llvm::cast<llvm::FixedVectorType>(index->getType())->getNumElements());
  llvm::SmallVector<Value *> found;
  for (int first = 0; first < lanes; first += kLanes) {
    llvm::SmallVector<int> own(kLanes, llvm::PoisonMaskElem);
    for (int lane = first; lane < std::min(first + kLanes, lanes); ++lane)
      own[lane - first] = lane;
    Value *bytes = b.CreateShuffleVector(index, own);
    // The lower seven bits are found in each half of the table.
    auto half = [&](Value *low, Value *high) {
      return b.CreateIntrinsic(llvm::Intrinsic::x86_avx512_vpermi2var_qi_512, {}, {low, bytes, high});
    };
    Value *isHigh = b.CreateICmpSLT(bytes, llvm::Constant::getNullValue(part));
    found.push_back(b.CreateSelect(isHigh, half(quarters[2], quarters[3]), half(quarters[0], quarters[1])));
  }
  Value *all = llvm::concatenateVectors(b, found);
  return b.CreateShuffleVector(all, llvm::to_vector(llvm::seq<int>(0, lanes)));
}
