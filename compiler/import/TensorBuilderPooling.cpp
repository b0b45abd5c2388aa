//===- TensorBuilderPooling.cpp - Sliding windows, made of movement alone ----===//
//
// Convolutions and pools are reductions over windows, and windows overlap, which no reshape can express. As in
// tinygrad, movement makes them all the same: the axis is repeated and cut into rows that are one dilation longer than
// it, so that each begins one dilation later. For 5 elements, a kernel of 3 and a dilation of 1:
//     0 1 2 3 4 0
//     1 2 3 4 0 1
//     2 3 4 0 1 2      whose first 3 columns are the windows 012, 123 and 234.
// The view stage folds that away. Windows that do not overlap are consecutive pieces and need no copies.
//
//===-------------------------------------------------------------------------===//
#include "import/LeastSize.h"
#include "import/TensorBuilder.h"

using namespace kiln;
using namespace kiln::import;
using namespace mlir;
using llvm::Twine;

namespace {
/// How the windows of one axis are cut out. Windows that overlap come from copies of the axis, each one dilation longer
/// than the axis, so that copy i is shifted by i dilations; the others are consecutive pieces.
struct Cut {
  Expr size, kernel, count;
  int64_t stride, dilation;
  bool overlaps;
  Expr padding; ///< zeros at the end, which no window shows
  Expr copies;
};
} // namespace

static Cut planCut(Expr size, Expr kernel, int64_t stride, int64_t dilation) {
  Cut cut{size, kernel, view::floorDiv(size - (kernel - 1) * dilation - 1, stride) + 1, stride, dilation, true, 0, 1};
  cut.overlaps = (kernel * dilation - stride).max() > 0;
  if (!cut.overlaps) {
    Expr missing = cut.count * stride - size;
    cut.padding = missing.min() >= 0 ? missing : view::maximum(missing, 0);
  } else if (kernel.isConst() && size.min() > 0 && size.min() >= (kernel.constant() - 1) * dilation) {
    // The smallest size takes the most copies: two more than the kernel has, if it is as short as that.
    cut.copies = view::ceilDiv(kernel * (size.min() + dilation), size.min());
  } else {
    // Long enough that one copy more than the kernel has contains all of them, whatever the sizes.
    cut.padding = kernel * dilation;
    cut.copies = kernel + 1;
  }
  return cut;
}

/// What the node at `location` has padded to give `x`.
static Value withoutPads(Value x, Location location) {
  for (auto pad = x.getDefiningOp<graph::PadOp>(); pad && pad.getLoc() == location;
       pad = x.getDefiningOp<graph::PadOp>())
    x = pad.getInput();
  return x;
}

static Expr span(const Cut &cut) { return (cut.kernel - 1) * cut.dilation + 1; }

/// That windows do not fit an axis of `own`, which is the tensor before the node pads it.
static std::string misfit(const Cut &cut, Value own, int64_t axis) {
  Expr size = TensorBuilder::dim(own, axis);
  std::string text = ("a window of " + cut.kernel.render() + " elements, " + Twine(cut.dilation) +
                      " apart, does not fit an axis of size " + size.render())
                         .str();
  if (size != cut.size)
    text += ", " + cut.size.render() + " with padding,";
  return text + " in " + written(TensorBuilder::shape(own));
}

/// The sizes with which a window of known size fits an open axis.
static std::string fittingSizes(const Cut &cut) {
  if (std::optional<LeastSize> least = leastFor(cut.size, span(cut).constant()))
    return (least->symbol.name() + "=" + Twine(least->value) + " or more").str();
  return "sizes that make this " + span(cut).render() + " or more";
}

/// The remedy for windows that never fit. `size` is that of the axis before the node pads it.
static std::string remedyFor(const Cut &cut, Expr size) {
  std::string larger;
  Expr least = span(cut) - (cut.size - size);
  if (cut.kernel.isConst() && !cut.size.isConst())
    larger = "allow " + fittingSizes(cut) + " with --dim, ";
  else if (least.isConst())
    larger = "make the axis " + least.render() + " or longer, ";
  return larger + "pad it or shrink the window";
}

