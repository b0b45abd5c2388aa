//===- SplitLaunches.cpp - Give a stage that all chunks share a launch of its own ------===//
// Stage: optimize (kernel → kernels).
// Each chunk and group would fill a stage that begins at the same place for all of them. As a kernel of its own the
// stage is filled once, before: panels that threads share, and long sums in two launches. If it is made of weights
// alone, that launch is a recipe, so that weights are packed at compile time, in the order in which their readers
// go.
// Expects: opts applied.
// Guarantees: no stage is the same for all chunks; what is made of weights alone is a weight, whose data is a recipe.
// Position: after opts, which make stages; before scratch memory is passed, which such stages do not need.
//===----------------------------------------------------------------------------------===//

#include "passes/Passes.h"

#include "ir/host/Sizes.h"
#include "ir/kernel/MatrixProduct.h"
#include "ir/kernel/Normalize.h"
#include "ir/kernel/Walk.h"
#include "target/Target.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/StringSet.h"

using namespace kiln;
using namespace kiln::kernel;
using namespace mlir;
using view::Expr;

namespace kiln {
#define GEN_PASS_DEF_SPLITLAUNCHES
#include "passes/Passes.h.inc"
} // namespace kiln

//===----------------------------------------------------------------------===//
// Views of packed memory
//===----------------------------------------------------------------------===//

/// The view through which a point of the domain finds its element in memory of this layout, which begins where the
/// domain does.
static view::ShapeTracker trackerOf(StageOp stage, ArrayRef<Expr> domain) {
  SmallVector<PartAttr> parts = stage.getParts();
  SmallVector<Expr> memory = llvm::map_to_vector(parts, [](PartAttr part) { return part.getCount().getValue(); });
  // The parts of an axis together, the one with the largest step first, are the axis and its extension past the end.
  SmallVector<SmallVector<int64_t>> partsOf(domain.size());
  for (auto [position, part] : llvm::enumerate(parts))
    partsOf[part.getAxis()].push_back(position);
  for (SmallVector<int64_t> &own : partsOf)
    llvm::sort(own, [&](int64_t a, int64_t b) { return parts[a].getStep() > parts[b].getStep(); });
  // The axes go in the order in which they begin in memory: if the outermost count there is not a number, nothing is
  // divided by it then.
  auto axes = llvm::to_vector(llvm::seq<int64_t>(0, domain.size()));
  auto beginOf = [&](int64_t axis) {
    return std::pair(partsOf[axis].empty() ? int64_t(parts.size()) : partsOf[axis].front(), axis);
  };
  llvm::sort(axes, [&](int64_t a, int64_t b) { return beginOf(a) < beginOf(b); });
  SmallVector<int64_t> order, back(domain.size());
  SmallVector<Expr> padded;
  SmallVector<view::Range> inside;
  for (auto [place, axis] : llvm::enumerate(axes)) {
    bool isHeld = !partsOf[axis].empty();
    back[axis] = place;
    order.append(partsOf[axis]);
    padded.push_back(isHeld ? stage.reachAlong(axis) : Expr(1));
    inside.push_back({0, isHeld ? domain[axis] : Expr(1)});
  }
  view::ShapeTracker inOrder = view::ShapeTracker::contiguous(memory).permute(order).reshape(padded).shrink(inside);
  return inOrder.permute(back).simplify();
}

/// A view of the kernel's domain as one of a domain where only the axes that are `kept` have their size.
static TrackerAttr narrowed(TrackerAttr tracker, const llvm::SmallBitVector &kept) {
  view::ShapeTracker value = tracker.getValue();
  SmallVector<view::Range> ranges;
  for (auto [axis, size] : llvm::enumerate(value.shape()))
    ranges.push_back({0, axis < kept.size() && !kept.test(axis) ? Expr(1) : size});
  return TrackerAttr::get(tracker.getContext(), value.shrink(ranges).simplify());
}

/// A view that reads 0 past its end.
static TrackerAttr padded(TrackerAttr tracker, ArrayRef<std::pair<Expr, Expr>> past) {
  bool any = llvm::any_of(past, [](const auto &amounts) { return !amounts.second.isConst(0); });
  return any ? TrackerAttr::get(tracker.getContext(), tracker.getValue().pad(past).simplify()) : tracker;
}

