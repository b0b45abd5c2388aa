//===- HostControl.cpp - Control flow of the host program --------------------------------===//
//
// A control-flow op of the graph becomes an scf op around lists of launches. Inside a region every value has memory of
// its own that the region frees; yielded values pass to whoever runs the region, with the sizes that only the region
// knows.
// The difficult part is a loop's stacked result, one element per iteration (a scan output). If its sizes are known
// before the loop there is memory for all of it from the start, and mostly the kernel that computes an element can
// write it there. Otherwise the memory grows as the loop runs, to twice the needed size, so that few iterations copy.
//
//===----------------------------------------------------------------------------------===//

#include "passes/schedule/HostProgram.h"

#include "ir/graph/Source.h"
#include "ir/host/Call.h"
#include "ir/host/Roles.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/AttrTypeSubElements.h"

using namespace kiln;
using namespace kiln::schedule;
using namespace mlir;
using view::Expr;

SmallVector<OwnDim> HostBuilder::ownDims(TypeRange types, const Scope &scope) {
  SmallVector<OwnDim> own;
  for (auto [position, type] : llvm::enumerate(types))
    for (auto [axis, dim] : llvm::enumerate(shapeOf(cast<RankedTensorType>(type))))
      if (dim.kind() == Expr::Kind::Var && !scope.sizes.contains(dim) &&
          llvm::none_of(own, [&](const OwnDim &other) { return other.symbol == dim; }))
        own.push_back({unsigned(position), unsigned(axis), dim});
  return own;
}

void HostBuilder::emitControl(Operation *op, Block &block, Scope &scope) {
  if (auto branch = dyn_cast<graph::IfOp>(op))
    return emitIf(branch, block, scope);
  if (auto loop = dyn_cast<graph::LoopOp>(op))
    return emitLoop(loop, block, scope);
  if (auto call = dyn_cast<graph::CallOp>(op))
    return emitCall(call, block, scope);
  auto bind = cast<graph::BindOp>(op);
  SymbolAttr attr = bind.getSymbol();
  Expr symbol = Expr::variable(attr.getName(), attr.getMin(), attr.getMax());
  if (scope.sizes.contains(symbol))
    return;
  Value value = read(bind.getValue(), block, scope);
  constexpr std::numeric_limits<int64_t> any;
  checkBounds(value, any.min(), any.max(), symbol, "which is data", bind.getLoc());
  scope.sizes[symbol] = value;
}

void HostBuilder::emitCall(graph::CallOp op, Block &block, Scope &scope) {
  if (scope.memory.contains(op.getResult(0)))
    return;
  for (Value operand : op.getOperands())
    memoryOf(edgeOf(operand).base, block, scope);
  SmallVector<Value> buffers, bytes, sizes;
  for (Value result : op.getResults())
    buffers.push_back(allocate(result, block, scope));
  for (Value operand : op.getOperands())
    buffers.push_back(memoryOf(edgeOf(operand).base, block, scope));
  for (Value tensor : llvm::concat<Value>(SmallVector<Value>(op.getResults()), SmallVector<Value>(op.getOperands())))
    bytes.push_back(bytesOf(typeOf(tensor), block, scope));
  for (Expr expr : op.getSizes().getSizes())
    sizes.push_back(size(expr, block, scope));
  auto sources = graph::sourcesOf(op.getLoc());
  StringRef node = sources.empty() ? op.getCallee() : sources.back().node.getValue();
  host::CallOp::create(builder_, loc_, op.getCalleeAttr(), builder_.getI64IntegerAttr(op.getNumResults()), buffers,
                       bytes, sizes, builder_.getStringAttr(node));
}

Scope Scope::insideRegion() const {
  Scope inner = *this;
  inner.region = true;
  inner.owned.clear();
  return inner;
}

Value HostBuilder::copyOf(Value slice, RankedTensorType type, Block &block, Scope &scope) {
  Value bytes = bytesOf(type, block, scope);
  Value copy = host::AllocOp::create(builder_, loc_, slice.getType(), bytes);
  host::CopyOp::create(builder_, loc_, copy, slice, bytes);
  return copy;
}

