//===- Append.cpp - Tensors that begin with another --------------------------===//
// A decoder's cache comes out as its input with a step appended. Importers write a concatenation as choices: each part
// is chosen at its place, over zeros of the whole shape. Exporters turn axes before it and turn them back after it, or
// hold the caches of all layers in one tensor, take each out, and stack them again. So a box of the whole is followed
// backwards through movement and choices, cut where a choice's border crosses it, to its source tensors.
//===----------------------------------------------------------------------===//
#include "ir/graph/Append.h"

#include "llvm/ADT/STLExtras.h"

using namespace kiln;
using namespace kiln::graph;
using namespace mlir;
using view::Expr;
using view::Shape;

namespace {
/// Elements [begin, end) along each axis.
struct Box {
  Shape begin, end;

  Shape sizes() const {
    Shape result;
    for (auto [from, to] : llvm::zip(begin, end))
      result.push_back(to - from);
    return result;
  }
};

/// A box of a movement op's result as a box of its input.
struct Source {
  Value input;
  Box box;
  llvm::SmallVector<std::optional<int64_t>>
      axes;     ///< of the result's axes: the input's, none if it has size 1 and the input lacks it
  Shape shifts; ///< of the result's axes: added to a place it is one in the input
};
} // namespace

static std::optional<Source> throughPermute(PermuteOp op, const Box &box) {
  Source source{op.getInput(), box, {}, Shape(box.begin.size(), Expr(0))};
  for (auto [to, from] : llvm::enumerate(op.getOrder())) {
    source.axes.push_back(from);
    source.box.begin[from] = box.begin[to];
    source.box.end[from] = box.end[to];
  }
  return source;
}

static Source shifted(Value input, const Box &box, const Shape &shifts) {
  Source source{input, box, {}, shifts};
  for (auto [at, shift] : llvm::enumerate(shifts)) {
    source.axes.push_back(at);
    source.box.begin[at] = box.begin[at] + shift;
    source.box.end[at] = box.end[at] + shift;
  }
  return source;
}

/// Only if no zeros are in the box.
static std::optional<Source> throughPad(PadOp op, const Box &box) {
  Shape shifts, sizes = shapeOf(op.getInput());
  for (auto [at, low] : llvm::enumerate(op.getLow().getSizes())) {
    if (!provablyLessEqual(low, box.begin[at]) || !provablyLessEqual(box.end[at], low + sizes[at]))
      return std::nullopt;
    shifts.push_back(-low);
  }
  return shifted(op.getInput(), box, shifts);
}

/// Only if axes of size 1 come and go.
static std::optional<Source> throughReshape(ReshapeOp op, const Box &box) {
  Shape from = shapeOf(op.getInput()), to = shapeOf(op.getResult());
  Source source{
      op.getInput(), {Shape(from.size(), Expr(0)), Shape(from.size(), Expr(1))}, {}, Shape(to.size(), Expr(0))};
  size_t next = 0;
  for (auto [at, size] : llvm::enumerate(to)) {
    if (size.isConst(1)) {
      source.axes.push_back(std::nullopt);
      continue;
    }
    while (next < from.size() && from[next].isConst(1))
      ++next;
    if (next == from.size() || from[next] != size)
      return std::nullopt;
    source.box.begin[next] = box.begin[at];
    source.box.end[next] = box.end[at];
    source.axes.push_back(next++);
  }
  bool isWhole = llvm::all_of(llvm::ArrayRef(from).drop_front(next), [](Expr size) { return size.isConst(1); });
  return isWhole ? std::optional(source) : std::nullopt;
}

static std::optional<Source> through(Value value, const Box &box) {
  if (auto permute = value.getDefiningOp<PermuteOp>())
    return throughPermute(permute, box);
  if (auto pad = value.getDefiningOp<PadOp>())
    return throughPad(pad, box);
  if (auto reshape = value.getDefiningOp<ReshapeOp>())
    return throughReshape(reshape, box);
  if (auto shrink = value.getDefiningOp<ShrinkOp>())
    return shifted(shrink.getInput(), box, Shape(shrink.getBegin().getSizes()));
  return std::nullopt;
}

namespace {
/// A part of a box, and the one of a choice's two tensors that all of it is from.
struct Piece {
  Box box;
  Value from;
};

/// A box in order along an axis. One piece has any axis.
struct Cut {
  int64_t axis = 0;
  llvm::SmallVector<Piece, 3> pieces;
};
} // namespace

