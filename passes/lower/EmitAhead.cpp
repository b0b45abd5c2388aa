//===- EmitAhead.cpp - Requests for what loads read next --------------------------===//
//
// The hardware reads ahead in lines of memory that follow each other. What the next step of a loop reads elsewhere
// comes late, unless it is asked for: an opt has each step of a loop ask for what the next one reads. Each step of the
// loops inside asks for a part of it, one request for each line of memory, so that requests do not pile up.
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

std::optional<KernelLowering::Ahead> KernelLowering::aheadOf(kernel::LoadOp load, size_t depth) {
  // A stage's walk goes on inside the kernel's own.
  SmallVector<kernel::AxisAttr> axes;
  if (!walk().contains(*load.getAhead()))
    axes = walks_.front().axes;
  axes.append(walk().axes);
  const auto *ahead = llvm::find_if(axes, [&](auto axis) { return axis.getId() == int64_t(*load.getAhead()); });
  if (ahead == axes.end())
    return std::nullopt;
  view::ShapeTracker tracker = load.getTracker().getValue();
  Expr index = tracker.at(kernel::positionOf(walk().index, tracker)).index,
       variableAhead = variableOf(*load.getAhead());
  Ahead found;
  found.first = index;
  Expr last = index;
  for (const auto &axis : axes) {
    Expr size = axis.getSize().getValue(), variable = variableOf(axis.getId());
    if (variable.isConst())
      continue;
    bool isInside = &axis > ahead, isLoop = axis.getKind() == AxisKind::Loop;
    if (isInside || isUnrolled(axis.getId()))
      found.first = found.first.substitute({{variable, 0}}), last = last.substitute({{variable, size - 1}});
    if (!isInside || !isLoop || !isBound(axis.getId()) || depthOf(variable) > depth)
      continue;
    if (size.isConst()) {
      found.step = found.step * size + variable;
      found.steps *= size.constant();
    } else {
      found.pass = variable, found.passes = size;
    }
  }
  Expr extent = last - found.first + 1;
  found.distance = found.first.substitute({{variableAhead, variableAhead + 1}}) - found.first;
  if (found.distance.isConst(0) || !extent.isConst())
    return std::nullopt;
  found.extent = extent.constant();
  return found;
}

SmallVector<Expr> KernelLowering::linesAhead(const view::ShapeTracker &tracker, Type element, int64_t ahead) const {
  Expr here = tracker.at(kernel::positionOf(walk().index, tracker)).index;
  auto distanceAlong = [&](int64_t axis) {
    Expr variable = variableOf(axis);
    return here.substitute({{variable, variable + 1}}) - here;
  };
  SmallVector<kernel::AxisAttr> loops;
  llvm::copy_if(walk().axes, std::back_inserter(loops),
                [&](auto axis) { return axis.getKind() == AxisKind::Loop && !variableOf(axis.getId()).isConst(); });
  auto *loop = llvm::find_if(loops, [&](auto axis) { return axis.getId() == ahead; });
  Expr distance = distanceAlong(ahead);
  // The terms of a dot, and matrices, are prefetched in parts.
  if (loop == loops.end() || distance.isConst(0) || kernel::hasFragments(walk()))
    return {};
  // After its last step comes the first one in the next step of the innermost outer loop that moves, and after that
  // one's last step the data that another chunk reads or writes.
  auto isLast = [&](kernel::AxisAttr axis) {
    Expr size = axis.getSize().getValue();
    return size.isConst() ? view::floorDiv(variableOf(axis.getId()) + 1, size) : Expr(0);
  };
  Expr ends = isLast(*loop), jump = 0, endsAll = 0;
  auto outwards = llvm::reverse(llvm::make_range(loops.begin(), loop));
  auto around = llvm::find_if(outwards, [&](auto axis) { return !distanceAlong(axis.getId()).isConst(0); });
  if (around != outwards.end() && distance.isConst())
    if (Expr far = distanceAlong(around->getId()); far.isConst()) {
      jump = far - (loop->getSize().getValue() - 1) * distance;
      endsAll = ends * isLast(*around);
    }
  distance = distance + ends * (jump - distance) - endsAll * jump;
  AxisSet axes = none();
  addVariables(here, axes);
  SmallVector<int64_t> unrolled = unrolledAxes(axes);
  int64_t line = uop::kLineBytes / byteSize(element);
  SmallVector<Expr> lines;
  auto add = [&](Expr next) {
    bool isKnown = llvm::any_of(lines, [&](Expr known) {
      Expr apart = next - known;
      return apart.isConst() && std::abs(apart.constant()) < line;
    });
    if (!isKnown)
      lines.push_back(next);
  };
  forEachPoint(sizesOf(unrolled), [&](ArrayRef<int64_t> point) {
    Expr next = fix(here + distance, unrolled, point);
    if (!hasLanes(axes))
      return add(next);
    for (int64_t lane = 0; lane < lanes(); lane += lanesAreNeighbours(next) ? line : 1)
      add(atLane(next, lane));
  });
  return llvm::map_to_vector(lines, [&](Expr each) { return resolve(each); });
}

