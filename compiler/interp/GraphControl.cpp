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
  view::Expr condition = op.getCondition().getValue();
  llvm::Expected<int64_t> holds = symbols_.evaluate(condition);
  if (!holds)
    return holds.takeError();
  if (!*holds) {
    std::string sizes;
    condition.forEachVariable([&](view::Expr symbol) {
      sizes += (sizes.empty() ? "" : ", ") + symbol.name().str() + "=" +
               std::to_string(llvm::cantFail(symbols_.evaluate(symbol)));
    });
    return failure(op.getMessage() + (sizes.empty() ? "" : " (" + sizes + ")"));
  }
  return llvm::SmallVector<TensorRef>();
}

GraphEvaluator::Results GraphEvaluator::many(graph::IfOp op) {
  llvm::Expected<Scalar> condition = number(op.getCondition());
  if (!condition)
    return condition.takeError();
  // Symbols that a region binds are its own.
  Symbols outside = symbols_;
  Results results = runBlock((condition->as<bool>() ? op.getThenRegion() : op.getElseRegion()).front());
  symbols_ = std::move(outside);
  return results;
}

namespace {
/// A scan output so far: the slices of the iterations, one after the other.
struct Stack {
  std::vector<char> bytes;
  Dims slice; ///< the sizes of each
};
} // namespace

/// `limit`: how many bytes there may be.
static llvm::Error append(Stack &stack, const LazyTensor &slice, bool isFirst, int64_t limit) {
  if (!isFirst && slice.dims != stack.slice)
    return failure("a scan output's slices differ in size");
  stack.slice = slice.dims;
  int64_t bytes = elementCount(slice.dims) * byteSize(slice.dtype);
  if (int64_t(stack.bytes.size()) + bytes > limit)
    return failure("a scan output does not fit the memory limit of " + llvm::Twine(limit) + " bytes");
  stack.bytes.insert(stack.bytes.end(), rowMajorData(slice), rowMajorData(slice) + bytes);
  return llvm::Error::success();
}

/// The scan output `result` of `trips` iterations.
static TensorRef wholeOf(Stack stack, Value result, int64_t trips, const Symbols &symbols) {
  Dims dims{trips};
  if (trips > 0)
    dims.append(stack.slice);
  else
    // Sizes that only an iteration would have determined are 0.
    for (view::Expr size : llvm::ArrayRef(shapeOf(result)).drop_front()) {
      llvm::Expected<int64_t> known = symbols.evaluate(size);
      dims.push_back(known ? *known : (llvm::consumeError(known.takeError()), 0));
    }
  auto bytes = std::make_shared<std::vector<char>>(std::move(stack.bytes));
  bytes->reserve(1);
  return LazyTensor::held(dtypeOfTensor(result), std::shared_ptr<const char>(bytes, bytes->data()),
                          Strided::rowMajor(dims));
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
  std::vector<Stack> stacks(scans);
  const Symbols outside = symbols_;
  int64_t trip = 0;
  for (; trip < trips && condition; ++trip) {
    if (llvm::Error error = spend(1))
      return std::move(error);
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
    for (size_t scan = 0; scan < scans; ++scan)
      if (llvm::Error error = append(stacks[scan], *(*yields)[1 + carried.size() + scan], trip == 0, limit_))
        return std::move(error);
  }
  symbols_ = outside;

  for (Stack &stack : stacks)
    carried.push_back(wholeOf(std::move(stack), op->getResult(carried.size()), trip, symbols_));
  return carried;
}
