#include "ir/graph/Append.h"

using namespace kiln;
using namespace kiln::graph;
using namespace mlir;
using view::Expr;

/// Where along `axis` a pad puts its input, if it puts zeros nowhere else.
static std::optional<Expr> beginAlong(PadOp pad, int64_t axis) {
  for (auto [at, low, high] : llvm::enumerate(pad.getLow().getSizes(), pad.getHigh().getSizes()))
    if (int64_t(at) != axis && (!low.isConst(0) || !high.isConst(0)))
      return std::nullopt;
  return pad.getLow().getSizes()[axis];
}

/// The one axis along which the shapes differ.
static std::optional<int64_t> grownAxis(Value whole, Value first) {
  view::Shape to = shapeOf(whole), from = shapeOf(first);
  std::optional<int64_t> axis;
  if (to.size() != from.size())
    return std::nullopt;
  for (auto [at, sizes] : llvm::enumerate(llvm::zip(to, from))) {
    auto [after, before] = sizes;
    if (after == before)
      continue;
    if (axis)
      return std::nullopt;
    axis = at;
  }
  return axis;
}

/// Whether the value is true at each point of a tensor of this shape, and false around it.
static bool isMaskOf(Value mask, Expr begin, Expr size, int64_t axis) {
  auto pad = mask.getDefiningOp<PadOp>();
  auto ones = pad ? pad.getInput().getDefiningOp<ConstOp>() : ConstOp();
  auto one = ones ? dyn_cast<IntegerAttr>(ones.getValue()) : IntegerAttr();
  return one && one.getValue().isOne() && beginAlong(pad, axis) == begin && shapeOf(pad.getInput())[axis] == size;
}

std::optional<Appended> graph::appendedTo(Value whole, Value first) {
  std::optional<int64_t> axis = grownAxis(whole, first);
  if (!axis)
    return std::nullopt;
  Appended appended{*axis, {}};
  Value rest = whole;
  Expr end = shapeOf(whole)[*axis];
  while (auto chosen = rest.getDefiningOp<AluOp>()) {
    if (chosen.getKind().getValue() != Alu::WHERE)
      return std::nullopt;
    auto part = chosen.getOperand(1).getDefiningOp<PadOp>();
    std::optional<Expr> begin = part ? beginAlong(part, *axis) : std::nullopt;
    Expr size = begin ? shapeOf(part.getInput())[*axis] : Expr(0);
    if (!begin || *begin + size != end || !isMaskOf(chosen.getOperand(0), *begin, size, *axis))
      return std::nullopt;
    appended.parts.insert(appended.parts.begin(), part.getInput());
    end = *begin;
    rest = chosen.getOperand(2);
  }
  auto pad = rest.getDefiningOp<PadOp>();
  bool isFirst = pad && pad.getInput() == first && beginAlong(pad, *axis) == Expr(0) && end == shapeOf(first)[*axis];
  return isFirst && !appended.parts.empty() ? std::optional(appended) : std::nullopt;
}
