//===- GraphCall.cpp - Calls of the runtime's library -------------------- ===//

#include "interp/GraphEvaluator.h"
#include "kiln/call.h"
#include "support/Error.h"

#include <cstddef>
#include <memory>

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

namespace {

struct Scratch : kiln_scratch {
  explicit Scratch(std::vector<std::unique_ptr<char[]>> &strings) : kiln_scratch{reserveIn, keepIn}, strings(strings) {}

  std::unique_ptr<std::max_align_t[]> memory;
  std::vector<std::unique_ptr<char[]>> &strings;

private:
  static void *reserveIn(kiln_scratch *scratch, int64_t bytes) {
    auto &memory = static_cast<Scratch *>(scratch)->memory;
    memory = std::make_unique<std::max_align_t[]>(size_t(bytes) / sizeof(std::max_align_t) + 1);
    return memory.get();
  }
  static void *keepIn(kiln_scratch *scratch, int64_t bytes) {
    return static_cast<Scratch *>(scratch)->strings.emplace_back(std::make_unique<char[]>(size_t(bytes))).get();
  }
};

} // namespace

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
    // A function only reads its inputs.
    buffers.push_back(const_cast<char *>(rowMajorData(**tensor)));
  }
  llvm::Expected<Dims> sizes = symbols_.evaluate(op.getSizes().getSizes());
  if (!sizes)
    return sizes.takeError();
  Scratch scratch(*strings_);
  if (const char *cause = function(buffers.data(), sizes->data(), &scratch))
    return failure(cause);
  return results;
}
