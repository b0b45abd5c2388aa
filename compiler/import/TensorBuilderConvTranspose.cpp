//===- TensorBuilderConvTranspose.cpp - Transposed convolutions --------------===//
//
// A transposed convolution of stride s convolves its input with s - 1 zeros after each element, and multiplies most of
// its kernel by those zeros. The outputs of one residue modulo s, a phase, use the same taps of the kernel, every s-th,
// and no others: without any zeros, output s·t + r is the sum of x[t - m] · w[s·m + r] over m. So each phase is a
// convolution of stride 1. Phases that read the same windows become channels of one convolution, which reads its input
// once; others, with another number of taps or first output, get their own, since filling up taps or outputs costs
// more. In memory the phases are separate, each contiguous; a view puts them after the steps t.
//
//===-------------------------------------------------------------------------===//
#include "import/TensorBuilder.h"

#include "llvm/Support/MathExtras.h"

#include <numeric>

using namespace kiln;
using namespace kiln::import;
using namespace mlir;
using llvm::Twine;
using view::provablyEqual;

namespace {
/// Phases [begin, end) of an axis, which read the same windows.
struct PhaseRange {
  int64_t begin, end, taps;
  int64_t count() const { return end - begin; }
  /// Around the input, for one output of each phase at every step; negative if no output reaches its elements.
  int64_t padLow, padHigh;
};

/// A spatial axis of the result in its phases; the first phase is that of the first output.
struct PhasedAxis {
  /// One of stride and dilation is 1.
  PhasedAxis(int64_t kernel, int64_t stride, int64_t dilation, int64_t low, int64_t high);

  int64_t kernel, stride, dilation;
  SmallVector<PhaseRange, 3> ranges;
  /// The steps beyond one for each element, and the number of outputs that the last one lacks.
  int64_t moreSteps, cut;
};

/// x and w as in TensorBuilder::convTranspose.
struct PhasedConvolution {
  TensorBuilder &b;
  Value x, w;
  int64_t groups;
  SmallVector<PhasedAxis> axes;

  Value result();

private:
  Value phases(SmallVector<PhaseRange> ranges);
  Value convolve(ArrayRef<PhaseRange> ranges);
  Value taps(ArrayRef<PhaseRange> ranges);
  Value apart(Value y, ArrayRef<PhaseRange> ranges);
};
} // namespace

PhasedAxis::PhasedAxis(int64_t kernel, int64_t stride, int64_t dilation, int64_t low, int64_t high)
    : kernel(kernel), stride(stride), dilation(dilation) {
  int64_t skipped = low / stride, first = low % stride;
  // The rest of the outputs after stride · (n - 1) of them.
  int64_t rest = dilation * (kernel - 1) + 1 - low - high;
  moreSteps = llvm::divideCeilSigned(rest, stride) - 1;
  cut = (moreSteps + 1) * stride - rest;
  auto append = [&](int64_t begin, int64_t end, int64_t skip) {
    int64_t most = llvm::divideCeil(kernel, stride), middle = std::clamp(kernel - (most - 1) * stride, begin, end);
    for (auto [from, to, taps] : {std::tuple(begin, middle, most), std::tuple(middle, end, most - 1)})
      if (from < to)
        ranges.push_back({from, to, taps, (taps - 1) * dilation - skip, skip + moreSteps});
  };
  append(first, stride, skipped);
  append(0, first, skipped + 1);
}

/// The taps of these phases as the weight of a convolution, [g·cout·phase…, cin, tap…].
Value PhasedConvolution::taps(ArrayRef<PhaseRange> ranges) {
  Shape sizes = b.shape(w), none(2, Expr(0)), missing = none, begin(3, Expr(0));
  Shape grouped{groups, view::floorDiv(sizes[0], groups), sizes[1]}, end = grouped;
  Shape result{sizes[1] * groups, grouped[1]};
  SmallVector<int64_t> order{0, 2}, turned;
  for (auto [i, axis, range] : llvm::enumerate(axes, ranges)) {
    int64_t most = llvm::divideCeil(axis.kernel, axis.stride);
    none.push_back(0);
    missing.push_back(most * axis.stride - axis.kernel);
    grouped.append({most, axis.stride});
    begin.append({0, range.begin});
    end.append({range.taps, range.end});
    turned.push_back(3 + 2 * i);
    order.push_back(4 + 2 * i);
    result[0] = result[0] * range.count();
    result.push_back(range.taps);
  }
  order.push_back(1);
  order.append(turned);
  Value taps = b.shrink(b.reshape(b.pad(w, none, missing), grouped), begin, end);
  return b.reshape(b.permute(b.flip(taps, turned), order), result);
}

/// A convolution's y [n, g·cout·phase…, step…] as [n, g·cout, step, phase, step, phase …].
Value PhasedConvolution::apart(Value y, ArrayRef<PhaseRange> ranges) {
  if (!y)
    return {};
  Shape sizes = b.shape(y), apart{sizes[0], b.dim(w, 1) * groups};
  SmallVector<int64_t> order{0, 1};
  for (auto [i, range] : llvm::enumerate(ranges)) {
    apart.push_back(range.count());
    order.append({int64_t(2 + ranges.size() + i), int64_t(2 + i)});
  }
  apart.append(sizes.begin() + 2, sizes.end());
  return b.permute(b.reshape(y, apart), order);
}

