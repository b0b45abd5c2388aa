//===- EmitReduce.cpp - Loops that reduce --------------------------------------===//
// Reduces over the same axes of which none needs another share their loops: what they read is read once.
//
// A scored sum knows the largest score only at the end of its loops, so it goes by the largest so far: where a larger
// one comes, what was summed is scaled down to it (Milakov and Gimelshein, Online normalizer calculation for softmax,
// 2018).
//===----------------------------------------------------------------------===//

#include "passes/lower/KernelLowering.h"
#include "passes/lower/RewriteSets.h"

#include "ir/graph/Graph.h"

#include "mlir/IR/BuiltinAttributes.h"

using namespace kiln;
using namespace kiln::lower;
using namespace mlir;
using kernel::AxisKind;
using view::Expr;

/// A group has few enough warps that each item reads the sums of all.
static constexpr int64_t kMostWarps = 32;

/// The points that a nest of loops reduces.
struct KernelLowering::Reduced {
  AxisSet axes;
  SmallVector<int64_t> loops, unrolled; ///< of them, lanes apart
  SmallVector<int64_t> items;           ///< of them, those that are the items of the group
  AxisSet lane;                         ///< of them, the one that is lanes
};

/// The largest of some scores so far, for every unrolled point and lane that the scores are not reduced over.
struct KernelLowering::Largest {
  Value score;
  Tile tile;
  Tile decay;   ///< exp(the largest before this step - the largest now)
  Tile weights; ///< exp(score - the largest now), for the reduced unrolled points too
};

/// What a reduce has put together so far, for every unrolled point and lane of its input that is not reduced; where
/// lanes are reduced, for each lane apart.
struct KernelLowering::Total {
  kernel::ReduceOp reduce;
  AxisSet inputAxes;
  Tile tile;
  Value identity;
  Largest *largest = nullptr; ///< of its scores; null: it has none
};

const llvm::SmallPtrSet<Operation *, 4> &KernelLowering::reducesBehind(Value value) {
  if (auto known = reducesBehind_.find(value); known != reducesBehind_.end())
    return *known->second;
  auto reduces = std::make_unique<llvm::SmallPtrSet<Operation *, 4>>();
  if (Operation *op = value.getDefiningOp()) {
    for (Value operand : op->getOperands())
      reduces->insert_range(reducesBehind(operand));
    if (isa<kernel::ReduceOp>(op))
      reduces->insert(op);
  }
  return *(reducesBehind_[value] = std::move(reduces));
}

SmallVector<kernel::ReduceOp> KernelLowering::walkedWith(kernel::ReduceOp reduce, size_t place) {
  SmallVector<kernel::ReduceOp> together{reduce};
  for (auto other : func_.getBody().getOps<kernel::ReduceOp>()) {
    if (other.getAxes() != reduce.getAxes())
      continue;
    bool isNeeded = llvm::any_of(roots_, [&](Value root) { return reducesBehind(root).contains(other); });
    bool needsAnother = llvm::any_of(together, [&](kernel::ReduceOp member) {
      return reducesBehind(other).contains(member) || reducesBehind(member).contains(other);
    });
    bool isReady =
        llvm::all_of(axesOf(other).set_bits(), [&](unsigned axis) { return isBound(axis) || isUnrolled(axis); });
    bool sharesLoops = isReady && placeOf(axesOf(other)) == place;
    bool isHeld = other.getBuffer() || reduce.getBuffer();
    // What is being summed up around this is not there yet.
    needsAnother |= llvm::any_of(reducesBehind(other), [&](Operation *op) { return underway_.contains(op); });
    if (isNeeded && !needsAnother && sharesLoops && !isHeld && !scopes_[place]->tiles.contains(walked(other)))
      together.push_back(other);
  }
  return together;
}

