//===- FollowSizes.cpp - Results of ops on sizes -----------------------------===//
//
// Why a rounded quotient is as good as the true one: for integers 0 <= n, 0 < d with n + d <= 2^24, the next integer k
// above n/d is at least 1/d away, and floats next to k are closer together than that, so n/d rounds to k only if it is
// k. Thus ceil, floor and a cast to an integer give the same as for the true quotient, and in float64 with 2^53 the
// same. Anything else that reads a rounded float is not followed.
//
//===--------------------------------------------------------------------------===//
#include "import/onnx/FollowSizes.h"

#include "import/onnx/Fold.h"
#include "import/onnx/file/Tensor.h"
#include "ir/graph/Movement.h"

#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace kiln;
using namespace kiln::import;
using namespace kiln::import::onnx;
using mlir::Type;
using mlir::Value;
using Result = std::optional<Followed>;

/// The largest divisor of an exact float: products of two are still exact numbers of 64 bits.
static constexpr int64_t kMostUnder = 1 << 24;

/// The integers up to which a float dtype has all; 0 for one in which sizes are not followed.
static int64_t mostExact(Type element) {
  if (element.isF32())
    return 1 << 24;
  return element.isF64() ? int64_t(1) << 53 : 0;
}

static bool isFloat(Type element) { return llvm::isa<mlir::FloatType>(element); }
static bool isExact(const Followed &x) { return llvm::isPowerOf2_64(x.under); }
static Expr magnitude(Expr x) { return x.min() >= 0 ? x : view::maximum(x, -x); }

/// Adds the limits of `operands`.
static Followed withLimits(Followed x, llvm::ArrayRef<Followed> operands) {
  for (const Followed &operand : operands)
    for (const auto &limit : operand.limits)
      if (!llvm::is_contained(x.limits, limit))
        x.limits.push_back(limit);
  return x;
}

/// x, which has to be at most `most`; nothing where it never is.
static Result within(Followed x, Expr size, int64_t most) {
  if (size.min() > most)
    return std::nullopt;
  if (size.max() > most && !llvm::is_contained(x.limits, std::pair(size, most)))
    x.limits.push_back({size, most});
  return x;
}

/// over/under as a float of this dtype, rounded once if it has to be.
static Result quotient(Expr over, int64_t under, Type element, llvm::ArrayRef<Followed> operands) {
  if (std::optional<Expr> whole = view::exactQuotient(over, under))
    over = *whole, under = 1;
  int64_t most = mostExact(element);
  if (most == 0 || under > kMostUnder)
    return std::nullopt;
  Followed x = withLimits({over, under, {}}, operands);
  return within(x, isExact(x) ? magnitude(over) : magnitude(over) + under, most);
}

static Result integer(std::optional<Expr> x, Type element, llvm::ArrayRef<Followed> operands) {
  return x && fitsInto(*x, element) ? Result(withLimits({*x, 1, {}}, operands)) : std::nullopt;
}

/// One operand's numerator, after both are brought to a common divisor.
static Expr scaled(const Followed &x, int64_t under) { return x.over * (under / x.under); }

static ElementFunction integerFunction(Alu kind, bool isBool) {
  switch (kind) {
  case Alu::ADD:
    return foldAdd;
  case Alu::MUL:
    return foldMul;
  case Alu::IDIV:
    return foldDiv;
  case Alu::FLOORDIV:
    return [](llvm::ArrayRef<Expr> x) {
      return x[1].min() > 0 ? std::optional(view::floorDiv(x[0], x[1])) : std::nullopt;
    };
  case Alu::FLOORMOD:
    return foldMod;
  case Alu::MOD:
    return [](llvm::ArrayRef<Expr> x) { return x[0].min() >= 0 ? foldMod(x) : std::nullopt; };
  case Alu::MAX:
    return foldMax;
  case Alu::MIN:
    return foldMin;
  case Alu::CMPLT:
    return foldLess;
  case Alu::CMPEQ:
    return foldEqual;
  case Alu::CMPNE:
    return foldNotEqual;
  case Alu::AND:
    return isBool ? foldMin : nullptr;
  case Alu::OR:
    return isBool ? foldMax : nullptr;
  case Alu::XOR:
    return isBool ? foldNotEqual : nullptr;
  default:
    return nullptr;
  }
}

