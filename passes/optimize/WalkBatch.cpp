//===- WalkBatch.cpp - Compute a batch sample by sample -----------------------------------===//
// Stage: optimize (host + kernels → host + kernels).
// The data of a whole batch that one kernel writes and the next reads may be more than a cache holds, even if a
// sample's is not. So launches in a row that all go over the batch become a host.batch: the same kernels over one
// sample, for each sample, and memory that only they write and read has room for one sample in each slot. The gain is
// weighed against reading weights again for each sample, but not against slower kernels over fewer points. The common
// first axis of all outputs and an input counts as a batch, be it of heads or of rows: no other op needs to know.
// Expects: kernels without opts; layouts are assigned, and parts placed.
// Guarantees: what is in a host.batch computes each sample from the same of what came before, and has no sizes that
// depend on symbols.
// Position: before axes are normalized and opts are chosen, which go by a kernel's domain.
//===--------------------------------------------------------------------------------------===//

#include "passes/Passes.h"

#include "passes/optimize/KernelVariants.h"
#include "target/Times.h"

#include "ir/base/Devices.h"
#include "ir/host/Sizes.h"
#include "ir/kernel/Normalize.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

using namespace kiln;
using namespace kiln::kernel;
using namespace mlir;
using optimize::accessesOf;
using optimize::memoryOf;
using optimize::trackerOf;
using view::Expr;
using view::ShapeTracker;
namespace times = target::times;

namespace kiln {
#define GEN_PASS_DEF_WALKBATCH
#include "passes/Passes.h.inc"
} // namespace kiln

namespace {
/// A launch as one of a batch: the place of the samples in its kernel's domain.
struct Walked {
  host::LaunchOp launch;
  int64_t axis = 0, points = 0;                   ///< points of the axis that are one sample's
  llvm::SmallMapVector<Value, int64_t, 4> apart;  ///< by memory, bytes from one sample to the next; 0: all share it
  llvm::SmallMapVector<Value, int64_t, 4> shared; ///< shared bytes that each sample reads
  llvm::SmallSetVector<Value, 2> written;
};

/// Memory that only launches in a row need.
struct Passed {
  size_t first = 0, last = 0; ///< of the launches that access it
  int64_t bytes = 0;          ///< of one sample
  int64_t passes = 0;         ///< how often it is written or read
};

/// Launches in a row that are worth being a batch of their own.
struct Stretch {
  size_t begin = 0, end = 0;
  double saved = 0; ///< nanoseconds
};
} // namespace

//===----------------------------------------------------------------------===//
// Where the samples are
//===----------------------------------------------------------------------===//

/// The part of a view that the first `points` points of an axis see.
static ShapeTracker firstPoints(const ShapeTracker &tracker, int64_t axis, int64_t points) {
  SmallVector<view::Range> ranges;
  for (auto [position, size] : llvm::enumerate(tracker.shape())) {
    bool isWhole = int64_t(position) != axis || size.isConst(1);
    ranges.push_back({0, isWhole ? size : Expr(points)});
  }
  return tracker.shrink(ranges).simplify();
}

/// Bytes between the parts that an access reaches for one sample and for the next; nullopt if a sample's part is not a
/// box of its own.
static std::optional<int64_t> bytesApart(Operation *access, int64_t axis, int64_t points) {
  ShapeTracker tracker = trackerOf(access);
  std::optional<Expr> stride = tracker.shape()[axis].isConst(1) ? Expr(0) : tracker.realStrides()[axis];
  if (!stride || !stride->isConst() || stride->constant() < 0)
    return std::nullopt;
  int64_t apart = stride->constant() * points;
  Expr reach = firstPoints(tracker, axis, points).realSize();
  if (apart > 0 && (!reach.isConst() || reach.constant() > apart))
    return std::nullopt;
  return apart * int64_t(byteSize(cast<BufferType>(optimize::bufferOf(access).getType()).getElement()));
}

/// Whether a view gives the same to all samples without memory: its mask, or its index.
static bool isSameForAll(Operation &op, int64_t axis) {
  auto tracker = op.getAttrOfType<TrackerAttr>("tracker");
  if (!tracker || tracker.getValue().shape()[axis].isConst(1))
    return !isa<SizeOp>(op);
  std::optional<Expr> stride = tracker.getValue().realStrides()[axis];
  return stride && (isa<ValidOp>(op) || stride->isConst(0));
}

/// Bytes of shared data that a load reads; for rows that it looks up, those are few.
static int64_t bytesRead(LoadOp load) {
  Expr reach = trackerOf(load).realSize();
  return load.getRow() || !reach.isConst() ? 0 : reach.constant() * int64_t(byteSize(load.getType()));
}