/// Cuts a box where the choice changes. The choice must be by a box too: a padded true.
static std::optional<Cut> cut(Value value, const Box &box) {
  auto choice = value.getDefiningOp<AluOp>();
  auto pad =
      choice && choice.getKind().getValue() == Alu::WHERE ? choice.getOperand(0).getDefiningOp<PadOp>() : PadOp();
  auto ones = pad ? pad.getInput().getDefiningOp<ConstOp>() : ConstOp();
  auto one = ones ? dyn_cast<IntegerAttr>(ones.getValue()) : IntegerAttr();
  if (!one || !one.getValue().isOne())
    return std::nullopt;
  Value chosen = choice.getOperand(1), other = choice.getOperand(2);
  Shape sizes = shapeOf(pad.getInput());
  std::optional<int64_t> crossed;
  for (auto [at, low] : llvm::enumerate(pad.getLow().getSizes())) {
    Expr high = low + sizes[at];
    if (provablyLessEqual(box.end[at], low) || provablyLessEqual(high, box.begin[at]))
      return Cut{0, {{box, other}}};
    if (provablyLessEqual(low, box.begin[at]) && provablyLessEqual(box.end[at], high))
      continue;
    if (crossed)
      return std::nullopt;
    crossed = at;
  }
  if (!crossed)
    return Cut{0, {{box, chosen}}};
  Cut result{*crossed, {}};
  Expr low = pad.getLow().getSizes()[*crossed], high = low + sizes[*crossed], begin = box.begin[*crossed];
  auto add = [&](Expr end, Value from) {
    Box piece = box;
    piece.begin[*crossed] = begin;
    piece.end[*crossed] = end;
    result.pieces.push_back({piece, from});
    begin = end;
  };
  Expr end = box.end[*crossed];
  if (!provablyLessEqual(low, begin)) {
    if (!provablyLessEqual(begin, low) || !provablyLessEqual(low, end))
      return std::nullopt;
    add(low, other);
  }
  if (provablyLessEqual(end, high)) {
    add(end, chosen);
  } else if (provablyLessEqual(begin, high) && provablyLessEqual(high, end)) {
    add(high, chosen);
    add(end, other);
  } else {
    return std::nullopt;
  }
  return result;
}

namespace {
/// The place of an axis of the whole in a value: an axis of that, or none and one place for all.
struct Place {
  std::optional<int64_t> axis;
  Expr offset; ///< a place in the whole is one along the axis and this
};
} // namespace

/// Whether the box of `value` is the same of `first`, each element at the place of the whole that `places` says.
static bool isPartOf(Value first, Value value, const Box &box, llvm::ArrayRef<Place> places) {
  if (value == first)
    return llvm::all_of(llvm::enumerate(places), [&](auto place) {
      auto [at, to] = place;
      if (to.axis)
        return *to.axis == int64_t(at) && to.offset == Expr(0);
      return box.begin[at] == to.offset && box.end[at] == to.offset + 1;
    });
  if (std::optional<Cut> parts = cut(value, box))
    return llvm::all_of(parts->pieces,
                        [&](const Piece &piece) { return isPartOf(first, piece.from, piece.box, places); });
  std::optional<Source> source = through(value, box);
  if (!source)
    return false;
  llvm::SmallVector<Place> moved(places);
  for (Place &place : moved)
    if (place.axis) {
      int64_t axis = *place.axis;
      place.axis = source->axes[axis];
      place.offset = place.offset - source->shifts[axis];
    }
  return isPartOf(first, source->input, source->box, moved);
}

std::optional<int64_t> graph::appendedAxis(Value whole, Value first) {
  Shape to = shapeOf(whole), from = shapeOf(first);
  if (to.size() != from.size())
    return std::nullopt;
  std::optional<int64_t> axis;
  llvm::SmallVector<Place> places;
  for (auto [at, sizes] : llvm::enumerate(llvm::zip(to, from))) {
    auto [after, before] = sizes;
    places.push_back({at, Expr(0)});
    if (after == before)
      continue;
    if (axis || !provablyLessEqual(before, after))
      return std::nullopt;
    axis = at;
  }
  bool isFirst = axis && isPartOf(first, whole, {Shape(from.size(), Expr(0)), from}, places);
  return isFirst ? axis : std::nullopt;
}

/// The tensors joined along an axis, as importers write a concatenation.
static Value concat(OpBuilder &builder, Location loc, ArrayRef<Value> parts, int64_t axis) {
  if (parts.size() == 1)
    return parts.front();
  Expr total = 0, begin = 0;
  for (Value part : parts)
    total = total + shapeOf(part)[axis];
  Value result;
  for (Value part : parts) {
    Shape shape = shapeOf(part), low(shape.size(), Expr(0)), high = low;
    low[axis] = begin;
    begin = begin + shape[axis];
    high[axis] = total - begin;
    auto padded = [&](Value value) -> Value { return PadOp::create(builder, loc, value, low, high); };
    Value placed = padded(part);
    if (result) {
      Value ones = ConstOp::create(builder, loc, tensorType(shape, builder.getI1Type()), builder.getBoolAttr(true));
      placed = AluOp::create(builder, loc, Alu::WHERE, ValueRange{padded(ones), placed, result});
    }
    result = placed;
  }
  return result;
}

static Value boxOf(OpBuilder &builder, Location loc, Value value, const Box &box) {
  if (box.sizes() == shapeOf(value))
    return value;
  if (std::optional<Cut> parts = cut(value, box)) {
    llvm::SmallVector<Value> pieces;
    for (const Piece &piece : parts->pieces)
      pieces.push_back(boxOf(builder, loc, piece.from, piece.box));
    return concat(builder, loc, pieces, parts->axis);
  }
  std::optional<Source> source = through(value, box);
  if (!source)
    return ShrinkOp::create(builder, loc, value, box.begin, box.end);
  Value input = boxOf(builder, loc, source->input, source->box);
  if (auto permute = value.getDefiningOp<PermuteOp>())
    return PermuteOp::create(builder, loc, input, permute.getOrder());
  if (value.getDefiningOp<ReshapeOp>())
    return ReshapeOp::create(builder, loc,
                             tensorType(box.sizes(), cast<RankedTensorType>(value.getType()).getElementType()), input);
  return input;
}

Value graph::partOf(OpBuilder &builder, Location loc, Value whole, const Shape &begin, const Shape &end) {
  return boxOf(builder, loc, whole, {begin, end});
}
