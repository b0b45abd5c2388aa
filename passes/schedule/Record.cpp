#include "passes/schedule/Record.h"

#include "ir/graph/Call.h"
#include "ir/graph/Source.h"

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

static std::string opName(Value tensor, bool isRead) {
  Operation *op = tensor.getDefiningOp();
  if (!op)
    return isa<func::FuncOp>(tensor.getParentBlock()->getParentOp()) ? "input" : "state";
  std::string name = llvm::TypeSwitch<Operation *, std::string>(op)
                         .Case([](graph::WeightOp) { return "weight"; })
                         .Case([](graph::IfOp) { return "if"; })
                         .Case([](graph::LoopOp) { return "loop"; })
                         .Case([](graph::CallOp call) { return call.getCallee().str(); })
                         .Default([](Operation *) { return ""; });
  if (!name.empty() || isRead)
    return name.empty() ? "load" : name;
  return llvm::TypeSwitch<Operation *, std::string>(op)
      .Case([](graph::AluOp alu) { return stringifyAlu(alu.getKind().getValue()).str(); })
      .Case([](graph::ReduceOp reduce) { return "reduce " + stringifyAlu(reduce.getKind().getValue()).str(); })
      .Case([](graph::GatherOp) { return "gather"; })
      .Case([](graph::AssignOp) { return "assign"; })
      .Case([](graph::ContiguousOp) { return "copy"; });
}

/// What asks for the tensor in memory, whatever the policy.
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

/// The operands of which an element is computed: not the memory that an assign writes to.
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
  for (const graph::Source &source : made)
    add(source.tensor);
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

ArrayAttr Recorder::record(const KernelGroup &group, const Realization &realization,
                           llvm::function_ref<bool(Value)> isMemory) {
  llvm::MapVector<Value, Entry> entries; // operands before what is made of them
  auto isReadOnly = [&](Value tensor) {
    return !llvm::is_contained(group.outputs, tensor) && (isMemory(tensor) || !isComputed(tensor));
  };
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

  Builder builder(group.outputs.front().getContext());
  SmallVector<Attribute> tensors;
  for (auto &[tensor, entry] : entries) {
    bool isRead = isReadOnly(tensor), isOutput = llvm::is_contained(group.outputs, tensor);
    if (isOutput)
      for (Operation *user : tensor.getUsers())
        if (auto view = dyn_cast<graph::ViewOp>(user);
            view && llvm::any_of(view->getUsers(), llvm::IsaPred<func::ReturnOp, graph::YieldOp>))
          entry.views.push_back(view.getResult());
    SmallVector<graph::Source, 1> sources = graph::sourcesOf(tensor.getLoc());
    StringRef node = sources.empty() ? "" : sources.back().node.getValue();
    host::PlacementAttr placement;
    auto decided = realization.placements.find(tensor);
    if (std::optional<host::Reason> needed = isOutput ? neededBy(tensor) : std::nullopt)
      placement = host::PlacementAttr::get(builder.getContext(), *needed, 0, 0, 0);
    else if (!isRead && decided != realization.placements.end()) {
      const Placement &why = decided->second;
      // Times print where they were compared, and a 0 is not a time: it would not be printed and not read back.
      auto time = [&](int64_t ns) { return why.readers ? std::max<int64_t>(ns, 1) : ns; };
      placement =
          host::PlacementAttr::get(builder.getContext(), why.reason, time(why.insideNs), time(why.ownNs), why.readers);
    } else if (isOutput) // neither what reads it nor a choice of the policy's, so a bound on kernels
      placement = host::PlacementAttr::get(builder.getContext(), host::Reason::Limit, 0, 0, 0);
    tensors.push_back(host::TensorAttr::get(builder.getContext(), node, opName(tensor, isRead), entry.operands,
                                            llvm::to_vector(namesOf(tensor, entry.views).getAsRange<StringAttr>()),
                                            cast<RankedTensorType>(tensor.getType()),
                                            isRead || isOutput ? memoryIdOf(tensor) : 0, placement));
  }
  return builder.getArrayAttr(tensors);
}
