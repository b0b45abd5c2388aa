//===- AssignLayouts.cpp - Choose how temporaries lie in memory ------------------------===//
// Stage: optimize (host + kernels → host + kernels).
// A product whose columns are a weight wants its lanes along them, and so its result contiguous there: a
// convolution's output channels, which the model keeps outermost. What follows goes best along the same axis, and the
// next product reads its sum in a row. So each temporary's order in memory is its writer's choice, as a view on the
// store; readers' views are strided to match. Where readers pad, the tensor lies among zeros, which nobody ever
// writes: then no sum has to ask whether it is inside.
// Expects: kernels without opts, on the domains that schedule gave them.
// Guarantees: no reader's view got longer; axes of kernels that were changed stand in memory's order.
// Position: before axes are normalized, while each is still one axis of a tensor.
//===----------------------------------------------------------------------------------===//

#include "passes/Passes.h"

#include "passes/optimize/KernelVariants.h"
#include "passes/optimize/ProgramSizes.h"
#include "passes/optimize/choose/Chooser.h"
#include "passes/optimize/choose/LaneWork.h"
#include "passes/optimize/choose/Product.h"
#include "passes/optimize/choose/Windows.h"

#include "ir/host/Roles.h"
#include "ir/kernel/Normalize.h"
#include "target/Target.h"
#include "view/Layout.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/MapVector.h"

using namespace kiln;
using namespace kiln::kernel;
using namespace mlir;
using optimize::accessesOf;
using optimize::trackerOf;
using view::Expr;
using view::Layout;
using view::ShapeTracker;

namespace kiln {
#define GEN_PASS_DEF_ASSIGNLAYOUTS
#include "passes/Passes.h.inc"
} // namespace kiln

/// Zeros around a tensor may be as many elements as itself.
static constexpr double kMostGrowth = 2;
/// So many points at least an open axis counts as there: of a small tensor nothing is large.
static constexpr double kFewestOpen = 64;
/// How many times fewer instructions another order has to take: what writes the tensor then moves it across lines.
static constexpr double kLeastGain = 1.5;

namespace {
/// A place where a launch hands a tensor to its kernel.
struct Place {
  host::LaunchOp launch;
  unsigned buffer;
};

/// A temporary that may lie in another order than its row-major one.
struct Tensor {
  Place writer;
  SmallVector<Place> readers;
  Layout layout;
  host::LayoutReason reason = host::LayoutReason::Rows;
};

class LayoutAssigner {
public:
  LayoutAssigner(ModuleOp module, host::ProgramOp program, TargetAttr target)
      : program_(program), target_(target), sizes_(program), variants_(module) {}
  void run();

private:
  FuncOp kernelOf(host::LaunchOp launch) const { return variants_.kernelOf(launch); }
  void findTensors();
  std::optional<Tensor> tensorOf(host::AllocOp alloc) const;
  /// Whether the program knows the sizes that a shape depends on, and a launch hands them to its kernel by their names:
  /// then an expression means the same in the kernel, in the program, and in other such kernels.
  bool sharesSizes(host::LaunchOp launch, ArrayRef<Expr> shape) const;
  struct LaneAxis {
    size_t axis;
    host::LayoutReason reason;
  };
  /// The axis of the columns if a launch multiplies by a weight that is packed along them.
  std::optional<size_t> packedColumns(host::LaunchOp launch) const;
  /// The axis of the kernel's domain along which its result should be contiguous.
  std::optional<LaneAxis> laneAxis(host::LaunchOp launch) const;
  /// The axis of a tensor that is to be innermost for a sum that reads it (passes/optimize/choose/Windows.h).
  std::optional<size_t> turnedAxis(const Place &reader, const Tensor &tensor) const;
  void choose(Value memory, Tensor &tensor);
  /// Gives a tensor that element-wise kernels read the order with which these and its writer take the fewest
  /// instructions.
  void chooseByWork(Value memory, Tensor &tensor) const;
  /// The instructions of a launch with the lanes that suit it best, if a tensor lies so.
  double stepsOf(host::LaunchOp launch, Value memory, const Layout &layout) const;
  /// The tensor's axes with `inner` innermost, if its readers can read it so.
  bool layInnermost(Tensor &tensor, int64_t inner) const;
  void addHalo(Tensor &tensor);
  /// The tracker of a load or store at a launch, by the layouts that are chosen so far; nullopt where there is none.
  std::optional<ShapeTracker> trackerAt(host::LaunchOp launch, Operation *access) const;
  bool suits(const Tensor &tensor, const Layout &layout) const;
  void rewrite(host::LaunchOp launch);
  void growMemory();
  /// Tells whoever asks how a tensor lies.
  void note(Tensor &tensor);

