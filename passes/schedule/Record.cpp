#include "passes/schedule/Record.h"

#include "ir/graph/Call.h"
#include "ir/graph/Source.h"
#include "ir/host/Roles.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace kiln;
using namespace kiln::schedule;
using namespace mlir;

namespace {

/// A tensor of a launch, and the views through which others of it read it.
struct Entry {
  SmallVector<int64_t, 2> operands;
  SmallVector<Value, 1> views;
};

} // namespace

/// The role of a tensor that a launch only reads.
static StringRef roleOf(Value tensor) {
  Operation *op = tensor.getDefiningOp();
  if (!op)
    return isa<func::FuncOp>(tensor.getParentBlock()->getParentOp()) ? host::role::kInput : host::role::kState;
  return llvm::TypeSwitch<Operation *, StringRef>(op)
      .Case([](graph::WeightOp) { return host::role::kWeight; })
      .Case([](graph::IfOp) { return host::role::kIf; })
      .Case([](graph::LoopOp) { return host::role::kLoop; })
      .Case([](graph::CallOp) { return host::role::kCall; })
      .Default([](Operation *) { return host::role::kLoad; });
}

static std::string opName(Value tensor, bool isRead) {
  if (isRead)
    return roleOf(tensor).str();
  return llvm::TypeSwitch<Operation *, std::string>(tensor.getDefiningOp())
      .Case([](graph::AluOp alu) { return stringifyAlu(alu.getKind().getValue()).str(); })
      .Case([](graph::ReduceOp reduce) { return "reduce " + stringifyAlu(reduce.getKind().getValue()).str(); })
      .Case([](graph::GatherOp) { return "gather"; })
      .Case([](graph::AssignOp) { return "assign"; })
      .Case([](graph::ContiguousOp) { return "copy"; });
}

/// The reader that needs the tensor in memory, whatever the policy.
static std::optional<host::Reason> neededBy(Value tensor) {
  bool isRead = false, isSize = false, isOutput = false, isTable = false;
  auto see = [&](OpOperand &use) {
    Operation *user = use.getOwner();
    isOutput |= isa<func::ReturnOp>(user);
    isSize |= isa<graph::BindOp>(user);
    isRead |= isa<graph::YieldOp, graph::IfOp, graph::LoopOp, graph::CallOp>(user) ||
              user->getBlock() != tensor.getParentBlock();
    auto gather = dyn_cast<graph::GatherOp>(user);
    isTable |= gather && &gather.getInputMutable() == &use;
  };
  for (OpOperand &use : tensor.getUses()) {
    see(use);
    if (auto view = dyn_cast<graph::ViewOp>(use.getOwner()))
      for (OpOperand &through : view.getResult().getUses())
        see(through);
  }
  if (tensor.getDefiningOp<graph::AssignOp>())
    return host::Reason::Assign;
  if (isOutput)
    return host::Reason::Output;
  if (isSize)
    return host::Reason::Size;
  if (isRead)
    return host::Reason::Control;
  if (isTable)
    return host::Reason::Table;
  if (tensor.getDefiningOp<graph::ContiguousOp>())
    return host::Reason::Copy;
  return std::nullopt;
}

/// The operands of an element's computation: not the memory that an assign writes to.
static OperandRange operandsOf(Value tensor) {
  Operation *op = tensor.getDefiningOp();
  return op->getOperands().drop_front(isa<graph::AssignOp>(op) ? 1 : 0);
}

ArrayAttr Recorder::namesOf(Value tensor, ArrayRef<Value> views) {
  llvm::SetVector<StringAttr> names;
  Builder builder(tensor.getContext());
  auto add = [&](StringAttr name) {
    if (name && !name.getValue().empty())
      names.insert(name);
  };
  SmallVector<graph::Source, 1> made = graph::sourcesOf(tensor.getLoc());
  for (const graph::Source &source : made) { // several if ops of several nodes became one
    add(source.node);
    add(source.tensor);
  }
  if (auto weight = tensor.getDefiningOp<graph::WeightOp>())
    add(weight.getNameAttr());
  for (Value view : views)
    for (const graph::Source &source : graph::sourcesOf(view.getLoc())) {
      add(source.node);
      add(source.tensor);
    }
  if (auto output = outputs_.find(tensor); output != outputs_.end())
    add(builder.getStringAttr(output->second));
  if (!made.empty())
    names.remove(made.back().node);
  SmallVector<Attribute> list(names.begin(), names.end());
  return builder.getArrayAttr(list);
}

