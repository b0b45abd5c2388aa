//===- SumByBlocks.cpp - Sums whose scales stand still along blocks --------------------===//
// Stage: schedule (graph → graph).
// Weights of few bits have a scale for each block of a row, and so may the rows that they are multiplied with. What
// stands still along a block is multiplied once for it:
//   Σ_k a·s·(w − z)·t = Σ_blocks s·t · Σ_block a·(w − z).
// Sums within a block are of integers if both factors are bytes, which is exact; else of floats, of numbers that are
// widened as they are read. A weight of 4 bits is stored so: a byte holds number i of a block and number i + n / 2, so
// that a vector of bytes unpacks to two vectors of neighbours. Weights of 2 bits have four such parts.
// Expects: views folded.
// Guarantees: one of the factors within a block is a constant of bytes. Results change by roundings of floats.
// Position: before zero points are taken from products of bytes.
//===-----------------------------------------------------------------------------------===//

#include "passes/Passes.h"

#include "ir/graph/DeadOps.h"

#include "passes/schedule/Domain.h"
#include "passes/schedule/IntegerBounds.h"
#include "passes/schedule/KnownConstants.h"
#include "passes/schedule/Products.h"

#include "target/Target.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/TypeUtilities.h"

using namespace kiln;
using namespace kiln::schedule;
using namespace mlir;
using view::Expr;
using view::ShapeTracker;

namespace kiln {
#define GEN_PASS_DEF_SUMBYBLOCKS
#include "passes/Passes.h.inc"
} // namespace kiln

/// Shorter blocks are not worth a sum of their own. Longer ones are multiples of it, as dots and vectors take them.
static constexpr int64_t kShortestBlock = 16;
/// Zero points of bytes are no larger than this.
static constexpr int64_t kMostOfZero = 1 << 16;

/// A chain of operations that is longer is not looked through.
static constexpr unsigned kMostSteps = 8;

/// The largest number of 8 bits.
static constexpr int64_t kLargestByte = 255;

namespace {
/// A factor within a block: bytes less a zero point, or null bytes and the factor itself, a tensor of floats. All are
/// seen from the shape of the sum's input.
struct Factor {
  Edge whole;
  std::optional<Edge> bytes = std::nullopt;
  int64_t number = 0;                       ///< that is added to the bytes
  std::optional<Edge> zeros = std::nullopt; ///< integers that are subtracted from them

  bool isPlain() const { return number == 0 && !zeros; }
};

class Splitter {
public:
  Splitter(graph::ReduceOp sum, KnownConstants &constants)
      : sum_(sum), constants_(constants), builder_(sum), loc_(sum.getLoc()), input_(shapeOf(sum.getInput())) {}

  /// Finds a block along which all factors but two stand still. False if no block does, or if neither of the two is a
  /// constant with as many results as a vector has `lanes`.
  bool match(int64_t lanes);
  /// The sum by blocks; `dots`: products of bytes are of integers.
  Value rewrite(bool dots);

private:
  /// A tracker from the sum's input with the summed axis as blocks and what is inside them.
  ShapeTracker split(const ShapeTracker &tracker, int64_t block) const {
    view::Shape shape(input_);
    shape[axis_] = input_[axis_].constant() / block;
    shape.insert(shape.begin() + axis_ + 1, block);
    return tracker.reshape(shape).simplify();
  }
  /// Whether a tensor has one number for each block, also if it is computed of such.
  bool isStill(const Edge &edge, int64_t block, unsigned steps = kMostSteps) const;
  /// Notes the factors of a product that stand still along a block; what is left of it.
  Edge takeScales(Edge edge);
  Factor factorOf(const Edge &edge) const;
  /// Integers that stand still along a block, perhaps cast; nullopt: an edge leads to something else.
  std::optional<Edge> integersOf(const Edge &edge) const;
  /// Whether a factor is bytes that are known at compile time.
  bool isConstant(const Factor &factor) const { return factor.bytes && constants_.isConstant(factor.bytes->base); }
  /// Whether a block of products of bytes with a factor, less its zero points, fits 32 bits.
  bool fitsIntegers(const Factor &factor) const;
  /// Stores a constant of few bits in as many.
  void pack(Factor &factor);
  /// What an edge from the sum's input shows, at the points of the domain along which it moves.
  Value compact(const Edge &edge);
  /// A factor's bytes at those points; and the same less its zero points, as integers of a dtype, which may wrap
  /// around.
  Value bytesAt(const Factor &factor);
  Value integersAt(const Factor &factor, Type element);
  /// The negatives of zero points, at the points along which these move.
  Value lessZerosAt(const Edge &edge, Type element);
  /// The weight's zero points times the sums of `rows` along the axes `inner`, at the points of the results.
  Value zerosTimesRows(const Factor &weight, const Factor &rows, ArrayRef<int64_t> inner, ArrayRef<Expr> results);
  /// A factor at the points of the domain, as integers of 32 bits or as floats.
  Value at(const Factor &factor, bool areIntegers);
  Value row(Alu kind, ValueRange operands, Type element = {});
  Value number(Value like, int64_t value);
  Value view(Value tensor, const ShapeTracker &tracker) { return tensorOf(builder_, loc_, {tensor, tracker}); }

