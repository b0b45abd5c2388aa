//===- View.cpp - One strided map and the movements that stay one --------===//
//
// A view maps positions to elements: offset + Σ position · stride, with a mask that says where an element exists at
// all. Transposing, repeating, padding, cutting and reversing change these numbers and leave one view; a reshape
// (ViewReshape.cpp) and one view after another (ViewMerge.cpp) may not. Views are compared, so equal ones should be
// written the same: an axis of one element has stride 0, a full mask is none, and an axis with one element left in its
// mask has its place in the offset. Sizes may be symbolic, so masks move by minima and maxima.
//
//===---------------------------------------------------------------------===//
#include "view/ExprNode.h"
#include "view/Repeat.h"
#include "view/ViewImpl.h"

#include "llvm/ADT/SmallVectorExtras.h"

#include <numeric>

using namespace kiln::view;
using llvm::ArrayRef;
using llvm::SmallVector;

Shape kiln::view::rowMajorStrides(ArrayRef<Expr> shape) {
  Shape strides(shape.size());
  Expr stride = 1;
  for (size_t i = shape.size(); i-- > 0;) {
    strides[i] = shape[i].isConst(1) ? Expr(0) : stride;
    stride = stride * shape[i];
  }
  return strides;
}

bool kiln::view::hasZero(ArrayRef<Expr> shape) {
  return llvm::any_of(shape, [](Expr s) { return s.isConst(0); });
}

View View::make(ArrayRef<Expr> shape, std::optional<ArrayRef<Expr>> strides, Expr offset,
                std::optional<ArrayRef<Range>> mask) {
  View view;
  view.shape_.assign(shape.begin(), shape.end());
  assert(llvm::all_of(shape, [](Expr s) { return s.max() >= 0; }) && "a dimension is negative");
  if (hasZero(shape)) {
    view.strides_.assign(shape.size(), Expr(0));
    view.contiguous_ = true;
    return view;
  }
  Shape rowMajor = rowMajorStrides(shape);
  if (!strides) {
    view.strides_ = rowMajor;
  } else {
    assert(strides->size() == shape.size() && "one stride per axis");
    view.strides_.assign(strides->begin(), strides->end());
    for (auto [size, stride] : llvm::zip(shape, view.strides_))
      if (size.isConst(1))
        stride = 0;
  }
  view.offset_ = offset;
  bool full = !mask || llvm::all_of(llvm::zip(*mask, shape), [](auto axis) {
    auto [range, size] = axis;
    return range.begin.isConst(0) && range.end == size;
  });
  if (!full) {
    assert(mask->size() == shape.size() && "one range per axis");
    view.mask_.emplace(mask->begin(), mask->end());
    if (llvm::any_of(*mask, [](Range r) { return provablyLessEqual(r.end, r.begin); })) {
      view.mask_->assign(shape.size(), Range{0, 0});
      view.strides_.assign(shape.size(), Expr(0));
      view.offset_ = 0;
    } else {
      // If one element of an axis is left, its place goes into the offset.
      for (size_t i = 0; i < shape.size(); ++i) {
        Range r = (*view.mask_)[i];
        if (view.strides_[i].isConst(0) || !provablyLessEqual(r.end, r.begin + Expr(1)))
          continue;
        view.offset_ = view.offset_ + view.strides_[i] * r.begin;
        view.strides_[i] = 0;
      }
    }
  }
  // If a symbol that divides is 0 there is no element, but the view must still have a value.
  view.offset_ = guardDivisors(view.offset_);
  for (Expr &stride : view.strides_)
    stride = guardDivisors(stride);
  if (view.mask_)
    for (Range &r : *view.mask_)
      r = {guardDivisors(r.begin), guardDivisors(r.end)};
  view.contiguous_ = !view.mask_ && view.offset_.isConst(0) && view.strides_ == rowMajor;
  return view;
}

std::optional<ArrayRef<Range>> View::mask() const {
  return mask_ ? std::optional<ArrayRef<Range>>(*mask_) : std::nullopt;
}

Expr View::size() const { return product(shape_); }

View View::permute(ArrayRef<int64_t> axes) const {
  assert(axes.size() == shape_.size() && "a permutation names every axis");
  Shape shape, strides;
  SmallVector<Range, 4> mask;
  for (int64_t axis : axes) {
    shape.push_back(shape_[axis]);
    strides.push_back(strides_[axis]);
    if (mask_)
      mask.push_back((*mask_)[axis]);
  }
  return make(shape, strides, offset_, mask_ ? std::optional<ArrayRef<Range>>(mask) : std::nullopt);
}