/// The tensors that a launch computes and reads, operands before their results.
static llvm::MapVector<Value, Entry> entriesOf(const KernelGroup &group, llvm::function_ref<bool(Value)> isReadOnly) {
  llvm::MapVector<Value, Entry> entries;
  struct Step {
    Value tensor;
    unsigned next = 0; // operand to visit
  };
  std::vector<Step> path;
  llvm::DenseSet<Value> entered;
  auto enter = [&](Value tensor) {
    if (!isNumber(tensor) && entered.insert(tensor).second)
      path.push_back({tensor});
  };
  for (Value output : llvm::reverse(group.outputs))
    path.push_back({output});
  entered.insert(group.outputs.begin(), group.outputs.end());
  while (!path.empty()) {
    Step &step = path.back();
    Value tensor = step.tensor;
    bool isRead = isReadOnly(tensor);
    if (!isRead && step.next < operandsOf(tensor).size()) {
      enter(edgeOf(operandsOf(tensor)[step.next++]).base);
      continue;
    }
    path.pop_back();
    if (entries.contains(tensor))
      continue;
    Entry entry;
    if (!isRead)
      for (Value operand : operandsOf(tensor)) {
        auto found = entries.find(edgeOf(operand).base);
        if (found == entries.end())
          continue;
        entry.operands.push_back(found - entries.begin());
        if (operand != found->first)
          found->second.views.push_back(operand);
      }
    entries.insert({tensor, std::move(entry)});
  }
  return entries;
}

/// Why a tensor is in memory or not; null if the scheduler had no choice and no reason.
static host::PlacementAttr placementOf(Value tensor, const Partition &partition, bool isRead, bool isOutput) {
  MLIRContext *context = tensor.getContext();
  if (std::optional<host::Reason> needed = isOutput ? neededBy(tensor) : std::nullopt)
    return host::PlacementAttr::get(context, *needed, 0, 0, 0);
  auto decided = partition.placements.find(tensor);
  if (!isRead && decided != partition.placements.end()) {
    const Placement &why = decided->second;
    // Times are printed if they were compared, and a 0 is not a time: it would not be printed and not read back.
    auto time = [&](int64_t ns) { return why.readers ? std::max<int64_t>(ns, 1) : ns; };
    return host::PlacementAttr::get(context, why.reason, time(why.insideNs), time(why.ownNs), why.readers);
  }
  // Neither a reader's need nor a choice of the policy, so a bound on kernels.
  return isOutput ? host::PlacementAttr::get(context, host::Reason::Limit, 0, 0, 0) : nullptr;
}

ArrayAttr Recorder::record(const KernelGroup &group, const Partition &partition,
                           llvm::function_ref<bool(Value)> isMemory) {
  auto isReadOnly = [&](Value tensor) {
    return !llvm::is_contained(group.outputs, tensor) && (isMemory(tensor) || !isComputed(tensor));
  };
  MLIRContext *context = group.outputs.front().getContext();
  SmallVector<Attribute> tensors;
  for (auto &[tensor, entry] : entriesOf(group, isReadOnly)) {
    bool isRead = isReadOnly(tensor), isOutput = llvm::is_contained(group.outputs, tensor);
    SmallVector<Value, 1> views = entry.views;
    if (isOutput)
      for (Operation *user : tensor.getUsers())
        if (auto view = dyn_cast<graph::ViewOp>(user);
            view && llvm::any_of(view->getUsers(), llvm::IsaPred<func::ReturnOp, graph::YieldOp>))
          views.push_back(view.getResult());
    SmallVector<graph::Source, 1> sources = graph::sourcesOf(tensor.getLoc());
    StringRef node = sources.empty() ? "" : sources.back().node.getValue();
    tensors.push_back(host::TensorAttr::get(context, node, opName(tensor, isRead), entry.operands,
                                            llvm::to_vector(namesOf(tensor, views).getAsRange<StringAttr>()),
                                            graph::foldedOf(tensor.getLoc()), cast<RankedTensorType>(tensor.getType()),
                                            isRead || isOutput ? memoryIdOf(tensor) : 0,
                                            placementOf(tensor, partition, isRead, isOutput),
                                            /*layout=*/nullptr));
  }
  return ArrayAttr::get(context, tensors);
}