  mutable graph::ReduceOp sum_;
  KnownConstants &constants_;
  OpBuilder builder_;
  Location loc_;
  view::Shape input_, domain_; ///< the sum's input; the same with blocks, and with parts of these
  int64_t axis_ = -1, block_ = 0, parts_ = 1;
  unsigned bits_ = 8; ///< of the packed constant
  Value packed_;      ///< [… blocks, elements of a part]; null: it stays as it is
  SmallVector<Edge> scales_;
  SmallVector<Factor, 2> factors_;
};
} // namespace

/// The factors of a product of floats, seen from the shape that `around` starts from.
static void collectFactors(Value value, const ShapeTracker &around, SmallVectorImpl<Edge> &factors) {
  Edge edge = through(value, around);
  graph::AluOp product = aluOf(edge.base, Alu::MUL);
  if (!product || !getElementTypeOrSelf(product->getResult(0)).isF32() || edge.tracker.isMasked()) {
    factors.push_back({edge.base, edge.tracker.simplify()});
    return;
  }
  for (Value operand : product->getOperands())
    collectFactors(operand, edge.tracker, factors);
}

/// The tracker at the points of the axes along which it moves.
static ShapeTracker alongItsAxes(const ShapeTracker &tracker) {
  llvm::SmallBitVector moves = axesOf(tracker);
  SmallVector<view::Range> ranges;
  for (auto [axis, size] : llvm::enumerate(tracker.shape()))
    ranges.push_back({0, moves.test(axis) ? size : Expr(1)});
  return tracker.shrink(ranges).simplify();
}

/// Bytes that a cast widens.
static std::optional<Edge> widenedBytes(const Edge &edge) {
  graph::AluOp cast = aluOf(edge.base, Alu::CAST);
  if (!cast || !getElementTypeOrSelf(cast->getOperand(0)).isInteger(8))
    return std::nullopt;
  return through(cast->getOperand(0), edge.tracker);
}

bool Splitter::isStill(const Edge &edge, int64_t block, unsigned steps) const {
  if (edge.base.getDefiningOp<graph::ConstOp>() || !axesOf(split(edge.tracker, block)).test(axis_ + 1))
    return true;
  auto alu = edge.base.getDefiningOp<graph::AluOp>();
  return alu && steps > 0 && llvm::all_of(alu->getOperands(), [&](Value operand) {
           return isStill(through(operand, edge.tracker), block, steps - 1);
         });
}

std::optional<Edge> Splitter::integersOf(const Edge &edge) const {
  if (!isStill(edge, block_))
    return std::nullopt;
  auto isSmall = [](Value value) {
    std::optional<llvm::ConstantRange> bounds = boundsOf(value);
    return bounds && between(-kMostOfZero, kMostOfZero).contains(*bounds);
  };
  if (graph::AluOp cast = aluOf(edge.base, Alu::CAST); cast && isSmall(cast->getOperand(0)))
    return through(cast->getOperand(0), edge.tracker);
  return isSmall(edge.base) ? std::optional(edge) : std::nullopt;
}

