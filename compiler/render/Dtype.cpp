#include "render/Dtype.h"

#include "ir/uop/UOp.h"

using namespace kiln;
using namespace kiln::render;

namespace {
enum class Class { Bool, Signed, Unsigned, Float };
struct Row {
  llvm::StringLiteral shortName, runtimeName;
  unsigned bits;
  Class kind;
};
} // namespace

static const Row &row(Dtype dtype) {
  static constexpr Row rows[kDtypes] = {
      {"bool", "KILN_BOOL", 8, Class::Bool},       {"i8", "KILN_INT8", 8, Class::Signed},
      {"u8", "KILN_UINT8", 8, Class::Unsigned},    {"i16", "KILN_INT16", 16, Class::Signed},
      {"u16", "KILN_UINT16", 16, Class::Unsigned}, {"i32", "KILN_INT32", 32, Class::Signed},
      {"u32", "KILN_UINT32", 32, Class::Unsigned}, {"i64", "KILN_INT64", 64, Class::Signed},
      {"u64", "KILN_UINT64", 64, Class::Unsigned}, {"f16", "KILN_FLOAT16", 16, Class::Float},
      {"bf16", "KILN_BFLOAT16", 16, Class::Float}, {"f32", "KILN_FLOAT32", 32, Class::Float},
      {"f64", "KILN_FLOAT64", 64, Class::Float},
  };
  return rows[static_cast<unsigned>(dtype)];
}

Dtype render::dtypeOf(mlir::Type type) {
  if (auto pointer = llvm::dyn_cast<uop::PtrType>(type))
    type = pointer.getElement();
  type = mlir::getElementTypeOrSelf(type);
  if (auto integer = llvm::dyn_cast<mlir::IntegerType>(type)) {
    switch (integer.getWidth()) {
    case 1:
      return Dtype::Bool;
    case 8:
      return integer.isUnsigned() ? Dtype::U8 : Dtype::I8;
    case 16:
      return integer.isUnsigned() ? Dtype::U16 : Dtype::I16;
    case 32:
      return integer.isUnsigned() ? Dtype::U32 : Dtype::I32;
    case 64:
      return integer.isUnsigned() ? Dtype::U64 : Dtype::I64;
    }
  }
  if (type.isF16())
    return Dtype::F16;
  if (type.isBF16())
    return Dtype::BF16;
  if (type.isF32())
    return Dtype::F32;
  assert(type.isF64() && "the importers let no other dtype in");
  return Dtype::F64;
}

llvm::StringRef render::shortName(Dtype dtype) { return row(dtype).shortName; }
llvm::StringRef render::runtimeName(Dtype dtype) { return row(dtype).runtimeName; }
unsigned render::bitWidth(Dtype dtype) { return row(dtype).bits; }
bool render::isFloat(Dtype dtype) { return row(dtype).kind == Class::Float; }
bool render::isSignedInteger(Dtype dtype) { return row(dtype).kind == Class::Signed; }
bool render::isUnsignedInteger(Dtype dtype) { return row(dtype).kind == Class::Unsigned; }
