//===- TensorBuilderProducts.cpp - Matrix products and convolutions ----------===//
#include "import/TensorBuilder.h"

using namespace kiln;
using namespace kiln::import;
using namespace mlir;
using llvm::Twine;
using view::provablyEqual;

Value TensorBuilder::matmul(Value a, Value b) {
  if (!a || !b)
    return {};
  if (rank(a) == 0 || rank(b) == 0)
    return fail("a matrix product of a scalar", "multiply instead");
  Expr inner = dim(b, rank(b) == 1 ? -1 : -2);
  if (!provablyEqual(dim(a, -1), inner) && !takeForEqual(dim(a, -1), inner, "multiply"))
    return fail("cannot multiply " + describe(shape(a)) + " and " + describe(shape(b)) + ": " + dim(a, -1).print() +
                    " and " + inner.print() + " differ",
                "the last size of the first must be the last but one of the second");
  a = withSize(a, rank(a) - 1, inner);
  Type type = element(a);
  if (rank(b) > 1)
    b = transpose(b, -1, -2);
  if (rank(a) > 1 && rank(b) > 1) {
    a = unsqueeze(a, {-2});
    b = unsqueeze(b, {-3});
  }
  return narrowLike(reduce(Alu::ADD, mul(widen(a), widen(b)), {-1}, /*keepDims=*/false), type);
}

/// Of the taps of a kernel along one axis, those that read an element for some output, as [first, second). The others
/// read padding alone: those of a dilation that is wider than the picture, which segmentation's pyramids have.
static std::pair<int64_t, int64_t> readingTaps(Expr size, const Window &window, int64_t axis) {
  int64_t taps = window.kernel[axis], dilation = window.dilations[axis], stride = window.strides[axis];
  Expr low = window.padLow[axis], end = size + low;
  Expr room = end + window.padHigh[axis] - (taps - 1) * dilation - 1; // how far the windows move
  std::pair<int64_t, int64_t> reading(0, taps);
  if (room.min() < 0)
    return reading;
  Expr last = view::floorDiv(room, stride) * stride;
  auto isBefore = [&](int64_t tap) { return (last + tap * dilation - low).max() < 0; };
  auto isPast = [&](int64_t tap) { return (end - tap * dilation).max() <= 0; };
  while (reading.first < reading.second && isBefore(reading.first))
    ++reading.first;
  while (reading.first < reading.second && isPast(reading.second - 1))
    --reading.second;
  return reading.first < reading.second ? reading : std::pair<int64_t, int64_t>(0, taps);
}

Value TensorBuilder::conv(Value x, Value w, Value bias, Window window, int64_t groups) {
  if (!x || !w)
    return {};
  int64_t spatial = rank(x) - 2;
  auto misfit = [&](const Twine &why) {
    return fail("a convolution of " + describe(shape(x)) + " by " + describe(shape(w)) + " in " + Twine(groups) +
                (groups == 1 ? " group: " : " groups: ") + why);
  };
  if (spatial < 1 || rank(w) != rank(x))
    return misfit("both need a batch or output axis, a channel axis and as many spatial axes");
  Expr channels = dim(w, 1), outputs = dim(w, 0);
  Expr taken = channels * groups;
  if (groups > 1 && dim(x, 1).isConst() && dim(x, 1).constant() % groups != 0)
    return misfit("the input's " + dim(x, 1).render() + " channels do not divide into the groups; change one of them");
  if (groups < 1 || !(provablyEqual(dim(x, 1), taken) || takeForEqual(dim(x, 1), taken, "convolve")))
    return misfit("the input's " + dim(x, 1).render() + " channels are not the " + dim(w, 1).render() +
                  " of the weight for each group; change one of them, or the groups");
  x = withSize(x, 1, taken);
  if (!provablyEqual(view::floorDiv(outputs, groups) * groups, outputs))
    return misfit("the " + outputs.render() +
                  " outputs of the weight do not divide into the groups; change one of them");
  if (bias && (rank(bias) != 1 || !(provablyEqual(dim(bias, 0), outputs) ||
                                    takeForEqual(dim(bias, 0), outputs, "add the bias of a convolution"))))
    return misfit("the bias is " + describe(shape(bias)));
  window.kernel.clear();
  for (int64_t i = 0; i < spatial; ++i) {
    if (!dim(w, 2 + i).isConst())
      return misfit("the kernel's sizes must be known");
    window.kernel.push_back(dim(w, 2 + i).constant());
  }
  std::optional<Window> full = complete(window, spatial);
  if (!full)
    return {};
  for (int64_t i = 0; i < spatial; ++i) {
    auto [first, second] = readingTaps(dim(x, 2 + i), *full, i);
    w = slice(w, 2 + i, {first, second});
    full->padLow[i] = full->padLow[i] - first * full->dilations[i];
    full->padHigh[i] = full->padHigh[i] - (full->kernel[i] - second) * full->dilations[i];
    full->kernel[i] = second - first;
  }

  Shape low(2, Expr(0)), high = low, kernel(full->kernel.begin(), full->kernel.end());
  low.append(full->padLow.begin(), full->padLow.end());
  high.append(full->padHigh.begin(), full->padHigh.end());
  Type type = element(x);
  Value view = windows(pad(widen(x), low, high), kernel, full->strides, full->dilations);
  if (!view)
    return {};
  // [n, g·cin, o…, k…] and [g·cout, cin, k…] are multiplied as [n, g, cout, o…, cin, k…].
  Shape sizes = shape(view), taps(1, channels);
  taps.append(kernel.begin(), kernel.end());
  Expr perGroup = view::floorDiv(outputs, groups);
  Shape out(ArrayRef<Expr>(sizes).slice(2, spatial)), grouped{sizes[0], groups, channels, 1};
  grouped.append(sizes.begin() + 2, sizes.end());
  SmallVector<int64_t> order{0, 1, 3};
  for (int64_t i = 0; i < spatial; ++i)
    order.push_back(4 + i);
  order.push_back(2);
  for (int64_t i = 0; i < spatial; ++i)
    order.push_back(4 + spatial + i);
  Shape weights{1, groups, perGroup};
  weights.append(spatial, Expr(1));
  weights.append(taps.begin(), taps.end());
  SmallVector<int64_t> summed;
  for (int64_t i = -1 - spatial; i < 0; ++i)
    summed.push_back(i);
  Value product = mul(permute(reshape(view, grouped), order), reshape(widen(w), weights));
  Shape result{sizes[0], outputs};
  result.append(out.begin(), out.end());
  Value y = reshape(reduce(Alu::ADD, product, summed, /*keepDims=*/false), result);
  if (bias)
    y = add(y, perChannel(y, widen(withSize(bias, 0, outputs))));
  return narrowLike(y, type);
}
