//===- Layout.cpp - In which order, and with how much room, a tensor lies in memory ----===//
// Only the view next to memory knows where elements are; the others go by its shape, which stays. Each of its axes is
// followed through the tensor: from the first element that is there, in steps along one of the tensor's axes, or along
// several that are walked as one.
//===----------------------------------------------------------------------------------===//

#include "view/Layout.h"

#include "view/ViewImpl.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/ADT/SmallVectorExtras.h"

using namespace kiln;
using namespace kiln::view;

Layout Layout::rowMajor(llvm::ArrayRef<Expr> shape) {
  Layout layout;
  layout.shape.assign(shape.begin(), shape.end());
  llvm::append_range(layout.order, llvm::seq<int64_t>(0, shape.size()));
  layout.halo.resize(shape.size());
  return layout;
}

bool Layout::hasHalo() const {
  return llvm::any_of(halo, [](Room room) { return room.before + room.after > 0; });
}

Shape Layout::strides() const {
  Shape strides(shape.size());
  Expr step = 1;
  for (int64_t axis : llvm::reverse(order)) {
    strides[axis] = step;
    step = step * (shape[axis] + (halo[axis].before + halo[axis].after));
  }
  return strides;
}

Expr Layout::elements() const {
  Expr elements = 1;
  for (auto [size, room] : llvm::zip(shape, halo))
    elements = elements * (size + (room.before + room.after));
  return elements;
}

namespace {
/// An axis of a view of row-major memory.
struct Step {
  Expr size, stride;
  Expr begin, end;   ///< where its mask is open
  int64_t axis = -1; ///< along which axis of the tensor it goes; -1: it stands still
  int64_t by = 0;    ///< in which steps
  int64_t last = -1; ///< the outermost axis that it continues in, if it goes along several

  bool isMasked() const { return begin != 0 || end != size; }
  /// From its first element that is there to the last, along its axis of the tensor.
  Expr reach() const { return (end - begin - 1) * by; }
};

/// A view of row-major memory, followed through the tensor.
struct Walk {
  llvm::SmallVector<Step, 6> steps;
  llvm::SmallVector<int64_t, 4> first; ///< of the tensor's axes: where the first element is
  Shape shape;                         ///< of the tensor, in the form in which the steps' sizes are
};
} // namespace

/// Goes on from `step.axis` into the axes around it, while it fills them; false where it leaves one half way.
static bool continueOutwards(Step &step, llvm::ArrayRef<Expr> shape, llvm::ArrayRef<int64_t> first) {
  Expr count = step.end - step.begin;
  int64_t axis = step.axis;
  if (step.by != 1)
    return false;
  while (axis > 0 && !provablyLessEqual(count, shape[axis])) {
    std::optional<Expr> rest = exactQuotient(count, shape[axis]);
    if (!rest || first[axis] != 0)
      return false;
    count = *rest;
    --axis;
  }
  step.last = axis;
  return provablyLessEqual(count + first[axis], shape[axis]);
}

/// The view's axes, and the place of its first element that is there; nullopt where no layout can be told of.
static std::optional<Walk> stepsOf(const View &view, llvm::ArrayRef<Expr> strides) {
  Walk walk;
  Expr place = view.offset();
  for (auto [axis, size] : llvm::enumerate(view.shape())) {
    Range range = view.mask() ? (*view.mask())[axis] : Range{0, size};
    Step step{size, view.strides()[axis], range.begin, range.end};
    bool isEmpty = step.begin.isConst() && step.end.isConst() && step.begin.constant() >= step.end.constant();
    if (step.stride.min() < 0 || isEmpty)
      return std::nullopt;
    place = place + step.begin * step.stride;
    walk.steps.push_back(step);
  }
  std::optional<llvm::SmallVector<int64_t, 4>> first = coordinatesOf(place, strides);
  if (!first)
    return std::nullopt;
  walk.first = *first;
  return walk;
}

