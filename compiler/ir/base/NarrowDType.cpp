#include "ir/base/NarrowDType.h"

#include "ir/base/ObjectType.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"

using namespace kiln;
using namespace mlir;

template <class T> static Type make(MLIRContext *context) { return T::get(context); }

template <unsigned bits, IntegerType::SignednessSemantics signedness> static Type makeInteger(MLIRContext *context) {
  return IntegerType::get(context, bits, signedness);
}

llvm::ArrayRef<NarrowDType> kiln::narrowDTypes() {
  using Kind = NarrowDType::Kind;
  static const NarrowDType rows[] = {
      {"float8_e4m3fn", "KILN_FLOAT8_E4M3FN", Kind::OneNaN, 4, 3, 7, make<Float8E4M3FNType>},
      {"float8_e4m3fnuz", "KILN_FLOAT8_E4M3FNUZ", Kind::NoMinus0, 4, 3, 8, make<Float8E4M3FNUZType>},
      {"float8_e5m2", "KILN_FLOAT8_E5M2", Kind::Ieee, 5, 2, 15, make<Float8E5M2Type>},
      {"float8_e5m2fnuz", "KILN_FLOAT8_E5M2FNUZ", Kind::NoMinus0, 5, 2, 16, make<Float8E5M2FNUZType>},
      {"float8_e8m0fnu", "KILN_FLOAT8_E8M0FNU", Kind::Scale, 8, 0, 127, make<Float8E8M0FNUType>},
      {"float6_e2m3fn", "KILN_FLOAT6_E2M3FN", Kind::Finite, 2, 3, 1, make<Float6E2M3FNType>},
      {"float6_e3m2fn", "KILN_FLOAT6_E3M2FN", Kind::Finite, 3, 2, 3, make<Float6E3M2FNType>},
      {"float4_e2m1fn", "KILN_FLOAT4_E2M1FN", Kind::Finite, 2, 1, 1, make<Float4E2M1FNType>},
      {"int4", "KILN_INT4", Kind::Integer, 0, 4, 0, makeInteger<4, IntegerType::Signless>},
      {"uint4", "KILN_UINT4", Kind::Unsigned, 0, 4, 0, makeInteger<4, IntegerType::Unsigned>},
      {"int2", "KILN_INT2", Kind::Integer, 0, 2, 0, makeInteger<2, IntegerType::Signless>},
      {"uint2", "KILN_UINT2", Kind::Unsigned, 0, 2, 0, makeInteger<2, IntegerType::Unsigned>},
  };
  return rows;
}

const NarrowDType *kiln::narrowDType(Type element) {
  if (!element || !element.isIntOrFloat() || element.getIntOrFloatBitWidth() > 8 || dtypeOf(element))
    return nullptr;
  for (const NarrowDType &row : narrowDTypes())
    if (row.type(element.getContext()) == element)
      return &row;
  return nullptr;
}

llvm::APInt kiln::codeOf(TypedAttr number) {
  auto real = dyn_cast<FloatAttr>(number);
  return real ? real.getValue().bitcastToAPInt() : cast<IntegerAttr>(number).getValue();
}

Type kiln::storageType(Type element) {
  if (isObject(element))
    return IntegerType::get(element.getContext(), 64);
  return isNarrow(element) ? IntegerType::get(element.getContext(), 8, IntegerType::Unsigned) : element;
}

int32_t kiln::runtimeDType(Type element) {
  int32_t string = int32_t(kDTypes + narrowDTypes().size());
  if (isObject(element))
    return string + (isa<SequenceType>(element) ? 1 : isa<OptionalType>(element) ? 2 : 0);
  if (const NarrowDType *narrow = narrowDType(element))
    return int32_t(kDTypes + (narrow - narrowDTypes().begin()));
  return int32_t(*dtypeOf(element));
}
