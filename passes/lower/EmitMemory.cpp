//===- EmitMemory.cpp - Loads and gathers -----------------------------------------===//
//
// A load of a vector may be one access, or as many as there are lanes. It is one if the index of lane l is that of lane
// 0 plus l; the expression decides that, not the view. Lanes that lie near each other, in whatever order, are picked
// out of whole vectors; a row that is data and a larger stride need lanes one by one. One element for all lanes is
// loaded once. A mask that differs by lane is a vector of bools for one access.
//
// Outside a view the value is 0: the view's condition becomes the load's gate, unless a test around has settled it.
//
//===----------------------------------------------------------------------===//

#include "passes/lower/KernelLowering.h"

#include "ir/uop/FarLoads.h"
#include "target/Target.h"

#include "mlir/IR/BuiltinAttributes.h"

using namespace kiln;
using namespace kiln::lower;
using namespace mlir;
using kernel::AxisKind;
using view::Expr;

Expr KernelLowering::placeIn(Value memory, Expr element) {
  kernel::SwizzleAttr swizzle = swizzles_.lookup(memory);
  if (!swizzle)
    return element;
  Expr unit = view::mod(view::floorDiv(element, swizzle.getUnit()), swizzle.getWays()),
       row = view::mod(view::floorDiv(element, swizzle.getRow()), swizzle.getWays());
  if (row.isConst(0))
    return element;
  if (unit.isConst() && row.isConst())
    return element + ((unit.constant() ^ row.constant()) - unit.constant()) * swizzle.getUnit();
  // The unit's new place is a variable of index math, as sums and products of it are what follows.
  Expr moved = Expr::variable("_xor(" + unit.print() + "," + row.print() + ")", 0, swizzle.getWays() - 1);
  size_t depth = std::max(depthOf(unit), depthOf(row));
  if (!scopes_[depth]->variables.contains(moved)) {
    Value a = index(unit), b = index(row);
    scopes_[depth]->variables[moved] = alu(Alu::XOR, {a, b}, indexType_, depth);
  }
  return element + (moved - unit) * swizzle.getUnit();
}

bool KernelLowering::lanesLieTogether(Value memory, Expr index) const {
  if (!lanesAreNeighbours(index))
    return false;
  kernel::SwizzleAttr swizzle = swizzles_.lookup(memory);
  return !swizzle || view::provablyEqual(view::floorDiv(atLane(index, 0), swizzle.getUnit()),
                                         view::floorDiv(atLane(index, lanes() - 1), swizzle.getUnit()));
}

/// So many steps outside a tensor are near it, as those of a window at a picture's border are.
static constexpr int64_t kFewSteps = 16;

bool KernelLowering::mayBeFar(const view::ShapeTracker &tracker) {
  SmallVector<Expr> point;
  for (auto [axis, size] : llvm::enumerate(tracker.shape()))
    point.push_back(Expr::variable("_p" + std::to_string(axis), 0, size - 1));
  Expr valid = tracker.at(point).valid;
  if (valid.isConst())
    return false;
  return llvm::any_of(valid.kind() == Expr::Kind::And ? valid.operands() : ArrayRef(valid), [](Expr term) {
    return term.kind() != Expr::Kind::Less || !view::provablyLess(term.operands()[0], term.operands()[1] + kFewSteps);
  });
}

Value KernelLowering::loadOne(Value pointer, view::Index where, Type result, Value gate, size_t depth, bool isFar) {
  return loadOne(pointer, index(placeIn(pointer, where.index)), result, gate, depth, isFar);
}

Value KernelLowering::loadOne(Value pointer, Value at0, Type result, Value gate, size_t depth, bool isFar) {
  Value otherwise;
  if (gate) {
    otherwise = constant(cast<TypedAttr>(builder_.getZeroAttr(getElementTypeOrSelf(result))));
    if (isa<VectorType>(result))
      otherwise = splat(otherwise, depth, uop::lanesOf(result));
  }
  auto load = uop::LoadOp::create(at(depth), loc_, result, pointer, at0, gate, otherwise);
  if (isFar && gate && isa<VectorType>(gate.getType()))
    load->setAttr(uop::kFarLoad, builder_.getUnitAttr());
  return load;
}