void KernelLowering::askFor(Value pointer, ArrayRef<Expr> elements, bool toWrite) {
  for (Expr element : elements)
    uop::PrefetchOp::create(here(), loc_, pointer, index(element), toWrite);
}

void KernelLowering::emitPrefetch(kernel::LoadOp load, size_t depth) {
  constexpr int64_t kMostLines = 4, kMostLinesOfMatrices = 8, kSharers = 8;
  std::optional<Ahead> found = aheadOf(load, depth);
  if (!found)
    return;
  const Ahead &ahead = *found;
  Type element = load.getResult().getType();
  int64_t line = uop::kLineBytes / byteSize(element);
  int64_t most = kernel::hasMatrices(walk()) ? kMostLinesOfMatrices : kMostLines;
  // A window's points are too far apart for steps to share lines: each prefetches what it will read itself.
  if (int64_t part = llvm::divideCeil(llvm::divideCeil(ahead.extent, ahead.steps), line); part > most)
    if (SmallVector<Expr> own = linesAhead(load.getTracker().getValue(), element, *load.getAhead());
        !own.empty() && int64_t(own.size()) <= part) {
      scopes_[depth]->last.push_back(
          [=, this, pointer = pointers_.at(load.getBuffer())] { askFor(pointer, own, /*toWrite=*/false); });
      return;
    }
  // The part of each step if so many passes share the work.
  auto linesOf = [&](int64_t sharers) {
    int64_t part = llvm::divideCeil(ahead.extent, ahead.steps * sharers);
    Expr share = view::mod(ahead.pass, sharers) * (ahead.steps * part);
    SmallVector<Value> lines;
    for (int64_t i = 0; i < std::min<int64_t>(llvm::divideCeil(part, line), most); ++i)
      lines.push_back(index(resolve(ahead.first + ahead.distance + share + ahead.step * part + i * line)));
    return lines;
  };
  SmallVector<Value> all = linesOf(1);
  // LLVM joins a load and its use into one instruction only if no request is between them: so requests go last.
  if (ahead.passes.isConst() || ahead.passes.max() < kSharers || all.size() == 1) {
    scopes_[depth]->last.push_back([=, this, pointer = pointers_.at(load.getBuffer())] {
      for (Value where : all)
        uop::PrefetchOp::create(here(), loc_, pointer, where, /*toWrite=*/false);
    });
    return;
  }
  // The second cache has little time for requests besides the loads from it; but weights that few rows use come as fast
  // as memory gives them.
  scopes_[depth]->last.push_back([=, this, pointer = pointers_.at(load.getBuffer()), shared = linesOf(kSharers),
                                  areFew = condition(resolve(view::less(ahead.passes, kSharers)))] {
    auto branch = uop::IfOp::create(here(), loc_, areFew);
    for (auto [region, lines] : {std::pair(&branch.getThenRegion(), &all), {&branch.getElseRegion(), &shared}}) {
      OpBuilder inside = OpBuilder::atBlockEnd(&region->emplaceBlock());
      for (Value where : *lines)
        uop::PrefetchOp::create(inside, loc_, pointer, where, /*toWrite=*/false);
      uop::YieldOp::create(inside, loc_);
    }
  });
}
