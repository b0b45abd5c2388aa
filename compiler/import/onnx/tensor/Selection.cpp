//===- Selection.cpp - As many results as the data has ----------------------===//
//
// Which elements are other than 0, which rows are different, which boxes are worth keeping: the host finds out
// (kiln/call.h) and gives their number. The number becomes a symbol, and the result is a tensor of that size.
//
//===----------------------------------------------------------------------===//
#include "import/Scatter.h"
#include "import/onnx/Importer.h"
#include "import/onnx/Registry.h"
#include "ir/base/DType.h"

using namespace kiln;
using namespace kiln::import;
using namespace kiln::import::onnx;
using llvm::Twine;
using mlir::Value;

/// The first elements of results of a call, their number given by the last result; empty after a failure.
static llvm::SmallVector<Value> counted(Node &n, TensorBuilder &b, llvm::SmallVector<Value> results) {
  Value count = results.pop_back_val();
  if (!count)
    return {};
  Expr length = n.importer().bind(n.scope().prefix() + n.proto().output(0) + ".count", count, b);
  for (Value &result : results)
    result = b.narrow(result, 0, 0, length);
  return results;
}

/// The places of the elements that are true, in order.
static Value placesOf(Node &n, TensorBuilder &b, Value mask) {
  if (!mask)
    return {};
  Expr count = view::product(b.shape(mask));
  llvm::SmallVector<Value> results =
      counted(n, b,
              callHost(b, "select", {tensorType({count}, b.int64()), tensorType({}, b.int64())},
                       {b.reshape(mask, {count})}, {count}));
  return results.empty() ? Value() : results[0];
}

static Value nonZero(Node &n, TensorBuilder &b) {
  Value x = n.input(0);
  if (!x)
    return {};
  Value places = placesOf(n, b, b.isBool(x) ? x : b.notEqual(x, 0));
  // A scalar has no coordinates: [0, count].
  llvm::SmallVector<Value> coordinates;
  for (int64_t axis = b.rank(x) - 1; axis >= 0; --axis) {
    Value size = b.size(b.dim(x, axis));
    coordinates.insert(coordinates.begin(), b.floorMod(places, size));
    places = b.floorDiv(places, size);
  }
  if (coordinates.empty())
    return places ? b.constant(0, b.int64(), {Expr(0), b.dim(places, 0)}) : Value();
  return b.stack(coordinates, 0);
}

/// The node's axis of x; without one x becomes a list. nullopt after a failure.
static std::optional<int64_t> axisOrList(Node &n, TensorBuilder &b, Value &x) {
  if (n.hasAttr("axis"))
    return b.normalizeAxis(n.integer("axis"), b.rank(x));
  if (x)
    x = b.reshape(x, {view::product(b.shape(x))});
  return 0;
}

static Value compress(Node &n, TensorBuilder &b) {
  Value x = n.input(0), condition = n.input(1);
  std::optional<int64_t> axis = axisOrList(n, b, x);
  if (!x || !condition || !axis)
    return {};
  if (!n.hasAttr("axis"))
    condition = b.reshape(condition, {view::product(b.shape(condition))});
  if (b.rank(condition) != 1)
    return b.fail("a condition " + describe(b.shape(condition)), "it is a list");
  // It may be shorter than the axis; if it is longer, the rest is ignored.
  condition = b.narrow(condition, 0, 0, view::minimum(b.dim(condition, 0), b.dim(x, *axis)));
  return b.gather(x, placesOf(n, b, condition), *axis);
}

/// The different elements along an axis, the first place of each, the number of each place's element, and their counts.
static Tensors uniqueAlong(Node &n, TensorBuilder &b, Value x, int64_t axis, bool isSorted) {
  Value rows = b.transpose(x, axis, 0);
  if (!rows)
    return {};
  Shape shape = b.shape(rows);
  Expr count = shape[0], width = view::product(TensorBuilder::Sizes(shape).drop_front());
  mlir::RankedTensorType list = tensorType({count}, b.int64());
  llvm::SmallVector<Value> found = callHost(b, "unique", {list, list, list, tensorType({}, b.int64())}, {rows},
                                            {count, width, int64_t(*dtypeOf(b.element(x))), int64_t(isSorted)});
  Value inverse = found[1];
  llvm::SmallVector<Value> kept = counted(n, b, {found[0], found[2], found[3]});
  if (kept.empty())
    return {};
  return {b.gather(x, kept[0], axis), kept[0], inverse, kept[1]};
}

static Tensors unique(Node &n, TensorBuilder &b) {
  Value x = n.input(0);
  bool isSorted = n.flag("sorted", true);
  std::optional<int64_t> axis = axisOrList(n, b, x);
  return x && axis ? uniqueAlong(n, b, x, *axis, isSorted) : Tensors();
}

/// ONNX Runtime's own: for a list, in order of occurrence, without the first places.
static Tensors uniqueOfList(Node &n, TensorBuilder &b) {
  Tensors found = uniqueAlong(n, b, n.input(0), 0, /*isSorted=*/false);
  if (!found.empty())
    found.erase(found.begin() + 1);
  return found;
}

static Value nonMaxSuppression(Node &n, TensorBuilder &b) {
  Value boxes = n.input(0), scores = n.input(1);
  bool isCentered = n.flag("center_point_box", false), hasThreshold = n.has(4);
  auto scalar = [&](int index, mlir::Type element) {
    Value given = n.optionalInput(index);
    return given ? b.reshape(b.cast(given, element), {}) : b.constant(0, element);
  };
  Value most = scalar(2, b.int64()), overlap = scalar(3, b.float32()), least = scalar(4, b.float32());
  if (!boxes || !scores)
    return {};
  Shape given = b.shape(boxes);
  boxes = given.size() == 3 && b.rank(scores) == 3 ? b.takeSize(boxes, 2, 4, "read boxes") : Value();
  if (!boxes)
    return b.fail("boxes " + describe(given) + " with scores " + describe(b.shape(scores)),
                  "they are [batches, boxes, 4] with [batches, classes, boxes]");
  Expr batches = b.dim(scores, 0), classes = b.dim(scores, 1), count = b.dim(scores, 2);
  boxes = b.reshape(b.cast(boxes, b.float32()), {batches, count, 4});
  Expr room = batches * classes * count;
  llvm::SmallVector<Value> results =
      counted(n, b,
              callHost(b, "suppress", {tensorType({room, Expr(3)}, b.int64()), tensorType({}, b.int64())},
                       {boxes, b.cast(scores, b.float32()), most, overlap, least},
                       {batches, classes, count, int64_t(isCentered), int64_t(hasThreshold)}));
  return results.empty() ? Value() : results[0];
}

void kiln::import::onnx::addSelections(Registry &r) {
  r.add("Compress", 9, compress);
  r.add("NonMaxSuppression", 10, nonMaxSuppression);
  r.add("NonZero", 9, nonZero);
  r.add("Unique", 11, unique);
  r.add("com.microsoft", "Unique", 1, uniqueOfList);
}
