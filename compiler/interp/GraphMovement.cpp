//===- GraphMovement.cpp - Sources, and views of existing tensors ------===//
//
// When the interpreter runs, every size is a number, and the moved data is an array with strides, so most movement is
// arithmetic on strides (Strided.h). Memory is needed for padding, since zeros have to be somewhere, and if elements
// have to be in row-major order first, as for some reshapes. Nothing is assumed of the graph, as this judges others:
// bounds, amounts of padding and the reach of a graph.view are compared with the tensor's size. A position outside is
// an error rather than a read past the array.
//
//===-------------------------------------------------------------------===//
#include "interp/GraphEvaluator.h"
#include "interp/WeightData.h"
#include "support/Error.h"

using namespace kiln;
using namespace kiln::interp;
using mlir::Value;

GraphEvaluator::Result GraphEvaluator::one(graph::ConstOp op) {
  llvm::Expected<Dims> dims = dimsOf(op.getResult());
  if (!dims)
    return dims.takeError();
  return LazyTensor::splat(Scalar::of(op.getValue()), *dims);
}

GraphEvaluator::Result GraphEvaluator::one(graph::WeightOp op) {
  TensorRef &weight = weights_[op];
  if (weight)
    return weight;
  auto elements = llvm::dyn_cast<mlir::DenseElementsAttr>(op.getData());
  Result data = elements ? elementsTensor(elements)
                         : fileTensor(llvm::cast<graph::FileAttr>(op.getData()), dtypeOfTensor(op.getResult()),
                                      op.getResult().getType().getShape(), folder_);
  if (data)
    weight = *data;
  return data;
}

GraphEvaluator::Result GraphEvaluator::one(graph::SizeOp op) {
  llvm::Expected<int64_t> size = symbols_.evaluate(op.getSize().getValue());
  if (!size)
    return size.takeError();
  llvm::Expected<Dims> dims = dimsOf(op.getResult());
  if (!dims)
    return dims.takeError();
  return LazyTensor::splat(castScalar(Scalar::of(DType::I64, *size), dtypeOfTensor(op.getResult())), *dims);
}

GraphEvaluator::Result GraphEvaluator::one(graph::IotaOp op) {
  llvm::Expected<Dims> dims = dimsOf(op.getResult());
  if (!dims)
    return dims.takeError();
  DType dtype = dtypeOfTensor(op.getResult());
  int64_t count = elementCount(*dims);
  llvm::Expected<std::shared_ptr<char>> memory = allocate(count, byteSize(dtype), limit_);
  if (!memory)
    return memory.takeError();
  AluLoop narrow = aluLoop(Alu::CAST, DType::I64, dtype);
  for (int64_t i = 0; i < count; ++i) {
    const void *number = &i;
    narrow(&number, memory->get() + i * byteSize(dtype), 1);
  }
  return LazyTensor::held(dtype, std::move(*memory), Strided::rowMajor(*dims));
}

GraphEvaluator::Result GraphEvaluator::one(graph::ReshapeOp op) {
  llvm::Expected<Dims> dims = dimsOf(op.getResult());
  if (!dims)
    return dims.takeError();
  Result input = held(op.getInput());
  if (!input)
    return input;
  if (elementCount((*input)->dims) != elementCount(*dims))
    return failure("a reshape of " + llvm::Twine(elementCount((*input)->dims)) + " elements to " +
                   llvm::Twine(elementCount(*dims)));
  std::optional<Strided> map = (*input)->map.reshape(*dims);
  if (!map) {
    input = rowMajor(op.getInput());
    if (!input)
      return input;
    map = (*input)->map.reshape(*dims);
  }
  return LazyTensor::held((*input)->dtype, (*input)->data, *map);
}

GraphEvaluator::Result GraphEvaluator::one(graph::PermuteOp op) {
  Result input = held(op.getInput());
  if (!input)
    return input;
  return LazyTensor::held((*input)->dtype, (*input)->data, (*input)->map.permute(op.getOrder()));
}

GraphEvaluator::Result GraphEvaluator::one(graph::ExpandOp op) {
  llvm::Expected<Dims> dims = dimsOf(op.getResult());
  if (!dims)
    return dims.takeError();
  Result input = held(op.getInput());
  if (!input)
    return input;
  for (auto [from, to] : llvm::zip((*input)->dims, *dims))
    if (from != 1 && from != to)
      return failure("an axis of size " + llvm::Twine(from) + " cannot be repeated to " + llvm::Twine(to));
  return LazyTensor::held((*input)->dtype, (*input)->data, (*input)->map.expand(*dims));
}

/// An op's numbers for both ends of each axis.
static llvm::Expected<std::pair<Dims, Dims>> endsOf(const Symbols &symbols, DimsAttr low, DimsAttr high) {
  llvm::Expected<Dims> first = symbols.evaluate(low.getSizes());
  if (!first)
    return first.takeError();
  llvm::Expected<Dims> second = symbols.evaluate(high.getSizes());
  if (!second)
    return second.takeError();
  return std::pair(std::move(*first), std::move(*second));
}

