//===- PlaceParts.cpp - Place tensors that are parts of another in it -------------------===//
// Stage: optimize (host + kernels → host + kernels).
// A kernel that only joins tensors (a concatenation that is needed in memory) reads and writes everything that its
// producers have just written. If each part is a temporary, they can write into the joined tensor directly: their views
// become views of it, those of all readers too, and the joining kernel is not launched.
// Expects: kernels without opts; layouts are assigned.
// Guarantees: no access's view got longer, and what a kernel writes in a row fills a line of the cache as far as the
// tensor did before.
// Position: after layouts, which decide whether a part lies in long rows of the whole; before axes are normalized.
//===------------------------------------------------------------------------------------===//

#include "passes/Passes.h"

#include "passes/optimize/KernelVariants.h"
#include "passes/optimize/ProgramSizes.h"

#include "ir/kernel/Normalize.h"
#include "ir/uop/PastCaches.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/SetVector.h"

using namespace kiln;
using namespace kiln::kernel;
using namespace mlir;
using optimize::accessesOf;
using optimize::trackerOf;
using view::Expr;
using view::ShapeTracker;
using view::View;

namespace kiln {
#define GEN_PASS_DEF_PLACEPARTS
#include "passes/Passes.h.inc"
} // namespace kiln

namespace {
/// A box of a kernel's domain, and the load whose value is stored there.
struct Piece {
  LoadOp load;
  SmallVector<view::Range, 4> box;
};

/// A temporary, and the places of its elements in the joined tensor, in their order.
struct Part {
  host::AllocOp alloc;
  ShapeTracker place;
};

/// The new views for a launch in place of its kernel's.
struct Change {
  host::LaunchOp launch;
  SmallVector<ShapeTracker> trackers;
};

/// The parts of a joined tensor, and the changes that put them into it.
struct Joined {
  host::AllocOp whole;
  SmallVector<Part> parts;
  SmallVector<Change> changes;  ///< of all launches that access a part, except the joining one
  host::LaunchOp first, writer; ///< the first of these, and the last before the one that joins
};
} // namespace

/// Whether a launch hands its kernel the program's sizes under their own names.
static bool sharesSymbols(host::LaunchOp launch, FuncOp func, const optimize::ProgramSizes &sizes) {
  return llvm::all_of(llvm::zip(launch.getSizes(), func.getSizes().getSizes()),
                      [&](auto pair) { return sizes.valueOf(std::get<1>(pair)) == std::get<0>(pair); });
}

static bool isWithin(ArrayRef<view::Range> box, ArrayRef<view::Range> around) {
  return llvm::all_of(llvm::zip(box, around), [](auto pair) {
    auto [inner, outer] = pair;
    return view::provablyLessEqual(outer.begin, inner.begin) && view::provablyLessEqual(inner.end, outer.end);
  });
}

static bool areApart(ArrayRef<view::Range> a, ArrayRef<view::Range> b) {
  return llvm::any_of(llvm::zip(a, b), [](auto pair) {
    auto [left, right] = pair;
    return view::provablyLessEqual(left.end, right.begin) || view::provablyLessEqual(right.end, left.begin);
  });
}

/// The value in a box of its kernel's domain: that of a load, of a constant, or null if more has to be
/// computed.
static Value valueIn(Value value, ArrayRef<view::Range> box);

/// true or false if it has that value in all of a box.
static std::optional<bool> conditionIn(Value condition, ArrayRef<view::Range> box) {
  Value value = valueIn(condition, box);
  if (!value)
    return std::nullopt;
  if (auto constant = value.getDefiningOp<ConstOp>())
    if (auto number = dyn_cast<IntegerAttr>(constant.getValue()))
      return !number.getValue().isZero();
  if (auto valid = value.getDefiningOp<ValidOp>()) {
    ShapeTracker tracker = trackerOf(valid);
    auto mask = tracker.views().back().mask();
    if (mask && areApart(box, *mask))
      return false;
    if (tracker.views().size() == 1 && (!mask || isWithin(box, *mask)))
      return true;
  }
  return std::nullopt;
}

