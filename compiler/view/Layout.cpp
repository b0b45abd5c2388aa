//===- Layout.cpp - In which order, and with how much room, a tensor lies in memory ----===//
// Only the view next to memory knows where elements are; the others go by its shape, which stays. Each of its axes is
// followed through the tensor: from the first element that is there, in steps along one of the tensor's axes, or along
// several that are walked as one.
//===----------------------------------------------------------------------------------===//

#include "view/Layout.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"

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

llvm::SmallVector<int64_t, 4> Layout::strides() const {
  assert(isStrided() && "only the outermost size may be unknown");
  llvm::SmallVector<int64_t, 4> strides(shape.size());
  int64_t step = 1;
  for (int64_t axis : llvm::reverse(order)) {
    strides[axis] = step;
    if (shape[axis].isConst())
      step *= halo[axis].before + shape[axis].constant() + halo[axis].after;
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
  Expr size; ///< where it is not fixed, the axis has no mask
  int64_t stride;
  int64_t begin = 0, end = 0; ///< where its mask is open, if its size is fixed
  int64_t axis = -1, by = 0;  ///< along which axis of the tensor it goes, in which steps; -1: it stands still
  int64_t last = -1;          ///< the outermost axis that it continues in, if it goes along several

  bool isFixed() const { return size.isConst(); }
  bool isMasked() const { return isFixed() && (begin > 0 || end < size.constant()); }
  /// From its first element that is there to the last, along its axis of the tensor.
  int64_t reach() const { return (end - begin - 1) * by; }
};

/// A view of row-major memory, followed through the tensor.
struct Walk {
  llvm::SmallVector<Step, 6> steps;
  llvm::SmallVector<int64_t, 4> first; ///< of the tensor's axes: where the first element is
};
} // namespace

/// Goes on from `step.axis` into the axes around it, while it fills them; false where it leaves one half way.
static bool continueOutwards(Step &step, llvm::ArrayRef<Expr> shape, llvm::ArrayRef<int64_t> first) {
  Expr count = step.isFixed() ? Expr(step.end - step.begin) : step.size;
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

static std::optional<Walk> follow(const View &view, llvm::ArrayRef<Expr> shape) {
  Walk walk;
  if (!view.offset().isConst())
    return std::nullopt;
  int64_t index = view.offset().constant();
  for (auto [axis, size] : llvm::enumerate(view.shape())) {
    Expr stride = view.strides()[axis];
    Range range = view.mask() ? (*view.mask())[axis] : Range{0, size};
    if (!stride.isConst() || stride.constant() < 0)
      return std::nullopt;
    Step step{size, stride.constant()};
    if (size.isConst()) {
      if (!range.begin.isConst() || !range.end.isConst())
        return std::nullopt;
      step.begin = range.begin.constant();
      step.end = range.end.constant();
      if (step.begin >= step.end)
        return std::nullopt;
    } else if (range != Range{0, size}) {
      return std::nullopt;
    }
    index += step.begin * step.stride;
    walk.steps.push_back(step);
  }
  if (index < 0)
    return std::nullopt;
  llvm::SmallVector<int64_t, 4> strides = Layout::rowMajor(shape).strides(), reach(shape.size(), 0);
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    walk.first.push_back(index / strides[axis]);
    index %= strides[axis];
  }
  for (Step &step : walk.steps) {
    if (step.stride == 0 || step.size.isConst(1))
      continue;
    step.axis = llvm::find_if(strides, [&](int64_t stride) { return stride <= step.stride; }) - strides.begin();
    while (step.axis < int64_t(shape.size()) && step.stride % strides[step.axis] != 0)
      ++step.axis;
    step.by = step.stride / strides[step.axis];
    reach[step.axis] += step.isFixed() ? step.reach() : 0;
  }
  for (Step &step : walk.steps) {
    // There is nothing around the outermost axis to go on in; a size that is not fixed is known to stay within it
    // alone.
    bool staysOutside = step.axis == 0 && !shape.front().isConst();
    bool staysWithin = step.axis >= 0 && step.isFixed() && shape[step.axis].isConst() &&
                       walk.first[step.axis] + reach[step.axis] < shape[step.axis].constant();
    if (step.axis < 0 || staysOutside || staysWithin)
      continue;
    // It alone may go along the axes that it continues in.
    bool isAlone = reach[step.axis] == (step.isFixed() ? step.reach() : 0);
    if (!isAlone || !continueOutwards(step, shape, walk.first))
      return std::nullopt;
    for (int64_t axis = step.last; axis < step.axis; ++axis)
      if (reach[axis] != 0)
        return std::nullopt;
  }
  return walk;
}

