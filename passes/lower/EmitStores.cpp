//===- EmitStores.cpp - Stores of vectors and of single elements ------------------===//
//
// A tile may be computed with lanes along one axis and be contiguous in memory along another that is unrolled. Then
// vectors are made of each lane, one of each power of two in the number of that axis' points; the renderer turns all of
// one together.
//
// Points of an unrolled axis that fill the gaps between lanes a few elements apart are woven into whole vectors with
// them.
//
//===----------------------------------------------------------------------------===//

#include "passes/lower/KernelLowering.h"

#include "ir/uop/PastCaches.h"
#include "target/Target.h"

using namespace kiln;
using namespace kiln::lower;
using namespace mlir;
using kernel::AxisKind;
using view::Expr;

void KernelLowering::createStore(Value value, Value pointer, Value at0, Value gate, bool pastCaches) {
  auto store = uop::StoreOp::create(here(), loc_, value, pointer, at0, gate);
  int64_t bytes = uop::lanesOf(value.getType()) * byteSize(getElementTypeOrSelf(value.getType()));
  if (pastCaches && !gate && bytes % uop::kLineBytes == 0)
    store->setAttr(uop::kPastCaches, builder_.getUnitAttr());
}

Value KernelLowering::laneOf(Value vector, int64_t lane) {
  return uop::GepOp::create(here(), loc_, getElementTypeOrSelf(vector.getType()), vector,
                            builder_.getI64IntegerAttr(lane));
}

void KernelLowering::storeApart(Value pointer, view::Index where, bool pastCaches,
                                llvm::function_ref<Value(int64_t)> valueOfLane) {
  for (auto [lane, place] : llvm::enumerate(placesOfLanes(pointer, where.index))) {
    Expr valid = atLane(where.valid, lane);
    if (valid.isConst(0))
      continue;
    Value gate = valid.isConst(1) ? Value() : condition(valid);
    createStore(valueOfLane(lane), pointer, place, gate, pastCaches);
  }
}

void KernelLowering::storeLanes(Value vector, Value pointer, view::Index where, bool pastCaches) {
  size_t depth = scopes_.size() - 1;
  if (lanesLieTogether(pointer, where.index)) {
    Value gate;
    if (!where.valid.isConst(1))
      gate = dependsOnLane(where.valid) ? laneCondition(where.valid, depth) : condition(where.valid);
    createStore(vector, pointer, index(placeIn(pointer, atLane(where.index, 0))), gate, pastCaches);
    return;
  }
  storeApart(pointer, where, pastCaches, [&](int64_t lane) { return laneOf(vector, lane); });
}

/// Tiles of fewer points or lanes are stored lane by lane.
static constexpr int64_t kFewestTurned = 2;

std::optional<size_t> KernelLowering::turnedAxis(Expr index, ArrayRef<int64_t> unrolled) const {
  bool canTurn = lanes() >= kFewestTurned && llvm::isPowerOf2_64(lanes());
  if (target_.hasGroups() || !canTurn || lanesAreNeighbours(index))
    return std::nullopt;
  for (auto [position, axis] : llvm::enumerate(unrolled)) {
    Expr first = fix(index, axis, 0);
    auto isNeighbour = [&](int64_t point) { return (fix(index, axis, point) - first).isConst(point); };
    if (sizeOf(axis) >= kFewestTurned && llvm::all_of(llvm::seq<int64_t>(1, sizeOf(axis)), isNeighbour))
      return position;
  }
  return std::nullopt;
}

void KernelLowering::storeTurned(ArrayRef<Value> vectors, Value pointer, view::Index where, bool pastCaches) {
  Type type = VectorType::get({int64_t(vectors.size())}, getElementTypeOrSelf(vectors.front().getType()));
  storeApart(pointer, where, pastCaches, [&](int64_t lane) -> Value {
    auto points = llvm::map_to_vector(vectors, [&](Value vector) { return laneOf(vector, lane); });
    return uop::VectorizeOp::create(here(), loc_, type, points);
  });
}

void KernelLowering::storeRuns(ArrayRef<Value> vectors, Value pointer, ArrayRef<view::Index> places, bool pastCaches) {
  while (!places.empty()) {
    view::Index first = places.front();
    const auto *end = llvm::find_if_not(
        places, [&](const view::Index &place) { return view::provablyEqual(place.valid, first.valid); });
    size_t run = llvm::bit_floor(size_t(end - places.begin()));
    if (run == 1 && !first.valid.isConst(0))
      storeLanes(vectors.front(), pointer, first, pastCaches);
    else if (run > 1)
      storeTurned(vectors.take_front(run), pointer, first, pastCaches);
    vectors = vectors.drop_front(run);
    places = places.drop_front(run);
  }
}

std::optional<size_t> KernelLowering::wovenAxis(view::Index where, ArrayRef<int64_t> unrolled) const {
  if (target_.hasGroups())
    return std::nullopt;
  for (auto [position, axis] : llvm::enumerate(unrolled)) {
    int64_t points = sizeOf(axis);
    view::Index first = fix(where, axis, 0);
    auto isNeighbour = [&](int64_t point) {
      return (fix(where.index, axis, point) - first.index).isConst(point) &&
             view::provablyEqual(fix(where.valid, axis, point), first.valid);
    };
    auto isApart = [&](int64_t lane) {
      return (atLane(first.index, lane) - atLane(first.index, 0)).isConst(lane * points);
    };
    if (points > 1 && points <= target::kMostApart && llvm::all_of(llvm::seq<int64_t>(1, points), isNeighbour) &&
        llvm::all_of(llvm::seq<int64_t>(1, lanes()), isApart))
      return position;
  }
  return std::nullopt;
}

