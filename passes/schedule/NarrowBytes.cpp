//===- NarrowBytes.cpp - Take a zero point of 128 from bytes -------------------===//
// Stage: schedule (graph → graph).
// Bytes with a sign plus 128 are the bytes without, and those without less 128 are those with a sign. After a Relu the
// zero point of signed bytes is -128, so a sum of products takes bytes plus 128 there, and padding is 0. As bytes of
// the other dtype they have no zero point: their maker stores them so, padding stays 0, and no sum is corrected.
// Expects: views folded.
// Guarantees: the same sums.
// Position: before products of bytes, which have less to correct.
//===---------------------------------------------------------------------------===//

#include "passes/Passes.h"

#include "ir/graph/DeadOps.h"

#include "passes/schedule/IntegerBounds.h"
#include "passes/schedule/KnownConstants.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/TypeUtilities.h"

using namespace kiln;
using namespace kiln::schedule;
using namespace mlir;

namespace kiln {
#define GEN_PASS_DEF_NARROWBYTES
#include "passes/Passes.h.inc"
} // namespace kiln

/// Half of the bytes.
static constexpr int64_t kHalf = 128;

namespace {
struct NarrowBytes : kiln::impl::NarrowBytesBase<NarrowBytes> {
  void runOnOperation() override {
    auto main = getOperation().lookupSymbol<func::FuncOp>("main");
    if (!main)
      return;
    SmallVector<graph::AluOp> products;
    main.walk([&](graph::ReduceOp sum) {
      if (graph::AluOp product = aluOf(edgeOf(sum.getInput()).base, Alu::MUL); product && !sum.getScore())
        products.push_back(product);
    });
    for (graph::AluOp product : products)
      for (OpOperand &operand : product->getOpOperands()) {
        Edge edge = edgeOf(operand.get());
        Value bytes = asBytes(edge.base);
        if (!bytes)
          continue;
        OpBuilder builder(product);
        operand.set(tensorOf(builder, product.getLoc(), {bytes, edge.tracker}));
      }
    graph::eraseDeadOps(main);
  }

  /// The bytes of the other dtype, widened, that a factor is; null if it is no byte with a zero point of 128.
  Value asBytes(Value factor) {
    if (Value known = known_.lookup(factor))
      return known;
    graph::AluOp sum = aluOf(factor, Alu::ADD);
    for (unsigned side = 0; sum && side < 2; ++side) {
      graph::ConstOp number = numberThroughout(edgeOf(sum->getOperand(1 - side)));
      Edge wide = edgeOf(sum->getOperand(side));
      graph::AluOp cast = aluOf(wide.base, Alu::CAST);
      if (!number || !cast || !isWhole(wide))
        continue;
      auto byte = dyn_cast<IntegerType>(getElementTypeOrSelf(cast->getOperand(0)));
      auto integer = dyn_cast<IntegerAttr>(number.getValue());
      if (!byte || byte.getWidth() != 8 || !integer || numberOf(integer) != (byte.isUnsigned() ? -kHalf : kHalf))
        continue;
      OpBuilder builder(sum);
      Location loc = sum.getLoc();
      auto other =
          IntegerType::get(&getContext(), 8, byte.isUnsigned() ? IntegerType::Signless : IntegerType::Unsigned);
      Value bytes = graph::AluOp::create(builder, loc, Alu::CAST, cast->getOperand(0), other);
      Value half = graph::ConstOp::create(builder, loc, bytes.getType(), IntegerAttr::get(other, APInt(8, kHalf)));
      bytes = graph::AluOp::create(builder, loc, Alu::ADD, ValueRange{bytes, half});
      return known_[factor] = graph::AluOp::create(builder, loc, Alu::CAST, bytes, getElementTypeOrSelf(factor));
    }
    return {};
  }

  llvm::DenseMap<Value, Value> known_;
};
} // namespace
