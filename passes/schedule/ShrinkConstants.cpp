//===- ShrinkConstants.cpp - Compute constants only where they differ ----------===//
// Stage: schedule (graph → graph).
// An importer broadcasts before it computes, so that √(variance + ε) of 64 channels may be a tensor of a million
// elements, of a size that is not even known. Computed at one point of every axis along which no operand moves, it is
// 64 numbers again, and a view repeats them.
// Expects: views folded.
// Guarantees: an element-wise row on constants has no axis along which all stand still; on numbers it is a number.
// Position: first of what is done with constants, which all ask how large they are.
//===----------------------------------------------------------------------===//

#include "passes/Passes.h"

#include "ir/graph/DeadOps.h"

#include "passes/schedule/KnownConstants.h"

using namespace kiln;
using namespace kiln::schedule;
using namespace mlir;

namespace kiln {
#define GEN_PASS_DEF_SHRINKCONSTANTS
#include "passes/Passes.h.inc"
} // namespace kiln

namespace {
struct ShrinkConstants : kiln::impl::ShrinkConstantsBase<ShrinkConstants> {
  void runOnOperation() override {
    auto main = getOperation().lookupSymbol<func::FuncOp>("main");
    if (!main)
      return;
    KnownConstants constants(main);
    SmallVector<graph::AluOp> rows;
    main.walk<WalkOrder::PreOrder>([&](graph::AluOp alu) { rows.push_back(alu); });
    for (graph::AluOp alu : rows)
      shrink(alu, constants);
    graph::eraseDeadOps(main);
  }

  void shrink(graph::AluOp alu, KnownConstants &constants) {
    auto known = [&](Value operand) { return constants.isConstant(operand); };
    if (!isExact(alu.getKind().getValue()) || !llvm::all_of(alu.getOperands(), known))
      return;
    SmallVector<Edge> operands = llvm::map_to_vector(alu.getOperands(), edgeOf);
    OpBuilder builder(alu);
    Operation *made = nullptr;
    Type element = alu.getResult().getType().getElementType();
    std::optional<Edge> once = computeOnce(builder, alu.getLoc(), alu.getKind().getValue(), operands, element, made);
    bool isConstant = once && constants.add(made);
    if (!isConstant || (isWhole(*once) && !isa<graph::ConstOp>(made)))
      return;
    replaceByEdge(alu.getResult(), *once);
  }
};
} // namespace