//===----------------------------------------------------------------------===//
// The kernel that fills
//===----------------------------------------------------------------------===//

namespace {
/// A stage that is a kernel of its own now.
struct Producer {
  mutable FuncOp func;          ///< writes the memory: argument 0
  SmallVector<unsigned> inputs; ///< inputs of the kernel that it was split from, which it reads
  unsigned buffer = 0;          ///< of that kernel, the memory
  RankedTensorType type;        ///< of the memory; null: its size is an expression
  Expr bytes;
};

class LaunchSplitter {
public:
  explicit LaunchSplitter(ModuleOp module);
  void run();

private:
  bool isShared(FuncOp func, StageOp stage) const;
  std::optional<Producer> split(FuncOp func, StageOp stage);
  /// The kernel that fills a stage's memory, its first buffer, from buffers of `func`. `reduced`: see wholeAxes.
  FuncOp createProducer(FuncOp func, StageOp stage, ArrayRef<unsigned> inputs,
                        const llvm::DenseMap<Operation *, SmallVector<int64_t>> &reduced);
  void dropUnreadInputs(FuncOp func);
  bool splitOne();
  void fillBefore(host::LaunchOp launch, const Producer &producer);
  /// The weights that the producer reads at a launch; nullopt where it reads anything else.
  std::optional<SmallVector<host::WeightOp>> weightsOf(host::LaunchOp launch, ArrayRef<unsigned> inputs) const;
  Value pack(host::LaunchOp launch, const Producer &producer, ArrayRef<host::WeightOp> weights);
  void dropUnreadWeights(host::ProgramOp program);

  ModuleOp module_;
  llvm::StringMap<SmallVector<host::LaunchOp>> launches_;
  llvm::StringSet<> names_;
  /// A weight that a recipe packs: the recipe's kernel, and its number.
  struct Packed {
    mutable FuncOp func;
    int64_t index;
  };
  llvm::DenseMap<Attribute, SmallVector<Packed>> packed_; ///< by the weights that make them
};
} // namespace

LaunchSplitter::LaunchSplitter(ModuleOp module) : module_(module) {
  for (auto program : module.getOps<host::ProgramOp>())
    program.walk([&](host::LaunchOp launch) { launches_[launch.getKernel()].push_back(launch); });
  for (Operation &op : *module.getBody())
    if (auto name = op.getAttrOfType<StringAttr>(SymbolTable::getSymbolAttrName()))
      names_.insert(name);
}

std::optional<SmallVector<host::WeightOp>> LaunchSplitter::weightsOf(host::LaunchOp launch,
                                                                     ArrayRef<unsigned> inputs) const {
  SmallVector<host::WeightOp> weights;
  for (unsigned input : inputs) {
    auto weight = launch.getBuffers()[input].getDefiningOp<host::WeightOp>();
    if (!weight)
      return std::nullopt;
    weights.push_back(weight);
  }
  return weights;
}

/// The buffers that the operations of a walk read.
static SmallVector<unsigned> inputsOf(const Walk &walk) {
  SmallVector<unsigned> inputs;
  for (Operation *op : walk.operations())
    if (auto load = dyn_cast<LoadOp>(op)) {
      unsigned number = cast<BlockArgument>(load.getBuffer()).getArgNumber();
      if (!llvm::is_contained(inputs, number))
        inputs.push_back(number);
    }
  return inputs;
}

bool LaunchSplitter::isShared(FuncOp func, StageOp stage) const {
  bool isPlain = stage.getBuffer() && !stage.getSwizzle() &&
                 llvm::all_of(stage.getBase(), [](Expr base) { return base.isConst(0); }) &&
                 llvm::none_of(stage.getParts(), [](PartAttr part) { return part.getPad() > 0; });
  Walk walk = walkOf(stage);
  llvm::SetVector<Operation *> operations = walk.operations();
  // What it reads of other stages would have to be in memory before.
  bool isWhole = llvm::none_of(operations, [](Operation *op) { return isa<StageOp>(op); });
  auto found = launches_.find(func.getName());
  if (!isPlain || !isWhole || found == launches_.end())
    return false;
  bool isParallel = llvm::any_of(func.getLoopAxes(), [](AxisAttr axis) {
    return axis.getKind() == AxisKind::Chunk || axis.getKind() == AxisKind::Group;
  });
  SmallVector<unsigned> inputs = inputsOf(walk);
  return isParallel || (!inputs.empty() && llvm::all_of(found->second, [&](host::LaunchOp launch) {
           return weightsOf(launch, inputs).has_value();
         }));
}

