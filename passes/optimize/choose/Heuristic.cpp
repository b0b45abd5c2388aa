//===- Heuristic.cpp - Choose opts from a kernel's structure ---------------------------===//
// What makes a kernel fast is written in how its operands move along its axes: a sum of products in which one operand
// does not move along one axis and the other not along another is a matrix product, whatever operator it came from, and
// wants a register tile over the two. Where there is none, the axis along which memory is contiguous becomes vector
// lanes.
//===--------------------------------------------------------------------------------===//

#include "passes/optimize/choose/Heuristic.h"

#include "passes/optimize/ApplyOpts.h"
#include "passes/optimize/GroupSize.h"
#include "passes/optimize/choose/ChooseAttention.h"
#include "passes/optimize/choose/Chooser.h"
#include "passes/optimize/choose/Cuts.h"
#include "passes/optimize/choose/Groups.h"
#include "passes/optimize/choose/Work.h"

#include "ir/host/Host.h"
#include "ir/kernel/MatrixProduct.h"
#include "target/Times.h"

using namespace kiln;
using namespace kiln::kernel;
using namespace kiln::optimize;
using namespace mlir;
using namespace kiln::target::times;

int64_t optimize::elementBits(FuncOp func) {
  StoreOp store = *func.getBody().getOps<StoreOp>().begin();
  unsigned widest = byteSize(store.getValue().getType());
  for (Operation &op : func.getBody().front()) // integers of 64 bits mostly are places
    if (isa<AluOp, ReduceOp>(op) && !op.getResult(0).getType().isInteger(64))
      widest = std::max(widest, byteSize(op.getResult(0).getType()));
  return 8 * int64_t(widest);
}

SmallVector<size_t> Chooser::chooseTotals() {
  SmallVector<size_t> axes;
  int64_t totals = 1;
  for (auto reduce : func_.getBody().getOps<ReduceOp>())
    for (size_t axis = 0; reduce.getScore() && axis < func_.getDomain().getSizes().size(); ++axis)
      if (optimize::dependsOn(reduce.getResult(), axis) && !optimize::dependsOn(reduce.getScore(), axis) &&
          !llvm::is_contained(axes, axis)) {
        axes.push_back(axis);
        totals = fixedSize(axis) < 0 ? target::kMostTotals + 1 : totals * fixedSize(axis);
      }
  if (axes.empty() || totals > target::kMostTotals)
    return {};
  bool hasVectors = target_.vectorBits() >= elementBits(func_) * 2;
  for (size_t axis : axes) {
    OptKind unroll = reduced_.contains(axis) ? OptKind::UNROLL : OptKind::UPCAST;
    add(hasVectors && axis == axes.back() ? OptKind::VECTOR : unroll, axis, fixedSize(axis));
  }
  return axes;
}

SmallVector<size_t> Chooser::keptAxes(ArrayRef<size_t> without) const {
  SmallVector<size_t> kept;
  for (size_t axis = 0; axis < func_.getDomain().getSizes().size(); ++axis)
    if (!reduced_.contains(axis) && !llvm::is_contained(without, axis))
      kept.push_back(axis);
  return kept;
}

void Chooser::chooseChunks(ArrayRef<size_t> axes, size_t rows, int64_t least, bool evenly) {
  SmallVector<optimize::CutAxis> loops;
  for (size_t axis : axes)
    if (countOf_[axis] > 0)
      loops.push_back({axis, countOf_[axis], axis == rows ? least : 1, axis == rows && evenly});
  SmallVector<double> open(countOf_.size(), 1.0);
  for (kernel::AxisAttr axis : trial_.func().getLoopAxes())
    if (view::Expr size = axis.getSize().getValue();
        axis.getKind() == AxisKind::Chunk && !size.isConst() && axis.getId() < int64_t(open.size()))
      open[axis.getId()] = std::max(1.0, target::typicalSize(size));
  for (auto [axis, parts] : optimize::chooseCuts(func_, target_, weights_, loops, mostChunks_, open))
    addChunks(axis, parts);
}

void Chooser::addChunks(size_t axis, int64_t parts) {
  bool wholeAxis = parts == countOf_[axis];
  int64_t inner = add(OptKind::THREAD, axis, wholeAxis ? 0 : parts);
  loopOf_[axis] = wholeAxis ? int64_t(axis) : inner;
}

