#include "interp/GraphInterpreter.h"

#include "interp/LazyTensor.h"
#include "interp/Symbols.h"
#include "interp/WeightData.h"
#include "ir/graph/Graph.h"
#include "support/Error.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/Path.h"

using namespace kiln;
using namespace kiln::interp;
using mlir::Operation;
using mlir::Value;

namespace {

class Interpreter {
public:
  explicit Interpreter(const GraphInterpreterOptions &options)
      : options_(options), limit_(options.memoryLimit), folder_(llvm::sys::path::parent_path(options.modelPath)) {}

  llvm::Expected<std::vector<HostTensor>> run(mlir::func::FuncOp function, llvm::ArrayRef<HostTensor> inputs);

private:
  using Results = llvm::Expected<llvm::SmallVector<TensorRef>>;
  using Result = llvm::Expected<TensorRef>;

  llvm::Error bindInputs(mlir::func::FuncOp function, llvm::ArrayRef<HostTensor> inputs);
  /// Evaluates the block; its terminator's operands, held.
  Results runBlock(mlir::Block &block);
  llvm::Error runOp(Operation *op);
  Results evaluate(Operation *op);

  Result one(graph::ConstOp op);
  Result one(graph::WeightOp op);
  Result one(graph::SizeOp op);
  Result one(graph::ReshapeOp op);
  Result one(graph::PermuteOp op);
  Result one(graph::ExpandOp op);
  Result one(graph::PadOp op);
  Result one(graph::ShrinkOp op);
  Result one(graph::FlipOp op);
  Result one(graph::ViewOp op);
  Result one(graph::AluOp op);
  Result one(graph::ReduceOp op);
  Result one(graph::ContiguousOp op);
  Result one(graph::GatherOp op);
  Results many(graph::BindOp op);
  Results many(graph::IfOp op);
  Results many(graph::LoopOp op);

  Result tracked(TensorRef tensor, const view::View &view);
  /// The dims of a tensor type, which must be known by now.
  llvm::Expected<Dims> dimsOf(Value value) { return symbols_.evaluate(shapeOf(value)); }
  /// The operand as an array.
  Result held(Value value);
  Result rowMajor(Value value);
  llvm::Expected<Scalar> number(Value value);
  /// Gives `value` the tensor, and the tensor's sizes to the symbols that the value's type brings.
  llvm::Error define(Value value, TensorRef tensor);
  /// The error with the op's node before it, unless it came out of a region and has one.
  llvm::Error located(Operation *op, llvm::Error error);
  /// For each op of the block, the values that nothing in it reads later.
  const llvm::DenseMap<Operation *, llvm::SmallVector<Value>> &lastReads(mlir::Block &block);

  const GraphInterpreterOptions &options_;
  int64_t limit_;
  std::string folder_;
  bool isLocated_ = false;
  Symbols symbols_;
  llvm::DenseMap<Value, TensorRef> values_;
  llvm::DenseMap<Operation *, TensorRef> weights_; // read and hashed once, though a loop's body runs often
  llvm::DenseMap<mlir::Block *, llvm::DenseMap<Operation *, llvm::SmallVector<Value>>> lastReads_;
};

} // namespace

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

static std::string nodeName(mlir::Location location) {
  if (auto name = llvm::dyn_cast<mlir::NameLoc>(location))
    return name.getName().str();
  if (auto fused = llvm::dyn_cast<mlir::FusedLoc>(location))
    for (mlir::Location part : fused.getLocations())
      if (std::string name = nodeName(part); !name.empty())
        return name;
  return "";
}

llvm::Error Interpreter::located(Operation *op, llvm::Error error) {
  if (isLocated_)
    return error;
  isLocated_ = true;
  std::string where = options_.modelPath.empty() ? "" : options_.modelPath + ": ";
  where += "node '" + nodeName(op->getLoc()) + "' (" + op->getName().stripDialect().str() + "): ";
  return failure(where + llvm::toString(std::move(error)));
}

static DType dtypeOfTensor(Value value) {
  return *dtypeOf(llvm::cast<mlir::RankedTensorType>(value.getType()).getElementType());
}

Interpreter::Result Interpreter::held(Value value) {
  TensorRef tensor = values_.at(value);
  if (llvm::Error error = hold(*tensor, limit_))
    return std::move(error);
  return tensor;
}