KernelLowering::Reduced KernelLowering::reducedBy(kernel::ReduceOp reduce) {
  Reduced reduced{none(), {}, {}, {}, none()};
  for (kernel::AxisAttr axis : walk().axes) {
    int64_t id = axis.getId();
    if (!llvm::is_contained(reduce.getAxes(), id))
      continue;
    reduced.axes.set(id);
    bool isHeld = reduce == held_ && llvm::is_contained(heldLoops_, id);
    bool isOnePoint = axis.getSize().getValue().isConst(1), isWhole = axis.getKind() == AxisKind::Fragment;
    if (isHeld || isOnePoint || isWhole)
      continue;
    if (id == walk().lane && isUnrolled(id)) {
      reduced.lane.set(id);
      continue;
    }
    if (axis.getKind() == AxisKind::Item) {
      reduced.items.push_back(id);
      continue;
    }
    (isUnrolled(id) ? reduced.unrolled : reduced.loops).push_back(id);
  }
  return reduced;
}

Tile KernelLowering::filled(AxisSet axes, const Reduced &reduced, Value identity) {
  Tile tile{{}, {}, hasLanes(axes)};
  tile.axes = unrolledAxes(axes.reset(reduced.axes));
  int64_t count = 1;
  for (int64_t size : sizesOf(tile.axes))
    count *= size;
  tile.values.assign(count, tile.lanes ? splat(identity, 0) : identity);
  return tile;
}

Expr KernelLowering::guardOver(const Reduced &reduced, const AxisSet &axes) {
  // A guard about an axis that the input does not depend on any more was settled by a reduce further in.
  AxisSet among = axes;
  among |= reduced.axes;
  return resolve(guardOf(reduced.axes, among));
}

Value KernelLowering::within(Expr inside, Value value, Value otherwise) {
  if (inside.isConst(1))
    return value;
  size_t depth = scopes_.size() - 1;
  bool lanes = isa<VectorType>(value.getType());
  Value isInside = lanes ? laneCondition(inside, depth) : condition(inside);
  return alu(Alu::WHERE, {isInside, value, lanes ? splat(otherwise, depth) : otherwise}, value.getType(), depth);
}

/// Exponents are taken from a finite number, so that rows that begin with -inf, as masked ones do, are no NaN.
Value KernelLowering::finite(Value largest) {
  size_t depth = scopes_.size() - 1;
  auto element = cast<FloatType>(getElementTypeOrSelf(largest.getType()));
  Value lowest = constant(FloatAttr::get(element, APFloat::getLargest(element.getFloatSemantics(), /*Negative=*/true)));
  return alu(Alu::MAX, {largest, isa<VectorType>(largest.getType()) ? splat(lowest, depth) : lowest}, largest.getType(),
             depth);
}

Value KernelLowering::difference(Value a, Value b) {
  size_t depth = scopes_.size() - 1;
  Type type = a.getType();
  return alu(Alu::ADD, {a, alu(Alu::NEG, b, type, depth)}, type, depth);
}

Value KernelLowering::expOfDifference(Value a, Value b) {
  size_t depth = scopes_.size() - 1;
  Type type = a.getType();
  return alu(Alu::EXP, difference(a, b), type, depth);
}

void KernelLowering::advance(Largest &largest, const Reduced &reduced) {
  const AxisSet axes = axesOf(largest.score);
  Expr guard = guardOver(reduced, axes);
  Value lowest = constant(graph::reductionIdentity(Alu::MAX, largest.score.getType()));
  Tile scores = emit(largest.score), &tile = largest.tile;
  size_t depth = scopes_.size() - 1;
  largest.decay = {tile.axes, {}, tile.lanes};
  largest.weights = {tile.axes, {}, tile.lanes};
  largest.weights.axes.append(reduced.unrolled);
  const SmallVector<int64_t> &allAxes = largest.weights.axes;
  size_t next = 0;
  forEachPoint(sizesOf(tile.axes), [&](ArrayRef<int64_t> kept) {
    SmallVector<Value> values;
    Value before = tile.values[next], now = before;
    forEachPoint(sizesOf(reduced.unrolled), [&](ArrayRef<int64_t> over) {
      SmallVector<int64_t> point(kept);
      point.append(over.begin(), over.end());
      values.push_back(within(fix(guard, allAxes, point), pick(scores, allAxes, point, tile.lanes, depth), lowest));
      now = alu(Alu::MAX, {now, values.back()}, now.getType(), depth);
    });
    Value reference = finite(now);
    for (Value value : values)
      largest.weights.values.push_back(expOfDifference(value, reference));
    largest.decay.values.push_back(expOfDifference(finite(before), reference));
    tile.values[next++] = now;
  });
}

