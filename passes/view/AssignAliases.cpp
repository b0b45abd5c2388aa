//===- AssignAliases.cpp - Outputs that lie in an input's memory --------------===//
// Stage: view (graph → graph).
// A decoder's cache is an input, and the same with a step appended is an output. If the caller declares that both are
// one memory with room for more (graph.alias), nothing of the cache is copied: the step is written after it, and
// readers of the two together read that memory. An output of its input's shape is written over it, by an assign of the
// whole.
// Expects: graph.alias on inputs of @main.
// Guarantees: each is an assign, and the output a part of its result.
// Position: before movement is folded, while a concatenation still looks like one.
//===----------------------------------------------------------------------===//

#include "passes/Passes.h"

#include "ir/graph/Append.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"

using namespace kiln;
using namespace mlir;
using view::Expr;

namespace kiln {
#define GEN_PASS_DEF_ASSIGNALIASES
#include "passes/Passes.h.inc"
} // namespace kiln

static Value beginOf(OpBuilder &builder, Location loc, Value room, Value like) {
  view::Shape begin(shapeOf(like).size(), Expr(0)), end = shapeOf(like);
  return graph::ShrinkOp::create(builder, loc, like.getType(), room, DimsAttr::get(builder.getContext(), begin),
                                 DimsAttr::get(builder.getContext(), end));
}

/// The value that `value` is with its axes turned, and how they are turned.
static std::pair<Value, SmallVector<int64_t>> turnedFrom(Value value) {
  auto order = llvm::to_vector(llvm::seq<int64_t>(0, shapeOf(value).size()));
  while (auto permute = value.getDefiningOp<graph::PermuteOp>()) {
    for (int64_t &axis : order)
      axis = permute.getOrder()[axis];
    value = permute.getInput();
  }
  return {value, order};
}

/// The rest of `whole` after the input goes after it in its memory, and readers of the whole read that. So do readers
/// of the whole before its axes are turned.
static LogicalResult append(BlockArgument input, Value whole, graph::AliasAttr alias, const Twine &text) {
  int64_t axis = alias.getAxis();
  if (graph::appendedAxis(whole, input) != axis)
    return emitError(whole.getLoc(),
                     "the output that lies in the memory of an input is not that input with more after it");
  OpBuilder builder(whole.getContext());
  Location loc = whole.getLoc();
  builder.setInsertionPointToStart(input.getOwner());
  auto room = graph::RoomOp::create(builder, input.getLoc(), input, axis, alias.getCapacity());
  Value before = beginOf(builder, input.getLoc(), room, input);
  input.replaceAllUsesExcept(before, room);

  auto [source, order] = turnedFrom(whole);
  SmallVector<OpOperand *> readers, readersOfSource; // before the step is taken from the same
  for (OpOperand &use : whole.getUses())
    readers.push_back(&use);
  if (source != whole)
    for (OpOperand &use : source.getUses())
      readersOfSource.push_back(&use);
  builder.setInsertionPointAfterValue(source);
  view::Shape sizes = shapeOf(whole), begin(sizes.size(), Expr(0));
  Expr size = sizes[axis];
  if (size.max() > alias.getCapacity()) {
    std::string message = (text + ": the size " + size.render() + " is more than the capacity of " +
                           Twine(alias.getCapacity()) + "; compile it with a larger one by --alias")
                              .str();
    graph::CheckOp::create(builder, loc, ExprAttr::get(builder.getContext(), view::less(size, alias.getCapacity() + 1)),
                           builder.getStringAttr(message));
  }
  begin[axis] = shapeOf(input)[axis];
  Value step = graph::partOf(builder, loc, whole, begin, sizes);
  auto assign = graph::AssignOp::create(builder, loc, room, step, DimsAttr::get(builder.getContext(), begin));
  Value after = beginOf(builder, loc, assign, whole);
  for (OpOperand *use : readers)
    use->set(after);
  SmallVector<int64_t> back(order.size());
  for (auto [to, from] : llvm::enumerate(order))
    back[from] = to;
  Value turned = graph::PermuteOp::create(builder, loc, after, back);
  for (OpOperand *use : readersOfSource)
    use->set(turned);
  return success();
}

static void overwrite(BlockArgument input, OpOperand &output) {
  Value value = output.get();
  if (value == input)
    return;
  OpBuilder builder(value.getContext());
  builder.setInsertionPointAfterValue(value);
  auto assign = graph::AssignOp::create(builder, value.getLoc(), input, value);
  if (isa<BlockArgument>(value))
    output.set(assign);
  else
    value.replaceAllUsesExcept(assign, assign);
}

static std::string nameOf(func::FuncOp main, unsigned output) {
  auto name = main.getResultAttrOfType<StringAttr>(output, graph::kNameAttr);
  return name ? name.str() : std::to_string(output);
}

namespace {
struct AssignAliases : kiln::impl::AssignAliasesBase<AssignAliases> {
  void runOnOperation() override {
    auto main = getOperation().lookupSymbol<func::FuncOp>("main");
    if (!main)
      return;
    Operation *end = main.getBody().front().getTerminator();
    for (BlockArgument input : main.getArguments())
      if (auto alias = main.getArgAttrOfType<graph::AliasAttr>(input.getArgNumber(), graph::kAliasAttr)) {
        OpOperand &output = end->getOpOperand(alias.getOutput());
        if (alias.getAxis() < 0)
          overwrite(input, output);
        else if (failed(append(input, output.get(), alias, "output '" + nameOf(main, alias.getOutput()) + "'")))
          return signalPassFailure();
      }
  }
};
} // namespace
