//===- Elementwise.cpp - Arithmetic, comparison, logic, casts ---------------===//
//
// Most operators here are a row of Alu.def or a function of TensorBuilder, with two complications. Exporters compute
// shapes with the same Add, Mul and Where as data, and these have to be known at import. So if all elements of the
// inputs are known as expressions, a second function (Fold.h) gives the elements of the result, and no op is made. And
// operators have changed with the opset: before 7 a second operand was broadcast from an `axis` on, before 11 Clip had
// its bounds as attributes, before 6 Cast named its dtype in words.
//
//===------------------------------------------------------------------------===//
#include "import/DType.h"
#include "import/onnx/Fold.h"
#include "import/onnx/Registry.h"
#include "import/onnx/file/ElementType.h"
#include "import/onnx/text/Strings.h"
#include "ir/base/ObjectType.h"

using namespace kiln;
using namespace kiln::import;
using namespace kiln::import::onnx;
using mlir::Value;

using Unary = Value (TensorBuilder::*)(Value);
using Binary = Value (TensorBuilder::*)(Operand, Operand);

/// A function, and its form for integers known at import.
static auto unary(Unary function, ElementFunction fold = nullptr) {
  return [function, fold](Node &n, TensorBuilder &b) -> Tensor {
    const Tensor &input = n.tensor(0);
    if (fold && input)
      if (Tensor folded = foldElementwise(n, input.element(), fold))
        return folded;
    return (b.*function)(n.input(0));
  };
}

/// The second operand. Before opset 7 its axes align with the first's from `axis` on, and only it is
/// broadcast.
static Value secondOperand(Node &n, TensorBuilder &b) {
  if (n.opset() >= 7 || !n.flag("broadcast", false) || !n.hasAttr("axis"))
    return n.input(1);
  Value x = n.input(0), y = n.input(1);
  std::optional<int64_t> axis = b.normalizeAxis(n.integer("axis"), b.rank(x));
  if (!x || !y || !axis)
    return {};
  Shape shape = b.shape(y);
  shape.append(std::max<int64_t>(b.rank(x) - *axis - b.rank(y), 0), Expr(1));
  return b.reshape(y, shape);
}

/// A binary function, and its form for integers known at import.
static auto binary(Binary function, ElementFunction fold = nullptr) {
  return [function, fold](Node &n, TensorBuilder &b) -> Tensor {
    if (n.numInputs() != 2)
      return n.fail("it has " + llvm::Twine(n.numInputs()) + " inputs", "the operator takes 2");
    if (fold)
      if (Tensor folded = foldElementwise(n, n.tensor(0).type ? n.tensor(0).element() : b.int64(), fold))
        return folded;
    return (b.*function)(n.input(0), secondOperand(n, b));
  };
}

static auto comparison(Binary function, ElementFunction fold) {
  return [function, fold](Node &n, TensorBuilder &b) -> Tensor {
    if (n.numInputs() != 2)
      return n.fail("it has " + llvm::Twine(n.numInputs()) + " inputs", "the operator takes 2");
    if (Tensor folded = foldElementwise(n, b.boolType(), fold))
      return folded;
    return (b.*function)(n.input(0), n.input(1));
  };
}

static Tensor equal(Node &n, TensorBuilder &b) {
  if (n.numInputs() == 2 && n.tensor(0) && isObject(n.tensor(0).element()))
    return stringEqual(b, n.input(0), n.input(1));
  return comparison(&TensorBuilder::equal, foldEqual)(n, b);
}

/// And, Or and Xor take only bools; the table's rows take integers too.
static auto logical(Binary function, ElementFunction fold) {
  return [function, fold](Node &n, TensorBuilder &b) -> Tensor {
    if (n.numInputs() == 2)
      if (Tensor folded = foldElementwise(n, b.boolType(), fold))
        return folded;
    Value x = n.input(0), y = secondOperand(n, b);
    if (x && y && (!b.isBool(x) || !b.isBool(y)))
      return n.fail("its inputs are not bool", "cast them");
    return (b.*function)(x, y);
  };
}

/// Any number of inputs, taken together from the left.
static auto variadic(Binary function, ElementFunction fold = nullptr) {
  return [function, fold](Node &n, TensorBuilder &b) -> Tensor {
    if (fold && n.numInputs() == 2)
      if (Tensor folded = foldElementwise(n, n.tensor(0).type ? n.tensor(0).element() : b.int64(), fold))
        return folded;
    Value result = n.input(0);
    for (int i = 1; i < n.numInputs(); ++i)
      result = (b.*function)(result, n.input(i));
    return result;
  };
}

static Value mean(Node &n, TensorBuilder &b) {
  Value sum = n.input(0);
  for (int i = 1; i < n.numInputs(); ++i)
    sum = b.add(sum, n.input(i));
  return b.div(sum, n.numInputs());
}