SmallVector<Value> HostBuilder::yieldMemory(ValueRange values, Block &block, Scope &scope) {
  SmallVector<Value> slices;
  llvm::DenseSet<Value> given;
  for (Value value : values) {
    Value slice = memoryOf(edgeOf(value).base, block, scope);
    if (!scope.owned.contains(slice) || !given.insert(slice).second) {
      // Memory of the surroundings, or yielded twice: a copy of its own.
      slice = copyOf(slice, typeOf(value), block, scope);
      given.insert(slice);
    }
    slices.push_back(slice);
  }
  return slices;
}

void HostBuilder::freeAllBut(ArrayRef<Value> slices, const Scope &scope) {
  for (Value slice : scope.owned)
    if (!llvm::is_contained(slices, slice))
      host::FreeOp::create(builder_, loc_, slice);
}

void HostBuilder::bindSizesOfOthers(Operation *op, Block &block, Scope &scope) {
  auto bind = [&](Expr expr) {
    expr.forEachVariable([&](Expr symbol) {
      auto binder = binder_.find(symbol);
      if (binder != binder_.end() && binder->second != op && !scope.sizes.contains(symbol))
        emitControl(binder->second, block, scope);
    });
  };
  AttrTypeWalker walker;
  walker.addWalk([&](ExprAttr attr) { bind(attr.getValue()); });
  walker.addWalk([&](DimsAttr attr) { llvm::for_each(attr.getSizes(), bind); });
  walker.addWalk([&](TrackerAttr attr) {
    view::ShapeTracker tracker = attr.getValue();
    for (const view::View &view : tracker.views()) {
      llvm::for_each(view.shape(), bind);
      llvm::for_each(view.strides(), bind);
      bind(view.offset());
      if (std::optional<ArrayRef<view::Range>> mask = view.mask())
        for (const view::Range &range : *mask) {
          bind(range.begin);
          bind(range.end);
        }
    }
  });
  op->walk([&](Operation *inner) {
    walker.walk(inner->getAttrDictionary());
    for (Type type : inner->getResultTypes())
      walker.walk(type);
    for (Region &region : inner->getRegions())
      for (Type type : region.getArgumentTypes())
        walker.walk(type);
  });
}

void HostBuilder::emitWhatRegionsRead(Operation *op, Block &block, Scope &scope) {
  bindSizesOfOthers(op, block, scope);
  op->walk([&](Operation *inner) {
    for (Value operand : inner->getOperands()) {
      Value base = edgeOf(operand).base;
      if (base.getParentBlock() == &block && isMemory(base, block))
        memoryOf(base, block, scope);
    }
  });
}

void HostBuilder::emitIf(graph::IfOp op, Block &block, Scope &scope) {
  if (op.getNumResults() && scope.memory.contains(op.getResult(0)))
    return;
  Value from = memoryOf(edgeOf(op.getCondition()).base, block, scope);
  Value condition =
      truth(host::ReadOp::create(builder_, loc_, builder_.getI64Type(), from, TypeAttr::get(builder_.getI1Type())));
  emitWhatRegionsRead(op, block, scope);
  SmallVector<OwnDim> own = ownDims(op.getResultTypes(), scope);
  SmallVector<Type> types(op.getNumResults(), host::SliceType::get(builder_.getContext()));
  types.append(own.size(), builder_.getI64Type());
  auto branch = scf::IfOp::create(builder_, loc_, types, condition, /*addThenBlock=*/true, /*addElseBlock=*/true);
  if (auto sources = graph::sourcesOf(op.getLoc()); !sources.empty())
    branch->setAttr(host::kNodeAttr, sources.back().node);
  for (auto [region, target] : {std::pair(&op.getThenRegion(), &branch.getThenRegion()),
                                std::pair(&op.getElseRegion(), &branch.getElseRegion())}) {
    OpBuilder::InsertionGuard guard(builder_);
    builder_.setInsertionPointToEnd(&target->front());
    Block &body = region->front();
    Scope inner = scope.insideRegion();
    emitBlock(body, inner);
    ValueRange values = cast<graph::YieldOp>(body.getTerminator()).getValues();
    SmallVector<Value> results = yieldMemory(values, body, inner);
    freeAllBut(results, inner);
    for (const OwnDim &dim : own)
      results.push_back(boundedSize(shapeOf(typeOf(values[dim.value]))[dim.axis], dim.symbol, body, inner));
    scf::YieldOp::create(builder_, loc_, results);
  }
  for (auto [result, slice] : llvm::zip(op.getResults(), branch.getResults())) {
    scope.memory[result] = slice;
    if (scope.region)
      scope.owned.insert(slice);
  }
  for (auto [dim, value] : llvm::zip(own, branch.getResults().drop_front(op.getNumResults())))
    scope.sizes[dim.symbol] = value;
}