SmallVector<Value> KernelLowering::placesOfLanes(Value pointer, Expr where) {
  SmallVector<Expr> each;
  for (int64_t lane = 0; lane < lanes(); ++lane)
    each.push_back(placeIn(pointer, atLane(where, lane)));
  // A distance that is a number is the displacement of an address. One that a run knows is added lane by lane: each
  // lane's multiple of it would be a value of its own, as many as no CPU has registers for.
  Expr step = each.size() > 2 ? each[1] - each[0] : Expr(0), apart = 0;
  for (size_t lane = 1; lane < each.size() && !step.isConst(); ++lane)
    if (each[lane] - each[lane - 1] != step)
      step = 0;
  if (step.isConst())
    return llvm::map_to_vector(each, [&](Expr one) { return index(one); });
  // The part of a tile that begins later has the places of the whole tile, so much further on.
  Expr later = 0, offset = 0;
  for (Expr term : each[0].kind() == Expr::Kind::Add ? each[0].operands() : ArrayRef(each[0])) {
    if (isOfPart(term))
      later = later + term;
    else if (term.isConst())
      offset = term;
  }
  size_t depth = std::max(depthOf(each[0] - later), depthOf(step));
  SmallVector<Value> places;
  for (size_t lane = 0; lane < each.size(); ++lane) {
    Expr begin = each[lane] - later - offset;
    if (lane > 0 && depthOf(begin) == depth && !scopes_[depth]->indices.contains(begin)) {
      Value before = index(each[lane - 1] - later - offset), distance = index(step);
      scopes_[depth]->indices[begin] = alu(Alu::ADD, {before, distance}, indexType_, depth);
    }
    Value place = index(begin + offset);
    if (!later.isConst(0)) {
      Value further = index(later);
      place = alu(Alu::ADD, {place, further}, indexType_, std::max(depth, depthOf(later)));
    }
    places.push_back(place);
  }
  return places;
}

Value KernelLowering::gateOf(Expr valid, Value inside, size_t depth) {
  if (valid.isConst(1))
    return inside;
  Type boolean = builder_.getI1Type();
  Value gate = condition(valid);
  return inside ? alu(Alu::AND, {gate, inside}, boolean, depth) : gate;
}

SmallVector<int64_t> KernelLowering::placesNear(Expr index) const {
  SmallVector<int64_t> places;
  Expr first = atLane(index, 0);
  for (int64_t lane = 0; lane < lanes(); ++lane) {
    Expr apart = atLane(index, lane) - first;
    if (!apart.isConst())
      return {};
    places.push_back(apart.constant());
  }
  auto [least, most] = std::minmax_element(places.begin(), places.end());
  bool isNear = *most > *least && (*most - *least) <= target::kMostApart * (lanes() - 1);
  return isNear ? places : SmallVector<int64_t>();
}

std::optional<SmallVector<Expr>> KernelLowering::validAtPlaces(Expr term, ArrayRef<int64_t> places, bool isOnlyTerm,
                                                               bool &differ) const {
  SmallVector<Expr> each;
  for (int64_t lane = 0; lane < lanes(); ++lane)
    each.push_back(atLane(term, lane));
  /// Of two lanes that have one place, that which has it if either does; nullopt if that is not known.
  auto weaker = [&](Expr a, Expr b) -> std::optional<Expr> {
    if (a == b)
      return a;
    differ = true;
    if (!isOnlyTerm) // neither lane may have the place if each lacks another term
      return std::nullopt;
    if (a.isConst(1) || b.isConst(0))
      return a;
    if (b.isConst(1) || a.isConst(0))
      return b;
    bool areLess = a.kind() == Expr::Kind::Less && b.kind() == Expr::Kind::Less;
    Expr apart = areLess ? (a.operands()[0] - a.operands()[1]) - (b.operands()[0] - b.operands()[1]) : term;
    if (!apart.isConst())
      return std::nullopt;
    return apart.constant() < 0 ? a : b;
  };
  auto [least, most] = std::minmax_element(places.begin(), places.end());
  SmallVector<Expr> valid;
  for (int64_t place = *least; place <= *most; ++place) {
    std::optional<Expr> own;
    size_t below = 0, above = 0;
    for (auto [lane, other] : llvm::enumerate(places)) {
      if (other == place) {
        own = own ? weaker(*own, each[lane]) : each[lane];
        if (!own)
          return std::nullopt;
      }
      if (other < place && (places[below] > place || other > places[below]))
        below = lane;
      if (other > place && (places[above] < place || other < places[above]))
        above = lane;
    }
    // An element between two lanes exists if both do.
    valid.push_back(own ? *own : view::logicalAnd({each[below], each[above]}));
  }
  return valid;
}