static Value valueIn(Value value, ArrayRef<view::Range> box) {
  Operation *op = value.getDefiningOp();
  if (auto alu = dyn_cast<AluOp>(op)) {
    if (alu.getKind().getValue() != Alu::WHERE)
      return nullptr;
    std::optional<bool> condition = conditionIn(alu.getOperand(0), box);
    return condition ? valueIn(alu.getOperand(*condition ? 1 : 2), box) : nullptr;
  }
  return isa<LoadOp, ConstOp, ValidOp>(op) ? value : Value();
}

/// The pieces of a kernel that only copies a tensor into each; none if it does anything else.
static SmallVector<Piece> piecesOf(FuncOp func) {
  auto stores = func.getBody().getOps<StoreOp>();
  if (!llvm::hasSingleElement(stores) || !func.getBody().getOps<ReduceOp>().empty())
    return {};
  StoreOp store = *stores.begin();
  SmallVector<Piece> pieces;
  Expr covered = 0;
  for (LoadOp load : func.getBody().getOps<LoadOp>()) {
    ShapeTracker tracker = trackerOf(load);
    bool isAlone = accessesOf(func, cast<BlockArgument>(load.getBuffer()).getArgNumber()).size() == 1;
    if (load.getRow() || load.getType() != store.getValue().getType() || tracker.views().size() != 1 || !isAlone)
      return {};
    auto mask = tracker.views().front().mask();
    if (!mask)
      return {};
    pieces.push_back({load, llvm::to_vector<4>(*mask)});
    Expr points = 1;
    for (const view::Range &range : *mask)
      points = points * (range.end - range.begin);
    covered = covered + points;
  }
  bool areTold = llvm::all_of(llvm::enumerate(pieces), [&](auto entry) {
    Piece &piece = entry.value();
    bool isOnlyOne = llvm::all_of(llvm::drop_begin(pieces, entry.index() + 1),
                                  [&](const Piece &other) { return areApart(piece.box, other.box); });
    return isOnlyOne && valueIn(store.getValue(), piece.box) == piece.load.getResult();
  });
  if (pieces.size() < 2 || !areTold || !view::provablyEqual(covered, view::product(func.getDomain().getSizes())))
    return {};
  return pieces;
}

/// Whether the elements, in their order, lie in rows that fill a line of the cache. Rows of open length do if they are
/// always a whole number of lines.
static bool fillLines(const View &view, int64_t elementBytes) {
  Expr elements = 1;
  for (auto [size, stride] : llvm::reverse(llvm::zip(view.shape(), view.strides()))) {
    if (size.isConst(1))
      continue;
    if (!view::provablyEqual(stride, elements))
      break;
    elements = elements * size;
  }
  if (elements.isConst())
    return elements.constant() * elementBytes >= uop::kLineBytes;
  return view::exactQuotient(elements * elementBytes, uop::kLineBytes).has_value();
}

namespace {
class PartPlacer {
public:
  PartPlacer(ModuleOp module, host::ProgramOp program) : program_(program), sizes_(program), variants_(module) {}
  void run();

private:
  /// Whether the launch only joins tensors that can be placed in the joined one, and so is not needed.
  bool replace(host::LaunchOp join);
  std::optional<Part> partOf(host::LaunchOp join, Piece piece, const ShapeTracker &store);
  /// The tensor that is joined, and its parts; none if one cannot be placed in it.
  std::optional<Joined> wholeOf(host::LaunchOp join);
  /// Fills in the changes for launches that access the parts. False if a launch cannot take them.
  bool findChanges(host::LaunchOp join, Joined &joined);
  /// The views of a launch that accesses parts; nullopt where one would get longer.
  std::optional<Change> changeOf(host::LaunchOp launch, ArrayRef<Part> parts);

  host::ProgramOp program_;
  optimize::ProgramSizes sizes_;
  optimize::KernelVariants variants_;
};
} // namespace

