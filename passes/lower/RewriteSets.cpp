#include "passes/lower/RewriteSets.h"

using namespace kiln;
using namespace kiln::lower;
using namespace mlir;

LogicalResult RowPattern::matchAndRewrite(uop::AluOp op, PatternRewriter &rewriter) const {
  if (op.getKind().getValue() != kind_)
    return failure();
  LanesWriter writer{rewriter, op.getLoc(), context_.constants, context_.target.getFma(),
                     context_.target.isNative(Alu::LDEXP)};
  Value value = rewrite_(op, writer);
  if (!value)
    return failure();
  rewriter.replaceOp(op, value);
  return success();
}

void lower::addRows(RewritePatternSet &set, const RewriteContext &context, ArrayRef<NamedRow> rows) {
  for (const NamedRow &row : rows)
    set.add<RowPattern>(set.getContext(), context, row.name, row.kind, row.rewrite);
}

TypedAttr lower::constantOf(Value value) {
  auto splat = value.getDefiningOp<uop::VectorizeOp>();
  if (splat && splat.getLanes().size() == 1)
    value = splat.getLanes().front();
  auto constant = value.getDefiningOp<uop::ConstOp>();
  return constant ? constant.getValue() : TypedAttr();
}

uop::AluOp lower::rowOf(Value value, Alu kind) {
  auto alu = value.getDefiningOp<uop::AluOp>();
  return alu && alu.getKind().getValue() == kind ? alu : uop::AluOp();
}
