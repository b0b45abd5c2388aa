//===- TensorBuilderMovement.cpp - Reshape, permute, expand, broadcast -------===//
//
// Sizes are expressions over symbols, so it may be unknown at import whether a movement fits: [batch, seq, 48] has as
// many elements as [rows, 48] only if rows is batch · seq. There are three answers. What is provable is done; what is
// provably wrong is an error of the model; what is open is taken to be as the model needs it, and a check ends the run
// where it is not. Whether a broadcast repeats an axis may be open as well (CommonSizes.h).
// A movement of one repeated number is that number repeated, so a constant stays visible to what folds it.
//
//===-------------------------------------------------------------------------===//
#include "import/Symbols.h"
#include "import/TensorBuilder.h"
#include "view/Repeat.h"

using namespace kiln;
using namespace kiln::import;
using namespace mlir;
using llvm::Twine;
using view::provablyEqual;

static bool sameShape(ArrayRef<Expr> a, ArrayRef<Expr> b) {
  return a.size() == b.size() &&
         llvm::all_of(llvm::zip(a, b), [](auto pair) { return provablyEqual(std::get<0>(pair), std::get<1>(pair)); });
}

static Expr isEqual(Expr a, Expr b) { return view::logicalAnd({view::greaterEqual(a, b), view::greaterEqual(b, a)}); }

/// A movement of a number repeated is that number repeated.
static graph::ConstOp asConstant(Value x) { return x.getDefiningOp<graph::ConstOp>(); }

/// `total`'s factors divided by `known`'s: sizes in both cancel, so that [batch, seq, 48] over 48 is
/// batch·seq.
static Expr quotient(ArrayRef<Expr> total, ArrayRef<Expr> known) {
  SmallVector<Expr> rest(total), divisors;
  int64_t number = 1, divisor = 1;
  for (Expr size : known) {
    auto *same = llvm::find_if(
        rest, [&](Expr factor) { return (!size.isConst() || size.isConst(0)) && provablyEqual(factor, size); });
    if (same != rest.end())
      rest.erase(same);
    else if (size.isConst())
      divisor *= size.constant();
    else
      divisors.push_back(size);
  }
  SmallVector<Expr> symbolic;
  for (Expr size : rest) {
    if (size.isConst())
      number *= size.constant();
    else
      symbolic.push_back(size);
  }
  if (divisor == 0 || !divisors.empty() || number % divisor != 0)
    return divisor == 0 ? Expr(0) : view::floorDiv(view::product(total), view::product(known));
  symbolic.insert(symbolic.begin(), number / divisor);
  return view::product(symbolic);
}

/// How many element-wise ops are made anew when their sizes are renamed.
static constexpr int kMostRenamed = 64;

static Value rename(TensorBuilder &b, Value x, ArrayRef<Expr> sizes, int &left);

/// Repeated data is repeated under the other names.
static Value renameExpanded(TensorBuilder &b, graph::ExpandOp expand, ArrayRef<Expr> sizes, int &left) {
  Shape inner = b.shape(expand.getInput());
  for (auto [size, repeated, other] : llvm::zip(inner, b.shape(expand.getResult()), sizes))
    size = *view::repeatStep(size, repeated) * (other - 1) + 1;
  Value input = rename(b, expand.getInput(), inner, left);
  return graph::ExpandOp::create(b.builder(), b.location(), tensorType(sizes, b.element(input)), input);
}

/// Element-wise ops get the names from their operands.
static Value renameElements(TensorBuilder &b, graph::AluOp alu, ArrayRef<Expr> sizes, int &left) {
  SmallVector<Value> operands =
      llvm::map_to_vector(alu->getOperands(), [&](Value operand) { return rename(b, operand, sizes, left); });
  Operation *made = b.builder().clone(*alu);
  made->setOperands(operands);
  made->getResult(0).setType(cast<RankedTensorType>(operands.back().getType()).clone(b.element(alu.getResult())));
  return made->getResult(0);
}

