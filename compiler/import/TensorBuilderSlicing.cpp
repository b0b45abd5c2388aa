//===- TensorBuilderSlicing.cpp - Parts of tensors, and tensors of parts -----===//
//
// The graph can cut [begin, end) out of an axis and put zeros around it; most other ways to take tensors apart or to
// join them consist of these two. A step of 3 pads the axis to a multiple of 3, splits it into threes and keeps the
// first of each. A concatenation pads each part to the whole and chooses, at each place, the part that belongs there: a
// sum of the padded parts would turn -0 into 0. numpy's bounds may be negative or past the end, and both they and the
// sizes may be symbolic, so that minima and maxima keep them within the axis.
//
//===-------------------------------------------------------------------------===//
#include "import/DType.h"
#include "import/TensorBuilder.h"

#include <cmath>

using namespace kiln;
using namespace kiln::import;
using namespace mlir;
using llvm::Twine;
using view::provablyEqual;

static bool allZero(ArrayRef<Expr> amounts) {
  return llvm::all_of(amounts, [](Expr amount) { return amount.isConst(0); });
}

Value TensorBuilder::shrink(Value x, Sizes begin, Sizes end) {
  if (!x)
    return {};
  Shape from = shape(x), to;
  if (begin.size() != from.size() || end.size() != from.size())
    return fail("bounds of " + Twine(begin.size()) + " axes do not fit " + describe(from));
  bool whole = true;
  for (auto [size, low, high] : llvm::zip(from, begin, end)) {
    if (low.max() < 0 || (size - high).max() < 0 || (high - low).max() < 0)
      return fail("elements " + low.print() + " to " + high.print() + " are not within an axis of size " +
                  size.print());
    whole = whole && low.isConst(0) && provablyEqual(high, size);
    to.push_back(high - low);
  }
  if (whole)
    return x;
  if (auto op = x.getDefiningOp<graph::ConstOp>())
    return constant(op.getValue(), to);
  return graph::ShrinkOp::create(builder_, location_, x, begin, end);
}

Value TensorBuilder::narrow(Value x, int64_t axis, Expr begin, Expr end) {
  std::optional<int64_t> at = normalizeAxis(axis, rank(x));
  if (!x || !at)
    return {};
  Shape low(rank(x), Expr(0)), high = shape(x);
  low[*at] = begin;
  high[*at] = end;
  return shrink(x, low, high);
}

Value TensorBuilder::pad(Value x, Sizes low, Sizes high, std::optional<Operand> fill) {
  if (!x)
    return {};
  if (int64_t(low.size()) != rank(x) || int64_t(high.size()) != rank(x))
    return fail("pads of " + Twine(low.size()) + " axes do not fit " + describe(shape(x)));
  Shape before(low), after(high), begin(rank(x), Expr(0)), end, padded;
  for (auto [axis, size] : llvm::enumerate(shape(x))) {
    auto take = [](Expr &amount) {
      Expr taken = amount.min() < 0 ? view::maximum(-amount, 0) : Expr(0);
      amount = amount.min() < 0 ? view::maximum(amount, 0) : amount;
      return taken;
    };
    begin[axis] = take(before[axis]);
    Expr cut = take(after[axis]);
    padded.push_back(view::sum({size, before[axis], after[axis]}));
    end.push_back(padded.back() - cut);
  }
  if (!fits(padded))
    return {};
  if (allZero(before) && allZero(after))
    return shrink(x, begin, end);
  Value value = fill && fill->isNumber() ? constant(*fill, element(x)) : fill ? fill->tensor() : Value();
  if (fill && !value)
    return {};
  TypedAttr zero = builder_.getZeroAttr(element(x));
  auto isZero = [&](Value tensor) {
    auto op = tensor.getDefiningOp<graph::ConstOp>();
    return op && op.getValue() == zero;
  };
  bool plain = !value || isZero(value);
  if (plain && isZero(x))
    return shrink(constant(zero, padded), begin, end);
  Value result = graph::PadOp::create(builder_, location_, x, before, after);
  if (!plain) {
    Value inside = pad(constant(1, boolType(), shape(x)), before, after);
    result = where(inside, result, value);
  }
  return shrink(result, begin, end);
}