/// The memory of a stage is not scratch of the kernel's any more, but an input like others: its number among them.
static unsigned scratchToInput(FuncOp func, unsigned buffer) {
  SmallVector<Expr> scratch(func.getScratch().getSizes());
  unsigned first = func.getNumArguments() - scratch.size();
  Block &body = func.getBody().front();
  BlockArgument input = body.insertArgument(first, body.getArgument(buffer).getType(), func.getLoc());
  body.getArgument(buffer + 1).replaceAllUsesWith(input);
  body.eraseArgument(buffer + 1);
  scratch.erase(scratch.begin() + (buffer - first));
  Builder builder(func.getContext());
  func.setScratchAttr(DimsAttr::get(func.getContext(), scratch));
  func.setFunctionType(builder.getFunctionType(body.getArgumentTypes(), {}));
  return first;
}

/// By reduce the axes of the domain that it goes over; nullopt where that is a part of one. Each must go through whole
/// axes, as the reduces of a kernel without opts do.
static std::optional<llvm::DenseMap<Operation *, SmallVector<int64_t>>> wholeAxes(const Walk &walk) {
  llvm::DenseMap<Operation *, SmallVector<int64_t>> reduced;
  for (Operation *op : walk.operations())
    if (auto reduce = dyn_cast<ReduceOp>(op))
      for (auto [axis, index] : llvm::enumerate(walk.index)) {
        auto ids = axesOf(index);
        size_t count = llvm::count_if(ids, [&](int64_t id) { return llvm::is_contained(reduce.getAxes(), id); });
        if (count > 0 && count < ids.size())
          return std::nullopt;
        if (count > 0)
          reduced[op].push_back(axis);
      }
  return reduced;
}

/// The type of a tensor that is a stage's memory; null where its size is an expression.
static RankedTensorType memoryType(StageOp stage) {
  SmallVector<int64_t> shape;
  for (PartAttr part : stage.getParts()) {
    Expr count = part.getCount().getValue();
    if (!count.isConst())
      return nullptr;
    shape.push_back(count.constant());
  }
  // A tensor has a limit that a stage has not.
  while (int64_t(shape.size()) > host::kMaxPortRank) {
    shape[1] *= shape[0];
    shape.erase(shape.begin());
  }
  return RankedTensorType::get(shape, stage.getInput().getType());
}

