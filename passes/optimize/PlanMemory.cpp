//===- PlanMemory.cpp - Place temporaries in one arena --------------------------===//
// Stage: optimize (host → host).  A temporary lives from the launch that writes it to the last that reads it; two that
// do not live at once may have the same bytes. Lifetimes are known now, so the program asks for memory once, not once a
// tensor. Expects: host.alloc for every temporary at the top of the program.   Guarantees: none is left there; each
// temporary is an offset into one arena, aligned to 64 bytes: a number, or an expression over the sizes that the
// program knows from the start. Sizes that are data stay on the heap. The arena notes its `peak` and the most bytes
// that `live` at one time, which no plan can do without, both at the symbols' defaults. Position: last, because opts
// declare scratch and may split kernels.
//===----------------------------------------------------------------------===//

#include "passes/Passes.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Support/MathExtras.h"

#include <map>
#include <numeric>

using namespace kiln;
using namespace mlir;
using view::Expr;

namespace kiln {
#define GEN_PASS_DEF_PLANMEMORY
#include "passes/Passes.h.inc"
} // namespace kiln

static constexpr int64_t kAlignment = 64;

namespace {
/// Memory for `coefficient` times `unit` bytes, over the program's symbols, from launch `first` to launch `last`.
struct Temporary {
  host::AllocOp alloc;
  int64_t coefficient;
  Expr unit;
  int64_t first, last;
  int64_t offset = 0; ///< in units, within the memory of all temporaries of this unit
};

struct PlanMemory : kiln::impl::PlanMemoryBase<PlanMemory> {
  void runOnOperation() override {
    for (auto program : getOperation().getOps<host::ProgramOp>())
      plan(program);
  }
  void plan(host::ProgramOp program);
};
} // namespace

/// A number of bytes as an expression over the program's symbols; nullopt where it is data.
static std::optional<Expr> bytesOf(Value bytes, host::ProgramOp program) {
  if (auto constant = bytes.getDefiningOp<arith::ConstantOp>())
    return Expr(cast<IntegerAttr>(constant.getValue()).getInt());
  auto symbolOf = [&](Value value) {
    auto symbol = cast<SymbolAttr>(program.getSymbols()[cast<BlockArgument>(value).getArgNumber()]);
    return Expr::variable(symbol.getName(), symbol.getMin(), symbol.getMax());
  };
  if (isa<BlockArgument>(bytes))
    return symbolOf(bytes);
  auto eval = bytes.getDefiningOp<host::EvalOp>();
  if (!eval || !llvm::all_of(eval.getValues(), [](Value value) { return isa<BlockArgument>(value); }))
    return std::nullopt;
  return eval.getExpr().getValue();
}

/// The largest number that divides an expression whatever its symbols are.
static int64_t divisorOf(Expr expr) {
  if (expr.isConst())
    return std::max<int64_t>(expr.constant(), 1);
  if (expr.kind() == Expr::Kind::Mul && expr.operands()[1].isConst())
    return std::abs(expr.operands()[1].constant());
  if (expr.kind() != Expr::Kind::Add)
    return 1;
  int64_t divisor = 0;
  for (Expr term : expr.operands())
    divisor = std::gcd(divisor, divisorOf(term));
  return divisor;
}

/// The lowest offset at which `wanted` overlaps none of `placed` that lives at the same time.
static int64_t lowestFit(const Temporary &wanted, ArrayRef<Temporary *> placed) {
  int64_t offset = 0;
  for (const Temporary *other : placed) { // in order of offset
    bool together = other->first <= wanted.last && wanted.first <= other->last;
    if (!together)
      continue;
    if (offset + wanted.coefficient <= other->offset)
      break;
    offset = std::max(offset, int64_t(llvm::alignTo(other->offset + other->coefficient, kAlignment)));
  }
  return offset;
}