std::optional<Expr> kiln::view::repeatStep(Expr from, Expr to) {
  if (provablyEqual(from, to))
    return 1;
  if (from.isConst(1))
    return 0;
  std::optional<Expr> step = exactQuotient(from - 1, to - 1);
  return step && step->min() >= 0 && step->max() <= 1 ? step : std::nullopt;
}

View View::expand(ArrayRef<Expr> shape) const {
  assert(shape.size() == shape_.size() && "expand keeps the rank");
  if (hasZero(shape_))
    return make(shape);
  Shape strides;
  SmallVector<Range, 4> mask;
  for (size_t i = 0; i < shape.size(); ++i) {
    std::optional<Expr> step = repeatStep(shape_[i], shape[i]);
    assert(step && "only axes of size 1 expand");
    strides.push_back(strides_[i] * *step);
    if (!mask_)
      continue;
    Range r = (*mask_)[i];
    // The one element is there or not; with symbols that may be open.
    Expr repeated = shape[i] * maximum(0, r.end - r.begin);
    mask.push_back(step->isConst(1) ? r : Range{*step * r.begin, *step * r.end + (Expr(1) - *step) * repeated});
  }
  return make(shape, strides, offset_, mask_ ? std::optional<ArrayRef<Range>>(mask) : std::nullopt);
}

/// The view seen through a window that may reach beyond its edges; `added` masks what lies there.
static View resize(const View &view, ArrayRef<Range> window, std::optional<ArrayRef<Range>> added) {
  Expr offset = view.offset();
  Shape shape;
  SmallVector<Range, 4> mask;
  for (size_t i = 0; i < window.size(); ++i) {
    Expr begin = window[i].begin, size = window[i].end - begin;
    offset = offset + view.strides()[i] * begin;
    shape.push_back(size);
    if (!view.mask() && !added)
      continue;
    Range r = added ? (*added)[i] : Range{0, size};
    if (view.mask()) {
      auto moved = [&](Expr edge) { return maximum(0, minimum(edge - begin, size)); };
      Range old = (*view.mask())[i];
      r = {maximum(r.begin, moved(old.begin)), minimum(r.end, moved(old.end))};
    }
    mask.push_back(r);
  }
  return View::make(shape, view.strides(), offset,
                    view.mask() || added ? std::optional<ArrayRef<Range>>(mask) : std::nullopt);
}

View View::pad(ArrayRef<std::pair<Expr, Expr>> amounts) const {
  assert(amounts.size() == shape_.size() && "one pair per axis");
  if (llvm::all_of(amounts, [](auto a) { return a.first.isConst(0) && a.second.isConst(0); }))
    return *this;
  SmallVector<Range, 4> window, mask;
  for (auto [size, amount] : llvm::zip(shape_, amounts)) {
    window.push_back({-amount.first, size + amount.second});
    mask.push_back({amount.first, size + amount.first});
  }
  // A view without elements, padded, is all padding.
  if (hasZero(shape_))
    mask.assign(shape_.size(), Range{0, 0});
  return resize(*this, window, mask);
}

View View::shrink(ArrayRef<Range> ranges) const {
  assert(ranges.size() == shape_.size() && "one range per axis");
  return resize(*this, ranges, std::nullopt);
}

View View::flip(ArrayRef<int64_t> axes) const {
  SmallVector<int64_t, 4> steps(shape_.size(), 1);
  for (int64_t axis : axes)
    steps[axis] = -1;
  return stride(steps);
}

View View::stride(ArrayRef<int64_t> steps) const {
  assert(steps.size() == shape_.size() && llvm::all_of(steps, [](int64_t s) { return s != 0; }) && "one step per axis");
  Shape shape, strides;
  SmallVector<Range, 4> mask;
  Expr offset = offset_;
  for (size_t i = 0; i < steps.size(); ++i) {
    Expr size = shape_[i], step = std::abs(steps[i]);
    shape.push_back(ceilDiv(size, step));
    strides.push_back(strides_[i] * Expr(steps[i]));
    if (steps[i] < 0)
      offset = offset + (size - Expr(1)) * strides_[i];
    if (!mask_)
      continue;
    Range r = (*mask_)[i];
    if (steps[i] < 0)
      r = {size - r.end, size - r.begin};
    mask.push_back({ceilDiv(r.begin, step), ceilDiv(r.end, step)});
  }
  return make(shape, strides, offset, mask_ ? std::optional<ArrayRef<Range>>(mask) : std::nullopt);
}

