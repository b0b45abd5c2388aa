//===- FoldPatterns.cpp - Uops whose result or condition is known ---------------------===//
//
// Lowering writes each op for the general case: an access has a gate although no element of it is outside, and a vector
// is taken apart into lanes which are then put together again. Once numbers are known much of this can be said in fewer
// uops, or none:
//     where(true, a, b) is a;  a load whose gate is false is its other value;  all lanes of a vector are that vector
// Only rows with one result, whoever computes them, are computed here. Functions such as exp differ from one library to
// the next, so their results have to come from where the rest of the kernel runs.
//
//===----------------------------------------------------------------------------------===//
#include "passes/lower/RewriteSets.h"

#include "ir/base/Evaluate.h"

#include "mlir/IR/BuiltinAttributes.h"

using namespace kiln;
using namespace kiln::lower;
using namespace mlir;

//===----------------------------------------------------------------------===//
// fold
//===----------------------------------------------------------------------===//

static bool isTrue(TypedAttr attribute) {
  auto integer = dyn_cast_or_null<IntegerAttr>(attribute);
  return integer && integer.getType().isInteger(1) && integer.getValue().isOne();
}
static bool isFalse(TypedAttr attribute) {
  auto integer = dyn_cast_or_null<IntegerAttr>(attribute);
  return integer && integer.getType().isInteger(1) && integer.getValue().isZero();
}

static Value chosenArm(uop::AluOp op, LanesWriter &) {
  Value condition = op.getOperand(0), a = op.getOperand(1), b = op.getOperand(2);
  if (a == b || isTrue(constantOf(condition)))
    return a;
  return isFalse(constantOf(condition)) ? b : Value();
}

/// A conversion, or a bit cast, of one type to itself.
static Value sameType(uop::AluOp op, LanesWriter &) {
  return op.getOperand(0).getType() == op.getType() ? op.getOperand(0) : Value();
}

static Value bitsOfBits(uop::AluOp op, LanesWriter &writer) {
  uop::AluOp inner = rowOf(op.getOperand(0), Alu::BITCAST);
  if (!inner)
    return {};
  if (inner.getOperand(0).getType() == op.getType())
    return inner.getOperand(0);
  return writer.alu(Alu::BITCAST, inner.getOperand(0), getElementTypeOrSelf(op.getType()));
}

static Value negatedTwice(uop::AluOp op, LanesWriter &) {
  uop::AluOp inner = rowOf(op.getOperand(0), Alu::NEG);
  return inner ? inner.getOperand(0) : Value();
}

template <Alu Kind> static Value ofConstants(uop::AluOp op, LanesWriter &writer) {
  SmallVector<Scalar, 3> scalars;
  for (Value operand : op.getOperands()) {
    TypedAttr number = constantOf(operand);
    if (!number)
      return {};
    scalars.push_back(Scalar::of(number));
  }
  std::optional<DType> dtype = dtypeOf(getElementTypeOrSelf(op.getType()));
  std::optional<Scalar> result = dtype ? evaluateAlu(Kind, scalars, *dtype) : std::nullopt;
  if (!result)
    return {};
  return writer.constants.get(writer.rewriter, result->attribute(op.getContext()), uop::lanesOf(op.getType()));
}

void lower::addFoldPatterns(RewritePatternSet &set, const RewriteContext &context) {
  // Rows that have one result, whoever computes them.
  static constexpr NamedRow kRows[] = {{"chosen-arm", Alu::WHERE, chosenArm},
                                       {"same-type", Alu::CAST, sameType},
                                       {"same-type", Alu::BITCAST, sameType},
                                       {"bits-of-bits", Alu::BITCAST, bitsOfBits},
                                       {"negated-twice", Alu::NEG, negatedTwice},
                                       {"of-constants", Alu::NEG, ofConstants<Alu::NEG>},
                                       {"of-constants", Alu::ADD, ofConstants<Alu::ADD>},
                                       {"of-constants", Alu::MUL, ofConstants<Alu::MUL>},
                                       {"of-constants", Alu::CAST, ofConstants<Alu::CAST>},
                                       {"of-constants", Alu::CMPLT, ofConstants<Alu::CMPLT>},
                                       {"of-constants", Alu::AND, ofConstants<Alu::AND>},
                                       {"of-constants", Alu::OR, ofConstants<Alu::OR>}};
  addRows(set, context, kRows);
}

//===----------------------------------------------------------------------===//
// gates
//===----------------------------------------------------------------------===//

namespace {
struct KnownLoad final : OpRewritePattern<uop::LoadOp> {
  explicit KnownLoad(MLIRContext *context) : OpRewritePattern(context) { setDebugName("known-load"); }
  LogicalResult matchAndRewrite(uop::LoadOp op, PatternRewriter &rewriter) const override {
    TypedAttr gate = op.getGate() ? constantOf(op.getGate()) : TypedAttr();
    if (isFalse(gate)) {
      rewriter.replaceOp(op, op.getOtherwise());
      return success();
    }
    if (!isTrue(gate))
      return failure();
    rewriter.modifyOpInPlace(op, [&] {
      op.getGateMutable().clear();
      op.getOtherwiseMutable().clear();
    });
    return success();
  }
};

struct KnownStore final : OpRewritePattern<uop::StoreOp> {
  explicit KnownStore(MLIRContext *context) : OpRewritePattern(context) { setDebugName("known-store"); }
  LogicalResult matchAndRewrite(uop::StoreOp op, PatternRewriter &rewriter) const override {
    TypedAttr gate = op.getGate() ? constantOf(op.getGate()) : TypedAttr();
    if (isFalse(gate)) {
      rewriter.eraseOp(op);
      return success();
    }
    if (!isTrue(gate))
      return failure();
    rewriter.modifyOpInPlace(op, [&] { op.getGateMutable().clear(); });
    return success();
  }
};
} // namespace