Value KernelLowering::loadNear(Value pointer, view::Index where, ArrayRef<int64_t> places, Type element, size_t depth,
                               Value inside, bool isFar) {
  SmallVector<Expr> terms(where.valid.kind() == Expr::Kind::And ? where.valid.operands() : ArrayRef(where.valid));
  bool isOnlyTerm = llvm::count_if(terms, [&](Expr term) { return dependsOnLane(term); }) == 1;
  llvm::DenseMap<Expr, SmallVector<Expr>> validAt;
  bool differ = false;
  for (Expr term : terms) {
    std::optional<SmallVector<Expr>> valid = validAtPlaces(term, places, isOnlyTerm, differ);
    if (!valid)
      return {};
    validAt[term] = *valid;
  }
  // The last vector ends with the last place: past it there may be no memory.
  auto [least, most] = std::minmax_element(places.begin(), places.end());
  int64_t span = *most - *least + 1, width = std::min(lanes(), int64_t(llvm::bit_floor(uint64_t(span))));
  int64_t count = llvm::divideCeil(span, width);
  auto beginOf = [&](int64_t vector) { return std::min(vector * width, span - width); };
  SmallVector<Value> vectors;
  for (int64_t i = 0; i < count; ++i) {
    Value gate;
    if (dependsOnLane(where.valid)) {
      gate = allConditions(where.valid, depth, inside, [&](Expr term) {
        ArrayRef<Expr> valid = ArrayRef(validAt[term]).slice(beginOf(i), width);
        bool holds = llvm::all_of(valid, [](Expr one) { return one.isConst(1); });
        return holds ? Value() : conditions(valid, depth);
      });
    } else {
      gate = gateOf(where.valid, inside, depth);
    }
    Expr begin = atLane(where.index, 0) + *least + beginOf(i);
    vectors.push_back(loadOne(pointer, {begin, 1}, VectorType::get({width}, element), gate, depth, isFar));
  }
  SmallVector<Value> values;
  for (int64_t place : places) {
    int64_t i = std::min((place - *least) / width, count - 1), lane = place - *least - beginOf(i);
    values.push_back(uop::GepOp::create(at(depth), loc_, element, vectors[i], builder_.getI64IntegerAttr(lane)));
  }
  Value picked = uop::VectorizeOp::create(at(depth), loc_, withLanes(element), values);
  if (!differ)
    return picked;
  // A lane of padding that shares its place with another has read that.
  Value zeros = splat(constant(cast<TypedAttr>(builder_.getZeroAttr(element))), depth);
  return alu(Alu::WHERE, {laneCondition(where.valid, depth, inside), picked, zeros}, picked.getType(), depth);
}

Value KernelLowering::loadLanes(Value pointer, view::Index where, Type element, size_t depth, Value inside,
                                bool isFar) {
  if (lanesLieTogether(pointer, where.index)) {
    Value gate =
        dependsOnLane(where.valid) ? laneCondition(where.valid, depth, inside) : gateOf(where.valid, inside, depth);
    return loadOne(pointer, {atLane(where.index, 0), where.valid}, withLanes(element), gate, depth, isFar);
  }
  if (Value shared = loadShared(pointer, where, element, depth, inside))
    return shared;
  // A device with items has vectors of few lanes, and may want them at addresses that they divide.
  if (!target_.hasGroups() && !element.isInteger(1) && !swizzles_.contains(pointer))
    if (SmallVector<int64_t> places = placesNear(where.index); !places.empty())
      if (Value near = loadNear(pointer, where, places, element, depth, inside, isFar))
        return near;
  SmallVector<Value> values;
  for (auto [lane, place] : llvm::enumerate(placesOfLanes(pointer, where.index)))
    values.push_back(
        loadOne(pointer, place, element, gateOf(atLane(where.valid, lane), inside, depth), depth, /*isFar=*/false));
  return uop::VectorizeOp::create(at(depth), loc_, withLanes(element), values);
}

