//===- KernelBuilder.cpp - Write one kernel for a group of tensors ----------------===//
// Walks from the group's outputs to memory. The walk carries the view from the kernel's domain to the tensor at hand: a
// view on an edge is put on top of it, an element-wise op passes it on, and a load ends with it. At the group's reduce
// it must be the reduce's own shape; what lies above the reduce is read over the whole domain.
//===----------------------------------------------------------------------===//

#include "passes/schedule/KernelBuilder.h"

#include "passes/schedule/Domain.h"
#include "passes/schedule/MarkAttention.h"

#include "ir/kernel/Attention.h"
#include "ir/kernel/Normalize.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace kiln;
using namespace kiln::schedule;
using namespace mlir;
using view::Expr;
using view::ShapeTracker;

static Type elementOf(Value tensor) { return cast<RankedTensorType>(tensor.getType()).getElementType(); }

namespace {
class KernelBuilder {
public:
  KernelBuilder(OpBuilder &builder, const KernelGroup &group, llvm::function_ref<bool(Value)> isMemory, bool classic)
      : builder_(builder), group_(group), isMemory_(isMemory), classic_(classic),
        domain_(shapeOf(group_.reduce ? group_.reduce.getInput() : writtenBy(group_.outputs.front()))) {}
  BuiltKernel build();

private:
  Value compute(Value tensor, const ShapeTracker &tracker);
  Value computeOp(Operation *op, const ShapeTracker &tracker);
  Value computeReduce(graph::ReduceOp reduce, const ShapeTracker &tracker);
  Value computeGather(graph::GatherOp gather, const ShapeTracker &tracker);
  Value load(Value tensor, const ShapeTracker &tracker, Value row = {});
  Value masked(Value value, const ShapeTracker &tracker);
  void widenViews();
  void addSymbols(const ShapeTracker &tracker);
  void addSymbols(Expr expr);
  TrackerAttr attr(const ShapeTracker &tracker) { return TrackerAttr::get(builder_.getContext(), tracker); }

  OpBuilder &builder_;
  KernelGroup group_;
  llvm::function_ref<bool(Value)> isMemory_;
  bool classic_;
  kernel::FuncOp func_;
  SmallVector<Value> buffers_;
  Domain domain_;
  llvm::SetVector<Expr> symbols_;
  llvm::DenseMap<Value, std::vector<std::pair<ShapeTracker, Value>>> computed_; // a tensor through a view
};
} // namespace

void KernelBuilder::addSymbols(Expr expr) {
  expr.forEachVariable([&](Expr variable) { symbols_.insert(variable); });
}

void KernelBuilder::addSymbols(const ShapeTracker &tracker) {
  for (const view::View &view : tracker.views()) {
    for (Expr size : view.shape())
      addSymbols(size);
    for (Expr stride : view.strides())
      addSymbols(stride);
    addSymbols(view.offset());
    std::optional<ArrayRef<view::Range>> mask = view.mask();
    for (const view::Range &range : mask.value_or(ArrayRef<view::Range>())) {
      addSymbols(range.begin);
      addSymbols(range.end);
    }
  }
}

Value KernelBuilder::masked(Value value, const ShapeTracker &tracker) {
  Location loc = value.getLoc();
  Value valid = kernel::ValidOp::create(builder_, loc, builder_.getI1Type(), attr(tracker));
  Value zero = kernel::ConstOp::create(builder_, loc, value.getType(), builder_.getZeroAttr(value.getType()));
  return kernel::AluOp::create(builder_, loc, value.getType(), AluKindAttr::get(builder_.getContext(), Alu::WHERE),
                               ValueRange{valid, value, zero});
}

Value KernelBuilder::load(Value tensor, const ShapeTracker &tracker, Value row) {
  Type element = elementOf(tensor);
  // An assign of this kernel writes into the buffer that it overwrites.
  const auto *found = llvm::find_if(buffers_, [&](Value buffer) { return memoryOf(buffer) == memoryOf(tensor); });
  unsigned index = found - buffers_.begin();
  if (found == buffers_.end()) {
    buffers_.push_back(tensor);
    func_.getBody().addArgument(kernel::BufferType::get(builder_.getContext(), element), func_.getLoc());
  }
  return kernel::LoadOp::create(builder_, tensor.getLoc(), element, func_.getBody().getArgument(index), attr(tracker),
                                row);
}

