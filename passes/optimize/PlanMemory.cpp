//===- PlanMemory.cpp - Place temporaries in one arena --------------------------===//
// Stage: optimize (host → host).  A temporary lives from the launch that writes it to the last that reads it; two that
// do not live at once may have the same bytes. Lifetimes are known now, so the program asks for memory once, not once a
// tensor. Expects: host.alloc for every temporary at the top of the program.   Guarantees: none is left there; each
// temporary is an offset into one arena, aligned to 128 bytes. Sizes that depend on symbols are placed at run time, one
// after the other. Position: last, because opts declare scratch and may split kernels.
//===----------------------------------------------------------------------===//

#include "passes/Passes.h"

#include "mlir/IR/Builders.h"
#include "llvm/Support/MathExtras.h"

using namespace kiln;
using namespace mlir;
using view::Expr;

namespace kiln {
#define GEN_PASS_DEF_PLANMEMORY
#include "passes/Passes.h.inc"
} // namespace kiln

static constexpr int64_t kAlignment = 128;

namespace {
struct Temporary {
  host::AllocOp alloc;
  int64_t bytes; // -1: depends on symbols
  int64_t first, last;
  int64_t offset = 0;
};

struct PlanMemory : kiln::impl::PlanMemoryBase<PlanMemory> {
  void runOnOperation() override {
    for (auto program : getOperation().getOps<host::ProgramOp>())
      plan(program);
  }
  void plan(host::ProgramOp program);
};
} // namespace

static std::optional<int64_t> constantOf(Value value) {
  if (auto constant = value.getDefiningOp<arith::ConstantOp>())
    return cast<IntegerAttr>(constant.getValue()).getInt();
  return std::nullopt;
}

/// The lowest offset at which `wanted` overlaps none of `placed` that lives at the same time.
static int64_t lowestFit(const Temporary &wanted, ArrayRef<Temporary *> placed) {
  int64_t offset = 0;
  for (const Temporary *other : placed) { // in order of offset
    bool together = other->first <= wanted.last && wanted.first <= other->last;
    if (!together)
      continue;
    if (offset + wanted.bytes <= other->offset)
      break;
    offset = std::max(offset, int64_t(llvm::alignTo(other->offset + other->bytes, kAlignment)));
  }
  return offset;
}

void PlanMemory::plan(host::ProgramOp program) {
  Block &body = program.getBody().front();
  llvm::DenseMap<Operation *, int64_t> position;
  for (auto [index, op] : llvm::enumerate(body))
    position[&op] = index;
  std::vector<Temporary> temporaries;
  for (auto alloc : body.getOps<host::AllocOp>()) {
    Temporary temporary{alloc, constantOf(alloc.getBytes()).value_or(-1), position[alloc], position[alloc]};
    bool freed = false;
    for (Operation *user : alloc->getUsers()) {
      // Memory that control flow takes over is freed by the program itself.
      freed |= isa<host::FreeOp, scf::WhileOp>(user) && user->getBlock() == &body;
      temporary.last = std::max(temporary.last, position[body.findAncestorOpInBlock(*user)]);
    }
    if (!freed)
      temporaries.push_back(temporary);
  }
  if (temporaries.empty())
    return;

  // Largest first: small ones fill the gaps.
  std::vector<Temporary *> order, placed;
  for (Temporary &temporary : temporaries)
    if (temporary.bytes >= 0)
      order.push_back(&temporary);
  llvm::sort(order, [](Temporary *a, Temporary *b) {
    return a->bytes != b->bytes ? a->bytes > b->bytes : a->first < b->first;
  });
  int64_t peak = 0;
  for (Temporary *temporary : order) {
    temporary->offset = lowestFit(*temporary, placed);
    peak = std::max(peak, int64_t(llvm::alignTo(temporary->offset + temporary->bytes, kAlignment)));
    placed.insert(
        llvm::upper_bound(placed, temporary, [](Temporary *a, Temporary *b) { return a->offset < b->offset; }),
        temporary);
  }

  // One arena, at the place of the first temporary whose size is computed last: sizes are computed before any launch.
  OpBuilder builder(&body, body.begin());
  Location loc = program.getLoc();
  auto number = [&](int64_t value) -> Value {
    return arith::ConstantOp::create(builder, loc, builder.getI64IntegerAttr(value));
  };
  Value total = number(peak);
  llvm::DenseMap<Operation *, Value> offsets;
  for (Temporary &temporary : temporaries) {
    if (temporary.bytes >= 0)
      continue;
    Value bytes = temporary.alloc.getBytes();
    Operation *defines = bytes.getDefiningOp(); // null: the size is a symbol itself
    bool early =
        !defines || llvm::all_of(defines->getOperands(), [](Value value) { return isa<BlockArgument>(value); });
    if (!early)
      continue; // a size that is data: stays on the heap
    if (defines && !defines->isBeforeInBlock(&*builder.getInsertionPoint()))
      defines->moveBefore(&body, builder.getInsertionPoint());
    offsets[temporary.alloc] = total;
    Value mask = number(-kAlignment), rounded = arith::AddIOp::create(builder, loc, bytes, number(kAlignment - 1));
    rounded = arith::AndIOp::create(builder, loc, rounded, mask);
    total = arith::AddIOp::create(builder, loc, total, rounded);
  }
  Value arena = host::ArenaOp::create(builder, loc, host::SliceType::get(&getContext()), total);
  for (Temporary &temporary : temporaries) {
    builder.setInsertionPoint(temporary.alloc);
    Value offset = temporary.bytes >= 0 ? number(temporary.offset) : offsets.lookup(temporary.alloc);
    if (!offset)
      continue;
    Value slice = host::OffsetOp::create(builder, loc, arena.getType(), arena, offset);
    temporary.alloc.getResult().replaceAllUsesWith(slice);
    temporary.alloc.erase();
  }
}
