//===- Indexing.cpp - Slices and gathers ------------------------------------===//
//
// Slice, Gather and similar operators read elements at places which may be known at import, may be sizes, or may be
// data; the more is known, the less they cost. Elements known at import are picked right away, as a shape's are. A
// single known index, or bounds that are expressions, make a slice: a view, which reads no index. Only if a Slice's
// axes or steps are data, or if a bound may count from the end of an axis that is walked backwards, are its elements
// gathered at computed places.
//
//===------------------------------------------------------------------------===//
#include "import/Order.h"
#include "import/onnx/Fold.h"
#include "import/onnx/Importer.h"
#include "import/onnx/Registry.h"
#include "import/onnx/file/ModelFile.h"
#include "import/onnx/tensor/DataSizes.h"

using namespace kiln;
using namespace kiln::import;
using namespace kiln::import::onnx;
using llvm::Twine;
using mlir::Value;

namespace {
struct Bounds {
  Elements begin, end;
  llvm::SmallVector<int64_t> axes, steps;
};
} // namespace

/// The number of axes in a Slice: the length of the first of its lists whose length is known at import; -1 if there is
/// none.
static int64_t countOfLists(Node &n) {
  for (int index : {3, 1, 2, 4})
    if (n.has(index))
      if (const Tensor &list = n.tensor(index); list && list.type.hasStaticShape())
        return list.type.getNumElements();
  return -1;
}

/// One of a Slice's lists of bounds or steps, which may count from the end. If its own length is unknown, it is as long
/// as the others.
static std::optional<Elements> listInput(Node &n, int index) {
  int64_t count = countOfLists(n), most = view::kMaxDim;
  std::optional<Elements> list = count < 0 ? n.numbers(index, -most, most, /*clamps=*/true)
                                           : n.countedNumbers(index, count, -most, most, /*clamps=*/true);
  // ONNX's "to the end" and "from the end" are numbers past any size.
  if (list)
    for (Expr &number : *list)
      if (number.isConst())
        number = std::clamp(number.constant(), -most, most);
  return list;
}

/// Whether a slice's bounds are inputs. They are attributes before opset 10, but in an experimental operator.
static bool areBoundsInputs(Node &n) { return n.opset() >= 10 || n.op() == "DynamicSlice"; }

/// The contents of Slice's attributes or inputs; nullopt after a failure.
static std::optional<Bounds> boundsOf(Node &n) {
  Bounds bounds;
  std::optional<llvm::SmallVector<int64_t>> axes, steps;
  if (!areBoundsInputs(n)) {
    for (int64_t begin : n.integers("starts"))
      bounds.begin.push_back(begin);
    for (int64_t end : n.integers("ends"))
      bounds.end.push_back(end);
    if (n.hasAttr("axes"))
      axes = n.integers("axes");
  } else {
    std::optional<Elements> begin = listInput(n, 1), end = listInput(n, 2);
    if (!begin || !end)
      return std::nullopt;
    bounds.begin = *begin;
    bounds.end = *end;
    if (n.has(3) && !(axes = n.integers(3, "axes")))
      return std::nullopt;
    if (n.has(4) && !(steps = n.integers(4, "steps")))
      return std::nullopt;
  }
  size_t count = bounds.begin.size();
  bounds.axes = axes ? *axes : llvm::to_vector(llvm::seq<int64_t>(0, count));
  bounds.steps = steps ? *steps : llvm::SmallVector<int64_t>(count, 1);
  if (bounds.end.size() != count || bounds.axes.size() != count || bounds.steps.size() != count) {
    n.fail("starts, ends, axes and steps differ in length");
    return std::nullopt;
  }
  return bounds;
}