Value TensorBuilder::pad(Value x, Axes low, Axes high, PadMode mode) {
  if (!x)
    return {};
  if (int64_t(low.size()) != rank(x) || int64_t(high.size()) != rank(x))
    return fail("pads of " + Twine(low.size()) + " axes do not fit " + describe(shape(x)));
  auto amounts = [](Axes pads) { return llvm::map_to_vector(pads, [](int64_t amount) { return Expr(amount); }); };
  if (mode == PadMode::Constant)
    return pad(x, amounts(low), amounts(high));
  auto isOpen = [&](int64_t axis) { return (low[axis] != 0 || high[axis] != 0) && !dim(x, axis).isConst(); };
  if (mode != PadMode::Edge && llvm::any_of(allAxes(x), isOpen))
    return padByPlace(x, amounts(low), amounts(high), mode);
  for (int64_t axis : allAxes(x)) {
    int64_t before = std::max<int64_t>(low[axis], 0), after = std::max<int64_t>(high[axis], 0);
    Expr size = dim(x, axis);
    if (before == 0 && after == 0)
      continue;
    if (mode == PadMode::Edge || size.isConst(1)) {
      Shape first = shape(x), last = first;
      first[axis] = before;
      last[axis] = after;
      x = concat({expand(narrow(x, axis, 0, 1), first), x, expand(narrow(x, axis, size - 1, size), last)}, axis);
      continue;
    }
    if (size.isConst(0))
      return fail("cannot reflect or wrap an axis of size 0", "there is nothing to repeat");
    if (mode == PadMode::Reflect && std::max(before, after) < size.constant()) { // there is nothing to repeat
      Expr last = size - 1;
      x = concat({flip(narrow(x, axis, 1, 1 + before), {axis}), x, flip(narrow(x, axis, last - after, last), {axis})},
                 axis);
      continue;
    }
    // Both are periodic: of the axis itself, or of the axis followed by its inner part backwards.
    int64_t period = size.constant();
    Value block = x;
    if (mode == PadMode::Reflect && period > 2) {
      block = concat({x, flip(narrow(x, axis, 1, size - 1), {axis})}, axis);
      period = 2 * size.constant() - 2;
    }
    int64_t blocksBefore = llvm::divideCeil(before, period), blocksAfter = llvm::divideCeil(after, period);
    Shape counts(rank(x), Expr(1));
    counts[axis] = blocksBefore + 1 + blocksAfter;
    int64_t begin = blocksBefore * period - before;
    x = narrow(tile(block, counts), axis, begin, begin + before + size.constant() + after);
  }
  Shape before, after;
  for (auto [l, h] : llvm::zip(low, high)) {
    before.push_back(std::min<int64_t>(l, 0));
    after.push_back(std::min<int64_t>(h, 0));
  }
  return pad(x, before, after);
}

/// So many elements on a side of a tensor are views of one element each, where a gather would be one load for each
/// lane.
static constexpr int64_t kMostPlaced = 2;

/// The element that padding has at a place outside of an axis.
static Expr placeInside(Expr place, Expr size, PadMode mode) {
  if (mode == PadMode::Wrap) {
    place = view::mod(place, view::maximum(size, 1));
  } else if (mode == PadMode::Reflect && place.isConst(-1)) {
    place = 1; // the neighbour of the end; the end itself where it has none
  } else if (mode == PadMode::Reflect && provablyEqual(place, size)) {
    place = size - 2;
  } else if (mode == PadMode::Reflect) {
    Expr period = view::maximum(size * 2 - 2, 1), there = view::mod(place, period);
    place = view::minimum(there, period - there);
  }
  return view::maximum(view::minimum(place, size - 1), 0); // which tells views that it is inside
}