void KernelLowering::accumulate(Total &total, const Reduced &reduced) {
  kernel::ReduceOp reduce = total.reduce;
  Alu kind = reduce.getKind().getValue();
  bool vanishes = kind == Alu::ADD && vanishesOutside(reduce.getInput(), reduced.axes);
  Expr guard = vanishes ? Expr(1) : guardOver(reduced, total.inputAxes);
  Tile input = emit(reduce.getInput());
  size_t depth = scopes_.size() - 1;
  bool lanes = total.tile.lanes;
  SmallVector<int64_t> allAxes(total.tile.axes);
  allAxes.append(reduced.unrolled);
  size_t next = 0;
  forEachPoint(sizesOf(total.tile.axes), [&](ArrayRef<int64_t> kept) {
    Value &sum = total.tile.values[next++];
    Type type = sum.getType();
    if (total.largest)
      sum = alu(Alu::MUL, {sum, pick(total.largest->decay, total.tile.axes, kept, lanes, depth)}, type, depth);
    forEachPoint(sizesOf(reduced.unrolled), [&](ArrayRef<int64_t> over) {
      SmallVector<int64_t> point(kept);
      point.append(over.begin(), over.end());
      Value term = within(fix(guard, allAxes, point), pick(input, allAxes, point, lanes, depth), total.identity);
      if (total.largest)
        term = alu(Alu::MUL, {term, pick(total.largest->weights, allAxes, point, lanes, depth)}, type, depth);
      sum = alu(kind, {sum, term}, type, depth);
      if (kind == Alu::ADD && isa<FloatType>(getElementTypeOrSelf(type)))
        sum.getDefiningOp()->setAttr(kContract, builder_.getUnitAttr());
    });
  });
}

void KernelLowering::accumulateDots(Total &total, const Reduced &reduced, const kernel::DotProduct &product) {
  ProductAttr instruction = targetOf(func_->getParentOfType<ModuleOp>())
                                .dotProduct(product.a.getType(), product.b.getType(), total.identity.getType());
  bool vanishes = vanishesOutside(product.a, reduced.axes) && vanishesOutside(product.b, reduced.axes);
  // The domain does not end between terms (kernel::faultOfProducts).
  Expr guard = vanishes ? Expr(1) : fix(guardOver(reduced, total.inputAxes), product.terms, 0);
  Tile a = emitTerms(product.a, product.terms), b = emitTerms(product.b, product.terms);
  SmallVector<int64_t> axes(total.tile.axes);
  axes.append(reduced.unrolled);
  size_t next = 0;
  forEachPoint(sizesOf(total.tile.axes), [&](ArrayRef<int64_t> kept) {
    Value &sum = total.tile.values[next++];
    forEachPoint(sizesOf(reduced.unrolled), [&](ArrayRef<int64_t> over) {
      SmallVector<int64_t> point(kept);
      point.append(over.begin(), over.end());
      Value taken = uop::DotOp::create(here(), loc_, sum.getType(), builder_.getStringAttr(instruction.getName()),
                                       a.values[positionIn(a, axes, point)], b.values[positionIn(b, axes, point)], sum);
      Expr inside = fix(guard, axes, point);
      if (!inside.isConst(1)) {
        size_t depth = scopes_.size() - 1;
        taken = alu(Alu::WHERE, {laneCondition(inside, depth), taken, sum}, sum.getType(), depth);
      }
      sum = taken;
    });
  });
}

Value KernelLowering::foldPairs(Alu kind, SmallVector<Value> values) {
  size_t depth = scopes_.size() - 1;
  // Pairs, then pairs of pairs: the rounding error grows with the logarithm.
  while (values.size() > 1) {
    SmallVector<Value> next;
    for (size_t i = 0; i + 1 < values.size(); i += 2)
      next.push_back(alu(kind, {values[i], values[i + 1]}, values[i].getType(), depth));
    if (values.size() % 2)
      next.push_back(values.back());
    values = next;
  }
  return values.front();
}

Value KernelLowering::foldLanes(Alu kind, Value vector) {
  Type element = getElementTypeOrSelf(vector.getType());
  SmallVector<Value> values;
  for (int64_t lane = 0; lane < lanes(); ++lane)
    values.push_back(uop::GepOp::create(here(), loc_, element, vector, builder_.getI64IntegerAttr(lane)));
  return foldPairs(kind, values);
}