/// A reshape that only adds or drops axes of one element keeps the other axes' new names. Null for any other reshape.
static Value renameReshaped(TensorBuilder &b, graph::ReshapeOp reshape, ArrayRef<Expr> sizes, int &left) {
  Shape from = b.shape(reshape.getInput()), to = b.shape(reshape.getResult());
  auto *inner = from.begin();
  auto skipOnes = [&] {
    while (inner != from.end() && inner->isConst(1))
      ++inner;
  };
  for (auto [own, other] : llvm::zip(to, sizes)) {
    skipOnes();
    if (own.isConst(1) && other.isConst(1))
      continue;
    if (inner == from.end() || !provablyEqual(*inner, own))
      return {};
    *inner++ = other;
  }
  skipOnes();
  return inner == from.end() ? b.reshape(rename(b, reshape.getInput(), from, left), sizes) : Value();
}

/// The same tensor, whose sizes were taken for these. No reshape: it would divide by sizes that only the names tell
/// apart, and so would who reads what is repeated along such an axis.
static Value rename(TensorBuilder &b, Value x, ArrayRef<Expr> sizes, int &left) {
  if (sameShape(b.shape(x), sizes))
    return x;
  if (graph::ConstOp op = asConstant(x))
    return b.constant(op.getValue(), sizes);
  if (auto expand = x.getDefiningOp<graph::ExpandOp>())
    return renameExpanded(b, expand, sizes, left);
  if (auto alu = x.getDefiningOp<graph::AluOp>(); alu && left-- > 0)
    return renameElements(b, alu, sizes, left);
  if (auto reshape = x.getDefiningOp<graph::ReshapeOp>())
    if (Value renamed = renameReshaped(b, reshape, sizes, left))
      return renamed;
  // What lies row by row does so under the other names.
  if (isa<BlockArgument>(x))
    return b.reshape(b.shrink(b.reshape(x, {view::product(b.shape(x))}), {Expr(0)}, {view::product(sizes)}), sizes);
  return b.shrink(x, Shape(sizes.size(), Expr(0)), sizes);
}

static Value rename(TensorBuilder &b, Value x, ArrayRef<Expr> sizes) {
  int left = kMostRenamed;
  return x ? rename(b, x, sizes, left) : Value();
}

Value TensorBuilder::withSize(Value x, int64_t axis, Expr size) {
  if (!x)
    return {};
  Shape sizes = shape(x);
  sizes[axis] = size;
  return rename(*this, x, sizes);
}

Value TensorBuilder::takeSize(Value x, int64_t axis, Expr size, StringRef what) {
  if (!x || provablyEqual(dim(x, axis), size))
    return x;
  return takeForEqual(dim(x, axis), size, what) ? withSize(x, axis < 0 ? axis + rank(x) : axis, size) : Value();
}

Value TensorBuilder::reshape(Value x, Sizes sizes) {
  if (!x)
    return {};
  Shape from = shape(x), to(sizes);
  auto isOpen = [](Expr size) { return size.isConst(-1); };
  if (llvm::count_if(to, isOpen) > 1)
    return fail("cannot reshape " + describe(from) + " to " + describe(sizes), "at most one size may be -1");
  if (!fits(from))
    return {};
  if (auto *open = llvm::find_if(to, isOpen); open != to.end()) {
    Shape known(to);
    known.erase(known.begin() + (open - to.begin()));
    if (!fits(known))
      return {};
    *open = quotient(from, known);
  }
  if (sameShape(from, to))
    return x;
  if (!fits(to))
    return {};
  Expr before = view::product(from), after = view::product(to);
  if (!provablyEqual(before, after)) {
    std::string cause = "cannot reshape " + describe(from) + " to " + describe(sizes);
    constexpr StringLiteral remedy = "the number of elements must stay the same";
    if (view::provablyLess(before, after) || view::provablyLess(after, before) || (before - after).asConst())
      return fail(cause + ": " + before.print() + " elements are not " + after.print(), remedy);
    // As many elements as the result has; a check makes sure that these are all.
    check(isEqual(before, after), cause + "; " + remedy);
    x = shrink(reshape(x, {before}), {Expr(0)}, {after});
    return reshape(x, to);
  }
  if (graph::ConstOp op = asConstant(x))
    return constant(op.getValue(), to);
  return graph::ReshapeOp::create(builder_, location_, tensorType(to, element(x)), x);
}

