//===- EmitValues.cpp - Each kernel value as the uops of its points ----------------===//
//
// A kernel value is one uop per unrolled point that it depends on, a Tile. Its operands may depend on fewer axes than
// it does: then one uop of theirs serves many of its own, and a scalar is spread over the lanes if a vector is wanted.
// Each value is written once per scope in which it is needed, in the outermost one that binds its axes.
//
// A stage's memory is filled before the first of its readers loads from it, with the stage's walk as the current one.
//
//===----------------------------------------------------------------------===//

#include "passes/lower/KernelLowering.h"

#include "ir/graph/Graph.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/SaveAndRestore.h"

using namespace kiln;
using namespace kiln::lower;
using namespace mlir;
using kernel::AxisKind;
using view::Expr;

void lower::forEachPoint(ArrayRef<int64_t> sizes, llvm::function_ref<void(ArrayRef<int64_t>)> visit) {
  SmallVector<int64_t> point(sizes.size());
  while (true) {
    visit(point);
    int64_t axis = int64_t(sizes.size()) - 1;
    while (axis >= 0 && ++point[axis] == sizes[axis])
      point[axis--] = 0;
    if (axis < 0)
      return;
  }
}

Type KernelLowering::withLanes(Type element) const { return VectorType::get({lanes()}, element); }

Value KernelLowering::alu(Alu kind, ValueRange operands, Type result, size_t depth) {
  // Only a NaN differs from itself; C compilers warn of the comparison.
  bool compares = kind == Alu::CMPLT || kind == Alu::CMPNE || kind == Alu::CMPEQ;
  if (compares && operands[0] == operands[1] && !isa<FloatType>(getElementTypeOrSelf(operands[0]))) {
    Value same = constant(builder_.getI1Type(), kind == Alu::CMPEQ);
    return isa<VectorType>(result) ? splat(same, depth) : same;
  }
  return uop::AluOp::create(at(depth), loc_, result, AluKindAttr::get(builder_.getContext(), kind), operands);
}

Value KernelLowering::splat(Value scalar, size_t depth, int64_t lanes) {
  // Constants are filled once, at the top; other scalars where they are used.
  size_t where = scalar.getDefiningOp<uop::ConstOp>() ? 0 : depth;
  Value &known = scopes_[where]->splats[{scalar, lanes}];
  if (!known)
    known = uop::VectorizeOp::create(at(where), loc_, VectorType::get({lanes}, scalar.getType()), scalar);
  return known;
}

size_t KernelLowering::positionIn(const Tile &tile, ArrayRef<int64_t> axes, ArrayRef<int64_t> point) const {
  size_t position = 0;
  for (int64_t axis : tile.axes)
    position = position * sizeOf(axis) + point[llvm::find(axes, axis) - axes.begin()];
  return position;
}

Value KernelLowering::pick(const Tile &tile, ArrayRef<int64_t> axes, ArrayRef<int64_t> point, bool lanes,
                           size_t depth) {
  Value value = tile.values[positionIn(tile, axes, point)];
  return lanes && !tile.lanes ? splat(value, depth) : value;
}

Tile KernelLowering::emit(Value value) {
  size_t depth = placeOf(axesOf(value));
  if (auto known = scopes_[depth]->tiles.find(walked(value)); known != scopes_[depth]->tiles.end())
    return known->second;
  Tile tile = llvm::TypeSwitch<Operation *, Tile>(value.getDefiningOp())
                  .Case([&](kernel::ConstOp op) { return Tile{{}, {constant(op.getValue())}}; })
                  .Case([&](kernel::SizeOp op) {
                    Value size = index(op.getSize().getValue());
                    Type type = op.getResult().getType();
                    return Tile{{}, {type == indexType_ ? size : alu(Alu::CAST, size, type, depth)}};
                  })
                  .Case([&](kernel::AluOp op) { return emitAlu(op); })
                  .Case([&](kernel::LoadOp op) { return emitLoad(op); })
                  .Case([&](kernel::ValidOp op) { return emitValid(op); })
                  .Case([&](kernel::IndexOp op) { return emitIndex(op); })
                  .Case([&](kernel::ReduceOp op) { return emitReduce(op); })
                  .Case([&](kernel::StageOp op) { return emitStage(op); });
  scopes_[depth]->tiles[walked(value)] = tile;
  return tile;
}

