//===- Fold.cpp - Integer arithmetic at import -------------------------===//
//
// Exporters compute shapes: Shape, Gather, Mul, Concat, and a Reshape by the result. As data, such numbers would be
// known only at run time. So the elements of short integer tensors are kept as expressions over the model's symbols,
// [batch, seq * 12], and these functions compute with them element by element. They return nothing if an expression
// would not be exactly the number: a quotient whose sign is open, since ONNX truncates and expressions floor, or a
// constant near the ends of 64 bits, where expressions saturate. The operator then becomes an op on data.
//
//===-------------------------------------------------------------------===//
#include "import/onnx/Fold.h"

using namespace kiln;
using namespace kiln::import;
using namespace kiln::import::onnx;
using Operands = llvm::ArrayRef<Expr>;
using Result = std::optional<Expr>;

bool kiln::import::onnx::fitsInto(Expr element, mlir::Type type) {
  if (!element.isConst())
    return true;
  int64_t value = element.constant();
  // Expressions saturate near int64's ends: the result so far may not be the true sum or product.
  if (value <= -(int64_t(1) << 62) || value >= (int64_t(1) << 62))
    return false;
  return bool(Operand(value).number(type));
}

/// The shape that numpy broadcasts these to; nullopt if it refuses them.
static std::optional<llvm::SmallVector<int64_t>> commonShape(llvm::ArrayRef<const Tensor *> tensors) {
  llvm::SmallVector<int64_t> common;
  for (const Tensor *tensor : tensors) {
    llvm::ArrayRef<int64_t> shape = tensor->type.getShape();
    if (shape.size() > common.size())
      common.insert(common.begin(), shape.size() - common.size(), 1);
    for (auto [size, known] : llvm::zip(llvm::reverse(shape), llvm::reverse(common))) {
      if (known == 1)
        known = size;
      else if (size != 1 && size != known)
        return std::nullopt;
    }
  }
  return common;
}

Tensor kiln::import::onnx::foldElementwise(Node &node, mlir::Type element, ElementFunction function) {
  llvm::SmallVector<const Tensor *> inputs;
  for (int i = 0; i < node.numInputs(); ++i)
    inputs.push_back(&node.tensor(i));
  return foldElementwise(inputs, element, function);
}

Tensor kiln::import::onnx::foldElementwise(llvm::ArrayRef<const Tensor *> inputs, mlir::Type element,
                                           ElementFunction function) {
  if (llvm::any_of(inputs, [](const Tensor *input) { return !*input || !input->exactElements(); }))
    return {};
  std::optional<llvm::SmallVector<int64_t>> shape = commonShape(inputs);
  if (!shape)
    return {};
  int64_t count = mlir::ShapedType::getNumElements(*shape);
  if (count > kMostElements)
    return {};
  Elements results;
  for (int64_t i = 0; i < count; ++i) {
    llvm::SmallVector<Expr> operands;
    for (const Tensor *input : inputs) {
      llvm::ArrayRef<int64_t> own = input->type.getShape();
      int64_t rest = i, position = 0, step = 1;
      for (size_t axis = 0; axis < own.size(); ++axis) {
        int64_t size = own[own.size() - 1 - axis], whole = (*shape)[shape->size() - 1 - axis];
        position += (size == 1 ? 0 : rest % whole) * step;
        rest /= whole;
        step *= size;
      }
      operands.push_back((*input->elements)[position]);
    }
    Result result = function(operands);
    if (!result || !fitsInto(*result, element))
      return {};
    results.push_back(*result);
  }
  return Tensor(element, *shape, std::move(results));
}

Tensor kiln::import::onnx::foldReshape(const Tensor &tensor, llvm::ArrayRef<Expr> shape) {
  if (!tensor.exactElements())
    return {};
  llvm::SmallVector<int64_t> sizes;
  for (Expr size : shape) {
    if (!size.isConst())
      return {};
    sizes.push_back(size.constant());
  }
  Tensor result(tensor.element(), sizes, *tensor.elements);
  result.name = tensor.name;
  return result;
}

Tensor kiln::import::onnx::foldConcat(llvm::ArrayRef<Tensor> tensors, int64_t rank) {
  Elements elements;
  llvm::SmallVector<int64_t> shape;
  for (const Tensor &tensor : tensors) {
    if (!tensor || !tensor.exactElements() || tensor.type.getRank() != rank || tensor.element() != tensors[0].element())
      return {};
    llvm::ArrayRef<int64_t> row = tensor.type.getShape().drop_front(rank > 0), first = tensors[0].type.getShape();
    if (row != first.drop_front(rank > 0))
      return {};
    shape.assign(row.begin(), row.end());
    elements.append(*tensor.elements);
  }
  if (elements.empty() || int64_t(elements.size()) > kMostElements)
    return {};
  shape.insert(shape.begin(), int64_t(elements.size()) / mlir::ShapedType::getNumElements(shape));
  return Tensor(tensors[0].element(), shape, elements);
}