Value TensorBuilder::permute(Value x, Axes order) {
  if (!x)
    return {};
  if (int64_t(order.size()) != rank(x))
    return fail("a permutation of " + Twine(order.size()) + " axes does not fit " + describe(shape(x)),
                "name every axis once");
  if (!normalizeAxes(order, rank(x)))
    return {};
  SmallVector<int64_t> axes;
  Shape to;
  for (int64_t axis : order) {
    axes.push_back(axis < 0 ? axis + rank(x) : axis);
    to.push_back(shape(x)[axes.back()]);
  }
  if (llvm::is_sorted(axes))
    return x;
  if (graph::ConstOp op = asConstant(x))
    return constant(op.getValue(), to);
  return graph::PermuteOp::create(builder_, location_, x, axes);
}

Value TensorBuilder::moveAxis(Value x, int64_t from, int64_t to) {
  std::optional<int64_t> source = normalizeAxis(from, rank(x)), target = normalizeAxis(to, rank(x));
  if (!x || !source || !target)
    return {};
  llvm::SmallVector<int64_t> order = allAxes(x);
  order.erase(order.begin() + *source);
  order.insert(order.begin() + *target, *source);
  return permute(x, order);
}

Value TensorBuilder::transpose(Value x, int64_t a, int64_t b) {
  if (!x)
    return {};
  std::optional<int64_t> first = normalizeAxis(a, rank(x)), second = normalizeAxis(b, rank(x));
  if (!first || !second)
    return {};
  SmallVector<int64_t> order = allAxes(x);
  std::swap(order[*first], order[*second]);
  return permute(x, order);
}

static bool isZeroOrOne(Expr size) { return size.min() == 0 && size.max() == 1; }

/// Assumes that a size that is 0 or 1 is 1, which the run checks, if no 0 fits the `other` one; false if it is another.
static bool takeForOne(TensorBuilder &b, Expr size, Expr other, StringRef what) {
  return isZeroOrOne(size) && other.min() > 1 &&
         b.check(size, "cannot " + what + ": the size " + size.print() + " is 0; it must be 1");
}

static bool mayBeOne(Expr size) { return size.min() <= 1 && size.max() >= 1; }
static bool mayBeEqual(Expr a, Expr b) { return a.min() <= b.max() && b.min() <= a.max(); }

static std::string neitherOneNorEqual(StringRef what, Expr a, Expr b) {
  return ("cannot " + what + ": the sizes " + a.print() + " and " + b.print() + " differ; they must be equal, or ")
      .str();
}

/// Whether two sizes follow from the same sizes and agree if powers of 2 divide these, as those of two ways through
/// strides and upsampling do: (h+7)//8·2 and (h+3)//4. Such sizes are meant to be equal. To repeat a 1 of a picture of
/// a few points would cost all larger ones their layouts.
static bool areTwoWays(Expr a, Expr b) {
  auto variablesOf = [](Expr size) {
    llvm::SmallPtrSet<const view::ExprNode *, 4> variables;
    size.forEachVariable([&](Expr variable) { variables.insert(variable.node()); });
    return variables;
  };
  if (a.isConst() || b.isConst() || variablesOf(a) != variablesOf(b))
    return false;
  return llvm::all_of(std::initializer_list<int64_t>{1 << 12, 3 << 12}, [&](int64_t large) {
    llvm::DenseMap<Expr, int64_t> values;
    a.forEachVariable([&](Expr variable) { values[variable] = std::clamp(large, variable.min(), variable.max()); });
    return a.evaluate(values) == b.evaluate(values);
  });
}