Value KernelBuilder::compute(Value tensor, const ShapeTracker &tracker) {
  Edge edge = edgeOf(tensor);
  ShapeTracker through = edge.tracker.compose(tracker).simplify();
  for (auto &[known, at] : computed_[edge.base])
    if (domain_.widen(known) == domain_.widen(through))
      return at;
  addSymbols(through);
  auto isRead = [&](Value base) { return !llvm::is_contained(group_.outputs, base) && isMemory_(base); };
  Value value;
  Operation *op = edge.base.getDefiningOp();
  if (isRead(edge.base))
    value = load(edge.base, through);
  else if (auto constant = llvm::dyn_cast_or_null<graph::ConstOp>(op)) {
    value = kernel::ConstOp::create(builder_, edge.base.getLoc(), elementOf(edge.base), constant.getValue());
    if (through.isMasked())
      value = masked(value, through);
  } else if (auto size = llvm::dyn_cast_or_null<graph::SizeOp>(op)) {
    addSymbols(size.getSize().getValue());
    value = kernel::SizeOp::create(builder_, size.getLoc(), elementOf(edge.base), size.getSizeAttr());
    if (through.isMasked())
      value = masked(value, through);
  } else if (llvm::isa_and_nonnull<graph::IotaOp>(op)) {
    value = kernel::IndexOp::create(builder_, op->getLoc(), elementOf(edge.base), attr(through));
    if (through.isMasked())
      value = masked(value, through);
  } else if (!classic_ && through.isMasked() && !isPadSafe(edge.base, isRead))
    value = masked(computeOp(op, through), through);
  else
    value = computeOp(op, through);
  computed_[edge.base].push_back({through, value});
  return value;
}

Value KernelBuilder::computeOp(Operation *op, const ShapeTracker &tracker) {
  return llvm::TypeSwitch<Operation *, Value>(op)
      .Case([&](graph::ReduceOp reduce) { return computeReduce(reduce, tracker); })
      .Case([&](graph::ContiguousOp copy) { return compute(copy.getInput(), tracker); })
      .Case([&](graph::GatherOp gather) { return computeGather(gather, tracker); })
      .Case([&](graph::AluOp alu) {
        SmallVector<Value> operands;
        for (Value operand : alu->getOperands())
          operands.push_back(compute(operand, tracker));
        return kernel::AluOp::create(builder_, alu.getLoc(), elementOf(alu.getResult()), alu.getKindAttr(), operands);
      });
}

Value KernelBuilder::computeGather(graph::GatherOp gather, const ShapeTracker &tracker) {
  view::Shape from = shapeOf(gather.getInput()), result = shapeOf(gather.getResult());
  view::Shape chosen = shapeOf(gather.getIndices());
  size_t axis = gather.getAxis(), after = from.size() - axis - 1;
  view::Shape between;
  Value row = compute(gather.getIndices(), indicesOf(gather, tracker));
  // The input with the gathered axis last and an axis of size 1 for each of the indices'.
  Edge edge = edgeOf(gather.getInput());
  SmallVector<int64_t> order;
  for (size_t i = 0; i < from.size(); ++i)
    if (i != axis)
      order.push_back(i);
  order.push_back(axis);
  between.append(from.begin(), from.begin() + axis);
  between.append(chosen.size(), 1);
  between.append(from.end() - after, from.end());
  between.push_back(from[axis]);
  view::Shape whole = result;
  whole.push_back(from[axis]);
  ShapeTracker table = edge.tracker.permute(order).reshape(between).expand(whole);
  table = table.compose(withInnerAxes(tracker, from[axis])).simplify();
  addSymbols(table);
  Value value = load(edge.base, table, row);
  value.getDefiningOp()->setLoc(gather.getLoc());
  return value;
}