std::optional<Part> PartPlacer::partOf(host::LaunchOp join, Piece piece, const ShapeTracker &store) {
  auto alloc = optimize::memoryOf(join, piece.load).getDefiningOp<host::AllocOp>();
  if (!alloc || alloc->getBlock() != join->getBlock() || alloc.getHaloAttr())
    return std::nullopt;
  for (OpOperand &use : alloc->getUses()) {
    Operation *user = use.getOwner();
    auto launch = dyn_cast<host::LaunchOp>(user);
    if (user->getBlock() != join->getBlock() || (!launch && !isa<host::FreeOp>(user)))
      return std::nullopt;
    if (!launch)
      continue;
    auto isGathered = [](Operation *access) { return isa<LoadOp>(access) && cast<LoadOp>(access).getRow(); };
    unsigned buffer = use.getOperandNumber() - launch.getBuffers().getBeginOperandIndex();
    if (llvm::any_of(accessesOf(variants_.kernelOf(launch), buffer), isGathered))
      return std::nullopt;
  }
  int64_t elementBytes = int64_t(byteSize(piece.load.getType()));
  std::optional<Expr> bytes = sizes_.exprOf(alloc.getBytes());
  std::optional<Expr> elements = bytes ? view::exactQuotient(*bytes, elementBytes) : std::nullopt;
  ShapeTracker read = trackerOf(piece.load);
  std::optional<View> inverse = elements ? read.views().front().invert(*elements) : std::nullopt;
  if (!inverse || !read.compose(ShapeTracker(*inverse)).simplify().isContiguous())
    return std::nullopt;
  ShapeTracker place = store.compose(ShapeTracker(*inverse)).simplify();
  if (place.views().size() != 1)
    return std::nullopt;
  // Shorter rows share lines of the cache with another part's.
  if (!fillLines(place.views().front(), elementBytes) && !place.isConsecutive())
    return std::nullopt;
  return Part{alloc, place};
}

std::optional<Change> PartPlacer::changeOf(host::LaunchOp launch, ArrayRef<Part> parts) {
  FuncOp func = variants_.kernelOf(launch);
  if (!sharesSymbols(launch, func, sizes_))
    return std::nullopt;
  Change change{launch, {}};
  for (Operation *access : accessesOf(func)) {
    ShapeTracker tracker = trackerOf(access);
    Value memory = optimize::memoryOf(launch, access);
    auto *part = llvm::find_if(parts, [&](Part one) { return memory.getDefiningOp() == one.alloc.getOperation(); });
    change.trackers.push_back(part == parts.end() ? tracker : part->place.compose(tracker).simplify());
  }
  auto trial = cast<FuncOp>(func->clone());
  for (auto [access, tracker] : llvm::zip(accessesOf(trial), change.trackers))
    access->setAttr("tracker", TrackerAttr::get(func.getContext(), tracker));
  splitAxes(trial);
  bool fits = llvm::all_of(llvm::zip(accessesOf(func), accessesOf(trial)), [](auto pair) {
    auto [before, after] = pair;
    return trackerOf(after).views().size() <= trackerOf(before).views().size();
  });
  trial.erase();
  // A launch hands over no more sizes than before.
  auto check = [&](Expr expr) {
    expr.forEachVariable([&](Expr symbol) { fits &= llvm::is_contained(func.getSizes().getSizes(), symbol); });
  };
  for (const ShapeTracker &tracker : change.trackers)
    for (const View &view : tracker.views()) {
      llvm::for_each(view.shape(), check);
      llvm::for_each(view.strides(), check);
      check(view.offset());
    }
  return fits ? std::optional(change) : std::nullopt;
}

/// The record of the joined tensor: the launch that writes its last part writes it.
static void noteJoined(host::LaunchOp join, host::LaunchOp writer) {
  if (!join.getTensorsAttr() || !writer.getTensorsAttr())
    return;
  SmallVector<Attribute> tensors(writer.getTensorsAttr().getValue());
  for (auto tensor : join.getTensorsAttr().getAsRange<host::TensorAttr>())
    if (tensor.getPlacement() && tensor.getMemory() != 0)
      tensors.push_back(host::TensorAttr::get(join.getContext(), tensor.getNode(), tensor.getOp(), {},
                                              tensor.getNames(), tensor.getFolded(), tensor.getType(),
                                              tensor.getMemory(), tensor.getPlacement(), tensor.getLayout()));
  writer.setTensorsAttr(Builder(join.getContext()).getArrayAttr(tensors));
}