std::optional<Expr> TensorBuilder::expandedFrom(Expr from, Expr to) {
  if (from.isConst(1) || provablyEqual(from, to))
    return from;
  if (takeForOne(*this, from, to, "expand"))
    return Expr(1);
  if ((!mayBeOne(from) || areTwoWays(from, to)) && !sizes_.isPart(from, to))
    return takeForEqual(from, to, "expand") ? std::optional(to) : std::nullopt;
  SymbolLimits limits;
  if (limitToEqual(from, to, limits))
    return std::nullopt;
  std::string cause = neitherOneNorEqual("expand", from, to) + "the first 1";
  if (!mayBeEqual(from, to))
    return check(isEqual(from, 1), cause) ? std::optional<Expr>(1) : std::nullopt;
  Expr called = sizes_.stepOf(from, to, node(), builder_, location_) * (to - 1) + 1;
  // The first check names the model's own sizes; from the second one follows what elements there are.
  if (!sizes_.isPart(from, to) && !check(view::maximum(isEqual(from, to), isEqual(from, 1)), cause))
    return std::nullopt;
  return check(isEqual(from, called), cause) ? std::optional(called) : std::nullopt;
}

Value TensorBuilder::expand(Value x, Sizes sizes) {
  if (!x)
    return {};
  Shape from = shape(x), to(sizes);
  if (from.size() > to.size())
    to.insert(to.begin(), from.size() - to.size(), Expr(1));
  from.insert(from.begin(), to.size() - from.size(), Expr(1));
  x = reshape(x, from);
  for (auto [before, after] : llvm::zip(from, to)) {
    if (after.isConst(1))
      after = before;
    std::optional<Expr> called = expandedFrom(before, after);
    if (!called) {
      noteDiffering(before, after);
      return fail("cannot expand " + describe(shape(x)) + " to " + describe(sizes) + ": " + before.print() +
                      " is neither 1 nor " + after.print(),
                  "only axes of size 1 expand");
    }
    before = *called;
    if (after.max() < 0)
      return fail("cannot expand " + describe(shape(x)) + " to " + describe(sizes), "sizes are not negative");
  }
  if (!fits(to))
    return {};
  x = rename(*this, x, from);
  if (!x || sameShape(from, to))
    return x;
  if (graph::ConstOp op = asConstant(x))
    return constant(op.getValue(), to);
  return graph::ExpandOp::create(builder_, location_, tensorType(to, element(x)), x);
}

bool TensorBuilder::takeForEqual(Expr one, Expr other, StringRef what) {
  SymbolLimits limits;
  if (!mayBeEqual(one, other) || limitToEqual(one, other, limits))
    return false;
  return check(isEqual(one, other), "cannot " + what + ": the sizes " + one.print() + " and " + other.print() +
                                        " differ; they must be equal");
}

std::optional<Expr> TensorBuilder::commonSize(Expr a, Expr b) {
  if (a.isConst(1) || (!b.isConst(1) && sizes_.isPart(a, b)))
    return b;
  if (b.isConst(1) || provablyEqual(a, b) || sizes_.isPart(b, a))
    return a;
  if (takeForOne(*this, b, a, "broadcast"))
    return a;
  if (takeForOne(*this, a, b, "broadcast"))
    return b;
  SymbolLimits limits;
  if (limitToEqual(a, b, limits))
    return std::nullopt;
  if (areTwoWays(a, b))
    return takeForEqual(a, b, "broadcast") ? std::optional(a) : std::nullopt;
  if (mayBeOne(a) && mayBeOne(b)) {
    Expr common = sizes_.of(a, b, node(), builder_, location_);
    Expr holds = view::maximum(isEqual(a, b), view::maximum(isEqual(a, 1), isEqual(b, 1)));
    return check(holds, neitherOneNorEqual("broadcast", a, b) + "one of them 1") ? std::optional(common) : std::nullopt;
  }
  // One of them is surely not 1, so the other one is expanded to it, if any is.
  if (mayBeOne(a))
    return b;
  if (mayBeOne(b))
    return a;
  if (!takeForEqual(a, b, "broadcast"))
    return std::nullopt;
  return b.isConst() ? b : a;
}

std::optional<Shape> TensorBuilder::broadcastShape(ArrayRef<Shape> shapes) {
  Shape result;
  for (const Shape &sizes : shapes) {
    if (sizes.size() > result.size())
      result.insert(result.begin(), sizes.size() - result.size(), Expr(1));
    for (auto [size, common] : llvm::zip(llvm::reverse(sizes), llvm::reverse(result))) {
      std::optional<Expr> both = commonSize(common, size);
      if (!both) {
        noteDiffering(size, common);
        fail("cannot broadcast " + describe(result) + " with " + describe(sizes) + ": " + common.print() + " and " +
                 size.print() + " differ",
             "sizes must be equal or 1");
        return std::nullopt;
      }
      common = *both;
    }
  }
  return result;
}

