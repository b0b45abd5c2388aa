//===- Compute.cpp - Compute values that are known at import -----------------===//
//
// The sources of a result are found backwards among the node's own ops: constants, and ops with such operands. A size
// that the node binds has no edge to the ops whose types name it, so everything that the node binds and checks goes
// along. The ops are copied into a function without arguments and interpreted, within a budget: a few kilobytes of a
// file may ask for a loop without an end.
//
//===--------------------------------------------------------------------------===//
#include "import/onnx/Compute.h"

#include "interp/GraphInterpreter.h"
#include "ir/base/AluTraits.h"
#include "ir/base/NarrowDType.h"
#include "ir/base/ObjectType.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

using namespace kiln;
using namespace kiln::import;
using namespace kiln::import::onnx;
using mlir::Operation;
using mlir::Value;

/// The most elements that all ops of a node together may have, and their bytes.
static constexpr int64_t kMostComputed = 1 << 18, kMostBytes = 1 << 24;

NodeOps::NodeOps(Importer &importer)
    : importer_(importer), block_(importer.builder().getInsertionBlock()),
      last_(block_->empty() ? nullptr : &block_->back()), lastConstant_(importer.lastConstant()),
      numSymbols_(importer.symbols().count()) {}

llvm::SmallVector<Operation *> NodeOps::made() const {
  // Constants are added after the last one, at the head of the function.
  Operation *before = last_;
  Operation *constant = importer_.lastConstant();
  if (constant && constant->getBlock() == block_ && (!before || before == lastConstant_))
    before = constant;
  llvm::SmallVector<Operation *> ops;
  for (auto op = before ? std::next(before->getIterator()) : block_->begin(); op != block_->end(); ++op)
    ops.push_back(&*op);
  return ops;
}

void NodeOps::undo() {
  for (Operation *op : llvm::reverse(made())) {
    importer_.forget(op);
    op->erase();
  }
  importer_.symbols().forget(numSymbols_);
}

static bool isConstant(Operation *op) {
  auto weight = llvm::dyn_cast<graph::WeightOp>(op);
  return llvm::isa<graph::ConstOp>(op) || (weight && weight.getType().getNumElements() <= kMostComputed);
}

/// The outside values that the op and the ops within it read. A region around it may belong to no op yet.
static llvm::SetVector<Value> readBy(Operation *op) {
  auto isWithin = [&](Value value) {
    Operation *around = value.getParentBlock()->getParentOp();
    while (around && around != op)
      around = around->getParentOp();
    return around == op;
  };
  llvm::SetVector<Value> read;
  op->walk([&](Operation *inner) {
    for (Value value : inner->getOperands())
      if (!isWithin(value))
        read.insert(value);
  });
  return read;
}

namespace {
/// The sources of values: constants and ops of the node.
class Sources {
public:
  using Known = llvm::DenseMap<Value, mlir::DenseElementsAttr>;

  Sources(llvm::ArrayRef<Operation *> own, const Known &known) : own_(own.begin(), own.end()), known_(known) {}

  /// Adds the value's sources; false if they are not constants alone.
  bool add(Value value) {
    if (mlir::DenseElementsAttr elements = known_.lookup(value))
      return constants_.insert({value, elements}), true;
    Operation *op = value.getDefiningOp();
    if (!op || ops_.contains(op))
      return op;
    if (isConstant(op))
      return constants_.insert({value, {}}), true;
    return own_.contains(op) && add(op);
  }
  bool add(Operation *op) {
    ops_.insert(op);
    return llvm::all_of(readBy(op), [&](Value value) { return add(value); });
  }

  /// Whether the ops only move elements.
  bool areMoved() const {
    return llvm::all_of(ops_, [](Operation *op) {
      return llvm::isa<graph::ReshapeOp, graph::PermuteOp, graph::ExpandOp, graph::PadOp, graph::ShrinkOp,
                       graph::FlipOp>(op);
    });
  }
  /// Whether one is a row that each machine's library rounds in its own way.
  bool haveFunctions() const {
    return llvm::any_of(ops_, [](Operation *top) {
      return top
          ->walk([](graph::AluOp op) {
            bool isFunction = aluTraits(op.getKind().getValue()).family == AluClass::Function;
            return isFunction ? mlir::WalkResult::interrupt() : mlir::WalkResult::advance();
          })
          .wasInterrupted();
    });
  }

