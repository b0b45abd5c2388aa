//===- SkipPatterns.cpp - Steps of sums that add nothing ---------------------------===//
// A tap of a convolution that lies in the padding for all rows of a tile reads a zero for each channel and multiplies
// it with a weight. With a wide dilation, as in segmentation's pyramids, most taps do so; only the run knows which. The
// masks of such a sum are known before the loop over its channels, so that a loop whose masks are all false has no
// steps. A weight that is infinite or no number does not count there, as 0 times it would.
//===-------------------------------------------------------------------------------===//

#include "passes/lower/RewriteSets.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/SetVector.h"

using namespace kiln;
using namespace kiln::lower;
using namespace mlir;

/// Shorter loops are not worth a test, nor are more masks than this.
static constexpr int64_t kFewestSteps = 64, kMostMasks = 16;

static std::optional<int64_t> known(Value bound) {
  auto number = dyn_cast_or_null<IntegerAttr>(constantOf(bound));
  return number ? std::optional(number.getInt()) : std::nullopt;
}

/// The bool known before the loop that decides whether this factor is not 0; null: it may be anything.
static Value maskOf(Value factor, uop::RangeOp loop) {
  if (auto splat = factor.getDefiningOp<uop::VectorizeOp>(); splat && splat.getLanes().size() == 1)
    factor = splat.getLanes().front();
  if (uop::AluOp cast = rowOf(factor, Alu::CAST))
    factor = cast.getOperand(0);
  auto load = factor.getDefiningOp<uop::LoadOp>();
  if (!load || !load.getGate() || isa<VectorType>(load.getGate().getType()) ||
      loop.getBody().isAncestor(load.getGate().getParentRegion()))
    return {};
  TypedAttr otherwise = constantOf(load.getOtherwise());
  return otherwise && (matchPattern(otherwise, m_AnyZeroFloat()) || matchPattern(otherwise, m_Zero())) ? load.getGate()
                                                                                                       : Value();
}

/// Adds the masks of the products by which a total grows in a step; false: it does something else, too.
static bool collectMasks(Value total, Value before, uop::RangeOp loop, llvm::SetVector<Value> &masks) {
  while (total != before) {
    Value a, b;
    if (auto fused = total.getDefiningOp<uop::FmaOp>()) {
      a = fused.getA(), b = fused.getB(), total = fused.getC();
    } else {
      uop::AluOp sum = rowOf(total, Alu::ADD), product = sum ? rowOf(sum.getOperand(1), Alu::MUL) : uop::AluOp();
      if (!product)
        return false;
      a = product.getOperand(0), b = product.getOperand(1), total = sum.getOperand(0);
    }
    Value mask = maskOf(a, loop);
    mask = mask ? mask : maskOf(b, loop);
    if (!mask)
      return false;
    masks.insert(mask);
  }
  return true;
}

namespace {
struct SkipZeros final : OpRewritePattern<uop::RangeOp> {
  SkipZeros(MLIRContext *context, const RewriteContext &rewriteContext)
      : OpRewritePattern(context), context_(rewriteContext) {
    setDebugName("skip-zeros");
  }

  LogicalResult matchAndRewrite(uop::RangeOp op, PatternRewriter &rewriter) const override {
    std::optional<int64_t> from = known(op.getFrom()), to = known(op.getTo());
    if (!from || !to || *to - *from < kFewestSteps || op.getResults().empty())
      return failure();
    llvm::SetVector<Value> masks;
    for (auto [total, before] : llvm::zip(op.getYield().getValues(), op.getCarried()))
      if (!collectMasks(total, before, op, masks))
        return failure();
    bool doesMore = op.walk([&](Operation *inner) {
                        bool isFree =
                            isa<uop::LoadOp, uop::PrefetchOp, uop::IfOp, uop::RangeOp>(inner) || isPure(inner);
                        return isFree ? WalkResult::advance() : WalkResult::interrupt();
                      }).wasInterrupted();
    if (doesMore || int64_t(masks.size()) > kMostMasks)
      return failure();
    rewriter.setInsertionPoint(op);
    LanesWriter writer{rewriter, op.getLoc(), context_.constants, context_.target.getFma(), /*scales=*/false};
    Value any = masks.front();
    for (Value mask : llvm::drop_begin(masks))
      any = writer.alu(Alu::OR, {any, mask}, any.getType());
    Value end = writer.alu(Alu::WHERE, {any, op.getTo(), op.getFrom()}, op.getTo().getType());
    rewriter.modifyOpInPlace(op, [&] { op.getToMutable().assign(end); });
    return success();
  }

private:
  const RewriteContext &context_;
};
} // namespace

void lower::addSkipPatterns(RewritePatternSet &set, const RewriteContext &context) {
  if (!context.target.hasGroups()) // there each item of a group would ask for itself
    set.add<SkipZeros>(set.getContext(), context);
}
