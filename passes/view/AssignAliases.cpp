//===- AssignAliases.cpp - Outputs that lie in an input's memory --------------===//
// Stage: view (graph → graph).  A decoder's cache is an input, and the same with a step behind it is an output. Where
// the caller declares that both are one memory with room for more (graph.alias), nothing of the cache is copied: the
// step is written behind it, and whoever reads the two together reads that memory. An output of its input's shape is
// written over it, by an assign of the whole. Expects: graph.alias on inputs of @main.   Guarantees: each is an assign,
// and the output a part of its result. Position: before movement is folded, while a concatenation still looks like one.
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

/// The tensors one behind the other along an axis, as importers write a concatenation.
static Value concat(OpBuilder &builder, Location loc, ArrayRef<Value> parts, int64_t axis) {
  if (parts.size() == 1)
    return parts.front();
  Expr total = 0, begin = 0;
  for (Value part : parts)
    total = total + shapeOf(part)[axis];
  Value result;
  for (Value part : parts) {
    view::Shape shape = shapeOf(part), low(shape.size(), Expr(0)), high = low;
    low[axis] = begin;
    begin = begin + shape[axis];
    high[axis] = total - begin;
    auto padded = [&](Value value) -> Value { return graph::PadOp::create(builder, loc, value, low, high); };
    Value placed = padded(part);
    if (result) {
      Value ones =
          graph::ConstOp::create(builder, loc, tensorType(shape, builder.getI1Type()), builder.getBoolAttr(true));
      placed = graph::AluOp::create(builder, loc, Alu::WHERE, ValueRange{padded(ones), placed, result});
    }
    result = placed;
  }
  return result;
}

static Value partOf(OpBuilder &builder, Location loc, Value room, Value like) {
  view::Shape begin(shapeOf(like).size(), Expr(0)), end = shapeOf(like);
  return graph::ShrinkOp::create(builder, loc, like.getType(), room, DimsAttr::get(builder.getContext(), begin),
                                 DimsAttr::get(builder.getContext(), end));
}

/// What `whole` has behind the input goes behind it in its memory.
static LogicalResult append(BlockArgument input, Value whole, graph::AliasAttr alias, const Twine &text) {
  std::optional<graph::Appended> appended = graph::appendedTo(whole, input);
  if (!appended || appended->axis != alias.getAxis())
    return emitError(whole.getLoc(),
                     "the output that lies in the memory of an input is not that input with more behind it");
  OpBuilder builder(whole.getContext());
  Location loc = whole.getLoc();
  builder.setInsertionPointToStart(input.getOwner());
  auto room = graph::RoomOp::create(builder, input.getLoc(), input, alias.getAxis(), alias.getCapacity());
  Value before = partOf(builder, input.getLoc(), room, input);
  input.replaceAllUsesExcept(before, room);

  builder.setInsertionPointAfter(whole.getDefiningOp());
  Expr size = shapeOf(whole)[alias.getAxis()];
  if (size.max() > alias.getCapacity()) {
    std::string message = (text + ": the size " + size.render() + " is more than the capacity of " +
                           Twine(alias.getCapacity()) + "; compile it with a larger one by --alias")
                              .str();
    graph::CheckOp::create(builder, loc, ExprAttr::get(builder.getContext(), view::less(size, alias.getCapacity() + 1)),
                           builder.getStringAttr(message));
  }
  view::Shape begin(shapeOf(whole).size(), Expr(0));
  begin[alias.getAxis()] = shapeOf(input)[alias.getAxis()];
  Value step = concat(builder, loc, appended->parts, alias.getAxis());
  auto assign = graph::AssignOp::create(builder, loc, room, step, DimsAttr::get(builder.getContext(), begin));
  Value after = partOf(builder, loc, assign, whole);
  whole.replaceAllUsesWith(after);
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