/// The row on two floats. A division may have a rounded numerator; everything else must be exact.
static Result floatRow(Alu kind, llvm::ArrayRef<Followed> x, Type element) {
  if (kind == Alu::FDIV) {
    const Followed &by = x[1];
    if (!isExact(x[0]) || !by.over.isConst() || by.over.constant() <= 0 || by.over.constant() > kMostUnder)
      return std::nullopt;
    return quotient(x[0].over * by.under, x[0].under * by.over.constant(), element, x);
  }
  if (!llvm::all_of(x, isExact))
    return std::nullopt;
  if (kind == Alu::MUL)
    return quotient(x[0].over * x[1].over, x[0].under * x[1].under, element, x);
  int64_t under = std::max(x[0].under, x[1].under);
  Expr a = scaled(x[0], under), b = scaled(x[1], under);
  switch (kind) {
  case Alu::ADD:
    return quotient(a + b, under, element, x);
  case Alu::MAX:
    return quotient(view::maximum(a, b), under, element, x);
  case Alu::MIN:
    return quotient(view::minimum(a, b), under, element, x);
  case Alu::CMPLT:
  case Alu::CMPEQ:
  case Alu::CMPNE:
    return integer(integerFunction(kind, false)({a, b}), element, x);
  default:
    return std::nullopt;
  }
}

static Result roundRow(Alu kind, const Followed &x, Type element) {
  if (kind == Alu::CEIL)
    return quotient(view::ceilDiv(x.over, x.under), 1, element, x);
  if (kind == Alu::FLOOR || (kind == Alu::TRUNC && x.over.min() >= 0))
    return quotient(view::floorDiv(x.over, x.under), 1, element, x);
  return std::nullopt;
}

static Result castRow(const Followed &x, Type from, Type to) {
  if (isFloat(to) && isFloat(from))
    return isExact(x) ? quotient(x.over, x.under, to, x) : std::nullopt;
  if (isFloat(to))
    return quotient(x.over, 1, to, x);
  if (to.isInteger(1))
    return isExact(x) ? integer(foldNotEqual({x.over, Expr(0)}), to, x) : std::nullopt;
  if (x.under == 1)
    return integer(x.over, to, x);
  return x.over.min() >= 0 ? integer(view::floorDiv(x.over, x.under), to, x) : std::nullopt;
}