static std::optional<Walk> followAll(const View &view, llvm::ArrayRef<Expr> shape) {
  Shape strides = Layout::rowMajor(shape).strides();
  std::optional<Walk> walk = stepsOf(view, strides);
  if (!walk)
    return std::nullopt;
  for (size_t axis = 1; axis < shape.size(); ++axis)
    if (walk->first[axis] != 0 && !provablyLess(walk->first[axis], shape[axis]))
      return std::nullopt;
  llvm::SmallVector<Expr, 4> reach(shape.size(), 0);
  for (Step &step : walk->steps) {
    if (step.stride.isConst(0) || step.size.isConst(1))
      continue;
    for (size_t axis = 0; axis < shape.size() && step.axis < 0; ++axis)
      if (std::optional<int64_t> by = stepsIn(step.stride, strides[axis]); by && *by > 0)
        step.axis = int64_t(axis), step.by = *by;
    if (step.axis < 0)
      return std::nullopt;
    reach[step.axis] = reach[step.axis] + step.reach();
  }
  for (Step &step : walk->steps) {
    // There is nothing around the outermost axis to go on in; a size that is not fixed is known to stay within it.
    bool staysOutside = step.axis == 0 && !shape.front().isConst();
    bool staysWithin = step.axis >= 0 && provablyLess(walk->first[step.axis] + reach[step.axis], shape[step.axis]);
    if (step.axis < 0 || staysOutside || staysWithin)
      continue;
    // It alone may go along the axes that it continues in.
    bool isAlone = reach[step.axis] == step.reach();
    if (!isAlone || !continueOutwards(step, shape, walk->first))
      return std::nullopt;
    for (int64_t axis = step.last; axis < step.axis; ++axis)
      if (reach[axis] != 0)
        return std::nullopt;
  }
  return walk;
}

/// Follows what is there: if that is nothing, it does not matter where. So sizes may be taken to leave something.
static std::optional<Walk> followThere(const View &view, llvm::ArrayRef<Expr> shape) {
  Shape there(view.shape());
  if (view.mask())
    for (auto [size, range] : llvm::zip(there, *view.mask()))
      size = range.end - range.begin;
  llvm::DenseMap<Expr, Expr> positive = withoutZeros(there, view.shape());
  if (positive.empty())
    return followAll(view, shape);
  Shape sizes = llvm::map_to_vector<4>(shape, [&](Expr size) { return size.substitute(positive); });
  std::optional<Walk> walk = followAll(substitute(view, positive), sizes);
  if (!walk)
    return std::nullopt;
  // Zeros can stand for a mask only if they do so for all sizes.
  for (auto [axis, step] : llvm::enumerate(walk->steps)) {
    Range range = view.mask() ? (*view.mask())[axis] : Range{0, view.shape()[axis]};
    step.size = view.shape()[axis], step.stride = view.strides()[axis];
    step.begin = range.begin, step.end = range.end;
  }
  return walk;
}

/// With the sizes in the form that they have, else in the one that is equal: a tensor of (h+3)//4 rows may be read as
/// one of 2*((h+7)//8).
static std::optional<Walk> follow(const View &view, llvm::ArrayRef<Expr> shape, const Equal &equal) {
  std::optional<Walk> walk = followThere(view, shape);
  if (walk)
    walk->shape.assign(shape.begin(), shape.end());
  if (walk || equal.empty())
    return walk;
  Shape sizes = llvm::map_to_vector<4>(shape, [&](Expr size) { return size.substitute(equal); });
  walk = followThere(substitute(view, equal), sizes);
  if (walk)
    walk->shape = sizes;
  return walk;
}

/// Where along its axis of the tensor the first and the last position of a step lie, masked ones too.
static std::pair<Expr, Expr> ends(const Walk &walk, const Step &step) {
  int64_t first = walk.first[step.axis];
  return {first - step.begin * step.by, first + (step.size - 1 - step.begin) * step.by};
}