void KernelLowering::storeWoven(ArrayRef<Value> vectors, Value pointer, view::Index where, bool pastCaches) {
  size_t depth = scopes_.size() - 1;
  auto points = int64_t(vectors.size());
  Type element = getElementTypeOrSelf(vectors.front().getType());
  for (int64_t begin = 0; begin < lanes() * points; begin += lanes()) {
    SmallVector<Value> values;
    for (int64_t place = begin; place < begin + lanes(); ++place)
      values.push_back(uop::GepOp::create(here(), loc_, element, vectors[place % points],
                                          builder_.getI64IntegerAttr(place / points)));
    Value gate;
    if (!where.valid.isConst(1))
      gate = allConditions(where.valid, depth, /*inside=*/{}, [&](Expr term) {
        SmallVector<Expr> valid;
        for (int64_t place = begin; place < begin + lanes(); ++place)
          valid.push_back(atLane(term, place / points));
        return conditions(valid, depth);
      });
    Value woven = uop::VectorizeOp::create(here(), loc_, withLanes(element), values);
    createStore(woven, pointer, index(atLane(where.index, 0) + begin), gate, pastCaches);
  }
}

void KernelLowering::storeTile(const Tile &tile, Value pointer, view::Index where, const AxisSet &axes,
                               bool pastCaches) {
  SmallVector<int64_t> unrolled = unrolledAxes(axes), sizes = sizesOf(unrolled);
  bool lanes = hasLanes(axes);
  // Neighbours of a stage whose elements are swizzled among banks are not neighbours in memory.
  bool liesPlain = !swizzles_.lookup(pointer);
  std::optional<size_t> turned = tile.lanes && liesPlain ? turnedAxis(where.index, unrolled) : std::nullopt;
  std::optional<size_t> woven = tile.lanes && liesPlain ? wovenAxis(where, unrolled) : std::nullopt;
  std::optional<size_t> together = woven ? woven : turned;
  if (together)
    sizes[*together] = 1; // its points are stored together
  forEachPoint(sizes, [&](ArrayRef<int64_t> point) {
    if (together) {
      int64_t points = sizeOf(unrolled[*together]);
      SmallVector<Value> vectors;
      SmallVector<int64_t> next(point);
      for (int64_t &i = next[*together]; i < points; ++i)
        vectors.push_back(pick(tile, unrolled, next, lanes, scopes_.size() - 1));
      if (woven)
        return storeWoven(vectors, pointer, fix(where, unrolled, point), pastCaches);
      SmallVector<view::Index> places;
      for (next[*turned] = 0; next[*turned] < points; ++next[*turned])
        places.push_back(fix(where, unrolled, next));
      return storeRuns(vectors, pointer, places, pastCaches);
    }
    view::Index one = fix(where, unrolled, point);
    Value value = pick(tile, unrolled, point, lanes, scopes_.size() - 1);
    if (one.valid.isConst(0))
      return;
    if (lanes)
      return storeLanes(value, pointer, one, pastCaches);
    Value gate = one.valid.isConst(1) ? Value() : condition(one.valid), at0 = index(placeIn(pointer, one.index));
    uop::StoreOp::create(here(), loc_, value, pointer, at0, gate);
  });
}

bool KernelLowering::exceedsCaches(kernel::StoreOp store) {
  Expr elements = store.getTracker().getValue().realSize();
  int64_t cache = target_.getCaches().empty() ? 0 : target_.cacheBytes(target_.getCaches().size());
  // Data held in the result is in a cache already.
  bool isHeld = llvm::any_of(func_.getBody().getOps<kernel::StageOp>(),
                             [&](kernel::StageOp stage) { return stage.getBuffer() == store.getBuffer(); });
  return !target_.hasGroups() && !isHeld && cache > 0 && elements.isConst() &&
         elements.constant() > cache / byteSize(store.getValue().getType());
}

void KernelLowering::emitStore(kernel::StoreOp store, Value value) {
  AxisSet axes = axesOfTracker(store.getTracker().getValue());
  axes |= axesOf(store.getValue());
  Tile tile = emit(value);
  view::Index where = indexAt(store.getTracker().getValue());
  // Items and groups that do not choose the place would all write it: only the first does.
  SmallVector<Expr> conditions{where.valid};
  for (kernel::AxisAttr axis : func_.getLoopAxes()) {
    bool parallel = llvm::is_contained({AxisKind::Group, AxisKind::Item, AxisKind::Chunk}, axis.getKind());
    if (parallel && !axes.test(axis.getId()))
      conditions.push_back(view::less(resolve(kernel::loopVariable(axis)), 1));
  }
  where.valid = view::logicalAnd(conditions);
  Value pointer = pointers_.at(store.getBuffer());
  bool pastCaches = exceedsCaches(store);
  storeTile(tile, pointer, where, axes, pastCaches);
  if (store.getAhead() && !pastCaches)
    askFor(pointer, linesAhead(store.getTracker().getValue(), store.getValue().getType(), *store.getAhead()),
           /*toWrite=*/true);
}