Value KernelBuilder::computeReduce(graph::ReduceOp reduce, const ShapeTracker &tracker) {
  Domain::Reduced reduced = domain_.enter(reduce, tracker);
  Value input = compute(reduce.getInput(), reduced.input);
  Value score = reduce.getScore() ? compute(reduce.getScore(), reduced.input) : Value();
  auto sum = kernel::ReduceOp::create(builder_, reduce.getLoc(), input, reduce.getKindAttr(),
                                      builder_.getDenseI64ArrayAttr(reduced.axes), score);
  if (StringAttr role = roleOf(reduce))
    sum->setAttr(kernel::kRoleAttr, role);
  return sum;
}

/// Brings every view to the domain's full rank.
void KernelBuilder::widenViews() {
  func_.walk([&](Operation *op) {
    auto known = op->getAttrOfType<TrackerAttr>("tracker");
    if (!known)
      return;
    ShapeTracker tracker = known.getValue();
    auto gathers = dyn_cast<kernel::LoadOp>(op);
    if (!gathers || !gathers.getRow()) {
      op->setAttr("tracker", attr(domain_.widen(tracker)));
      return;
    }
    view::Shape shape(tracker.shape()); // the rows stay last
    Expr rows = shape.pop_back_val();
    shape.resize(domain_.sizes().size(), 1);
    shape.push_back(rows);
    op->setAttr("tracker", attr(tracker.reshape(shape)));
  });
}

BuiltKernel KernelBuilder::build() {
  MLIRContext *context = builder_.getContext();
  // A kernel is known by what it computes: where it comes from belongs to the launch.
  Location loc = builder_.getUnknownLoc();
  DimsAttr none = DimsAttr::get(context, {});
  func_ = kernel::FuncOp::create(builder_, loc, "kernel", builder_.getFunctionType({}, {}), nullptr, nullptr, none,
                                 builder_.getArrayAttr({}), none, none, builder_.getArrayAttr({}), none);
  OpBuilder::InsertionGuard guard(builder_);
  builder_.createBlock(&func_.getBody());
  for (Value output : group_.outputs) {
    buffers_.push_back(output);
    func_.getBody().addArgument(kernel::BufferType::get(context, elementOf(output)), loc);
  }
  ShapeTracker outside =
      ShapeTracker::contiguous(shapeOf(group_.reduce ? group_.reduce.getResult() : writtenBy(group_.outputs.front())));
  SmallVector<Value> results;
  for (Value output : group_.outputs)
    results.push_back(compute(writtenBy(output), outside));
  for (auto [position, outputAndValue] : llvm::enumerate(llvm::zip(group_.outputs, results))) {
    auto [output, value] = outputAndValue;
    ShapeTracker place = outside;
    auto assign = output.getDefiningOp<graph::AssignOp>();
    if (isAppending(assign)) {
      place = graph::placeOf(assign).compose(outside).simplify();
      addSymbols(place);
    }
    kernel::StoreOp::create(builder_, assign ? assign.getLoc() : value.getLoc(), value,
                            func_.getBody().getArgument(position), attr(place));
  }
  widenViews();

  SmallVector<Attribute> axes;
  SmallVector<Expr> index;
  for (auto [id, size] : llvm::enumerate(domain_.sizes())) {
    axes.push_back(kernel::AxisAttr::get(context, id, ExprAttr::get(context, size), kernel::AxisKind::Loop));
    index.push_back(kernel::loopVariable(id, size));
    addSymbols(size);
  }
  func_.setDomainAttr(DimsAttr::get(context, domain_.sizes()));
  func_.setAxesAttr(builder_.getArrayAttr(axes));
  func_.setIndexAttr(DimsAttr::get(context, index));
  func_.setFunctionType(builder_.getFunctionType(func_.getBody().getArgumentTypes(), {}));
  func_.setSizesAttr(DimsAttr::get(context, symbols_.getArrayRef()));
  return {func_, buffers_};
}

BuiltKernel schedule::buildKernel(OpBuilder &builder, const KernelGroup &group,
                                  llvm::function_ref<bool(Value)> isMemory, bool classic) {
  return KernelBuilder(builder, group, isMemory, classic).build();
}