void KernelLowering::finish(Total &total, const Reduced &reduced) {
  bool foldsLanes = total.tile.lanes && reduced.axes.test(walk().lane);
  size_t depth = scopes_.size() - 1, next = 0;
  forEachPoint(sizesOf(total.tile.axes), [&](ArrayRef<int64_t> point) {
    Value &sum = total.tile.values[next++];
    Value largest;
    if (total.largest)
      largest = pick(total.largest->tile, total.tile.axes, point, total.tile.lanes, depth);
    if (foldsLanes && largest) {
      // Each lane went by a largest of its own.
      Value one = foldLanes(Alu::MAX, largest);
      Value decay = expOfDifference(finite(largest), splat(finite(one), depth));
      sum = alu(Alu::MUL, {sum, decay}, sum.getType(), depth);
      largest = one;
    }
    if (foldsLanes)
      sum = foldLanes(total.reduce.getKind().getValue(), sum);
    if (!largest)
      return;
    // 0, or NaN where the largest is infinite: there no difference to it is a number.
    sum = alu(Alu::ADD, {sum, difference(largest, largest)}, sum.getType(), depth);
  });
  total.tile.lanes &= !foldsLanes;
}

int64_t KernelLowering::partOf(const Reduced &reduced) const {
  if (reduced.items.size() != 1)
    return 1;
  int64_t items = sizeOf(reduced.items.front()), part = 1;
  for (int64_t divisor = 2; divisor * divisor <= items; ++divisor)
    part = items % divisor == 0 ? divisor : part;
  return items < 16 ? 1 : part;
}

int64_t KernelLowering::shuffledItems(llvm::ArrayRef<Total> totals, const Reduced &reduced) const {
  if (reduced.items.size() != 1 || llvm::any_of(totals, [](const Total &total) { return total.tile.lanes; }))
    return 1;
  int64_t items = sizeOf(reduced.items.front());
  auto special = scopes_.front()->variables.lookup(variableOf(reduced.items.front())).getDefiningOp<uop::SpecialOp>();
  if (!special || special.getAxis() != 0)
    return 1;
  int64_t shuffled = std::min<int64_t>(warp_, items & -items);
  return items / shuffled <= kMostWarps ? shuffled : 1;
}

void KernelLowering::shuffle(llvm::MutableArrayRef<Total> totals, int64_t items) {
  for (Total &total : totals)
    for (Value &sum : total.tile.values)
      for (int64_t bit = items / 2; bit > 0; bit /= 2) {
        Value other = uop::ShuffleOp::create(here(), loc_, sum.getType(), sum, builder_.getI64IntegerAttr(bit));
        sum = alu(total.reduce.getKind().getValue(), {sum, other}, sum.getType(), scopes_.size() - 1);
      }
}