/// A number that is a whole one of at most a byte's size, with a sign or not.
static std::optional<int64_t> smallNumber(const Edge &edge) {
  graph::ConstOp constant = numberThroughout(edge);
  if (!constant)
    return std::nullopt;
  if (auto integer = dyn_cast<IntegerAttr>(constant.getValue()))
    return std::abs(numberOf(integer)) <= kLargestByte ? std::optional(numberOf(integer)) : std::nullopt;
  auto value = dyn_cast<FloatAttr>(constant.getValue());
  double number = value ? value.getValueAsDouble() : kLargestByte + 1;
  return std::abs(number) <= kLargestByte && number == std::trunc(number) ? std::optional(int64_t(number))
                                                                          : std::nullopt;
}

Edge Splitter::takeScales(Edge edge) {
  while (graph::AluOp product = edge.tracker.isMasked() ? graph::AluOp() : aluOf(edge.base, Alu::MUL)) {
    Edge one = through(product->getOperand(0), edge.tracker), other = through(product->getOperand(1), edge.tracker);
    bool isOne = isStill(one, block_);
    if (!isOne && !isStill(other, block_))
      break;
    scales_.push_back(isOne ? one : other);
    edge = isOne ? other : one;
  }
  return edge;
}

Factor Splitter::factorOf(const Edge &edge) const {
  // Floats may be cast from the difference as integers.
  Edge difference = edge;
  if (graph::AluOp cast = aluOf(edge.base, Alu::CAST); cast && !widenedBytes(edge))
    difference = through(cast->getOperand(0), edge.tracker);
  Factor factor{edge, widenedBytes(difference)};
  graph::AluOp add = aluOf(difference.base, Alu::ADD);
  for (unsigned side = 0; add && !factor.bytes && side < 2; ++side) {
    std::optional<Edge> bytes = widenedBytes(through(add->getOperand(side), difference.tracker));
    if (!bytes)
      continue;
    Edge other = through(add->getOperand(1 - side), difference.tracker);
    std::optional<int64_t> number = smallNumber(other);
    if (graph::AluOp neg = aluOf(other.base, Alu::NEG))
      factor.zeros = integersOf(through(neg->getOperand(0), other.tracker));
    if (number || factor.zeros)
      factor.bytes = bytes;
    factor.number = number.value_or(0);
  }
  // Zero points that move along other axes than the bytes would repeat these.
  bool isOther = factor.bytes && factor.bytes->tracker.isMasked();
  if (factor.bytes && factor.zeros) {
    llvm::SmallBitVector own = axesOf(factor.bytes->tracker), others = axesOf(factor.zeros->tracker);
    isOther |= factor.zeros->tracker.isMasked() || others.test(own);
  }
  return isOther ? Factor{edge} : factor;
}

bool Splitter::match(int64_t lanes) {
  if (sum_.getKind().getValue() != Alu::ADD || sum_.getScore() || sum_.getAxes().size() != 1 ||
      !getElementTypeOrSelf(sum_).isF32() || edgeOf(sum_.getInput()).tracker.isMasked() || !multiplicationOf(sum_))
    return false;
  axis_ = sum_.getAxes().front();
  if (!input_[axis_].isConst())
    return false;
  SmallVector<Edge> factors;
  collectFactors(sum_.getInput(), ShapeTracker::contiguous(input_), factors);
  int64_t terms = input_[axis_].constant();
  // Blocks are what some view repeats, the shortest of several factors.
  for (const Edge &factor : factors) {
    int64_t own = 0;
    for (const view::View &view : factor.tracker.views())
      for (Expr size : view.shape()) {
        int64_t block = size.asConst().value_or(0);
        if (block > own && block % kShortestBlock == 0 && block < terms && terms % block == 0 &&
            isStill(factor, block) && axesOf(split(factor.tracker, block)).test(axis_))
          own = block;
      }
    if (own > 0 && (block_ == 0 || own < block_))
      block_ = own;
  }
  if (block_ == 0)
    return false;
  Edge input = edgeOf(sum_.getInput());
  graph::AluOp product = aluOf(input.base, Alu::MUL);
  for (Value operand : product->getOperands())
    factors_.push_back(factorOf(takeScales(through(operand, input.tracker))));
  if (scales_.empty())
    return false;
  // Both would be computed at compile time.
  if (isConstant(factors_[0]) && isConstant(factors_[1]))
    return false;
  return llvm::any_of(factors_, [&](const Factor &factor) {
    llvm::SmallBitVector moves = axesOf(factor.whole.tracker);
    return isConstant(factor) && llvm::any_of(llvm::seq<int64_t>(0, input_.size()), [&](int64_t axis) {
             return axis != axis_ && moves.test(axis) && input_[axis].asConst().value_or(0) >= lanes;
           });
  });
}

