//===- TensorBuilderArithmetic.cpp - Element-wise functions ------------------===//
//
// numpy's arithmetic on the rows of Alu.def, which take operands of one shape and one dtype, and not every dtype. So
// operands are broadcast, a number takes the dtype of the operation's tensors, and a dtype that does not suit the
// row is an error of the model. Much of what importers write is arithmetic on repeated numbers or changes nothing (x
// · 1). Both are folded here, so that compositions need not look for such cases. Rules for numbers do not always
// hold for floats: -0 + 0 is 0, so x + 0 is left out for integers only, and with a NaN neither a < b nor a >= b
// holds.
//
//===-------------------------------------------------------------------------===//
#include "import/DType.h"

#include "import/TensorBuilder.h"
#include "ir/base/AluTraits.h"
#include "ir/base/Evaluate.h"
#include "ir/base/NarrowDType.h"
#include "ir/base/ObjectType.h"

using namespace kiln;
using namespace kiln::import;
using namespace mlir;
using llvm::Twine;

static TypedAttr constantValue(Value x) {
  auto op = x.getDefiningOp<graph::ConstOp>();
  return op ? op.getValue() : TypedAttr();
}

static bool isNumber(Value x, int64_t number) {
  TypedAttr value = constantValue(x);
  return value && value == Operand(number).number(value.getType());
}

/// The row's requirements beyond verifyAlu, in words; empty if `element` suits it.
static llvm::StringRef unsuitable(Alu kind, Type element) {
  if (isObject(element))
    return "numbers";
  if (isNarrow(element))
    return "a wider dtype";
  switch (aluTraits(kind).family) {
  case AluClass::Function:
    return kind == Alu::POW || isa<FloatType>(element) ? "" : "floats";
  case AluClass::Real:
  case AluClass::Rounding:
    return isa<FloatType>(element) ? "" : "floats";
  case AluClass::Integer:
    return isa<IntegerType>(element) ? "" : "integers";
  case AluClass::Plain:
    return "";
  }
  llvm_unreachable("every class is handled");
}

/// The operand that the operation returns unchanged, if there is one: x+0 for integers, x·1, x/1.
static Value unchanged(Alu kind, ArrayRef<Value> operands) {
  if (operands.size() != 2)
    return {};
  bool isInteger = isa<IntegerType>(TensorBuilder::element(operands[0]));
  auto neutral = [&](Value x) {
    switch (kind) {
    case Alu::ADD:
    case Alu::OR:
    case Alu::XOR:
    case Alu::SHL:
    case Alu::SHR:
      return isInteger && isNumber(x, 0);
    case Alu::MUL:
    case Alu::FDIV:
    case Alu::IDIV:
      return isNumber(x, 1);
    default:
      return false;
    }
  };
  bool commutes = llvm::is_contained({Alu::ADD, Alu::OR, Alu::XOR, Alu::MUL}, kind);
  if (neutral(operands[1]))
    return operands[0];
  return commutes && neutral(operands[0]) ? operands[1] : Value();
}

/// The result of an operation on numbers alone, repeated ones included.
static TypedAttr foldedNumber(Alu kind, ArrayRef<Value> operands) {
  SmallVector<Scalar> numbers;
  for (Value operand : operands) {
    TypedAttr number = constantValue(operand);
    if (!number)
      return {};
    numbers.push_back(Scalar::of(number));
  }
  DType type = aluInfo(kind).rule == AluRule::Compare ? DType::Bool : numbers.back().dtype;
  std::optional<Scalar> result = evaluateAlu(kind, numbers, type);
  return result ? result->attribute(operands[0].getContext()) : TypedAttr();
}