  host::ProgramOp program_;
  TargetAttr target_;
  optimize::ProgramSizes sizes_;
  optimize::KernelVariants variants_;
  llvm::MapVector<Value, Tensor> tensors_;
};
} // namespace

bool LayoutAssigner::sharesSizes(host::LaunchOp launch, ArrayRef<Expr> shape) const {
  bool shares = true;
  ArrayRef<Expr> names = kernelOf(launch).getSizes().getSizes();
  for (Expr size : shape)
    size.forEachVariable([&](Expr variable) {
      const Expr *name = llvm::find(names, variable);
      Value value = sizes_.valueOf(variable);
      shares &= value && (name == names.end() || launch.getSizes()[name - names.begin()] == value);
    });
  return shares;
}

std::optional<Tensor> LayoutAssigner::tensorOf(host::AllocOp alloc) const {
  Tensor tensor;
  for (OpOperand &use : alloc->getUses()) {
    auto launch = dyn_cast<host::LaunchOp>(use.getOwner());
    if (!launch || launch->getParentOp() != program_)
      return std::nullopt;
    Place place{launch, use.getOperandNumber() - launch.getBuffers().getBeginOperandIndex()};
    SmallVector<Operation *> accesses = accessesOf(kernelOf(launch), place.buffer);
    bool stores = llvm::any_of(accesses, llvm::IsaPred<StoreOp>);
    bool gathers = llvm::any_of(accesses, [](Operation *op) { return isa<LoadOp>(op) && cast<LoadOp>(op).getRow(); });
    if (gathers || (stores && (accesses.size() != 1 || tensor.writer.launch)))
      return std::nullopt;
    if (stores)
      tensor.writer = place;
    else
      tensor.readers.push_back(place);
  }
  if (!tensor.writer.launch)
    return std::nullopt;
  auto store = cast<StoreOp>(accessesOf(kernelOf(tensor.writer.launch), tensor.writer.buffer).front());
  ShapeTracker tracker = trackerOf(store);
  view::Shape shape;
  llvm::copy_if(tracker.shape(), std::back_inserter(shape), [](Expr size) { return !size.isConst(1); });
  auto sharesSizes = [&](const Place &place) { return this->sharesSizes(place.launch, shape); };
  if (!tracker.isContiguous() || shape.empty() || llvm::any_of(shape, [](Expr size) { return size.isConst(0); }) ||
      !sharesSizes(tensor.writer) || !llvm::all_of(tensor.readers, sharesSizes) ||
      !llvm::all_of(shape, [&](Expr size) { return sizes_.areKnown(size, alloc); }))
    return std::nullopt;
  tensor.layout = Layout::rowMajor(shape);
  return tensor;
}

void LayoutAssigner::findTensors() {
  for (auto alloc : program_.getBody().front().getOps<host::AllocOp>())
    if (std::optional<Tensor> tensor = tensorOf(alloc))
      tensors_[alloc] = *tensor;
}

std::optional<ShapeTracker> LayoutAssigner::trackerAt(host::LaunchOp launch, Operation *access) const {
  auto known = tensors_.find(optimize::memoryOf(launch, access));
  if (known == tensors_.end() || known->second.layout.isRowMajor())
    return std::nullopt;
  return view::relaid(trackerOf(access), known->second.layout, sizes_.equal());
}

bool LayoutAssigner::suits(const Tensor &tensor, const Layout &layout) const {
  return llvm::all_of(tensor.readers, [&](const Place &reader) {
    return llvm::all_of(accessesOf(kernelOf(reader.launch), reader.buffer), [&](Operation *access) {
      ShapeTracker before = trackerOf(access);
      std::optional<ShapeTracker> after = view::relaid(before, layout, sizes_.equal());
      return after && after->views().size() <= before.views().size();
    });
  });
}

//===----------------------------------------------------------------------===//
// Choosing
//===----------------------------------------------------------------------===//

std::optional<size_t> LayoutAssigner::packedColumns(host::LaunchOp launch) const {
  auto product = optimize::findProduct(kernelOf(launch), target_, optimize::weightsOf(launch), /*relays=*/true);
  return product && product->packs ? std::optional<size_t>(product->n) : std::nullopt;
}