Value Splitter::row(Alu kind, ValueRange operands, Type element) {
  auto made = element ? graph::AluOp::create(builder_, loc_, kind, operands, element)
                      : graph::AluOp::create(builder_, loc_, kind, operands);
  constants_.add(made);
  return made;
}

Value Splitter::number(Value like, int64_t value) {
  auto type = cast<RankedTensorType>(like.getType());
  return graph::ConstOp::create(
      builder_, loc_, type,
      builder_.getIntegerAttr(type.getElementType(),
                              APInt(64, value, /*isSigned=*/true).trunc(type.getElementTypeBitWidth())));
}

bool Splitter::fitsIntegers(const Factor &factor) const {
  int64_t largest = kLargestByte + std::abs(factor.number);
  if (factor.zeros)
    largest += boundsOf(factor.zeros->base)->abs().getUnsignedMax().getSExtValue();
  return block_ <= std::numeric_limits<int32_t>::max() / (kLargestByte * largest);
}

void Splitter::pack(Factor &factor) {
  std::optional<llvm::ConstantRange> bounds = boundsOf(factor.bytes->base);
  if (!bounds)
    return;
  int64_t low = bounds->getSignedMin().getSExtValue(), high = bounds->getSignedMax().getSExtValue();
  for (int64_t bits : {2, 4})
    if (bits_ == 8 && high - std::min<int64_t>(low, 0) < int64_t(1) << bits)
      bits_ = bits;
  if (bits_ == 8)
    return;
  parts_ = 8 / bits_;
  Value bytes = view(factor.bytes->base, alongItsAxes(split(factor.bytes->tracker, block_)));
  Type byte = builder_.getIntegerType(8, /*isSigned=*/false);
  if (low < 0) {
    bytes = row(Alu::CAST, bytes, builder_.getIntegerType(8));
    bytes = row(Alu::ADD, {bytes, number(bytes, -low)});
    factor.number += low;
  }
  if (getElementTypeOrSelf(bytes) != byte)
    bytes = row(Alu::CAST, bytes, byte);
  // Blocks are [parts, elements].
  view::Shape parts = shapeOf(bytes), part(parts);
  parts[axis_ + 1] = parts_;
  parts.insert(parts.begin() + axis_ + 2, block_ / parts_);
  part[axis_ + 1] = block_ / parts_;
  Edge whole = edgeOf(bytes);
  Value packed;
  for (int64_t i = 0; i < parts_; ++i) {
    SmallVector<view::Range> cut;
    for (Expr size : parts)
      cut.push_back({0, size});
    cut[axis_ + 1] = {i, i + 1};
    Value numbers = view(whole.base, whole.tracker.reshape(parts).shrink(cut).reshape(part).simplify());
    if (i > 0)
      numbers = row(Alu::SHL, {numbers, number(numbers, i * bits_)});
    packed = packed ? row(Alu::ADD, {packed, numbers}) : numbers;
  }
  packed_ = graph::ContiguousOp::create(builder_, loc_, packed.getType(), packed);
  constants_.add(packed_.getDefiningOp());
}

