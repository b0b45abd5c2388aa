//===- Sampling.cpp - Images at computed places -----------------------------===//
//
// These operators read an image at computed places between its elements: AffineGrid makes such places and GridSample
// takes them; RoiAlign, MaxRoiPool and DeformConv make their places themselves, from regions and offsets that are data.
// Each has to bring its places into one form, a tensor for each axis in units of elements; import/Sample.h then reads
// there. If the number of samples depends on how large a region is, the most that any region has becomes a size, and a
// mask says which of them count.
//
//===------------------------------------------------------------------------===//
#include "import/Sample.h"
#include "import/onnx/Importer.h"
#include "import/onnx/Registry.h"
#include "import/onnx/file/ModelFile.h"

using namespace kiln;
using namespace kiln::import;
using namespace kiln::import::onnx;
using llvm::Twine;
using mlir::Value;

/// Whether these are regions of images, [regions, numbers]: so many numbers each from now on.
static bool takeRegions(TensorBuilder &b, Value &regions, int64_t numbers = 4) {
  Value taken = b.rank(regions) == 2 ? b.takeSize(regions, 1, numbers, "read regions") : Value();
  regions = taken ? taken : regions;
  return bool(taken);
}

/// Places of -1 to 1 along each axis, x first, moved and turned by a matrix for each image.
static Value affineGrid(Node &n, TensorBuilder &b) {
  Value theta = n.input(0);
  bool alignCorners = n.flag("align_corners", false);
  std::optional<Elements> size = n.sizes(1);
  if (!theta || !size)
    return {};
  int64_t axes = int64_t(size->size()) - 2;
  Shape given = b.shape(theta);
  if (axes >= 1 && given.size() == 3)
    theta = b.takeSize(b.takeSize(theta, 1, axes, "make a grid"), 2, axes + 1, "make a grid");
  if (axes < 1 || given.size() != 3 || !theta)
    return b.fail("theta " + describe(given) + " for a size of " + Twine(size->size()) + " numbers",
                  "it is [n, 2, 3] for four, [n, 3, 4] for five");
  mlir::Type real = b.element(theta);
  Shape shape(axes + 2, Expr(1));
  shape[0] = b.dim(theta, 0);
  shape.back() = axes;
  auto column = [&](int64_t i) { return b.reshape(b.narrow(theta, 2, i, i + 1), shape); };
  Value grid = column(axes);
  for (int64_t i = 0; i < axes; ++i) {
    Expr count = (*size)[axes + 1 - i]; // the last axis is x
    Shape along(axes + 2, Expr(1));
    along[axes - i] = count;
    Value step = b.cast(b.reshape(b.arange(count, b.int64()), along), b.builder().getF64Type());
    Value length = b.cast(b.size(alignCorners ? view::maximum(count - 1, 1) : count), b.builder().getF64Type());
    Value place = b.sub(b.div(b.mul(alignCorners ? step : b.add(step, 0.5), 2), length), 1);
    grid = b.add(grid, b.mul(column(i), b.cast(place, real)));
  }
  return grid;
}

static std::optional<Sampling> samplingOf(Node &n) {
  Sampling how;
  bool isOld = n.opset() < 20;
  std::string linear = isOld ? "bilinear" : "linear", cubic = isOld ? "bicubic" : "cubic";
  std::string mode = n.string("mode", linear), padding = n.string("padding_mode", "zeros");
  how.alignCorners = n.flag("align_corners", false);
  if (mode != linear && mode != cubic && mode != "nearest")
    return n.fail("attribute 'mode' is " + quoted(mode), "it is " + linear + ", nearest or " + cubic), std::nullopt;
  how.interpolation = mode == linear  ? Interpolation::Linear
                      : mode == cubic ? Interpolation::Cubic
                                      : Interpolation::Nearest;
  if (padding != "zeros" && padding != "border" && padding != "reflection")
    return n.fail("attribute 'padding_mode' is " + quoted(padding), "it is zeros, border or reflection"), std::nullopt;
  how.outside = padding == "zeros" ? Outside::Zeros : padding == "border" ? Outside::Border : Outside::Reflection;
  return how;
}