Interpreter::Result Interpreter::rowMajor(Value value) {
  TensorRef tensor = values_.at(value);
  if (llvm::Error error = holdRowMajor(*tensor, limit_))
    return std::move(error);
  return tensor;
}

llvm::Expected<Scalar> Interpreter::number(Value value) {
  Result tensor = rowMajor(value);
  if (!tensor)
    return tensor.takeError();
  if (elementCount((*tensor)->dims) != 1)
    return failure("a scalar is needed");
  Scalar scalar{(*tensor)->dtype, 0};
  std::memcpy(&scalar.bits, rowMajorData(**tensor), byteSize(scalar.dtype));
  return scalar;
}

static int64_t integerOf(Scalar value) { return castScalar(value, DType::I64).as<int64_t>(); }

llvm::Error Interpreter::define(Value value, TensorRef tensor) {
  if (llvm::Error error = symbols_.match(shapeOf(value), tensor->dims))
    return error;
  values_[value] = std::move(tensor);
  return llvm::Error::success();
}

const llvm::DenseMap<Operation *, llvm::SmallVector<Value>> &Interpreter::lastReads(mlir::Block &block) {
  auto [entry, isNew] = lastReads_.try_emplace(&block);
  if (!isNew)
    return entry->second;
  llvm::DenseMap<Operation *, llvm::SmallVector<Value>> reads;
  auto add = [&](Value value) {
    Operation *last = nullptr;
    for (Operation *user : value.getUsers()) {
      Operation *inBlock = block.findAncestorOpInBlock(*user);
      if (!last || last->isBeforeInBlock(inBlock))
        last = inBlock;
    }
    if (!last)
      last = value.getDefiningOp();
    if (last)
      reads[last].push_back(value);
  };
  for (Value argument : block.getArguments())
    add(argument);
  for (Operation &op : block)
    for (Value result : op.getResults())
      add(result);
  return lastReads_[&block] = std::move(reads);
}

//===----------------------------------------------------------------------===//
// Sources and movement
//===----------------------------------------------------------------------===//

Interpreter::Result Interpreter::one(graph::ConstOp op) {
  llvm::Expected<Dims> dims = dimsOf(op.getResult());
  if (!dims)
    return dims.takeError();
  return LazyTensor::splat(Scalar::of(op.getValue()), *dims);
}