/// Whether a batch may read, or write, an op's result at parts `apart` bytes apart: memory without another name. Inputs
/// are never written, and weights stay whole, as they are packed.
static bool mayBeWalked(Operation *owner, bool isRead, int64_t apart) {
  if (isa_and_nonnull<host::WeightOp>(owner))
    return isRead && apart == 0;
  if (auto output = dyn_cast_or_null<host::OutputOp>(owner)) {
    auto ports = owner->getParentOfType<host::ProgramOp>().getOutputs();
    return (isRead || apart > 0) && !cast<host::PortAttr>(ports[output.getIndex()]).getAlias();
  }
  return isRead ? isa_and_nonnull<host::AllocOp, host::InputOp>(owner)
                : apart > 0 && isa_and_nonnull<host::AllocOp>(owner);
}

/// The launch with its samples along an axis; nullopt if they are not there.
static std::optional<Walked> walkedAlong(host::LaunchOp launch, FuncOp func, int64_t axis, int64_t samples) {
  Expr size = func.getDomain().getSizes()[axis];
  if (!size.isConst() || size.isConst(0) || size.constant() % samples != 0)
    return std::nullopt;
  Walked walked{launch, axis, size.constant() / samples, {}, {}, {}};
  for (Operation &op : func.getBody().front()) {
    if (auto reduce = dyn_cast<ReduceOp>(op); reduce && llvm::is_contained(reduce.getAxes(), axis))
      return std::nullopt;
    if (!optimize::bufferOf(&op)) {
      if (!isSameForAll(op, axis))
        return std::nullopt;
      continue;
    }
    Value memory = memoryOf(launch, &op);
    auto load = dyn_cast<LoadOp>(op);
    std::optional<int64_t> apart = bytesApart(&op, axis, walked.points);
    if (!apart || !mayBeWalked(memory.getDefiningOp(), bool(load), *apart) ||
        walked.apart.insert({memory, *apart}).first->second != *apart)
      return std::nullopt;
    if (!load)
      walked.written.insert(memory);
    else if (*apart == 0)
      walked.shared[memory] = std::max(walked.shared.lookup(memory), bytesRead(load));
  }
  return walked.written.empty() ? std::nullopt : std::optional(walked);
}

/// The launch with its samples along the outermost axis of its output.
static std::optional<Walked> walkedOf(host::LaunchOp launch, FuncOp func, int64_t samples) {
  std::optional<Walked> best;
  if (!launch.getSizes().empty() || !func.getSizes().getSizes().empty() || deviceOf(func) != 0)
    return best;
  auto apartOf = [](const Walked &walked) { return walked.apart.lookup(walked.written.front()); };
  for (size_t axis = 0; axis < func.getDomain().getSizes().size(); ++axis)
    if (std::optional<Walked> walked = walkedAlong(launch, func, axis, samples))
      if (!best || apartOf(*walked) > apartOf(*best))
        best = walked;
  return best;
}

//===----------------------------------------------------------------------===//
// What is worth it
//===----------------------------------------------------------------------===//

namespace {
class BatchWalker {
public:
  BatchWalker(ModuleOp module, host::ProgramOp program, int64_t samples)
      : target_(targetOf(module)), program_(program), samples_(samples), variants_(module) {}
  void run();

private:
  llvm::MapVector<Operation *, Passed> passedIn(ArrayRef<Walked> row) const;
  double savedBy(const Passed &passed) const;
  double lostBy(const Walked &walked) const;
  SmallVector<Stretch> stretchesOf(ArrayRef<Walked> row) const;
  void rewrite(ArrayRef<Walked> row);
  void shrink(const Walked &walked);

  TargetAttr target_;
  host::ProgramOp program_;
  int64_t samples_;
  optimize::KernelVariants variants_;
};
} // namespace

/// Values that launches of the row pass on only among themselves.
llvm::MapVector<Operation *, Passed> BatchWalker::passedIn(ArrayRef<Walked> row) const {
  llvm::MapVector<Operation *, Passed> all;
  llvm::DenseMap<Operation *, size_t> numbers;
  for (auto [number, walked] : llvm::enumerate(row))
    numbers[walked.launch] = number;
  for (auto [number, walked] : llvm::enumerate(row))
    for (Value memory : walked.written) {
      auto alloc = memory.getDefiningOp<host::AllocOp>();
      auto bytes = alloc ? alloc.getBytes().getDefiningOp<arith::ConstantOp>() : nullptr;
      int64_t apart = walked.apart.lookup(memory);
      if (!bytes || cast<IntegerAttr>(bytes.getValue()).getInt() != samples_ * apart)
        continue;
      bool stays = llvm::all_of(alloc->getUsers(), [&](Operation *user) {
        return numbers.contains(user) || (isa<host::FreeOp>(user) && user->getBlock() == alloc->getBlock());
      });
      if (!stays)
        continue;
      Passed passed{number, number, apart, 0};
      for (Operation *user : alloc->getUsers())
        if (auto found = numbers.find(user); found != numbers.end()) {
          passed.first = std::min(passed.first, found->second);
          passed.last = std::max(passed.last, found->second);
          ++passed.passes;
        }
      all[alloc] = passed;
    }
  return all;
}

