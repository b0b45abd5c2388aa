// LLVM 22 itself makes a scalar store of a masked store of one lane. With AVX-512 it first takes a truncation before
// the store for a part of it. It then stores the lane as wide as it was before the truncation: over the elements after
// it, or past the end of the tensor (LLVM's issue 179489, fixed in LLVM 23). So no such store reaches its code
// generator, whatever value it has: a mask, too, is sometimes a truncated vector.

#include "target/SingleLaneStores.h"

#include "llvm/IR/Constants.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"

using namespace kiln;

/// The one lane of a mask; none if it has others or is not known.
static std::optional<unsigned> singleLane(llvm::Value *mask) {
  auto *known = llvm::dyn_cast<llvm::Constant>(mask);
  auto *type = llvm::dyn_cast<llvm::FixedVectorType>(mask->getType());
  if (!known || !type)
    return std::nullopt;
  std::optional<unsigned> single;
  for (unsigned lane = 0; lane < type->getNumElements(); ++lane) {
    llvm::Constant *isStored = known->getAggregateElement(lane);
    if (isStored && (isStored->isNullValue() || llvm::isa<llvm::UndefValue>(isStored)))
      continue;
    if (single || !isStored || !isStored->isOneValue())
      return std::nullopt;
    single = lane;
  }
  return single;
}

static void storeLane(llvm::IntrinsicInst &store, unsigned lane) {
  llvm::IRBuilder<> builder(&store);
  llvm::Value *vector = store.getArgOperand(0), *address = store.getArgOperand(1);
  llvm::Type *element = vector->getType()->getScalarType();
  uint64_t offset = lane * store.getDataLayout().getTypeStoreSize(element);
  llvm::Align align = llvm::commonAlignment(store.getParamAlign(1).valueOrOne(), offset);
  // Not in bounds: the lanes before it may lie outside the tensor.
  llvm::Value *at = lane ? builder.CreateConstGEP1_64(element, address, lane) : address;
  builder.CreateAlignedStore(builder.CreateExtractElement(vector, lane), at, align);
  store.eraseFromParent();
}

void target::storeSingleLanes(llvm::Module &module) {
  constexpr unsigned kMask = 2;
  for (llvm::Function &function : module)
    for (llvm::Instruction &op : llvm::make_early_inc_range(llvm::instructions(function))) {
      auto *store = llvm::dyn_cast<llvm::IntrinsicInst>(&op);
      if (!store || store->getIntrinsicID() != llvm::Intrinsic::masked_store)
        continue;
      if (std::optional<unsigned> lane = singleLane(store->getArgOperand(kMask)))
        storeLane(*store, *lane);
    }
}
