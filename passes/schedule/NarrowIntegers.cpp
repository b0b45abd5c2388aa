//===- NarrowIntegers.cpp - Multiply integers in the dtype that an instruction takes ---===//
// Stage: schedule (graph → graph).
// A quantised model multiplies bytes less their zero points, as 32 bits. Such differences fit into 16 bits, whose
// products some instructions add up in pairs, exactly. So the factors of a sum are computed in 16 bits, if their bounds
// prove that nothing is lost, and widened where they are multiplied. Padding stays 0, as it comes after the zero point.
// A sum that no instruction is for stays as it is: narrow factors alone would have to be widened one by one.
// Expects: views folded.
// Guarantees: the same sums.
// Position: before constants are told from the rest, as factors of weights become narrow, too.
//===-----------------------------------------------------------------------------------===//

#include "passes/Passes.h"

#include "ir/graph/DeadOps.h"
#include "passes/schedule/IntegerBounds.h"
#include "passes/schedule/KnownConstants.h"
#include "passes/schedule/Products.h"

#include "target/Target.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/TypeUtilities.h"

using namespace kiln;
using namespace kiln::schedule;
using namespace mlir;
using llvm::ConstantRange;

namespace kiln {
#define GEN_PASS_DEF_NARROWINTEGERS
#include "passes/Passes.h.inc"
} // namespace kiln

namespace {
struct NarrowIntegers : kiln::impl::NarrowIntegersBase<NarrowIntegers> {
  void runOnOperation() override {
    auto main = getOperation().lookupSymbol<func::FuncOp>("main");
    TargetAttr target = targetOf(getOperation());
    Type narrow = IntegerType::get(&getContext(), 16), wide = IntegerType::get(&getContext(), 32);
    if (!main || !target.fastProduct(narrow, narrow, wide))
      return;
    KnownConstants constants(main);
    auto isConstant = [&](Value value) { return constants.isConstant(value); };
    // Bytes that an instruction takes as they are stay so.
    auto byteOf = [](Value operand) {
      Type element = getElementTypeOrSelf(uncast(operand));
      return element.isInteger(8) ? element : Type();
    };
    SmallVector<graph::AluOp> products;
    main.walk([&](graph::ReduceOp reduce) {
      if (getElementTypeOrSelf(reduce) == wide && !mayMultiplyBytes(reduce, target, byteOf, isConstant) &&
          mayMultiplyNarrow(reduce, target, narrow, isConstant))
        products.push_back(edgeOf(reduce.getInput()).base.getDefiningOp<graph::AluOp>());
    });
    for (graph::AluOp product : products)
      narrowFactors(product, narrow);
    graph::eraseDeadOps(main);
  }

  void narrowFactors(graph::AluOp product, Type narrow) {
    Edge edges[] = {edgeOf(product->getOperand(0)), edgeOf(product->getOperand(1))};
    for (const Edge &edge : edges) {
      std::optional<ConstantRange> bounds = boundsOf(edge.base);
      if (!bounds || !boundsOf(narrow)->contains(*bounds))
        return;
    }
    OpBuilder builder(product);
    for (auto [operand, edge] : llvm::zip(product->getOpOperands(), edges)) {
      Location loc = edge.base.getLoc();
      builder.setInsertionPointAfterValue(edge.base);
      Value wide = graph::AluOp::create(builder, loc, Alu::CAST, narrowed(builder, edge.base, narrow),
                                        getElementTypeOrSelf(edge.base));
      if (auto view = operand.get().getDefiningOp<graph::ViewOp>()) {
        builder.setInsertionPoint(product);
        wide = graph::ViewOp::create(builder, view.getLoc(), view.getType(), wide, view.getTrackerAttr());
      }
      operand.set(wide);
    }
  }

  /// The same values in the narrow dtype, computed in it from where they last had fewer bits.
  Value narrowed(OpBuilder &builder, Value value, Type narrow) {
    if (Value known = narrow_.lookup(value))
      return known;
    Location loc = value.getLoc();
    auto alu = value.getDefiningOp<graph::AluOp>();
    Value made;
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointAfterValue(value);
    if (auto constant = value.getDefiningOp<graph::ConstOp>()) {
      int64_t number = numberOf(cast<IntegerAttr>(constant.getValue()));
      made = graph::ConstOp::create(builder, loc, constant.getType().clone(narrow),
                                    builder.getIntegerAttr(narrow, number));
    } else if (auto view = value.getDefiningOp<graph::ViewOp>()) {
      Value source = narrowed(builder, view.getInput(), narrow);
      made = graph::ViewOp::create(builder, loc, cast<RankedTensorType>(view.getType()).clone(narrow), source,
                                   view.getTrackerAttr());
    } else if (alu && isNarrowing(alu, narrow)) {
      if (alu.getKind().getValue() == Alu::CAST)
        made = graph::AluOp::create(builder, loc, Alu::CAST, alu->getOperand(0), narrow);
      else {
        SmallVector<Value> operands =
            llvm::map_to_vector(alu->getOperands(), [&](Value operand) { return narrowed(builder, operand, narrow); });
        made = graph::AluOp::create(builder, loc, alu.getKind().getValue(), operands);
      }
    } else {
      made = graph::AluOp::create(builder, loc, Alu::CAST, value, narrow);
    }
    return narrow_[value] = made;
  }

  /// Whether an operation gives the same in the narrow dtype: all that it takes and gives fits, and nothing wraps
  /// around in its own.
  static bool isNarrowing(graph::AluOp alu, Type narrow) {
    ConstantRange fits = *boundsOf(narrow);
    auto isFit = [&](std::optional<ConstantRange> bounds) { return bounds && fits.contains(*bounds); };
    return isFit(exactBoundsOf(alu)) &&
           llvm::all_of(alu->getOperands(), [&](Value operand) { return isFit(boundsOf(operand)); });
  }

  llvm::DenseMap<Value, Value> narrow_;
};
} // namespace