/// A batch of it goes to memory and one sample does not, but a sample is enough for launches of its own.
double BatchWalker::savedBy(const Passed &passed) const {
  int64_t batch = passed.bytes * samples_;
  bool isFar = batch > 2 * target_.cacheBytes(2) && passed.bytes >= target_.cacheBytes(1) &&
               passed.bytes <= target_.cacheBytes(3) / 2;
  return isFar ? double(batch) * double(passed.passes) * times::kFarByteNanoseconds : 0;
}

double BatchWalker::lostBy(const Walked &walked) const {
  double bytes = 0;
  for (auto [memory, each] : walked.shared)
    bytes += double(each);
  return double(samples_ - 1) * (bytes * times::kFarByteNanoseconds + times::kChunkNanoseconds);
}

/// The distances of samples in memory that launches may each read in a different way.
static constexpr int64_t kNotOne = -1;

/// Whether the launch can be in a batch with those before it, described by `apart` and `written`: each memory that one
/// of them writes has the same distance of samples for all.
static bool fits(const Walked &walked, llvm::SmallMapVector<Value, int64_t, 16> &apart,
                 llvm::SmallPtrSetImpl<Value> &written) {
  bool fits = true;
  for (auto [memory, each] : walked.apart) {
    auto *known = apart.insert({memory, each}).first;
    if (known->second != each)
      known->second = kNotOne;
    fits &= known->second != kNotOne || !(written.contains(memory) || walked.written.contains(memory));
  }
  written.insert(walked.written.begin(), walked.written.end());
  return fits;
}

/// The stretches that save most, from the best of those that end before each launch.
SmallVector<Stretch> BatchWalker::stretchesOf(ArrayRef<Walked> row) const {
  llvm::MapVector<Operation *, Passed> passed = passedIn(row);
  SmallVector<SmallVector<Passed>> endingAt(row.size());
  for (auto &[alloc, each] : passed)
    endingAt[each.last].push_back(each);
  // Among all up to a launch, the last one, with their total saving; an empty one if none ends there.
  SmallVector<Stretch> best(row.size() + 1);
  for (size_t begin = 0; begin <= row.size(); ++begin) {
    if (begin > 0 && best[begin].saved < best[begin - 1].saved)
      best[begin] = {0, 0, best[begin - 1].saved};
    llvm::SmallMapVector<Value, int64_t, 16> apart;
    llvm::SmallPtrSet<Value, 16> written;
    double saved = best[begin].saved;
    for (size_t end = begin; end < row.size() && fits(row[end], apart, written); ++end) {
      saved -= lostBy(row[end]);
      for (const Passed &each : endingAt[end])
        if (each.first >= begin)
          saved += savedBy(each);
      if (saved > best[end + 1].saved)
        best[end + 1] = {begin, end + 1, saved};
    }
  }
  SmallVector<Stretch> chosen;
  for (size_t end = row.size(); end > 0;) {
    Stretch last = best[end];
    if (last.begin < last.end)
      chosen.push_back(last);
    end = last.begin < last.end ? last.begin : end - 1;
  }
  std::reverse(chosen.begin(), chosen.end());
  return chosen;
}

//===----------------------------------------------------------------------===//
// The batch
//===----------------------------------------------------------------------===//

/// Lets a launch have its kernel over one sample.
void BatchWalker::shrink(const Walked &walked) {
  FuncOp func = variants_.kernelOf(walked.launch);
  auto first = [&](const ShapeTracker &tracker) { return firstPoints(tracker, walked.axis, walked.points); };
  SmallVector<ShapeTracker> trackers;
  for (Operation *access : accessesOf(func))
    trackers.push_back(first(trackerOf(access)));
  variants_.launchWith(walked.launch, trackers, [&](FuncOp variant) {
    for (Operation &op : variant.getBody().front())
      if (auto tracker = op.getAttrOfType<TrackerAttr>("tracker"); tracker && !optimize::bufferOf(&op))
        op.setAttr("tracker", TrackerAttr::get(variant.getContext(), first(tracker.getValue())));
    SmallVector<Expr> domain(variant.getDomain().getSizes());
    domain[walked.axis] = Expr(walked.points);
    setDomain(variant, domain);
  });
}

