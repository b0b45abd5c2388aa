#include "import/onnx/file/ElementType.h"

#include "ir/base/ObjectType.h"

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
  case Tensor::FLOAT8E4M3FN:
    return Float8E4M3FNType::get(context);
  case Tensor::FLOAT8E4M3FNUZ:
    return Float8E4M3FNUZType::get(context);
  case Tensor::FLOAT8E5M2:
    return Float8E5M2Type::get(context);
  case Tensor::FLOAT8E5M2FNUZ:
    return Float8E5M2FNUZType::get(context);
  case Tensor::FLOAT8E8M0:
    return Float8E8M0FNUType::get(context);
  case Tensor::FLOAT6E2M3:
    return Float6E2M3FNType::get(context);
  case Tensor::FLOAT6E3M2:
    return Float6E3M2FNType::get(context);
  case Tensor::FLOAT4E2M1:
    return Float4E2M1FNType::get(context);
  case Tensor::INT4:
    return builder.getIntegerType(4);
  case Tensor::UINT4:
    return builder.getIntegerType(4, /*isSigned=*/false);
  case Tensor::INT2:
    return builder.getIntegerType(2);
  case Tensor::UINT2:
    return builder.getIntegerType(2, /*isSigned=*/false);
  case Tensor::STRING:
    return StringType::get(context);
  default:
    return {};
  }
}

std::string kiln::import::onnx::dataTypeName(int32_t dataType) {
  if (::onnx::TensorProto_DataType_IsValid(dataType))
    return ::onnx::TensorProto_DataType_Name(static_cast<::onnx::TensorProto_DataType>(dataType));
  return std::to_string(dataType);
}