/// One element of a list known at import, or several; from a list of lists, whole ones.
static Tensor sliceElements(const Tensor &input, const Bounds &bounds) {
  llvm::SmallVector<int64_t> shape(input.type.getShape());
  int64_t size = shape[0], step = bounds.steps[0];
  bool isFirst = bounds.axes[0] == 0 || bounds.axes[0] == -input.type.getRank();
  int64_t length = size == 0 ? 1 : int64_t(input.elements->size()) / size;
  if (!isFirst || length == 0)
    return {};
  if (!bounds.begin[0].isConst() || !bounds.end[0].isConst() || step == 0 || step == INT64_MIN)
    return {};
  auto within = [&](int64_t bound, int64_t low, int64_t high) {
    return std::clamp(bound < 0 ? std::max(bound, -size - 1) + size : bound, low, high);
  };
  int64_t low = step > 0 ? 0 : -1, high = step > 0 ? size : size - 1;
  int64_t begin = within(bounds.begin[0].constant(), low, high), end = within(bounds.end[0].constant(), low, high);
  Elements elements;
  for (int64_t i = begin; step > 0 ? i < end : i > end; i += std::clamp(step, -size - 1, size + 1))
    elements.append(input.elements->begin() + i * length, input.elements->begin() + (i + 1) * length);
  shape[0] = int64_t(elements.size()) / length;
  return Tensor(input.element(), shape, elements);
}

/// Whether a bound counts from the end is known at run time.
static bool mayCountFromEnd(Expr bound) { return !bound.isConst() && bound.min() < 0 && bound.max() >= 0; }

/// A slice whose axes or steps are data: for each axis, elements at computed places.
static Tensor sliceAtPlaces(Node &n, TensorBuilder &b) {
  Value x = n.input(0);
  int64_t rank = b.rank(x), most = view::kMaxDim;
  std::optional<Elements> begins = listInput(n, 1), ends = listInput(n, 2), axes = Elements(), steps;
  if (!x || !begins || !ends)
    return {};
  size_t count = begins->size();
  if (n.has(3))
    axes = axesInput(n, 3, "axis", rank);
  else
    llvm::append_range(*axes, llvm::seq<int64_t>(0, count));
  steps = n.has(4) ? listInput(n, 4) : Elements(count, Expr(1));
  if (!axes || !steps)
    return {};
  if (ends->size() != count || axes->size() != count || steps->size() != count)
    return n.fail("starts, ends, axes and steps differ in length");
  for (int64_t i = 0; i < rank; ++i) {
    // The list's entry for this axis; without one, all of it.
    Expr size = b.dim(x, i), begin = 0, end = size, step = 1;
    for (size_t j = 0; j < count; ++j) {
      Expr isMeant = isEqual((*axes)[j], i);
      begin = choose(isMeant, (*begins)[j], begin);
      end = choose(isMeant, (*ends)[j], end);
      step = choose(isMeant, (*steps)[j], step);
    }
    if (begin.isConst(0) && end == size && step.isConst(1))
      continue;
    step = n.named("step", step, -most, most);
    if (!b.check(Expr(1) - isEqual(step, 0), "a slice has the step 0; give it another"))
      return {};
    Expr forward = view::less(0, step), low = forward - 1, high = size - 1 + forward;
    auto within = [&](Expr bound) {
      return view::maximum(view::minimum(bound + view::less(bound, 0) * size, high), low);
    };
    begin = n.named("begin", within(n.named("begin", begin, -most, most)), -1, most);
    end = n.named("end", within(n.named("end", end, -most, most)), -1, most);
    Expr span = choose(forward, end - begin, begin - end), stride = choose(forward, step, -step);
    Expr length = n.named("length", view::ceilDiv(view::maximum(span, 0), view::maximum(stride, 1)));
    Value places = b.add(b.mul(b.arange(length, b.int64()), b.size(step)), b.size(begin));
    x = b.gather(x, places, i);
  }
  return x;
}

/// A slice with a positive step and a bound that is data, which may count from the end. Little is known of the
/// difference of two such bounds, so the number of elements between them gets a symbol with the bounds of a size.
static Value sliceByData(Node &n, TensorBuilder &b, Value x, int64_t axis, const Slice &part) {
  Expr size = b.dim(x, axis);
  auto within = [&](Expr bound) {
    if (bound.isConst()) // may be as far past the ends as numbers go
      bound = std::clamp(bound.constant(), -view::kMaxDim, view::kMaxDim);
    return view::maximum(view::minimum(bound + view::less(bound, 0) * size, size), 0);
  };
  Expr begin = within(*part.begin);
  if (mayCountFromEnd(*part.begin))
    begin = n.named("begin", begin, 0, size.max());
  Expr length = n.named("length", view::maximum(within(*part.end) - begin, 0), 0, size.max());
  return b.stride(b.narrow(x, axis, begin, begin + length), axis, part.step);
}

