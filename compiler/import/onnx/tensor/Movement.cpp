//===- Movement.cpp - Reshape, transpose, concat, split, pad, tile … --------===//
//
// The target of such an operator is an attribute in old opsets and a tensor since. If that tensor's elements are known,
// as numbers or as expressions over symbols, a shape follows from them; if they are known only at run time, the sizes
// become symbols that are bound there (DataSizes.h). If an input's elements are known, most of these move them at
// import and make no op.
//
//===----------------------------------------------------------------------===//
#include "import/onnx/Fold.h"
#include "import/onnx/Microsoft.h"
#include "import/onnx/Registry.h"
#include "import/onnx/file/ModelFile.h"
#include "import/onnx/tensor/DataSizes.h"

#include "llvm/ADT/StringSwitch.h"

using namespace kiln;
using namespace kiln::import;
using namespace kiln::import::onnx;
using llvm::Twine;
using mlir::Value;

static Tensor identity(Node &n, TensorBuilder &) { return n.tensor(0); }

/// The input under another shape; if its elements are known, no op is made.
static Tensor reshaped(Node &n, TensorBuilder &b, llvm::ArrayRef<Expr> shape) {
  if (Tensor folded = foldReshape(n.tensor(0), shape))
    return folded;
  return b.reshape(n.input(0), shape);
}

/// To a shape that is data; in it a size may be -1 or mean the input's.
static Tensor reshapeToData(Node &n, TensorBuilder &b, bool zeroIsZero) {
  Value x = n.input(0);
  std::optional<Elements> given = n.numbers(1, -1, view::kMaxDim);
  if (!x || !given)
    return {};
  // The -1 follows from the sizes that are not copied, so that it does not depend on a copied 0.
  Shape from = b.shape(x), to, rest(from);
  Expr known = 1;
  for (auto [axis, size] : llvm::enumerate(*given)) {
    Expr wanted = size, counted = choose(view::less(size, 0), 1, size);
    if (!zeroIsZero && axis < from.size()) {
      Expr isCopied = isEqual(size, 0);
      wanted = choose(isCopied, from[axis], size);
      counted = choose(isCopied, 1, counted);
      rest[axis] = choose(isCopied, 1, from[axis]);
    }
    to.push_back(n.named("given." + std::to_string(axis), wanted, -1));
    known = known * counted;
  }
  Expr open = n.named("rest", view::floorDiv(view::product(rest), view::maximum(known, 1)));
  for (auto [axis, size] : llvm::enumerate(to))
    size = n.named("size." + std::to_string(axis), choose(view::less(size, 0), open, size));
  return b.reshape(x, to);
}

static Tensor reshape(Node &n, TensorBuilder &b) {
  bool zeroIsZero = n.opset() >= 14 && n.flag("allowzero", false);
  const Tensor &input = n.tensor(0);
  Elements attribute; // before opset 5
  const Elements *sizes = &attribute;
  if (n.opset() < 5)
    llvm::append_range(attribute, n.integers("shape"));
  else
    sizes = n.tensor(1) ? n.elements(1) : nullptr;
  if (!input || (n.opset() >= 5 && !n.tensor(1)))
    return {};
  if (!sizes)
    return reshapeToData(n, b, zeroIsZero);
  Shape from = input.shape(), to;
  Expr known = 1;
  int open = -1;
  for (auto [axis, given] : llvm::enumerate(*sizes)) {
    Expr size = given;
    if (size.isConst(0) && !zeroIsZero) {
      if (axis >= from.size())
        return n.fail("the shape's size " + Twine(axis) + " is 0 but the input is " + describe(from),
                      "a 0 copies the input's size");
      size = from[axis];
    } else if (size.isConst(-1)) {
      open = axis;
    }
    to.push_back(size);
    known = size.isConst(-1) ? known : known * size;
  }
  // TensorBuilder finds the open size; only a tensor that is not an op needs it here.
  if (input.elements && open >= 0 && known.isConst() && known.constant() > 0)
    to[open] = view::floorDiv(int64_t(input.elements->size()), known);
  if (input.elements && llvm::all_of(to, [](Expr size) { return size.isConst() && size.constant() >= 0; }) &&
      view::product(to).isConst(input.elements->size()))
    return reshaped(n, b, to);
  return b.reshape(n.input(0), to);
}