static Tensor mod(Node &n, TensorBuilder &b) {
  bool truncates = n.flag("fmod", false);
  if (!truncates && n.has(0) && n.has(1))
    if (Tensor folded = foldElementwise(n, n.tensor(0).type ? n.tensor(0).element() : b.int64(), foldMod))
      return folded;
  Value x = n.input(0), y = n.input(1);
  if (!b.isFloat(x) || !b.isFloat(y) || truncates)
    return truncates ? b.truncMod(x, y) : b.floorMod(x, y);
  if (n.opset() < 28)
    return n.fail("attribute 'fmod' is 0 with floats", "before opset 28 floats need fmod=1");
  // The divisor's sign, even of a zero; an infinite divisor is the remainder if the signs differ.
  Value rest = b.truncMod(x, y), isBelow = b.less(y, 0);
  Value zero = b.where(isBelow, b.constantLike(y, -0.0), b.constantLike(y, 0.0));
  Value differs = b.notEqual(b.less(rest, 0), isBelow);
  return b.where(b.equal(rest, 0), zero, b.where(differs, b.add(rest, y), rest));
}

/// The result has the base's dtype, whatever the exponent's. If the dtypes differ, one that holds both computes
/// the power: its result is cut to an integer, and rounding before that could bring it up to the next one.
static Value power(Node &n, TensorBuilder &b) {
  Value base = n.input(0), exponent = secondOperand(n, b);
  if (!base || !exponent)
    return {};
  mlir::Type type = b.element(base), other = b.element(exponent);
  if (type == other || !b.isFloat(exponent))
    return b.pow(base, b.cast(exponent, type));
  mlir::Type both = mlir::Float64Type::get(type.getContext());
  if (b.isFloat(base) && type.getIntOrFloatBitWidth() <= 32 && other.getIntOrFloatBitWidth() <= 32)
    both = b.float32();
  return b.cast(b.pow(b.cast(base, both), b.cast(exponent, both)), type);
}

static Tensor bitShift(Node &n, TensorBuilder &b) {
  std::string direction = n.string("direction", "");
  if (direction == "LEFT")
    return b.shiftLeft(n.input(0), n.input(1));
  if (direction == "RIGHT")
    return b.shiftRight(n.input(0), n.input(1));
  return n.fail("attribute 'direction' is " + quoted(direction), "it is LEFT or RIGHT");
}

static Value isInf(Node &n, TensorBuilder &b) {
  return b.isInf(n.input(0), n.flag("detect_negative", true), n.flag("detect_positive", true));
}

static Tensor where(Node &n, TensorBuilder &b) {
  if (n.numInputs() == 3)
    if (const Tensor &chosen = n.tensor(1))
      if (Tensor folded = foldElementwise(n, chosen.element(), foldWhere))
        return folded;
  return b.where(n.input(0), n.input(1), n.input(2));
}

static Value clip(Node &n, TensorBuilder &b) {
  std::optional<Operand> low, high;
  if (n.opset() < 11) {
    if (n.hasAttr("min"))
      low = n.real("min", 0);
    if (n.hasAttr("max"))
      high = n.real("max", 0);
  } else {
    if (n.has(1))
      low = n.input(1);
    if (n.has(2))
      high = n.input(2);
  }
  return b.clip(n.input(0), low, high);
}

/// How to round to 8-bit floats.
static NarrowRounding roundingOf(Node &n) {
  NarrowRounding rounding;
  if (n.opset() >= 19)
    rounding.saturates = n.flag("saturate", true);
  std::string mode = n.opset() >= 24 ? n.string("round_mode", "up") : "up";
  if (mode == "down")
    rounding.mode = NarrowRounding::Down;
  else if (mode == "nearest")
    rounding.mode = NarrowRounding::Nearest;
  else if (mode != "up")
    n.fail("attribute 'round_mode' is " + quoted(mode), "it is up, down or nearest");
  return rounding;
}

static Tensor castTo(Node &n, TensorBuilder &b, mlir::Type element) {
  NarrowRounding rounding = roundingOf(n);
  const Tensor &input = n.tensor(0);
  if (!input || !element)
    return {};
  if (element.isInteger(1) && input.element().isInteger())
    if (Tensor folded =
            foldElementwise({&input}, element, [](llvm::ArrayRef<Expr> x) { return foldNotEqual({x[0], Expr(0)}); }))
      return folded;
  bool isNumber = element.isInteger() && !element.isInteger(1);
  if (input.exactElements() && isNumber && llvm::all_of(*input.elements, [&](Expr e) { return fitsInto(e, element); }))
    return Tensor(element, input.type.getShape(), *input.elements);
  return b.cast(n.input(0), element, rounding);
}

/// The dtype to cast to: before opset 6 by its name.
static int64_t targetOf(Node &n) {
  if (n.opset() >= 6)
    return n.integer("to");
  ::onnx::TensorProto::DataType to = ::onnx::TensorProto::UNDEFINED;
  std::string name = n.string("to", "");
  if (!::onnx::TensorProto::DataType_Parse(name, &to))
    n.fail("attribute 'to' is " + quoted(name), "it is the name of a dtype, as FLOAT");
  return to;
}