static Value gridSample(Node &n, TensorBuilder &b) {
  Value x = n.input(0), grid = n.input(1);
  std::optional<Sampling> how = samplingOf(n);
  if (!x || !grid || !how)
    return {};
  int64_t axes = b.rank(x) - 2;
  Shape given = b.shape(grid);
  bool fits = axes >= 1 && b.rank(grid) == axes + 2 && b.isFloat(grid);
  grid = fits ? b.takeSize(grid, -1, axes, "sample") : Value();
  if (!grid)
    return b.fail("a grid " + describe(given) + " for an image " + describe(b.shape(x)),
                  "it has as many axes, and its last one has a place along each of the image's");
  llvm::SmallVector<Value> places;
  for (int64_t i = 0; i < axes; ++i) {
    // From -1 and 1, the borders, to elements.
    Value place = b.squeeze(b.narrow(grid, -1, axes - 1 - i, axes - i), {-1});
    Value size = b.cast(b.size(b.dim(x, 2 + i)), b.element(grid));
    place = how->alignCorners ? b.mul(b.div(b.add(place, 1), 2), b.sub(size, 1))
                              : b.div(b.sub(b.mul(b.add(place, 1), size), 1), 2);
    places.push_back(b.unsqueeze(place, {1}));
  }
  return sample(b, x, places, *how);
}

//===----------------------------------------------------------------------===//
// RoiAlign
//===----------------------------------------------------------------------===//

namespace {
/// Along one axis: the places of the samples of each region and bin, [regions, 1, bins, samples], which of them exist,
/// and how many ([regions, 1, 1, 1], floats).
struct Bins {
  Value places, isSample, count;
};
} // namespace

static Bins binsOf(Node &n, TensorBuilder &b, Value begin, Value end, int64_t bins, int64_t ratio, bool halfPixel) {
  Shape each{b.dim(begin, 0), Expr(1), Expr(1), Expr(1)};
  Value length = b.sub(end, begin);
  if (!halfPixel)
    length = b.maximum(length, 1); // of an empty region
  Value bin = b.reshape(b.div(length, bins), each);
  Expr most = ratio;
  Value count = b.constant(ratio, b.element(begin), each), isSample;
  if (ratio <= 0) {
    count = b.ceil(bin);
    Value largest = b.maximum(b.cast(b.max(count, {0, 1, 2, 3}), b.int64()), 1);
    most = n.importer().bind(n.scope().prefix() + n.proto().output(0) + ".samples", largest, b);
  }
  Value step = b.cast(b.reshape(b.arange(most, b.int64()), {Expr(1), Expr(1), Expr(1), most}), b.element(begin));
  Value place = b.cast(b.reshape(b.arange(bins, b.int64()), {Expr(1), Expr(1), Expr(bins), Expr(1)}), b.element(begin));
  Value within = b.div(b.add(step, 0.5), b.maximum(count, 1));
  if (ratio <= 0)
    isSample = b.less(step, count);
  return {b.add(b.reshape(begin, each), b.mul(b.add(place, within), bin)), isSample, count};
}

static Value roiAlign(Node &n, TensorBuilder &b) {
  Value x = n.input(0), regions = n.input(1), images = n.input(2);
  std::string mode = n.string("mode", "avg"), transform = "output_half_pixel";
  if (n.opset() >= 16)
    transform = n.string("coordinate_transformation_mode", "half_pixel");
  int64_t height = n.integer("output_height", 1), width = n.integer("output_width", 1);
  int64_t ratio = n.integer("sampling_ratio", 0);
  double scale = n.real("spatial_scale", 1);
  if (!x || !regions || !images)
    return {};
  if (mode != "avg" && mode != "max")
    return b.fail("attribute 'mode' is " + quoted(mode), "it is avg or max");
  if (transform != "half_pixel" && transform != "output_half_pixel")
    return b.fail("attribute 'coordinate_transformation_mode' is " + quoted(transform),
                  "it is half_pixel or output_half_pixel");
  if (b.rank(x) != 4 || !takeRegions(b, regions) || b.rank(images) != 1 || height < 1 || width < 1)
    return b.fail("regions " + describe(b.shape(regions)) + " of images " + describe(b.shape(x)),
                  "they are [regions, 4] of [n, c, h, w]");
  bool halfPixel = transform == "half_pixel";
  auto corner = [&](int64_t i) {
    Value at = b.mul(b.squeeze(b.narrow(regions, 1, i, i + 1), {1}), scale);
    return halfPixel ? b.sub(at, 0.5) : at;
  };
  Bins rows = binsOf(n, b, corner(1), corner(3), height, ratio, halfPixel);
  Bins columns = binsOf(n, b, corner(0), corner(2), width, ratio, halfPixel);
  // [regions, 1, rows, columns, row samples, column samples]
  auto ofRow = [&](Value v) { return b.unsqueeze(v, {3, 5}); };
  auto ofColumn = [&](Value v) { return b.unsqueeze(v, {2, 4}); };
  Value y = ofRow(rows.places), left = ofColumn(columns.places), isUsed, isSample;
  llvm::SmallVector<Value> places;
  for (auto [i, place] : llvm::enumerate(llvm::SmallVector<Value>{y, left})) {
    Value size = b.cast(b.size(b.dim(x, 2 + i)), b.element(place));
    Value fits = b.bitAnd(b.greaterEqual(place, -1), b.lessEqual(place, size));
    isUsed = isUsed ? b.bitAnd(isUsed, fits) : fits;
    places.push_back(b.minimum(b.maximum(place, 0), b.sub(size, 1)));
  }
  if (rows.isSample)
    isSample = b.bitAnd(ofRow(rows.isSample), ofColumn(columns.isSample));
  Sampling how{Interpolation::Linear, Outside::Border, /*alignCorners=*/true};
  Value image = b.reshape(b.cast(images, b.int64()), {b.dim(images, 0), 1, 1, 1, 1, 1});
  Neighbours near = neighboursAt(b, x, image, places, how);
  if (!near.values)
    return {};
  auto over = [&](Value v) { return b.unsqueeze(v, {0, 1}); };
  Value shares = b.where(over(isUsed), b.mul(near.values, near.weights), 0);
  Value count = b.maximum(b.mul(b.maximum(rows.count, 0), b.maximum(columns.count, 0)), 1);
  if (mode == "avg") {
    if (isSample)
      shares = b.where(over(isSample), shares, 0);
    return b.div(b.sum(shares, {0, 1, 6, 7}), count);
  }
  if (isSample)
    shares = b.where(over(isSample), shares, -std::numeric_limits<double>::infinity());
  Value largest = b.max(shares, {0, 1, 6, 7});
  if (isSample) // 0 without a sample
    largest = b.where(b.greater(b.minimum(rows.count, columns.count), 0), largest, 0);
  return largest;
}

