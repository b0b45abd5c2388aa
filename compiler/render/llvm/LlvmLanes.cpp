#include "render/llvm/LlvmLanes.h"

#include "render/llvm/LlvmTurn.h"

#include "llvm/ADT/MapVector.h"

using namespace kiln;
using llvm::Value;

/// The vectors whose same lane makes up a vector, in its order, and that lane's number; none if it is made otherwise.
static std::pair<llvm::SmallVector<mlir::Value>, int64_t> lanesAcross(uop::VectorizeOp op) {
  llvm::SmallVector<mlir::Value> vectors;
  int64_t lane = -1;
  for (mlir::Value scalar : op.getLanes()) {
    auto gep = scalar.getDefiningOp<uop::GepOp>();
    if (!gep || (lane >= 0 && int64_t(gep.getLane()) != lane) ||
        (!vectors.empty() && vectors.front().getType() != gep.getVector().getType()))
      return {};
    lane = gep.getLane();
    vectors.push_back(gep.getVector());
  }
  return {vectors, lane};
}

llvm::SmallVector<std::pair<uop::VectorizeOp, Value *>>
render::turnLanes(llvm::IRBuilderBase &builder, uop::VectorizeOp op, llvm::function_ref<Value *(mlir::Value)> valueOf) {
  auto [vectors, ownLane] = lanesAcross(op);
  if (!llvm::isPowerOf2_64(vectors.size()))
    return {};
  unsigned lanes = uop::lanesOf(vectors.front().getType());
  if (lanes < 4 || !llvm::isPowerOf2_32(lanes) || mlir::getElementTypeOrSelf(op.getType()).isInteger(1))
    return {};
  llvm::SmallVector<uop::VectorizeOp> all(lanes);
  for (mlir::Operation *user : vectors.front().getUsers())
    if (llvm::isa<uop::GepOp>(user))
      for (mlir::Operation *made : user->getUsers())
        if (auto other = llvm::dyn_cast<uop::VectorizeOp>(made); other && other->getBlock() == op->getBlock())
          if (auto [across, lane] = lanesAcross(other); across == vectors)
            all[lane] = other;
  all[ownLane] = op; // another store may have one of the same lane
  if (llvm::is_contained(all, uop::VectorizeOp()))
    return {};
  llvm::SmallVector<Value *> rows = llvm::map_to_vector(vectors, valueOf);
  llvm::SmallVector<std::pair<uop::VectorizeOp, Value *>> made;
  for (auto [vector, turned] : llvm::zip(all, turnVectors(builder, rows)))
    made.emplace_back(vector, turned);
  return made;
}

Value *render::pickLanes(llvm::IRBuilderBase &builder, uop::VectorizeOp op,
                         llvm::function_ref<Value *(mlir::Value)> valueOf) {
  /// A vector that has some of the lanes.
  struct Part {
    Value *vector;
    llvm::SmallVector<int> lanes; ///< of the vector, for each lane of the result; poison: it is in another
  };
  size_t lanes = op.getLanes().size();
  llvm::MapVector<mlir::Value, llvm::SmallVector<int>> picked;
  for (auto [lane, scalar] : llvm::enumerate(op.getLanes())) {
    auto gep = scalar.getDefiningOp<uop::GepOp>();
    if (!gep || uop::lanesOf(gep.getVector().getType()) < 2)
      return nullptr;
    picked.try_emplace(gep.getVector(), lanes, llvm::PoisonMaskElem).first->second[lane] = int(gep.getLane());
  }
  mlir::Type type = picked.front().first.getType();
  bool areAlike = llvm::all_of(picked, [&](auto &each) { return each.first.getType() == type; });
  if (!areAlike || picked.size() > lanes / 2 || (picked.size() > 2 && uop::lanesOf(type) != int64_t(lanes)))
    return nullptr;
  llvm::SmallVector<Part> parts;
  for (auto &[vector, own] : picked)
    parts.push_back({valueOf(vector), std::move(own)});
  // Two by two, each lane in its place: a lane by itself would wait for the one before.
  do {
    llvm::SmallVector<Part> joined;
    for (size_t i = 0; i < parts.size(); i += 2) {
      if (i + 1 == parts.size() && i > 0) {
        joined.push_back(std::move(parts[i]));
        break;
      }
      Part &a = parts[i], &b = parts[std::min(i + 1, parts.size() - 1)];
      int count = int(llvm::cast<llvm::FixedVectorType>(a.vector->getType())->getNumElements());
      llvm::SmallVector<int> mask(a.lanes), places(lanes, llvm::PoisonMaskElem);
      for (size_t lane = 0; lane < lanes; ++lane) {
        if (mask[lane] == llvm::PoisonMaskElem && b.lanes[lane] != llvm::PoisonMaskElem)
          mask[lane] = count + b.lanes[lane];
        if (mask[lane] != llvm::PoisonMaskElem)
          places[lane] = int(lane);
      }
      joined.push_back({builder.CreateShuffleVector(a.vector, b.vector, mask), std::move(places)});
    }
    parts = std::move(joined);
  } while (parts.size() > 1);
  return parts.front().vector;
}
