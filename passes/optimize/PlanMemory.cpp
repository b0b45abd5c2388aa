//===- PlanMemory.cpp - Place temporaries in one arena --------------------------===//
// Stage: optimize (host → host).
// A temporary lives from the launch that writes it to the last that reads it; two that do not live at once may have
// the same bytes. Lifetimes are known now, so the program asks for memory once, not once per tensor.
// Expects: host.alloc for every temporary; in a host.batch of sizes that are numbers, used there alone.
// Guarantees: all whose size is known at the program's start, and that no loop carries from step to step, lie in one
// arena, aligned to 64 bytes: at offsets that are numbers, or where sizes are expressions over the program's symbols,
// at those that kiln/plan.h finds for the sizes of the run. The others stay on the heap. Those that lie among zeros are
// in blocks apart: one at the program's start, and one more where sizes become known that data gives. The arena notes
// its `peak` and the most bytes that `live` at one time, each tensor's rounded up to the alignment, which no plan can
// do without; a host.scratch notes its own bytes as `peak`; all at the symbols' defaults.
// Position: last, because opts declare scratch and may split kernels.
//===----------------------------------------------------------------------===//

#include "passes/Passes.h"

#include "passes/optimize/ProgramSizes.h"

#include "ir/host/Sizes.h"
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

/// The most bytes that live at one step, which no plan needs less than, and the first such step.
static std::pair<int64_t, int32_t> mostLive(ArrayRef<Temporary> temporaries, ArrayRef<int64_t> bytes) {
  std::map<int32_t, int64_t> changes;
  for (auto [temporary, size] : llvm::zip(temporaries, bytes)) {
    int64_t room = llvm::alignTo(size, KILN_PLAN_ALIGNMENT);
    changes[temporary.lives.first] += room;
    changes[temporary.lives.last + 1] -= room;
  }
  int64_t live = 0;
  std::pair<int64_t, int32_t> most = {0, 0};
  for (auto [at, change] : changes) {
    live += change;
    if (live > most.first)
      most = {live, at};
  }
  return most;
}

/// Where each op stands in the program, and where the last op inside it does.
using Spans = llvm::DenseMap<Operation *, std::pair<int32_t, int32_t>>;

static void number(Block &block, Spans &spans, int32_t &next) {
  for (Operation &op : block) {
    int32_t begin = next++;
    for (Region &region : op.getRegions())
      for (Block &inner : region)
        number(inner, spans, next);
    spans[&op] = {begin, next - 1};
  }
}

/// The kernel that is launched at a step or next after it; null: none is.
static StringAttr kernelAt(host::ProgramOp program, const Spans &spans, int32_t step) {
  StringAttr kernel;
  program.walk<WalkOrder::PreOrder>([&](host::LaunchOp launch) {
    if (spans.at(launch).first < step)
      return WalkResult::advance();
    kernel = launch.getKernelAttr().getAttr();
    return WalkResult::interrupt();
  });
  return kernel;
}

