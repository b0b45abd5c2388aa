//===- GatherNarrow.cpp - Gather rows before they are widened -----------------===//
// Stage: schedule (graph → graph).
// A quantised model dequantises a table of words and gathers a few rows of it. The gather needs its table in memory, so
// all of the table would be dequantised in each run, in four times the bytes. The rows of bytes are gathered instead,
// and what followed the table follows them. A row out of range reads 0, so it is 0 afterwards as well.
// Expects: views folded.
// Guarantees: the same elements; each gather reads its table in as few bytes as its elements have on the way.
// Position: before what is constant is made weights of its own.
//===----------------------------------------------------------------------===//

#include "passes/Passes.h"

#include "ir/graph/DeadOps.h"

#include "passes/schedule/Cost.h"
#include "passes/schedule/KnownConstants.h"

#include "ir/base/AluTraits.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/TypeUtilities.h"

using namespace kiln;
using namespace kiln::schedule;
using namespace mlir;
using view::ShapeTracker;

namespace kiln {
#define GEN_PASS_DEF_GATHERNARROW
#include "passes/Passes.h.inc"
} // namespace kiln

namespace {
/// Element-wise rows with one tensor each, the last first, and the tensor that they begin with.
struct Widening {
  Value narrow;
  SmallVector<graph::AluOp> rows;
};
} // namespace

/// What a table is widened from; nullopt if it is not.
static std::optional<Widening> wideningOf(Value table) {
  auto bytes = [](Value tensor) { return byteSize(getElementTypeOrSelf(tensor)); };
  std::optional<Widening> best;
  Widening way{table, {}};
  while (auto row = way.narrow.getDefiningOp<graph::AluOp>()) {
    Value tensor;
    for (Value operand : row->getOperands()) {
      Edge edge = edgeOf(operand);
      if (numberThroughout(edge))
        continue;
      if (tensor || !isWhole(edge))
        return best;
      tensor = edge.base;
    }
    if (!tensor)
      return best;
    way.rows.push_back(row);
    way.narrow = tensor;
    if (bytes(tensor) < bytes(best ? best->narrow : table))
      best = way;
  }
  return best;
}

/// Whether a row is in the table, at each element of what is gathered.
static Value isInside(OpBuilder &builder, graph::GatherOp gather) {
  Location loc = gather.getLoc();
  view::Shape shape = shapeOf(gather.getResult()), indices = shapeOf(gather.getIndices());
  auto axis = size_t(gather.getAxis());
  view::Shape among(shape.size(), 1);
  llvm::copy(indices, among.begin() + axis);
  Type wide = builder.getI64Type();
  Value index = gather.getIndices();
  if (getElementTypeOrSelf(index) != wide)
    index = graph::AluOp::create(builder, loc, Alu::CAST, index, wide);
  int64_t rows = shapeOf(gather.getInput())[axis].constant();
  auto number = [&](int64_t value) {
    return graph::ConstOp::create(builder, loc, tensorType(indices, wide), builder.getI64IntegerAttr(value));
  };
  Value below = graph::AluOp::create(builder, loc, Alu::CMPLT, ValueRange{index, number(rows)});
  Value above = graph::AluOp::create(builder, loc, Alu::CMPLT, ValueRange{number(-rows - 1), index});
  Value inside = graph::AluOp::create(builder, loc, Alu::AND, ValueRange{below, above});
  return tensorOf(builder, loc, {inside, ShapeTracker::contiguous(indices).reshape(among).expand(shape)});
}

static void gatherFirst(graph::GatherOp gather, const Widening &widening) {
  OpBuilder builder(gather);
  Location loc = gather.getLoc();
  view::Shape shape = shapeOf(gather.getResult());
  Value made = graph::GatherOp::create(builder, loc, tensorType(shape, getElementTypeOrSelf(widening.narrow)),
                                       widening.narrow, gather.getIndices(), gather.getAxisAttr());
  bool keepsZero = true;
  for (graph::AluOp row : llvm::reverse(widening.rows)) {
    SmallVector<Value> operands;
    for (Value operand : row->getOperands()) {
      graph::ConstOp constant = numberThroughout(edgeOf(operand));
      operands.push_back(constant ? graph::ConstOp::create(builder, loc,
                                                           tensorType(shape, getElementTypeOrSelf(constant.getType())),
                                                           constant.getValue())
                                        .getResult()
                                  : made);
    }
    Alu kind = row.getKind().getValue();
    keepsZero &= aluTraits(kind).keepsZero && row->getNumOperands() == 1;
    made = graph::AluOp::create(builder, row.getLoc(), kind, operands, getElementTypeOrSelf(row.getResult()));
  }
  if (!keepsZero) {
    Type element = getElementTypeOrSelf(made);
    Value zero = graph::ConstOp::create(builder, loc, tensorType(shape, element), builder.getZeroAttr(element));
    made = graph::AluOp::create(builder, loc, Alu::WHERE, ValueRange{isInside(builder, gather), made, zero});
  }
  gather.getResult().replaceAllUsesWith(made);
  gather.erase();
}

namespace {
struct GatherNarrow : kiln::impl::GatherNarrowBase<GatherNarrow> {
  void runOnOperation() override {
    auto main = getOperation().lookupSymbol<func::FuncOp>("main");
    if (!main)
      return;
    SmallVector<graph::GatherOp> gathers;
    main.walk([&](graph::GatherOp gather) { gathers.push_back(gather); });
    for (graph::GatherOp gather : gathers) {
      Value table = gather.getInput();
      bool isFixed = shapeOf(table)[gather.getAxis()].isConst();
      std::optional<Widening> widening = isFixed ? wideningOf(table) : std::nullopt;
      if (widening && elementsOf(gather.getResult()) < elementsOf(table))
        gatherFirst(gather, *widening);
    }
    graph::eraseDeadOps(main);
  }
};
} // namespace