/// Whether an op between two launches can move before both.
static bool canStandBefore(Operation &op) {
  return isa<host::AllocOp, host::InputOp, host::OutputOp, host::WeightOp>(op) || isMemoryEffectFree(&op);
}

/// Lets a temporary begin to live at the end of a batch's body, where it has room for one sample.
static void moveInto(Block *body, host::AllocOp alloc, int64_t bytes) {
  for (Operation *user : llvm::make_early_inc_range(alloc->getUsers()))
    if (isa<host::FreeOp>(user))
      user->erase();
  auto builder = OpBuilder::atBlockEnd(body);
  Value size = arith::ConstantOp::create(builder, alloc.getLoc(), builder.getI64IntegerAttr(bytes));
  alloc.getBytesMutable().assign(size);
  alloc->moveBefore(body, body->end());
}

void BatchWalker::rewrite(ArrayRef<Walked> row) {
  host::LaunchOp first = row.front().launch, last = row.back().launch;
  llvm::MapVector<Operation *, Passed> passed = passedIn(row);
  for (Operation &op : llvm::make_early_inc_range(llvm::make_range(first->getIterator(), last->getIterator()))) {
    if (isa<host::FreeOp>(op))
      op.moveAfter(last);
    else if (!isa<host::LaunchOp>(op))
      op.moveBefore(first);
  }
  OpBuilder builder(first);
  Location loc = first.getLoc();
  Type number = builder.getI64Type();
  auto batch = host::BatchOp::create(builder, loc, samples_);
  Block *body = builder.createBlock(&batch.getBody(), {}, {number, number}, {loc, loc});
  builder.setInsertionPointToEnd(body);
  Expr sample = Expr::variable("sample", 0, samples_ - 1);
  llvm::DenseMap<std::pair<Value, int64_t>, Value> parts;
  for (const Walked &walked : row) {
    host::LaunchOp launch = walked.launch;
    shrink(walked);
    SmallVector<Value> buffers(launch.getBuffers());
    for (Value &memory : buffers) {
      int64_t apart = walked.apart.lookup(memory);
      if (auto own = passed.find(memory.getDefiningOp()); own != passed.end()) {
        if (own->first->getBlock() != body)
          moveInto(body, cast<host::AllocOp>(own->first), own->second.bytes);
        continue;
      }
      if (apart == 0)
        continue;
      Value &part = parts[{memory, apart}];
      if (!part) {
        Value bytes = host::evaluate(builder, loc, sample * apart, [&](Expr) { return batch.getSample(); });
        part = host::OffsetOp::create(builder, loc, memory.getType(), memory, bytes);
      }
      memory = part;
    }
    launch.getBuffersMutable().assign(buffers);
    launch->moveBefore(body, body->end());
  }
}

void BatchWalker::run() {
  SmallVector<std::vector<Walked>> rows(1);
  for (Operation &op : program_.getBody().front()) {
    auto launch = dyn_cast<host::LaunchOp>(op);
    std::optional<Walked> walked = launch ? walkedOf(launch, variants_.kernelOf(launch), samples_) : std::nullopt;
    if (walked)
      rows.back().push_back(*walked);
    else if (!isa<host::FreeOp>(op) && !canStandBefore(op))
      rows.emplace_back();
  }
  for (ArrayRef<Walked> row : rows)
    for (const Stretch &stretch : stretchesOf(row))
      rewrite(row.slice(stretch.begin, stretch.end - stretch.begin));
  variants_.nameKernels();
}

/// The size of an input's or output's first axis; 0 if it has none, or one that is not fixed.
static int64_t firstSize(Attribute port) {
  view::Shape shape = shapeOf(cast<host::PortAttr>(port).getType());
  return !shape.empty() && shape.front().isConst() ? shape.front().constant() : 0;
}

/// How many samples a run computes: the first size of all its outputs and of an input. 0: unknown.
static int64_t samplesOf(host::ProgramOp program) {
  ArrayRef<Attribute> inputs = program.getInputs().getValue(), outputs = program.getOutputs().getValue();
  int64_t samples = outputs.empty() ? 0 : firstSize(outputs.front());
  auto hasAsMany = [&](Attribute port) { return firstSize(port) == samples; };
  return samples > 1 && llvm::all_of(outputs, hasAsMany) && llvm::any_of(inputs, hasAsMany) ? samples : 0;
}

namespace {
struct WalkBatch : kiln::impl::WalkBatchBase<WalkBatch> {
  void runOnOperation() override {
    TargetAttr target = targetOf(getOperation());
    if (target.hasGroups() || target.cacheBytes(3) == 0)
      return;
    for (auto program : llvm::make_early_inc_range(getOperation().getOps<host::ProgramOp>()))
      if (int64_t samples = samplesOf(program))
        BatchWalker(getOperation(), program, samples).run();
  }
};
} // namespace
