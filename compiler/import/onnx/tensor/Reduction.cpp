//===- Reduction.cpp - Reductions along axes --------------------------------===//
//
// The sums themselves are TensorBuilder's; the operators differ in how they name their axes. These were an attribute
// first and are an input since opset 13 or 18; an empty list means all axes, or none by noop_with_empty_axes. As an
// input they may be data, and then it is open which axes of the result are left. For this each axis is split into two
// by sizes that the program computes, one of size 1, and always the same ones of them are reduced (DataSizes.h). A
// reduction of a list that is known at import, as of a shape's sizes, is computed there.
//
//===------------------------------------------------------------------------===//
#include "import/onnx/Fold.h"
#include "import/onnx/Registry.h"
#include "import/onnx/tensor/DataSizes.h"

using namespace kiln;
using namespace kiln::import;
using namespace kiln::import::onnx;
using mlir::Value;

static bool isEmptyList(const Tensor &list) { return list.type.hasStaticShape() && list.type.getNumElements() == 0; }

/// The axes: an attribute, or from opset `byInput` on an input. None given are all, or with noop_with_empty_axes none.
static std::optional<llvm::SmallVector<int64_t>> reducedAxes(Node &n, TensorBuilder &b, Value x, int64_t byInput) {
  std::optional<llvm::SmallVector<int64_t>> axes = llvm::SmallVector<int64_t>();
  bool keepsAll = false;
  if (n.opset() < byInput) {
    axes = n.integers("axes");
  } else {
    keepsAll = n.flag("noop_with_empty_axes", false);
    if (n.has(1) && n.tensor(1) && !isEmptyList(n.tensor(1)))
      axes = n.integers(1, "axes");
  }
  if (axes && axes->empty() && !keepsAll)
    return b.allAxes(x);
  return axes;
}

using Reduce = Value (*)(TensorBuilder &b, Value x, llvm::ArrayRef<int64_t> axes, bool keepDims);

/// Over axes that are data, at least one.
static Tensor reduceByData(Node &n, TensorBuilder &b, Value x, Reduce function, bool keepDims) {
  n.ignore({"noop_with_empty_axes"});
  std::optional<Elements> axes = axesInput(n, 1, "axis", b.rank(x));
  if (!x || !axes)
    return {};
  int64_t rank = b.rank(x);
  if (int64_t(axes->size()) > rank)
    return n.fail(llvm::Twine(axes->size()) + " axes of " + describe(b.shape(x)), "name each once");
  llvm::SmallVector<Expr> named = namedAxes(*axes, rank);
  llvm::SmallVector<int64_t> inner;
  for (int64_t i = 0; i < rank; ++i)
    inner.push_back(2 * i + 1);
  Shape shape = b.shape(x);
  Value kept = b.cast(function(b, splitAxes(n, b, x, named), inner, /*keepDims=*/false), b.element(x));
  return keepDims ? kept : b.reshape(kept, shapeWithout(n, shape, named, axes->size()));
}

/// A reduction, and its form for a list of integers known at import.
static auto reduction(int64_t byInput, Reduce function, ElementFunction fold = nullptr) {
  return [=](Node &n, TensorBuilder &b) -> Tensor {
    const Tensor &input = n.tensor(0);
    bool keepDims = n.flag("keepdims", true);
    if (!input)
      return {};
    if (fold && input.exactElements() && input.type.getRank() == 1 && !input.elements->empty()) {
      Value none;
      std::optional<llvm::SmallVector<int64_t>> axes = reducedAxes(n, b, none, byInput);
      bool overAll = axes && (axes->size() == 1 ? (*axes)[0] == 0 || (*axes)[0] == -1 : axes->empty());
      std::optional<Expr> result = input.elements->front();
      for (Expr element : llvm::drop_begin(*input.elements))
        if (result && (result = fold({*result, element})) && !fitsInto(*result, input.element()))
          result = std::nullopt;
      bool keepsAll = axes && axes->empty() && n.flag("noop_with_empty_axes", false);
      if (overAll && !keepsAll && result)
        return Tensor(input.element(), keepDims ? llvm::ArrayRef<int64_t>(1) : llvm::ArrayRef<int64_t>(), {*result});
    }
    Value x = n.input(0);
    if (n.opset() >= byInput && n.has(1) && n.tensor(1) && !n.elements(1) && !isEmptyList(n.tensor(1)))
      return reduceByData(n, b, x, function, keepDims);
    std::optional<llvm::SmallVector<int64_t>> axes = reducedAxes(n, b, x, byInput);
    if (!axes)
      return {};
    // Narrow integers are summed in wider ones, but ONNX keeps the dtype.
    return b.cast(function(b, x, *axes, keepDims), input.element());
  };
}

