//===- ViewReshape.cpp - When a reshape stays one view -------------------===//
//
// A reshape regroups axes. It stays one view when every new axis is within old axes that one stride walks through, and
// when the mask can be expressed in terms of the new axes. With symbolic dims "is within" means "divides, as a
// polynomial".
//
//===----------------------------------------------------------------------===//
#include "view/ViewImpl.h"

using namespace kiln::view;
using llvm::ArrayRef;
using llvm::SmallVector;

SmallVector<MergedAxis, 4> kiln::view::mergeAxes(const View &view) {
  SmallVector<MergedAxis, 4> merged;
  bool absorb = false;
  for (size_t i = 0; i < view.shape().size(); ++i) {
    Expr size = view.shape()[i], stride = view.strides()[i];
    bool still = stride.isConst(0);
    if (i == 0) {
      merged.push_back({size, stride, still ? Expr(0) : size});
    } else {
      if (size.isConst(1))
        continue;
      MergedAxis &last = merged.back();
      if (absorb || last.stride == size * stride)
        last = {last.size * size, stride, still ? Expr(0) : absorb ? size : last.real * size};
      else
        merged.push_back({size, stride, still ? Expr(0) : size});
    }
    // An axis with a single element left does not move, so it joins any other.
    absorb = view.mask() ? ((*view.mask())[i].end - (*view.mask())[i].begin).isConst(1) : size.isConst(1);
  }
  return merged;
}

namespace {
/// Axes from the innermost outwards; 1 after the last.
struct FromInside {
  ArrayRef<Expr> left;
  Expr next() {
    if (left.empty())
      return 1;
    Expr last = left.back();
    left = left.drop_back();
    return last;
  }
};

enum class Fit { Equal, Larger, Smaller, Unknown };
} // namespace

/// The comparison of a product of old dims with one of new dims. Larger means a multiple; symbols are Smaller only if
/// they divide.
static Fit fit(Expr a, Expr b) {
  if (a == b)
    return Fit::Equal;
  if (exactQuotient(a, b))
    return Fit::Larger;
  if (a.isConst() && b.isConst())
    return a.constant() < b.constant() ? Fit::Smaller : Fit::Unknown;
  return exactQuotient(b, a) ? Fit::Smaller : Fit::Unknown;
}

std::optional<SmallVector<Range, 4>> kiln::view::reshapeMask(ArrayRef<Range> mask, ArrayRef<Expr> oldShape,
                                                             ArrayRef<Expr> newShape) {
  // No axis is left to record that everything is masked off.
  bool nothing = llvm::any_of(mask, [](Range r) { return provablyLessEqual(r.end, r.begin); });
  if (nothing && newShape.empty())
    return std::nullopt;
  if (nothing)
    return SmallVector<Range, 4>(newShape.size(), Range{0, 0});
  FromInside olds{oldShape}, news{newShape};
  auto nextRange = [&] {
    if (mask.empty())
      return Range{0, 1};
    Range last = mask.back();
    mask = mask.drop_back();
    return last;
  };
  SmallVector<Range, 4> result;
  Expr stride = 1, oldDim = olds.next(), newDim = news.next();
  Range range = nextRange();
  while (result.size() < newShape.size()) {
    auto [begin, end] = range;
    bool full = begin.isConst(0) && end == oldDim;
    Expr nextStride = newDim * stride;
    switch (fit(oldDim, nextStride)) {
    case Fit::Equal:
      // The rest of the old axis is this new one.
      result.push_back(full ? Range{0, newDim}
                            : Range{floorDiv(begin, stride), floorDiv(end - Expr(1), stride) + Expr(1)});
      stride = 1, oldDim = olds.next(), newDim = news.next(), range = nextRange();
      break;
    case Fit::Larger: {
      // An old axis splits: either no new row is cut, or the rest is all in one.
      if (full) {
        result.push_back({0, newDim});
      } else {
        bool wholeRows = mod(begin, nextStride).isConst(0) && mod(end, nextStride).isConst(0);
        if (!wholeRows && !provablyEqual(floorDiv(begin, nextStride), floorDiv(end - Expr(1), nextStride)))
          return std::nullopt;
        result.push_back(wholeRows ? Range{0, newDim}
                                   : Range{floorDiv(mod(begin, nextStride), stride),
                                           floorDiv(mod(end - Expr(1), nextStride), stride) + Expr(1)});
      }
      stride = nextStride, newDim = news.next();
      break;
    }
    case Fit::Smaller: {
      // Old axes join: either the inner one is whole, or one row of the outer is left.
      Range outer = nextRange();
      if (!full && !(outer.end - outer.begin).isConst(1))
        return std::nullopt;
      range = {outer.begin * oldDim + begin, (outer.end - Expr(1)) * oldDim + end};
      oldDim = oldDim * olds.next();
      break;
    }
    case Fit::Unknown:
      return std::nullopt;
    }
  }
  // Outer axes of size 1 that no new axis covers: whether they are masked off must be known.
  auto whole = [](Range r) { return r.begin.isConst(0) && r.end.isConst(1); };
  if (!whole(range) || !llvm::all_of(mask, whole))
    return std::nullopt;
  return SmallVector<Range, 4>(result.rbegin(), result.rend());
}

