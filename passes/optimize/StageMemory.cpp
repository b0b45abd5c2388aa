//===- StageMemory.cpp - The layout of a stage's memory, and its number of buffers ---===//
// STAGE lays memory out in the order in which readers go. Another order may suit the fillers, and one that suits both
// may still have a column's elements a power of two apart, in one bank of local memory or one set of a cache. PAD
// leaves room between rows, XOR exchanges their contents: neither affects the walks, which find an element by its
// place. BUFFERS has memory for several steps of the loop around, so that one can be filled while another is read.
//===----------------------------------------------------------------------------===//

#include "passes/optimize/StageMemory.h"

#include "ir/kernel/MatrixProduct.h"
#include "support/Error.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"

using namespace kiln;
using namespace kiln::kernel;
using namespace mlir;
using view::Expr;

static llvm::Error refuse(const llvm::Twine &cause) { return kiln::failure(cause); }

llvm::Expected<PartAttr> optimize::partOf(const Walk &walk, AxisAttr axis) {
  Expr variable = loopVariable(axis);
  for (auto [domainAxis, index] : llvm::enumerate(walk.index)) {
    if (!axesOf(index).contains(axis.getId()))
      continue;
    // The axis' last point is size - 1 steps after its first, whatever the others are at.
    llvm::DenseMap<Expr, Expr> first{{variable, 0}}, second{{variable, 1}};
    Expr step = axis.getSize().getValue().isConst(1) ? Expr(1) : index.substitute(second) - index.substitute(first);
    if (step.isConst() && step.constant() > 0)
      return PartAttr::get(axis.getContext(), domainAxis, step.constant(), axis.getSize(), 0);
  }
  return refuse("axis " + llvm::Twine(axis.getId()) + " does not go through the domain in even steps");
}

llvm::Error optimize::checkParts(ArrayRef<Attribute> layout) {
  llvm::DenseMap<int64_t, SmallVector<PartAttr>> along;
  for (Attribute part : layout)
    along[cast<PartAttr>(part).getAxis()].push_back(cast<PartAttr>(part));
  for (auto &[axis, parts] : along) {
    llvm::sort(parts, [](PartAttr a, PartAttr b) { return a.getStep() < b.getStep(); });
    for (size_t i = 1; i < parts.size(); ++i)
      if (!view::provablyEqual(parts[i - 1].getCount().getValue() * parts[i - 1].getStep(), parts[i].getStep()))
        return refuse("the stage would hold scattered points of axis " + llvm::Twine(axis) + " of the domain");
  }
  return llvm::Error::success();
}

/// Scratch memory is as large as its stage.
static void fitScratch(FuncOp func, StageOp stage) {
  if (!stage.getBuffer())
    return;
  SmallVector<Expr> sizes(func.getScratch().getSizes());
  unsigned first = func.getNumArguments() - sizes.size();
  sizes[cast<BlockArgument>(stage.getBuffer()).getArgNumber() - first] = stage.getElements();
  func.setScratchAttr(DimsAttr::get(func.getContext(), sizes));
}

/// The axes of a stage's walk that its memory goes along.
static llvm::DenseSet<int64_t> heldAxes(const Walk &walk) {
  llvm::DenseSet<int64_t> held;
  for (PartAttr part : walk.stage.getParts())
    for (int64_t id : axesOf(walk.index[part.getAxis()]))
      if (walk.contains(id))
        held.insert(id);
  return held;
}

static bool isForMatrices(FuncOp func, StageOp stage) {
  return llvm::any_of(walksOf(func), [&](const Walk &walk) {
    return hasFragments(walk) && (walk.stage == stage || walk.operations().contains(stage));
  });
}