/// The result of a row of the table on an element of each operand.
static Result row(Alu kind, llvm::ArrayRef<Followed> x, Type from, Type to) {
  if (kind == Alu::CAST)
    return castRow(x[0], from, to);
  if (kind == Alu::WHERE) {
    if (!x[0].over.isConst())
      return std::nullopt;
    return withLimits(x[x[0].over.isConst(0) ? 2 : 1], x[0]);
  }
  if (kind == Alu::NEG && !from.isUnsignedInteger())
    return Followed{-x[0].over, x[0].under, x[0].limits};
  if (isFloat(from))
    return x.size() == 1 ? roundRow(kind, x[0], to) : x.size() == 2 ? floatRow(kind, x, to) : std::nullopt;
  ElementFunction function = integerFunction(kind, from.isInteger(1));
  if (!function || x.size() != 2)
    return std::nullopt;
  return integer(function({x[0].over, x[1].over}), to, x);
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

/// A constant float as a quotient of two whole numbers; nothing if one of them would be large.
static Result exactFloat(const llvm::APFloat &value) {
  double number = value.convertToDouble(), limit = 0x1p53;
  int64_t under = 1;
  while (number != std::floor(number) && under < kMostUnder) {
    number *= 2;
    under *= 2;
  }
  if (!(std::abs(number) <= limit) || number != std::floor(number) || (number == 0 && std::signbit(number)))
    return std::nullopt;
  return Followed{int64_t(number), under, {}};
}

static std::optional<FollowedElements> constantElements(mlir::DenseElementsAttr dense) {
  FollowedElements elements;
  if (llvm::isa<mlir::FloatType>(dense.getElementType())) {
    for (const llvm::APFloat &value : dense.getValues<llvm::APFloat>()) {
      Result element = exactFloat(value);
      if (!element)
        return std::nullopt;
      elements.push_back(*element);
    }
    return elements;
  }
  Tensor tensor(llvm::cast<mlir::RankedTensorType>(dense.getType()), dense, "");
  const Elements *known = tensor.exactElements();
  if (!known)
    return std::nullopt;
  for (Expr element : *known)
    elements.push_back({element, 1, {}});
  return elements;
}

static bool isSmall(Value value) {
  auto type = llvm::dyn_cast<mlir::RankedTensorType>(value.getType());
  return type && type.hasStaticShape() && type.getNumElements() <= kMostElements &&
         type.getElementType().isIntOrFloat();
}

const FollowedElements *FollowedSizes::operand(Value value) {
  if (auto found = elements_.find(value); found != elements_.end())
    return &found->second;
  std::optional<FollowedElements> made;
  mlir::DenseElementsAttr dense;
  if (!isSmall(value))
    return nullptr;
  if (auto constant = value.getDefiningOp<graph::ConstOp>())
    dense = mlir::DenseElementsAttr::get(constant.getType(), llvm::ArrayRef<mlir::Attribute>(constant.getValue()));
  else if (auto weight = value.getDefiningOp<graph::WeightOp>())
    dense = llvm::dyn_cast<mlir::DenseElementsAttr>(weight.getData());
  if (dense)
    made = constantElements(dense);
  return made ? &elements_.try_emplace(value, std::move(*made)).first->second : nullptr;
}

const FollowedElements *FollowedSizes::find(Value value) const {
  auto found = elements_.find(value);
  return found == elements_.end() ? nullptr : &found->second;
}

/// The position of element `i` of a tensor of this shape.
static llvm::SmallVector<Expr> positionOf(int64_t i, llvm::ArrayRef<int64_t> shape) {
  llvm::SmallVector<Expr> position(shape.size(), Expr(0));
  for (size_t axis = shape.size(); axis-- > 0; i /= shape[axis])
    position[axis] = i % shape[axis];
  return position;
}

std::optional<FollowedElements> FollowedSizes::move(mlir::Operation *op) {
  const FollowedElements *from = operand(op->getOperand(0));
  std::optional<view::ShapeTracker> map =
      from ? graph::movedBy(op, view::ShapeTracker::contiguous(shapeOf(op->getOperand(0)))) : std::nullopt;
  if (!map)
    return std::nullopt;
  FollowedElements elements;
  auto type = llvm::cast<mlir::RankedTensorType>(op->getResult(0).getType());
  for (int64_t i = 0; i < type.getNumElements(); ++i) {
    view::Index at = map->at(positionOf(i, type.getShape()));
    if (!at.valid.isConst() || (!at.valid.isConst(0) && !at.index.isConst()))
      return std::nullopt;
    elements.push_back(at.valid.isConst(0) ? Followed{Expr(0), 1, {}} : (*from)[at.index.constant()]);
  }
  return elements;
}

std::optional<FollowedElements> FollowedSizes::compute(graph::AluOp op) {
  // First all, then where they are: one that is new may move the others.
  if (!llvm::all_of(op.getOperands(), [&](Value value) { return operand(value); }))
    return std::nullopt;
  auto operands = llvm::map_to_vector<3>(op.getOperands(), [&](Value value) { return find(value); });
  Type from = TensorBuilder::element(op.getOperands().back()), to = TensorBuilder::element(op.getResult());
  FollowedElements elements;
  for (size_t i = 0; i < operands.front()->size(); ++i) {
    llvm::SmallVector<Followed, 3> x;
    for (const FollowedElements *each : operands)
      x.push_back((*each)[i]);
    Result element = row(op.getKind().getValue(), x, from, to);
    if (!element)
      return std::nullopt;
    elements.push_back(*element);
  }
  return elements;
}

std::optional<FollowedElements> FollowedSizes::reduce(graph::ReduceOp op) {
  const FollowedElements *from = operand(op.getInput());
  auto type = llvm::cast<mlir::RankedTensorType>(op.getInput().getType());
  if (!from || op.getScore() || type.getNumElements() == 0)
    return std::nullopt;
  mlir::RankedTensorType to = op.getType();
  std::vector<Result> sums(to.getNumElements());
  Type element = type.getElementType();
  for (int64_t i = 0; i < type.getNumElements(); ++i) {
    llvm::SmallVector<Expr> position = positionOf(i, type.getShape());
    int64_t at = 0;
    for (auto [axis, size] : llvm::enumerate(type.getShape()))
      if (!llvm::is_contained(op.getAxes(), int64_t(axis)))
        at = at * size + position[axis].constant();
    Result &sum = sums[at];
    sum = sum ? row(op.getKind().getValue(), {*sum, (*from)[i]}, element, element) : Result((*from)[i]);
    if (!sum)
      return std::nullopt;
  }
  FollowedElements elements;
  for (const Result &sum : sums)
    elements.push_back(*sum);
  return elements;
}

void FollowedSizes::follow(mlir::Operation *op) {
  if (op->getNumResults() != 1 || !isSmall(op->getResult(0)) || elements_.contains(op->getResult(0)))
    return;
  bool reads = llvm::any_of(op->getOperands(), [&](Value value) { return elements_.contains(value); });
  std::optional<FollowedElements> made;
  if (auto size = llvm::dyn_cast<graph::SizeOp>(op))
    made = FollowedElements{{size.getSize().getValue(), 1, {}}};
  else if (!reads || !llvm::all_of(op->getOperands(), isSmall))
    return;
  else if (auto alu = llvm::dyn_cast<graph::AluOp>(op))
    made = compute(alu);
  else if (auto sum = llvm::dyn_cast<graph::ReduceOp>(op))
    made = reduce(sum);
  else
    made = move(op);
  if (made)
    elements_.try_emplace(op->getResult(0), std::move(*made));
}
