//===- ExchangeTotals.cpp - Sums of the items' partial sums in a group -----------===//
// Items that share a reduce's points each have a part of its total, in a register that no other item sees. Those
// of a warp pass theirs on from register to register; beyond a warp all go through local memory, between barriers.
// The parts of many warps are far more than each item should read: each sums up some first, then all read those
// sums.
//===----------------------------------------------------------------------===//

#include "passes/lower/Totals.h"

#include "mlir/IR/BuiltinAttributes.h"

using namespace kiln;
using namespace kiln::lower;
using namespace mlir;
using kernel::AxisKind;
using view::Expr;

/// A group has few enough warps that each item reads the sums of all.
static constexpr int64_t kMostWarps = 32;

/// Memory for every item, and in it for every unrolled point and lane of the rest.
struct KernelLowering::Exchange {
  Value memory;
  Expr index, isFirst; ///< isFirst: of the items that have the same sums
  AxisSet axes;
  int64_t elements;
};

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
  int64_t shuffled = std::min<int64_t>(target_.warpItems(), items & -items);
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

KernelLowering::Exchange KernelLowering::storeForOthers(Total &total, const Reduced &reduced, int64_t shuffled) {
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
  storeTile(total.tile, memory, {resolve(index), resolve(isWriter)}, axes);
  return {memory, index, isFirst, axes, elements};
}

void KernelLowering::gather(Total &total, const Exchange &place, int64_t axis, int64_t count,
                            llvm::function_ref<Expr(int64_t)> itemAt) {
  SmallVector<Tile> others;
  for (int64_t i = 0; i < count; ++i) {
    llvm::DenseMap<Expr, Expr> position{{variableOf(axis), itemAt(i)}};
    others.push_back(emitMemory(place.memory, {resolve(place.index.substitute(position)), 1}, place.axes,
                                total.reduce.getResult().getType(), scopes_.size() - 1));
  }
  for (auto [index, sum] : llvm::enumerate(total.tile.values))
    sum = foldHalves(total.reduce.getKind().getValue(),
                     llvm::map_to_vector(others, [&, i = index](const Tile &other) { return other.values[i]; }));
}

void KernelLowering::sumUpItems(Total &total, const Exchange &place, ArrayRef<int64_t> items) {
  std::fill(total.tile.values.begin(), total.tile.values.end(),
            total.tile.lanes ? splat(total.identity, 0) : total.identity);
  SmallVector<uop::RangeOp> ranges;
  for (int64_t axis : items) {
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

void KernelLowering::exchange(llvm::MutableArrayRef<Total> totals, const Reduced &reduced) {
  // Items of a warp combine their sums without memory; then there is one sum for each warp.
  int64_t shuffled = shuffledItems(totals, reduced), axis = reduced.items.front();
  shuffle(totals, shuffled);
  if (shuffled > 1 && shuffled == sizeOf(axis))
    return;
  bool again = scopes_.size() > 1; // data that the last iteration read must not be overwritten too early
  if (again)
    uop::BarrierOp::create(here(), loc_);
  SmallVector<Exchange> places;
  for (Total &total : totals)
    places.push_back(storeForOthers(total, reduced, shuffled));
  uop::BarrierOp::create(here(), loc_);
  int64_t part = partOf(reduced);
  if (shuffled > 1) {
    for (auto [total, place] : llvm::zip(totals, places))
      gather(total, place, axis, sizeOf(axis) / shuffled, [&](int64_t i) { return Expr(i * shuffled); });
  } else if (part > 1) {
    // Each item sums up every part-th sum, then all items the `part` results: far less than each summing up everything.
    for (auto [total, place] : llvm::zip(totals, places)) {
      gather(total, place, axis, sizeOf(axis) / part,
             [&](int64_t i) { return view::mod(variableOf(axis), part) + i * part; });
      place.memory = define(total.reduce.getResult().getType(), place.elements, uop::Memory::Local);
      storeTile(total.tile, place.memory, {resolve(place.index), resolve(place.isFirst)}, place.axes);
    }
    uop::BarrierOp::create(here(), loc_);
    for (auto [total, place] : llvm::zip(totals, places))
      gather(total, place, axis, part, [&](int64_t i) { return Expr(i); });
  } else {
    for (auto [total, place] : llvm::zip(totals, places))
      sumUpItems(total, place, reduced.items);
  }
}