Value TensorBuilder::alu(Alu kind, ArrayRef<Operand> operands) {
  Value first;
  for (const Operand &operand : operands) {
    if (operand.isNumber())
      continue;
    Value tensor = operand.tensor();
    if (!tensor)
      return {};
    if (first && element(first) != element(tensor))
      return fail(stringifyAlu(kind) + " of " + dtypeName(element(first)) + " and " + dtypeName(element(tensor)),
                  "cast one of them");
    first = tensor;
  }
  if (!first)
    return fail(stringifyAlu(kind) + " of numbers alone", "one operand must be a tensor");
  if (llvm::StringRef needs = unsuitable(kind, element(first)); !needs.empty())
    return fail(stringifyAlu(kind) + " of " + dtypeName(element(first)) + " needs " + needs, "cast it");
  DType type = *dtypeOf(element(first));
  if (!aluLoop(kind, type, aluInfo(kind).rule == AluRule::Compare ? DType::Bool : type))
    return fail(stringifyAlu(kind) + " of " + dtypeName(element(first)) + " has no meaning", "cast it");
  SmallVector<Value> values;
  for (const Operand &operand : operands) {
    Value value = operand.isNumber() ? constant(operand, element(first)) : operand.tensor();
    if (!value)
      return {};
    values.push_back(value);
  }
  if (!broadcast(values))
    return {};
  if (TypedAttr number = foldedNumber(kind, values))
    return constant(number, shape(values[0]));
  if (Value same = unchanged(kind, values))
    return same;
  return graph::AluOp::create(builder_, location_, kind, values);
}

Value TensorBuilder::floatAlu(Alu kind, Value x) { return alu(kind, {x}); }

Value TensorBuilder::round(Alu kind, Value x) { return isFloat(x) ? alu(kind, {x}) : x; }

Value TensorBuilder::cast(Value x, Type element, NarrowRounding rounding) {
  if (!element) // of a null tensor
    return {};
  if (!x || TensorBuilder::element(x) == element)
    return x;
  if (isObject(TensorBuilder::element(x)) || isObject(element))
    return fail("cast of " + dtypeName(TensorBuilder::element(x)) + " to " + dtypeName(element) + " is not supported",
                "cast between numbers");
  if (isNarrow(TensorBuilder::element(x)) || isNarrow(element))
    return castNarrow(x, element, rounding);
  if (TypedAttr number = constantValue(x))
    return constant(castScalar(Scalar::of(number), *dtypeOf(element)).attribute(builder_.getContext()), shape(x));
  return graph::AluOp::create(builder_, location_, Alu::CAST, x, element);
}

Value TensorBuilder::bitcast(Value x, Type element) {
  if (!element)
    return {};
  if (!x || TensorBuilder::element(x) == element)
    return x;
  if (isObject(TensorBuilder::element(x)) || isObject(element) ||
      TensorBuilder::element(x).getIntOrFloatBitWidth() != element.getIntOrFloatBitWidth())
    return fail("bitcast of " + dtypeName(TensorBuilder::element(x)) + " to " + dtypeName(element),
                "both must have as many bits");
  if (isNarrow(element))
    return fromCodes(bitcast(codes(x), storageType(element)), element);
  if (isNarrow(TensorBuilder::element(x)))
    return bitcast(codes(x), element);
  return graph::AluOp::create(builder_, location_, Alu::BITCAST, x, element);
}

Value TensorBuilder::sub(Operand a, Operand b) {
  // Negated after it is broadcast, as the reference does: a kernel that makes b then stores b, not -b.
  if (a.tensor() && b.tensor()) {
    Value values[] = {a.tensor(), b.tensor()};
    return broadcast(values) ? add(values[0], neg(values[1])) : Value();
  }
  if (!b.isNumber())
    return add(a, neg(b.tensor()));
  return a.tensor() ? add(a, neg(constant(b, element(a.tensor())))) : add(a, b);
}

Value TensorBuilder::div(Operand a, Operand b) {
  Value tensor = a.isNumber() ? b.tensor() : a.tensor();
  return alu(isFloat(tensor) ? Alu::FDIV : Alu::IDIV, {a, b});
}

