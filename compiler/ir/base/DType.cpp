#include "ir/base/DType.h"

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace kiln;
using namespace mlir;

std::optional<DType> kiln::dtypeOf(Type element) {
  if (auto integer = llvm::dyn_cast<IntegerType>(element)) {
    bool isUnsigned = integer.isUnsigned();
    switch (integer.getWidth()) {
    case 1:
      return DType::Bool;
    case 8:
      return isUnsigned ? DType::U8 : DType::I8;
    case 16:
      return isUnsigned ? DType::U16 : DType::I16;
    case 32:
      return isUnsigned ? DType::U32 : DType::I32;
    case 64:
      return isUnsigned ? DType::U64 : DType::I64;
    }
    return std::nullopt;
  }
  return llvm::TypeSwitch<Type, std::optional<DType>>(element)
      .Case([](Float16Type) { return DType::F16; })
      .Case([](BFloat16Type) { return DType::BF16; })
      .Case([](Float32Type) { return DType::F32; })
      .Case([](Float64Type) { return DType::F64; })
      .Default([](Type) { return std::nullopt; });
}

Type kiln::elementType(MLIRContext *context, DType dtype) {
  auto integer = [&](IntegerType::SignednessSemantics signedness) {
    return IntegerType::get(context, dtype == DType::Bool ? 1 : byteSize(dtype) * 8, signedness);
  };
  switch (dtype) {
  case DType::Bool:
  case DType::I8:
  case DType::I16:
  case DType::I32:
  case DType::I64:
    return integer(IntegerType::Signless);
  case DType::U8:
  case DType::U16:
  case DType::U32:
  case DType::U64:
    return integer(IntegerType::Unsigned);
  case DType::F16:
    return Float16Type::get(context);
  case DType::BF16:
    return BFloat16Type::get(context);
  case DType::F32:
    return Float32Type::get(context);
  case DType::F64:
    return Float64Type::get(context);
  }
  llvm_unreachable("every dtype is handled");
}

unsigned kiln::byteSize(DType dtype) {
  static constexpr uint8_t sizes[kDTypes] = {1, 1, 1, 2, 2, 4, 4, 8, 8, 2, 2, 4, 8};
  return sizes[unsigned(dtype)];
}

bool kiln::isFloat(DType dtype) { return dtype >= DType::F16; }

llvm::StringRef kiln::dtypeName(DType dtype) {
  static constexpr llvm::StringLiteral names[kDTypes] = {"i1",  "i8",   "ui8", "i16",  "ui16", "i32", "ui32",
                                                         "i64", "ui64", "f16", "bf16", "f32",  "f64"};
  return names[unsigned(dtype)];
}