std::optional<LayoutAssigner::LaneAxis> LayoutAssigner::laneAxis(host::LaunchOp launch) const {
  FuncOp func = kernelOf(launch);
  if (std::optional<size_t> columns = packedColumns(launch))
    return LaneAxis{*columns, host::LayoutReason::Columns};
  // Else the one along which the most of what it reads is contiguous.
  std::optional<LaneAxis> best;
  double most = 0;
  for (auto load : func.getBody().getOps<LoadOp>()) {
    std::optional<ShapeTracker> tracker = trackerAt(launch, load);
    if (!tracker)
      continue;
    for (auto [axis, stride] : llvm::enumerate(tracker->realStrides(/*ignoreValid=*/true)))
      if (double elements = tracker->realSize().max(); stride && stride->isConst(1) && elements > most) {
        best = {axis, host::LayoutReason::Input};
        most = elements;
      }
  }
  return best;
}

std::optional<size_t> LayoutAssigner::turnedAxis(const Place &reader, const Tensor &tensor) const {
  FuncOp func = kernelOf(reader.launch);
  SmallVector<Operation *> accesses = accessesOf(func, reader.buffer);
  auto load = accesses.size() == 1 ? dyn_cast<LoadOp>(accesses.front()) : LoadOp();
  if (!load)
    return std::nullopt;
  return optimize::turnedAxis(func, load, tensor.layout, target_, optimize::weightsOf(reader.launch));
}

bool LayoutAssigner::layInnermost(Tensor &tensor, int64_t inner) const {
  // What lies around an axis whose size is not fixed is as far apart as only a run knows: such axes stay outside.
  auto areFixed = [&](int64_t outer) {
    return llvm::all_of(ArrayRef<Expr>(tensor.layout.shape).slice(outer, inner - outer + 1),
                        [](Expr size) { return size.isConst(); });
  };
  // With the axes around it that a reader walks together with it as one: a group's channels lie among all channels.
  for (int64_t outer = inner; outer >= 0; --outer) {
    Layout wanted = tensor.layout;
    llvm::erase_if(wanted.order, [&](int64_t axis) { return axis >= outer && axis <= inner; });
    llvm::append_range(wanted.order, llvm::seq(outer, inner + 1));
    if (areFixed(outer) && suits(tensor, wanted)) {
      tensor.layout = wanted;
      return true;
    }
  }
  return false;
}

double LayoutAssigner::stepsOf(host::LaunchOp launch, Value memory, const Layout &layout) const {
  FuncOp func = kernelOf(launch);
  auto trial = cast<FuncOp>(func->clone());
  for (auto [access, copy] : llvm::zip(accessesOf(func), accessesOf(trial))) {
    bool isTensor = optimize::memoryOf(launch, access) == memory;
    auto tracker = isTensor ? view::relaid(trackerOf(access), layout, sizes_.equal()) : trackerAt(launch, access);
    if (tracker)
      copy->setAttr("tracker", TrackerAttr::get(func.getContext(), *tracker));
  }
  int64_t lanes = target_.vectorBits() / optimize::elementBits(func);
  llvm::SmallBitVector none(func.getNumArguments());
  double least = std::numeric_limits<double>::infinity();
  for (auto [axis, size] : llvm::enumerate(func.getDomain().getSizes()))
    if (size.max() >= lanes)
      least = std::min(least, optimize::laneSteps(trial, target_, axis, lanes, none));
  trial.erase();
  return least;
}

void LayoutAssigner::chooseByWork(Value memory, Tensor &tensor) const {
  SmallVector<host::LaunchOp> launches{tensor.writer.launch};
  for (const Place &reader : tensor.readers)
    if (!llvm::is_contained(launches, reader.launch))
      launches.push_back(reader.launch);
  auto hasSums = [&](host::LaunchOp one) { return !kernelOf(one).getBody().getOps<ReduceOp>().empty(); };
  if (llvm::any_of(llvm::drop_begin(launches), hasSums) || packedColumns(tensor.writer.launch))
    return;
  auto stepsWith = [&](const Layout &layout) {
    double steps = 0;
    for (host::LaunchOp launch : launches)
      steps += stepsOf(launch, memory, layout);
    return steps;
  };
  double least = stepsWith(tensor.layout) / kLeastGain;
  Layout best = tensor.layout;
  for (int64_t axis : llvm::seq<int64_t>(0, tensor.layout.shape.size())) {
    Tensor turned = tensor;
    if (!layInnermost(turned, axis) || turned.layout == tensor.layout)
      continue;
    if (double steps = stepsWith(turned.layout); steps < least) {
      least = steps;
      best = turned.layout;
    }
  }
  if (best != tensor.layout) {
    tensor.layout = best;
    tensor.reason = host::LayoutReason::Reader;
  }
}