/// The dimensions of memory for an order of the stage's axes: each of them once.
static llvm::Expected<SmallVector<Attribute>> partsFor(const Walk &walk, ArrayRef<RunAttr> runs) {
  llvm::DenseSet<int64_t> left = heldAxes(walk);
  SmallVector<Attribute> parts;
  for (RunAttr run : runs) {
    size_t position = walk.positionOf(run.getAxis());
    if (position == walk.axes.size() || !left.erase(run.getAxis()))
      return refuse("axis " + llvm::Twine(run.getAxis()) +
                    " is named twice, or is none of the stage's that its memory goes along");
    llvm::Expected<PartAttr> part = optimize::partOf(walk, walk.axes[position]);
    if (!part)
      return part.takeError();
    parts.push_back(*part);
  }
  for (AxisAttr axis : walk.axes)
    if (left.contains(axis.getId()))
      return refuse("the memory goes along axis " + llvm::Twine(axis.getId()) + " too, which the order leaves out");
  if (llvm::Error error = optimize::checkParts(parts))
    return error;
  return parts;
}

/// Whether a stage may be a launch of its own, whose memory others read through a view.
static bool isForLaunch(StageOp stage) {
  return stage.getBuffer() && llvm::all_of(stage.getBase(), [](Expr base) { return base.isConst(0); });
}

llvm::Error optimize::layOut(FuncOp func, OptAttr opt, const Walk &walk) {
  StageOp stage = walk.stage;
  if (!stage)
    return refuse("axis " + llvm::Twine(opt.getAxis()) + " is the kernel's own: LAYOUT lists the axes of a stage");
  if (isForMatrices(func, stage))
    return refuse("what matrix and dot instructions read or make lies in their order");
  SmallVector<RunAttr> runs(opt.getRuns().getAsRange<RunAttr>());
  llvm::Expected<SmallVector<Attribute>> parts = partsFor(walk, runs);
  if (!parts)
    return parts.takeError();
  MLIRContext *context = func.getContext();
  SwizzleAttr swizzle;
  Expr run = 1; // elements, from one point of the axis at hand to the next
  for (size_t position = runs.size(); position-- > 0;) {
    RunAttr wanted = runs[position];
    auto part = cast<PartAttr>((*parts)[position]);
    run = run * part.getCount().getValue();
    bool isPlain = wanted.getPad() == 0 && wanted.getWays() == 0;
    if (!isPlain && position == 0)
      return refuse("the runs of axis " + llvm::Twine(wanted.getAxis()) +
                    ", the outermost, are one: PAD and XOR come after an axis inside of it");
    if (!isPlain && isForLaunch(stage))
      return refuse("what is held for the whole launch lies as a view can say, without PAD and XOR");
    if (wanted.getPad() != 0) {
      auto around = cast<PartAttr>((*parts)[position - 1]);
      (*parts)[position - 1] =
          PartAttr::get(context, around.getAxis(), around.getStep(), around.getCount(), wanted.getPad());
      run = run + wanted.getPad();
    }
    if (wanted.getWays() == 0)
      continue;
    if (swizzle)
      return refuse("memory has one XOR");
    if (!run.isConst())
      return refuse("a row has " + run.render() + " elements, which only a run knows, and XOR stays inside of rows");
    swizzle = SwizzleAttr::get(context, wanted.getWays(), wanted.getUnit(), run.constant());
  }
  stage.setLayoutAttr(ArrayAttr::get(context, *parts));
  if (swizzle)
    stage.setSwizzleAttr(swizzle);
  else
    stage.removeSwizzleAttr();
  if (std::optional<std::string> fault = faultOfLayout(stage))
    return refuse(*fault);
  fitScratch(func, stage);
  return llvm::Error::success();
}

llvm::Error optimize::giveBuffers(FuncOp func, OptAttr opt, const Walk &walk) {
  StageOp stage = walk.stage;
  int64_t count = opt.getAmount();
  if (!stage)
    return refuse("axis " + llvm::Twine(opt.getAxis()) + " is the kernel's own: BUFFERS names an axis of a stage");
  if (count < 1 || count > kMostBuffers)
    return refuse("a stage has 1 to " + llvm::Twine(kMostBuffers) + " buffers");
  int64_t loop = loopAhead(stage);
  if (count > 1 && loop < 0)
    return refuse("the stage stands inside no loop of its one walk of readers that its filling could run ahead of");
  if (count > 1)
    stage.setBuffersAttr(BuffersAttr::get(func.getContext(), count, loop));
  else
    stage.removeBuffersAttr();
  fitScratch(func, stage);
  return llvm::Error::success();
}
