#include "ir/base/Evaluate.h"
#include "ir/base/AluRows.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"

using namespace kiln;
using namespace mlir;

/// What an element computes in.
template <class T> using Computed = std::conditional_t<isSmallFloat<T>, float, T>;

template <class T> static Computed<T> widen(T value) { return Computed<T>(value); }
template <class T> static T narrow(Computed<T> value) { return convertElement<T>(value); }

template <class T> static const T *array(const void *operand) { return static_cast<const T *>(operand); }

template <Alu Row, class T> static void unaryLoop(const void *const *operands, void *result, int64_t count) {
  for (int64_t i = 0; i < count; ++i)
    static_cast<T *>(result)[i] = narrow<T>(aluElement<Row>(widen(array<T>(operands[0])[i])));
}

template <Alu Row, class T> static void binaryLoop(const void *const *operands, void *result, int64_t count) {
  const T *x = array<T>(operands[0]), *y = array<T>(operands[1]);
  for (int64_t i = 0; i < count; ++i)
    static_cast<T *>(result)[i] = narrow<T>(aluElement<Row>(widen(x[i]), widen(y[i])));
}

template <Alu Row, class T> static void compareLoop(const void *const *operands, void *result, int64_t count) {
  const T *x = array<T>(operands[0]), *y = array<T>(operands[1]);
  for (int64_t i = 0; i < count; ++i)
    static_cast<bool *>(result)[i] = compareElements<Row>(widen(x[i]), widen(y[i]));
}

template <class T> static void selectLoop(const void *const *operands, void *result, int64_t count) {
  const bool *condition = array<bool>(operands[0]);
  const T *x = array<T>(operands[1]), *y = array<T>(operands[2]);
  for (int64_t i = 0; i < count; ++i)
    static_cast<T *>(result)[i] = condition[i] ? x[i] : y[i];
}

template <class T> static void multiplyAddLoop(const void *const *operands, void *result, int64_t count) {
  const T *x = array<T>(operands[0]), *y = array<T>(operands[1]), *z = array<T>(operands[2]);
  for (int64_t i = 0; i < count; ++i) {
    Computed<T> product = aluElement<Alu::MUL>(widen(x[i]), widen(y[i]));
    static_cast<T *>(result)[i] = narrow<T>(aluElement<Alu::ADD>(product, widen(z[i])));
  }
}

template <class T> static void fusedLoop(const void *const *operands, void *result, int64_t count) {
  // The product of two 16-bit floats is exact in double.
  using Wide = std::conditional_t<isSmallFloat<T>, double, T>;
  const T *x = array<T>(operands[0]), *y = array<T>(operands[1]), *z = array<T>(operands[2]);
  for (int64_t i = 0; i < count; ++i)
    static_cast<T *>(result)[i] =
        convertElement<T>(std::fma(convertElement<Wide>(x[i]), convertElement<Wide>(y[i]), convertElement<Wide>(z[i])));
}

template <class T> static void scaleLoop(const void *const *operands, void *result, int64_t count) {
  for (int64_t i = 0; i < count; ++i)
    static_cast<T *>(result)[i] =
        narrow<T>(std::ldexp(widen(array<T>(operands[0])[i]), array<int32_t>(operands[1])[i]));
}

template <class From, class To> static void castLoop(const void *const *operands, void *result, int64_t count) {
  for (int64_t i = 0; i < count; ++i)
    static_cast<To *>(result)[i] = convertElement<To>(array<From>(operands[0])[i]);
}

template <class T> static void copyLoop(const void *const *operands, void *result, int64_t count) {
  std::memmove(result, operands[0], count * sizeof(T));
}

static AluLoop castLoopOf(DType from, DType to) {
  return withElement(from, [&](auto source) {
    using From = typename decltype(source)::Type;
    return withElement(to, [&](auto target) -> AluLoop { return castLoop<From, typename decltype(target)::Type>; });
  });
}

static AluLoop scaleLoopOf(DType result) {
  return withElement(result, [](auto tag) -> AluLoop {
    using T = typename decltype(tag)::Type;
    if constexpr (isFloatElement<Computed<T>>)
      return scaleLoop<T>;
    else
      return nullptr;
  });
}

static constexpr unsigned kArity[] = {
#define KILN_ALU(NAME, MNEMONIC, ARITY, ...) ARITY,
#include "ir/base/Alu.def"
};
static constexpr AluRule kRule[] = {
#define KILN_ALU(NAME, MNEMONIC, ARITY, RULE, ...) AluRule::RULE,
#include "ir/base/Alu.def"
};

template <Alu Row> static AluLoop loopOfRow(DType operand, DType result) {
  constexpr unsigned arity = kArity[unsigned(Row)];
  constexpr AluRule rule = kRule[unsigned(Row)];
  if constexpr (rule == AluRule::Convert)
    return castLoopOf(operand, result);
  else if constexpr (rule == AluRule::Scale)
    return operand == DType::I32 ? scaleLoopOf(result) : nullptr;
  else
    return withElement(operand, [](auto tag) -> AluLoop {
      using T = typename decltype(tag)::Type;
      if constexpr (!isDefined<Row, T>)
        return nullptr;
      else if constexpr (rule == AluRule::Reinterpret)
        return copyLoop<T>;
      else if constexpr (rule == AluRule::Compare)
        return compareLoop<Row, T>;
      else if constexpr (rule == AluRule::Select)
        return selectLoop<T>;
      else if constexpr (arity == 1)
        return unaryLoop<Row, T>;
      else if constexpr (arity == 2)
        return binaryLoop<Row, T>;
      else
        return multiplyAddLoop<T>;
    });
}

AluLoop kiln::aluLoop(Alu kind, DType operand, DType result) {
  switch (kind) {
#define KILN_ALU(NAME, ...)                                                                                            \
  case Alu::NAME:                                                                                                      \
    return loopOfRow<Alu::NAME>(operand, result);
#include "ir/base/Alu.def"
  }
  llvm_unreachable("every row is handled");
}

AluLoop kiln::fmaLoop(DType dtype) {
  return withElement(dtype, [](auto tag) -> AluLoop {
    using T = typename decltype(tag)::Type;
    if constexpr (isFloatElement<T>)
      return fusedLoop<T>;
    else
      return multiplyAddLoop<T>;
  });
}

Scalar Scalar::of(TypedAttr value) {
  DType dtype = *dtypeOf(value.getType());
  if (auto number = llvm::dyn_cast<FloatAttr>(value))
    return {dtype, number.getValue().bitcastToAPInt().getZExtValue()};
  return {dtype, llvm::cast<IntegerAttr>(value).getValue().getZExtValue()};
}

TypedAttr Scalar::attribute(MLIRContext *context) const {
  Type type = elementType(context, dtype);
  llvm::APInt value(type.getIntOrFloatBitWidth(), bits);
  if (auto real = llvm::dyn_cast<FloatType>(type))
    return FloatAttr::get(type, llvm::APFloat(real.getFloatSemantics(), value));
  return IntegerAttr::get(type, value);
}

std::optional<Scalar> kiln::evaluateAlu(Alu kind, llvm::ArrayRef<Scalar> operands, DType result) {
  AluLoop loop = aluLoop(kind, operands.back().dtype, result);
  if (!loop)
    return std::nullopt;
  llvm::SmallVector<const void *, 3> data;
  for (const Scalar &operand : operands)
    data.push_back(operand.data());
  Scalar value{result, 0};
  loop(data.data(), &value.bits, 1);
  return value;
}

Scalar kiln::castScalar(Scalar value, DType to) { return *evaluateAlu(Alu::CAST, value, to); }
