#include "render/kernel/DTypeNames.h"

#include "ir/base/NarrowDType.h"
#include "ir/base/ObjectType.h"
#include "ir/uop/UOp.h"

using namespace kiln;
using namespace kiln::render;

DType render::scalarDType(mlir::Type type) {
  if (auto pointer = llvm::dyn_cast<uop::PtrType>(type))
    type = pointer.getElement();
  std::optional<DType> dtype = dtypeOf(mlir::getElementTypeOrSelf(type));
  assert(dtype && "the importers let no other dtype in");
  return *dtype;
}

llvm::StringRef render::shortName(DType dtype) {
  static constexpr llvm::StringLiteral names[kDTypes] = {"bool", "i8",  "u8",  "i16",  "u16", "i32", "u32",
                                                         "i64",  "u64", "f16", "bf16", "f32", "f64"};
  return names[static_cast<unsigned>(dtype)];
}

llvm::StringRef render::runtimeName(DType dtype) {
  static constexpr llvm::StringLiteral names[kDTypes] = {
      "KILN_BOOL",  "KILN_INT8",   "KILN_UINT8",   "KILN_INT16",    "KILN_UINT16",  "KILN_INT32",  "KILN_UINT32",
      "KILN_INT64", "KILN_UINT64", "KILN_FLOAT16", "KILN_BFLOAT16", "KILN_FLOAT32", "KILN_FLOAT64"};
  return names[static_cast<unsigned>(dtype)];
}

llvm::StringRef render::runtimeName(mlir::Type element) {
  if (llvm::isa<StringType>(element))
    return "KILN_STRING";
  if (isContainer(element))
    return llvm::isa<SequenceType>(element) ? "KILN_SEQUENCE" : "KILN_OPTIONAL";
  const NarrowDType *narrow = narrowDType(element);
  return narrow ? llvm::StringRef(narrow->runtimeName) : runtimeName(scalarDType(element));
}

bool render::isSignedInteger(DType dtype) {
  return dtype == DType::I8 || dtype == DType::I16 || dtype == DType::I32 || dtype == DType::I64;
}

bool render::isUnsignedInteger(DType dtype) {
  return dtype == DType::U8 || dtype == DType::U16 || dtype == DType::U32 || dtype == DType::U64;
}