/// Strides over `shape` that walk as the merged axes do; nullopt if a new axis would straddle two of them.
static std::optional<Shape> reshapeStrides(ArrayRef<MergedAxis> merged, ArrayRef<Expr> shape) {
  Shape strides;
  FromInside dims{shape};
  for (auto [size, first, real] : llvm::reverse(merged)) {
    Expr stride = first, done = 1;
    while (done != size) {
      if (dims.left.empty() || fit(size, done) != Fit::Larger)
        return std::nullopt;
      Expr dim = dims.next();
      strides.push_back(stride);
      if (dim.isConst(1))
        continue;
      done = done * dim;
      // Beyond what really moves, the axis stands still.
      bool constant = real.isConst() && done.isConst();
      Fit rest = fit(real, done);
      if (rest == Fit::Unknown && !constant)
        return std::nullopt;
      bool moves = constant ? done.constant() < real.constant() : rest == Fit::Larger;
      stride = moves ? stride * dim : Expr(0);
    }
  }
  strides.resize(shape.size(), Expr(0));
  return Shape(strides.rbegin(), strides.rend());
}

std::optional<View> View::reshape(ArrayRef<Expr> shape) const {
  if (shape == ArrayRef<Expr>(shape_))
    return *this;
  if (hasZero(shape_) || hasZero(shape))
    return make(shape);
  assert((!size().isConst() || !product(shape).isConst() || size() == product(shape)) &&
         "a reshape keeps the number of elements");
  if (contiguous_)
    return make(shape);
  std::optional<Shape> strides = reshapeStrides(mergeAxes(*this), shape);
  if (!strides)
    return std::nullopt;
  if (!mask_)
    return make(shape, *strides, offset_);
  std::optional<SmallVector<Range, 4>> mask = reshapeMask(*mask_, shape_, shape);
  if (!mask)
    return std::nullopt;
  // If an axis stands still only in parts of the mask, the first element reached determines the offset.
  Expr offset = offset_;
  for (size_t i = 0; i < shape_.size(); ++i)
    offset = offset + (*mask_)[i].begin * strides_[i];
  for (size_t i = 0; i < shape.size(); ++i) {
    if (((*mask)[i].end - (*mask)[i].begin).isConst(1))
      (*strides)[i] = 0;
    offset = offset - (*mask)[i].begin * (*strides)[i];
  }
  return make(shape, *strides, offset, *mask);
}

View kiln::view::withFewestAxes(const View &view) {
  Shape shape;
  for (const MergedAxis &axis : mergeAxes(view))
    shape.push_back(axis.size);
  return view.reshape(shape).value_or(view);
}