void KernelLowering::exchange(llvm::MutableArrayRef<Total> totals, const Reduced &reduced) {
  // Items of a warp put together what they have without memory; of each warp's sum there is one then.
  int64_t shuffled = shuffledItems(totals, reduced);
  shuffle(totals, shuffled);
  if (shuffled > 1 && shuffled == sizeOf(reduced.items.front()))
    return;
  // Memory for every item, and in it for every unrolled point and lane that is left.
  struct Place {
    Value memory;
    Expr index, isFirst; ///< isFirst: of the items that have the same sums
    AxisSet axes;
    int64_t elements;
  };
  SmallVector<Place> places;
  bool again = scopes_.size() > 1; // what the last iteration read must not be overwritten too early
  if (again)
    uop::BarrierOp::create(here(), loc_);
  for (Total &total : totals) {
    AxisSet axes = total.inputAxes;
    axes.reset(reduced.axes);
    SmallVector<int64_t> order;
    SmallVector<Expr> firsts;
    for (kernel::AxisAttr axis : walk().axes)
      if (axis.getKind() == AxisKind::Item) {
        if (axes.test(axis.getId()) || llvm::is_contained(reduced.items, axis.getId()))
          order.push_back(axis.getId());
        else
          firsts.push_back(view::less(kernel::loopVariable(axis), 1));
      }
    order.append(total.tile.axes);
    if (total.tile.lanes)
      order.push_back(walk().lane);
    int64_t elements = 1;
    Expr index = rowMajor(order), isFirst = view::logicalAnd(firsts), isWriter = isFirst;
    if (shuffled > 1) {
      llvm::erase(order, reduced.items.front());
      Expr item = variableOf(reduced.items.front());
      elements = sizeOf(reduced.items.front()) / shuffled;
      index = rowMajor(order) * elements + view::floorDiv(item, shuffled);
      isWriter = view::logicalAnd({isFirst, view::less(view::mod(item, shuffled), 1)});
    }
    for (int64_t size : sizesOf(order))
      elements *= size;
    Value memory = define(total.reduce.getResult().getType(), elements, uop::Memory::Local);
    places.push_back({memory, index, isFirst, axes, elements});
    storeTile(total.tile, memory, {resolve(index), resolve(isWriter)}, axes);
  }
  uop::BarrierOp::create(here(), loc_);
  if (int64_t part = partOf(reduced); part > 1 || shuffled > 1) {
    int64_t axis = reduced.items.front(), rest = sizeOf(axis) / part;
    Expr item = variableOf(axis);
    auto gather = [&](Total &total, const Place &place, int64_t count, llvm::function_ref<Expr(int64_t)> at) {
      SmallVector<Tile> others;
      for (int64_t i = 0; i < count; ++i) {
        llvm::DenseMap<Expr, Expr> position{{item, at(i)}};
        others.push_back(emitMemory(place.memory, {resolve(place.index.substitute(position)), 1}, place.axes,
                                    total.reduce.getResult().getType(), scopes_.size() - 1));
      }
      for (auto [index, sum] : llvm::enumerate(total.tile.values))
        sum = foldPairs(total.reduce.getKind().getValue(),
                        llvm::map_to_vector(others, [&, i = index](const Tile &other) { return other.values[i]; }));
    };
    if (shuffled > 1) {
      for (auto [total, place] : llvm::zip(totals, places))
        gather(total, place, sizeOf(axis) / shuffled, [&](int64_t i) { return Expr(i * shuffled); });
      return;
    }
    // Each item sums up every part-th of what there is, then all items the `part` sums: far less than everything each.
    for (auto [total, place] : llvm::zip(totals, places)) {
      gather(total, place, rest, [&](int64_t i) { return view::mod(item, part) + i * part; });
      place.memory = define(total.reduce.getResult().getType(), place.elements, uop::Memory::Local);
      storeTile(total.tile, place.memory, {resolve(place.index), resolve(place.isFirst)}, place.axes);
    }
    uop::BarrierOp::create(here(), loc_);
    for (auto [total, place] : llvm::zip(totals, places))
      gather(total, place, part, [&](int64_t i) { return Expr(i); });
    return;
  }
  for (auto [total, place] : llvm::zip(totals, places)) {
    std::fill(total.tile.values.begin(), total.tile.values.end(),
              total.tile.lanes ? splat(total.identity, 0) : total.identity);
    SmallVector<uop::RangeOp> ranges;
    for (int64_t axis : reduced.items) {
      ranges.push_back(openLoop(axis, total.tile.values, /*reduce=*/true));
      total.tile.values.assign(ranges.back().getCarried().begin(), ranges.back().getCarried().end());
    }
    size_t depth = scopes_.size() - 1;
    Tile others =
        emitMemory(place.memory, {resolve(place.index), 1}, place.axes, total.reduce.getResult().getType(), depth);
    Alu kind = total.reduce.getKind().getValue();
    for (auto [sum, other] : llvm::zip(total.tile.values, others.values))
      sum = alu(kind, {sum, other}, sum.getType(), depth);
    for (uop::RangeOp range : llvm::reverse(ranges)) {
      closeLoop(total.tile.values);
      total.tile.values.assign(range.getResults().begin(), range.getResults().end());
    }
  }
}