static Tensor flatten(Node &n, TensorBuilder &b) { return b.flatten(n.input(0), n.integer("axis", 1)); }

/// Axes are an attribute before opset 13, an input since.
static std::optional<llvm::SmallVector<int64_t>> axesOf(Node &n) {
  if (n.opset() < 13 && !isRuntimes(n))
    return n.integers("axes");
  return n.has(1) ? n.integers(1, "axes") : llvm::SmallVector<int64_t>();
}

/// Whether axes are given as an input that is data.
static bool areAxesData(Node &n) {
  return (isRuntimes(n) || n.opset() >= 13) && n.has(1) && n.tensor(1) && !n.elements(1);
}

static Tensor squeezeByData(Node &n, TensorBuilder &b) {
  Value x = n.input(0);
  std::optional<Elements> axes = axesInput(n, 1, "axis", b.rank(x));
  if (!x || !axes)
    return {};
  if (int64_t(axes->size()) > b.rank(x))
    return n.fail(Twine(axes->size()) + " axes to squeeze in " + describe(b.shape(x)));
  return b.reshape(x, shapeWithout(n, b.shape(x), namedAxes(*axes, b.rank(x)), axes->size()));
}

static Tensor unsqueezeByData(Node &n, TensorBuilder &b) {
  Value x = n.input(0);
  const Tensor &list = n.tensor(1);
  if (!x || !list.type.hasStaticShape())
    return n.fail("the number of axes is not known at import", "give their list a fixed length");
  int64_t rank = b.rank(x) + list.type.getNumElements();
  std::optional<Elements> axes = axesInput(n, 1, "axis", rank);
  if (!axes)
    return {};
  Shape to;
  Expr before = 0; // axes of x so far
  for (Expr isNew : namedAxes(*axes, rank)) {
    Expr size = isNew;
    for (auto [i, own] : llvm::enumerate(b.shape(x)))
      size = size + view::logicalAnd({isEqual(isNew, 0), isEqual(before, int64_t(i))}) * own;
    before = before + (Expr(1) - isNew);
    to.push_back(n.named("size", size));
  }
  return b.reshape(x, to);
}

static Tensor squeeze(Node &n, TensorBuilder &b) {
  if (areAxesData(n))
    return squeezeByData(n, b);
  std::optional<llvm::SmallVector<int64_t>> axes = axesOf(n);
  const Tensor &input = n.tensor(0);
  if (!axes || !input)
    return {};
  Shape shape = input.shape();
  bool every = n.opset() < 13 ? !n.hasAttr("axes") : !n.has(1);
  if (every) {
    for (auto [axis, size] : llvm::enumerate(shape)) {
      if (size.isConst(1))
        axes->push_back(axis);
      else if (!b.check(Expr(1) - isEqual(size, 1),
                        "axis " + Twine(axis) + " of " + describe(shape) +
                            " is 1 in this run, so that Squeeze without axes would take it away; name the axes in the "
                            "model, or fix the size with --dim"))
        return {};
    }
  }
  std::optional<llvm::SmallVector<int64_t>> dropped = b.normalizeAxes(*axes, shape.size());
  if (!dropped)
    return {};
  Shape to;
  for (auto [axis, size] : llvm::enumerate(shape)) {
    if (!llvm::is_contained(*dropped, int64_t(axis)))
      to.push_back(size);
    else if (size.min() > 1 || size.max() < 1) // one that may be 1 is assumed, and the reshape checks it
      return n.fail("cannot squeeze axis " + Twine(axis) + " of " + describe(shape), "its size is not 1");
  }
  return reshaped(n, b, to);
}