//===----------------------------------------------------------------------===//
// MaxRoiPool
//===----------------------------------------------------------------------===//

/// Halves away from 0, as C's round does.
static Value roundHalfAway(TensorBuilder &b, Value x) {
  Value whole = b.trunc(x);
  return b.where(b.less(b.abs(b.sub(x, whole)), 0.5), whole, b.add(whole, b.sign(x)));
}

/// Along one axis: the elements of each region's bins that may exist, [regions, 1, bins, elements], and which do.
/// Corners are in elements of the image, and the last one is within the region.
static std::pair<Value, Value> elementsOf(Node &n, TensorBuilder &b, Value begin, Value end, int64_t bins, Expr size,
                                          llvm::StringRef what) {
  Shape each{b.dim(begin, 0), Expr(1), Expr(1), Expr(1)};
  Value length = b.maximum(b.add(b.sub(end, begin), 1), 1);
  Value bin = b.reshape(b.div(length, bins), each), last = b.cast(b.size(size), b.element(begin));
  Value place = b.cast(b.reshape(b.arange(bins, b.int64()), {Expr(1), Expr(1), Expr(bins), Expr(1)}), b.element(begin));
  auto within = [&](Value corner) { return b.minimum(b.maximum(b.add(corner, b.reshape(begin, each)), 0), last); };
  Value first = within(b.floor(b.mul(place, bin))), past = within(b.ceil(b.mul(b.add(place, 1), bin)));
  Value largest = b.maximum(b.cast(b.max(b.sub(past, first), {0, 1, 2, 3}), b.int64()), 1);
  Expr most = n.importer().bind(n.scope().prefix() + n.proto().output(0) + "." + what.str(), largest, b);
  Value step = b.cast(b.reshape(b.arange(most, b.int64()), {Expr(1), Expr(1), Expr(1), most}), b.element(begin));
  Value element = b.add(first, step);
  return {element, b.less(element, past)};
}