FuncOp LaunchSplitter::createProducer(FuncOp func, StageOp stage, ArrayRef<unsigned> inputs,
                                      const llvm::DenseMap<Operation *, SmallVector<int64_t>> &reduced) {
  MLIRContext *context = func.getContext();
  ArrayRef<Expr> domain = func.getDomain().getSizes();
  llvm::SmallBitVector kept(domain.size());
  for (size_t axis = 0; axis < domain.size(); ++axis)
    kept[axis] = dependsOn(stage, axis);
  for (const auto &entry : reduced)
    for (int64_t axis : entry.second)
      kept.set(axis); // the terms are summed up there

  OpBuilder builder(func);
  auto producer = cast<FuncOp>(func->cloneWithoutRegions());
  builder.insert(producer);
  Block *body = builder.createBlock(&producer.getBody());
  IRMapping copies;
  Value memory = body->addArgument(stage.getBuffer().getType(), func.getLoc());
  for (unsigned input : inputs)
    copies.map(func.getArgument(input), body->addArgument(func.getArgument(input).getType(), func.getLoc()));
  SmallVector<Expr> sizes, index, whole(domain);
  SmallVector<Attribute> axes;
  SmallVector<std::pair<Expr, Expr>> past(domain.size(), {0, 0});
  for (size_t axis : axesPastEnd(stage)) {
    whole[axis] = stage.reachAlong(axis);
    past[axis].second = whole[axis] - domain[axis];
  }
  for (auto [axis, size] : llvm::enumerate(whole)) {
    sizes.push_back(kept.test(axis) ? size : Expr(1));
    axes.push_back(AxisAttr::get(context, axis, ExprAttr::get(context, sizes.back()), AxisKind::Loop));
    index.push_back(loopVariable(axis, sizes.back()));
  }
  producer.setDomainAttr(DimsAttr::get(context, sizes));
  producer.setAxesAttr(builder.getArrayAttr(axes));
  producer.setIndexAttr(DimsAttr::get(context, index));
  producer.setOptsAttr(builder.getArrayAttr({}));
  producer.setScratchAttr(DimsAttr::get(context, {}));
  producer.setFunctionType(builder.getFunctionType(body->getArgumentTypes(), {}));
  builder.setInsertionPointToStart(body);
  for (Operation *op : walkOf(stage).operations()) {
    Operation *copy = builder.clone(*op, copies);
    copy->removeAttr("ahead"); // the axes get other names
    if (auto tracker = copy->getAttrOfType<TrackerAttr>("tracker"))
      copy->setAttr("tracker", padded(narrowed(tracker, kept), past));
    if (auto reduce = dyn_cast<ReduceOp>(copy))
      reduce.setAxes(reduced.lookup(op));
  }
  StoreOp::create(builder, stage.getLoc(), copies.lookup(stage.getInput()), memory,
                  TrackerAttr::get(context, trackerOf(stage, whole)));
  applyNormalization(producer, planNormalization(producer));
  producer.setName(freshNameOf(producer, names_));
  return producer;
}

/// The readers load the producer's result from a buffer, whose number is returned.
static unsigned loadStaged(FuncOp func, StageOp stage) {
  OpBuilder builder(stage);
  auto tracker = TrackerAttr::get(func.getContext(), trackerOf(stage, func.getDomain().getSizes()));
  auto load = LoadOp::create(builder, stage.getLoc(), stage.getInput().getType(), stage.getBuffer(), tracker);
  load.setAheadAttr(stage.getAheadAttr());
  if (Expr elements = stage.getElements(); elements.isConst())
    load.setRoom(elements.constant());
  unsigned scratch = cast<BlockArgument>(stage.getBuffer()).getArgNumber();
  stage.getResult().replaceAllUsesWith(load);
  stage.erase();
  return scratchToInput(func, scratch);
}

std::optional<Producer> LaunchSplitter::split(FuncOp func, StageOp stage) {
  Walk walk = walkOf(stage);
  auto reduced = wholeAxes(walk);
  if (!reduced)
    return std::nullopt;
  Producer made;
  made.inputs = inputsOf(walk);
  made.func = createProducer(func, stage, made.inputs, *reduced);
  made.type = memoryType(stage);
  made.bytes = stage.getElements() * int64_t(byteSize(stage.getInput().getType()));
  made.buffer = loadStaged(func, stage);
  return made;
}

//===----------------------------------------------------------------------===//
// The host's side
//===----------------------------------------------------------------------===//

/// Whether two kernels compute the same, whatever they are called.
static bool computesSame(FuncOp func, FuncOp other) {
  StringAttr name = func.getNameAttr();
  func.setName(other.getName());
  bool isSame = OperationEquivalence::isEquivalentTo(func, other, OperationEquivalence::IgnoreLocations);
  func.setName(name);
  return isSame;
}