GraphEvaluator::Result GraphEvaluator::one(graph::PadOp op) {
  llvm::Expected<std::pair<Dims, Dims>> ends = endsOf(symbols_, op.getLow(), op.getHigh());
  if (!ends)
    return ends.takeError();
  const auto &[low, high] = *ends;
  Result input = held(op.getInput());
  if (!input)
    return input;
  Dims dims = (*input)->dims, end;
  for (size_t axis = 0; axis < dims.size(); ++axis) {
    if (low[axis] < 0 || high[axis] < 0)
      return failure("an amount of padding is negative");
    end.push_back(low[axis] + dims[axis]);
    dims[axis] = end.back() + high[axis];
  }
  unsigned bytes = byteSize((*input)->dtype);
  llvm::Expected<std::shared_ptr<char>> memory = allocate(elementCount(dims), bytes, limit_);
  if (!memory)
    return memory.takeError();
  Strided map = Strided::rowMajor(dims);
  copyElements(memory->get(), map.shrink(low, end), (*input)->data.get(), (*input)->map, bytes);
  return LazyTensor::held((*input)->dtype, std::move(*memory), std::move(map));
}

GraphEvaluator::Result GraphEvaluator::one(graph::ShrinkOp op) {
  llvm::Expected<std::pair<Dims, Dims>> ends = endsOf(symbols_, op.getBegin(), op.getEnd());
  if (!ends)
    return ends.takeError();
  const auto &[begin, end] = *ends;
  Result input = held(op.getInput());
  if (!input)
    return input;
  for (auto [size, from, to] : llvm::zip((*input)->dims, begin, end))
    if (from < 0 || from > to || to > size)
      return failure("[" + llvm::Twine(from) + ", " + llvm::Twine(to) + ") is not within an axis of size " +
                     llvm::Twine(size));
  return LazyTensor::held((*input)->dtype, (*input)->data, (*input)->map.shrink(begin, end));
}

GraphEvaluator::Result GraphEvaluator::one(graph::FlipOp op) {
  Result input = held(op.getInput());
  if (!input)
    return input;
  return LazyTensor::held((*input)->dtype, (*input)->data, (*input)->map.flip(op.getAxes()));
}

GraphEvaluator::Result GraphEvaluator::one(graph::ViewOp op) {
  Result tensor = held(op.getInput());
  view::ShapeTracker tracker = op.getTracker().getValue();
  for (const view::View &view : tracker.views()) {
    if (!tensor)
      return tensor;
    tensor = tracked(*tensor, view);
  }
  return tensor;
}

/// One strided map with a mask over the tensor's elements in row-major order.
GraphEvaluator::Result GraphEvaluator::tracked(const TensorRef &tensor, const view::View &view) {
  if (llvm::Error error = holdRowMajor(*tensor, limit_))
    return std::move(error);
  llvm::Expected<Dims> dims = symbols_.evaluate(view.shape());
  if (!dims)
    return dims.takeError();
  llvm::Expected<Dims> strides = symbols_.evaluate(view.strides());
  if (!strides)
    return strides.takeError();
  llvm::Expected<int64_t> offset = symbols_.evaluate(view.offset());
  if (!offset)
    return offset.takeError();
  Strided map{*dims, *strides, *offset};
  Dims begin(dims->size(), 0), end = *dims;
  if (view.mask())
    for (auto [axis, range] : llvm::enumerate(*view.mask())) {
      llvm::Expected<int64_t> first = symbols_.evaluate(range.begin), last = symbols_.evaluate(range.end);
      if (llvm::Error error = llvm::joinErrors(first.takeError(), last.takeError()))
        return std::move(error);
      begin[axis] = std::clamp<int64_t>(*first, 0, (*dims)[axis]);
      end[axis] = std::clamp<int64_t>(*last, begin[axis], (*dims)[axis]);
    }
  Strided valid = map.shrink(begin, end);
  if (auto reach = valid.reach(); reach && (reach->first < 0 || reach->second >= elementCount(tensor->dims)))
    return failure("the view reads element " + llvm::Twine(reach->first < 0 ? reach->first : reach->second) + " of " +
                   llvm::Twine(elementCount(tensor->dims)));
  int64_t start = tensor->map.offset;
  if (valid.dims == map.dims) {
    map.offset += start;
    return LazyTensor::held(tensor->dtype, tensor->data, std::move(map));
  }
  // The padding needs memory; an axis that only repeats does not.
  Dims compact = *dims;
  for (size_t axis = 0; axis < compact.size(); ++axis)
    if ((*strides)[axis] == 0 && valid.dims[axis] == compact[axis] && compact[axis] > 1) {
      compact[axis] = end[axis] = 1;
      valid.dims[axis] = 1;
    }
  unsigned bytes = byteSize(tensor->dtype);
  llvm::Expected<std::shared_ptr<char>> memory = allocate(elementCount(compact), bytes, limit_);
  if (!memory)
    return memory.takeError();
  Strided result = Strided::rowMajor(compact);
  valid.offset += start;
  copyElements(memory->get(), result.shrink(begin, end), tensor->data.get(), valid, bytes);
  return LazyTensor::held(tensor->dtype, std::move(*memory), result.expand(*dims));
}