static Tensor slice(Node &n, TensorBuilder &b) {
  auto isData = [&](int index) { return n.has(index) && n.tensor(index) && !n.elements(index); };
  if (areBoundsInputs(n) && (isData(3) || isData(4)))
    return sliceAtPlaces(n, b);
  const Tensor &input = n.tensor(0);
  std::optional<Bounds> bounds = boundsOf(n);
  if (!input || !bounds)
    return {};
  // A constant of several axes may be a weight, which stays one.
  bool isList = input.type.getRank() == 1 || (input.type.getRank() == 2 && !input.data);
  if (input.exactElements() && isList && bounds->axes.size() == 1)
    if (Tensor folded = sliceElements(input, *bounds))
      return folded;
  Value x = n.input(0);
  if (!b.normalizeAxes(bounds->axes, b.rank(x)))
    return {};
  for (auto &&[begin, end, axis, step] : llvm::zip(bounds->begin, bounds->end, bounds->axes, bounds->steps)) {
    Slice part{begin, end, step};
    if (mayCountFromEnd(begin) || mayCountFromEnd(end)) {
      if (step < 0)
        return sliceAtPlaces(n, b);
      if (!(x = sliceByData(n, b, x, axis, part)))
        return {};
      continue;
    }
    // ONNX's "to the end" and "from the end" are numbers past any size.
    if (step > 0 && end.isConst() && end.constant() >= view::kMaxDim)
      part.end = std::nullopt;
    if (step < 0 && begin.isConst() && begin.constant() >= view::kMaxDim)
      part.begin = std::nullopt;
    x = b.slice(x, axis, part);
  }
  return x;
}

static Tensor gather(Node &n, TensorBuilder &b) {
  int64_t axis = n.integer("axis", 0);
  const Tensor &input = n.tensor(0), &indices = n.tensor(1);
  if (!input || !indices)
    return {};
  if (input.exactElements() && input.type.getRank() == 1 && indices.elements && (axis == 0 || axis == -1)) {
    int64_t size = input.elements->size();
    Elements elements;
    for (Expr index : *indices.elements) {
      if (!index.isConst())
        break;
      int64_t at = index.constant() < 0 ? index.constant() + size : index.constant();
      if (at < 0 || at >= size)
        return n.fail("index " + Twine(index.constant()) + " is out of range for an axis of size " + Twine(size));
      elements.push_back((*input.elements)[at]);
    }
    if (elements.size() == indices.elements->size())
      return Tensor(input.element(), indices.type.getShape(), elements);
  }
  // One element known at import is a slice: no index is read at run time.
  if (indices.elements && indices.elements->size() == 1 && input.type.getRank() > 0) {
    Value x = n.input(0);
    std::optional<int64_t> at = b.normalizeAxis(axis, b.rank(x));
    if (!at)
      return {};
    Expr index = indices.elements->front(), size = b.dim(x, *at);
    if (index.max() < 0)
      index = index + size;
    if (index.min() >= 0 && view::provablyLess(index, size)) {
      Shape to = b.shape(x), between = indices.shape();
      to.erase(to.begin() + *at);
      to.insert(to.begin() + *at, between.begin(), between.end());
      return b.reshape(b.narrow(x, *at, index, index + 1), to);
    }
  }
  return b.take(n.input(0), n.input(1), axis);
}

static Value gatherElements(Node &n, TensorBuilder &b) {
  return b.gatherElements(n.input(0), n.input(1), n.integer("axis", 0));
}

static Value gatherND(Node &n, TensorBuilder &b) {
  int64_t batch = n.opset() < 12 ? 0 : n.integer("batch_dims", 0);
  return b.gatherND(n.input(0), n.input(1), batch);
}

static Tensor oneHot(Node &n, TensorBuilder &b) {
  int64_t axis = n.integer("axis", -1);
  Value indices = n.input(0), values = n.input(2);
  const Tensor &given = n.tensor(1);
  if (!indices || !values || !given)
    return {};
  std::optional<Elements> depth;
  if (std::optional<double> number = n.number(1); number && *number >= 0 && *number <= double(view::kMaxDim))
    depth = Elements{int64_t(*number)};
  else if (b.isFloat(n.input(1)))
    depth = Elements{
        n.importer().bind(n.scope().prefix() + n.proto().input(1), b.cast(b.reshape(n.input(1), {}), b.int64()), b)};
  else
    depth = n.sizes(1);
  if (!depth)
    return {};
  if (depth->size() != 1 || b.rank(values) != 1 || !(values = b.takeSize(values, 0, 2, "choose one of two values")))
    return n.fail("depth or values have the wrong shape", "depth is one number, values are two");
  if (!b.isInteger(indices))
    indices = b.cast(indices, b.int64());
  Value off = b.reshape(b.narrow(values, 0, 0, 1), {}), on = b.reshape(b.narrow(values, 0, 1, 2), {});
  if (!off || !on)
    return {};
  return b.oneHot(indices, depth->front(), axis, on, off, b.element(values));
}