std::optional<Expr> KernelLowering::holdsAtSomeLane(Expr valid) const {
  // A term that grows from lane to lane holds in the first lanes, one that shrinks in the last ones.
  SmallVector<Expr> all, begins, ends;
  for (Expr term : valid.kind() == Expr::Kind::And ? valid.operands() : ArrayRef(valid)) {
    if (!dependsOnLane(term)) {
      all.push_back(term);
      continue;
    }
    if (term.kind() != Expr::Kind::Less)
      return std::nullopt;
    Expr slack = term.operands()[0] - term.operands()[1], first = atLane(slack, 0), step = atLane(slack, 1) - first;
    if (!step.isConst() || !view::provablyEqual(slack, first + variableOf(walk().lane) * step))
      return std::nullopt;
    if (step.constant() > 0)
      ends.push_back(view::ceilDiv(-first, step));
    else
      begins.push_back(view::floorDiv(first, -step) + 1);
  }
  for (Expr begin : begins) {
    all.push_back(view::less(begin, lanes()));
    for (Expr end : ends)
      all.push_back(view::less(begin, end));
  }
  for (Expr end : ends)
    all.push_back(view::less(0, end));
  return view::logicalAnd(all);
}

Value KernelLowering::loadShared(Value pointer, view::Index where, Type element, size_t depth, Value inside) {
  if (dependsOnLane(where.index) || !dependsOnLane(where.valid))
    return {};
  std::optional<Expr> isRead = holdsAtSomeLane(where.valid);
  if (!isRead)
    return {};
  Value one = loadOne(pointer, {where.index, *isRead}, element, gateOf(*isRead, inside, depth), depth);
  Value zero = splat(constant(cast<TypedAttr>(builder_.getZeroAttr(element))), depth);
  return alu(Alu::WHERE, {laneCondition(where.valid, depth, inside), splat(one, depth), zero}, withLanes(element),
             depth);
}

/// Rows of fewer points are loaded lane by lane.
static constexpr int64_t kFewestInRow = 4;

SmallVector<Value> KernelLowering::loadTurned(Value pointer, ArrayRef<view::Index> points, Type element, size_t depth,
                                              bool isFar) {
  Type row = VectorType::get({int64_t(points.size())}, element);
  SmallVector<Value> rows, vectors;
  for (auto [lane, place] : llvm::enumerate(placesOfLanes(pointer, points.front().index))) {
    auto valid = llvm::map_to_vector(points, [&](const view::Index &point) { return atLane(point.valid, lane); });
    Value gate = llvm::all_equal(valid) ? gateOf(valid.front(), {}, depth) : conditions(valid, depth);
    rows.push_back(loadOne(pointer, place, row, gate, depth, isFar));
  }
  for (int64_t point = 0; point < int64_t(points.size()); ++point) {
    auto lanesOfPoint = llvm::map_to_vector(rows, [&](Value row) -> Value {
      return uop::GepOp::create(at(depth), loc_, element, row, builder_.getI64IntegerAttr(point));
    });
    vectors.push_back(uop::VectorizeOp::create(at(depth), loc_, withLanes(element), lanesOfPoint));
  }
  return vectors;
}

Tile KernelLowering::emitTurned(Value pointer, view::Index where, Tile tile, size_t turned, Type element, size_t depth,
                                bool isFar) {
  SmallVector<int64_t> sizes = sizesOf(tile.axes);
  int64_t points = sizes[turned], run = 0;
  tile.values.resize(llvm::product_of(sizes));
  sizes[turned] = 1; // its points are loaded together
  forEachPoint(sizes, [&](ArrayRef<int64_t> first) {
    SmallVector<int64_t> next(first);
    // Powers of two are turned at once.
    for (int64_t begin = 0; begin < points; begin += run) {
      run = int64_t(llvm::bit_floor(uint64_t(points - begin)));
      run = run < kFewestInRow ? 1 : run;
      SmallVector<view::Index> together;
      for (next[turned] = begin; next[turned] < begin + run; ++next[turned]) {
        together.push_back(fix(where, tile.axes, next));
        together.back().valid = insideDomain(together.back().valid, tile.axes, next);
      }
      SmallVector<Value> vectors = run == 1 ? SmallVector<Value>{loadLanes(pointer, together[0], element, depth)}
                                            : loadTurned(pointer, together, element, depth, isFar);
      next[turned] = begin;
      for (Value vector : vectors) {
        tile.values[positionIn(tile, tile.axes, next)] = vector;
        ++next[turned];
      }
    }
  });
  return tile;
}