static Tensor unsqueeze(Node &n, TensorBuilder &b) {
  if (areAxesData(n))
    return unsqueezeByData(n, b);
  std::optional<llvm::SmallVector<int64_t>> axes = axesOf(n);
  const Tensor &input = n.tensor(0);
  if (!axes || !input)
    return {};
  Shape to = input.shape();
  std::optional<llvm::SmallVector<int64_t>> added = b.normalizeAxes(*axes, to.size() + axes->size());
  if (!added)
    return {};
  for (int64_t axis : *added)
    to.insert(to.begin() + axis, Expr(1));
  return reshaped(n, b, to);
}

/// ONNX Runtime's own has one axis, which is an input.
static Tensor expandDims(Node &n, TensorBuilder &b) {
  const Tensor &axis = n.tensor(1);
  if (axis && !(axis.type.hasStaticShape() && axis.type.getNumElements() == 1))
    return n.fail("its axis is " + describe(axis.shape()), "it is one number");
  return axis ? unsqueeze(n, b) : Tensor();
}

static Tensor expand(Node &n, TensorBuilder &b) {
  const Tensor &input = n.tensor(0);
  std::optional<Elements> sizes = n.sizes(1);
  if (!input || !sizes)
    return {};
  int64_t count = 1;
  llvm::SmallVector<int64_t> shape;
  for (Expr size : *sizes) {
    bool small = size.isConst() && size.constant() >= 0 && size.constant() <= kMostElements && count <= kMostElements;
    count = small ? count * size.constant() : kMostElements + 1;
    shape.push_back(small ? size.constant() : 0);
  }
  if (input.exactElements() && input.elements->size() == 1 && count <= kMostElements &&
      shape.size() >= size_t(input.type.getRank()))
    return Tensor(input.element(), shape, Elements(count, input.elements->front()));
  // A 1 may be on either side: in the shape it stands for the input's own size.
  Value x = n.input(0);
  std::optional<Shape> common = b.broadcastShape({b.shape(x), Shape(*sizes)});
  return common ? b.expand(x, *common) : Value();
}

/// A list of lists, computed at import, transposed; nothing for another tensor or order. Exporters transpose the
/// amounts of a pad so. A constant may be a weight, which stays one.
static Tensor transposeElements(const Tensor &input, llvm::ArrayRef<int64_t> order) {
  bool isTurned = order.empty() || order == llvm::ArrayRef<int64_t>{1, 0};
  if (!input || !input.exactElements() || input.data || input.type.getRank() != 2 || !isTurned)
    return {};
  int64_t rows = input.type.getDimSize(0), columns = input.type.getDimSize(1);
  Elements elements;
  for (int64_t column = 0; column < columns; ++column)
    for (int64_t row = 0; row < rows; ++row)
      elements.push_back((*input.elements)[row * columns + column]);
  return Tensor(input.element(), {columns, rows}, elements);
}

static Tensor transpose(Node &n, TensorBuilder &b) {
  llvm::SmallVector<int64_t> order = n.integers("perm");
  if (Tensor folded = transposeElements(n.tensor(0), order))
    return folded;
  Value x = n.input(0);
  if (!n.hasAttr("perm"))
    order = llvm::to_vector(llvm::reverse(b.allAxes(x)));
  return b.permute(x, order);
}

static Tensor concat(Node &n, TensorBuilder &b) {
  int64_t axis = n.opset() < 4 ? n.integer("axis", 1) : n.integer("axis");
  std::vector<Tensor> inputs;
  for (int i = 0; i < n.numInputs(); ++i)
    inputs.push_back(n.tensor(i));
  int64_t rank = inputs.empty() || !inputs[0] ? 0 : inputs[0].type.getRank();
  if (rank > 0 && (axis == 0 || axis == -rank))
    if (Tensor folded = foldConcat(inputs, rank))
      return folded;
  return b.concat(n.inputs(), axis);
}

