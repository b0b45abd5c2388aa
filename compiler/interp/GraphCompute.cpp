//===- GraphCompute.cpp - Element-wise ops, reductions, gather ---------- ===//

#include "interp/GraphEvaluator.h"
#include "support/Error.h"

using namespace kiln;
using namespace kiln::interp;
using mlir::Value;

GraphEvaluator::Result GraphEvaluator::one(graph::AluOp op) {
  Alu kind = op.getKind().getValue();
  llvm::SmallVector<TensorRef, 3> operands;
  for (Value operand : op.getOperands())
    operands.push_back(values_.at(operand));
  for (const TensorRef &operand : operands)
    if (operand->dims != operands.front()->dims)
      return failure("the operands' sizes differ");
  DType dtype = dtypeOfTensor(op.getResult());
  AluLoop loop = aluLoop(kind, operands.back()->dtype, dtype);
  if (!loop)
    return failure(stringifyAlu(kind) + " is not defined for " + dtypeName(operands.back()->dtype));
  TensorRef result = LazyTensor::computed(dtype, loop, operands);
  // A value that only one element-wise op or reduction reads is computed there.
  bool isReadOnce = op->hasOneUse() && llvm::isa<graph::AluOp, graph::ReduceOp>(*op->user_begin()) &&
                    op->user_begin()->getBlock() == op->getBlock();
  if (!isReadOnce)
    if (llvm::Error error = hold(*result, limit_))
      return std::move(error);
  return result;
}

/// `input` times exp(score - the largest along `axes`).
static llvm::Expected<TensorRef> weigh(const TensorRef &input, const TensorRef &score, llvm::ArrayRef<int64_t> axes,
                                       int64_t limit) {
  llvm::Expected<TensorRef> largest = reduce(Alu::MAX, *score, axes, limit);
  if (!largest)
    return largest;
  DType dtype = input->dtype;
  TensorRef everywhere = LazyTensor::held(dtype, (*largest)->data, (*largest)->map.expand(input->dims));
  TensorRef negative = LazyTensor::computed(dtype, aluLoop(Alu::NEG, dtype, dtype), {everywhere});
  TensorRef below = LazyTensor::computed(dtype, aluLoop(Alu::ADD, dtype, dtype), {score, negative});
  TensorRef weight = LazyTensor::computed(dtype, aluLoop(Alu::EXP, dtype, dtype), {below});
  return LazyTensor::computed(dtype, aluLoop(Alu::MUL, dtype, dtype), {input, weight});
}

GraphEvaluator::Result GraphEvaluator::one(graph::ReduceOp op) {
  TensorRef input = values_.at(op.getInput());
  if (op.getScore()) {
    Result weighed = weigh(input, values_.at(op.getScore()), op.getAxes(), limit_);
    if (!weighed)
      return weighed;
    input = *weighed;
  }
  return reduce(op.getKind().getValue(), *input, op.getAxes(), limit_);
}

GraphEvaluator::Result GraphEvaluator::one(graph::ContiguousOp op) { return rowMajor(op.getInput()); }
GraphEvaluator::Result GraphEvaluator::one(graph::AssignOp op) { return rowMajor(op.getValue()); }

GraphEvaluator::Result GraphEvaluator::one(graph::GatherOp op) {
  Result input = rowMajor(op.getInput());
  if (!input)
    return input;
  Result indices = rowMajor(op.getIndices());
  if (!indices)
    return indices;
  size_t axis = op.getAxis();
  llvm::ArrayRef<int64_t> from = (*input)->dims;
  llvm::ArrayRef<int64_t> chosen = (*indices)->dims;
  Dims dims(from.take_front(axis));
  dims.append(chosen.begin(), chosen.end());
  dims.append(from.begin() + axis + 1, from.end());
  unsigned bytes = byteSize((*input)->dtype);
  llvm::Expected<std::shared_ptr<char>> memory = allocate(elementCount(dims), bytes, limit_);
  if (!memory)
    return memory.takeError();

  int64_t count = elementCount(chosen), size = from[axis], row = elementCount(from.drop_front(axis + 1)) * bytes;
  std::vector<int64_t> positions(count);
  const void *operand = rowMajorData(**indices);
  aluLoop(Alu::CAST, (*indices)->dtype, DType::I64)(&operand, positions.data(), count);
  for (int64_t &position : positions) {
    if (position < -size || position >= size)
      return failure("the index " + llvm::Twine(position) + " is out of range for an axis of size " +
                     llvm::Twine(size));
    if (position < 0)
      position += size;
  }
  char *to = memory->get();
  const char *data = rowMajorData(**input);
  for (int64_t outer = 0, end = elementCount(from.take_front(axis)); outer < end; ++outer)
    for (int64_t position : positions) {
      std::memcpy(to, data + (outer * size + position) * row, row);
      to += row;
    }
  return LazyTensor::held((*input)->dtype, std::move(*memory), Strided::rowMajor(dims));
}