/// The outputs of these phases, [n, g·cout, step, phase, step, phase …].
Value PhasedConvolution::convolve(ArrayRef<PhaseRange> ranges) {
  Shape low(2, Expr(0)), high = low, zeros{b.dim(x, 0), b.dim(w, 1) * groups};
  Window window;
  for (auto [i, axis, range] : llvm::enumerate(axes, ranges)) {
    low.push_back(range.padLow);
    high.push_back(range.padHigh);
    window.dilations.push_back(axis.dilation);
    zeros.append({b.dim(x, 2 + i) + axis.moreSteps, range.count()});
  }
  if (llvm::any_of(ranges, [](PhaseRange range) { return range.taps == 0; }))
    return b.constant(0, b.element(x), zeros);
  Value y = b.conv(b.pad(x, low, high), taps(ranges), Value(), window, groups);
  // Without memory of its own its loops would go along the result, where neighbours have different taps.
  bool strided = llvm::any_of(axes, [](const PhasedAxis &axis) { return axis.stride > 1; });
  return apart(strided ? b.contiguous(y) : y, ranges);
}

/// The outputs of all phases, of these ranges in the first axes.
Value PhasedConvolution::phases(SmallVector<PhaseRange> ranges) {
  size_t axis = ranges.size();
  if (axis == axes.size())
    return convolve(ranges);
  SmallVector<Value> parts;
  for (PhaseRange range : axes[axis].ranges) {
    ranges.push_back(range);
    parts.push_back(phases(ranges));
    ranges.pop_back();
  }
  return b.concat(parts, 3 + 2 * axis);
}

Value PhasedConvolution::result() {
  Value y = phases({});
  if (!y)
    return {};
  Shape sizes = b.shape(y), whole{sizes[0], sizes[1]}, begin(b.rank(x), Expr(0));
  for (size_t i = 2; i < sizes.size(); i += 2)
    whole.push_back(sizes[i] * sizes[i + 1]);
  Shape end = whole;
  for (auto [i, axis] : llvm::enumerate(axes))
    end[2 + i] = end[2 + i] - axis.cut;
  return b.shrink(b.reshape(y, whole), begin, end);
}

/// Fails if these do not fit each other.
static bool fit(TensorBuilder &b, Value x, Value w, Value bias, const Window &window, int64_t groups,
                ArrayRef<int64_t> outputPad) {
  auto misfit = [&](const Twine &why) {
    b.fail("a transposed convolution of " + describe(b.shape(x)) + " by " + describe(b.shape(w)) + " in " +
           Twine(groups) + " groups: " + why);
    return false;
  };
  auto isOpen = [](Expr size) { return !size.isConst(); };
  auto isEqual = [&](Expr one, Expr other, StringRef what) {
    return provablyEqual(one, other) || b.takeForEqual(one, other, what);
  };
  if (b.rank(x) < 3 || b.rank(w) != b.rank(x))
    return misfit("both need as many axes, three or more");
  if (!isEqual(b.dim(x, 1), b.dim(w, 0), "convolve"))
    return misfit("the channels differ");
  if (groups < 1 || !provablyEqual(view::floorDiv(b.dim(w, 0), groups) * groups, b.dim(w, 0)))
    return misfit("the channels do not divide into the groups");
  if (llvm::any_of(ArrayRef<Expr>(b.shape(w)).drop_front(2), isOpen))
    return misfit("the kernel's sizes must be known");
  if (llvm::any_of(window.padLow, isOpen) || llvm::any_of(window.padHigh, isOpen))
    return misfit("the pads must be known");
  if (!outputPad.empty() && int64_t(outputPad.size()) != b.rank(x) - 2)
    return misfit("one output padding an axis is needed");
  if (bias && (b.rank(bias) != 1 || !isEqual(b.dim(bias, 0), b.dim(w, 1) * groups, "add the bias of a convolution")))
    return misfit("the bias is " + describe(b.shape(bias)));
  return true;
}

Value TensorBuilder::convTranspose(Value x, Value w, Value bias, Window window, int64_t groups, Axes outputPad) {
  if (!x || !w || !fit(*this, x, w, bias, window, groups, outputPad))
    return {};
  window.kernel =
      llvm::map_to_vector(ArrayRef<Expr>(shape(w)).drop_front(2), [](Expr size) { return size.constant(); });
  std::optional<Window> full = complete(window, rank(x) - 2);
  if (!full)
    return {};
  Type type = element(x);
  PhasedConvolution convolution{*this, widen(withSize(x, 1, dim(w, 0))), w, groups, {}};
  // Common factors of stride and dilation are between outputs; of the rest, one has to be 1.
  Shape low(2, Expr(0)), high = low;
  SmallVector<int64_t> between(2, 0);
  for (int64_t i = 0; i < rank(x) - 2; ++i) {
    int64_t stride = full->strides[i], dilation = full->dilations[i], common = std::gcd(stride, dilation);
    int64_t before = full->padLow[i].constant(), after = full->padHigh[i].constant();
    after -= outputPad.empty() ? 0 : outputPad[i];
    stride /= common, dilation /= common;
    if (stride > 1 && dilation > 1) {
      convolution.x = interleaveZeros(convolution.x, 2 + i, stride - 1);
      stride = 1;
    }
    bool isApart = common > 1;
    convolution.axes.emplace_back(full->kernel[i], stride, dilation, isApart ? 0 : before, isApart ? 0 : after);
    between.push_back(common - 1);
    low.push_back(isApart ? -before : 0);
    high.push_back(isApart ? -after : 0);
  }
  Value y = convolution.result();
  if (!y)
    return {};
  for (auto [axis, zeros] : llvm::enumerate(between))
    y = interleaveZeros(y, axis, zeros);
  y = pad(y, low, high);
  if (bias)
    y = add(y, perChannel(y, widen(withSize(bias, 0, dim(w, 1) * groups))));
  return narrowLike(y, type);
}
