#include "import/onnx/tensor/DataSizes.h"

#include "import/onnx/Importer.h"

using namespace kiln;
using namespace kiln::import;
using namespace kiln::import::onnx;
using llvm::Twine;
using mlir::Value;

Expr kiln::import::onnx::isEqual(Expr a, Expr b) {
  return view::logicalAnd({view::greaterEqual(a, b), view::greaterEqual(b, a)});
}

Expr kiln::import::onnx::choose(Expr condition, Expr a, Expr b) {
  if (condition.isConst())
    return condition.isConst(0) ? b : a;
  return b + condition * (a - b);
}

std::optional<Elements> kiln::import::onnx::axesInput(Node &n, int index, llvm::StringRef what, int64_t rank) {
  std::optional<Elements> axes = n.numbers(index, -std::max<int64_t>(rank, 1), std::max<int64_t>(rank - 1, 0));
  if (!axes)
    return std::nullopt;
  for (Expr &axis : *axes) {
    if (axis.isConst()) {
      std::optional<int64_t> at = n.builder().normalizeAxis(axis.constant(), rank);
      if (!at)
        return std::nullopt;
      axis = *at;
    } else {
      axis = n.named(what, axis + view::less(axis, 0) * rank, 0, std::max<int64_t>(rank - 1, 0));
    }
  }
  return axes;
}

bool kiln::import::onnx::areKnown(llvm::ArrayRef<Expr> numbers) {
  return llvm::all_of(numbers, [](Expr number) { return number.isConst(); });
}

Expr kiln::import::onnx::computedSize(Node &n, llvm::StringRef what, Value count, const Twine &cause) {
  constexpr int64_t kFar = int64_t(1) << 62;
  TensorBuilder &b = n.builder();
  if (!count)
    return 0;
  // The check takes the count as it is; everything else a size within its bounds.
  std::string name = n.scope().prefix() + n.proto().output(0) + "." + what.str() + ".wanted";
  Expr whole = n.importer().bind(name, b.clip(count, Operand(0), Operand(kFar)), b, {0, kFar, 1}, n.meaning(what));
  b.check(view::less(whole, view::kMaxDim + 1),
          cause + " is too long; no axis has more than " + Twine(view::kMaxDim) + " elements");
  return n.named(what, view::minimum(whole, view::kMaxDim));
}

llvm::SmallVector<Expr> kiln::import::onnx::namedAxes(llvm::ArrayRef<Expr> axes, int64_t rank) {
  llvm::SmallVector<Expr> named(rank, Expr(0));
  for (int64_t i = 0; i < rank; ++i)
    for (Expr axis : axes)
      named[i] = view::maximum(named[i], isEqual(axis, i));
  return named;
}

Value kiln::import::onnx::splitAxes(Node &n, TensorBuilder &b, Value x, llvm::ArrayRef<Expr> named) {
  Shape split;
  for (auto [size, isNamed] : llvm::zip(b.shape(x), named)) {
    split.push_back(n.named("outer", choose(isNamed, 1, size)));
    split.push_back(n.named("inner", choose(isNamed, size, 1)));
  }
  return b.reshape(x, split);
}

Shape kiln::import::onnx::shapeWithout(Node &n, llvm::ArrayRef<Expr> shape, llvm::ArrayRef<Expr> dropped,
                                       int64_t count) {
  Shape rest;
  for (int64_t place = 0; place < int64_t(shape.size()) - count; ++place) {
    // The kept axis with as many kept axes before it.
    Expr size = 0, before = 0;
    for (auto [own, isDropped] : llvm::zip(shape, dropped)) {
      size = size + view::logicalAnd({isEqual(isDropped, 0), isEqual(before, place)}) * own;
      before = before + (Expr(1) - isDropped);
    }
    rest.push_back(n.named("size", size));
  }
  return rest;
}

Value kiln::import::onnx::aroundAxis(Node &n, TensorBuilder &b, Value x, Expr axis) {
  Expr before = 1, along = 1, after = 1;
  for (auto [i, size] : llvm::enumerate(b.shape(x))) {
    before = before * choose(view::less(int64_t(i), axis), size, 1);
    along = along * choose(isEqual(axis, int64_t(i)), size, 1);
    after = after * choose(view::less(axis, int64_t(i)), size, 1);
  }
  return b.reshape(x, {n.named("before", before), n.named("along", along), n.named("after", after)});
}

llvm::SmallVector<Value> kiln::import::onnx::partsOf(Node &n, TensorBuilder &b, Value x, int64_t axis, Elements sizes) {
  if (!x)
    return {};
  Expr size = b.dim(x, axis);
  for (auto [number, part] : llvm::enumerate(sizes))
    if (part.max() < 0) {
      n.fail("part " + llvm::Twine(number + 1) + " of " + llvm::Twine(sizes.size()) + " has the negative size " +
                 part.print(),
             "an axis of size " + size.print() + " is split into parts of 0 and more");
      return {};
    }
  Expr total = view::sum(sizes);
  if (!sizes.empty() && areKnown(sizes) && !size.isConst() && b.takeForEqual(total, size, "split"))
    x = b.withSize(x, axis, total);
  if (sizes.empty() || areKnown(sizes) || view::provablyEqual(total, size))
    return b.split(x, axis, sizes);
  // The last part is the rest.
  if (!b.check(isEqual(total, size), "parts of " + describe(sizes) + " do not make up an axis of size " + size.print() +
                                         "; give parts whose sum is its size"))
    return {};
  Expr before = total - sizes.back(), first = 0;
  sizes.back() = n.named("rest", view::maximum(size - before, 0));
  llvm::SmallVector<Value> parts;
  for (Expr part : sizes) {
    parts.push_back(b.narrow(x, axis, first, first + part));
    first = first + part;
  }
  return parts;
}
