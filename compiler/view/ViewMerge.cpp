//===- ViewMerge.cpp - Two views that are one ----------------------------===//
//
// A flat index into the inner view's shape comes apart into one coordinate per inner axis. The two views are one when
// each such coordinate is a linear function of the outer axes that never leaves its axis. If some do, neighbouring
// inner axes may still make up one that does not. An inner mask carries over when each of its coordinates depends on
// one outer axis.
//
//===----------------------------------------------------------------------===//
#include "view/ViewImpl.h"

using namespace kiln::view;
using llvm::ArrayRef;
using llvm::SmallVector;
using llvm::SmallVectorImpl;

/// Each retry settles a mask or regroups axes, so few are needed; with symbols a proof may fail again and again.
static constexpr int kMostRetries = 16;

std::optional<int64_t> kiln::view::stepsIn(Expr distance, Expr stride) {
  if (stride.isConst(0) || (distance.isConst() && stride.isConst() && distance.constant() % stride.constant() != 0))
    return std::nullopt;
  std::optional<Expr> steps = exactQuotient(distance, stride);
  return steps && steps->isConst() ? std::optional(steps->constant()) : std::nullopt;
}

std::optional<SmallVector<int64_t, 4>> kiln::view::coordinatesOf(Expr place, ArrayRef<Expr> strides) {
  SmallVector<int64_t, 4> at(strides.size(), 0);
  for (auto [axis, stride] : llvm::enumerate(strides))
    if (std::optional<int64_t> steps = stride.isConst() ? std::nullopt : stepsIn(place, stride); steps && *steps > 0) {
      // As many of them as another axis has rows are a row of the one around it.
      for (size_t around = 0; around < axis; ++around)
        if (std::optional<int64_t> row = stepsIn(strides[around], stride); row && *row > 0) {
          at[around] = *steps / *row;
          *steps %= *row;
        }
      at[axis] = *steps;
      return at;
    }
  auto terms = place.kind() == Expr::Kind::Add ? llvm::to_vector(place.operands()) : SmallVector<Expr>{place};
  for (Expr term : terms)
    for (size_t axis = 0; axis < strides.size() && !term.isConst(0); ++axis) {
      if (term.isConst() && strides[axis].isConst() && !strides[axis].isConst(0)) {
        if (term.constant() < 0)
          return std::nullopt;
        at[axis] += term.constant() / strides[axis].constant();
        term = term.constant() % strides[axis].constant();
      } else if (std::optional<int64_t> steps = stepsIn(term, strides[axis]); steps && *steps > 0) {
        at[axis] += *steps;
        term = 0;
      } else if (axis + 1 == strides.size()) {
        return std::nullopt;
      }
    }
  return at;
}

/// The coordinates of the flat index `flat` in `shape`.
static Shape coordinates(ArrayRef<Expr> shape, ArrayRef<Expr> strides, Expr flat) {
  Shape result;
  for (Expr stride : strides) {
    Expr here = stride.isConst(0) ? Expr(0) : floorDiv(flat, stride);
    result.push_back(here);
    flat = flat - here * stride;
  }
  return result;
}

namespace {
/// The least and the greatest value that a coordinate takes.
struct Reach {
  Expr least, greatest;
};

/// Row d: the gain of inner axis d's coordinate by one step along each outer axis.
class Steps {
public:
  Steps(size_t innerRank, size_t outerRank) : outerRank_(outerRank), all_(innerRank * outerRank, Expr(0)) {}
  llvm::MutableArrayRef<Expr> row(size_t d) { return llvm::MutableArrayRef(all_).slice(d * outerRank_, outerRank_); }
  ArrayRef<Expr> row(size_t d) const { return ArrayRef(all_).slice(d * outerRank_, outerRank_); }

private:
  size_t outerRank_;
  SmallVector<Expr, 16> all_;
};
} // namespace

/// The range of base + sum of coefficient * (0 <= axis < size). False where the sign of a coefficient is unknown.
static bool boundLinear(Expr base, ArrayRef<Expr> coefficients, ArrayRef<Expr> sizes, Expr &least, Expr &greatest) {
  least = greatest = base;
  for (auto [coefficient, size] : llvm::zip(coefficients, sizes)) {
    if (coefficient.isConst(0))
      continue;
    Expr reach = coefficient * (size - Expr(1));
    if (coefficient.min() >= 0)
      greatest = greatest + reach;
    else if (coefficient.max() <= 0)
      least = least + reach;
    else
      return false;
  }
  return true;
}

static std::optional<View> mergeWithin(const View &inner, const View &outer, int retries);

