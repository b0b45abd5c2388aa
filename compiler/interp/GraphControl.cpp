//===- GraphControl.cpp - bind, check, if and loop ---------------------- ===//

#include "interp/GraphEvaluator.h"
#include "support/Error.h"

using namespace kiln;
using namespace kiln::interp;
using mlir::Value;

static int64_t integerOf(Scalar value) { return castScalar(value, DType::I64).as<int64_t>(); }

GraphEvaluator::Results GraphEvaluator::many(graph::BindOp op) {
  llvm::Expected<Scalar> value = number(op.getValue());
  if (!value)
    return value.takeError();
  SymbolAttr symbol = op.getSymbol();
  auto variable = view::Expr::variable(symbol.getName(), symbol.getMin(), symbol.getMax());
  if (llvm::Error error = symbols_.bind(variable, integerOf(*value)))
    return std::move(error);
  return llvm::SmallVector<TensorRef>();
}

GraphEvaluator::Results GraphEvaluator::many(graph::CheckOp op) {
  llvm::Expected<int64_t> holds = symbols_.evaluate(op.getCondition().getValue());
  if (!holds)
    return holds.takeError();
  if (!*holds)
    return failure(op.getMessage());
  return llvm::SmallVector<TensorRef>();
}

GraphEvaluator::Results GraphEvaluator::many(graph::IfOp op) {
  llvm::Expected<Scalar> condition = number(op.getCondition());
  if (!condition)
    return condition.takeError();
  // What a region binds is its own.
  Symbols outside = symbols_;
  Results results = runBlock((condition->as<bool>() ? op.getThenRegion() : op.getElseRegion()).front());
  symbols_ = std::move(outside);
  return results;
}

GraphEvaluator::Results GraphEvaluator::many(graph::LoopOp op) {
  int64_t trips = INT64_MAX;
  bool condition = true;
  if (op.getTrips()) {
    llvm::Expected<Scalar> value = number(op.getTrips());
    if (!value)
      return value.takeError();
    trips = integerOf(*value);
  }
  if (op.getCondition()) {
    llvm::Expected<Scalar> value = number(op.getCondition());
    if (!value)
      return value.takeError();
    condition = value->as<bool>();
  }
  llvm::SmallVector<TensorRef> carried;
  for (Value init : op.getInits()) {
    Result tensor = held(init);
    if (!tensor)
      return tensor.takeError();
    carried.push_back(*tensor);
  }

  mlir::Block &body = op.getBody().front();
  size_t scans = op.getNumResults() - carried.size();
  std::vector<std::vector<char>> stacks(scans);
  std::vector<Dims> slices(scans);
  const Symbols outside = symbols_;
  int64_t trip = 0;
  for (; trip < trips && condition; ++trip) {
    symbols_ = outside;
    TensorRef counter = LazyTensor::splat(Scalar::of(DType::I64, trip), {});
    if (llvm::Error error = define(body.getArgument(0), counter))
      return std::move(error);
    for (auto [argument, tensor] : llvm::zip(body.getArguments().drop_front(), carried))
      if (llvm::Error error = define(argument, tensor))
        return std::move(error);
    Results yields = runBlock(body);
    if (!yields)
      return yields;
    condition = *rowMajorData(*yields->front());
    carried.assign(yields->begin() + 1, yields->end() - scans);
    for (size_t scan = 0; scan < scans; ++scan) {
      const LazyTensor &slice = *(*yields)[1 + carried.size() + scan];
      if (trip > 0 && slice.dims != slices[scan])
        return failure("a scan output's slices differ in size");
      slices[scan] = slice.dims;
      int64_t bytes = elementCount(slice.dims) * byteSize(slice.dtype);
      if (int64_t(stacks[scan].size()) + bytes > limit_)
        return failure("a scan output does not fit the memory limit of " + llvm::Twine(limit_) + " bytes");
      stacks[scan].insert(stacks[scan].end(), rowMajorData(slice), rowMajorData(slice) + bytes);
    }
  }
  symbols_ = outside;

  for (size_t scan = 0; scan < scans; ++scan) {
    Value result = op->getResult(carried.size());
    Dims dims{trip};
    if (trip > 0)
      dims.append(slices[scan]);
    else
      // Sizes that only an iteration would have given are 0.
      for (view::Expr size : llvm::ArrayRef(shapeOf(result)).drop_front()) {
        llvm::Expected<int64_t> known = symbols_.evaluate(size);
        dims.push_back(known ? *known : (llvm::consumeError(known.takeError()), 0));
      }
    auto bytes = std::make_shared<std::vector<char>>(std::move(stacks[scan]));
    bytes->reserve(1);
    carried.push_back(LazyTensor::held(dtypeOfTensor(result), std::shared_ptr<const char>(bytes, bytes->data()),
                                       Strided::rowMajor(dims)));
  }
  return carried;
}