/// For each sequence, the first elements backwards, as many as it has; the rest stays.
static Tensor reverseSequence(Node &n, TensorBuilder &b) {
  Value x = n.input(0), lengths = n.input(1);
  int64_t time = n.integer("time_axis", 0), batch = n.integer("batch_axis", 1);
  std::optional<int64_t> along = b.normalizeAxis(time, b.rank(x)), across = b.normalizeAxis(batch, b.rank(x));
  if (!x || !lengths || !along || !across)
    return {};
  if (b.rank(lengths) != 1 || *along == *across)
    return n.fail("lengths " + describe(b.shape(lengths)) + " for axes " + Twine(time) + " and " + Twine(batch),
                  "they are a list, for two axes");
  Shape steps(b.rank(x), Expr(1)), rows = steps;
  steps[*along] = b.dim(x, *along);
  rows[*across] = b.dim(x, *across);
  Value step = b.reshape(b.arange(steps[*along], b.int64()), steps);
  Value length = b.reshape(b.cast(lengths, b.int64()), rows);
  Value from = b.where(b.less(step, length), b.sub(b.sub(length, 1), step), step);
  return b.gatherElements(x, b.expand(from, b.shape(x)), *along);
}

/// The largest (or smallest) elements and their places, in order; of equal ones the first comes first.
static Tensors topK(Node &n, TensorBuilder &b) {
  Value x = n.input(0);
  int64_t axis = n.integer("axis", -1);
  bool largest = n.opset() < 11 || n.flag("largest", true);
  if (n.opset() >= 11)
    n.ignore({"sorted"}); // in order is an order too
  std::optional<int64_t> at = b.normalizeAxis(axis, b.rank(x));
  std::optional<Elements> count = Elements();
  if (n.opset() < 10)
    count->push_back(n.integer("k"));
  else
    count = n.sizes(1);
  if (!x || !at || !count)
    return {};
  if (count->size() != 1)
    return n.fail("input 'K' is not one number"), Tensors();
  Expr size = b.dim(x, *at), k = count->front();
  if (!b.check(view::greaterEqual(size, k),
               "the " + k.print() + " largest of an axis of size " + size.print() + "; ask for fewer"))
    return {};
  Value index = firstPlaces(b, b.transpose(x, *at, -1), k, largest);
  index = b.transpose(index, *at, -1);
  return {b.gatherElements(x, index, *at), index};
}

/// Rows of a table; PyTorch's other inputs are for training.
static Value torchEmbedding(Node &n, TensorBuilder &b) { return b.take(n.input(0), n.input(1), 0); }

static Tensor trilu(Node &n, TensorBuilder &b) {
  bool upper = n.flag("upper", true);
  Expr diagonal = 0;
  if (n.has(1)) {
    std::optional<Elements> k = n.numbers(1, -view::kMaxDim, view::kMaxDim, /*clamps=*/true);
    if (!k)
      return {};
    if (k->size() != 1)
      return n.fail("input 'k' is not a diagonal");
    diagonal = k->front();
  }
  return upper ? b.triu(n.input(0), diagonal) : b.tril(n.input(0), diagonal);
}

void kiln::import::onnx::addIndexing(Registry &r) {
  r.add("DynamicSlice", 1, slice);
  r.add("Gather", 1, gather);
  r.add("GatherElements", 11, gatherElements);
  r.add("GatherND", 11, gatherND);
  r.add("OneHot", 9, oneHot);
  r.add("ReverseSequence", 10, reverseSequence);
  r.add("Slice", 1, slice);
  r.add("TopK", 1, topK);
  r.add("Trilu", 14, trilu);
  r.add("com.microsoft", "GatherND", 1, gatherND);
  r.add("com.microsoft", "TorchEmbedding", 1, torchEmbedding);
  r.add("com.microsoft", "Trilu", 1, trilu);
}