Value TensorBuilder::windows(Value x, Sizes kernel, Axes strides, Axes dilations) {
  if (!x)
    return {};
  int64_t spatial = kernel.size(), lead = rank(x) - spatial;
  if (lead < 0)
    return fail("windows over " + Twine(spatial) + " axes do not fit " + describe(shape(x)));
  SmallVector<Cut> cuts;
  for (int64_t i = 0; i < spatial; ++i) {
    cuts.push_back(
        planCut(dim(x, lead + i), kernel[i], strides.empty() ? 1 : strides[i], dilations.empty() ? 1 : dilations[i]));
    const Cut &cut = cuts.back();
    Value own = withoutPads(x, location_);
    if (cut.count.max() <= 0)
      return fail(misfit(cut, own, lead + i), remedyFor(cut, dim(own, lead + i)));
    bool isEach = kernel[i].isConst(1) && cut.stride == 1; // of none there may be none
    if (kernel[i].isConst() && !isEach && cut.count.min() <= 0)
      check(view::less(0, cut.count), misfit(cut, own, lead + i) + "; run it with " + fittingSizes(cut));
  }
  Shape head(ArrayRef<Expr>(shape(x)).take_front(lead));
  // Each step treats all axes at once: few views come of few reshapes.
  auto sizes = [&](llvm::function_ref<void(const Cut &, Shape &)> append) {
    Shape result(head);
    for (const Cut &cut : cuts)
      append(cut, result);
    return result;
  };
  auto firsts = [&](Value tensor, Sizes end) { return shrink(tensor, Shape(end.size(), Expr(0)), end); };
  Shape none(rank(x), Expr(0)), padding(lead, Expr(0)), copies(lead, Expr(1));
  for (const Cut &cut : cuts) {
    padding.push_back(cut.padding);
    copies.push_back(cut.copies);
  }
  auto row = [](const Cut &cut) { return cut.size + cut.dilation + cut.padding; };
  if (!fits(sizes([&](const Cut &cut, Shape &to) { to.append({cut.kernel, row(cut)}); })))
    return {};
  x = tile(pad(x, none, padding), copies);
  x = firsts(x, sizes([&](const Cut &cut, Shape &to) {
               to.push_back(cut.overlaps ? cut.kernel * row(cut) : cut.count * cut.stride);
             }));
  x = reshape(x, sizes([&](const Cut &cut, Shape &to) {
                to.append(cut.overlaps ? Shape{cut.kernel, row(cut)} : Shape{cut.count, cut.stride});
              }));
  x = firsts(x, sizes([&](const Cut &cut, Shape &to) {
               to.append(cut.overlaps ? Shape{cut.kernel, cut.count * cut.stride}
                                      : Shape{cut.count, cut.kernel * cut.dilation});
             }));
  x = reshape(x, sizes([&](const Cut &cut, Shape &to) {
                to.append(cut.overlaps ? Shape{cut.kernel, cut.count, cut.stride}
                                       : Shape{cut.count, cut.kernel, cut.dilation});
              }));
  x = firsts(x, sizes([&](const Cut &cut, Shape &to) {
               to.append(cut.overlaps ? Shape{cut.kernel, cut.count, 1} : Shape{cut.count, cut.kernel, 1});
             }));
  x = reshape(x, sizes([&](const Cut &cut, Shape &to) {
                to.append(cut.overlaps ? Shape{cut.kernel, cut.count} : Shape{cut.count, cut.kernel});
              }));
  SmallVector<int64_t> order = llvm::to_vector(llvm::seq<int64_t>(0, lead));
  for (auto [i, cut] : llvm::enumerate(cuts))
    order.push_back(lead + 2 * i + (cut.overlaps ? 1 : 0));
  for (auto [i, cut] : llvm::enumerate(cuts))
    order.push_back(lead + 2 * i + (cut.overlaps ? 0 : 1));
  return permute(x, order);
}

std::optional<Window> TensorBuilder::complete(Window window, int64_t spatial) {
  auto fill = [&](SmallVector<int64_t> &numbers, int64_t missing, int64_t least, llvm::StringRef what) {
    if (numbers.empty())
      numbers.assign(spatial, missing);
    if (int64_t(numbers.size()) != spatial)
      fail(Twine(numbers.size()) + " " + what + " for " + Twine(spatial) + " spatial axes", "give one per axis");
    for (int64_t number : numbers)
      if (number < least || number > view::kMaxDim)
        fail("one of the " + what + " is " + Twine(number), "the least is " + Twine(least));
  };
  fill(window.kernel, 1, 1, "kernel sizes");
  fill(window.strides, 1, 1, "strides");
  fill(window.dilations, 1, 1, "dilations");
  for (Shape *pads : {&window.padLow, &window.padHigh}) {
    if (pads->empty())
      pads->assign(spatial, Expr(0));
    if (int64_t(pads->size()) != spatial)
      fail(Twine(pads->size()) + " pads for " + Twine(spatial) + " spatial axes", "give one per axis");
    for (Expr pad : *pads)
      if (pad.isConst() && (pad.constant() < 0 || pad.constant() > view::kMaxDim))
        fail("one of the pads is " + pad.print(), "the least is 0");
  }
  return ok() ? std::optional<Window>(std::move(window)) : std::nullopt;
}