std::optional<Joined> PartPlacer::wholeOf(host::LaunchOp join) {
  FuncOp func = variants_.kernelOf(join);
  SmallVector<Piece> pieces = piecesOf(func);
  if (pieces.empty())
    return std::nullopt;
  StoreOp store = *func.getBody().getOps<StoreOp>().begin();
  Joined joined;
  joined.whole = optimize::memoryOf(join, store).getDefiningOp<host::AllocOp>();
  if (!joined.whole || joined.whole->getBlock() != join->getBlock() || !sizes_.exprOf(joined.whole.getBytes()) ||
      !sharesSymbols(join, func, sizes_))
    return std::nullopt;
  for (Piece &piece : pieces) {
    std::optional<Part> part = partOf(join, piece, trackerOf(store));
    bool isNew = part && llvm::none_of(joined.parts, [&](const Part &other) { return other.alloc == part->alloc; });
    if (!isNew)
      return std::nullopt;
    joined.parts.push_back(*part);
  }
  return joined;
}

bool PartPlacer::findChanges(host::LaunchOp join, Joined &joined) {
  llvm::SetVector<Operation *> users;
  for (Part &part : joined.parts)
    users.insert(part.alloc->user_begin(), part.alloc->user_end());
  users.remove(join);
  for (Operation *user : users) {
    auto launch = dyn_cast<host::LaunchOp>(user);
    if (!launch)
      continue;
    std::optional<Change> change = changeOf(launch, joined.parts);
    if (!change)
      return false;
    joined.changes.push_back(*change);
    joined.first = !joined.first || launch->isBeforeInBlock(joined.first) ? launch : joined.first;
    if (launch->isBeforeInBlock(join) && (!joined.writer || joined.writer->isBeforeInBlock(launch)))
      joined.writer = launch;
  }
  return joined.first && joined.first->isBeforeInBlock(join);
}

/// Has memory freed after its last user.
static void freeLast(host::AllocOp alloc) {
  Operation *last = nullptr, *free = nullptr;
  for (Operation *user : alloc->getUsers()) {
    Operation *here = alloc->getBlock()->findAncestorOpInBlock(*user);
    if (isa<host::FreeOp>(user))
      free = user;
    else if (!last || last->isBeforeInBlock(here))
      last = here;
  }
  if (free && free->isBeforeInBlock(last))
    free->moveAfter(last);
}

bool PartPlacer::replace(host::LaunchOp join) {
  std::optional<Joined> joined = wholeOf(join);
  if (!joined || !findChanges(join, *joined))
    return false;
  host::AllocOp whole = joined->whole;
  if (!sizes_.areKnown(*sizes_.exprOf(whole.getBytes()), joined->first))
    return false;
  for (Operation *op : {whole.getBytes().getDefiningOp(), whole.getOperation()})
    if (op && joined->first->isBeforeInBlock(op)) // others may have the same number of bytes
      op->moveBefore(joined->first);
  for (const Change &change : joined->changes)
    variants_.launchWith(change.launch, change.trackers, splitAxes);
  noteJoined(join, joined->writer);
  join.erase();
  for (Part &part : joined->parts) {
    for (Operation *user : llvm::make_early_inc_range(part.alloc->getUsers()))
      if (isa<host::FreeOp>(user))
        user->erase();
    part.alloc.getResult().replaceAllUsesWith(whole);
    part.alloc.erase();
  }
  freeLast(whole); // readers of a part may come after all readers of the whole
  return true;
}

void PartPlacer::run() {
  SmallVector<host::LaunchOp> launches;
  program_.walk([&](host::LaunchOp launch) { launches.push_back(launch); });
  bool isChanged = false;
  for (host::LaunchOp launch : launches)
    isChanged |= replace(launch);
  if (isChanged)
    variants_.nameKernels();
}

namespace {
struct PlaceParts : kiln::impl::PlacePartsBase<PlaceParts> {
  void runOnOperation() override {
    for (auto program : llvm::make_early_inc_range(getOperation().getOps<host::ProgramOp>()))
      PartPlacer(getOperation(), program).run();
  }
};
} // namespace