/// Carries the inner mask over to the outer axes. `projected` is the outer mask it gives; false if it has none.
static bool projectMask(const View &inner, ArrayRef<Expr> origin, const Steps &steps, ArrayRef<Reach> reached,
                        SmallVectorImpl<Range> &projected) {
  bool complete = true;
  for (size_t d = 0; d < inner.shape().size(); ++d) {
    auto [begin, end] = (*inner.mask())[d];
    if (provablyLessEqual(begin, reached[d].least) && provablyLess(reached[d].greatest, end))
      continue;
    auto moves = [](Expr step) { return !step.isConst(0); };
    ArrayRef<Expr> row = steps.row(d);
    int64_t movers = llvm::count_if(row, moves);
    if (movers == 0) {
      // The coordinate is constant: it is masked off as a whole or, with symbols, unknown.
      bool masked = provablyLess(origin[d], begin) || provablyLessEqual(end, origin[d]);
      if (masked && !projected.empty())
        projected[0].end = 0;
      else
        complete = false;
      continue;
    }
    size_t axis = llvm::find_if(row, moves) - row.begin();
    Expr step = row[axis];
    if (movers > 1 || !step.isConst()) {
      complete = false;
      continue;
    }
    Expr low = begin - origin[d], high = end - origin[d] - Expr(1);
    if (step.constant() < 0)
      std::swap(low, high);
    Range &r = projected[axis];
    r.begin = maximum(r.begin, ceilDiv(low, step));
    r.end = minimum(r.end, floorDiv(high, step) + Expr(1));
  }
  return complete;
}

static std::optional<View> mergeUnmasked(const View &inner, const View &outer, int retries) {
  ArrayRef<Expr> innerShape = inner.shape(), outerShape = outer.shape();
  Shape rowMajor = rowMajorStrides(innerShape);
  Steps steps(innerShape.size(), outerShape.size());
  Shape strides(outerShape.size(), Expr(0));
  // Of several ways to take a distance apart, any that stays within the axes will do: if a size may be 1, one row is as
  // far as another axis' row.
  bool isSymbolic = llvm::any_of(rowMajor, [](Expr stride) { return !stride.isConst(); });
  Shape origin = coordinates(innerShape, rowMajor, outer.offset());
  if (auto known = isSymbolic ? coordinatesOf(outer.offset(), rowMajor) : std::nullopt)
    origin.assign(known->begin(), known->end());
  for (unsigned axis = 0; axis < outerShape.size(); ++axis) {
    Expr stride = outer.strides()[axis];
    if (stride.isConst(0))
      continue;
    auto whole = isSymbolic ? coordinatesOf(stride, rowMajor) : std::nullopt;
    Shape next = whole ? Shape() : coordinates(innerShape, rowMajor, outer.offset() + stride);
    for (size_t d = 0; d < innerShape.size(); ++d) {
      Expr step = whole ? Expr((*whole)[d]) : next[d] - origin[d];
      if (step.isConst(0))
        continue;
      steps.row(d)[axis] = step;
      strides[axis] = strides[axis] + step * inner.strides()[d];
    }
  }

  // From the innermost axis outwards, axes join until the coordinate stays within their common range.
  SmallVector<Reach, 4> reached(innerShape.size());
  Shape regrouped, group(outerShape.size(), Expr(0));
  Expr size = 1, base = 0;
  bool open = false;
  for (size_t d = innerShape.size(); d-- > 0;) {
    for (auto [sum, step] : llvm::zip(group, steps.row(d)))
      sum = sum + step * size;
    base = base + origin[d] * size;
    size = size * innerShape[d];
    Reach reach;
    if (!boundLinear(base, group, outerShape, reach.least, reach.greatest))
      return std::nullopt;
    open = !reach.least.isConst(0) || !reach.greatest.isConst(0);
    if (!provablyLessEqual(0, reach.least) || !provablyLess(reach.greatest, size))
      continue;
    // Used only where no axes were joined, and then the group is this axis alone.
    reached[d] = reach;
    regrouped.push_back(size);
    group.assign(outerShape.size(), Expr(0));
    size = 1, base = 0;
    open = false;
  }
  if (open)
    return std::nullopt;
  std::reverse(regrouped.begin(), regrouped.end());
  if (ArrayRef(regrouped) != innerShape) {
    std::optional<View> grouped = inner.reshape(regrouped);
    return grouped ? mergeWithin(*grouped, outer, retries - 1) : std::nullopt;
  }

  if (inner.mask()) {
    SmallVector<Range, 4> projected;
    for (Expr s : outerShape)
      projected.push_back({0, s});
    bool complete = projectMask(inner, origin, steps, reached, projected);
    for (auto [r, s] : llvm::zip(projected, outerShape))
      if (!r.begin.isConst(0) || r.end != s)
        return mergeWithin(inner, View::make(outerShape, outer.strides(), outer.offset(), projected), retries - 1);
    if (!complete)
      return std::nullopt;
  }
  Expr offset = inner.offset();
  for (auto [o, stride] : llvm::zip(origin, inner.strides()))
    offset = offset + o * stride;
  return View::make(outerShape, strides, offset);
}

