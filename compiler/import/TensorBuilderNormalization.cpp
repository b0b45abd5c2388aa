//===- TensorBuilderNormalization.cpp - Softmax and the norms ----------------===//
#include "import/DType.h"
#include "import/TensorBuilder.h"

using namespace kiln;
using namespace kiln::import;
using namespace mlir;
using llvm::Twine;
using view::provablyEqual;

Value TensorBuilder::softmax(Value x, int64_t axis) {
  Value wide = widen(x);
  // In half precision the powers and their sum round, as in ONNX's definition; the sum stays wide so that it does not
  // overflow.
  Value powers = widen(narrowLike(exp(sub(wide, max(wide, {axis}, /*keepDims=*/true))), element(x)));
  Value total = sum(powers, {axis}, /*keepDims=*/true);
  if (x && dim(x, axis).max() <= 65504)
    total = widen(narrowLike(total, element(x)));
  // One division per row, not one per element.
  return narrowLike(mul(powers, recip(total)), element(x));
}

Value TensorBuilder::logSoftmax(Value x, int64_t axis) {
  Value wide = widen(x), shifted = sub(wide, max(wide, {axis}, /*keepDims=*/true));
  return narrowLike(sub(shifted, log(sum(exp(shifted), {axis}, /*keepDims=*/true))), element(x));
}

Value TensorBuilder::normalize(Value x, Axes axes, double epsilon) {
  Value centered = sub(x, mean(x, axes, /*keepDims=*/true));
  return mul(centered, rsqrt(add(mean(square(centered), axes, /*keepDims=*/true), epsilon)));
}

static Value affine(TensorBuilder &builder, Value x, Value scale, Value bias) {
  if (scale)
    x = builder.mul(x, scale);
  return bias ? builder.add(x, bias) : x;
}

Value TensorBuilder::layerNorm(Value x, Axes axes, double epsilon, Value scale, Value bias) {
  return narrowLike(affine(*this, normalize(widen(x), axes, epsilon), widen(scale), widen(bias)), element(x));
}

Value TensorBuilder::rmsNorm(Value x, Axes axes, double epsilon, Value scale) {
  Value wide = widen(x), power = mean(square(wide), axes, /*keepDims=*/true);
  return narrowLike(affine(*this, mul(wide, rsqrt(add(power, epsilon))), widen(scale), {}), element(x));
}

Value TensorBuilder::perChannel(Value x, Value channel) {
  if (!x || !channel)
    return {};
  bool hasChannels = rank(x) >= 2 && rank(channel) == 1;
  Expr channels = hasChannels ? dim(x, 1) : 0, count = hasChannels ? dim(channel, 0) : 0;
  if (!hasChannels ||
      !(provablyEqual(count, channels) || takeForEqual(count, channels, "give each channel its number")))
    return fail(describe(shape(channel)) + " is not one number for each channel of " + describe(shape(x)),
                "channels are axis 1");
  Shape sizes(rank(x) - 1, Expr(1));
  sizes.front() = count.isConst() ? count : channels;
  return reshape(channel, sizes);
}

Value TensorBuilder::batchNorm(Value x, Value scale, Value bias, Value mean, Value variance, double epsilon) {
  Value wide = widen(x);
  auto channel = [&](Value tensor) { return perChannel(wide, widen(tensor)); };
  Value factor = mul(channel(scale), rsqrt(add(channel(variance), epsilon)));
  return narrowLike(add(mul(sub(wide, channel(mean)), factor), channel(bias)), element(x));
}

Value TensorBuilder::instanceNorm(Value x, Value scale, Value bias, double epsilon) {
  if (!x)
    return {};
  if (rank(x) < 3)
    return groupNorm(x, 0, scale, bias, epsilon);
  // In the shape of its neighbours, so that one kernel goes along the same axes for all of it.
  SmallVector<int64_t> axes = allAxes(x);
  Value normal = normalize(widen(x), ArrayRef(axes).drop_front(2), epsilon);
  Value factor = perChannel(x, widen(scale)), offset = perChannel(x, widen(bias));
  return ok() ? narrowLike(affine(*this, normal, factor, offset), element(x)) : Value();
}

Value TensorBuilder::groupNorm(Value x, int64_t groups, Value scale, Value bias, double epsilon) {
  if (!x)
    return {};
  std::string cause =
      "the channels of " + describe(shape(x)) + " do not divide into " + std::to_string(groups) + " groups";
  if (rank(x) < 3 || groups < 1)
    return fail(cause);
  Expr rest = dim(x, 1) - view::floorDiv(dim(x, 1), groups) * groups;
  if (!check(view::less(rest, 1), cause))
    return {};
  Value wide = widen(x), normal = normalize(reshape(wide, {dim(x, 0), groups, -1}), {-1}, epsilon);
  Value result = reshape(normal, shape(x));
  Value factor = scale ? perChannel(x, widen(scale)) : Value(), offset = bias ? perChannel(x, widen(bias)) : Value();
  return ok() ? narrowLike(affine(*this, result, factor, offset), element(x)) : Value();
}
