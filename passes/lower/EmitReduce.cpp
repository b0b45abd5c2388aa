//===- EmitReduce.cpp - Loops that reduce --------------------------------------===//
// Reduces over the same axes that do not need each other share their loops: shared operands are read once.
//
// A scored sum knows the largest score only at the end of its loops, so it goes by the largest so far: where a larger
// one comes, what was summed is scaled down to it (Milakov and Gimelshein, Online normalizer calculation for softmax,
// 2018).
//===----------------------------------------------------------------------===//

#include "passes/lower/Totals.h"

#include "passes/lower/RewriteSets.h"

#include "ir/graph/Graph.h"

#include "mlir/IR/BuiltinAttributes.h"

using namespace kiln;
using namespace kiln::lower;
using namespace mlir;
using kernel::AxisKind;
using view::Expr;

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
    // The sum around this is not complete yet.
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
  // A guard about an axis that the input no longer depends on was settled by a reduce further in.
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

/// Exponents are relative to a finite number, so that rows that begin with -inf, as masked ones do, do not give NaN.
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
  ProductAttr instruction = target_.dotProduct(product.a.getType(), product.b.getType(), total.identity.getType());
  bool vanishes = vanishesOutside(product.a, reduced.axes) && vanishesOutside(product.b, reduced.axes);
  // The domain does not end between terms (kernel::faultOfProducts).
  Expr guard = vanishes ? Expr(1) : fix(guardOver(reduced, total.inputAxes), product.terms, 0);
  Tile a = emitTerms(product.a, product.terms), b = emitTerms(product.b, product.terms);
  if (instruction.getA() != product.a.getType())
    std::swap(a, b);
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

Value KernelLowering::foldHalves(Alu kind, SmallVector<Value> values) {
  size_t depth = scopes_.size() - 1;
  // The rounding error grows with the logarithm.
  while (values.size() > 1) {
    size_t half = llvm::divideCeil(values.size(), 2);
    for (size_t i = half; i < values.size(); ++i)
      values[i - half] = alu(kind, {values[i - half], values[i]}, values[i].getType(), depth);
    values.truncate(half);
  }
  return values.front();
}

Value KernelLowering::foldLanes(Alu kind, Value vector) {
  Type element = getElementTypeOrSelf(vector.getType());
  size_t depth = scopes_.size() - 1;
  auto from = [&](int64_t lane, Type type) -> Value { return uop::GepOp::create(here(), loc_, type, vector, lane); };
  // LLVM (22.1) takes halves of products of bytes that are added for an instruction that adds all lanes, and drops
  // some: of integers, parts are added one after the other.
  if (constexpr int64_t kPart = 4; isa<IntegerType>(element) && lanes() > kPart && lanes() % kPart == 0) {
    Type type = VectorType::get(kPart, element);
    Value sum = from(0, type);
    for (int64_t first = kPart; first < lanes(); first += kPart)
      sum = alu(kind, {sum, from(first, type)}, type, depth);
    vector = sum;
  }
  // The same sums in the same order as lane by lane, in whole registers as long as there are any.
  for (int64_t half = uop::lanesOf(vector.getType()); half % 2 == 0 && half > 2;) {
    half /= 2;
    Type type = VectorType::get(half, element);
    vector = alu(kind, {from(0, type), from(half, type)}, type, depth);
  }
  auto rest = llvm::seq<int64_t>(uop::lanesOf(vector.getType()));
  return foldHalves(kind, llvm::map_to_vector(rest, [&](int64_t lane) { return from(lane, element); }));
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
      // Each lane used a largest score of its own.
      Value one = foldLanes(Alu::MAX, largest);
      Value decay = expOfDifference(finite(largest), splat(finite(one), depth));
      sum = alu(Alu::MUL, {sum, decay}, sum.getType(), depth);
      largest = one;
    }
    if (foldsLanes)
      sum = foldLanes(total.reduce.getKind().getValue(), sum);
    if (!largest)
      return;
    // 0, or NaN if the largest is infinite: then no difference to it is a number.
    sum = alu(Alu::ADD, {sum, difference(largest, largest)}, sum.getType(), depth);
  });
  total.tile.lanes &= !foldsLanes;
}