void LayoutAssigner::choose(Value memory, Tensor &tensor) {
  std::optional<LaneAxis> lanes = laneAxis(tensor.writer.launch);
  if (!lanes) {
    // Whoever writes it has no lanes that want an axis, or, as a product of two inputs, less to lose than its reader.
    if (tensor.readers.size() == 1)
      if (std::optional<size_t> inner = turnedAxis(tensor.readers.front(), tensor))
        if (layInnermost(tensor, *inner) && !tensor.layout.isRowMajor())
          tensor.reason = host::LayoutReason::Reader;
    return;
  }
  ShapeTracker stored = trackerOf(accessesOf(kernelOf(tensor.writer.launch), tensor.writer.buffer).front());
  int64_t inner = -1, next = 0;
  for (auto [axis, size] : llvm::enumerate(stored.shape())) {
    if (size.isConst(1))
      continue;
    if (axis == lanes->axis)
      inner = next;
    ++next;
  }
  if (inner >= 0 && inner + 1 < next && layInnermost(tensor, inner))
    tensor.reason = lanes->reason;
}

/// How many times as many elements a tensor has with the zeros around it.
static double growthOf(const Layout &layout) {
  double growth = 1;
  for (auto [size, room] : llvm::zip(layout.shape, layout.halo)) {
    double elements = std::max(target::typicalSize(size), size.isConst() ? 1 : kFewestOpen);
    growth *= (elements + double(room.before + room.after)) / elements;
  }
  return growth;
}

void LayoutAssigner::addHalo(Tensor &tensor) {
  Layout wanted = tensor.layout;
  for (const Place &reader : tensor.readers) {
    FuncOp func = kernelOf(reader.launch);
    if (func.getBody().getOps<ReduceOp>().empty())
      continue;
    for (Operation *access : accessesOf(func, reader.buffer))
      if (auto halo = view::haloFor(trackerOf(access), wanted.shape, sizes_.equal()))
        for (auto [room, needed] : llvm::zip(wanted.halo, *halo)) {
          room.before = std::max(room.before, needed.before);
          room.after = std::max(room.after, needed.after);
        }
  }
  if (wanted.hasHalo() && growthOf(wanted) <= kMostGrowth && suits(tensor, wanted))
    tensor.layout = wanted;
}

//===----------------------------------------------------------------------===//
// Rewriting
//===----------------------------------------------------------------------===//

/// The axes of a kernel in the order in which its result lies in memory, then those that are reduced in the order in
/// which the largest tensor does that it reads; weights can be packed as they are read.
static SmallVector<int64_t> memoryOrder(FuncOp func, const llvm::SmallBitVector &weights) {
  auto order = llvm::to_vector(llvm::seq<int64_t>(0, func.getDomain().getSizes().size()));
  auto elementsOf = [](LoadOp load) { return target::typicalSize(trackerOf(load).realSize()); };
  LoadOp widest;
  for (auto load : func.getBody().getOps<LoadOp>())
    if (!weights.test(cast<BlockArgument>(load.getBuffer()).getArgNumber()) &&
        (!widest || elementsOf(load) > elementsOf(widest)))
      widest = load;
  auto outermostFirst = [&](const ShapeTracker &tracker) {
    auto strides = tracker.realStrides(/*ignoreValid=*/true);
    auto strideOf = [&](int64_t axis) { return strides[axis] ? target::typicalSize(*strides[axis]) : 0; };
    SmallVector<std::pair<double, size_t>> keys;
    for (auto [position, axis] : llvm::enumerate(order))
      keys.push_back({-strideOf(axis), position});
    llvm::sort(keys);
    order = llvm::map_to_vector(keys, [before = order](const auto &key) { return before[key.second]; });
  };
  if (widest)
    outermostFirst(trackerOf(widest));
  llvm::SmallDenseSet<int64_t> reduced;
  for (auto reduce : func.getBody().getOps<ReduceOp>())
    reduced.insert(reduce.getAxes().begin(), reduce.getAxes().end());
  SmallVector<int64_t> inner;
  for (int64_t axis : order)
    if (reduced.contains(axis))
      inner.push_back(axis);
  llvm::erase_if(order, [&](int64_t axis) { return reduced.contains(axis); });
  outermostFirst(trackerOf(*func.getBody().getOps<StoreOp>().begin()));
  // Axes along which a reduce stands still are walked inside, or its sum would be computed again for each point.
  SmallVector<int64_t> outer;
  for (bool isRepeated : {false, true})
    for (int64_t axis : order) {
      bool repeats = llvm::any_of(func.getBody().getOps<ReduceOp>(),
                                  [&](ReduceOp reduce) { return !optimize::dependsOn(reduce.getResult(), axis); });
      if (repeats == isRepeated)
        outer.push_back(axis);
    }
  outer.append(inner);
  return outer;
}