Tile KernelLowering::emitAlu(kernel::AluOp op) {
  if (std::optional<ChosenLoad> chosen = chosenLoad(op))
    return emitChosenLoad(op, *chosen);
  const AxisSet &axes = axesOf(op);
  size_t depth = placeOf(axes);
  SmallVector<Tile> operands;
  for (Value operand : op->getOperands())
    operands.push_back(emit(operand));
  Tile tile{unrolledAxes(axes), {}, hasLanes(axes)};
  Type element = op.getResult().getType(), type = tile.lanes ? withLanes(element) : element;
  forEachPoint(sizesOf(tile.axes), [&](ArrayRef<int64_t> point) {
    SmallVector<Value> values;
    for (const Tile &operand : operands)
      values.push_back(pick(operand, tile.axes, point, tile.lanes, depth));
    tile.values.push_back(alu(op.getKind().getValue(), values, type, depth));
  });
  return tile;
}

//===----------------------------------------------------------------------===//
// Stages
//===----------------------------------------------------------------------===//

bool KernelLowering::isLocal(kernel::StageOp stage) { return !stage.getBuffer() && hasItems(); }

Value KernelLowering::define(Type element, int64_t elements, uop::Memory space) {
  std::string name = (space == uop::Memory::Local ? "smem" : "tile") + std::to_string(memories_++);
  OpBuilder::InsertionGuard guard(builder_);
  builder_.setInsertionPointToStart(&out_.getBody().front());
  Type type = uop::PtrType::get(builder_.getContext(), element, space);
  return uop::DefineOp::create(builder_, loc_, type, builder_.getStringAttr(name),
                               builder_.getI64IntegerAttr(elements));
}

Value KernelLowering::stageMemory(kernel::StageOp stage) {
  Value &memory = stageMemory_[stage];
  if (memory)
    return memory;
  memory = stage.getBuffer() ? pointers_.at(stage.getBuffer())
                             : define(stage.getResult().getType(), stage.getElements().constant(),
                                      isLocal(stage) ? uop::Memory::Local : uop::Memory::Register);
  if (stage.getSwizzle())
    swizzles_[memory] = *stage.getSwizzle();
  return memory;
}

bool KernelLowering::vanishesOutside(Value value, const AxisSet &over) {
  Operation *op = value.getDefiningOp();
  // The reads are gated by every guard on an axis that they go along, and by no other.
  AxisSet read = axesOf(value);
  bool isGated = read.anyCommon(over) && llvm::all_of(walk().guards, [&](Expr guard) {
                   AxisSet about = none();
                   addVariables(guard, about);
                   return !about.anyCommon(over) || about.anyCommon(read);
                 });
  if (isa<kernel::LoadOp>(op))
    return isGated;
  if (auto stage = dyn_cast<kernel::StageOp>(op); stage && isGated) {
    // The same axes of the domain, as the stage walks them.
    auto filler = llvm::find_if(walks_, [&](const LoweredWalk &other) { return other.stage == stage; });
    AxisSet filled = none();
    for (auto [index, own] : llvm::zip(walk().index, filler->index)) {
      AxisSet along = none();
      addVariables(index, along);
      if (along.anyCommon(over))
        addVariables(own, filled);
    }
    llvm::SaveAndRestore walk(walk_, unsigned(filler - walks_.begin()));
    // If the filling ends early, the rest of the memory is from an earlier step.
    bool hasEdge = llvm::any_of(filler->guards, [&](Expr guard) {
      AxisSet about = none();
      addVariables(guard, about);
      return about.anyCommon(filled);
    });
    bool isFilled = !hasEdge || llvm::none_of(filled.set_bits(), [&](unsigned axis) {
      return filler->contains(axis) && mayEndEarly(axis);
    });
    return isFilled && vanishesOutside(stage.getInput(), filled);
  }
  auto product = dyn_cast<kernel::AluOp>(op);
  if (product && product.getKind().getValue() == Alu::CAST)
    return vanishesOutside(product->getOperand(0), over);
  return product && product.getKind().getValue() == Alu::MUL && vanishesOutside(product->getOperand(0), over) &&
         vanishesOutside(product->getOperand(1), over);
}

Expr KernelLowering::rowMajor(ArrayRef<int64_t> axes) {
  Expr index = 0, elements = 1;
  for (int64_t axis : llvm::reverse(axes)) {
    index = index + variableOf(axis) * elements;
    elements = elements * axisOf(axis).getSize().getValue();
  }
  return index;
}

