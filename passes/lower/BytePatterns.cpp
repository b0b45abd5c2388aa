//===- BytePatterns.cpp - Numbers that are rounded to bytes -----------------------===//
// A tensor is quantised by a division, which takes as long as ten multiplications. But x / c, rounded to an integer and
// cut to 8 bits, has few results, and c is known. So it is written as x·h + x·l, rounded once, where h + l is 1 / c to
// twice a float's digits, or as x·h alone: if that rounds to the same byte for all x, to the bit. Both grow with x. So
// they are the same if they reach each of the results at the same x, which is tried, result by result.
//   A byte that is only made a float again need not become an integer: it is the rounded number, cut to the bytes.
//===------------------------------------------------------------------------------===//

#include "passes/lower/RewriteSets.h"

#include "mlir/IR/BuiltinAttributes.h"

#include <cmath>
#include <optional>

using namespace kiln;
using namespace kiln::lower;
using namespace mlir;

/// Divisors for which no remainder of a quotient of 1/4 or more is too small for a float; and the largest zero point.
static constexpr float kLeastDivisor = 0x1p-60f, kMostDivisor = 0x1p60f, kMostZero = 1024;

namespace {
/// 1 / c, as the sum of two floats. The second is not negative, so that infinities stay what they are.
struct Reciprocal {
  float high, low;

  float times(float x) const { return low == 0 ? x * high : std::fma(x, high, x * low); }
};

/// Integers that a rounded quotient is cut to.
struct Results {
  int64_t least, most;
};
} // namespace

/// The only operation that reads a value, if it is this row.
static uop::AluOp onlyReader(uop::AluOp value, Alu kind) {
  auto reader = value && value->hasOneUse() ? dyn_cast<uop::AluOp>(*value->getUsers().begin()) : uop::AluOp();
  return reader && reader.getKind().getValue() == kind ? reader : uop::AluOp();
}

/// Which quotients are told apart after they were rounded; nullopt if they are not stored as bytes.
static std::optional<Results> resultsOf(uop::AluOp quotient) {
  uop::AluOp rounded = onlyReader(quotient, Alu::ROUND), cast = onlyReader(rounded, Alu::CAST);
  int64_t zero = 0;
  if (uop::AluOp sum = onlyReader(rounded, Alu::ADD)) {
    auto number = dyn_cast_or_null<FloatAttr>(constantOf(sum.getOperand(1)));
    double added = number ? number.getValueAsDouble() : NAN;
    if (!(std::abs(added) <= kMostZero) || added != std::nearbyint(added))
      return std::nullopt;
    zero = int64_t(added);
    cast = onlyReader(sum, Alu::CAST);
  }
  auto byte = cast ? dyn_cast<IntegerType>(getElementTypeOrSelf(cast.getType())) : IntegerType();
  if (!byte || byte.getWidth() != 8)
    return std::nullopt;
  int64_t least = byte.isUnsigned() ? 0 : -128;
  return Results{least - zero, least + 255 - zero};
}

static bool isSame(float divisor, Reciprocal reciprocal, Results results) {
  auto rounded = [&](float x) { return std::nearbyint(x / divisor); };
  for (int64_t result = results.least + 1; result <= results.most; ++result) {
    float x = (float(result) - 0.5f) * divisor;
    while (rounded(x) >= float(result))
      x = std::nextafter(x, -INFINITY);
    float below = x;
    while (rounded(x) < float(result))
      x = std::nextafter(below = x, INFINITY);
    if (std::nearbyint(reciprocal.times(x)) < float(result) || std::nearbyint(reciprocal.times(below)) >= float(result))
      return false;
  }
  return true;
}

static std::optional<Reciprocal> reciprocalOf(float divisor, Results results) {
  float nearest = 1 / divisor, below = nearest;
  if (std::fma(double(nearest), double(divisor), -1.0) > 0)
    below = std::nextafter(nearest, 0.0f);
  auto rest = float(std::fma(-double(below), double(divisor), 1.0) / double(divisor));
  for (Reciprocal reciprocal : {Reciprocal{nearest, 0}, Reciprocal{below, rest}})
    if (isSame(divisor, reciprocal, results))
      return reciprocal;
  return std::nullopt;
}