/// Parts of given sizes (an attribute before opset 13, in the first opset and since 13 an input), or as many equal ones
/// as there are outputs; the last is smaller if the size does not divide.
static Tensors split(Node &n, TensorBuilder &b) {
  Value x = n.input(0);
  int64_t axis = n.integer("axis", 0), outputs = n.proto().output_size();
  std::optional<int64_t> at = b.normalizeAxis(axis, b.rank(x));
  if (n.opset() >= 18 && n.hasAttr("num_outputs") && n.integer("num_outputs") != outputs)
    return n.fail("attribute 'num_outputs' is " + Twine(n.integer("num_outputs")) + " but the node has " +
                  Twine(outputs) + " outputs"),
           Tensors();
  std::optional<Elements> sizes = Elements();
  if (n.opset() < 13 && !(n.opset() < 2 && n.has(1)))
    for (int64_t size : n.integers("split"))
      sizes->push_back(size);
  else if (n.has(1))
    sizes = n.sizes(1);
  if (!x || !at || !sizes)
    return {};
  Expr size = b.dim(x, *at);
  if (sizes->empty() && outputs > 0) {
    Expr part = view::ceilDiv(size, outputs);
    if (n.opset() < 18 && !view::provablyEqual(part * outputs, size) && !b.takeForEqual(part * outputs, size, "split"))
      return n.fail("an axis of size " + size.print() + " does not split into " + Twine(outputs) + " equal parts"),
             Tensors();
    sizes->assign(outputs - 1, part);
    sizes->push_back(size - part * (outputs - 1));
  }
  if (llvm::SmallVector<Tensor> folded = foldSplit(n.tensor(0), *sizes); !folded.empty())
    return Tensors(folded.begin(), folded.end());
  llvm::SmallVector<Value> parts = partsOf(n, b, x, *at, std::move(*sizes));
  return Tensors(parts.begin(), parts.end());
}

/// One count per axis. Before opset 6: one count, and the axis that it is for.
static Tensor tile(Node &n, TensorBuilder &b) {
  Value x = n.input(0);
  std::optional<Elements> counts = n.sizes(1);
  if (!x || !counts)
    return {};
  if (n.opset() < 6) {
    std::optional<llvm::SmallVector<int64_t>> axis = n.integers(2, "axis");
    if (!axis)
      return {};
    std::optional<int64_t> at = axis->size() == 1 ? b.normalizeAxis(axis->front(), b.rank(x)) : std::nullopt;
    if (!at || counts->size() != 1)
      return n.fail("count and axis are not one number each");
    Elements one(b.rank(x), Expr(1));
    one[*at] = counts->front();
    counts = one;
  }
  if (int64_t(counts->size()) != b.rank(x))
    return n.fail(Twine(counts->size()) + " repeats for " + describe(b.shape(x)), "give one per axis");
  return b.tile(x, *counts);
}

/// If amounts are data, little is known of the resulting size, which could as well be negative. It becomes a symbol
/// with the bounds of a size, checked at run time, and the amount after the axis follows from it.
static void boundPaddedSizes(Node &n, llvm::ArrayRef<Expr> shape, llvm::ArrayRef<Expr> low,
                             llvm::MutableArrayRef<Expr> high) {
  for (auto [size, before, after] : llvm::zip(shape, low, high)) {
    Expr padded = view::sum({size, before, after});
    if ((before.isConst() && after.isConst()) || padded.min() >= 0)
      continue;
    after = n.named("padded", padded) - size - before;
  }
}