std::optional<int64_t> Chooser::walkedLoop(size_t axis, size_t lanes) const {
  SmallVector<size_t> candidates{axis};
  llvm::append_range(candidates, llvm::reverse(keptAxes({axis, lanes})));
  const size_t *walked = llvm::find_if(candidates, [&](size_t each) { return isWalked(each); });
  return walked == candidates.end() ? std::nullopt : std::optional(loopOf(*walked));
}

bool Chooser::isWalked(size_t axis) const {
  auto loop = loopOf_.find(axis);
  bool isOneStep = loop != loopOf_.end() && loop->second == int64_t(axis);
  return countOf_[axis] != 1 && !isOneStep;
}

void Chooser::askForResults(size_t rows, size_t lanes) {
  if (std::optional<int64_t> loop = walkedLoop(rows, lanes))
    for (const Access &store : stores_)
      if (store.isContiguous(lanes)) // else each lane has a line of its own
        add(OptKind::PREFETCH, *loop, store.buffer);
}

void Chooser::cutFirstSymbolic(ArrayRef<size_t> axes) {
  const auto *axis = llvm::find_if(axes, [&](size_t axis) { return countOf_[axis] < 0 && mostOf(axis) > 1; });
  if (axis == axes.end())
    return;
  // Where other axes are walked inside it, a second loop over its points costs more than chunks bring, unless each
  // point is worth a chunk; one that is worth several has axes inside that are cut. Along which the result lies side by
  // side, it is not cut while others are: a chunk would have a few elements of each line.
  double points = pointsInChunk(*axis) / double(stepOf_[*axis]);
  bool isWorthOne = points > 0.5 && points < 2 && !isWrittenAlong(*axis);
  if (!isWorthOne && axes.size() > 1)
    return;
  cutSymbolic(*axis, points, /*whole=*/stepOf_[*axis] > 1 ? 1 : kMostVector);
  if (uncut_ && loopOf(*axis) != int64_t(*axis)) // that is still walked inside
    add(OptKind::SWAP, *uncut_, loopOf(*axis));
}

double Chooser::pointsInChunk(size_t axis) const {
  double points = target::typicalSize(func_.getDomain().getSizes()[axis]);
  return kLongChunkNanoseconds / std::max(1.0, nanosecondsOf(func_, target_) / points);
}

void Chooser::cutSymbolic(size_t axis, double points, int64_t whole) {
  if (mostChunks_ < 1 || countOf_[axis] == 1)
    return;
  loopOf_[axis] = axis;
  if (points >= 2)
    loopOf_[axis] = add(OptKind::TILE, axis, llvm::alignTo(int64_t(std::min(points, 0x1p30)), whole));
  add(OptKind::THREAD, axis, 0);
}

void Chooser::cutIntoPoints(ArrayRef<size_t> axes) {
  int64_t chunks = 1;
  for (size_t axis : axes) {
    int64_t count = countOf_[axis];
    if (count == 1 || mostChunks_ < 1 || (count > 0 && chunks * count > target::kMostChunks))
      continue;
    chunks *= std::max<int64_t>(1, count);
    add(OptKind::THREAD, axis, 0);
  }
}

void Chooser::readKernel() {
  for (Operation &op : func_.getBody().front()) {
    if (auto load = dyn_cast<LoadOp>(op))
      loads_.push_back(optimize::accessOf(load));
    if (auto store = dyn_cast<StoreOp>(op))
      stores_.push_back(optimize::accessOf(store));
    if (auto reduce = dyn_cast<ReduceOp>(op))
      for (int64_t axis : reduce.getAxes())
        reduced_.insert(axis);
  }
  for (size_t axis = 0; axis < func_.getDomain().getSizes().size(); ++axis)
    countOf_.push_back(fixedSize(axis));
  stepOf_.assign(countOf_.size(), 1);
}

bool Chooser::takeWay(llvm::function_ref<bool(Chooser &)> way) {
  Chooser tried = *this;
  if (!way(tried))
    return false;
  *this = std::move(tried);
  return true;
}

bool Chooser::tryWay(llvm::function_ref<bool(Chooser &)> way) {
  return takeWay([&](Chooser &tried) { return way(tried) && tried.fits(); });
}

bool Chooser::fits() { return trial_.fits() && !faultOfProducts(trial_.func(), target_); }