Expr KernelLowering::shareOf(Expr elements) {
  Expr group = 0;
  for (kernel::AxisAttr axis : walks_.front().axes)
    if (axis.getKind() == AxisKind::Group)
      group = group * axis.getSize().getValue() + kernel::loopVariable(axis);
  return group * elements;
}

Expr KernelLowering::heldIndex(kernel::ReduceOp reduce) {
  Expr elements = 1;
  for (int64_t axis : reduce.getHeld())
    elements = elements * axisOf(axis).getSize().getValue();
  return resolve(rowMajor(reduce.getHeld()).substitute(begins_) + shareOf(elements));
}

Expr KernelLowering::stageIndex(kernel::StageOp stage) {
  Expr element = stage.elementAt(walk().index);
  return stage.getBuffer() ? element + shareOf(stage.getElements()) : element;
}

view::Index KernelLowering::stageAt(kernel::StageOp stage) {
  for (auto store : func_.getBody().getOps<kernel::StoreOp>())
    if (store.getBuffer() == stage.getBuffer())
      return indexAt(store.getTracker().getValue());
  return {resolve(stageIndex(stage)), 1};
}

size_t KernelLowering::stageDepth(kernel::StageOp stage) {
  AxisSet around = none();
  for (Expr base : stage.getBase())
    addVariables(base, around);
  bool isReady = llvm::all_of(around.set_bits(), [&](unsigned axis) { return isBound(axis); });
  return isReady ? depthOf(around) : scopes_.size();
}

Tile KernelLowering::emitStage(kernel::StageOp stage) {
  fillStages(stageDepth(stage), stage);
  const AxisSet &axes = axesOf(stage);
  return emitMemory(stageMemory(stage), stageAt(stage), axes, stage.getResult().getType(), placeOf(axes));
}

void KernelLowering::fillStages(size_t depth, kernel::StageOp wanted) {
  // Stages of a group share barriers. A chunk's stage that is not read here may be read in a loop around this one.
  SmallVector<kernel::StageOp> local, own;
  for (auto stage : func_.getBody().getOps<kernel::StageOp>())
    if ((stage == wanted || isLocal(stage)) && stageDepth(stage) == depth &&
        scopes_[depth]->filled.insert(stage).second)
      (isLocal(stage) ? local : own).push_back(stage);
  llvm::SaveAndRestore roots(roots_);
  llvm::SaveAndRestore walk(walk_);
  auto fill = [&](kernel::StageOp stage) {
    walk_ = llvm::find_if(walks_, [&](const LoweredWalk &other) { return other.stage == stage; }) - walks_.begin();
    roots_ = {stage.getInput()};
    isLocal(stage) ? fillTogether(stage) : fillStage(stage);
  };
  auto isAhead = [](kernel::StageOp stage) { return stage.getBufferCount() > 1; };
  inScope(depth, [&] {
    for (kernel::StageOp stage : own)
      isAhead(stage) ? fillAhead(depth, stage, fill) : fill(stage);
    if (local.empty())
      return;
    bool again = depth > 0; // data that the last iteration read must not be overwritten too early
    if (again)
      uop::BarrierOp::create(here(), loc_);
    SmallVector<kernel::StageOp> ahead(llvm::make_filter_range(local, isAhead));
    llvm::erase_if(local, isAhead);
    if (!ahead.empty())
      fillAhead(depth, ahead, fill);
    // This step's buffers of those were filled before the barrier.
    if (local.empty())
      return;
    SmallPtrSet<Operation *, 4> unready; // written since the last barrier
    for (kernel::StageOp stage : local) {
      llvm::SetVector<Operation *> operations = kernel::walkOf(stage).operations();
      if (llvm::any_of(operations, [&](Operation *op) { return unready.contains(op); })) {
        uop::BarrierOp::create(here(), loc_);
        unready.clear();
      }
      fill(stage);
      unready.insert(stage);
    }
    uop::BarrierOp::create(here(), loc_);
  });
}

void KernelLowering::fillAhead(size_t depth, ArrayRef<kernel::StageOp> stages,
                               llvm::function_ref<void(kernel::StageOp)> fill) {
  Expr begin = scopes_[depth]->begin, end = scopes_[depth]->end;
  inScope(depth - 1, [&] {
    // Data that a loop before this one read last must not be overwritten too early.
    bool again = depth > 1;
    for (kernel::StageOp stage : stages)
      again |= !begun_.insert(stage).second;
    if (again && isLocal(stages.front()))
      uop::BarrierOp::create(here(), loc_);
    for (kernel::StageOp stage : stages)
      inSteps(stage.getBuffers()->getAxis(), begin, view::minimum(begin + stage.getBufferCount() - 1, end),
              [&] { fill(stage); });
  });
  for (kernel::StageOp stage : stages) {
    int64_t axis = stage.getBuffers()->getAxis(), count = stage.getBufferCount();
    Expr step = variableOf(axis);
    inSteps(axis, step + count - 1, view::minimum(step + count, end), [&] { fill(stage); });
  }
}