/// Whether only the host needs a tensor's value.
static bool isReadByHostOnly(Value tensor) {
  return llvm::all_of(tensor.getUsers(), [](Operation *user) {
    return isa<graph::BindOp>(user) || (isa<graph::ViewOp>(user) && isReadByHostOnly(user->getResult(0)));
  });
}

LoopPlan::LoopPlan(graph::LoopOp op, llvm::function_ref<bool(Expr)> isKnown)
    : carried(op.getInits().size()), borrows(carried), scans(op.getNumResults() - carried) {
  Block &body = op.getBody().front();
  ValueRange values = cast<graph::YieldOp>(body.getTerminator()).getValues();
  llvm::DenseSet<Value> placed;
  for (auto [i, scan] : llvm::enumerate(scans)) {
    scan.element = values[1 + carried + i];
    RankedTensorType type = typeOf(op.getResult(carried + i));
    scan.isWhole = llvm::all_of(shapeOf(type), isKnown);
    Edge edge = edgeOf(scan.element);
    SmallVector<size_t> alsoCarried;
    for (size_t k = 0; k < carried; ++k)
      if (edgeOf(values[1 + k]).base == edge.base)
        alsoCarried.push_back(k);
    bool mayBorrow = scan.isWhole &&
                     llvm::none_of(alsoCarried, [&](size_t k) { return isOverwritten(edgeOf(op.getInits()[k]).base); });
    scan.isInPlace = isComputed(edge.base) && isWholeInOrder(edge) && edge.base.getParentBlock() == &body &&
                     llvm::all_of(shapeOf(typeOf(scan.element)), isKnown) && (alsoCarried.empty() || mayBorrow) &&
                     placed.insert(edge.base).second;
    if (scan.isInPlace)
      for (size_t k : alsoCarried)
        borrows.set(k);
  }
}

Value HostBuilder::growScan(Value &memory, Value &room, Value iteration, Value bytes) {
  Type sliceType = host::SliceType::get(builder_.getContext());
  Value used = arith::MulIOp::create(builder_, loc_, iteration, bytes);
  Value needed = arith::AddIOp::create(builder_, loc_, used, bytes);
  Value full = arith::CmpIOp::create(builder_, loc_, arith::CmpIPredicate::sgt, needed, room);
  auto grown = scf::IfOp::create(builder_, loc_, TypeRange{sliceType, builder_.getI64Type()}, full, true, true);
  OpBuilder::InsertionGuard inside(builder_);
  builder_.setInsertionPointToEnd(&grown.getThenRegion().front());
  Value doubled = arith::MulIOp::create(builder_, loc_, needed, number(2));
  Value larger = host::AllocOp::create(builder_, loc_, sliceType, doubled);
  host::CopyOp::create(builder_, loc_, larger, memory, used);
  host::FreeOp::create(builder_, loc_, memory);
  scf::YieldOp::create(builder_, loc_, ValueRange{larger, doubled});
  builder_.setInsertionPointToEnd(&grown.getElseRegion().front());
  scf::YieldOp::create(builder_, loc_, ValueRange{memory, room});
  builder_.setInsertionPointAfter(grown);
  memory = grown.getResult(0);
  room = grown.getResult(1);
  return host::OffsetOp::create(builder_, loc_, sliceType, memory, used);
}