/// A module that makes one weight of others, as schedule's recipes are after that stage. Readers that go through a
/// weight in the same order share one, whatever else they read.
Value LaunchSplitter::pack(host::LaunchOp launch, const Producer &producer, ArrayRef<host::WeightOp> weights) {
  auto program = launch->getParentOfType<host::ProgramOp>();
  auto batch = launch->getParentOfType<host::BatchOp>(); // in it, only launches may fail
  Operation *place = batch ? batch.getOperation() : launch.getOperation();
  OpBuilder builder(place);
  Type slice = host::SliceType::get(builder.getContext());
  ArrayAttr sources = builder.getArrayAttr(
      llvm::map_to_vector(weights, [&](host::WeightOp weight) { return program.getWeights()[weight.getIndex()]; }));
  OwningOpRef<FuncOp> packing = producer.func.clone();
  packing->setSizesAttr(DimsAttr::get(builder.getContext(), {})); // it reads none, and a recipe has none to pass
  SmallVector<Packed> &known = packed_[sources];
  if (auto *same = llvm::find_if(known, [&](const Packed &each) { return computesSame(*packing, each.func); });
      same != known.end())
    return host::WeightOp::create(builder, launch.getLoc(), slice, same->index);

  std::string model, name;
  for (int64_t number = 0; !names_.insert(model = "recipe_" + std::to_string(number)).second;)
    ++number;
  host::WeightOp first = weights.front();
  auto weight = cast<host::WeightAttr>(program.getWeights()[first.getIndex()]);
  auto isTaken = [&](Attribute other) { return cast<host::WeightAttr>(other).getName() == name; };
  name = (weight.getName() + ".packed").str();
  for (int64_t repeats = 1; llvm::any_of(program.getWeights(), isTaken); ++repeats)
    name = (weight.getName() + ".packed" + llvm::Twine(repeats)).str();

  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToEnd(module_.getBody());
  auto recipe = ModuleOp::create(builder, launch.getLoc(), model);
  recipe->setAttr(kTargetAttr, target::recipeTarget(builder.getContext()));
  builder.setInsertionPointToStart(recipe.getBody());
  auto port = host::PortAttr::get(builder.getContext(), name, producer.type, nullptr, nullptr);
  auto made = host::ProgramOp::create(builder, launch.getLoc(), "main", builder.getArrayAttr({}),
                                      builder.getArrayAttr({port}), sources, builder.getArrayAttr({}));
  auto func = cast<FuncOp>(builder.insert(packing.release().getOperation()));
  known.push_back({func, int64_t(program.getWeights().size())});
  builder.createBlock(&made.getBody());
  SmallVector<Value> dims, buffers;
  for (int64_t size : producer.type.getShape())
    dims.push_back(arith::ConstantOp::create(builder, launch.getLoc(), builder.getI64IntegerAttr(size)));
  buffers.push_back(host::OutputOp::create(builder, launch.getLoc(), slice, 0, dims));
  for (size_t i = 0; i < weights.size(); ++i)
    buffers.push_back(host::WeightOp::create(builder, launch.getLoc(), slice, i));
  Value none = arith::ConstantOp::create(builder, launch.getLoc(), builder.getI64IntegerAttr(0));
  host::LaunchOp::create(builder, launch.getLoc(), func.getName(), buffers, ValueRange(), ValueRange(), none, none,
                         Value(), launch.getOrigin(), nullptr);
  host::DoneOp::create(builder, launch.getLoc());

  SmallVector<Attribute> entries(program.getWeights().begin(), program.getWeights().end());
  entries.push_back(host::WeightAttr::get(builder.getContext(), name, producer.type,
                                          graph::RecipeAttr::get(builder.getContext(), model, 0)));
  program.setWeightsAttr(builder.getArrayAttr(entries));
  builder.setInsertionPoint(place);
  return host::WeightOp::create(builder, launch.getLoc(), slice, known.back().index);
}

static void addBuffer(host::LaunchOp launch, unsigned position, Value memory) {
  SmallVector<Value> buffers(launch.getBuffers());
  buffers.insert(buffers.begin() + position, memory);
  launch.getBuffersMutable().assign(buffers);
}

/// Whether a kernel computes something else at other sizes, even if it has as many points.
static bool dependsOnSizes(FuncOp func) {
  ArrayRef<Expr> symbols = func.getSizes().getSizes();
  auto names = [&](Expr expr) {
    bool any = false;
    expr.forEachVariable([&](Expr variable) { any |= llvm::is_contained(symbols, variable); });
    return any;
  };
  // A sum may go over an axis along which none of its operands moves.
  return llvm::any_of(func.getDomain().getSizes(), names) || llvm::any_of(func.getBody().front(), [&](Operation &op) {
           auto tracker = op.getAttrOfType<TrackerAttr>("tracker");
           if (!tracker)
             return isa<SizeOp>(op);
           view::Index at = tracker.getValue().at();
           return names(at.index) || names(at.valid);
         });
}