static Value multiply(uop::AluOp quotient, LanesWriter &writer) {
  auto divisor = dyn_cast_or_null<FloatAttr>(constantOf(quotient.getOperand(1)));
  if (!divisor || !divisor.getType().isF32())
    return {};
  float number = divisor.getValue().convertToFloat();
  std::optional<Results> results = resultsOf(quotient);
  if (!results || !(number >= kLeastDivisor && number <= kMostDivisor))
    return {};
  std::optional<Reciprocal> reciprocal = reciprocalOf(number, *results);
  if (!reciprocal)
    return {};
  Lanes x(writer, quotient.getOperand(0));
  return (reciprocal->low == 0 ? x * reciprocal->high : mulAdd(x, reciprocal->high, x * reciprocal->low)).value();
}

/// Whether a float is an integer, or none that a byte holds.
static bool isWhole(Value value) {
  auto number = dyn_cast_or_null<FloatAttr>(constantOf(value));
  if (number)
    return std::abs(number.getValueAsDouble()) <= kMostZero && number.getValue().isInteger();
  uop::AluOp sum = rowOf(value, Alu::ADD);
  return rowOf(value, Alu::ROUND) || (sum && isWhole(sum.getOperand(0)) && isWhole(sum.getOperand(1)));
}

static Value stayFloat(uop::AluOp cast, LanesWriter &writer) {
  Value integer = cast.getOperand(0);
  int64_t added = 0;
  if (uop::AluOp sum = rowOf(integer, Alu::ADD)) {
    auto number = dyn_cast_or_null<IntegerAttr>(constantOf(sum.getOperand(1)));
    if (!number || number.getValue().getSignificantBits() > 16)
      return {};
    added = number.getValue().getSExtValue();
    integer = sum.getOperand(0);
  }
  uop::AluOp wide = rowOf(integer, Alu::CAST), narrow = wide ? rowOf(wide.getOperand(0), Alu::CAST) : uop::AluOp();
  if (!narrow || !narrow->hasOneUse() || !getElementTypeOrSelf(wide.getType()).isSignlessInteger(32))
    return {};
  auto byte = dyn_cast<IntegerType>(getElementTypeOrSelf(narrow.getType()));
  Lanes x(writer, narrow.getOperand(0));
  bool isFloat = x.element().isF32() && getElementTypeOrSelf(cast.getType()).isF32();
  if (!byte || byte.getWidth() != 8 || !isFloat || !isWhole(x.value()))
    return {};
  double least = byte.isUnsigned() ? 0 : -128, most = least + 255;
  Lanes cut = where(less(least, x), x, least); // NaN is the least byte
  cut = where(less(cut, most), cut, most);
  if (!byte.isUnsigned()) // but 0 of those with a sign
    cut = where(equal(x, x), cut, 0);
  // A sum with 0 is 0, not -0.
  return (byte.isUnsigned() && added == 0 ? cut : cut + double(added)).value();
}

/// No integer tells 0 from -0, which is all that a sum with 0 changes.
static Value withoutZero(uop::AluOp cast, LanesWriter &writer) {
  uop::AluOp sum = rowOf(cast.getOperand(0), Alu::ADD);
  auto number = sum ? dyn_cast_or_null<FloatAttr>(constantOf(sum.getOperand(1))) : FloatAttr();
  if (!number || !number.getValue().isZero() || !isa<IntegerType>(getElementTypeOrSelf(cast.getType())))
    return {};
  return writer.alu(Alu::CAST, sum.getOperand(0), getElementTypeOrSelf(cast.getType()));
}

void lower::addBytePatterns(RewritePatternSet &set, const RewriteContext &context) {
  static constexpr NamedRow kRows[] = {{"stay-float", Alu::CAST, stayFloat}, {"without-zero", Alu::CAST, withoutZero}};
  addRows(set, context, kRows);
}

void lower::addQuotientPatterns(RewritePatternSet &set, const RewriteContext &context) {
  static constexpr NamedRow kRows[] = {{"multiply", Alu::FDIV, multiply}};
  if (context.target.getFma())
    addRows(set, context, kRows);
}
