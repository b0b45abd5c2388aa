//===- GraphCall.cpp - Calls of the runtime's library -------------------- ===//

#include "interp/GraphEvaluator.h"
#include "kiln/call.h"
#include "support/Error.h"

using namespace kiln;
using namespace kiln::interp;

static kiln_call *functionOf(llvm::StringRef name) {
#define KILN_CALL(NAME)                                                                                                \
  if (name == #NAME)                                                                                                   \
    return kiln_call_##NAME;
  KILN_CALLS
#undef KILN_CALL
  return nullptr;
}

GraphEvaluator::Results GraphEvaluator::many(graph::CallOp op) {
  kiln_call *function = functionOf(op.getCallee());
  if (!function)
    return failure("the runtime has no function '" + op.getCallee() + "'");
  llvm::SmallVector<TensorRef> results;
  llvm::SmallVector<std::shared_ptr<char>> memories;
  std::vector<void *> buffers;
  for (mlir::Value result : op.getResults()) {
    llvm::Expected<Dims> dims = dimsOf(result);
    if (!dims)
      return dims.takeError();
    DType dtype = dtypeOfTensor(result);
    llvm::Expected<std::shared_ptr<char>> memory = allocate(elementCount(*dims), byteSize(dtype), limit_);
    if (!memory)
      return memory.takeError();
    buffers.push_back(memory->get());
    results.push_back(LazyTensor::held(dtype, std::move(*memory), Strided::rowMajor(*dims)));
  }
  for (mlir::Value operand : op.getOperands()) {
    Result tensor = rowMajor(operand);
    if (!tensor)
      return tensor.takeError();
    // A function only reads what it is given.
    buffers.push_back(const_cast<char *>(rowMajorData(**tensor)));
  }
  llvm::Expected<Dims> sizes = symbols_.evaluate(op.getSizes().getSizes());
  if (!sizes)
    return sizes.takeError();
  if (const char *cause = function(buffers.data(), sizes->data()))
    return failure(cause);
  return results;
}
