#include "interp/GraphInterpreter.h"

#include "interp/GraphEvaluator.h"
#include "interp/WeightData.h"
#include "ir/base/NarrowDType.h"
#include "ir/base/ObjectType.h"
#include "ir/base/OutputRank.h"
#include "support/Error.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace kiln;
using namespace kiln::interp;
using mlir::Operation;
using mlir::Value;

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

llvm::Error GraphEvaluator::located(Operation *op, llvm::Error error) {
  if (isLocated_)
    return error;
  isLocated_ = true;
  std::string where = options_.modelPath.empty() ? "" : options_.modelPath + ": ";
  if (!llvm::isa<graph::CheckOp>(op)) // its message names its node
    where += "node '" + nodeName(op->getLoc()) + "' (" + op->getName().stripDialect().str() + "): ";
  return failure(where + llvm::toString(std::move(error)));
}

GraphEvaluator::Result GraphEvaluator::held(Value value) {
  TensorRef tensor = values_.at(value);
  if (llvm::Error error = hold(*tensor, limit_))
    return std::move(error);
  return tensor;
}

GraphEvaluator::Result GraphEvaluator::rowMajor(Value value) {
  TensorRef tensor = values_.at(value);
  if (llvm::Error error = holdRowMajor(*tensor, limit_))
    return std::move(error);
  return tensor;
}

llvm::Expected<Scalar> GraphEvaluator::number(Value value) {
  Result tensor = rowMajor(value);
  if (!tensor)
    return tensor.takeError();
  if (elementCount((*tensor)->dims) != 1)
    return failure("a scalar is needed");
  Scalar scalar{(*tensor)->dtype, 0};
  std::memcpy(&scalar.bits, rowMajorData(**tensor), byteSize(scalar.dtype));
  return scalar;
}

llvm::Error GraphEvaluator::define(Value value, TensorRef tensor) {
  if (llvm::Error error = symbols_.match(shapeOf(value), tensor->dims))
    return error;
  values_[value] = std::move(tensor);
  return llvm::Error::success();
}

const llvm::DenseMap<Operation *, llvm::SmallVector<Value>> &GraphEvaluator::lastReads(mlir::Block &block) {
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
// Blocks and the function
//===----------------------------------------------------------------------===//

GraphEvaluator::Results GraphEvaluator::evaluate(Operation *op) {
  return llvm::TypeSwitch<Operation *, Results>(op)
      .Case<graph::BindOp, graph::CallOp, graph::CheckOp, graph::IfOp, graph::LoopOp>(
          [&](auto known) { return many(known); })
      .Case<graph::ConstOp, graph::WeightOp, graph::SizeOp, graph::IotaOp, graph::ReshapeOp, graph::PermuteOp,
            graph::ExpandOp, graph::PadOp, graph::ShrinkOp, graph::FlipOp, graph::ViewOp, graph::AluOp, graph::ReduceOp,
            graph::ContiguousOp, graph::AssignOp, graph::GatherOp>([&](auto known) -> Results {
        Result result = one(known);
        if (!result)
          return result.takeError();
        return llvm::SmallVector<TensorRef>{*result};
      })
      .Default([](Operation *) -> Results { return failure("it is not an operation of an imported graph"); });
}

llvm::Error GraphEvaluator::spend(int64_t elements) {
  spent_ += std::min(elements, INT64_MAX - spent_);
  if (spent_ <= options_.mostElements)
    return llvm::Error::success();
  return failure("more than " + llvm::Twine(options_.mostElements) + " elements are to be computed");
}

llvm::Error GraphEvaluator::runOp(Operation *op) {
  for (mlir::Type type : op->getResultTypes())
    if (auto tensor = llvm::dyn_cast<mlir::RankedTensorType>(type); tensor && !dtypeOf(tensor.getElementType()))
      return failure("its dtype is none that kiln computes in");
  Results results = evaluate(op);
  if (!results)
    return results.takeError();
  for (auto [value, tensor] : llvm::zip(op->getResults(), *results))
    if (llvm::Error error = define(value, tensor))
      return error;
  for (const TensorRef &tensor : *results)
    if (llvm::Error error = spend(elementCount(tensor->dims)))
      return error;
  return spend(1);
}

GraphEvaluator::Results GraphEvaluator::runBlock(mlir::Block &block) {
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

llvm::Error GraphEvaluator::bindInputs(mlir::func::FuncOp function, llvm::ArrayRef<HostTensor> inputs) {
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

llvm::Expected<std::vector<HostTensor>> GraphEvaluator::run(mlir::func::FuncOp function,
                                                            llvm::ArrayRef<HostTensor> inputs) {
  if (llvm::Error error = bindInputs(function, inputs))
    return failure((options_.modelPath.empty() ? "" : options_.modelPath + ": ") + llvm::toString(std::move(error)));
  Results results = runBlock(function.getBody().front());
  if (!results)
    return results.takeError();
  std::vector<HostTensor> outputs;
  for (auto [index, result] : llvm::enumerate(*results)) {
    outputs.push_back(copyOut(*result));
    if (auto rank = function.getResultAttrOfType<ExprAttr>(index, kRankAttr)) {
      llvm::Expected<int64_t> axes = symbols_.evaluate(rank.getValue());
      if (!axes)
        return axes.takeError();
      outputs.back().dims.resize(std::clamp<int64_t>(*axes, 0, outputs.back().dims.size()));
    }
    auto port = function.getResultAttrOfType<mlir::TypeAttr>(index, kPortDTypeAttr);
    if (port && isObject(port.getValue())) {
      outputs.back().objects = strings_;
      outputs.back().isList = isContainer(port.getValue());
    }
  }
  return outputs;
}

llvm::Expected<std::vector<HostTensor>> interp::interpretGraph(mlir::ModuleOp module, llvm::ArrayRef<HostTensor> inputs,
                                                               const GraphInterpreterOptions &options) {
  auto function = module.lookupSymbol<mlir::func::FuncOp>("main");
  if (!function)
    return failure(options.modelPath + ": the module has no function @main");
  return GraphEvaluator(options).run(function, inputs);
}