Value Splitter::compact(const Edge &edge) {
  return view(edge.base, alongItsAxes(edge.tracker.reshape(domain_).simplify()));
}

Value Splitter::bytesAt(const Factor &factor) {
  if (!packed_ || !isConstant(factor))
    return compact(*factor.bytes);
  view::Shape stored = shapeOf(packed_), own(stored), place(domain_.size(), 1);
  stored.insert(stored.begin() + axis_ + 1, 1);
  own.insert(own.begin() + axis_ + 1, parts_);
  place[axis_ + 1] = parts_;
  Value bytes = view(packed_, ShapeTracker::contiguous(shapeOf(packed_)).reshape(stored).expand(own));
  Type byte = getElementTypeOrSelf(packed_);
  Value parts = graph::IotaOp::create(builder_, loc_, tensorType({parts_}, byte));
  Value shifts = row(Alu::MUL, {parts, number(parts, bits_)});
  shifts = view(shifts, ShapeTracker::contiguous({parts_}).reshape(place).expand(own));
  bytes = row(Alu::SHR, {bytes, shifts});
  return row(Alu::AND, {bytes, number(bytes, (1 << bits_) - 1)});
}

Value Splitter::lessZerosAt(const Edge &edge, Type element) {
  std::optional<llvm::ConstantRange> bounds = boundsOf(edge.base);
  Type byte = builder_.getIntegerType(8);
  bool isStored = constants_.isConstant(edge.base) && bounds && between(-127, 127).contains(*bounds);
  Type own = isStored ? byte : element;
  Value zeros = compact(edge);
  zeros = row(Alu::NEG, getElementTypeOrSelf(zeros) == own ? zeros : row(Alu::CAST, zeros, own));
  // There are few: in memory as bytes, they take no time where the weight is unpacked.
  if (isStored) {
    zeros = graph::ContiguousOp::create(builder_, loc_, zeros.getType(), zeros);
    constants_.add(zeros.getDefiningOp());
  }
  return own == element ? zeros : row(Alu::CAST, zeros, element);
}

Value Splitter::integersAt(const Factor &factor, Type element) {
  Value bytes = bytesAt(factor);
  view::Shape own = shapeOf(bytes);
  if (getElementTypeOrSelf(bytes) != element)
    bytes = row(Alu::CAST, bytes, element);
  if (factor.number != 0)
    bytes = row(Alu::ADD, {bytes, number(bytes, factor.number)});
  if (factor.zeros) {
    Value zeros = lessZerosAt(*factor.zeros, element);
    Edge edge = edgeOf(zeros);
    bytes = row(Alu::ADD, {bytes, view(edge.base, edge.tracker.expand(own))});
  }
  return bytes;
}

Value Splitter::at(const Factor &factor, bool areIntegers) {
  if (!factor.bytes)
    return view(factor.whole.base, factor.whole.tracker.reshape(domain_).simplify());
  Type wide = builder_.getI32Type(), byte = builder_.getIntegerType(8);
  Value value;
  if (areIntegers) {
    value = integersAt(factor, wide);
  } else {
    // In bytes, where no result wraps around.
    bool isPacked = packed_ && isConstant(factor);
    std::optional<llvm::ConstantRange> bounds = isPacked ? between(0, (1 << bits_) - 1) : boundsOf(factor.bytes->base),
                                       zeros;
    if (bounds)
      bounds = bounds->add(between(factor.number, factor.number));
    if (factor.zeros)
      zeros = boundsOf(factor.zeros->base);
    if (bounds && zeros)
      bounds = bounds->sub(*zeros);
    bool fits = bounds && (!factor.zeros || zeros) && boundsOf(byte)->contains(*bounds);
    value = factor.isPlain() ? bytesAt(factor) : integersAt(factor, fits ? byte : wide);
    value = row(Alu::CAST, value, builder_.getF32Type());
  }
  Edge edge = edgeOf(value);
  return view(edge.base, edge.tracker.expand(domain_));
}