Value TensorBuilder::pow(Operand a, Operand b) {
  if (Value base = a.tensor()) {
    TypedAttr exponent;
    if (b.isNumber())
      exponent = b.number(element(base));
    else if (b.tensor() && rank(b.tensor()) <= rank(base))
      exponent = constantValue(b.tensor());
    auto is = [&](int64_t number) {
      return exponent && exponent == Operand(number).number(exponent.getType()) &&
             exponent.getType() == element(base) && (b.isNumber() || shape(b.tensor()).empty());
    };
    if (is(1))
      return base;
    if (is(2))
      return square(base);
    if (is(3))
      return mul(square(base), base);
  }
  return alu(Alu::POW, {a, b});
}

Value TensorBuilder::bitNot(Value x) {
  if (!x)
    return {};
  if (isBool(x))
    return logicalNot(x);
  auto type = dyn_cast<IntegerType>(element(x));
  if (!type)
    return fail("bitwise not of " + dtypeName(element(x)) + " needs integers", "cast it");
  return bitXor(x, constant(IntegerAttr::get(type, APInt::getAllOnes(type.getWidth()))));
}

Value TensorBuilder::abs(Value x) {
  if (!x || isBool(x) || element(x).isUnsignedInteger())
    return x;
  // 0 - x, not -x, if x is not positive: the absolute value of -0 is 0.
  return where(greater(x, 0), x, sub(constantLike(x, 0), x));
}

Value TensorBuilder::sign(Value x) {
  if (!x || isBool(x))
    return x;
  if (element(x).isUnsignedInteger())
    return where(notEqual(x, 0), 1, constantLike(x, 0));
  return where(less(x, 0), -1, where(greater(x, 0), 1, x));
}

Value TensorBuilder::clip(Value x, std::optional<Operand> low, std::optional<Operand> high) {
  if (low)
    x = maximum(x, *low);
  return high ? minimum(x, *high) : x;
}

Value TensorBuilder::greaterEqual(Operand a, Operand b) {
  Value tensor = a.isNumber() ? b.tensor() : a.tensor();
  // For floats, not(a < b) would hold for a NaN.
  return isFloat(tensor) ? bitOr(greater(a, b), equal(a, b)) : logicalNot(less(a, b));
}

Value TensorBuilder::logicalNot(Value x) { return bitXor(cast(x, boolType()), 1); }

Value TensorBuilder::isNaN(Value x) {
  if (x && isNarrow(element(x)))
    return isNaN(cast(x, float32()));
  if (!x || isFloat(x))
    return notEqual(x, x);
  return constant(0, boolType(), shape(x));
}

Value TensorBuilder::isInf(Value x, bool negative, bool positive) {
  if (x && isNarrow(element(x)))
    return isInf(cast(x, float32()), negative, positive);
  Value none = x ? constant(0, boolType(), shape(x)) : Value();
  if (!isFloat(x) || (!negative && !positive))
    return none;
  constexpr double infinity = std::numeric_limits<double>::infinity();
  if (!negative)
    return equal(x, infinity);
  return positive ? bitOr(equal(x, infinity), equal(x, -infinity)) : equal(x, -infinity);
}

Value TensorBuilder::where(Value condition, Operand a, Operand b) {
  Value typed = a.isNumber() ? b.tensor() : a.tensor();
  if (a.isNumber() && b.isNumber())
    return fail("where of two numbers", "one of them must be a tensor");
  if (!condition || !typed || (!b.isNumber() && !b.tensor()))
    return {};
  if (!isBool(condition))
    return fail("where's condition is " + dtypeName(element(condition)), "cast it to bool");
  if (!b.isNumber() && element(b.tensor()) != element(typed))
    return fail("where of " + dtypeName(element(typed)) + " and " + dtypeName(element(b.tensor())), "cast one of them");
  SmallVector<Value> values{condition};
  for (const Operand &branch : {a, b}) {
    values.push_back(branch.isNumber() ? constant(branch, element(typed)) : branch.tensor());
    if (!values.back())
      return {};
  }
  if (!broadcast(values))
    return {};
  if (TypedAttr number = constantValue(condition))
    return values[isNumber(condition, 1) ? 1 : 2];
  return graph::AluOp::create(builder_, location_, Alu::WHERE, values);
}