Tile KernelLowering::emitReduce(kernel::ReduceOp first) {
  size_t place = placeOf(axesOf(first));
  SmallVector<kernel::ReduceOp> together = walkedWith(first, place);
  underway_.insert(together.begin(), together.end());
  std::vector<Total> totals;
  inScope(place, [&] {
    Reduced reduced = reducedBy(first);
    std::vector<Largest> scores;
    scores.reserve(together.size()); // totals point to them
    for (kernel::ReduceOp reduce : together) {
      Value identity = constant(graph::reductionIdentity(reduce.getKind().getValue(), reduce.getResult().getType()));
      // Each lane sums up what it has, also of an input that is the same in all of them.
      AxisSet axes = axesOf(reduce.getInput());
      axes |= reduced.lane;
      Total total{reduce, axes, {}, identity};
      if (Value score = reduce.getScore()) {
        AxisSet scoreAxes = axesOf(score);
        scoreAxes |= reduced.lane;
        total.inputAxes |= scoreAxes;
        auto known = llvm::find_if(scores, [&](const Largest &other) { return other.score == score; });
        if (known == scores.end()) {
          Value lowest = constant(graph::reductionIdentity(Alu::MAX, score.getType()));
          scores.push_back({score, filled(scoreAxes, reduced, lowest), {}, {}});
          known = std::prev(scores.end());
        }
        total.largest = &*known;
      }
      total.tile = filled(total.inputAxes, reduced, identity);
      totals.push_back(std::move(total));
    }
    if (first == held_ && !heldLoops_.empty())
      totals.front().tile.values = heldSoFar(first);

    SmallVector<Tile *> tiles;
    for (Largest &largest : scores)
      tiles.push_back(&largest.tile);
    for (Total &total : totals)
      tiles.push_back(&total.tile);
    auto values = [&] {
      SmallVector<Value> carried;
      for (Tile *tile : tiles)
        carried.append(tile->values);
      return carried;
    };
    auto carry = [&](ValueRange from) {
      for (Tile *tile : tiles) {
        llvm::copy(from.take_front(tile->values.size()), tile->values.begin());
        from = from.drop_front(tile->values.size());
      }
    };
    auto takeIn = [&] {
      for (Largest &largest : scores)
        advance(largest, reduced);
      for (Total &total : totals)
        if (auto dot = kernel::dotProductOf(walk()); dot && dot->reduce == total.reduce)
          accumulateDots(total, reduced, *dot);
        else
          accumulate(total, reduced);
    };
    auto open = [&](size_t number, const Steps *part = nullptr) {
      uop::RangeOp range = openLoop(reduced.loops[number], values(), /*reduce=*/true,
                                    ArrayRef(reduced.loops).drop_front(number + 1), part);
      carry(range.getCarried());
      return range;
    };
    auto close = [&](uop::RangeOp range) {
      closeLoop(values());
      carry(range.getResults());
    };
    SmallVector<uop::RangeOp> ranges;
    for (size_t number = 0; number + 1 < reduced.loops.size(); ++number)
      ranges.push_back(open(number));
    if (reduced.loops.empty())
      takeIn();
    else
      for (const Steps &part : stepsOf(reduced.loops.back())) {
        uop::RangeOp range = open(reduced.loops.size() - 1, &part);
        takeIn();
        close(range);
      }
    for (uop::RangeOp range : llvm::reverse(ranges))
      close(range);
    for (Total &total : totals)
      finish(total, reduced);
    if (!reduced.items.empty())
      exchange(totals, reduced);
  });
  for (Total &total : totals) {
    scopes_[place]->tiles[walked(total.reduce)] = total.tile;
    underway_.erase(total.reduce);
  }
  return totals.front().tile;
}

SmallVector<Value> KernelLowering::heldSoFar(kernel::ReduceOp reduce) {
  // None in the first step.
  SmallVector<Expr> steps;
  for (int64_t axis : heldLoops_)
    steps.push_back(variableOf(axis));
  view::Index where = {heldIndex(reduce), view::greaterEqual(view::sum(steps), 1)};
  Type type = reduce.getResult().getType();
  Tile sums = emitMemory(pointers_.at(reduce.getBuffer()), where, axesOf(reduce), type, scopes_.size() - 1);
  // What is not read is 0, which is nothing to a sum alone.
  Alu kind = reduce.getKind().getValue();
  if (kind != Alu::ADD)
    for (Value &sum : sums.values)
      sum = within(where.valid, sum, constant(graph::reductionIdentity(kind, type)));
  return sums.values;
}