void LaunchSplitter::fillBefore(host::LaunchOp launch, const Producer &producer) {
  OpBuilder builder(launch);
  Location loc = launch.getLoc();
  std::optional<SmallVector<host::WeightOp>> weights = weightsOf(launch, producer.inputs);
  unsigned position = producer.buffer;
  // A recipe, which runs once, packs its weights itself: none has a recipe inside.
  bool isRecipe = bool(module_->getParentOp());
  if (weights && !weights->empty() && producer.type && !isRecipe && !dependsOnSizes(producer.func)) {
    addBuffer(launch, position, pack(launch, producer, *weights));
    return;
  }
  Value bytes = host::evaluate(builder, launch, producer.func.getSizes().getSizes(), producer.bytes);
  Value memory = host::AllocOp::create(builder, loc, host::SliceType::get(builder.getContext()), bytes);
  SmallVector<Value> buffers{memory};
  for (unsigned input : producer.inputs)
    buffers.push_back(launch.getBuffers()[input]);
  auto filling = cast<host::LaunchOp>(builder.clone(*launch));
  filling.setKernel(producer.func.getName());
  filling.removeTensorsAttr();
  filling.getBuffersMutable().assign(buffers);
  addBuffer(launch, position, memory);
  if (!isa<host::ProgramOp>(launch->getParentOp())) {
    builder.setInsertionPointAfter(launch);
    host::FreeOp::create(builder, loc, memory);
  }
}

/// A tensor that only the stage read is no longer an input of its kernel.
void LaunchSplitter::dropUnreadInputs(FuncOp func) {
  Block &body = func.getBody().front();
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(body)))
    if (op.getNumResults() && op.use_empty())
      op.erase();
  for (unsigned input = func.getNumArguments(); input-- > 0;) {
    if (!body.getArgument(input).use_empty())
      continue;
    body.eraseArgument(input);
    for (host::LaunchOp launch : launches_.lookup(func.getName()))
      launch.getBuffersMutable().erase(input);
  }
  func.setFunctionType(FunctionType::get(func.getContext(), body.getArgumentTypes(), {}));
}

/// A weight that no launch reads any more is not packaged.
void LaunchSplitter::dropUnreadWeights(host::ProgramOp program) {
  llvm::SmallBitVector isRead(program.getWeights().size());
  SmallVector<host::WeightOp> reads;
  program.walk([&](host::WeightOp weight) {
    if (weight->use_empty())
      return weight.erase();
    isRead.set(weight.getIndex());
    reads.push_back(weight);
  });
  SmallVector<Attribute> weights;
  SmallVector<int64_t> numbers(isRead.size());
  for (unsigned index : isRead.set_bits()) {
    numbers[index] = weights.size();
    weights.push_back(program.getWeights()[index]);
  }
  for (host::WeightOp weight : reads)
    weight.setIndex(numbers[weight.getIndex()]);
  program.setWeightsAttr(ArrayAttr::get(program.getContext(), weights));
}

bool LaunchSplitter::splitOne() {
  for (auto func : module_.getOps<FuncOp>())
    for (auto stage : func.getBody().getOps<StageOp>()) {
      if (!isShared(func, stage))
        continue;
      std::optional<Producer> producer = split(func, stage);
      if (!producer)
        continue;
      for (host::LaunchOp launch : launches_.lookup(func.getName()))
        fillBefore(launch, *producer);
      dropUnreadInputs(func);
      bool isLaunched = false;
      for (auto program : module_.getOps<host::ProgramOp>())
        program.walk([&](host::LaunchOp launch) { isLaunched |= launch.getKernel() == producer->func.getName(); });
      if (!isLaunched)
        producer->func.erase();
      return true;
    }
  return false;
}

void LaunchSplitter::run() {
  bool any = false;
  while (splitOne())
    any = true;
  for (auto program : module_.getOps<host::ProgramOp>())
    if (any)
      dropUnreadWeights(program);
}

namespace {
struct SplitLaunches : kiln::impl::SplitLaunchesBase<SplitLaunches> {
  void runOnOperation() override { LaunchSplitter(getOperation()).run(); }
};
} // namespace
