//===- Unfolding.cpp - Put windows back in their places ---------------------===//
#include "import/Scatter.h"
#include "import/onnx/Registry.h"
#include "import/onnx/file/ModelFile.h"

using namespace kiln;
using namespace kiln::import;
using namespace kiln::import::onnx;
using llvm::Twine;
using mlir::Value;

/// Each pixel is the sum of the columns' elements at its place: for each place in a block there is at most one.
static Value col2im(Node &n, TensorBuilder &b) {
  Value x = n.input(0);
  std::optional<Elements> image = n.sizes(1), block = n.sizes(2);
  llvm::SmallVector<int64_t> dilations = n.integers("dilations"), strides = n.integers("strides"),
                             pads = n.integers("pads");
  if (!x || !image || !block)
    return {};
  int64_t axes = image->size(), rank = 2 + 2 * axes;
  dilations.resize(axes, 1);
  strides.resize(axes, 1);
  pads.resize(2 * axes, 0);
  if (b.rank(x) != 3 || int64_t(block->size()) != axes || llvm::any_of(strides, [](int64_t s) { return s < 1; }))
    return b.fail("columns " + describe(b.shape(x)) + " for an image of " + Twine(axes) + " axes");
  Expr taps = view::product(*block), columns = b.dim(x, 2);
  Expr channels = n.named("channels", view::floorDiv(b.dim(x, 1), view::maximum(taps, 1)));
  if (!taps.isConst())
    taps = n.named("taps", taps);
  auto along = [&](int64_t axis, Expr count) {
    Shape shape(rank, Expr(1));
    shape[axis] = count;
    return b.reshape(b.arange(count, b.int64()), shape);
  };
  // [n, c, pixel…, tap…]: in which column, at which place of it, and whether there is such a column.
  Value column = b.constant(0, b.int64()), tap = column, fits;
  Expr count = 1;
  Shape result{b.dim(x, 0), channels};
  for (int64_t i = 0; i < axes; ++i) {
    Expr size = (*image)[i], length = (*block)[i];
    Expr steps = view::floorDiv(size + pads[i] + pads[axes + i] - (length - 1) * dilations[i] - 1, strides[i]) + 1;
    steps = n.named("columns", steps);
    Value kernel = along(2 + axes + i, length);
    Value from = b.sub(b.add(along(2 + i, size), pads[i]), b.mul(kernel, dilations[i]));
    Value step = b.floorDiv(from, strides[i]);
    Value isThere = b.bitAnd(b.equal(b.mul(step, strides[i]), from),
                             b.bitAnd(b.greaterEqual(step, 0), b.less(step, b.size(steps))));
    fits = fits ? b.bitAnd(fits, isThere) : isThere;
    column = b.add(b.mul(column, b.size(steps)), step);
    tap = b.add(b.mul(tap, b.size(length)), kernel);
    count = count * steps;
    result.push_back(size);
  }
  auto isSame = [](Expr a, Expr c) { return view::logicalAnd({view::greaterEqual(a, c), view::greaterEqual(c, a)}); };
  if (!b.check(isSame(count, columns), "the blocks of the image are not as many as the columns") ||
      !b.check(isSame(channels * taps, b.dim(x, 1)), "the columns are not a whole number of blocks long"))
    return {};
  Value row = b.add(b.mul(along(0, result[0]), b.size(channels)), along(1, channels));
  row = b.add(b.mul(row, b.size(taps)), tap);
  Value place = b.where(fits, b.add(b.mul(row, b.size(columns)), column), 0);
  Value elements = b.where(fits, b.gather(b.reshape(x, {view::product(b.shape(x))}), place, 0), 0);
  return b.sum(elements, llvm::to_vector(llvm::seq<int64_t>(2 + axes, rank)));
}

/// The largest elements at their original places, zeros elsewhere.
static Value maxUnpool(Node &n, TensorBuilder &b) {
  Value x = n.input(0), places = n.input(1);
  llvm::SmallVector<int64_t> kernel = n.integers("kernel_shape"), strides = n.integers("strides"),
                             pads = n.integers("pads");
  if (!x || !places)
    return {};
  int64_t axes = kernel.size();
  if (b.rank(x) != axes + 2)
    return b.fail("a kernel of " + Twine(axes) + " axes for " + describe(b.shape(x)));
  strides.resize(axes, 1);
  pads.resize(2 * axes, 0);
  Shape shape = b.shape(x), zeros(axes + 2, Expr(0)), more = zeros;
  for (int64_t i = 0; i < axes; ++i)
    shape[i + 2] = (shape[i + 2] - 1) * strides[i] + kernel[i] - pads[i] - pads[axes + i];
  Expr count = view::product(b.shape(x));
  Value flat = scatter(b, b.constant(0, b.element(x), {view::product(shape)}), b.reshape(places, {count}),
                       b.reshape(x, {count}), Combine::Set);
  Value result = b.reshape(flat, shape);
  if (!n.has(2))
    return result;
  std::optional<Elements> wanted = n.sizes(2);
  if (!wanted || int64_t(wanted->size()) != axes + 2)
    return b.fail("the output shape is not that of " + Twine(axes + 2) + " axes");
  for (auto [size, given, rest] : llvm::zip(shape, *wanted, more))
    rest = n.named("rest", given - size);
  return b.pad(result, zeros, more);
}

/// Slices of an axis, `step` apart, whose elements become the last axis.
static Value unfoldTensor(Node &n, TensorBuilder &b) {
  Value x = n.input(0);
  int64_t size = n.integer("size"), step = n.integer("step", 1);
  std::optional<int64_t> axis = b.normalizeAxis(n.integer("dim", -1), b.rank(x));
  if (!x || !axis || !b.ok())
    return {};
  if (size < 1 || step < 1 || std::max(size, step) > view::kMaxDim)
    return b.fail("slices of " + Twine(size) + ", " + Twine(step) + " apart", "both numbers are 1 or more");
  return b.moveAxis(b.windows(b.moveAxis(x, *axis, -1), {size}, {step}, {1}), -2, *axis);
}

void kiln::import::onnx::addUnfolding(Registry &r) {
  r.add("Col2Im", 18, col2im);
  r.add("MaxUnpool", 9, maxUnpool);
  r.add("com.microsoft", "UnfoldTensor", 1, unfoldTensor);
}