/// Every op that uses the memory, under whatever name; nullopt where control flow takes it over and frees it.
static std::optional<llvm::SetVector<Operation *>> usersOf(host::AllocOp alloc) {
  llvm::SetVector<Value> names;
  llvm::SetVector<Operation *> users;
  names.insert(alloc);
  for (size_t i = 0; i < names.size(); ++i)
    for (OpOperand &use : names[i].getUses()) {
      Operation *user = use.getOwner();
      unsigned number = use.getOperandNumber();
      if (isa<host::FreeOp>(user) && (i > 0 || user->getBlock() != alloc->getBlock()))
        return std::nullopt;
      users.insert(user);
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
  return users;
}

/// What can be placed before the program runs. Memory of a region holds its value within one run of the region, so it
/// may share bytes with what the region does not need meanwhile.
static std::vector<Temporary> temporariesOf(Operation *around, const optimize::ProgramSizes &sizes, Spans &spans) {
  std::vector<Temporary> temporaries;
  around->walk([&](host::AllocOp alloc) {
    std::optional<Expr> bytes = sizes.exprOf(alloc.getBytes());
    std::optional<llvm::SetVector<Operation *>> users = usersOf(alloc);
    if (!bytes || !users)
      return;
    Temporary temporary{alloc, *bytes, {spans[alloc].first, spans[alloc].first}};
    for (Operation *user : *users) {
      Operation *here = alloc->getBlock()->findAncestorOpInBlock(*user);
      if (!here)
        return; // it leaves the region
      temporary.lives.last = std::max(temporary.lives.last, spans[here].second);
    }
    temporaries.push_back(temporary);
  });
  return temporaries;
}

namespace {
/// Memory among zeros, of the last temporary that is put there.
struct Halo {
  Attribute key;
  Expr bytes;
  int32_t last;
};
} // namespace

/// For each temporary the number of its halo: only those with zeros at the same places share one.
static SmallVector<size_t> shareHalos(ArrayRef<Temporary> temporaries, SmallVectorImpl<Halo> &halos) {
  return llvm::map_to_vector(temporaries, [&](Temporary temporary) -> size_t {
    Attribute key = temporary.alloc.getHaloAttr();
    auto *halo = llvm::find_if(halos, [&](const Halo &other) {
      return other.key == key && other.bytes == temporary.bytes && other.last < temporary.lives.first;
    });
    if (halo == halos.end()) {
      halos.push_back({key, temporary.bytes, 0});
      halo = std::prev(halos.end());
    }
    halo->last = temporary.lives.last;
    return halo - halos.begin();
  });
}

/// Those that lie among zeros, taken out of the others.
static std::vector<Temporary> takeHaloed(std::vector<Temporary> &temporaries) {
  std::vector<Temporary> haloed;
  llvm::erase_if(temporaries, [&](Temporary &temporary) {
    bool isHaloed = bool(temporary.alloc.getHaloAttr());
    if (isHaloed)
      haloed.push_back(temporary);
    return isHaloed;
  });
  return haloed;
}

/// Whether a temporary's sizes, and those that say where its zeros are, are known before an op.
static bool areKnown(Temporary temporary, const optimize::ProgramSizes &sizes, Operation *before) {
  DimsAttr halo = temporary.alloc.getHaloAttr();
  return sizes.areKnown(temporary.bytes, before) &&
         (!halo || llvm::all_of(halo.getSizes(), [&](Expr size) { return sizes.areKnown(size, before); }));
}

/// Where a program knows that its sizes are possible: after the checks that it begins with.
static Block::iterator afterChecks(Block &body) {
  auto place = body.begin();
  for (Operation &op : body) {
    if (isa<host::CheckOp>(op))
      place = std::next(op.getIterator());
    else if (!isa<host::InputOp>(op) && !isMemoryEffectFree(&op))
      break;
  }
  return place;
}

/// A plan that the program makes once it knows the sizes of its run.
static host::PlanOp planInRun(OpBuilder &builder, Location loc, ArrayRef<Temporary> temporaries,
                              const optimize::ProgramSizes &sizes, StringAttr busiest) {
  llvm::DenseMap<Expr, Value> emitted;
  SmallVector<Value> wanted;
  SmallVector<int32_t> first, last;
  for (const Temporary &temporary : temporaries) {
    auto [slot, fresh] = emitted.try_emplace(temporary.bytes);
    if (fresh)
      slot->second = sizes.emit(builder, temporary.bytes);
    wanted.push_back(slot->second);
    first.push_back(temporary.lives.first);
    last.push_back(temporary.lives.last);
  }
  SmallVector<Type> types(temporaries.size(), host::SliceType::get(builder.getContext()));
  return host::PlanOp::create(builder, loc, types, wanted, builder.getDenseI32ArrayAttr(first),
                              builder.getDenseI32ArrayAttr(last), busiest);
}

/// Has everybody use `slices` in place of what was allocated, and nobody free them.
static void replace(ArrayRef<Temporary> temporaries, ArrayRef<Value> slices) {
  for (auto [temporary, slice] : llvm::zip(temporaries, slices)) {
    host::AllocOp alloc = temporary.alloc;
    Operation *size = alloc.getBytes().getDefiningOp();
    for (Operation *user : llvm::make_early_inc_range(alloc->getUsers()))
      if (isa<host::FreeOp>(user))
        user->erase();
    alloc.getResult().replaceAllUsesWith(slice);
    alloc.erase();
    if (size && size->use_empty())
      size->erase();
  }
}

/// The sizes that decide where the zeros around tensors are.
static SmallVector<Value> deciding(ArrayRef<Temporary> haloed, const optimize::ProgramSizes &sizes) {
  llvm::SetVector<Value> deciding;
  auto add = [&](Expr expr) { expr.forEachVariable([&](Expr size) { deciding.insert(sizes.valueOf(size)); }); };
  for (Temporary temporary : haloed) {
    add(temporary.bytes);
    llvm::for_each(temporary.alloc.getHaloAttr().getSizes(), add);
  }
  return deciding.takeVector();
}

/// Puts tensors that lie among zeros into memory of their own: zeros are there before the first run, and nobody writes
/// them. Those whose sizes are known at `place` in the program get one there; returns the others.
static std::vector<Temporary> planHalos(host::ProgramOp program, const optimize::ProgramSizes &sizes,
                                        Block::iterator place, std::vector<Temporary> haloed, int32_t block) {
  std::vector<Temporary> later;
  llvm::erase_if(haloed, [&](Temporary &temporary) {
    bool isKnown = areKnown(temporary, sizes, &*place);
    if (!isKnown)
      later.push_back(temporary);
    return !isKnown;
  });
  SmallVector<Halo> halos;
  SmallVector<size_t> numbers = shareHalos(haloed, halos);
  SmallVector<Expr> offsets;
  Expr total = 0;
  for (const Halo &halo : halos) {
    offsets.push_back(total);
    total = total + view::ceilDiv(halo.bytes, KILN_PLAN_ALIGNMENT) * KILN_PLAN_ALIGNMENT;
  }
  if (haloed.empty())
    return later;
  OpBuilder builder(program.getContext());
  builder.setInsertionPoint(place->getBlock(), place);
  Type sliceType = host::SliceType::get(program.getContext());
  auto zeros = host::ZerosOp::create(builder, program.getLoc(), sliceType, sizes.emit(builder, total),
                                     deciding(haloed, sizes), block);
  zeros->setAttr("peak", builder.getI64IntegerAttr(sizes.defaultOf(total)));
  zeros->setAttr("live", builder.getI64IntegerAttr(sizes.defaultOf(total)));
  SmallVector<Value> slices;
  for (auto [temporary, number] : llvm::zip(haloed, numbers)) {
    builder.setInsertionPoint(temporary.alloc);
    slices.push_back(
        host::OffsetOp::create(builder, program.getLoc(), sliceType, zeros, sizes.emit(builder, offsets[number])));
  }
  replace(haloed, slices);
  return later;
}

/// A block with room for each slot of a batch. The part of a slot begins with `bytes` of its own.
static host::AllocOp blockOf(host::BatchOp batch, int64_t bytes, DimsAttr halo) {
  OpBuilder builder(batch);
  auto all = builder.getI64IntegerAttr(batch.getSamples() * bytes);
  Value size = arith::ConstantOp::create(builder, batch.getLoc(), all);
  return host::AllocOp::create(builder, batch.getLoc(), host::SliceType::get(builder.getContext()), size, halo);
}

/// What begins `offset` bytes into the part of a slot.
static Value partOf(host::BatchOp batch, host::AllocOp block, int64_t bytes, int64_t offset) {
  auto builder = OpBuilder::atBlockBegin(&batch.getBody().front());
  Expr slot = Expr::variable("slot", 0, int64_t(batch.getSamples()) - 1);
  Value at = host::evaluate(builder, batch.getLoc(), slot * bytes + offset, [&](Expr) { return batch.getSlot(); });
  return host::OffsetOp::create(builder, batch.getLoc(), block.getType(), block, at);
}

/// Blocks for the temporaries of a batch that lie among zeros.
static void placeHaloed(host::BatchOp batch, ArrayRef<Temporary> temporaries) {
  SmallVector<Halo> halos;
  SmallVector<size_t> numbers = shareHalos(temporaries, halos);
  SmallVector<host::AllocOp> blocks;
  SmallVector<int64_t> rooms;
  for (const Halo &halo : halos) {
    view::Shape key{-int64_t(batch.getSamples())}; // no tensor's begins so: its element has a number of bytes
    llvm::append_range(key, cast<DimsAttr>(halo.key).getSizes());
    rooms.push_back(llvm::alignTo(halo.bytes.constant(), KILN_PLAN_ALIGNMENT));
    blocks.push_back(blockOf(batch, rooms.back(), DimsAttr::get(batch.getContext(), key)));
  }
  replace(temporaries,
          llvm::map_to_vector(numbers, [&](size_t number) { return partOf(batch, blocks[number], rooms[number], 0); }));
}

/// A block for those that do not, which are placed by their lifetimes in the part of a slot.
static void placePlain(host::BatchOp batch, ArrayRef<Temporary> temporaries) {
  if (temporaries.empty())
    return;
  SmallVector<kiln_lifetime> lifetimes;
  SmallVector<int64_t> bytes, offsets(temporaries.size());
  for (const Temporary &temporary : temporaries) {
    lifetimes.push_back(temporary.lives);
    bytes.push_back(temporary.bytes.constant());
  }
  int64_t each = kiln_plan(lifetimes.data(), lifetimes.size(), bytes.data(), offsets.data(), nullptr);
  each = llvm::alignTo(each, KILN_PLAN_ALIGNMENT);
  host::AllocOp block = blockOf(batch, each, nullptr);
  replace(temporaries,
          llvm::map_to_vector(offsets, [&](int64_t offset) { return partOf(batch, block, each, offset); }));
}

/// Gives each slot of a batch memory for what launches of a sample pass on: the batch's temporaries become parts of
/// blocks that live around it. The sizes are numbers, and all users are in the batch (WalkBatch, SplitLaunches).
static void planSlots(host::BatchOp batch, const optimize::ProgramSizes &sizes) {
  Spans spans;
  int32_t next = 0;
  number(batch.getBody().front(), spans, next);
  std::vector<Temporary> plain = temporariesOf(batch, sizes, spans);
  std::vector<Temporary> haloed = takeHaloed(plain);
  placeHaloed(batch, haloed);
  placePlain(batch, plain);
}

void PlanMemory::plan(host::ProgramOp program) {
  optimize::ProgramSizes sizes(program);
  program.walk([&](host::BatchOp batch) { planSlots(batch, sizes); });
  Spans spans;
  int32_t next = 0;
  number(program.getBody().front(), spans, next);
  std::vector<Temporary> temporaries = temporariesOf(program, sizes, spans);
  Block &body = program.getBody().front();
  std::vector<Temporary> haloed = takeHaloed(temporaries);
  auto place = afterChecks(body);
  for (int32_t block = 0; !haloed.empty();) {
    std::vector<Temporary> later = planHalos(program, sizes, place, haloed, block);
    block += later.size() < haloed.size();
    haloed = later;
    if (!haloed.empty())
      place = haloed.front().alloc->getIterator();
  }
  Block::iterator begin = afterChecks(body);
  llvm::erase_if(temporaries, [&](const Temporary &temporary) { return !areKnown(temporary, sizes, &*begin); });
  program.walk([&](host::ScratchOp scratch) {
    if (std::optional<Expr> each = sizes.exprOf(scratch.getBytes()))
      scratch->setAttr("peak", Builder(&getContext()).getI64IntegerAttr(sizes.defaultOf(*each)));
  });
  if (temporaries.empty())
    return;
  SmallVector<kiln_lifetime> lifetimes;
  SmallVector<int64_t> bytes, offsets(temporaries.size());
  for (const Temporary &temporary : temporaries) {
    lifetimes.push_back(temporary.lives);
    // The defaults may be too small for any window to fit, as 1 is, and then no run has them.
    bytes.push_back(std::max<int64_t>(sizes.defaultOf(temporary.bytes), 0));
  }
  int64_t peak = kiln_plan(lifetimes.data(), lifetimes.size(), bytes.data(), offsets.data(), nullptr);
  if (peak < 0) {
    program.emitError() << temporaries.size() << " temporaries are more than 2^63 bytes";
    return signalPassFailure();
  }

  auto [live, step] = mostLive(temporaries, bytes);
  StringAttr busiest = kernelAt(program, spans, step);
  OpBuilder builder(&body, begin);
  Location loc = program.getLoc();
  Type sliceType = host::SliceType::get(&getContext());
  Operation *arena;
  SmallVector<Value> slices;
  if (llvm::all_of(temporaries, [](const Temporary &temporary) { return temporary.bytes.isConst(); })) {
    arena = host::ArenaOp::create(builder, loc, sliceType, sizes.emit(builder, peak), busiest);
    for (auto [temporary, offset] : llvm::zip(temporaries, offsets)) {
      builder.setInsertionPoint(temporary.alloc);
      slices.push_back(
          host::OffsetOp::create(builder, loc, sliceType, arena->getResult(0), sizes.emit(builder, offset)));
    }
  } else {
    arena = planInRun(builder, loc, temporaries, sizes, busiest);
    slices.append(arena->result_begin(), arena->result_end());
  }
  arena->setAttr("peak", builder.getI64IntegerAttr(peak));
  arena->setAttr("live", builder.getI64IntegerAttr(live));
  replace(temporaries, slices);
}