LoopState HostBuilder::startLoop(graph::LoopOp op, Block &block, Scope &scope) {
  Type sliceType = host::SliceType::get(builder_.getContext());
  LoopState state{LoopPlan(op, [&](Expr size) {
    bool isKnown = true;
    size.forEachVariable([&](Expr symbol) { isKnown &= scope.sizes.contains(symbol); });
    return isKnown;
  })};
  state.trips = op.getTrips() ? read(op.getTrips(), block, scope) : number(std::numeric_limits<int64_t>::max());
  Value condition = op.getCondition() ? read(op.getCondition(), block, scope) : number(1);
  Block &body = op.getBody().front();
  state.own = ownDims(TypeRange(body.getArgumentTypes()).drop_front(), scope);
  state.first = {number(0), condition};
  for (auto [i, init] : llvm::enumerate(op.getInits())) {
    Value memory = memoryOf(edgeOf(init).base, block, scope);
    state.first.push_back(state.plan.borrows.test(i) ? memory : copyOf(memory, typeOf(init), block, scope));
  }
  for (const OwnDim &dim : state.own)
    state.first.push_back(boundedSize(shapeOf(typeOf(op.getInits()[dim.value]))[dim.axis], dim.symbol, block, scope));
  if (!isReadByHostOnly(body.getArgument(0)))
    state.iteration = host::AllocOp::create(builder_, loc_, sliceType, number(8));
  for (auto [i, scan] : llvm::enumerate(state.plan.scans)) {
    if (scan.isWhole) {
      RankedTensorType type = typeOf(op.getResult(state.plan.carried + i));
      scan.whole = host::AllocOp::create(builder_, loc_, sliceType, bytesOf(type, block, scope));
      scan.bytes = bytesOf(typeOf(scan.element), block, scope);
      continue;
    }
    scan.state = state.first.size();
    state.first.push_back(host::AllocOp::create(builder_, loc_, sliceType, number(0)));
    state.first.push_back(number(0)); // bytes of room
  }
  return state;
}

void HostBuilder::emitStep(graph::LoopOp op, LoopState &state, ValueRange passed, const Scope &scope) {
  const LoopPlan &plan = state.plan;
  Block &body = op.getBody().front();
  Value count = passed[0];
  ValueRange carried = passed.slice(LoopState::kFirstCarried, plan.carried);
  Scope inner = scope.insideRegion();
  inner.counts[body.getArgument(0)] = count;
  if (state.iteration) {
    host::WriteOp::create(builder_, loc_, state.iteration, TypeAttr::get(builder_.getI64Type()), count);
    inner.memory[body.getArgument(0)] = state.iteration;
  }
  for (auto [i, slice] : llvm::enumerate(carried))
    inner.memory[body.getArgument(i + 1)] = slice;
  for (auto [i, dim] : llvm::enumerate(state.own))
    inner.sizes[dim.symbol] = passed[state.firstOwn() + i];
  SmallVector<Value> next(passed.size());
  auto placeOf = [&](const LoopPlan::Scan &scan) -> Value {
    if (scan.isWhole) {
      Value offset = arith::MulIOp::create(builder_, loc_, count, scan.bytes);
      return host::OffsetOp::create(builder_, loc_, scan.whole.getType(), scan.whole, offset);
    }
    Value bytes = bytesOf(typeOf(scan.element), body, inner);
    next[scan.state] = passed[scan.state];
    next[scan.state + 1] = passed[scan.state + 1];
    return growScan(next[scan.state], next[scan.state + 1], count, bytes);
  };
  for (const LoopPlan::Scan &scan : plan.scans)
    if (scan.isInPlace)
      inner.places[edgeOf(scan.element).base] = placeOf(scan);
  emitBlock(body, inner);

  ValueRange values = cast<graph::YieldOp>(body.getTerminator()).getValues();
  next[1] = read(values[0], body, inner);
  next[0] = arith::AddIOp::create(builder_, loc_, count, number(1));
  SmallVector<Value> owned;
  for (size_t i = 0; i < plan.carried; ++i)
    if (!plan.borrows.test(i))
      owned.push_back(values[1 + i]);
  SmallVector<Value> slices = yieldMemory(owned, body, inner);
  for (size_t i = 0, at = 0; i < plan.carried; ++i)
    next[LoopState::kFirstCarried + i] =
        plan.borrows.test(i) ? memoryOf(edgeOf(values[1 + i]).base, body, inner) : slices[at++];
  for (auto [i, dim] : llvm::enumerate(state.own))
    next[state.firstOwn() + i] = boundedSize(shapeOf(typeOf(values[1 + dim.value]))[dim.axis], dim.symbol, body, inner);
  for (const LoopPlan::Scan &scan : plan.scans) {
    if (scan.isInPlace)
      continue;
    Value place = placeOf(scan), from = memoryOf(edgeOf(scan.element).base, body, inner);
    host::CopyOp::create(builder_, loc_, place, from, bytesOf(typeOf(scan.element), body, inner));
  }
  freeAllBut(slices, inner);
  for (auto [i, slice] : llvm::enumerate(carried))
    if (!plan.borrows.test(i))
      host::FreeOp::create(builder_, loc_, slice);
  scf::YieldOp::create(builder_, loc_, next);
}

