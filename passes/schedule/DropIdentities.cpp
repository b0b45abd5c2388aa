//===- DropIdentities.cpp - Bytes that become themselves ----------------------===//
// Stage: schedule (graph → graph).
// Quantised models dequantise and quantise a tensor round each node that only moves its elements, with one scale. The
// bytes come out as they went in, which need not be proved of rounding: there are 256 of them, and each is tried.
// Expects: views folded.
// Guarantees: the same bytes; what is left between two tensors of bytes, element by element, changes some of them.
// Position: first, as all others then see what such a tensor is made of.
//===----------------------------------------------------------------------===//

#include "passes/Passes.h"

#include "ir/graph/DeadOps.h"

#include "passes/schedule/KnownConstants.h"

#include "ir/base/Evaluate.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/TypeUtilities.h"

#include <numeric>

using namespace kiln;
using namespace kiln::schedule;
using namespace mlir;

namespace kiln {
#define GEN_PASS_DEF_DROPIDENTITIES
#include "passes/Passes.h.inc"
} // namespace kiln

static constexpr int64_t kBytes = 256;
/// The longest chain from bytes to bytes: a pair of a dequantised and a quantised tensor takes seven rows.
static constexpr size_t kMostRows = 32;

static bool isByte(Value tensor) { return getElementTypeOrSelf(tensor).isInteger(8); }

/// The operand of a row whose others are numbers; nullopt: it has none, or several.
static std::optional<unsigned> onlyTensorOf(graph::AluOp row) {
  std::optional<unsigned> found;
  for (auto [index, operand] : llvm::enumerate(row->getOperands()))
    if (!numberThroughout(edgeOf(operand))) {
      if (found)
        return std::nullopt;
      found = index;
    }
  return found;
}

/// The rows give each of the bytes itself; the last comes first.
static bool isIdentity(ArrayRef<graph::AluOp> rows) {
  std::vector<char> values(kBytes * sizeof(uint64_t));
  std::iota(values.begin(), values.begin() + kBytes, 0);
  for (graph::AluOp row : llvm::reverse(rows)) {
    std::optional<DType> from = dtypeOf(getElementTypeOrSelf(row->getOperands().back())),
                         to = dtypeOf(getElementTypeOrSelf(row.getResult()));
    AluLoop loop = from && to ? aluLoop(row.getKind().getValue(), *from, *to) : nullptr;
    if (!loop)
      return false;
    SmallVector<std::vector<char>> operands;
    for (Value operand : row->getOperands()) {
      graph::ConstOp constant = numberThroughout(edgeOf(operand));
      if (!constant) {
        operands.push_back(values);
        continue;
      }
      Scalar number = Scalar::of(cast<TypedAttr>(constant.getValue()));
      size_t size = byteSize(number.dtype);
      std::vector<char> repeated(kBytes * size);
      for (int64_t i = 0; i < kBytes; ++i)
        std::memcpy(&repeated[i * size], number.data(), size);
      operands.push_back(std::move(repeated));
    }
    auto data =
        llvm::map_to_vector(operands, [](const std::vector<char> &values) -> const void * { return values.data(); });
    loop(data.data(), values.data(), kBytes);
  }
  for (int64_t i = 0; i < kBytes; ++i)
    if (values[i] != char(i))
      return false;
  return true;
}

/// The bytes that a tensor of bytes is, element by element; nullopt: none are known to be.
static std::optional<Edge> sameBytes(graph::AluOp last) {
  SmallVector<graph::AluOp> rows;
  Edge edge{last.getResult(), view::ShapeTracker::contiguous(shapeOf(last.getResult()))};
  do {
    auto row = edge.base.getDefiningOp<graph::AluOp>();
    std::optional<unsigned> tensor = row ? onlyTensorOf(row) : std::nullopt;
    if (!tensor || rows.size() == kMostRows || !isExact(row.getKind().getValue()))
      return std::nullopt;
    rows.push_back(row);
    edge = through(row->getOperand(*tensor), edge.tracker);
    // Padding is 0 after some of the rows alone.
    if (edge.tracker.isMasked())
      return std::nullopt;
  } while (!isByte(edge.base));
  bool isSame = getElementTypeOrSelf(edge.base) == getElementTypeOrSelf(last.getResult());
  return isSame && isIdentity(rows) ? std::optional(edge) : std::nullopt;
}

namespace {
struct DropIdentities : kiln::impl::DropIdentitiesBase<DropIdentities> {
  void runOnOperation() override {
    auto main = getOperation().lookupSymbol<func::FuncOp>("main");
    if (!main)
      return;
    SmallVector<graph::AluOp> casts;
    main.walk<WalkOrder::PreOrder>([&](graph::AluOp row) {
      if (row.getKind().getValue() == Alu::CAST && isByte(row.getResult()))
        casts.push_back(row);
    });
    for (graph::AluOp cast : casts)
      if (std::optional<Edge> same = sameBytes(cast))
        replaceByEdge(cast.getResult(), *same);
    graph::eraseDeadOps(main);
  }
};
} // namespace
