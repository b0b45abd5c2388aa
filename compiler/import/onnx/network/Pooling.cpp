//===- Pooling.cpp - Pools over windows and over all ------------------------===//
#include "import/onnx/Registry.h"
#include "import/onnx/network/WindowAttributes.h"

using namespace kiln;
using namespace kiln::import;
using namespace kiln::import::onnx;
using mlir::Value;

/// Places in x flattened with its spatial axes the other way round.
static Value columnMajor(TensorBuilder &b, Value x, Value places) {
  Value rest = places, turned;
  Expr step = 1;
  Shape shape = b.shape(x);
  for (Expr size : llvm::ArrayRef(shape).drop_front(2))
    step = step * size;
  for (Expr size : llvm::reverse(llvm::ArrayRef(shape).drop_front(2))) {
    // The last axis of x is the slowest now.
    step = view::floorDiv(step, size);
    Value along = b.mul(b.floorMod(rest, b.size(size)), b.size(step));
    turned = turned ? b.add(turned, along) : along;
    rest = b.floorDiv(rest, b.size(size));
  }
  Expr area = view::product(llvm::ArrayRef(shape).drop_front(2));
  return b.add(b.mul(rest, b.size(area)), turned);
}

/// The maxima, and if they are asked for their places in the flattened input.
static Tensors maxPool(Node &n, TensorBuilder &b) {
  Value x = n.input(0);
  bool ceilMode = n.flag("ceil_mode", false), isColumnMajor = n.opset() >= 8 && n.flag("storage_order", false);
  std::optional<Window> window = readWindow(n, x);
  if (!window)
    return {};
  window->ceilMode = ceilMode;
  Tensors results{b.maxPool(x, *window)};
  if (n.opset() >= 8 && n.proto().output_size() > 1) {
    Value places = b.maxPoolIndices(x, *window);
    results.push_back(isColumnMajor ? columnMajor(b, x, places) : places);
  }
  return results;
}

/// The same for integers with the channels last.
static Value nhwcMaxPool(Node &n, TensorBuilder &b) {
  Value x = b.moveAxis(n.input(0), -1, 1);
  bool ceilMode = n.flag("ceil_mode", false);
  std::optional<Window> window = readWindow(n, x);
  if (!window)
    return {};
  window->ceilMode = ceilMode;
  return b.moveAxis(b.maxPool(x, *window), 1, -1);
}

static Tensor averagePool(Node &n, TensorBuilder &b) {
  Value x = n.input(0);
  bool ceilMode = n.flag("ceil_mode", false), countPadding = n.opset() >= 7 && n.flag("count_include_pad", false);
  std::optional<Window> window = readWindow(n, x);
  if (!window)
    return {};
  window->ceilMode = ceilMode;
  return b.averagePool(x, *window, countPadding);
}

static llvm::SmallVector<int64_t> spatialAxes(TensorBuilder &b, Value x) {
  llvm::SmallVector<int64_t> axes = b.allAxes(x);
  axes.erase(axes.begin(), axes.begin() + std::min<size_t>(axes.size(), 2));
  return axes;
}

/// (Σ |x|^p)^(1/p); `sum` adds up. In float32 for 16 bits, as powers pass their range long before the norm does.
static Value norm(TensorBuilder &b, Value x, int64_t p, llvm::function_ref<Value(Value)> sum) {
  return b.roundedOnce(x, [&](Value wide) {
    if (p == 1)
      return sum(b.abs(wide));
    if (p == 2)
      return b.sqrt(sum(b.square(wide)));
    return b.pow(sum(b.pow(b.abs(wide), p)), 1.0 / double(p));
  });
}

/// The norm's order, a float in the first opset.
static int64_t orderOf(Node &n) {
  if (n.opset() >= 2)
    return n.integer("p", 2);
  double p = n.real("p", 2);
  return p == std::floor(p) && std::abs(p) < 1e9 ? int64_t(p) : 0;
}

static Tensor lpPool(Node &n, TensorBuilder &b) {
  Value x = n.input(0);
  int64_t p = orderOf(n);
  bool ceilMode = n.flag("ceil_mode", false);
  std::optional<Window> window = readWindow(n, x);
  if (!window)
    return {};
  if (p < 1)
    return n.fail("attribute 'p' is " + llvm::Twine(p), "it is 1 or more");
  // A sum over a window is its mean, padding counted, times its size. Zeros past the end add nothing, so ceil mode is
  // more of them, without the windows that begin there.
  double size = 1;
  Shape begins;
  for (auto [i, extent] : llvm::enumerate(window->kernel)) {
    size *= double(extent);
    begins.push_back(view::ceilDiv(b.dim(x, int64_t(i) + 2) + window->padLow[i], window->strides[i]));
    if (ceilMode)
      window->padHigh[i] = window->padHigh[i] + (window->strides[i] - 1);
  }
  Value result =
      norm(b, x, p, [&](Value powers) { return b.mul(b.averagePool(powers, *window, /*countPadding=*/true), size); });
  for (auto [i, count] : llvm::enumerate(begins))
    if (ceilMode)
      result = b.narrow(result, int64_t(i) + 2, 0, view::minimum(b.dim(result, int64_t(i) + 2), count));
  return result;
}

static Value globalAveragePool(Node &n, TensorBuilder &b) {
  Value x = n.input(0);
  return b.mean(x, spatialAxes(b, x), /*keepDims=*/true);
}

static Value globalMaxPool(Node &n, TensorBuilder &b) {
  Value x = n.input(0);
  return b.max(x, spatialAxes(b, x), /*keepDims=*/true);
}

static Tensor globalLpPool(Node &n, TensorBuilder &b) {
  Value x = n.input(0);
  int64_t p = orderOf(n);
  if (p < 1)
    return n.fail("attribute 'p' is " + llvm::Twine(p), "it is 1 or more");
  return norm(b, x, p, [&](Value powers) { return b.sum(powers, spatialAxes(b, x), /*keepDims=*/true); });
}

void kiln::import::onnx::addPooling(Registry &r) {
  r.add("AveragePool", 1, averagePool);
  r.add("GlobalAveragePool", 1, globalAveragePool);
  r.add("GlobalLpPool", 1, globalLpPool);
  r.add("GlobalMaxPool", 1, globalMaxPool);
  r.add("LpPool", 1, lpPool);
  r.add("MaxPool", 1, maxPool);
  r.add("com.microsoft", "NhwcMaxPool", 1, nhwcMaxPool);
}