Value Splitter::zerosTimesRows(const Factor &weight, const Factor &rows, ArrayRef<int64_t> inner,
                               ArrayRef<Expr> results) {
  Value terms = integersAt(rows, builder_.getI32Type());
  Value total = graph::ReduceOp::create(builder_, loc_, Alu::ADD, terms, inner);
  if (!weight.zeros)
    total = row(Alu::MUL, {total, number(total, weight.number)});
  // In memory: a kernel with one more sum gets no tile.
  total = graph::ContiguousOp::create(builder_, loc_, total.getType(), total);
  total = view(total, ShapeTracker::contiguous(shapeOf(total)).expand(results));
  if (!weight.zeros)
    return total;
  Value zeros = lessZerosAt(*weight.zeros, builder_.getI32Type());
  if (weight.number != 0)
    zeros = row(Alu::ADD, {zeros, number(zeros, weight.number)});
  return row(Alu::MUL, {total, view(zeros, ShapeTracker::contiguous(shapeOf(zeros)).expand(results))});
}

Value Splitter::rewrite(bool dots) {
  for (Factor &factor : factors_)
    if (isConstant(factor) && !packed_)
      pack(factor);
  domain_ = input_;
  domain_[axis_] = input_[axis_].constant() / block_;
  SmallVector<int64_t> inner{axis_ + 1};
  if (parts_ > 1) {
    domain_.insert(domain_.begin() + axis_ + 1, parts_);
    inner.push_back(axis_ + 2);
  }
  domain_.insert(domain_.begin() + inner.back(), block_ / parts_);
  if (isConstant(factors_[0]))
    std::swap(factors_[0], factors_[1]);
  Factor &rows = factors_[0], &weight = factors_[1], plain = weight;
  bool areIntegers = dots && rows.bytes && rows.isPlain() && fitsIntegers(weight);
  if (areIntegers)
    plain.number = 0, plain.zeros = std::nullopt;
  Value product = row(Alu::MUL, {at(rows, areIntegers), at(plain, areIntegers)});
  auto block = graph::ReduceOp::create(builder_, loc_, Alu::ADD, product, inner);
  Value value = block.getResult();
  if (areIntegers) {
    // Σ a·(w − z) = Σ a·w − z·Σ a.
    if (!weight.isPlain())
      value = row(Alu::ADD, {value, zerosTimesRows(weight, rows, inner, shapeOf(value))});
    value = row(Alu::CAST, value, builder_.getF32Type());
  }
  auto scales = llvm::map_to_vector(
      scales_, [&](const Edge &edge) { return Edge{edge.base, edge.tracker.reshape(domain_).simplify()}; });
  value = multipliedAfter(builder_, block, value, scales);
  Value sum = graph::ReduceOp::create(builder_, loc_, Alu::ADD, value, {axis_});
  return view(sum, ShapeTracker::contiguous(shapeOf(sum)).reshape(shapeOf(sum_.getResult())).simplify());
}

namespace {
struct SumByBlocks : kiln::impl::SumByBlocksBase<SumByBlocks> {
  void runOnOperation() override {
    auto main = getOperation().lookupSymbol<func::FuncOp>("main");
    TargetAttr target = targetOf(getOperation());
    // Groups have no tile for two sums in one.
    if (!main || target.hasGroups() || target.vectorBits() == 0)
      return;
    bool dots = llvm::any_of(target.getProducts(), [](ProductAttr product) {
      return product.getM() == 1 && product.getSteps() > 0 && product.getSum().isInteger(32);
    });
    KnownConstants constants(main);
    SmallVector<graph::ReduceOp> sums;
    main.walk([&](graph::ReduceOp sum) { sums.push_back(sum); });
    for (graph::ReduceOp sum : sums) {
      Splitter splitter(sum, constants);
      if (!splitter.match(target.vectorBits() / 32))
        continue;
      replaceByEdge(sum.getResult(), edgeOf(splitter.rewrite(dots)));
      sum.erase();
    }
    graph::eraseDeadOps(main);
  }
};
} // namespace
