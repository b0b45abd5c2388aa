#include "import/onnx/ElementType.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"

#include <onnx-ml.pb.h>

using namespace kiln::import;
using namespace mlir;
using Tensor = ::onnx::TensorProto;

Type kiln::import::onnx::elementType(MLIRContext *context, int32_t dataType) {
  Builder builder(context);
  switch (dataType) {
  case Tensor::BOOL:
    return builder.getI1Type();
  case Tensor::INT8:
    return builder.getIntegerType(8);
  case Tensor::INT16:
    return builder.getIntegerType(16);
  case Tensor::INT32:
    return builder.getIntegerType(32);
  case Tensor::INT64:
    return builder.getIntegerType(64);
  case Tensor::UINT8:
    return builder.getIntegerType(8, /*isSigned=*/false);
  case Tensor::UINT16:
    return builder.getIntegerType(16, /*isSigned=*/false);
  case Tensor::UINT32:
    return builder.getIntegerType(32, /*isSigned=*/false);
  case Tensor::UINT64:
    return builder.getIntegerType(64, /*isSigned=*/false);
  case Tensor::FLOAT16:
    return builder.getF16Type();
  case Tensor::BFLOAT16:
    return builder.getBF16Type();
  case Tensor::FLOAT:
    return builder.getF32Type();
  case Tensor::DOUBLE:
    return builder.getF64Type();
  default:
    return {};
  }
}

std::string kiln::import::onnx::dataTypeName(int32_t dataType) {
  if (::onnx::TensorProto_DataType_IsValid(dataType))
    return ::onnx::TensorProto_DataType_Name(static_cast<::onnx::TensorProto_DataType>(dataType));
  return std::to_string(dataType);
}