Value TensorBuilder::padByPlace(Value x, Sizes low, Sizes high, PadMode mode) {
  if (!x)
    return {};
  if (int64_t(low.size()) != rank(x) || int64_t(high.size()) != rank(x))
    return fail("pads of " + Twine(low.size()) + " axes do not fit " + describe(shape(x)));
  for (int64_t axis : allAxes(x)) {
    if (low[axis].isConst(0) && high[axis].isConst(0))
      continue;
    Expr size = dim(x, axis), count = view::maximum(view::sum({size, low[axis], high[axis]}), 0);
    // Elements from the one at `first` on.
    auto elements = [&](Expr first, Expr count) {
      Value place = add(arange(count, int64()), this->size(first)), last = this->size(size - 1);
      if (mode == PadMode::Edge) {
        place = minimum(maximum(place, 0), last);
      } else if (mode == PadMode::Wrap) {
        place = floorMod(place, this->size(view::maximum(size, 1)));
      } else {
        // There and back again.
        Value period = this->size(view::maximum(size * 2 - 2, 1));
        place = floorMod(place, period);
        place = minimum(place, sub(period, place));
      }
      return gather(x, place, axis);
    };
    // The tensor itself is not gathered, nor are a few elements next to it, each at a place that follows from the size.
    auto around = [&](Expr first, Expr count) -> llvm::SmallVector<Value> {
      if (!count.isConst() || count.constant() > kMostPlaced)
        return {elements(first, count)};
      llvm::SmallVector<Value> each;
      for (int64_t i = 0; i < count.constant(); ++i) {
        Expr place = placeInside(first + i, size, mode);
        each.push_back(narrow(x, axis, place, place + 1));
      }
      return each;
    };
    if (low[axis].min() < 0 || high[axis].min() < 0) {
      x = elements(-low[axis], count);
      continue;
    }
    llvm::SmallVector<Value> parts = around(-low[axis], low[axis]);
    parts.push_back(x);
    parts.append(around(size, high[axis]));
    x = concat(parts, axis);
  }
  return x;
}

Value TensorBuilder::stride(Value x, int64_t axis, int64_t step) {
  std::optional<int64_t> at = normalizeAxis(axis, rank(x));
  if (!x || !at)
    return {};
  if (step <= 0)
    return fail("a stride of " + Twine(step), "strides are positive");
  if (step == 1)
    return x;
  Expr size = dim(x, *at), count = view::ceilDiv(size, step);
  if (size.min() >= 1 && size.max() <= step)
    return narrow(x, *at, 0, 1);
  Shape none(rank(x), Expr(0)), extra = none, split = shape(x), merged = split;
  extra[*at] = count * step - size;
  split[*at] = count;
  split.insert(split.begin() + *at + 1, Expr(step));
  merged[*at] = count;
  return reshape(narrow(reshape(pad(x, none, extra), split), *at + 1, 0, 1), merged);
}

/// numpy's reading of a bound: from the end when negative, and kept within [low, high].
static Expr clampBound(Expr bound, Expr size, Expr low, Expr high) {
  if (bound.isConst() && bound.constant() < 0)
    bound = bound.constant() <= -view::kMaxDim ? low : size + bound;
  return view::maximum(view::minimum(bound, high), low);
}

Value TensorBuilder::slice(Value x, int64_t axis, Slice slice) {
  std::optional<int64_t> at = normalizeAxis(axis, rank(x));
  if (!x || !at)
    return {};
  Expr size = dim(x, *at), begin, end;
  if (slice.step == 0)
    return fail("a slice with step 0", "steps are positive or negative");
  if (slice.step > 0) {
    begin = slice.begin ? clampBound(*slice.begin, size, 0, size) : Expr(0);
    end = slice.end ? clampBound(*slice.end, size, 0, size) : size;
    end = (end - begin).min() >= 0 ? end : view::maximum(begin, end);
    return stride(narrow(x, *at, begin, end), *at, slice.step);
  }
  // The elements of a negative step, in their own order, then backwards.
  begin = slice.end ? clampBound(*slice.end, size, -1, size - 1) + 1 : Expr(0);
  end = slice.begin ? clampBound(*slice.begin, size, -1, size - 1) + 1 : size;
  end = (end - begin).min() >= 0 ? end : view::maximum(begin, end);
  int64_t step = slice.step == INT64_MIN ? INT64_MAX : -slice.step;
  return stride(flip(narrow(x, *at, begin, end), {*at}), *at, step);
}

Value TensorBuilder::slice(Value x, ArrayRef<Slice> slices) {
  if (x && int64_t(slices.size()) > rank(x))
    return fail("a slice of " + Twine(slices.size()) + " axes does not fit " + describe(shape(x)));
  for (auto [axis, part] : llvm::enumerate(slices))
    x = slice(x, int64_t(axis), part);
  return x;
}

/// The most parts joined at once: each asks at every point whether it belongs there.
static constexpr size_t kMostJoined = 64;