/// Compares a number for each lane with a bound for all in 32 bits instead of 64: a vector has twice as many of these,
/// and a mask of float32 has as many bits.
static Value countedLanes(uop::AluOp op, LanesWriter &writer) {
  constexpr int64_t kMost = 1 << 16;
  auto numbers = op.getOperand(0).getDefiningOp<uop::VectorizeOp>(),
       bound = op.getOperand(1).getDefiningOp<uop::VectorizeOp>();
  if (!numbers || !bound || numbers.getLanes().size() == 1 || bound.getLanes().size() > 1 ||
      !getElementTypeOrSelf(numbers.getType()).isInteger(64))
    return {};
  SmallVector<Value> narrow;
  Type type = writer.rewriter.getI32Type();
  int64_t least = kMost, largest = -kMost;
  for (Value lane : numbers.getLanes()) {
    auto number = dyn_cast_or_null<IntegerAttr>(constantOf(lane));
    if (!number || number.getInt() <= -kMost || number.getInt() >= kMost)
      return {};
    least = std::min(least, number.getInt());
    largest = std::max(largest, number.getInt());
    narrow.push_back(writer.constants.get(writer.rewriter, IntegerAttr::get(type, number.getInt()), /*lanes=*/1));
  }
  // No number is less than the least, all are less than one more than the largest.
  Lanes given(writer, bound.getLanes().front());
  Lanes near = binary(Alu::MAX, binary(Alu::MIN, given, double(largest + 1)), double(least)).castTo(type);
  auto vector = [&](Type element) { return VectorType::get(int64_t(narrow.size()), element); };
  Value lanes = uop::VectorizeOp::create(writer.rewriter, writer.loc, vector(type), narrow);
  Value most = uop::VectorizeOp::create(writer.rewriter, writer.loc, vector(type), near.value());
  return writer.alu(Alu::CMPLT, {lanes, most}, writer.rewriter.getI1Type());
}

void lower::addGatePatterns(RewritePatternSet &set, const RewriteContext &context) {
  set.add<KnownLoad, KnownStore>(set.getContext());
  static constexpr NamedRow kRows[] = {{"counted-lanes", Alu::CMPLT, countedLanes}};
  addRows(set, context, kRows);
}

//===----------------------------------------------------------------------===//
// vector
//===----------------------------------------------------------------------===//

namespace {
struct LaneOfLanes final : OpRewritePattern<uop::GepOp> {
  explicit LaneOfLanes(MLIRContext *context) : OpRewritePattern(context) { setDebugName("lane-of-lanes"); }
  LogicalResult matchAndRewrite(uop::GepOp op, PatternRewriter &rewriter) const override {
    if (auto whole = op.getVector().getDefiningOp<uop::GepOp>()) {
      rewriter.replaceOpWithNewOp<uop::GepOp>(op, op.getType(), whole.getVector(), whole.getLane() + op.getLane());
      return success();
    }
    auto vector = op.getVector().getDefiningOp<uop::VectorizeOp>();
    if (!vector)
      return failure();
    ValueRange lanes = vector.getLanes();
    if (lanes.size() > 1)
      lanes = lanes.slice(op.getLane(), uop::lanesOf(op.getType()));
    if (isa<VectorType>(op.getType()))
      rewriter.replaceOpWithNewOp<uop::VectorizeOp>(op, op.getType(), lanes);
    else
      rewriter.replaceOp(op, lanes[0]);
    return success();
  }
};

/// Lanes that are one value, or those of one vector in order.
struct WholeVector final : OpRewritePattern<uop::VectorizeOp> {
  explicit WholeVector(MLIRContext *context) : OpRewritePattern(context) { setDebugName("whole-vector"); }
  LogicalResult matchAndRewrite(uop::VectorizeOp op, PatternRewriter &rewriter) const override {
    ValueRange lanes = op.getLanes();
    if (lanes.size() == 1)
      return failure();
    if (llvm::all_equal(lanes)) {
      rewriter.replaceOpWithNewOp<uop::VectorizeOp>(op, op.getType(), lanes[0]);
      return success();
    }
    auto first = lanes[0].getDefiningOp<uop::GepOp>();
    if (!first || first.getVector().getType() != op.getType())
      return failure();
    for (auto [index, lane] : llvm::enumerate(lanes)) {
      auto gep = lane.getDefiningOp<uop::GepOp>();
      if (!gep || gep.getVector() != first.getVector() || gep.getLane() != index)
        return failure();
    }
    rewriter.replaceOp(op, first.getVector());
    return success();
  }
};
} // namespace

void lower::addVectorPatterns(RewritePatternSet &set, const RewriteContext &) {
  set.add<LaneOfLanes, WholeVector>(set.getContext());
}
