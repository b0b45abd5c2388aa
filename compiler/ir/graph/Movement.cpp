#include "ir/graph/Movement.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace kiln;
using namespace mlir;
using view::Expr;
using view::ShapeTracker;

std::optional<ShapeTracker> graph::movedBy(Operation *op, const ShapeTracker &from) {
  return llvm::TypeSwitch<Operation *, std::optional<ShapeTracker>>(op)
      .Case([&](graph::ReshapeOp reshape) { return from.reshape(shapeOf(reshape.getResult())); })
      .Case([&](graph::ExpandOp expand) { return from.expand(shapeOf(expand.getResult())); })
      .Case([&](graph::PermuteOp permute) { return from.permute(permute.getOrder()); })
      .Case([&](graph::FlipOp flip) { return from.flip(flip.getAxes()); })
      .Case([&](graph::PadOp pad) {
        SmallVector<std::pair<Expr, Expr>> amounts;
        for (auto [low, high] : llvm::zip(pad.getLow().getSizes(), pad.getHigh().getSizes()))
          amounts.push_back({low, high});
        return from.pad(amounts);
      })
      .Case([&](graph::ShrinkOp shrink) {
        SmallVector<view::Range> ranges;
        for (auto [begin, end] : llvm::zip(shrink.getBegin().getSizes(), shrink.getEnd().getSizes()))
          ranges.push_back({begin, end});
        return from.shrink(ranges);
      })
      .Case([&](graph::ViewOp view) { return from.compose(view.getTracker().getValue()); })
      .Default([](Operation *) { return std::nullopt; });
}