/// Where along its axis of the tensor the first and the last position of a step of fixed size lie, masked ones too.
static std::pair<int64_t, int64_t> ends(const Walk &walk, const Step &step) {
  int64_t first = walk.first[step.axis];
  return {first - step.begin * step.by, first + (step.size.constant() - 1 - step.begin) * step.by};
}

/// Whether a step's mask is open just where it is within the tensor, so that zeros around it can stand for the mask.
static bool isPadding(const Walk &walk, const Step &step, llvm::ArrayRef<Expr> shape) {
  if (step.axis < 0 || step.last >= 0 || !shape[step.axis].isConst())
    return false;
  bool isAlone = llvm::count_if(walk.steps, [&](const Step &other) { return other.axis == step.axis; }) == 1;
  int64_t first = walk.first[step.axis], last = first + step.reach(), size = shape[step.axis].constant();
  return isAlone && (step.begin == 0 || first < step.by) &&
         (step.end == step.size.constant() || last + step.by >= size);
}

std::optional<llvm::SmallVector<Layout::Room, 4>> view::haloFor(const ShapeTracker &tracker,
                                                                llvm::ArrayRef<Expr> shape) {
  std::optional<Walk> walk = follow(tracker.views().front(), shape);
  if (!walk || llvm::none_of(walk->steps, [](const Step &step) { return step.isMasked(); }))
    return std::nullopt;
  llvm::SmallVector<Layout::Room, 4> halo(shape.size());
  for (const Step &step : walk->steps) {
    if (!step.isMasked())
      continue;
    if (!isPadding(*walk, step, shape))
      return std::nullopt;
    auto [low, high] = ends(*walk, step);
    int64_t size = shape[step.axis].constant();
    halo[step.axis] = {std::max<int64_t>(0, -low), std::max<int64_t>(0, high - size + 1)};
  }
  return halo;
}

std::optional<ShapeTracker> view::relaid(const ShapeTracker &tracker, const Layout &layout) {
  const View &old = tracker.views().front();
  std::optional<Walk> walk = follow(old, layout.shape);
  if (!walk)
    return std::nullopt;
  llvm::SmallVector<int64_t, 4> along = layout.strides();
  int64_t offset = 0;
  for (auto [axis, first] : llvm::enumerate(walk->first))
    offset += (first + layout.halo[axis].before) * along[axis];
  Shape strides;
  llvm::SmallVector<Range, 4> mask;
  for (const Step &step : walk->steps) {
    int64_t stride = step.axis < 0 ? 0 : step.by * along[step.axis];
    // Axes that are walked as one must lie side by side here too.
    for (int64_t axis = step.last; step.last >= 0 && axis < step.axis; ++axis)
      if (along[axis] != along[axis + 1] * layout.shape[axis + 1].constant())
        return std::nullopt;
    offset -= step.begin * stride;
    strides.push_back(stride);
    bool isZero = !step.isMasked();
    if (step.isMasked() && isPadding(*walk, step, layout.shape)) {
      auto [low, high] = ends(*walk, step);
      const Layout::Room &room = layout.halo[step.axis];
      isZero = low >= -room.before && high < layout.shape[step.axis].constant() + room.after;
    }
    mask.push_back(isZero ? Range{0, step.size} : Range{step.begin, step.end});
  }
  llvm::SmallVector<View, 2> views{View::make(old.shape(), llvm::ArrayRef<Expr>(strides), offset, mask)};
  views.append(tracker.views().begin() + 1, tracker.views().end());
  return ShapeTracker(views).simplify();
}