bool TensorBuilder::broadcast(llvm::MutableArrayRef<Value> tensors) {
  SmallVector<Shape> shapes;
  for (Value tensor : tensors) {
    if (!tensor)
      return false;
    shapes.push_back(shape(tensor));
  }
  std::optional<Shape> common = broadcastShape(shapes);
  if (!common)
    return false;
  for (Value &tensor : tensors) {
    tensor = expand(tensor, *common);
    if (!tensor)
      return false;
  }
  return true;
}

Value TensorBuilder::squeeze(Value x, Axes axes) {
  std::optional<SmallVector<int64_t>> dropped = normalizeAxes(axes, rank(x));
  if (!x || !dropped)
    return {};
  Shape to;
  for (auto [axis, size] : llvm::enumerate(shape(x))) {
    if (!llvm::is_contained(*dropped, int64_t(axis)))
      to.push_back(size);
    else if (!check(isEqual(size, 1), "cannot squeeze axis " + Twine(axis) + " of " + describe(shape(x)) +
                                          ": its size is " + size.print() + "; it must be 1"))
      return {};
  }
  return reshape(x, to);
}

Value TensorBuilder::unsqueeze(Value x, Axes axes) {
  std::optional<SmallVector<int64_t>> added = normalizeAxes(axes, rank(x) + int64_t(axes.size()));
  if (!x || !added)
    return {};
  Shape to = shape(x);
  for (int64_t axis : *added)
    to.insert(to.begin() + axis, Expr(1));
  return reshape(x, to);
}

Value TensorBuilder::flatten(Value x, int64_t axis) {
  int64_t at = axis < 0 ? axis + rank(x) : axis;
  if (!x)
    return {};
  if (at < 0 || at > rank(x))
    return fail("axis " + Twine(axis) + " is out of range for a tensor of rank " + Twine(rank(x)));
  Shape sizes = shape(x);
  return reshape(x, {view::product(Sizes(sizes).take_front(at)), view::product(Sizes(sizes).drop_front(at))});
}

Value TensorBuilder::flip(Value x, Axes axes) {
  std::optional<SmallVector<int64_t>> reversed = normalizeAxes(axes, rank(x));
  if (!x || !reversed)
    return {};
  llvm::erase_if(*reversed, [&](int64_t axis) { return dim(x, axis).isConst(1); });
  if (reversed->empty() || asConstant(x))
    return x;
  return graph::FlipOp::create(builder_, location_, x, *reversed);
}

Value TensorBuilder::tile(Value x, Sizes counts) {
  if (!x)
    return {};
  if (int64_t(counts.size()) > rank(x)) {
    Shape padded = shape(x);
    padded.insert(padded.begin(), counts.size() - padded.size(), Expr(1));
    x = reshape(x, padded);
  }
  Shape split, repeated, merged;
  int64_t lead = rank(x) - int64_t(counts.size());
  for (auto [axis, size] : llvm::enumerate(shape(x))) {
    Expr count = int64_t(axis) < lead ? Expr(1) : counts[axis - lead];
    if (count.max() < 0)
      return fail("a tensor is repeated " + count.print() + " times", "counts are not negative");
    split.append({Expr(1), size});
    repeated.append({count, size});
    merged.push_back(count * size);
  }
  return fits(repeated) ? reshape(expand(reshape(x, split), repeated), merged) : Value();
}

Value TensorBuilder::repeatInterleave(Value x, int64_t axis, Expr count) {
  std::optional<int64_t> at = normalizeAxis(axis, rank(x));
  if (!x || !at)
    return {};
  Shape repeated = shape(x), merged = repeated;
  repeated.insert(repeated.begin() + *at + 1, count);
  merged[*at] = merged[*at] * count;
  return reshape(expand(unsqueeze(x, {*at + 1}), repeated), merged);
}

Value TensorBuilder::contiguous(Value x) {
  return x ? Value(graph::ContiguousOp::create(builder_, location_, x.getType(), x)) : x;
}