llvm::SmallVector<Tensor> kiln::import::onnx::foldSplit(const Tensor &tensor, llvm::ArrayRef<Expr> sizes) {
  llvm::SmallVector<Tensor> parts;
  if (!tensor || !tensor.exactElements() || tensor.type.getRank() != 1)
    return parts;
  llvm::ArrayRef<Expr> rest = *tensor.elements;
  for (Expr size : sizes) {
    if (!size.isConst() || size.constant() < 0 || size.constant() > int64_t(rest.size()))
      return {};
    llvm::ArrayRef<Expr> part = rest.take_front(size.constant());
    parts.emplace_back(tensor.element(), size.constant(), Elements(part));
    rest = rest.drop_front(part.size());
  }
  return rest.empty() ? parts : llvm::SmallVector<Tensor>();
}

/// Exporters without a remainder of shapes write a - a/k·k. As a mod k, it has bounds from which the signs of later
/// results follow.
static Expr withRemainder(Expr difference) {
  if (difference.kind() != Expr::Kind::Add)
    return difference;
  for (Expr term : difference.operands()) {
    if (term.kind() != Expr::Kind::Mul || !term.operands()[1].isConst() ||
        term.operands()[0].kind() != Expr::Kind::FloorDiv)
      continue;
    Expr quotient = term.operands()[0], divided = quotient.operands()[0], by = quotient.operands()[1];
    if (!by.isConst() || by.constant() <= 0 || term.operands()[1].constant() % by.constant() != 0)
      continue;
    Expr count = term.operands()[1].constant() / -by.constant();
    Expr rest = difference - term - divided * count;
    if (rest.weight() + divided.weight() <= difference.weight())
      return rest + view::mod(divided, by) * count;
  }
  return difference;
}

Result kiln::import::onnx::foldAdd(Operands x) { return withRemainder(x[0] + x[1]); }
Result kiln::import::onnx::foldSub(Operands x) { return withRemainder(x[0] - x[1]); }
Result kiln::import::onnx::foldMul(Operands x) { return x[0] * x[1]; }
Result kiln::import::onnx::foldMin(Operands x) { return view::minimum(x[0], x[1]); }
Result kiln::import::onnx::foldMax(Operands x) { return view::maximum(x[0], x[1]); }

Result kiln::import::onnx::foldDiv(Operands x) {
  if (x[1].isConst(-1)) // int64's least number has no opposite
    return -x[0];
  if (x[0].isConst() && x[1].isConst() && x[1].constant() != 0)
    return Expr(x[0].constant() / x[1].constant());
  if (x[1].min() <= 0)
    return std::nullopt;
  if (x[0].min() >= 0)
    return view::floorDiv(x[0], x[1]);
  // Towards 0: one of these two is 0.
  return view::floorDiv(view::maximum(x[0], 0), x[1]) - view::floorDiv(view::maximum(-x[0], 0), x[1]);
}

Result kiln::import::onnx::foldMod(Operands x) {
  if (x[1].min() > 0)
    return view::mod(x[0], x[1]);
  return std::nullopt;
}

Result kiln::import::onnx::foldAbs(Operands x) { return view::maximum(x[0], -x[0]); }
Result kiln::import::onnx::foldNeg(Operands x) { return -x[0]; }
Result kiln::import::onnx::foldNot(Operands x) { return Expr(1) - x[0]; }

Result kiln::import::onnx::foldNotEqual(Operands x) {
  Result equal = foldEqual(x);
  return equal ? foldNot(*equal) : std::nullopt;
}

Result kiln::import::onnx::foldEqual(Operands x) {
  if (view::provablyEqual(x[0], x[1]))
    return Expr(1);
  if (view::provablyLess(x[0], x[1]) || view::provablyLess(x[1], x[0]))
    return Expr(0);
  return std::nullopt;
}

Result kiln::import::onnx::foldLess(Operands x) {
  if (view::provablyLess(x[0], x[1]))
    return Expr(1);
  if (view::provablyLessEqual(x[1], x[0]))
    return Expr(0);
  return std::nullopt;
}

Result kiln::import::onnx::foldLessEqual(Operands x) {
  if (view::provablyLessEqual(x[0], x[1]))
    return Expr(1);
  if (view::provablyLess(x[1], x[0]))
    return Expr(0);
  return std::nullopt;
}

Result kiln::import::onnx::foldWhere(Operands x) {
  if (!x[0].isConst())
    return std::nullopt;
  return x[0].isConst(0) ? x[2] : x[1];
}