/// The largest element in each bin of regions [image, x, y, x, y]; 0 in one without elements.
static Value maxRoiPool(Node &n, TensorBuilder &b) {
  Value x = n.input(0), regions = n.input(1);
  llvm::SmallVector<int64_t> bins = n.integers("pooled_shape");
  double scale = n.real("spatial_scale", 1);
  if (!x || !regions)
    return {};
  if (bins.size() != 2 || bins[0] < 1 || bins[1] < 1)
    return b.fail("attribute 'pooled_shape' is not two sizes", "give a height and a width");
  if (!b.isFloat(x) || b.rank(x) != 4 || !takeRegions(b, regions, 5))
    return b.fail("regions " + describe(b.shape(regions)) + " of images " + describe(b.shape(x)),
                  "they are [regions, 5] of floats [n, c, h, w]");
  mlir::Type own = b.element(x);
  regions = b.cast(regions, own.isF64() ? own : b.float32()); // narrower ones don't hold all places
  auto column = [&](int64_t i) { return b.squeeze(b.narrow(regions, 1, i, i + 1), {1}); };
  auto corner = [&](int64_t i) { return roundHalfAway(b, b.mul(column(i), scale)); };
  auto [row, isRow] = elementsOf(n, b, corner(2), corner(4), bins[0], b.dim(x, 2), "rows");
  auto [place, isPlace] = elementsOf(n, b, corner(1), corner(3), bins[1], b.dim(x, 3), "columns");
  // [regions, 1, rows, columns, elements of a row, of a column]
  auto ofRow = [&](Value v) { return b.unsqueeze(v, {3, 5}); };
  auto ofColumn = [&](Value v) { return b.unsqueeze(v, {2, 4}); };
  Value image = b.reshape(b.cast(column(0), b.int64()), {b.dim(regions, 0), 1, 1, 1, 1, 1});
  Sampling how{Interpolation::Nearest, Outside::Border, /*alignCorners=*/true};
  Neighbours near = neighboursAt(b, x, image, {ofRow(row), ofColumn(place)}, how);
  if (!near.values)
    return {};
  // NaN and -infinity count as the least finite number, which is ONNX Runtime's for the latter.
  double least =
      llvm::APFloat::getLargest(mlir::cast<mlir::FloatType>(own).getFloatSemantics(), true).convertToDouble();
  Value isElement = b.bitAnd(ofRow(isRow), ofColumn(isPlace));
  Value counts = b.bitAnd(b.unsqueeze(isElement, {0, 1}), b.greater(near.values, least));
  Value largest = b.max(b.where(counts, near.values, least), {0, 1, 6, 7});
  Value isEmpty = b.logicalNot(b.max(isElement, {4, 5}));
  return b.where(isEmpty, b.constantLike(largest, 0), largest);
}

//===----------------------------------------------------------------------===//
// CropAndResize
//===----------------------------------------------------------------------===//

/// Along one axis: places for `count` elements of each region, from the first corner to the second, or for one in the
/// middle: [regions, 1, count].
static Value cropPlaces(TensorBuilder &b, Value begin, Value end, Expr size, Expr count) {
  mlir::Type real = b.element(begin);
  Value last = b.cast(b.size(size - 1), real), length = b.mul(b.sub(end, begin), last);
  Value step = b.div(length, b.cast(b.size(view::maximum(count - 1, 1)), real));
  Value evenly = b.add(b.unsqueeze(b.mul(begin, last), {1}),
                       b.mul(b.cast(b.arange(count, b.int64()), real), b.unsqueeze(step, {1})));
  Value middle = b.unsqueeze(b.mul(b.mul(b.add(begin, end), 0.5), last), {1});
  return b.unsqueeze(b.where(b.greater(b.size(count), 1), evenly, middle), {1});
}

/// Regions [y, x, y, x], from 0 to 1, of images, each at one size.
static Value cropAndResize(Node &n, TensorBuilder &b) {
  Value x = n.input(0), regions = n.input(1), images = n.input(2);
  std::optional<Elements> size = n.sizes(3);
  std::string mode = n.string("mode", "bilinear");
  double outside = n.real("extrapolation_value", 0);
  if (!x || !regions || !images || !size)
    return {};
  if (mode != "bilinear" && mode != "nearest")
    return b.fail("attribute 'mode' is " + quoted(mode), "it is bilinear or nearest");
  if (b.rank(x) != 4 || !takeRegions(b, regions) || b.rank(images) != 1 || size->size() != 2)
    return b.fail("regions " + describe(b.shape(regions)) + " of images " + describe(b.shape(x)),
                  "they are [regions, 4] of [n, c, h, w], and the size is two numbers");
  auto corner = [&](int64_t i) { return b.squeeze(b.narrow(regions, 1, i, i + 1), {1}); };
  llvm::SmallVector<Value> places;
  Value isInside;
  for (int64_t i = 0; i < 2; ++i) {
    Value place = cropPlaces(b, corner(i), corner(2 + i), b.dim(x, 2 + i), (*size)[i]);
    place = b.unsqueeze(place, {i == 0 ? 3 : 2}); // [regions, 1, rows, 1] and [regions, 1, 1, columns]
    Value last = b.cast(b.size(b.dim(x, 2 + i) - 1), b.element(place));
    Value fits = b.bitAnd(b.greaterEqual(place, 0), b.lessEqual(place, last));
    isInside = isInside ? b.bitAnd(isInside, fits) : fits;
    places.push_back(mode == "nearest" ? b.floor(b.add(place, 0.5)) : place); // halves up
  }
  Sampling how{mode == "nearest" ? Interpolation::Nearest : Interpolation::Linear, Outside::Border,
               /*alignCorners=*/true};
  Value image = b.reshape(b.cast(images, b.int64()), {b.dim(images, 0), 1, 1, 1});
  Neighbours near = neighboursAt(b, x, image, places, how);
  if (!near.values)
    return {};
  Value y = near.weights ? b.sum(b.mul(near.values, near.weights), {0, 1}) : b.squeeze(near.values, {0, 1});
  return b.where(isInside, y, outside);
}