/// A concatenation of parts that fit.
static Value join(TensorBuilder &b, ArrayRef<Value> parts, int64_t axis) {
  if (parts.size() > kMostJoined) {
    // In about as many groups as each has parts. A group is put in memory, else all would be joined at once again.
    size_t each = std::min(kMostJoined, size_t(std::ceil(std::sqrt(double(parts.size())))));
    SmallVector<Value> groups;
    for (; !parts.empty(); parts = parts.drop_front(std::min(each, parts.size())))
      groups.push_back(b.contiguous(join(b, parts.take_front(each), axis)));
    return join(b, groups, axis);
  }
  Expr total = 0, offset = 0;
  for (Value part : parts)
    total = total + b.dim(part, axis);
  // Each part is chosen at its place, not added to the others' zeros: a sum would turn -0 into 0.
  Value result;
  for (Value part : parts) {
    Shape low(b.rank(part), Expr(0)), high = low;
    low[axis] = offset;
    offset = offset + b.dim(part, axis);
    high[axis] = total - offset;
    Value padded = b.pad(part, low, high);
    if (result)
      padded = b.where(b.pad(b.constant(1, b.boolType(), b.shape(part)), low, high), padded, result);
    result = padded;
  }
  return result;
}

Value TensorBuilder::concat(ArrayRef<Value> tensors, int64_t axis) {
  if (tensors.empty())
    return fail("a concatenation of nothing");
  if (llvm::is_contained(tensors, Value()))
    return {};
  Value first = tensors.front();
  std::optional<int64_t> at = normalizeAxis(axis, rank(first));
  if (!at)
    return {};
  Shape common = shape(first);
  for (Value tensor : tensors) {
    Shape given = shape(tensor);
    bool same = given.size() == common.size();
    for (int64_t i = 0; same && i < rank(first); ++i)
      if (i != *at && !provablyEqual(common[i], given[i])) {
        same = takeForEqual(common[i], given[i], "concatenate");
        common[i] = given[i].isConst() ? given[i] : common[i];
      }
    if (!same)
      return fail("cannot concatenate " + describe(shape(first)) + " and " + describe(given) + " along axis " +
                      Twine(*at),
                  "the other sizes must be equal");
    if (element(tensor) != element(first))
      return fail("cannot concatenate " + dtypeName(element(first)) + " and " + dtypeName(element(tensor)),
                  "cast one of them");
  }
  SmallVector<Value> parts;
  for (Value tensor : tensors) {
    // Sizes that are assumed to be equal are written as the first one's are.
    for (int64_t i = 0; i < rank(first); ++i)
      if (i != *at)
        tensor = withSize(tensor, i, common[i]);
    if (!dim(tensor, *at).isConst(0))
      parts.push_back(tensor);
  }
  return parts.empty() ? first : join(*this, parts, *at);
}

Value TensorBuilder::stack(ArrayRef<Value> tensors, int64_t axis) {
  SmallVector<Value> parts;
  for (Value tensor : tensors)
    parts.push_back(unsqueeze(tensor, {axis}));
  return concat(parts, axis);
}

SmallVector<Value> TensorBuilder::split(Value x, int64_t axis, Sizes sizes) {
  if (!x)
    return {};
  std::optional<int64_t> at = normalizeAxis(axis, rank(x));
  if (!at)
    return {};
  if (!provablyEqual(view::sum(sizes), dim(x, *at))) {
    fail("parts of " + describe(sizes) + " do not make up an axis of size " + dim(x, *at).print(),
         "give parts whose sum is its size");
    return {};
  }
  SmallVector<Value> parts;
  Expr offset = 0;
  for (Expr size : sizes) {
    parts.push_back(narrow(x, *at, offset, offset + size));
    if (!parts.back())
      return {};
    offset = offset + size;
  }
  return parts;
}

Value TensorBuilder::interleaveZeros(Value x, int64_t axis, int64_t count) {
  std::optional<int64_t> at = normalizeAxis(axis, rank(x));
  if (!x || !at)
    return {};
  if (count <= 0)
    return x;
  Shape none(rank(x) + 1, Expr(0)), zeros = none, merged = shape(x);
  zeros[*at + 1] = count;
  merged[*at] = merged[*at] * Expr(count + 1);
  Value spread = reshape(pad(unsqueeze(x, {*at + 1}), none, zeros), merged);
  return narrow(spread, *at, 0, merged[*at] - count);
}
