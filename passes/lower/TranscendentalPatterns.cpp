//===- TranscendentalPatterns.cpp - Functions of reals as plain arithmetic -----------===//
// A CPU has no instruction for e^x, and its library's functions are calls, one per lane, whose last digits differ from
// version to version. Elementary.h's formulas replace them. Floats of 16 bits are computed in float32; float64 and
// integers, which are computed in float64, stay the library's.
//===---------------------------------------------------------------------------------===//

#include "passes/lower/Elementary.h"
#include "passes/lower/RewriteSets.h"

#include "mlir/IR/BuiltinAttributes.h"

using namespace kiln;
using namespace kiln::lower;
using namespace mlir;

static bool isNarrow(Type element) { return element.isF16() || element.isBF16(); }

/// A function of these operands, in float32; null if they are wider.
template <class Function> static Value compute(LanesWriter &writer, ValueRange operands, Function function) {
  Type element = getElementTypeOrSelf(operands.front()), single = Float32Type::get(element.getContext());
  if (!element.isF32() && !isNarrow(element))
    return {};
  SmallVector<Lanes, 2> lanes;
  for (Value operand : operands)
    lanes.push_back(isNarrow(element) ? Lanes(writer, operand).castTo(single) : Lanes(writer, operand));
  Lanes result = function(lanes);
  return (isNarrow(element) ? result.castTo(element) : result).value();
}

template <Lanes (*Function)(Lanes)> static Value ofOne(uop::AluOp op, LanesWriter &writer) {
  return compute(writer, op.getOperands(), [](ArrayRef<Lanes> operands) { return Function(operands[0]); });
}

static Value ofTwo(uop::AluOp op, LanesWriter &writer) {
  return compute(writer, op.getOperands(), [](ArrayRef<Lanes> operands) { return pow(operands[0], operands[1]); });
}

/// 1 / (1 + e^-x), as importers write it.
static Value ofSigmoid(uop::AluOp op, LanesWriter &writer) {
  uop::AluOp sum = rowOf(op.getOperand(0), Alu::ADD);
  auto one = dyn_cast_or_null<FloatAttr>(sum ? constantOf(sum.getOperand(1)) : TypedAttr());
  uop::AluOp power = sum ? rowOf(sum.getOperand(0), Alu::EXP) : uop::AluOp();
  uop::AluOp negated = power ? rowOf(power.getOperand(0), Alu::NEG) : uop::AluOp();
  if (!negated || !one || !one.getValue().isExactlyValue(1))
    return {};
  return compute(writer, negated.getOperand(0), [](ArrayRef<Lanes> operands) { return sigmoid(operands[0]); });
}

void lower::addTranscendentalPatterns(RewritePatternSet &set, const RewriteContext &context) {
  static constexpr NamedRow kRows[] = {
      {"exp", Alu::EXP, ofOne<exp>},    {"exp2", Alu::EXP2, ofOne<exp2>}, {"log", Alu::LOG, ofOne<log>},
      {"log2", Alu::LOG2, ofOne<log2>}, {"tanh", Alu::TANH, ofOne<tanh>}, {"erf", Alu::ERF, ofOne<erf>},
      {"sin", Alu::SIN, ofOne<sin>},    {"cos", Alu::COS, ofOne<cos>},    {"pow", Alu::POW, ofTwo}};
  static constexpr NamedRow kSigmoid = {"sigmoid", Alu::RECIP, ofSigmoid};
  for (const NamedRow &row : kRows)
    if (!context.target.isNative(row.kind))
      addRows(set, context, row);
  if (!context.target.isNative(Alu::EXP))
    addRows(set, context, kSigmoid);
}