/// Amounts before each axis, then after each, as an attribute before opset 11 and an input since and in ONNX Runtime's
/// own.
static Tensor pad(Node &n, TensorBuilder &b) {
  Value x = n.input(0);
  std::string mode = n.string("mode", "constant");
  std::optional<Elements> amounts = Elements();
  std::optional<Operand> fill;
  if (n.opset() < 11 && !isRuntimes(n)) {
    for (int64_t amount : n.integers(n.opset() < 2 ? "paddings" : "pads"))
      amounts->push_back(amount);
    fill = n.real("value", 0);
  } else {
    amounts = n.numbers(1, -view::kMaxDim, view::kMaxDim);
    if (!amounts)
      return {};
    if (n.has(2))
      fill = n.input(2);
  }
  if (!x)
    return {};
  int64_t rank = b.rank(x);
  std::optional<Elements> axes = Elements();
  llvm::append_range(*axes, b.allAxes(x));
  if (n.opset() >= 18 && n.has(3))
    axes = axesInput(n, 3, "axis", rank);
  if (!axes)
    return {};
  if (amounts->size() != 2 * axes->size())
    return n.fail(Twine(amounts->size()) + " pads for " + Twine(axes->size()) + " axes", "give two per axis");
  Shape low(rank, Expr(0)), high = low;
  for (auto [i, given] : llvm::enumerate(*axes)) {
    for (int64_t axis = 0; axis < rank; ++axis) {
      Expr isMeant = isEqual(given, axis);
      low[axis] = choose(isMeant, (*amounts)[i], low[axis]);
      high[axis] = choose(isMeant, (*amounts)[axes->size() + i], high[axis]);
    }
  }
  for (Expr &amount : llvm::concat<Expr>(low, high))
    if (!areKnown(*axes))
      amount = n.named("pad", amount, -view::kMaxDim, view::kMaxDim);
  boundPaddedSizes(n, b.shape(x), low, high);
  // A scalar may come as a list of one.
  if (fill && !fill->isNumber())
    fill = b.reshape(fill->tensor(), {});
  if (mode == "constant")
    return fill && !fill->isNumber() && !fill->tensor() ? Value() : b.pad(x, low, high, fill);
  std::optional<PadMode> repeats = llvm::StringSwitch<std::optional<PadMode>>(mode)
                                       .Case("reflect", PadMode::Reflect)
                                       .Case("edge", PadMode::Edge)
                                       .Case("wrap", PadMode::Wrap)
                                       .Default(std::nullopt);
  if (!repeats)
    return n.fail("attribute 'mode' is " + quoted(mode), "it is constant, reflect, edge or wrap");
  if (!areKnown(low) || !areKnown(high))
    return b.padByPlace(x, low, high, *repeats);
  llvm::SmallVector<int64_t> before, after;
  for (Expr amount : llvm::concat<Expr>(low, high))
    (before.size() < size_t(rank) ? before : after).push_back(amount.constant());
  return b.pad(x, before, after, *repeats);
}

/// The middle of the named axes, or zeros around them, to given sizes.
static Tensor centerCropPad(Node &n, TensorBuilder &b) {
  Value x = n.input(0);
  std::optional<Elements> sizes = n.sizes(1);
  llvm::SmallVector<int64_t> axes = n.hasAttr("axes") ? n.integers("axes") : b.allAxes(x);
  if (!x || !sizes)
    return {};
  if (sizes->size() != axes.size())
    return n.fail(Twine(sizes->size()) + " sizes for " + Twine(axes.size()) + " axes", "give one per axis");
  for (auto [size, given] : llvm::zip(*sizes, axes)) {
    std::optional<int64_t> axis = b.normalizeAxis(given, b.rank(x));
    if (!axis)
      return {};
    Expr own = b.dim(x, *axis), more = view::maximum(size - own, 0), less = view::maximum(own - size, 0);
    Shape low(b.rank(x), Expr(0)), high = low;
    low[*axis] = view::floorDiv(more, 2);
    high[*axis] = more - low[*axis];
    Expr begin = view::floorDiv(less, 2);
    x = b.narrow(b.pad(x, low, high), *axis, begin, begin + size);
  }
  return x;
}

/// An image without borders [left, top, right, bottom], or with a size [height, width] from its left and top border on.
/// One of ONNX's first, experimental operators, which ONNX Runtime still has.
static Tensor crop(Node &n, TensorBuilder &b) {
  Value x = n.input(0);
  llvm::SmallVector<int64_t> border = n.integers("border"), size = n.integers("scale");
  if (!x)
    return {};
  if (b.rank(x) != 4)
    return n.fail("an image " + describe(b.shape(x)), "it needs [n, c, h, w]");
  std::string given = describe(b.shape(x));
  auto isSize = [](int64_t number) { return number >= 0 && number <= view::kMaxDim; };
  if (border.size() != 4 || !llvm::all_of(border, isSize))
    return n.fail("attribute 'border' is not four sizes", "give left, top, right and bottom");
  if (n.hasAttr("scale") && (size.size() != 2 || !llvm::all_of(size, isSize)))
    return n.fail("attribute 'scale' is not two sizes", "give a height and a width");
  for (int64_t i = 0; i < 2; ++i) {
    int64_t begin = border[1 - i];
    Expr own = b.dim(x, 2 + i), end = size.empty() ? own - border[3 - i] : Expr(begin + size[i]);
    bool fits =
        b.check(view::logicalAnd({view::less(begin - 1, end), view::less(end, own + 1)}),
                "axis " + Twine(2 + i) + " of " + given + " is shorter than what Crop takes; give a larger image");
    if (!fits || !(x = b.narrow(x, 2 + i, begin, end)))
      return {};
  }
  return x;
}