Interpreter::Result Interpreter::one(graph::WeightOp op) {
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

Interpreter::Result Interpreter::one(graph::SizeOp op) {
  llvm::Expected<int64_t> size = symbols_.evaluate(op.getSize().getValue());
  if (!size)
    return size.takeError();
  llvm::Expected<Dims> dims = dimsOf(op.getResult());
  if (!dims)
    return dims.takeError();
  return LazyTensor::splat(castScalar(Scalar::of(DType::I64, *size), dtypeOfTensor(op.getResult())), *dims);
}

Interpreter::Result Interpreter::one(graph::ReshapeOp op) {
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

Interpreter::Result Interpreter::one(graph::PermuteOp op) {
  Result input = held(op.getInput());
  if (!input)
    return input;
  return LazyTensor::held((*input)->dtype, (*input)->data, (*input)->map.permute(op.getOrder()));
}

Interpreter::Result Interpreter::one(graph::ExpandOp op) {
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

Interpreter::Result Interpreter::one(graph::PadOp op) {
  llvm::Expected<Dims> low = symbols_.evaluate(op.getLow().getSizes());
  if (!low)
    return low.takeError();
  llvm::Expected<Dims> high = symbols_.evaluate(op.getHigh().getSizes());
  if (!high)
    return high.takeError();
  Result input = held(op.getInput());
  if (!input)
    return input;
  Dims dims = (*input)->dims, end;
  for (size_t axis = 0; axis < dims.size(); ++axis) {
    if ((*low)[axis] < 0 || (*high)[axis] < 0)
      return failure("an amount of padding is negative");
    end.push_back((*low)[axis] + dims[axis]);
    dims[axis] = end.back() + (*high)[axis];
  }
  unsigned bytes = byteSize((*input)->dtype);
  llvm::Expected<std::shared_ptr<char>> memory = allocate(elementCount(dims), bytes, limit_);
  if (!memory)
    return memory.takeError();
  Strided map = Strided::rowMajor(dims);
  copyElements(memory->get(), map.shrink(*low, end), (*input)->data.get(), (*input)->map, bytes);
  return LazyTensor::held((*input)->dtype, std::move(*memory), std::move(map));
}

Interpreter::Result Interpreter::one(graph::ShrinkOp op) {
  llvm::Expected<Dims> begin = symbols_.evaluate(op.getBegin().getSizes());
  if (!begin)
    return begin.takeError();
  llvm::Expected<Dims> end = symbols_.evaluate(op.getEnd().getSizes());
  if (!end)
    return end.takeError();
  Result input = held(op.getInput());
  if (!input)
    return input;
  for (auto [size, from, to] : llvm::zip((*input)->dims, *begin, *end))
    if (from < 0 || from > to || to > size)
      return failure("[" + llvm::Twine(from) + ", " + llvm::Twine(to) + ") is not within an axis of size " +
                     llvm::Twine(size));
  return LazyTensor::held((*input)->dtype, (*input)->data, (*input)->map.shrink(*begin, *end));
}

Interpreter::Result Interpreter::one(graph::FlipOp op) {
  Result input = held(op.getInput());
  if (!input)
    return input;
  return LazyTensor::held((*input)->dtype, (*input)->data, (*input)->map.flip(op.getAxes()));
}

Interpreter::Result Interpreter::one(graph::ViewOp op) {
  Result tensor = held(op.getInput());
  view::ShapeTracker tracker = op.getTracker().getValue();
  for (const view::View &view : tracker.views()) {
    if (!tensor)
      return tensor;
    tensor = tracked(std::move(*tensor), view);
  }
  return tensor;
}

/// One strided map with a mask over the tensor's elements in row-major order.
Interpreter::Result Interpreter::tracked(TensorRef tensor, const view::View &view) {
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

//===----------------------------------------------------------------------===//
// Computation
//===----------------------------------------------------------------------===//

Interpreter::Result Interpreter::one(graph::AluOp op) {
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
  // What one element-wise op or reduction alone reads is computed there.
  bool isReadOnce = op->hasOneUse() && llvm::isa<graph::AluOp, graph::ReduceOp>(*op->user_begin()) &&
                    op->user_begin()->getBlock() == op->getBlock();
  if (!isReadOnce)
    if (llvm::Error error = hold(*result, limit_))
      return std::move(error);
  return result;
}

Interpreter::Result Interpreter::one(graph::ReduceOp op) {
  return reduce(op.getKind().getValue(), *values_.at(op.getInput()), op.getAxes(), limit_);
}

Interpreter::Result Interpreter::one(graph::ContiguousOp op) { return rowMajor(op.getInput()); }

Interpreter::Result Interpreter::one(graph::GatherOp op) {
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

//===----------------------------------------------------------------------===//
// Control flow
//===----------------------------------------------------------------------===//

Interpreter::Results Interpreter::many(graph::BindOp op) {
  llvm::Expected<Scalar> value = number(op.getValue());
  if (!value)
    return value.takeError();
  SymbolAttr symbol = op.getSymbol();
  auto variable = view::Expr::variable(symbol.getName(), symbol.getMin(), symbol.getMax());
  if (llvm::Error error = symbols_.bind(variable, integerOf(*value)))
    return std::move(error);
  return llvm::SmallVector<TensorRef>();
}

Interpreter::Results Interpreter::many(graph::IfOp op) {
  llvm::Expected<Scalar> condition = number(op.getCondition());
  if (!condition)
    return condition.takeError();
  // What a region binds is its own.
  Symbols outside = symbols_;
  Results results = runBlock((condition->as<bool>() ? op.getThenRegion() : op.getElseRegion()).front());
  symbols_ = std::move(outside);
  return results;
}

Interpreter::Results Interpreter::many(graph::LoopOp op) {
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

//===----------------------------------------------------------------------===//
// Blocks and the function
//===----------------------------------------------------------------------===//

Interpreter::Results Interpreter::evaluate(Operation *op) {
  return llvm::TypeSwitch<Operation *, Results>(op)
      .Case<graph::BindOp, graph::IfOp, graph::LoopOp>([&](auto known) { return many(known); })
      .Case<graph::ConstOp, graph::WeightOp, graph::SizeOp, graph::ReshapeOp, graph::PermuteOp, graph::ExpandOp,
            graph::PadOp, graph::ShrinkOp, graph::FlipOp, graph::ViewOp, graph::AluOp, graph::ReduceOp,
            graph::ContiguousOp, graph::GatherOp>([&](auto known) -> Results {
        Result result = one(known);
        if (!result)
          return result.takeError();
        return llvm::SmallVector<TensorRef>{*result};
      })
      .Default([](Operation *) -> Results { return failure("it is no operation of an imported graph"); });
}

llvm::Error Interpreter::runOp(Operation *op) {
  for (mlir::Type type : op->getResultTypes())
    if (auto tensor = llvm::dyn_cast<mlir::RankedTensorType>(type); tensor && !dtypeOf(tensor.getElementType()))
      return failure("its dtype is none that kiln computes in");
  Results results = evaluate(op);
  if (!results)
    return results.takeError();
  for (auto [value, tensor] : llvm::zip(op->getResults(), *results))
    if (llvm::Error error = define(value, tensor))
      return error;
  return llvm::Error::success();
}

Interpreter::Results Interpreter::runBlock(mlir::Block &block) {
  const auto &dying = lastReads(block);
  for (Operation &op : block.without_terminator()) {
    if (llvm::Error error = runOp(&op))
      return located(&op, std::move(error));
    if (auto last = dying.find(&op); last != dying.end())
      for (Value value : last->second)
        values_.erase(value);
  }
  llvm::SmallVector<TensorRef> results;
  for (Value value : block.getTerminator()->getOperands()) {
    Result result = rowMajor(value);
    if (!result)
      return located(block.getTerminator(), result.takeError());
    results.push_back(*result);
  }
  return results;
}

static HostTensor copyOut(const LazyTensor &tensor) {
  const char *data = rowMajorData(tensor);
  int64_t bytes = elementCount(tensor.dims) * byteSize(tensor.dtype);
  return {tensor.dtype, tensor.dims, std::vector<char>(data, data + bytes)};
}

llvm::Error Interpreter::bindInputs(mlir::func::FuncOp function, llvm::ArrayRef<HostTensor> inputs) {
  if (inputs.size() != function.getNumArguments())
    return failure("it takes " + llvm::Twine(function.getNumArguments()) + " inputs, not " +
                   llvm::Twine(inputs.size()));
  for (auto [index, input] : llvm::enumerate(inputs)) {
    auto name = function.getArgAttrOfType<mlir::StringAttr>(index, graph::kNameAttr);
    std::string label = "input '" + (name ? name.str() : std::to_string(index)) + "': ";
    mlir::BlockArgument argument = function.getArgument(index);
    TensorRef tensor;
    if (input.isAbsent()) {
      auto value = function.getArgAttrOfType<mlir::DenseElementsAttr>(index, graph::kValueAttr);
      if (!value)
        return failure(label + "it is not given and has no stored default");
      Result stored = elementsTensor(value);
      if (!stored)
        return stored.takeError();
      tensor = *stored;
    } else {
      // The caller's array outlives the run.
      std::shared_ptr<const char> data(std::shared_ptr<const char>(), input.bytes.data() ? input.bytes.data() : "");
      tensor = LazyTensor::held(input.dtype, std::move(data), Strided::rowMajor(input.dims));
    }
    std::optional<DType> dtype = dtypeOf(llvm::cast<mlir::RankedTensorType>(argument.getType()).getElementType());
    if (dtype != tensor->dtype)
      return failure(label + "it is " + dtypeName(tensor->dtype) + " where " +
                     (dtype ? dtypeName(*dtype) : "another dtype") + " is declared");
    if (llvm::Error error = define(argument, std::move(tensor)))
      return failure(label + llvm::toString(std::move(error)));
  }
  return llvm::Error::success();
}

llvm::Expected<std::vector<HostTensor>> Interpreter::run(mlir::func::FuncOp function,
                                                         llvm::ArrayRef<HostTensor> inputs) {
  if (llvm::Error error = bindInputs(function, inputs))
    return failure((options_.modelPath.empty() ? "" : options_.modelPath + ": ") + llvm::toString(std::move(error)));
  Results results = runBlock(function.getBody().front());
  if (!results)
    return results.takeError();
  std::vector<HostTensor> outputs;
  for (const TensorRef &result : *results)
    outputs.push_back(copyOut(*result));
  return outputs;
}

llvm::Expected<std::vector<HostTensor>> interp::interpretGraph(mlir::ModuleOp module, llvm::ArrayRef<HostTensor> inputs,
                                                               const GraphInterpreterOptions &options) {
  auto function = module.lookupSymbol<mlir::func::FuncOp>("main");
  if (!function)
    return failure(options.modelPath + ": the module has no function @main");
  return Interpreter(options).run(function, inputs);
}
