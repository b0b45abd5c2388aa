//===- PlanMemory.cpp - Place temporaries in one arena --------------------------===//
// Stage: optimize (host → host).  A temporary lives from the launch that writes it to the last that reads it; two that
// do not live at once may have the same bytes. Lifetimes are known now, so the program asks for memory once, not once a
// tensor. Expects: host.alloc for every temporary at the top of the program.   Guarantees: none is left there; all lie
// in one arena, aligned to 64 bytes: at offsets that are numbers, or where sizes are expressions over the program's
// symbols, at those that kiln/plan.h finds for the sizes of the run. Sizes that are data stay on the heap. The arena
// notes its `peak` and the most bytes that `live` at one time, each tensor's rounded up to the alignment, which no plan
// can do without; both at the symbols' defaults. Position: last, because opts declare scratch and may split kernels.
//===----------------------------------------------------------------------===//

#include "passes/Passes.h"

#include "kiln/plan.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/MathExtras.h"

#include <map>

using namespace kiln;
using namespace mlir;
using view::Expr;

namespace kiln {
#define GEN_PASS_DEF_PLANMEMORY
#include "passes/Passes.h.inc"
} // namespace kiln

namespace {
struct Temporary {
  host::AllocOp alloc;
  Expr bytes; ///< over the program's symbols
  kiln_lifetime lives;
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

/// The most bytes that live at one time: no plan needs less.
static int64_t liveBytes(ArrayRef<Temporary> temporaries, ArrayRef<int64_t> bytes) {
  std::map<int64_t, int64_t> changes;
  for (auto [temporary, size] : llvm::zip(temporaries, bytes)) {
    int64_t room = llvm::alignTo(size, KILN_PLAN_ALIGNMENT);
    changes[temporary.lives.first] += room;
    changes[temporary.lives.last + 1] -= room;
  }
  int64_t live = 0, most = 0;
  for (auto [at, change] : changes)
    most = std::max(most, live += change);
  return most;
}

/// Calls `visit` with every op that uses the memory, under whatever name; false where one frees it, as control flow
/// does with what it takes over.
static bool visitUses(Value memory, llvm::function_ref<void(Operation *)> visit) {
  llvm::SetVector<Value> names;
  names.insert(memory);
  for (size_t i = 0; i < names.size(); ++i)
    for (OpOperand &use : names[i].getUses()) {
      Operation *user = use.getOwner();
      unsigned number = use.getOperandNumber();
      if (isa<host::FreeOp>(user))
        return false;
      visit(user);
      if (auto loop = dyn_cast<scf::WhileOp>(user)) {
        names.insert(loop.getBeforeArguments()[number]);
      } else if (isa<scf::ConditionOp>(user)) {
        auto around = cast<scf::WhileOp>(user->getParentOp());
        names.insert(around.getAfterArguments()[number - 1]);
        names.insert(around.getResult(number - 1));
      } else if (isa<scf::YieldOp>(user)) {
        if (auto around = dyn_cast<scf::WhileOp>(user->getParentOp()))
          names.insert(around.getBeforeArguments()[number]);
        else
          names.insert(user->getParentOp()->getResult(number));
      } else if (auto part = dyn_cast<host::OffsetOp>(user)) {
        names.insert(part);
      }
    }
  return true;
}

/// The temporaries that the program has from its start on, with their lifetimes.
static std::vector<Temporary> temporariesOf(host::ProgramOp program) {
  Block &body = program.getBody().front();
  llvm::DenseMap<Operation *, int32_t> position;
  for (auto [index, op] : llvm::enumerate(body))
    position[&op] = index;
  std::vector<Temporary> temporaries;
  for (auto alloc : body.getOps<host::AllocOp>()) {
    std::optional<Expr> bytes = bytesOf(alloc.getBytes(), program);
    if (!bytes)
      continue; // a size that is data stays on the heap
    Temporary temporary{alloc, *bytes, {position[alloc], position[alloc]}};
    bool isFreed = !visitUses(alloc, [&](Operation *user) {
      temporary.lives.last = std::max(temporary.lives.last, position[body.findAncestorOpInBlock(*user)]);
    });
    if (!isFreed)
      temporaries.push_back(temporary);
  }
  return temporaries;
}

void PlanMemory::plan(host::ProgramOp program) {
  std::vector<Temporary> temporaries = temporariesOf(program);
  if (temporaries.empty())
    return;
  Block &body = program.getBody().front();
  llvm::DenseMap<Expr, Value> symbols;
  llvm::DenseMap<Expr, int64_t> defaults;
  for (auto [index, attr] : llvm::enumerate(program.getSymbols().getAsRange<SymbolAttr>())) {
    Expr symbol = Expr::variable(attr.getName(), attr.getMin(), attr.getMax());
    symbols[symbol] = body.getArgument(index);
    defaults[symbol] = attr.getValue();
  }
  SmallVector<kiln_lifetime> lifetimes;
  SmallVector<int32_t> first, last;
  SmallVector<int64_t> bytes, offsets(temporaries.size());
  for (const Temporary &temporary : temporaries) {
    lifetimes.push_back(temporary.lives);
    first.push_back(temporary.lives.first);
    last.push_back(temporary.lives.last);
    bytes.push_back(temporary.bytes.evaluate(defaults).value_or(0));
  }
  int64_t peak = kiln_plan(lifetimes.data(), lifetimes.size(), bytes.data(), offsets.data());
  if (peak < 0) {
    program.emitError() << temporaries.size() << " temporaries are more than 2^63 bytes";
    return signalPassFailure();
  }

  OpBuilder builder(&body, body.begin());
  Location loc = program.getLoc();
  Type sliceType = host::SliceType::get(&getContext());
  auto emit = [&](Expr expr) -> Value {
    if (expr.isConst())
      return arith::ConstantOp::create(builder, loc, builder.getI64IntegerAttr(expr.constant()));
    SmallVector<Value> values;
    expr.forEachVariable([&](Expr symbol) { values.push_back(symbols.at(symbol)); });
    if (expr.kind() == Expr::Kind::Var)
      return values.front();
    return host::EvalOp::create(builder, loc, builder.getI64Type(), ExprAttr::get(&getContext(), expr), values);
  };
  Operation *arena;
  SmallVector<Value> slices;
  if (llvm::all_of(temporaries, [](const Temporary &temporary) { return temporary.bytes.isConst(); })) {
    arena = host::ArenaOp::create(builder, loc, sliceType, emit(peak));
    for (auto [temporary, offset] : llvm::zip(temporaries, offsets)) {
      builder.setInsertionPoint(temporary.alloc);
      slices.push_back(host::OffsetOp::create(builder, loc, sliceType, arena->getResult(0), emit(offset)));
    }
  } else {
    llvm::DenseMap<Expr, Value> sizes;
    SmallVector<Value> wanted;
    for (const Temporary &temporary : temporaries) {
      auto [slot, fresh] = sizes.try_emplace(temporary.bytes);
      if (fresh)
        slot->second = emit(temporary.bytes);
      wanted.push_back(slot->second);
    }
    SmallVector<Type> types(temporaries.size(), sliceType);
    arena = host::PlanOp::create(builder, loc, types, wanted, builder.getDenseI32ArrayAttr(first),
                                 builder.getDenseI32ArrayAttr(last));
    slices.append(arena->result_begin(), arena->result_end());
  }
  arena->setAttr("peak", builder.getI64IntegerAttr(peak));
  arena->setAttr("live", builder.getI64IntegerAttr(liveBytes(temporaries, bytes)));
  for (auto [temporary, slice] : llvm::zip(temporaries, slices)) {
    Operation *size = temporary.alloc.getBytes().getDefiningOp();
    temporary.alloc.getResult().replaceAllUsesWith(slice);
    temporary.alloc.erase();
    if (size && size->use_empty())
      size->erase();
  }
}
