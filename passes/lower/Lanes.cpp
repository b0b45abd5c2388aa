#include "passes/lower/Lanes.h"

#include "mlir/IR/BuiltinAttributes.h"

using namespace kiln;
using namespace kiln::lower;
using namespace mlir;

Value Constants::get(OpBuilder &builder, TypedAttr number, unsigned lanes) {
  Value &known = known_[{number, lanes}];
  if (known)
    return known;
  if (lanes > 1) {
    Value scalar = get(builder, number, 1);
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointAfterValue(scalar);
    return known_[{number, lanes}] =
               uop::VectorizeOp::create(builder, func_.getLoc(), VectorType::get({lanes}, number.getType()), scalar);
  }
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(&func_.getBody().front());
  return known = uop::ConstOp::create(builder, func_.getLoc(), number.getType(), number);
}

void Constants::forget(Operation *erased) {
  auto constant = dyn_cast<uop::ConstOp>(erased);
  auto splat = dyn_cast<uop::VectorizeOp>(erased);
  if (!constant && !(splat && splat.getLanes().size() == 1))
    return;
  if (splat)
    constant = splat.getLanes().front().getDefiningOp<uop::ConstOp>();
  if (!constant)
    return;
  auto found = known_.find({constant.getValue(), splat ? uop::lanesOf(splat.getType()) : 1});
  if (found != known_.end() && found->second == erased->getResult(0))
    known_.erase(found);
}

static Type withLanes(Type element, Type like) {
  auto vector = dyn_cast<VectorType>(like);
  return vector ? VectorType::get(vector.getShape(), element) : element;
}

Value LanesWriter::alu(Alu kind, ValueRange operands, Type element) {
  Type type = withLanes(element, operands.back().getType());
  return uop::AluOp::create(rewriter, loc, type, AluKindAttr::get(rewriter.getContext(), kind), operands);
}

Lanes Lanes::like(double number, Type element) const {
  TypedAttr attribute;
  if (auto real = dyn_cast<FloatType>(element))
    attribute = FloatAttr::get(real, number);
  else
    attribute = IntegerAttr::get(element, APInt(element.getIntOrFloatBitWidth(), int64_t(number), /*isSigned=*/true,
                                                /*implicitTrunc=*/true));
  return {*writer_, writer_->constants.get(writer_->rewriter, attribute, uop::lanesOf(value_.getType()))};
}

Lanes Lanes::bits() const { return bitsAs(IntegerType::get(value_.getContext(), element().getIntOrFloatBitWidth())); }

Lanes Lanes::asFloat() const {
  MLIRContext *context = value_.getContext();
  return bitsAs(element().getIntOrFloatBitWidth() == 64 ? Type(Float64Type::get(context))
                                                        : Type(Float32Type::get(context)));
}

Lanes lower::binary(Alu kind, Lanes a, LanesOrNumber b) {
  return {a.writer(), a.writer().alu(kind, {a.value(), b.beside(a).value()}, a.element())};
}

Lanes lower::mulAdd(Lanes a, LanesOrNumber b, LanesOrNumber c) {
  if (!a.writer().fma)
    return a * b + c;
  LanesWriter &writer = a.writer();
  return {writer, uop::FmaOp::create(writer.rewriter, writer.loc, a.value().getType(), a.value(), b.beside(a).value(),
                                     c.beside(a).value())};
}

template <class T> static Lanes horner(Lanes x, ArrayRef<T> coefficients) {
  Lanes sum = x.like(coefficients.back());
  for (T coefficient : llvm::reverse(coefficients.drop_back()))
    sum = mulAdd(sum, x, coefficient);
  return sum;
}

Lanes lower::polynomial(Lanes x, ArrayRef<float> coefficients) { return horner(x, coefficients); }
Lanes lower::polynomial(Lanes x, ArrayRef<double> coefficients) { return horner(x, coefficients); }

static Lanes compare(Alu kind, Lanes a, Lanes b) {
  return {a.writer(), a.writer().alu(kind, {a.value(), b.value()}, IntegerType::get(a.value().getContext(), 1))};
}

Lanes lower::less(LanesOrNumber a, Lanes b) { return compare(Alu::CMPLT, a.beside(b), b); }
Lanes lower::less(Lanes a, double b) { return compare(Alu::CMPLT, a, a.like(b)); }
Lanes lower::equal(Lanes a, LanesOrNumber b) { return compare(Alu::CMPEQ, a, b.beside(a)); }

Lanes lower::where(Lanes condition, Lanes a, Lanes b) {
  return {a.writer(), a.writer().alu(Alu::WHERE, {condition.value(), a.value(), b.value()}, a.element())};
}
