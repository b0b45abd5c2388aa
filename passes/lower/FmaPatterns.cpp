//===- FmaPatterns.cpp - Sums of products with one rounding per term --------------===//
// A multiply-add that rounds once is twice as fast as a product and a sum, and closer. It is used where lowering says
// that a total takes in a term (`contract`), and nowhere else: a·b + c·d would be rounded unlike c·d + a·b. At a point
// outside the domain the term counts as 0, so that the total stays the same there, and the others round as they do away
// from the edge.
//===------------------------------------------------------------------------------===//

#include "passes/lower/RewriteSets.h"

#include "mlir/IR/BuiltinAttributes.h"

using namespace kiln;
using namespace kiln::lower;
using namespace mlir;

/// Single and double precision; with narrower floats the product is rounded to float32 anyway.
static bool isFused(Type type) {
  Type element = getElementTypeOrSelf(type);
  return element.isF32() || element.isF64();
}

static uop::AluOp onlyProductOf(Value value) {
  uop::AluOp product = rowOf(value, Alu::MUL);
  return product && product->hasOneUse() ? product : uop::AluOp();
}

/// At the place of the product, if the total is known there: lowering writes all products of a step before its sums,
/// each after the loads and splats that only it needs, which would otherwise all wait in registers.
static Value fuse(LanesWriter &writer, uop::AluOp product, Value total) {
  Block *block = writer.rewriter.getInsertionBlock();
  Operation *made = total.getDefiningOp();
  bool isKnown = !made || made->getBlock() != block || made->isBeforeInBlock(product);
  OpBuilder::InsertionGuard guard(writer.rewriter);
  if (product->getBlock() == block && isKnown)
    writer.rewriter.setInsertionPoint(product);
  return uop::FmaOp::create(writer.rewriter, writer.loc, total.getType(), product.getOperand(0), product.getOperand(1),
                            total);
}

static Value fuseTerm(uop::AluOp sum, LanesWriter &writer) {
  uop::AluOp product = onlyProductOf(sum.getOperand(1));
  if (!sum->hasAttr(kContract) || !product || !isFused(sum.getType()))
    return {};
  return fuse(writer, product, sum.getOperand(0));
}

static Value fuseTermInside(uop::AluOp sum, LanesWriter &writer) {
  uop::AluOp term = rowOf(sum.getOperand(1), Alu::WHERE);
  if (!sum->hasAttr(kContract) || !term || !term->hasOneUse() || !isFused(sum.getType()))
    return {};
  uop::AluOp product = onlyProductOf(term.getOperand(1));
  auto otherwise = dyn_cast_or_null<FloatAttr>(constantOf(term.getOperand(2)));
  if (!product || !otherwise || !otherwise.getValue().isZero())
    return {};
  Value total = sum.getOperand(0), fused = fuse(writer, product, total);
  return writer.alu(Alu::WHERE, {term.getOperand(0), fused, total}, getElementTypeOrSelf(total.getType()));
}

void lower::addFmaPatterns(RewritePatternSet &set, const RewriteContext &context) {
  static constexpr NamedRow kRows[] = {{"fuse-term", Alu::ADD, fuseTerm},
                                       {"fuse-term-inside", Alu::ADD, fuseTermInside}};
  if (context.target.getFma())
    addRows(set, context, kRows);
}