/// Whether x [n, c, h, w] may be taken apart into blocks, or put together of them; else a failure is noted.
static bool checkBlocks(Node &n, TensorBuilder &b, Value x, int64_t block, llvm::StringRef mode) {
  if (!x)
    return false;
  if (b.rank(x) != 4 || block < 1 || block > view::kMaxDim)
    n.fail("blocks of " + Twine(block) + " in " + describe(b.shape(x)), "it needs [n, c, h, w]");
  else if (mode != "DCR" && mode != "CRD")
    n.fail("attribute 'mode' is " + quoted(mode), "it is DCR or CRD");
  return b.ok();
}

static Tensor depthToSpace(Node &n, TensorBuilder &b) {
  Value x = n.input(0);
  int64_t block = n.integer("blocksize");
  std::string mode = n.string("mode", "DCR");
  if (!checkBlocks(n, b, x, block, mode))
    return {};
  Expr depth = view::floorDiv(b.dim(x, 1), Expr(block) * block), height = b.dim(x, 2), width = b.dim(x, 3);
  Value parts = mode == "DCR"
                    ? b.permute(b.reshape(x, {b.dim(x, 0), block, block, depth, height, width}), {0, 3, 4, 1, 5, 2})
                    : b.permute(b.reshape(x, {b.dim(x, 0), depth, block, block, height, width}), {0, 1, 4, 2, 5, 3});
  return b.reshape(parts, {b.dim(x, 0), depth, height * block, width * block});
}

static Tensor spaceToDepth(Node &n, TensorBuilder &b) {
  Value x = n.input(0);
  int64_t block = n.integer("blocksize");
  std::string mode = n.opset() < 28 ? "DCR" : n.string("mode", "DCR");
  if (!checkBlocks(n, b, x, block, mode))
    return {};
  Expr height = view::floorDiv(b.dim(x, 2), block), width = view::floorDiv(b.dim(x, 3), block);
  Value parts = b.reshape(x, {b.dim(x, 0), b.dim(x, 1), height, block, width, block});
  parts = mode == "DCR" ? b.permute(parts, {0, 3, 5, 1, 2, 4}) : b.permute(parts, {0, 1, 3, 5, 2, 4});
  return b.reshape(parts, {b.dim(x, 0), b.dim(x, 1) * block * block, height, width});
}

void kiln::import::onnx::addMovement(Registry &r) {
  r.add("CenterCropPad", 18, centerCropPad);
  r.add("Concat", 1, concat);
  r.add("Crop", 1, crop);
  r.add("DepthToSpace", 1, depthToSpace);
  r.add("Expand", 8, expand);
  r.add("Flatten", 1, flatten);
  r.add("Identity", 1, identity);
  r.add("Pad", 1, pad);
  r.add("Reshape", 1, reshape);
  r.add("SpaceToDepth", 1, spaceToDepth);
  r.add("Split", 1, split);
  r.add("Squeeze", 1, squeeze);
  r.add("Tile", 1, tile);
  r.add("Transpose", 1, transpose);
  r.add("Unsqueeze", 1, unsqueeze);
  r.add("com.microsoft", "ExpandDims", 1, expandDims);
  r.add("com.microsoft", "Pad", 1, pad);
  r.add("com.microsoft", "SampleOp", 1, identity);
}
