//===- ShapeTracker.cpp - A list of views and the movements over it ------===//
#include "view/ViewImpl.h"

using namespace kiln::view;
using llvm::ArrayRef;
using llvm::SmallVector;

ShapeTracker ShapeTracker::contiguous(ArrayRef<Expr> shape) { return ShapeTracker(View::make(shape)); }

ShapeTracker::ShapeTracker(ArrayRef<View> views) : views_(views.begin(), views.end()) {
  assert(!views.empty() && "a tracker has a view");
}

/// `views` with the last replaced.
static ShapeTracker withLast(ArrayRef<View> views, View last) {
  SmallVector<View, 1> all(views.drop_back());
  all.push_back(std::move(last));
  return ShapeTracker(all);
}

ShapeTracker ShapeTracker::reshape(ArrayRef<Expr> shape) const {
  if (std::optional<View> last = views_.back().reshape(shape))
    return withLast(views_, *last);
  ShapeTracker result = *this;
  result.views_.push_back(View::make(shape));
  return result;
}

ShapeTracker ShapeTracker::permute(ArrayRef<int64_t> axes) const {
  return withLast(views_, views_.back().permute(axes));
}

ShapeTracker ShapeTracker::expand(ArrayRef<Expr> shape) const { return withLast(views_, views_.back().expand(shape)); }

ShapeTracker ShapeTracker::pad(ArrayRef<std::pair<Expr, Expr>> amounts) const {
  return withLast(views_, views_.back().pad(amounts));
}

ShapeTracker ShapeTracker::shrink(ArrayRef<Range> ranges) const {
  return withLast(views_, views_.back().shrink(ranges));
}

ShapeTracker ShapeTracker::flip(ArrayRef<int64_t> axes) const { return withLast(views_, views_.back().flip(axes)); }

ShapeTracker ShapeTracker::stride(ArrayRef<int64_t> steps) const {
  return withLast(views_, views_.back().stride(steps));
}

ShapeTracker ShapeTracker::simplify() const {
  ShapeTracker result = *this;
  auto &views = result.views_;
  // The last pair first, as the reference does, so that if both end with as many views they are the same ones; then
  // every other pair, which it leaves alone.
  size_t last = views.size() - 1;
  while (last > 0) {
    std::optional<View> merged = merge(views[last - 1], views[last]);
    if (!merged) {
      --last;
      continue;
    }
    views[last - 1] = std::move(*merged);
    views.erase(views.begin() + last);
    // A merged view may now fit the view above it.
    last = std::min(last, views.size() - 1);
  }
  return result;
}

ShapeTracker ShapeTracker::compose(const ShapeTracker &outer) const {
  ShapeTracker result = *this;
  auto &views = result.views_;
  for (const View &view : outer.views_) {
    views.push_back(view);
    while (views.size() > 1) {
      std::optional<View> merged = merge(views[views.size() - 2], views.back());
      if (!merged)
        break;
      views.pop_back();
      views.back() = std::move(*merged);
    }
  }
  return result;
}

std::optional<ShapeTracker> ShapeTracker::invert(ArrayRef<Expr> bufferShape) const {
  SmallVector<View, 1> inverted;
  for (size_t i = views_.size(); i-- > 0;) {
    std::optional<View> view = views_[i].invert(i == 0 ? bufferShape : views_[i - 1].shape());
    if (!view)
      return std::nullopt;
    inverted.push_back(std::move(*view));
  }
  return ShapeTracker(inverted).reshape(bufferShape);
}

View kiln::view::substitute(const View &view, const llvm::DenseMap<Expr, Expr> &values) {
  Shape shape, strides;
  SmallVector<Range, 4> mask;
  for (Expr s : view.shape())
    shape.push_back(s.substitute(values));
  for (Expr s : view.strides())
    strides.push_back(s.substitute(values));
  std::optional<ArrayRef<Range>> old = view.mask();
  for (Range r : old.value_or(ArrayRef<Range>()))
    mask.push_back({r.begin.substitute(values), r.end.substitute(values)});
  return View::make(shape, strides, view.offset().substitute(values), old ? std::optional<ArrayRef<Range>>(mask) : old);
}

ShapeTracker ShapeTracker::substitute(const llvm::DenseMap<Expr, Expr> &values) const {
  SmallVector<View, 1> views;
  for (const View &view : views_)
    views.push_back(kiln::view::substitute(view, values));
  return ShapeTracker(views);
}

llvm::hash_code kiln::view::hash_value(const ShapeTracker &tracker) {
  return llvm::hash_combine_range(tracker.views().begin(), tracker.views().end());
}