Tile KernelLowering::emitMemory(Value pointer, view::Index where, const AxisSet &axes, Type element, size_t depth,
                                bool isFar) {
  Tile tile{unrolledAxes(axes), {}, hasLanes(axes)};
  // Neighbours of a stage whose elements are swizzled among banks are not neighbours in memory. Lanes near each other
  // are picked out of whole vectors.
  bool mayTurn = tile.lanes && dependsOnLane(where.index) && !element.isInteger(1) && !swizzles_.contains(pointer);
  if (std::optional<size_t> turned = mayTurn ? turnedAxis(where.index, tile.axes) : std::nullopt;
      turned && sizeOf(tile.axes[*turned]) >= kFewestInRow && placesNear(where.index).empty())
    return emitTurned(pointer, where, std::move(tile), *turned, element, depth, isFar);
  forEachPoint(sizesOf(tile.axes), [&](ArrayRef<int64_t> point) {
    view::Index one = fix(where, tile.axes, point);
    one.valid = insideDomain(one.valid, tile.axes, point);
    if (tile.lanes)
      return tile.values.push_back(loadLanes(pointer, one, element, depth, /*inside=*/{}, isFar));
    tile.values.push_back(loadOne(pointer, one, element, gateOf(one.valid, {}, depth), depth));
  });
  return tile;
}

Tile KernelLowering::emitLoad(kernel::LoadOp load) {
  if (load.getRow())
    return emitGather(load);
  const AxisSet &axes = axesOf(load);
  if (load.getAhead())
    emitPrefetch(load, placeOf(axes));
  view::ShapeTracker tracker = load.getTracker().getValue();
  return emitMemory(pointers_.at(load.getBuffer()), indexAt(tracker), axes, load.getResult().getType(), placeOf(axes),
                    mayBeFar(tracker));
}

Value KernelLowering::loadTerms(Value pointer, view::Index where, Type element, bool ofLanes, int64_t terms,
                                size_t depth) {
  int64_t side = sizeOf(terms), vectors = ofLanes ? lanes() : 1;
  view::Index first = fix(where, terms, 0);
  Type type = VectorType::get({vectors * side}, element);
  if (first.valid.isConst(1))
    return loadOne(pointer, {ofLanes ? atLane(first.index, 0) : first.index, 1}, type, /*gate=*/{}, depth);
  Type boolean = builder_.getI1Type();
  Value gate;
  if (ofLanes && dependsOnLane(first.valid)) {
    SmallVector<Value> each;
    for (int64_t lane = 0; lane < vectors; ++lane)
      each.append(side, condition(atLane(first.valid, lane)));
    gate = uop::VectorizeOp::create(at(depth), loc_, VectorType::get({vectors * side}, boolean), each);
  } else {
    gate = condition(first.valid);
  }
  Value zero = constant(cast<TypedAttr>(builder_.getZeroAttr(element)));
  Value otherwise = uop::VectorizeOp::create(at(depth), loc_, type, zero);
  Value where0 = index(ofLanes ? atLane(first.index, 0) : first.index);
  return uop::LoadOp::create(at(depth), loc_, type, pointer, where0, gate, otherwise);
}