/// Gives each temporary its offset; returns how many units all of them need.
static int64_t place(SmallVector<Temporary *> order) {
  // Largest first: small ones fill the gaps.
  llvm::sort(order, [](Temporary *a, Temporary *b) {
    return a->coefficient != b->coefficient ? a->coefficient > b->coefficient : a->first < b->first;
  });
  std::vector<Temporary *> placed;
  int64_t peak = 0;
  for (Temporary *temporary : order) {
    temporary->offset = lowestFit(*temporary, placed);
    peak = std::max(peak, int64_t(llvm::alignTo(temporary->offset + temporary->coefficient, kAlignment)));
    placed.insert(
        llvm::upper_bound(placed, temporary, [](Temporary *a, Temporary *b) { return a->offset < b->offset; }),
        temporary);
  }
  return peak;
}

/// The most bytes that live at one time: no plan needs less.
static int64_t liveBytes(ArrayRef<Temporary> temporaries, llvm::function_ref<int64_t(Expr)> number) {
  std::map<int64_t, int64_t> changes;
  for (const Temporary &temporary : temporaries) {
    int64_t bytes = temporary.coefficient * number(temporary.unit);
    changes[temporary.first] += bytes;
    changes[temporary.last + 1] -= bytes;
  }
  int64_t live = 0, most = 0;
  for (auto [at, change] : changes)
    most = std::max(most, live += change);
  return most;
}

void PlanMemory::plan(host::ProgramOp program) {
  Block &body = program.getBody().front();
  llvm::DenseMap<Operation *, int64_t> position;
  for (auto [index, op] : llvm::enumerate(body))
    position[&op] = index;
  std::vector<Temporary> temporaries;
  for (auto alloc : body.getOps<host::AllocOp>()) {
    std::optional<Expr> bytes = bytesOf(alloc.getBytes(), program);
    if (!bytes)
      continue; // a size that is data stays on the heap
    int64_t coefficient = divisorOf(*bytes);
    Expr unit = bytes->isConst() ? Expr(1) : view::floorDiv(*bytes, coefficient);
    Temporary temporary{alloc, coefficient, unit, position[alloc], position[alloc]};
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

  // What grows with the same sizes shares memory; the offsets are then right for all of them.
  llvm::MapVector<Expr, SmallVector<Temporary *>> byUnit;
  for (Temporary &temporary : temporaries)
    byUnit[temporary.unit].push_back(&temporary);
  llvm::DenseMap<Expr, Expr> begins;
  Expr total = 0;
  for (auto &[unit, members] : byUnit) {
    begins[unit] = total;
    total = total + unit * place(members);
  }

  OpBuilder builder(&body, body.begin());
  Location loc = program.getLoc();
  llvm::DenseMap<Expr, Value> symbols;
  llvm::DenseMap<Expr, int64_t> defaults;
  for (auto [index, attr] : llvm::enumerate(program.getSymbols().getAsRange<SymbolAttr>())) {
    Expr symbol = Expr::variable(attr.getName(), attr.getMin(), attr.getMax());
    symbols[symbol] = body.getArgument(index);
    defaults[symbol] = attr.getValue();
  }
  auto emit = [&](Expr expr) -> Value {
    if (expr.isConst())
      return arith::ConstantOp::create(builder, loc, builder.getI64IntegerAttr(expr.constant()));
    SmallVector<Value> values;
    expr.forEachVariable([&](Expr symbol) { values.push_back(symbols.at(symbol)); });
    return host::EvalOp::create(builder, loc, builder.getI64Type(), ExprAttr::get(&getContext(), expr), values);
  };
  auto number = [&](Expr expr) { return expr.evaluate(defaults).value_or(0); };
  auto arena = host::ArenaOp::create(builder, loc, host::SliceType::get(&getContext()), emit(total));
  arena->setAttr("peak", builder.getI64IntegerAttr(number(total)));
  arena->setAttr("live", builder.getI64IntegerAttr(liveBytes(temporaries, number)));
  for (Temporary &temporary : temporaries) {
    builder.setInsertionPoint(temporary.alloc);
    Value offset = emit(begins[temporary.unit] + temporary.unit * temporary.offset);
    Value slice = host::OffsetOp::create(builder, loc, arena.getType(), arena, offset);
    Operation *bytes = temporary.alloc.getBytes().getDefiningOp();
    temporary.alloc.getResult().replaceAllUsesWith(slice);
    temporary.alloc.erase();
    if (bytes && bytes->use_empty())
      bytes->erase();
  }
}