static auto argExtreme(Value (TensorBuilder::*function)(Value, int64_t, bool, mlir::Type, bool)) {
  return [function](Node &n, TensorBuilder &b) {
    return (b.*function)(n.input(0), n.integer("axis", 0), n.flag("keepdims", true), b.int64(),
                         n.flag("select_last_index", false));
  };
}

/// The axis of x at input 1, which may be data; nullopt after a failure.
static std::optional<Expr> oneAxis(Node &n, TensorBuilder &b, Value x) {
  std::optional<Elements> axis = axesInput(n, 1, "axis", b.rank(x));
  if (!x || !axis)
    return std::nullopt;
  if (axis->size() == 1)
    return axis->front();
  n.fail("input 'axis' has " + llvm::Twine(axis->size()) + " elements", "it is one number");
  return std::nullopt;
}

/// Running sums or products of x in its own dtype.
static auto cumulative(Alu kind) {
  return [kind](Node &n, TensorBuilder &b) -> Tensor {
    Value x = n.input(0);
    bool exclusive = n.flag("exclusive", false), reverse = n.flag("reverse", false);
    std::optional<Expr> axis = oneAxis(n, b, x);
    if (!axis)
      return {};
    auto along = [&](Value from, int64_t axis) {
      Value wide = from ? b.cast(from, b.accumulator(b.element(from))) : Value();
      return b.cast(b.running(kind, wide, axis, exclusive, reverse), b.element(x));
    };
    return axis->isConst() ? along(x, axis->constant()) : b.reshape(along(aroundAxis(n, b, x, *axis), 1), b.shape(x));
  };
}

using Axes = llvm::ArrayRef<int64_t>;
using B = TensorBuilder;

/// Of integers by a division of integers, which is exact where a float would round.
static Value mean(B &b, Value x, Axes axes, bool keep) {
  std::optional<llvm::SmallVector<int64_t>> along = x ? b.normalizeAxes(axes, b.rank(x)) : std::nullopt;
  if (!along)
    return {};
  if (b.isFloat(x))
    return b.mean(x, axes, keep);
  Expr count = 1;
  for (int64_t axis : *along)
    count = count * b.dim(x, axis);
  Value total = b.sum(x, axes, keep);
  return b.div(total, b.cast(b.size(count), b.element(total)));
}

/// In float64 for integers, whose logarithm ONNX truncates to an integer.
static Value asReal(B &b, Value x) { return !x || b.isFloat(x) ? x : b.cast(x, b.builder().getF64Type()); }

static Value logSum(B &b, Value x, Axes axes, bool keep) { return b.log(asReal(b, b.sum(x, axes, keep))); }
static Value logSumExp(B &b, Value x, Axes axes, bool keep) { return b.logSumExp(asReal(b, x), axes, keep); }

void kiln::import::onnx::addReductions(Registry &r) {
  r.add("ReduceL1", 1, reduction(18, [](B &b, Value x, Axes axes, bool keep) { return b.l1(x, axes, keep); }));
  r.add("ReduceL2", 1, reduction(18, [](B &b, Value x, Axes axes, bool keep) { return b.l2(x, axes, keep); }));
  r.add("ReduceLogSum", 1, reduction(18, logSum));
  r.add("ReduceLogSumExp", 1, reduction(18, logSumExp));
  r.add("ReduceMax", 1,
        reduction(18, [](B &b, Value x, Axes axes, bool keep) { return b.max(x, axes, keep); }, foldMax));
  r.add("ReduceMean", 1, reduction(18, mean));
  r.add("ReduceMin", 1,
        reduction(18, [](B &b, Value x, Axes axes, bool keep) { return b.min(x, axes, keep); }, foldMin));
  r.add("ReduceProd", 1,
        reduction(18, [](B &b, Value x, Axes axes, bool keep) { return b.prod(x, axes, keep); }, foldMul));
  r.add("ReduceSum", 1,
        reduction(13, [](B &b, Value x, Axes axes, bool keep) { return b.sum(x, axes, keep); }, foldAdd));
  r.add("ReduceSumSquare", 1,
        reduction(18, [](B &b, Value x, Axes axes, bool keep) { return b.sumSquares(x, axes, keep); }));
  r.add("ArgMax", 1, argExtreme(&B::argMax));
  r.add("ArgMin", 1, argExtreme(&B::argMin));
  r.add("CumProd", 26, cumulative(Alu::MUL));
  r.add("CumSum", 11, cumulative(Alu::ADD));
}