static Tensor cast(Node &n, TensorBuilder &b) {
  int64_t to = targetOf(n);
  mlir::Type element = elementType(n.importer().builder().getContext(), to);
  if (!element)
    return n.fail("dtype " + dataTypeName(to) + " is not supported", kKnownDTypes);
  return castTo(n, b, element);
}

static Tensor castLike(Node &n, TensorBuilder &b) {
  const Tensor &like = n.tensor(1);
  return castTo(n, b, like ? like.element() : mlir::Type());
}

static Tensor bitCast(Node &n, TensorBuilder &b) {
  int64_t to = n.integer("to");
  mlir::Type element = elementType(n.importer().builder().getContext(), to);
  if (!element)
    return n.fail("dtype " + dataTypeName(to) + " is not supported", kKnownDTypes);
  Value x = n.input(0);
  if (!x)
    return {};
  if (byteSize(element) != byteSize(b.element(x)))
    return n.fail("the bits of " + dtypeName(b.element(x)) + " are not as many as those of " + dtypeName(element),
                  "cast to a dtype of the same width");
  // The bits of a bool are those of the number that it is.
  if (b.isBool(x))
    x = b.cast(x, b.builder().getIntegerType(8, /*isSigned=*/false));
  return b.bitcast(x, element);
}

void kiln::import::onnx::addElementwise(Registry &r) {
  using B = TensorBuilder;
  r.add("Abs", 1, unary(&B::abs, foldAbs));
  r.add("Acos", 7, unary(&B::acos));
  r.add("Acosh", 9, unary(&B::acosh));
  r.add("Asin", 7, unary(&B::asin));
  r.add("Asinh", 9, unary(&B::asinh));
  r.add("Atan", 7, unary(&B::atan));
  r.add("Atanh", 9, unary(&B::atanh));
  r.add("BitCast", 26, bitCast);
  r.add("BitwiseNot", 18, unary(&B::bitNot));
  r.add("Ceil", 1, unary(&B::ceil));
  r.add("Cos", 7, unary(&B::cos));
  r.add("Cosh", 9, unary(&B::cosh));
  r.add("Erf", 9, unary(&B::erf));
  r.add("Exp", 1, unary(&B::exp));
  r.add("Floor", 1, unary(&B::floor));
  r.add("IsInf", 10, isInf);
  r.add("IsNaN", 9, unary(&B::isNaN));
  r.add("Log", 1, unary(&B::log));
  r.add("Neg", 1, unary(&B::neg, foldNeg));
  r.add("Not", 1, unary(&B::logicalNot, foldNot));
  r.add("Reciprocal", 1, unary(&B::recip));
  r.add("Round", 11, unary(&B::roundHalfEven));
  r.add("Sign", 9, unary(&B::sign));
  r.add("Sin", 7, unary(&B::sin));
  r.add("Sinh", 9, unary(&B::sinh));
  r.add("Sqrt", 1, unary(&B::sqrt));
  r.add("Tan", 7, unary(&B::tan));

  r.add("Add", 1, binary(&B::add, foldAdd));
  r.add("BitwiseAnd", 18, binary(&B::bitAnd));
  r.add("BitwiseOr", 18, binary(&B::bitOr));
  r.add("BitwiseXor", 18, binary(&B::bitXor));
  r.add("BitShift", 11, bitShift);
  r.add("Div", 1, binary(&B::div, foldDiv));
  r.add("Mod", 10, mod);
  r.add("Mul", 1, binary(&B::mul, foldMul));
  r.add("Pow", 1, power);
  r.add("Sub", 1, binary(&B::sub, foldSub));
  r.add("Max", 1, variadic(&B::maximum, foldMax));
  r.add("Mean", 1, mean);
  r.add("Min", 1, variadic(&B::minimum, foldMin));
  r.add("Sum", 1, variadic(&B::add));

  r.add("And", 1, logical(&B::bitAnd, foldMin));
  r.add("Or", 1, logical(&B::bitOr, foldMax));
  r.add("Xor", 1, logical(&B::bitXor, foldNotEqual));
  r.add("Equal", 1, equal);
  r.add("Greater", 1, comparison(&B::greater, [](llvm::ArrayRef<Expr> x) { return foldLess({x[1], x[0]}); }));
  r.add("GreaterOrEqual", 12,
        comparison(&B::greaterEqual, [](llvm::ArrayRef<Expr> x) { return foldLessEqual({x[1], x[0]}); }));
  r.add("Less", 1, comparison(&B::less, foldLess));
  r.add("LessOrEqual", 12, comparison(&B::lessEqual, foldLessEqual));
  r.add("Where", 9, where);

  r.add("Cast", 1, cast);
  r.add("CastLike", 15, castLike);
  r.add("Clip", 1, clip);
}