//===----------------------------------------------------------------------===//
// DeformConv
//===----------------------------------------------------------------------===//

/// A convolution in which an offset moves each tap's place.
static Value deformConv(Node &n, TensorBuilder &b) {
  Value x = n.input(0), w = n.input(1), offset = n.input(2), bias = n.optionalInput(3), mask = n.optionalInput(4);
  int64_t groups = n.integer("group", 1), offsetGroups = n.integer("offset_group", 1);
  llvm::SmallVector<int64_t> dilations = n.integers("dilations"), strides = n.integers("strides"),
                             pads = n.integers("pads");
  n.ignore({"kernel_shape"}); // w says it
  if (!x || !w || !offset)
    return {};
  int64_t axes = b.rank(x) - 2;
  if (axes < 1 || b.rank(w) != axes + 2 || b.rank(offset) != axes + 2 || groups < 1 || offsetGroups < 1)
    return b.fail("offsets " + describe(b.shape(offset)) + " and weights " + describe(b.shape(w)) + " for " +
                  describe(b.shape(x)));
  dilations.resize(axes, 1);
  strides.resize(axes, 1);
  pads.resize(2 * axes, 0);
  Shape out = b.shape(offset), kernel = b.shape(w), from = b.shape(x);
  out.erase(out.begin(), out.begin() + 2);
  kernel.erase(kernel.begin(), kernel.begin() + 2);
  // [n, groups, kernel…, axis, out…], and each group's places for all of its channels: [n, c, kernel…, out…].
  auto shapeOf = [&](bool hasAxis) {
    Shape shape{from[0], Expr(offsetGroups)};
    shape.append(kernel);
    if (hasAxis)
      shape.push_back(axes);
    shape.append(out);
    return shape;
  };
  Expr channels = view::floorDiv(from[1], offsetGroups);
  offset = b.reshape(offset, shapeOf(true));
  int64_t rank = 2 + 2 * axes;
  llvm::SmallVector<Value> places;
  for (int64_t i = 0; i < axes; ++i) {
    Value moved = b.squeeze(b.narrow(offset, 2 + axes, i, i + 1), {2 + axes});
    auto along = [&](int64_t axis, Expr count, int64_t step) {
      Shape shape(rank, Expr(1));
      shape[axis] = count;
      return b.cast(b.mul(b.reshape(b.arange(count, b.int64()), shape), step), b.element(x));
    };
    Value tap = b.sub(b.add(along(2 + axes + i, out[i], strides[i]), along(2 + i, kernel[i], dilations[i])), pads[i]);
    places.push_back(b.add(b.repeatInterleave(moved, 1, channels), tap));
  }
  Value taps = sample(b, x, places, {Interpolation::Linear, Outside::Zeros, /*alignCorners=*/true});
  if (mask)
    taps = b.mul(taps, b.repeatInterleave(b.reshape(mask, shapeOf(false)), 1, channels));
  // Per group a product of [m, c·kernel] with [c·kernel, out].
  Expr inner = b.dim(w, 1) * view::product(kernel), outer = view::floorDiv(b.dim(w, 0), groups);
  Value product =
      b.matmul(b.reshape(w, {groups, outer, inner}), b.reshape(taps, {from[0], groups, inner, view::product(out)}));
  Shape result{from[0], b.dim(w, 0)};
  result.append(out);
  product = b.reshape(product, result);
  return bias ? b.add(product, b.perChannel(product, bias)) : product;
}

void kiln::import::onnx::addSampling(Registry &r) {
  r.add("AffineGrid", 20, affineGrid);
  r.add("DeformConv", 19, deformConv);
  r.add("GridSample", 16, gridSample);
  r.add("MaxRoiPool", 1, maxRoiPool);
  r.add("RoiAlign", 10, roiAlign);
  r.add("com.microsoft", "CropAndResize", 1, cropAndResize);
  r.add("com.microsoft", "GridSample", 1, gridSample);
}