/// Whether a step's mask is open just where it is within the tensor, so that zeros around it can stand for the mask.
static bool isPadding(const Walk &walk, const Step &step) {
  if (step.axis < 0 || step.last >= 0)
    return false;
  bool isAlone = llvm::count_if(walk.steps, [&](const Step &other) { return other.axis == step.axis; }) == 1;
  int64_t first = walk.first[step.axis];
  return isAlone && (step.begin == 0 || first < step.by) &&
         (step.end == step.size || provablyLessEqual(walk.shape[step.axis], first + step.reach() + step.by));
}

/// The largest number of positions that an end may lie past that of an axis: one of 2*((h+1)//2) is 0 or 1 past h.
/// nullopt if it is not known, or not small.
static std::optional<int64_t> pastEnd(Expr end, Expr size) {
  constexpr int64_t kMostOpen = 8;
  if (Expr past = end - size; past.isConst())
    return std::max<int64_t>(0, past.constant());
  for (int64_t past = 0; past <= kMostOpen; ++past)
    if (provablyLessEqual(end, size + past))
      return past;
  return std::nullopt;
}

std::optional<llvm::SmallVector<Layout::Room, 4>> view::haloFor(const ShapeTracker &tracker, llvm::ArrayRef<Expr> shape,
                                                                const Equal &equal) {
  std::optional<Walk> walk = follow(tracker.views().front(), shape, equal);
  if (!walk || llvm::none_of(walk->steps, [](const Step &step) { return step.isMasked(); }))
    return std::nullopt;
  llvm::SmallVector<Layout::Room, 4> halo(shape.size());
  for (const Step &step : walk->steps) {
    if (!step.isMasked())
      continue;
    if (!isPadding(*walk, step))
      return std::nullopt;
    auto [low, high] = ends(*walk, step);
    std::optional<int64_t> past = pastEnd(high + 1, walk->shape[step.axis]);
    if (!low.isConst() || !past)
      return std::nullopt;
    halo[step.axis] = {std::max<int64_t>(0, -low.constant()), *past};
  }
  return halo;
}

std::optional<ShapeTracker> view::relaid(const ShapeTracker &tracker, const Layout &layout, const Equal &equal) {
  const View &old = tracker.views().front();
  std::optional<Walk> walk = follow(old, layout.shape, equal);
  if (!walk)
    return std::nullopt;
  Shape along = layout.strides();
  Expr offset = 0;
  for (auto [axis, first] : llvm::enumerate(walk->first))
    offset = offset + along[axis] * (first + layout.halo[axis].before);
  Shape strides;
  llvm::SmallVector<Range, 4> mask;
  for (auto [position, step] : llvm::enumerate(walk->steps)) {
    Expr stride = step.axis < 0 ? Expr(0) : along[step.axis] * step.by;
    // Axes that are walked as one must lie side by side here too.
    for (int64_t axis = step.last; step.last >= 0 && axis < step.axis; ++axis)
      if (along[axis] != along[axis + 1] * layout.shape[axis + 1])
        return std::nullopt;
    offset = offset - step.begin * stride;
    strides.push_back(stride);
    bool isZero = !step.isMasked();
    if (step.isMasked() && isPadding(*walk, step)) {
      auto [low, high] = ends(*walk, step);
      const Layout::Room &room = layout.halo[step.axis];
      isZero = provablyLessEqual(-room.before, low) && provablyLess(high, walk->shape[step.axis] + room.after);
    }
    Range whole{0, old.shape()[position]};
    mask.push_back(isZero || !old.mask() ? whole : (*old.mask())[position]);
  }
  llvm::SmallVector<View, 2> views{View::make(old.shape(), llvm::ArrayRef<Expr>(strides), offset, mask)};
  views.append(tracker.views().begin() + 1, tracker.views().end());
  return ShapeTracker(views).simplify();
}
