//===- LegalisePatterns.cpp - Rows that a device lacks, as rows that it has ----------===//
// A device's target lists the rows of Alu.def that it lacks. Functions of reals are a set of their own
// (TranscendentalPatterns.cpp); the others are written here, once for all devices, and exactly: the results have the
// row's bits. So no renderer knows more than one way to write a row.
//   threefry              in words of 32 bits, as its authors publish it
//   floor ceil round trunc  of float32 and narrower: a number below 2^23 is rounded to an integer by adding 2^23
//                         and subtracting it again, a larger one has no digits after the point
// float64 and integers keep their roundings: a function of libm, and nothing.
//===---------------------------------------------------------------------------------===//

#include "passes/lower/RewriteSets.h"

#include "mlir/IR/BuiltinTypes.h"

using namespace kiln;
using namespace kiln::lower;
using namespace mlir;

/// Threefry-2x32 with 20 rounds (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", 2011): the counter's two
/// words are the halves of the first operand, low first, the key's those of the second.
static Value threefry(uop::AluOp op, LanesWriter &writer) {
  static constexpr unsigned kRotations[2][4] = {{13, 15, 26, 6}, {17, 29, 16, 24}};
  Lanes counter(writer, op.getOperand(0)), key(writer, op.getOperand(1));
  Type wide = counter.element(), word = IntegerType::get(op.getContext(), 32, IntegerType::Unsigned);
  auto low = [&](Lanes value) { return value.castTo(word); };
  auto high = [&](Lanes value) { return (value >> 32).castTo(word); };
  Lanes keys[3] = {low(key), high(key), (low(key) ^ high(key)) ^ double(0x1BD11BDA)};
  Lanes x = low(counter) + keys[0], y = high(counter) + keys[1];
  for (unsigned round = 0; round < 5; ++round) {
    for (unsigned bits : kRotations[round % 2]) {
      x = x + y;
      y = ((y << bits) | (y >> (32 - bits))) ^ x;
    }
    x = x + keys[(round + 1) % 3];
    y = y + keys[(round + 2) % 3] + (round + 1);
  }
  return ((y.castTo(wide) << 32) | x.castTo(wide)).value();
}

namespace {
/// A number and its integers, as if it were not negative.
struct Magnitude {
  Lanes sign, below, above, nearest, isNegative;
};
} // namespace

template <Lanes (*Choose)(const Magnitude &)> static Value rounding(uop::AluOp op, LanesWriter &writer) {
  Type element = getElementTypeOrSelf(op.getType()), single = Float32Type::get(op.getContext());
  bool isNarrow = element.isF16() || element.isBF16();
  if (!element.isF32() && !isNarrow)
    return {};
  constexpr double kNoFraction = 1 << 23; // from here on neighbours are 1 apart
  Lanes x = isNarrow ? Lanes(writer, op.getOperand(0)).castTo(single) : Lanes(writer, op.getOperand(0));
  Lanes bits = x.bits(), sign = bits & -0x1p31, size = (bits ^ sign).asFloat();
  Lanes nearest = (size + kNoFraction) - kNoFraction;
  Lanes below = nearest - where(less(size, nearest), 1, size.like(0));
  Lanes above = below + where(less(below, size), 1, size.like(0));
  Lanes chosen = Choose({sign, below, above, nearest, less(x, 0)});
  Lanes result = where(less(size, kNoFraction), (chosen.bits() | sign).asFloat(), x); // and NaN is itself
  return (isNarrow ? result.castTo(element) : result).value();
}

static Lanes towardsZero(const Magnitude &of) { return of.below; }
static Lanes toNearest(const Magnitude &of) { return of.nearest; }
static Lanes down(const Magnitude &of) { return where(of.isNegative, of.above, of.below); }
static Lanes up(const Magnitude &of) { return where(of.isNegative, of.below, of.above); }

void lower::addLegalisePatterns(RewritePatternSet &set, const RewriteContext &context) {
  static constexpr NamedRow kNobodyHas[] = {{"threefry", Alu::THREEFRY, threefry}};
  static constexpr NamedRow kSomeHave[] = {{"floor", Alu::FLOOR, rounding<down>},
                                           {"ceil", Alu::CEIL, rounding<up>},
                                           {"round", Alu::ROUND, rounding<toNearest>},
                                           {"trunc", Alu::TRUNC, rounding<towardsZero>}};
  addRows(set, context, kNobodyHas);
  for (const NamedRow &row : kSomeHave)
    if (!context.target.isNative(row.kind))
      addRows(set, context, row);
}