AxisSet KernelLowering::filledAlong(kernel::StageOp stage) {
  AxisSet axes = none();
  for (size_t axis = 0; axis < walk().index.size(); ++axis)
    if (kernel::dependsOn(stage, axis))
      addVariables(walk().index[axis], axes);
  for (auto reduce : func_.getBody().getOps<kernel::ReduceOp>())
    for (int64_t axis : reduce.getAxes())
      if (!axesOf(stage.getInput()).test(axis))
        axes.reset(axis);
  return axes;
}

void KernelLowering::fillStage(kernel::StageOp stage) {
  AxisSet axes = filledAlong(stage);
  SmallVector<int64_t> loops;
  for (kernel::AxisAttr axis : walk().axes)
    if (axis.getKind() == AxisKind::Loop && axes.test(axis.getId()))
      loops.push_back(axis.getId());
  if (auto product = kernel::matrixProductOf(walk()))
    return whereMatricesBegin(
        [&] { inLoops(loops, [&] { storeMatrices(emitMatrixProduct(*product), stage, *product); }); });
  auto store = [&](Value value) {
    Tile tile = emit(value);
    // Matrices sum up past the end too, so it is 0 there.
    if (!walk().zeros.empty()) {
      Expr inside = resolve(guardOf(axes));
      Value zero = constant(cast<TypedAttr>(builder_.getZeroAttr(stage.getResult().getType())));
      size_t next = 0;
      forEachPoint(sizesOf(tile.axes), [&](ArrayRef<int64_t> point) {
        Value &value = tile.values[next++];
        value = within(fix(inside, tile.axes, point), value, zero);
      });
    }
    storeTile(tile, stageMemory(stage), stageAt(stage), axes);
  };
  inLoops(loops, [&] { walk().zeros.empty() ? whereNeeded(stage.getInput(), store) : store(stage.getInput()); });
}

void KernelLowering::fillTogether(kernel::StageOp stage) {
  // The items share the elements out among them: element = turn * items + item.
  Expr item = 0, rest;
  int64_t items = 1, elements = 1;
  for (kernel::AxisAttr axis : walks_.front().axes)
    if (axis.getKind() == AxisKind::Item) {
      item = item * axis.getSize().getValue() + kernel::loopVariable(axis);
      items *= axis.getSize().getValue().constant();
    }
  // Without the axes that an element is summed up over. Past the end of the domain places differ even if values do not.
  AxisSet along = filledAlong(stage);
  along |= axesOf(stage.getInput());
  SmallVector<int64_t> own;
  for (kernel::AxisAttr axis : walk().axes)
    if (along.test(axis.getId())) {
      own.push_back(axis.getId());
      elements *= sizeOf(axis.getId());
    }
  int64_t turns = llvm::divideCeil(elements, items);
  Expr turn = Expr::variable("_turn", 0, turns - 1);
  Value from = constant(indexType_, 0), to = constant(indexType_, turns);
  auto range = uop::RangeOp::create(here(), loc_, from, to, ValueRange(), nextLoop_++, false);
  auto scope = std::make_unique<Scope>();
  scope->block = &range.getBody().front();
  scope->variables[turn] = range.getIndex();
  Expr element = rest = turn * items + item;
  Expr first = fix(stageIndex(stage), own, SmallVector<int64_t>(own.size()));
  bool isInOrder = view::provablyEqual(stageIndex(stage), first + rowMajor(own));
  for (int64_t axis : llvm::reverse(own)) {
    scope->substitutions[variableOf(axis)] = view::mod(rest, sizeOf(axis));
    rest = view::floorDiv(rest, sizeOf(axis));
  }
  scope->outerBefore = goBefore(range);
  scopes_.push_back(std::move(scope));
  Tile tile = emit(stage.getInput());
  Expr place = isInOrder ? resolve(first) + element : resolve(stageIndex(stage));
  storeTile(tile, stageMemory(stage), {place, view::less(element, elements)}, none());
  closeLoop({});
}