int64_t Chooser::add(OptKind kind, int64_t axis, int64_t amount) {
  int64_t inner = trial_.split(kind, axis, amount);
  bool wholeAxis = kind == OptKind::GLOBAL || (kind == OptKind::THREAD && amount == 0);
  bool splits = kind != OptKind::SWAP && kind != OptKind::STAGE && kind != OptKind::PREFETCH && kind != OptKind::TC &&
                kind != OptKind::THREAD && !wholeAxis;
  if (splits && axis < int64_t(countOf_.size())) { // else a part of another, or a stage's
    if (int64_t &count = countOf_[axis]; count > 0)
      count = llvm::divideCeil(count, amount);
    stepOf_[axis] *= amount;
    if (mostOf(axis) <= stepOf_[axis])
      countOf_[axis] = 1;
  }
  return inner;
}

bool Chooser::keepIfFits(llvm::function_ref<void(Trial &)> change) {
  Trial changed = trial_;
  change(changed);
  if (!changed.fits() || optimize::groupSizeOf(changed.func()).bytes > target_.localBytes())
    return false;
  trial_ = std::move(changed);
  return true;
}

bool Chooser::stage(int64_t axis, unsigned buffer) {
  return keepIfFits([&](Trial &trial) { trial.apply(OptKind::STAGE, axis, buffer); });
}

bool Chooser::stage(int64_t axis, const Access &access, const Operand &operand) {
  if (operand.onlyLoad())
    return stage(axis, access.buffer);
  return keepIfFits([&](Trial &trial) { trial.hold(trial.copyOf(operand.value), axis); });
}

bool Chooser::chooseAttention() {
  std::optional<optimize::AttentionOpts> chosen = optimize::chooseAttention(func_, target_);
  if (!chosen)
    return false;
  trial_ = Trial(func_, target_);
  for (OptAttr opt : chosen->opts)
    trial_.apply(opt);
  ArrayRef<size_t> around = chosen->around;
  countOf_[around.back()] = chosen->blocks;
  if (llvm::any_of(around, [&](size_t axis) { return countOf_[axis] < 0; }))
    cutIntoPoints(around);
  else
    chooseChunks(around, /*rows=*/around.back(), /*least=*/1, chosen->isPacked);
  return true;
}

/// How the open axes around rows that are worth less than a chunk are cut: into chunks of so many points, those of the
/// outer ones first, until chunks are short enough. Empty where rows are worth one, where all are not worth two
/// threads, where a point of the only open axis is worth a chunk, which cutFirstSymbolic sees, and where a point of the
/// first of several is worth less: only a run knows which of these is long.
static SmallVector<std::pair<size_t, double>> cutsAroundRows(FuncOp func, TargetAttr target, ArrayRef<size_t> open) {
  auto typical = [&](size_t axis) { return target::typicalSize(func.getDomain().getSizes()[axis]); };
  double alone = nanosecondsOf(func, target), points = kLongChunkNanoseconds / alone * typical(open.front());
  double rows = points;
  for (size_t axis : open.drop_front())
    rows *= typical(axis);
  if (alone < 2 * kThreadNanoseconds || rows < 1 || (points >= 2) == (open.size() > 1))
    return {};
  SmallVector<std::pair<size_t, double>> cuts;
  for (size_t axis : open) {
    points *= cuts.empty() ? 1 : typical(axis);
    cuts.push_back({axis, points});
    if (points >= 0.5)
      break;
  }
  return cuts;
}

void Chooser::chooseLoops(SmallVector<size_t> totals) {
  if (uncut_)
    totals.push_back(*uncut_);
  SmallVector<size_t> loops = keptAxes(totals);
  if (swapped_)
    for (size_t &axis : loops)
      axis = axis == swapped_->first ? swapped_->second : axis == swapped_->second ? swapped_->first : axis;
  if (outermost_) {
    llvm::erase(loops, *outermost_);
    loops.insert(loops.begin(), *outermost_);
  }
  // Chunks that are parts of short rows would have a few elements of each line, over all rows.
  SmallVector<size_t> open;
  llvm::copy_if(loops, std::back_inserter(open), [&](size_t axis) { return countOf_[axis] < 0 && mostOf(axis) > 1; });
  const auto *row = llvm::find_if(loops, [&](size_t axis) { return countOf_[axis] > 1 && isWrittenAlong(axis); });
  bool isAroundRows =
      !open.empty() && row != loops.end() && std::next(llvm::find(loops, open.back())) == row && !uncut_ && !outermost_;
  SmallVector<std::pair<size_t, double>> cuts;
  if (isAroundRows)
    cuts = cutsAroundRows(func_, target_, open);
  if (cuts.empty())
    cutFirstSymbolic(loops);
  else
    loops.erase(row);
  for (auto [axis, points] : cuts)
    cutSymbolic(axis, points / double(stepOf_[axis]), /*whole=*/1);
  chooseChunks(loops);
  if (packed_)
    stage(-1, *packed_);
  if (windows_)
    askForWindows(windows_->first, windows_->second);
}

