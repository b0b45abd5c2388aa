#include "render/llvm/LlvmType.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/TypeUtilities.h"

using namespace kiln;

static llvm::Type *scalarType(llvm::LLVMContext &context, mlir::Type type) {
  if (type.isF16())
    return llvm::Type::getHalfTy(context);
  if (type.isF32())
    return llvm::Type::getFloatTy(context);
  if (type.isF64())
    return llvm::Type::getDoubleTy(context);
  return llvm::IntegerType::get(context, type.getIntOrFloatBitWidth());
}

llvm::Type *render::registerType(llvm::LLVMContext &context, mlir::Type type) {
  if (auto vector = llvm::dyn_cast<mlir::VectorType>(type))
    return llvm::FixedVectorType::get(scalarType(context, vector.getElementType()), vector.getNumElements());
  return scalarType(context, type);
}

llvm::Type *render::memoryType(llvm::LLVMContext &context, mlir::Type type) {
  llvm::Type *inRegister = registerType(context, type);
  if (!mlir::getElementTypeOrSelf(type).isInteger(1))
    return inRegister;
  return withLanesOf(llvm::Type::getInt8Ty(context), inRegister);
}

llvm::Type *render::withLanesOf(llvm::Type *type, llvm::Type *shape) {
  if (auto *vector = llvm::dyn_cast<llvm::VectorType>(shape))
    return llvm::VectorType::get(type, vector->getElementCount());
  return type;
}

llvm::Constant *render::constantOf(llvm::LLVMContext &context, mlir::TypedAttr value) {
  llvm::Type *type = scalarType(context, value.getType());
  if (auto number = llvm::dyn_cast<mlir::IntegerAttr>(value))
    return llvm::ConstantInt::get(type, number.getValue());
  llvm::APFloat number = llvm::cast<mlir::FloatAttr>(value).getValue();
  if (type->isIntegerTy())
    return llvm::ConstantInt::get(type, number.bitcastToAPInt());
  return llvm::ConstantFP::get(type, number);
}

bool render::isSigned(mlir::Type element) {
  auto integer = llvm::dyn_cast<mlir::IntegerType>(element);
  return integer && integer.getWidth() > 1 && !integer.isUnsigned();
}