std::vector<KernelLowering::Total> KernelLowering::startTotals(ArrayRef<kernel::ReduceOp> together,
                                                               const Reduced &reduced, std::vector<Largest> &scores) {
  std::vector<Total> totals;
  scores.reserve(together.size()); // totals point to them
  for (kernel::ReduceOp reduce : together) {
    Value identity = constant(graph::reductionIdentity(reduce.getKind().getValue(), reduce.getResult().getType()));
    // Each lane sums up its own part, even if the input is the same in all of them.
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
  return totals;
}

namespace {
/// Tiles whose values loops carry from one step to the next.
struct Carried {
  SmallVector<Tile *> tiles;

  SmallVector<Value> values() const {
    SmallVector<Value> all;
    for (const Tile *tile : tiles)
      all.append(tile->values);
    return all;
  }
  void set(ValueRange values) {
    for (Tile *tile : tiles) {
      llvm::copy(values.take_front(tile->values.size()), tile->values.begin());
      values = values.drop_front(tile->values.size());
    }
  }
};
} // namespace

void KernelLowering::takeIn(llvm::MutableArrayRef<Largest> scores, llvm::MutableArrayRef<Total> totals,
                            const Reduced &reduced) {
  for (Largest &largest : scores)
    advance(largest, reduced);
  for (Total &total : totals)
    if (auto dot = kernel::dotProductOf(walk()); dot && dot->reduce == total.reduce)
      accumulateDots(total, reduced, *dot);
    else
      accumulate(total, reduced);
}

std::optional<int64_t> KernelLowering::pointsOneByOne(const Steps &part, const Steps &inside, const Reduced &reduced) {
  // Masks of a step whose points are known are known, too.
  if (&part == &inside || part.begin.isConst() || inside.guards.size() != 1 || kernel::hasFragments(walk()))
    return std::nullopt;
  AxisSet about = none();
  addVariables(inside.guards.front(), about);
  std::optional<int64_t> points;
  for (unsigned axis : about.set_bits())
    if (isUnrolled(axis)) {
      if (points || !llvm::is_contained(reduced.unrolled, axis))
        return std::nullopt;
      points = axis;
    }
  if (!points)
    return std::nullopt;
  int64_t loop = reduced.loops.back();
  for (auto [index, size] : llvm::zip(walk().index, func_.getDomain().getSizes()))
    if (view::less(index, size) == inside.guards.front() &&
        view::provablyEqual(index - fix(index, *points, 0), variableOf(*points)) &&
        view::provablyEqual(index - fix(index, loop, 0), variableOf(loop) * sizeOf(*points)))
      return points;
  return std::nullopt;
}

void KernelLowering::takeInAll(llvm::MutableArrayRef<Largest> scores, llvm::MutableArrayRef<Total> totals,
                               const Reduced &reduced) {
  if (reduced.loops.empty())
    return takeIn(scores, totals, reduced);
  Carried carried;
  for (Largest &largest : scores)
    carried.tiles.push_back(&largest.tile);
  for (Total &total : totals)
    carried.tiles.push_back(&total.tile);
  auto open = [&](size_t number, const Steps *part = nullptr) {
    uop::RangeOp range = openLoop(reduced.loops[number], carried.values(), /*reduce=*/true,
                                  ArrayRef(reduced.loops).drop_front(number + 1), part);
    carried.set(range.getCarried());
    return range;
  };
  auto close = [&](uop::RangeOp range) {
    closeLoop(carried.values());
    carried.set(range.getResults());
  };
  SmallVector<uop::RangeOp> ranges;
  for (size_t number = 0; number + 1 < reduced.loops.size(); ++number)
    ranges.push_back(open(number));
  auto parts = stepsOf(reduced.loops.back());
  for (const Steps &part : parts) {
    if (std::optional<int64_t> points = pointsOneByOne(part, parts.front(), reduced)) {
      Reduced single = reduced;
      llvm::erase(single.unrolled, *points);
      uop::RangeOp range = openPoints(*points, reduced.loops.back(), part, parts.front(), carried.values());
      carried.set(range.getCarried());
      takeIn(scores, totals, single);
      close(range);
      continue;
    }
    uop::RangeOp range = open(reduced.loops.size() - 1, &part);
    takeIn(scores, totals, reduced);
    close(range);
  }
  for (uop::RangeOp range : llvm::reverse(ranges))
    close(range);
}

Tile KernelLowering::emitReduce(kernel::ReduceOp first) {
  size_t place = placeOf(axesOf(first));
  SmallVector<kernel::ReduceOp> together = walkedWith(first, place);
  underway_.insert(together.begin(), together.end());
  std::vector<Total> totals;
  inScope(place, [&] {
    Reduced reduced = reducedBy(first);
    std::vector<Largest> scores;
    totals = startTotals(together, reduced, scores);
    if (first == held_ && !heldLoops_.empty())
      totals.front().tile.values = heldSoFar(first);
    takeInAll(scores, totals, reduced);
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
  // Elements that are not read are 0, which changes nothing in a sum only.
  Alu kind = reduce.getKind().getValue();
  if (kind != Alu::ADD)
    for (Value &sum : sums.values)
      sum = within(where.valid, sum, constant(graph::reductionIdentity(kind, type)));
  return sums.values;
}