  /// A function of nothing that returns `result`; the ops stand as in `own`, what is bound before what names it.
  mlir::OwningOpRef<mlir::ModuleOp> function(llvm::ArrayRef<Operation *> own, Value result) const {
    mlir::OpBuilder builder(result.getContext());
    mlir::OwningOpRef<mlir::ModuleOp> module = mlir::ModuleOp::create(result.getLoc());
    builder.setInsertionPointToEnd(module->getBody());
    auto function = mlir::func::FuncOp::create(builder, result.getLoc(), "main",
                                               builder.getFunctionType({}, mlir::TypeRange(result.getType())));
    builder.setInsertionPointToEnd(function.addEntryBlock());
    mlir::IRMapping mapping;
    for (auto [value, elements] : constants_)
      if (elements)
        mapping.map(value, graph::WeightOp::create(builder, value.getLoc(), value.getType(), "", elements).getResult());
      else
        builder.clone(*value.getDefiningOp(), mapping);
    for (Operation *op : own)
      if (ops_.contains(op))
        builder.clone(*op, mapping);
    mlir::func::ReturnOp::create(builder, result.getLoc(), mapping.lookup(result));
    return module;
  }

private:
  llvm::SmallPtrSet<Operation *, 16> own_;
  const Known &known_;
  llvm::MapVector<Value, mlir::DenseElementsAttr> constants_; ///< null: an op that is one
  llvm::SmallPtrSet<Operation *, 16> ops_;
};
} // namespace

/// The elements as MLIR holds them.
static mlir::DenseElementsAttr denseOf(const interp::HostTensor &tensor, mlir::Type element) {
  auto type = mlir::RankedTensorType::get(tensor.dims, element);
  if (tensor.dtype == DType::Bool)
    return mlir::DenseElementsAttr::get(type, tensor.elements<bool>());
  return mlir::DenseElementsAttr::getFromRawBuffer(type, tensor.bytes);
}

/// The value of `result` from the sources; null if it is not small, or cannot be computed.
static mlir::DenseElementsAttr run(const Sources &sources, llvm::ArrayRef<Operation *> own, Value result,
                                   llvm::StringRef path) {
  interp::GraphInterpreterOptions options{path.str(), kMostBytes, kMostComputed};
  llvm::Expected<std::vector<interp::HostTensor>> outputs =
      interp::interpretGraph(*sources.function(own, result), {}, options);
  if (!outputs)
    return llvm::consumeError(outputs.takeError()), mlir::DenseElementsAttr();
  if (interp::elementCount(outputs->front().dims) > kMostElements)
    return {};
  return denseOf(outputs->front(), llvm::cast<mlir::RankedTensorType>(result.getType()).getElementType());
}

/// Whether the tensor is a constant by now.
static bool isKnown(const Tensor &tensor) {
  auto areNumbers = [](const Elements &elements) {
    return llvm::all_of(elements, [](view::Expr element) { return element.isConst(); });
  };
  return !tensor.value && (tensor.data || (tensor.elements && areNumbers(*tensor.elements)));
}

void NodeOps::computeOne(Tensor &result, llvm::ArrayRef<Operation *> own, const std::string &name) const {
  if (isObject(result.element()) || isNarrow(result.element()) ||
      (result.type.hasStaticShape() && result.type.getNumElements() > kMostElements))
    return;
  Sources sources(own, importer_.known());
  if (!sources.add(result.value))
    return;
  for (Operation *op : own)
    if (llvm::isa<graph::BindOp, graph::CheckOp>(op) && !sources.add(op))
      return;
  mlir::DenseElementsAttr data = run(sources, own, result.value, importer_.file().path());
  if (!data)
    return;
  Tensor constant(llvm::cast<mlir::RankedTensorType>(data.getType()), data, name);
  bool isMachines = llvm::isa<mlir::FloatType>(result.element()) && sources.haveFunctions();
  if ((sources.areMoved() || isMachines) && data.getType() == result.type) {
    importer_.known()[result.value] = data;
    constant.value = result.value;
  }
  result = constant;
}

void NodeOps::followSizes(Tensor &result, TensorBuilder &b) const {
  const FollowedElements *followed = importer_.followed().find(result.value);
  if (!followed || result.elements || !result.element().isInteger())
    return;
  Elements elements;
  for (const Followed &element : *followed) {
    for (auto [size, most] : element.limits)
      if (!b.check(view::greaterEqual(most, size), size.print() + " passes " + llvm::Twine(most) +
                                                       ", from where on the floats that it is computed in round it; "
                                                       "compute with integers, or run with smaller sizes"))
        return;
    elements.push_back(element.over);
  }
  result = Tensor(result.element(), result.type.getShape(), std::move(elements));
}

void NodeOps::compute(llvm::MutableArrayRef<Tensor> results, llvm::ArrayRef<std::string> names, TensorBuilder &b) {
  auto isOpen = [](const Tensor &result) { return result.value && !result.quantized && !result.data; };
  if (llvm::none_of(results, isOpen))
    return;
  llvm::SmallVector<Operation *> own = made();
  for (Operation *op : own)
    importer_.followed().follow(op);
  for (auto [result, name] : llvm::zip(results, names))
    if (isOpen(result)) {
      computeOne(result, own, name);
      if (isOpen(result))
        followSizes(result, b);
    }
  if (!llvm::all_of(results, isKnown))
    return;
  // Nothing reads the sizes that the node bound any more. Ops without effects are erased at the end of the import.
  for (Operation *op : llvm::reverse(own))
    if (op->use_empty() && !mlir::isMemoryEffectFree(op)) {
      importer_.forget(op);
      op->erase();
    }
  importer_.symbols().forget(numSymbols_);
}