Tile KernelLowering::emitTerms(Value operand, int64_t terms) {
  if (Value read = kernel::readOperand(operand); read != operand) {
    Tile tile = emitTerms(read, terms);
    size_t depth = placeOf(axesOf(read));
    for (Value &value : tile.values)
      value =
          alu(Alu::CAST, value, VectorType::get({int64_t(uop::lanesOf(value.getType()))}, operand.getType()), depth);
    return tile;
  }
  const AxisSet &axes = axesOf(operand);
  if (auto op = operand.getDefiningOp<kernel::AluOp>()) {
    Tile tile{unrolledAxes(axes), {}, hasLanes(axes)};
    int64_t count = sizeOf(terms) * (tile.lanes ? lanes() : 1);
    size_t depth = placeOf(axes);
    auto parts = llvm::map_to_vector(
        op->getOperands(), [&](Value part) { return axesOf(part).test(terms) ? emitTerms(part, terms) : emit(part); });
    forEachPoint(sizesOf(tile.axes), [&](ArrayRef<int64_t> point) {
      SmallVector<Value> values;
      for (const Tile &part : parts) {
        Value value = part.values[positionIn(part, tile.axes, point)];
        values.push_back(isa<VectorType>(value.getType()) ? value : splat(value, depth, count));
      }
      tile.values.push_back(
          alu(op.getKind().getValue(), values, VectorType::get({count}, op.getResult().getType()), depth));
    });
    return tile;
  }
  Value pointer;
  view::Index where;
  if (auto stage = operand.getDefiningOp<kernel::StageOp>()) {
    fillStages(stageDepth(stage), stage);
    pointer = stageMemory(stage);
    where = {resolve(stageIndex(stage)), 1};
  } else {
    auto load = operand.getDefiningOp<kernel::LoadOp>();
    if (load.getAhead())
      emitPrefetch(load, placeOf(axes));
    pointer = pointers_.at(load.getBuffer());
    where = indexAt(load.getTracker().getValue());
  }
  size_t depth = placeOf(axes);
  Tile tile{unrolledAxes(axes), {}, hasLanes(axes)};
  forEachPoint(sizesOf(tile.axes), [&](ArrayRef<int64_t> point) {
    tile.values.push_back(
        loadTerms(pointer, fix(where, tile.axes, point), operand.getType(), tile.lanes, terms, depth));
  });
  return tile;
}

KernelLowering::Rows KernelLowering::rowsOf(const Tile &given, Expr size, bool isInBounds, size_t depth) {
  auto known = cast<IntegerType>(getElementTypeOrSelf(given.values.front().getType()));
  bool isSigned = !known.isUnsignedInteger() && known.getWidth() > 1;
  unsigned width = std::max(known.getWidth(), indexType_.getIntOrFloatBitWidth());
  Type wide = builder_.getIntegerType(width), natural = builder_.getIntegerType(width, /*isSigned=*/false);
  auto typed = [&](Type type) { return given.lanes ? withLanes(type) : type; };
  auto cast = [&](Value value, Type type) {
    return getElementTypeOrSelf(value) == type ? value : alu(Alu::CAST, value, typed(type), depth);
  };
  auto number = [&](Expr expr, Type type) {
    Value value = expr.isConst() ? constant(type, expr.constant()) : index(expr);
    if (value.getType() != type)
      value = alu(Alu::CAST, value, type, depthOf(expr));
    return given.lanes ? splat(value, depth) : value;
  };
  Rows rows;
  for (Value row : given.values) {
    if (isSigned && !isInBounds) {
      row = cast(row, wide);
      Value isNegative = alu(Alu::CMPLT, {row, number(0, wide)}, typed(builder_.getI1Type()), depth);
      Value fromEnd = alu(Alu::ADD, {row, number(size, wide)}, row.getType(), depth);
      row = alu(Alu::WHERE, {isNegative, fromEnd, row}, row.getType(), depth);
    }
    // As an unsigned number, a negative one is past the end too.
    if (!isInBounds)
      rows.inside.push_back(
          alu(Alu::CMPLT, {cast(row, natural), number(size, natural)}, typed(builder_.getI1Type()), depth));
    row = cast(row, indexType_);
    if (!isInBounds && given.lanes)
      row = alu(Alu::WHERE, {rows.inside.back(), row, number(0, indexType_)}, row.getType(), depth);
    for (int64_t lane = 0; lane < (given.lanes ? lanes() : 1); ++lane) {
      rows.variables.push_back(kernel::rowVariable(size, nextRow_++));
      scopes_[depth]->variables[rows.variables.back()] =
          given.lanes
              ? uop::GepOp::create(at(depth), loc_, indexType_, row, builder_.getI64IntegerAttr(lane)).getResult()
              : row;
    }
  }
  return rows;
}