void LayoutAssigner::rewrite(host::LaunchOp launch) {
  SmallVector<ShapeTracker> trackers;
  bool isChanged = false;
  for (Operation *access : optimize::accessesOf(kernelOf(launch))) {
    std::optional<ShapeTracker> tracker = trackerAt(launch, access);
    isChanged |= tracker.has_value();
    trackers.push_back(tracker ? *tracker : trackerOf(access));
  }
  if (isChanged)
    variants_.launchWith(launch, trackers, [&](FuncOp func) {
      applyNormalization(func, planNormalization(func, memoryOrder(func, optimize::weightsOf(launch))));
    });
}

void LayoutAssigner::growMemory() {
  for (auto &[memory, tensor] : tensors_) {
    if (!tensor.layout.hasHalo())
      continue;
    auto alloc = memory.getDefiningOp<host::AllocOp>();
    auto store = accessesOf(kernelOf(tensor.writer.launch), tensor.writer.buffer).front();
    int64_t elementBytes = byteSize(cast<StoreOp>(store).getValue().getType());
    OpBuilder builder(alloc);
    alloc.getBytesMutable().assign(sizes_.emit(builder, tensor.layout.elements() * elementBytes));
    view::Shape key{elementBytes};
    llvm::append_range(key, tensor.layout.strides());
    for (Layout::Room room : tensor.layout.halo)
      key.append({room.before, room.after});
    alloc.setHaloAttr(DimsAttr::get(builder.getContext(), key));
  }
}

void LayoutAssigner::note(Tensor &tensor) {
  host::LaunchOp launch = tensor.writer.launch;
  if (tensor.layout.isRowMajor() || !launch.getTensorsAttr())
    return;
  SmallVector<Attribute> tensors(launch.getTensorsAttr().getValue());
  Attribute *noted = nullptr;
  SmallVector<int64_t> axes;
  for (Attribute &attr : tensors) {
    auto each = cast<host::TensorAttr>(attr);
    view::Shape shape = shapeOf(each.getType()), sizes;
    SmallVector<int64_t> kept;
    for (auto [axis, size] : llvm::enumerate(shape))
      if (!size.isConst(1))
        sizes.push_back(size), kept.push_back(axis);
    if (host::role::isRead(each.getOp()) || !each.getMemory() || sizes != tensor.layout.shape)
      continue;
    if (noted) // of two results alike nobody knows which one it is
      return;
    noted = &attr, axes = kept;
  }
  if (!noted)
    return;
  SmallVector<int64_t> order = llvm::map_to_vector(tensor.layout.order, [&](int64_t axis) { return axes[axis]; }),
                       zeros;
  if (tensor.layout.hasHalo())
    for (Layout::Room room : tensor.layout.halo)
      zeros.append({room.before, room.after});
  auto layout = host::LayoutAttr::get(launch.getContext(), order, tensor.reason, zeros);
  *noted = cast<host::TensorAttr>(*noted).lyingAs(layout);
  launch.setTensorsAttr(Builder(launch.getContext()).getArrayAttr(tensors));
}

void LayoutAssigner::run() {
  findTensors();
  for (auto &[memory, tensor] : tensors_) {
    choose(memory, tensor);
    chooseByWork(memory, tensor);
  }
  for (auto &[memory, tensor] : tensors_)
    addHalo(tensor);
  for (auto &[memory, tensor] : tensors_)
    note(tensor);
  growMemory();
  SmallVector<host::LaunchOp> launches(program_.getBody().front().getOps<host::LaunchOp>());
  for (host::LaunchOp launch : launches)
    rewrite(launch);
  variants_.nameKernels();
}

namespace {
struct AssignLayouts : kiln::impl::AssignLayoutsBase<AssignLayouts> {
  void runOnOperation() override {
    TargetAttr target = targetOf(getOperation());
    if (target.vectorBits() == 0 || target.hasGroups())
      return;
    for (auto program : llvm::make_early_inc_range(getOperation().getOps<host::ProgramOp>()))
      LayoutAssigner(getOperation(), program, target).run();
  }
};
} // namespace