static std::optional<View> mergeWithin(const View &inner, const View &outer, int retries) {
  if (retries == 0)
    return std::nullopt;
  if (inner.contiguous())
    return outer;
  if (outer.contiguous()) {
    if (outer.shape() == inner.shape())
      return inner;
    if (provablyEqual(outer.size(), inner.size()))
      if (std::optional<View> reshaped = inner.reshape(outer.shape()))
        return reshaped;
  }
  if (!outer.mask())
    return mergeUnmasked(inner, outer, retries);
  // Merge the unmasked part of the outer view, then put the padding back.
  ArrayRef<Range> mask = *outer.mask();
  if (llvm::any_of(mask, [](Range r) { return provablyLessEqual(r.end, r.begin); }))
    return View::make(outer.shape(), Shape(outer.shape().size(), Expr(0)), 0,
                      SmallVector<Range, 4>(outer.shape().size(), Range{0, 0}));
  std::optional<View> merged = mergeWithin(inner, outer.shrink(mask), retries - 1);
  if (!merged)
    return std::nullopt;
  SmallVector<std::pair<Expr, Expr>, 4> amounts;
  for (auto [r, size] : llvm::zip(mask, outer.shape()))
    amounts.push_back({r.begin, size - r.end});
  return merged->pad(amounts);
}

/// The least value of the variable that a size grows with, and no other, for which the size is at least `bound`.
static std::optional<std::pair<Expr, int64_t>> leastFor(Expr size, int64_t bound) {
  if (size.kind() == Expr::Kind::Var)
    return std::pair(size, bound);
  if (size.isConst() || size.operands().size() != 2)
    return std::nullopt;
  Expr inner = size.operands()[0], number = size.operands()[1];
  if (inner.isConst())
    std::swap(inner, number);
  if (!number.isConst() || number.constant() > kMaxDim)
    return std::nullopt;
  switch (size.kind()) {
  case Expr::Kind::Add:
    return leastFor(inner, bound - number.constant());
  case Expr::Kind::Mul:
    return number.constant() > 0 ? leastFor(inner, llvm::divideCeilSigned(bound, number.constant())) : std::nullopt;
  case Expr::Kind::FloorDiv: {
    bool divides = number.constant() > 0 && number == size.operands()[1] && std::abs(bound) <= kMaxDim;
    return divides ? leastFor(inner, bound * number.constant()) : std::nullopt;
  }
  default:
    return std::nullopt;
  }
}

llvm::DenseMap<Expr, Expr> kiln::view::withoutZeros(ArrayRef<Expr> sizes, ArrayRef<Expr> all, bool mayDecide) {
  llvm::DenseMap<Expr, Expr> positive;
  for (Expr size : sizes) {
    auto least = size.min() < 1 && size.max() >= 1 ? leastFor(size, 1) : std::nullopt;
    if (!least || least->second <= least->first.min() || least->second > least->first.max() - !mayDecide)
      continue;
    auto [variable, value] = *least;
    Expr &bounded = positive.try_emplace(variable, variable).first->second;
    bounded = Expr::variable(variable.name(), std::max(bounded.min(), value), variable.max());
  }
  bool canBe = llvm::all_of(all, [&](Expr size) { return size.substitute(positive).max() >= 0; });
  return canBe ? positive : llvm::DenseMap<Expr, Expr>();
}

llvm::DenseMap<Expr, Expr> kiln::view::inverted(const llvm::DenseMap<Expr, Expr> &values) {
  llvm::DenseMap<Expr, Expr> back;
  for (auto [variable, value] : values)
    if (!value.isConst())
      back[value] = variable;
  return back;
}

std::optional<View> kiln::view::merge(const View &inner, const View &outer) {
  Shape all(inner.shape());
  llvm::append_range(all, outer.shape());
  // If a size of the outer view is 0 nothing is read.
  llvm::DenseMap<Expr, Expr> positive = withoutZeros(outer.shape(), all, /*mayDecide=*/true);
  if (positive.empty())
    return mergeWithin(inner, outer, kMostRetries);
  View bounded = substitute(outer, positive);
  std::optional<View> merged = mergeWithin(substitute(inner, positive), bounded, kMostRetries);
  if (!merged)
    return std::nullopt;
  // With bounds a size may have another form, which is not the same number where nothing is read.
  View named = substitute(*merged, inverted(positive));
  SmallVector<Range, 4> mask(named.mask().value_or(ArrayRef<Range>()));
  for (size_t axis = 0; axis < mask.size(); ++axis)
    if ((*merged->mask())[axis].end == bounded.shape()[axis])
      mask[axis].end = outer.shape()[axis];
  // An axis of one element or none moves, even if it need not: what stands still may be read before it is known whether
  // there is an element.
  Shape strides(named.strides());
  for (size_t axis = 0; axis < strides.size(); ++axis)
    if (bounded.shape()[axis].isConst(1) && !outer.shape()[axis].isConst() && !outer.strides()[axis].isConst(0))
      strides[axis] = 1;
  return View::make(outer.shape(), strides, named.offset(),
                    named.mask() ? std::optional<ArrayRef<Range>>(mask) : std::nullopt);
}