std::optional<View> View::invert(ArrayRef<Expr> bufferShape) const {
  // A view without elements has any inverse.
  if (llvm::DenseMap<Expr, Expr> positive = withoutZeros(shape_, shape_); !positive.empty()) {
    Shape sizes = llvm::map_to_vector<4>(bufferShape, [&](Expr size) { return size.substitute(positive); });
    std::optional<View> inverse = kiln::view::substitute(*this, positive).invert(sizes);
    return inverse ? std::optional(kiln::view::substitute(*inverse, inverted(positive))) : std::nullopt;
  }
  View inverse = make(shape_);
  if (mask_)
    inverse = inverse.shrink(*mask_);
  SmallVector<int64_t, 4> steps, order(shape_.size());
  for (Expr stride : strides_) {
    if (stride.min() < 0 && stride.max() > 0)
      return std::nullopt;
    steps.push_back(stride.max() <= 0 && stride.min() < 0 ? -1 : 1);
  }
  // Largest strides first; among symbolic ones an order must be provable.
  std::iota(order.begin(), order.end(), 0);
  auto magnitude = [&](int64_t axis) { return steps[axis] < 0 ? -strides_[axis] : strides_[axis]; };
  for (size_t i = 1; i < order.size(); ++i)
    for (size_t j = i; j > 0 && !provablyLessEqual(magnitude(order[j]), magnitude(order[j - 1])); --j)
      std::swap(order[j], order[j - 1]);
  inverse = inverse.stride(steps).permute(order);
  if (!provablyEqual(inverse.size(), product(bufferShape)))
    return std::nullopt;
  return inverse;
}

/// `e` without multiples of `modulus`, its coefficients and its constant as near to 0 as they come.
static Expr nearestZero(Expr e, Expr modulus) {
  if (!modulus.isConst() || modulus.constant() <= 1)
    return e;
  SmallVector<Term, 8> terms;
  SmallVector<Expr, 8> parts;
  int64_t constant = 0, m = modulus.constant();
  auto nearest = [&](int64_t number) {
    int64_t rest = floorModulo(number, m);
    return rest > m / 2 ? rest - m : rest;
  };
  splitSum(e, terms, constant);
  for (Term term : terms)
    parts.push_back(scaled(term.rest, nearest(term.coefficient)));
  parts.push_back(nearest(constant));
  return sum(parts);
}

/// 1 where begin <= e < end, else 0.
static Expr isWithin(Expr e, Expr begin, Expr end) {
  Expr inside = logicalAnd({greaterEqual(e, begin), less(e, end)});
  if (e.kind() != Expr::Kind::Mod || begin.min() < 0 || !provablyLessEqual(end, e.operands()[1]))
    return inside;
  // Rows of a triangle are windows of one row that is longer by an element: column + row * (n - 1) modulo n. Where only
  // one multiple of n brings column - row into the range, it is a comparison of the two.
  Expr modulus = e.operands()[1], whole = nearestZero(e.operands()[0], modulus);
  for (int64_t multiple : {-1, 0, 1}) {
    Expr moved = whole - modulus * multiple;
    if (!provablyLessEqual(end - modulus, moved) || !provablyLess(moved, begin + modulus))
      continue;
    Expr simple = logicalAnd({greaterEqual(moved, begin), less(moved, end)});
    return simple.weight() < inside.weight() ? simple : inside;
  }
  return inside;
}

Index View::at(ArrayRef<Expr> position) const {
  assert(position.size() == shape_.size() && "one expression per axis");
  SmallVector<Expr, 8> index{offset_}, valid;
  for (size_t i = 0; i < position.size(); ++i) {
    if (!shape_[i].isConst(1) && !strides_[i].isConst(0))
      index.push_back(position[i] * strides_[i]);
    // A condition that holds on a whole axis is not needed, and would name an axis that nothing depends on.
    if (mask_ && !((*mask_)[i].begin.isConst(0) && (*mask_)[i].end == shape_[i]))
      valid.push_back(isWithin(position[i], (*mask_)[i].begin, (*mask_)[i].end));
  }
  return {sum(index), logicalAnd(valid)};
}

llvm::hash_code kiln::view::hash_value(const View &view) {
  using llvm::hash_combine, llvm::hash_combine_range;
  llvm::hash_code hash = hash_combine(hash_combine_range(view.shape().begin(), view.shape().end()),
                                      hash_combine_range(view.strides().begin(), view.strides().end()), view.offset());
  if (std::optional<ArrayRef<Range>> mask = view.mask())
    for (Range r : *mask)
      hash = hash_combine(hash, r.begin, r.end);
  return hash;
}
