#include "passes/schedule/Cones.h"

#include "passes/schedule/Cost.h"
#include "passes/schedule/Policies.h"

using namespace kiln;
using namespace kiln::schedule;
using namespace mlir;

const Cone &Cones::of(Value value) const {
  static const Cone kNone;
  auto found = cones_.find(value);
  return found == cones_.end() ? kNone : found->second;
}

/// Whether a value is one element that no memory goes into, as the factor of a mean whose number of terms only a run
/// knows. A kernel computes it before its loops.
bool Cones::isOneNumber(Value value) const {
  return value.getDefiningOp<graph::AluOp>() && of(value).sources.empty() && view::product(shapeOf(value)).isConst(1);
}

bool Cones::isMadeOfPlaces(Value condition) const {
  if (isNumber(condition))
    return true;
  return isHere(condition) && condition.getDefiningOp<graph::AluOp>() && of(condition).sources.empty();
}

Value Cones::chosenFrom(Value value) const {
  graph::AluOp choice = aluOf(value, Alu::WHERE);
  if (!choice || !isMadeOfPlaces(edgeOf(choice->getOperand(0)).base))
    return {};
  Value taken = edgeOf(choice->getOperand(1)).base, other = edgeOf(choice->getOperand(2)).base;
  return taken == other || taken == chosenFrom(other) ? taken : Value();
}

Cone Cones::coneOf(Value value) const {
  Cone cone;
  Value chosen = chosenFrom(value);
  if (auto alu = value.getDefiningOp<graph::AluOp>())
    cone.operations = operationsOf(alu.getKind().getValue());
  if (chosen)
    cone.choices = cone.operations;
  for (const Edge &edge : sourcesOf(value)) {
    if (isNumber(edge.base))
      continue;
    bool isMemory = !isHere(edge.base) || realized_.contains(edge.base);
    const Cone &inner = of(edge.base);
    if (!isMemory)
      cone.depth = std::max(cone.depth, inner.depth + 1);
    if (!isMemory && isOneNumber(edge.base))
      continue;
    if (isMemory || edge.base.getDefiningOp<graph::ReduceOp>()) {
      cone.sources.insert(edge.base);
      continue;
    }
    cone.operations = std::min(cone.operations + inner.operations, 1e6);
    bool isCondition = chosen && isMadeOfPlaces(edge.base);
    cone.choices = std::min(cone.choices + (isCondition ? inner.operations : inner.choices), 1e6);
    cone.sources.insert(inner.sources.begin(), inner.sources.end());
  }
  return cone;
}

bool Cones::takesTooMany(Value value) const {
  double operations = 0;
  llvm::SmallSetVector<Value, 16> found;
  found.insert(value);
  for (size_t i = 0; i < found.size() && operations <= kMostOperations; ++i) {
    if (auto alu = found[i].getDefiningOp<graph::AluOp>())
      operations += operationsOf(alu.getKind().getValue());
    for (const Edge &edge : sourcesOf(found[i]))
      if (!isNumber(edge.base) && isHere(edge.base) && !realized_.contains(edge.base) &&
          !edge.base.getDefiningOp<graph::ReduceOp>())
        found.insert(edge.base);
  }
  return operations > kMostOperations;
}

bool Cones::realizeOperand(Value value) {
  Value found;
  size_t most = 1;
  for (const Edge &edge : sourcesOf(value)) {
    if (isNumber(edge.base) || !isHere(edge.base) || realized_.contains(edge.base) ||
        edge.base.getDefiningOp<graph::ReduceOp>() || bytesOf(edge.base) > bytesOf(value))
      continue;
    if (size_t sources = of(edge.base).sources.size(); sources > most) {
      found = edge.base;
      most = sources;
    }
  }
  // What a cast widens takes fewer bytes. Others may widen it, too.
  SmallVector<Value> casts;
  while (graph::AluOp cast = found ? aluOf(found, Alu::CAST) : graph::AluOp()) {
    Value narrow = edgeOf(cast->getOperand(0)).base;
    if (!isHere(narrow) || bytesOf(narrow) >= bytesOf(found))
      break;
    casts.push_back(found);
    found = narrow;
  }
  if (!found)
    return false;
  realized_.insert(found);
  for (Value cast : llvm::reverse(casts))
    cones_[cast] = coneOf(cast);
  return true;
}

void Cones::find() {
  for (Operation &op : block_)
    for (Value value : op.getResults()) {
      if (!isHere(value))
        continue;
      auto isTooLarge = [&](const Cone &cone) {
        return cone.sources.size() > kMostSources || cone.depth > kMostDepth ||
               (cone.operations > kMostOperations && takesTooMany(value));
      };
      Cone cone = coneOf(value);
      // The products of a sum are many times what they are made of.
      while (isTooLarge(cone)) {
        if (!realizeOperand(value)) {
          realized_.insert(value);
          break;
        }
        cone = coneOf(value);
      }
      cones_[value] = std::move(cone);
    }
}