void Chooser::choose() {
  readKernel();
  bool isEmpty = llvm::any_of(func_.getDomain().getSizes(), [](view::Expr size) { return size.isConst(0); });
  if (isEmpty)
    return;
  SmallVector<size_t> totals = chooseTotals();
  if (target_.hasGroups()) {
    for (OptAttr opt : optimize::chooseGroups(func_, target_, totals)) {
      if (opt.getKind() == OptKind::STAGE)
        keepIfFits([&](Trial &trial) { trial.apply(opt); });
      else
        trial_.apply(opt);
    }
    return;
  }
  mostChunks_ = target_.getChunks();
  bool hasVectors = target_.vectorBits() >= elementBits(func_) * 2;
  std::optional<TiledProduct> product = hasVectors ? optimize::findProduct(func_, target_, weights_) : std::nullopt;
  // Matrices are read whole, which not every operand can be.
  auto byMatrices = [&](Chooser &tried) {
    return product ? tried.chooseMatrices(*product) : tried.chooseVectorByMatrices();
  };
  auto byDots = [&](Chooser &tried) { return product ? tried.chooseDots(*product) : tried.chooseVectorByDots(); };
  bool areTooFew = product && areTooFewToPack(*product);
  if (!areTooFew && (tryWay(byMatrices) || tryWay(byDots)))
    return;
  if (chooseAttention())
    return;
  if (hasVectors && tryWay([](Chooser &tried) { return tried.chooseBlocks(); }))
    return;
  // Where a tile goes along an axis of unknown size, tiles are what is cut into chunks.
  bool isUnknown = product && (fixedSize(product->m) < 0 || fixedSize(product->n) < 0);
  auto byTiles = [&](Chooser &tried) {
    if (!isUnknown)
      tried.cutFirstSymbolic(keptAxes());
    return tried.chooseProduct(*product);
  };
  if (product && (product->areLoads ? takeWay(byTiles) : tryWay(byTiles)))
    return;
  // Totals that are held must be complete where they are read, which not every kernel's are.
  bool hasLanes = hasVectors && totals.empty();
  auto inChunks = [&](bool (Chooser::*way)()) {
    return [&, way](Chooser &tried) {
      tried.cutFirstSymbolic(keptAxes());
      return (tried.*way)();
    };
  };
  if (hasLanes && (tryWay(inChunks(&Chooser::chooseStreams)) || tryWay(inChunks(&Chooser::chooseSumsOfLines))))
    return;
  if (totals.empty() && takeWay(inChunks(&Chooser::chooseRowStages)))
    return;
  if (hasLanes)
    chooseLanes();
  chooseLoops(totals);
}

optimize::Trial optimize::chooseOpts(FuncOp func, TargetAttr target, const llvm::SmallBitVector &weights) {
  Chooser chooser(func, target, weights);
  chooser.choose();
  return chooser.takeTrial();
}

bool optimize::readsAsTheyLie(FuncOp func, TargetAttr target, const llvm::SmallBitVector &weights) {
  Chooser chooser(func, target, weights);
  chooser.choose();
  return chooser.readsAsTheyLie();
}

llvm::SmallBitVector optimize::weightsOf(host::LaunchOp launch) {
  llvm::SmallBitVector weights(launch.getBuffers().size());
  for (auto [number, buffer] : llvm::enumerate(launch.getBuffers()))
    weights[number] = bool(buffer.getDefiningOp<host::WeightOp>());
  return weights;
}

llvm::StringMap<llvm::SmallBitVector> optimize::weightsOf(ModuleOp module) {
  llvm::StringMap<llvm::SmallBitVector> weights;
  for (auto program : module.getOps<host::ProgramOp>())
    program.walk([&](host::LaunchOp launch) {
      auto [known, isNew] = weights.try_emplace(launch.getKernel(), launch.getBuffers().size(), true);
      known->second &= weightsOf(launch);
    });
  return weights;
}