void HostBuilder::endLoop(graph::LoopOp op, const LoopState &state, ValueRange given, Block &block, Scope &scope) {
  size_t carried = state.plan.carried;
  // A carried tensor's dims are as they are at the end, a scan output's first dim is the trip count.
  for (const OwnDim &dim : ownDims(op.getResultTypes(), scope)) {
    if (dim.value >= carried) {
      scope.sizes[dim.symbol] = given[0];
      checkBounds(given[0], 0, std::numeric_limits<int64_t>::max(), dim.symbol, "which is how often a loop ran",
                  op.getLoc());
      continue;
    }
    const auto *same = llvm::find_if(
        state.own, [&](const OwnDim &other) { return other.value == dim.value && other.axis == dim.axis; });
    assert(same != state.own.end() && "a result's dim changes only where the body's argument does");
    scope.sizes[dim.symbol] = given[state.firstOwn() + (same - state.own.begin())];
  }
  for (auto [i, result] : llvm::enumerate(op.getResults())) {
    Value slice;
    if (i < carried) {
      slice = given[LoopState::kFirstCarried + i];
    } else {
      const LoopPlan::Scan &scan = state.plan.scans[i - carried];
      slice = scan.isWhole ? scan.whole : given[scan.state];
    }
    // Part of a scan output, which the region frees by itself.
    if (scope.region && i < carried && state.plan.borrows.test(i))
      slice = copyOf(slice, typeOf(result), block, scope);
    scope.memory[result] = slice;
    if (scope.region)
      scope.owned.insert(slice);
  }
}

void HostBuilder::emitLoop(graph::LoopOp op, Block &block, Scope &scope) {
  if (op.getNumResults() && scope.memory.contains(op.getResult(0)))
    return;
  emitWhatRegionsRead(op, block, scope);
  LoopState state = startLoop(op, block, scope);
  SmallVector<Type> types = llvm::map_to_vector(state.first, [](Value value) { return value.getType(); });
  SmallVector<Location> locations(types.size(), loc_);
  auto loop = scf::WhileOp::create(builder_, loc_, types, state.first);
  if (auto sources = graph::sourcesOf(op.getLoc()); !sources.empty())
    loop->setAttr(host::kNodeAttr, sources.back().node);
  {
    OpBuilder::InsertionGuard guard(builder_);
    Block *before = builder_.createBlock(&loop.getBefore(), {}, types, locations);
    Value more = arith::CmpIOp::create(builder_, loc_, arith::CmpIPredicate::slt, before->getArgument(0), state.trips);
    more = arith::AndIOp::create(builder_, loc_, more, truth(before->getArgument(1)));
    scf::ConditionOp::create(builder_, loc_, more, before->getArguments());
    Block *after = builder_.createBlock(&loop.getAfter(), {}, types, locations);
    emitStep(op, state, after->getArguments(), scope);
  }
  if (state.iteration)
    host::FreeOp::create(builder_, loc_, state.iteration);
  endLoop(op, state, loop.getResults(), block, scope);
}