Expr TensorBuilder::ceilPadding(const Window &window, size_t axis, Expr size) {
  if (!window.ceilMode)
    return 0;
  int64_t stride = window.strides[axis], span = window.dilations[axis] * (window.kernel[axis] - 1) + 1;
  Expr begin = size + window.padLow[axis], padded = begin + window.padHigh[axis];
  Expr count = view::minimum(view::ceilDiv(padded - span, stride) + 1, view::ceilDiv(begin, stride));
  return view::maximum((count - 1) * stride + span - padded, 0);
}

/// Pads of the whole tensor from those of its spatial axes.
static Shape withLeadingZeros(int64_t rank, ArrayRef<Expr> amounts) {
  Shape result(rank - int64_t(amounts.size()), Expr(0));
  result.append(amounts.begin(), amounts.end());
  return result;
}

static Shape kernelSizes(const Window &window) { return Shape(window.kernel.begin(), window.kernel.end()); }

static SmallVector<int64_t> trailing(int64_t count) {
  return llvm::map_to_vector(llvm::seq<int64_t>(0, count), [&](int64_t i) { return i - count; });
}

std::optional<TensorBuilder::Pool> TensorBuilder::poolOf(Value x, const Window &given) {
  int64_t spatial = given.kernel.size();
  std::optional<Window> window = complete(given, spatial);
  if (!x || !window)
    return std::nullopt;
  if (rank(x) < spatial) {
    fail("a pool over " + Twine(spatial) + " axes does not fit " + describe(shape(x)));
    return std::nullopt;
  }
  Pool pool{*window, withLeadingZeros(rank(x), window->padLow), withLeadingZeros(rank(x), window->padHigh),
            Shape(rank(x), Expr(0))};
  for (int64_t i = 0, lead = rank(x) - spatial; i < spatial; ++i)
    pool.extra[lead + i] = ceilPadding(*window, i, dim(x, lead + i));
  return pool;
}

Value TensorBuilder::poolWindows(Value x, const Window &given, TypedAttr fill) {
  std::optional<Pool> pool = poolOf(x, given);
  if (!pool)
    return {};
  auto [window, low, high, extra] = *pool;
  for (auto [after, more] : llvm::zip(high, extra))
    after = after + more;
  return windows(pad(x, low, high, constant(fill)), kernelSizes(window), window.strides, window.dilations);
}

Value TensorBuilder::maxPool(Value x, const Window &window) {
  if (!x)
    return {};
  Value view = poolWindows(x, window, graph::reductionIdentity(Alu::MAX, element(x)));
  return reduce(Alu::MAX, view, trailing(window.kernel.size()), /*keepDims=*/false);
}

Value TensorBuilder::maxPoolIndices(Value x, const Window &window) {
  if (!x)
    return {};
  SmallVector<int64_t> axes = trailing(window.kernel.size());
  TypedAttr never = graph::reductionIdentity(Alu::MIN, int64());
  Value view = poolWindows(x, window, graph::reductionIdentity(Alu::MAX, element(x)));
  Value found = equal(view, reduce(Alu::MAX, view, axes, /*keepDims=*/true));
  if (isFloat(x))
    found = bitOr(found, isNaN(view));
  Value places = reshape(arange(view::product(shape(x)), int64()), shape(x));
  return reduce(Alu::MIN, where(found, poolWindows(places, window, never), constant(never)), axes, /*keepDims=*/false);
}

Value TensorBuilder::averagePool(Value x, const Window &given, bool countPadding) {
  std::optional<Pool> pool = poolOf(x, given);
  if (!pool)
    return {};
  auto &[window, low, high, extra] = *pool;
  int64_t spatial = given.kernel.size();
  Shape none(rank(x), Expr(0));
  auto sums = [&](Value tensor) {
    Value padded = pad(pad(tensor, low, high), none, extra);
    Value view = windows(padded, kernelSizes(window), window.strides, window.dilations);
    return reduce(Alu::ADD, view, trailing(spatial), /*keepDims=*/false);
  };
  auto isZero = [](ArrayRef<Expr> pads) { return llvm::all_of(pads, [](Expr pad) { return pad.isConst(0); }); };
  Value total = sums(widen(x));
  if (total && !isFloat(total))
    total = cast(total, float32());
  if (!total)
    return {};
  Type type = element(total);
  if (isZero(extra) && (countPadding || (isZero(low) && isZero(high))))
    return narrowLike(mul(total, reciprocal(view::product(kernelSizes(window)), type)), element(x));
  // How many elements of each window count: the sum of ones, padded like x if the padding does not count.
  Shape counted(rank(x), Expr(1));
  for (int64_t axis = rank(x) - spatial; axis < rank(x); ++axis)
    counted[axis] = countPadding ? dim(x, axis) + low[axis] + high[axis] : dim(x, axis);
  if (countPadding)
    low = high = none;
  // Times the reciprocal, as above: whether a size, and so the cut-off part, is known changes no bit.
  Value counts = sums(constant(1, type, counted));
  return narrowLike(mul(total, recip(counts)), element(x));
}