Tile KernelLowering::emitGather(kernel::LoadOp load) {
  const AxisSet axes = axesOf(load);
  size_t depth = placeOf(axes), rowDepth = placeOf(axesOf(load.getRow()));
  Tile given = emit(load.getRow());
  view::ShapeTracker tracker = load.getTracker().getValue();
  Expr size = tracker.shape().back();
  Rows rows = rowsOf(given, size, load.getInBounds(), rowDepth);
  view::Index where = indexAt(tracker, axes);
  Value pointer = pointers_.at(load.getBuffer());
  Type element = load.getResult().getType();
  auto choose = [&](view::Index from, Expr row) {
    llvm::DenseMap<Expr, Expr> values{{kernel::rowVariable(size), row}};
    return view::Index{from.index.substitute(values), from.valid.substitute(values)};
  };
  Tile tile{unrolledAxes(axes), {}, hasLanes(axes)};
  forEachPoint(sizesOf(tile.axes), [&](ArrayRef<int64_t> point) {
    view::Index one = fix(where, tile.axes, point);
    size_t at = positionIn(given, tile.axes, point);
    ArrayRef<Expr> chosen = ArrayRef(rows.variables).slice(at * (rows.variables.size() / given.values.size()));
    Value inside = rows.inside.empty() ? Value() : rows.inside[at];
    if (tile.lanes && !given.lanes)
      return tile.values.push_back(loadLanes(pointer, choose(one, chosen[0]), element, depth, inside));
    if (!tile.lanes) {
      view::Index place = choose(one, chosen[0]);
      return tile.values.push_back(loadOne(pointer, place, element, gateOf(place.valid, inside, depth), depth));
    }
    SmallVector<Value> values;
    for (int64_t lane = 0; lane < lanes(); ++lane) {
      view::Index place = choose(one, chosen[lane]);
      Expr valid = atLane(place.valid, lane);
      if (inside) // then a lane may be without a row, and there may be no row at all
        valid = view::logicalAnd({valid, view::less(0, size)});
      values.push_back(loadOne(pointer, {atLane(place.index, lane), valid}, element, gateOf(valid, {}, depth), depth));
    }
    Type type = withLanes(element);
    Value vector = uop::VectorizeOp::create(this->at(depth), loc_, type, values);
    if (inside) {
      Value zero = splat(constant(cast<TypedAttr>(builder_.getZeroAttr(element))), depth);
      vector = alu(Alu::WHERE, {inside, vector, zero}, type, depth);
    }
    tile.values.push_back(vector);
  });
  return tile;
}

Tile KernelLowering::emitValid(kernel::ValidOp op) {
  const AxisSet &axes = axesOf(op);
  size_t depth = placeOf(axes);
  // Past the end of the domain it may be either.
  Expr valid = view::simplifyUnder(resolve(indexInside(op.getTracker().getValue()).valid), resolve(knownOf(axes)));
  Tile tile{unrolledAxes(axes), {}, hasLanes(axes)};
  forEachPoint(sizesOf(tile.axes), [&](ArrayRef<int64_t> point) {
    Expr one = insideDomain(fix(valid, tile.axes, point), tile.axes, point);
    if (tile.lanes)
      return tile.values.push_back(laneCondition(one, depth));
    tile.values.push_back(one.isConst() ? constant(builder_.getI1Type(), one.constant()) : index(one));
  });
  return tile;
}

Tile KernelLowering::emitIndex(kernel::IndexOp op) {
  const AxisSet axes = axesOf(op);
  size_t depth = placeOf(axes);
  Type element = op.getResult().getType();
  Expr number = indexAt(op.getTracker().getValue()).index;
  bool isInteger = isa<IntegerType>(element);
  Tile tile{unrolledAxes(axes), {}, hasLanes(axes)};
  auto valueOf = [&](Expr one) {
    if (one.isConst() && isInteger)
      return constant(
          builder_.getIntegerAttr(element, APInt(element.getIntOrFloatBitWidth(), one.constant(), false, true)));
    Value value = one.isConst() ? constant(indexType_, one.constant()) : index(one);
    return element == indexType_ ? value : alu(Alu::CAST, value, element, depth);
  };
  forEachPoint(sizesOf(tile.axes), [&](ArrayRef<int64_t> point) {
    Expr one = fix(number, tile.axes, point);
    if (!tile.lanes)
      return tile.values.push_back(valueOf(one));
    // The first of neighbours, plus 0, 1, 2, …: floats would round the sum.
    bool steps = isInteger && lanesAreNeighbours(one);
    SmallVector<Value> values;
    for (int64_t lane = 0; lane < lanes(); ++lane)
      values.push_back(valueOf(steps ? Expr(lane) : atLane(one, lane)));
    Value vector = uop::VectorizeOp::create(at(depth), loc_, withLanes(element), values);
    if (Expr first = atLane(one, 0); steps && !first.isConst(0))
      vector = alu(Alu::ADD, {splat(valueOf(first), depth), vector}, vector.getType(), depth);
    tile.values.push_back(vector);
  });
  return tile;
}
