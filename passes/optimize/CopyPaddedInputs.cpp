//===- CopyPaddedInputs.cpp - Inputs that a product pads lie among zeros -----------------===//
// Stage: optimize (host + kernels → host + kernels).
// If one operand of a product is a packed weight, a register tile reads the other's rows without asking whether they
// are inside: temporaries lie among zeros for that. An input lies as the caller has it, so the first convolution of a
// model would ask at each step of its sum. A copy of it is a temporary like any other. So are the lines of tiles that
// Winograd's transform reads, whose points lie apart: in a copy their channels lie side by side. Windows over single
// channels whose lanes lie side by side in a row of pixels ask once for all lanes, which costs less than the copy.
// Expects: kernels without opts, on the domains that schedule gave them.
// Guarantees: of an input that no launch writes, all that launches of the program's own block read through a mask that
// zeros could stand for, in products with a weight and in windows that are worth a copy with their channels innermost,
// is a temporary. Launches in branches and loops read the input as it lies.
// Position: before layouts are assigned, which put the zeros there.
//===------------------------------------------------------------------------------------===//

#include "passes/Passes.h"

#include "passes/optimize/ProgramSizes.h"
#include "passes/optimize/choose/Heuristic.h"
#include "passes/optimize/choose/Windows.h"

#include "target/Target.h"

#include "ir/host/Roles.h"
#include "ir/kernel/Normalize.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

using namespace kiln;
using namespace kiln::kernel;
using namespace mlir;
using view::Expr;
using view::ShapeTracker;

namespace kiln {
#define GEN_PASS_DEF_COPYPADDEDINPUTS
#include "passes/Passes.h.inc"
} // namespace kiln

/// The sizes of an input, those of 1 left out; none if it has no elements.
static view::Shape sizesOf(host::InputOp input) {
  auto port = cast<host::PortAttr>(input->getParentOfType<host::ProgramOp>().getInputs()[input.getIndex()]);
  view::Shape shape = shapeOf(port.getType());
  if (llvm::is_contained(shape, Expr(0)))
    return {};
  llvm::erase_if(shape, [](Expr size) { return size.isConst(1); });
  return shape;
}

/// The names that sizes depend on, each once.
static view::Shape variablesOf(ArrayRef<Expr> shape) {
  llvm::SetVector<Expr, view::Shape> variables;
  for (Expr size : shape)
    size.forEachVariable([&](Expr variable) { variables.insert(variable); });
  return variables.takeVector();
}

/// Whether a launch sums up products of a weight and what it reads of a buffer, through a mask that zeros around it
/// could stand for and that is not cheap: each row of a register tile has its own, which lanes next to each other
/// share.
static bool padsForProduct(host::LaunchOp launch, FuncOp func, unsigned buffer, ArrayRef<Expr> shape,
                           TargetAttr target) {
  std::optional<Product> product = onlyProductOf(func);
  bool hasWeight = false;
  LoadOp padded;
  if (product)
    for (const Operand &operand : product->operands)
      if (LoadOp load = operand.onlyLoad()) {
        unsigned read = cast<BlockArgument>(load.getBuffer()).getArgNumber();
        hasWeight |= isa_and_nonnull<host::WeightOp>(launch.getBuffers()[read].getDefiningOp());
        if (read == buffer && !load.getRow() && view::haloFor(load.getTracker().getValue(), shape))
          padded = load;
      }
  if (!padded || !hasWeight)
    return false;
  llvm::SmallBitVector weights = optimize::weightsOf(launch);
  return optimize::findProduct(func, target, weights, /*relays=*/true) ||
         optimize::turnedAxis(func, padded, view::Layout::rowMajor(shape), target, weights);
}

/// Elements that lie apart are read so often for each of a tensor before a copy of it takes less time.
static constexpr double kFewestReads = 3;

static double typicalElements(ArrayRef<Expr> shape) {
  double elements = 1;
  for (Expr size : shape)
    elements *= target::typicalSize(size);
  return elements;
}

/// How many elements a launch without sums reads of a buffer one by one, since no axis has neighbours that lie side by
/// side, and through masks that zeros around the tensor could stand for; 0 if it reads in another way.
static double elementsReadApart(FuncOp func, unsigned buffer, ArrayRef<Expr> shape) {
  if (!func.getBody().getOps<ReduceOp>().empty())
    return 0;
  double elements = 0;
  bool isPadded = false;
  for (auto load : func.getBody().getOps<LoadOp>()) {
    if (cast<BlockArgument>(load.getBuffer()).getArgNumber() != buffer)
      continue;
    ShapeTracker tracker = load.getTracker().getValue();
    bool isMasked = !tracker.at().valid.isConst(1), hasHalo = isMasked && view::haloFor(tracker, shape);
    if (load.getRow() || tracker.views().size() != 1 || isMasked != hasHalo)
      return 0;
    isPadded |= hasHalo;
    view::Shape moved;
    for (auto [size, stride] : llvm::zip(tracker.shape(), tracker.views().front().strides())) {
      if (stride.isConst(1) && !size.isConst(1))
        return 0;
      if (!stride.isConst(0))
        moved.push_back(size);
    }
    elements += typicalElements(moved);
  }
  return isPadded ? elements : 0;
}

/// Whether a launch writes into the memory of an input, as an assign does: others may read it before or after that.
static bool isWritten(host::InputOp input, const llvm::StringMap<FuncOp> &kernels) {
  return llvm::any_of(input->getUses(), [&](OpOperand &use) {
    auto launch = dyn_cast<host::LaunchOp>(use.getOwner());
    if (!launch)
      return false;
    FuncOp func = kernels.lookup(launch.getKernel());
    Value buffer = func.getArgument(use.getOperandNumber() - launch.getBuffers().getBeginOperandIndex());
    return llvm::any_of(buffer.getUsers(), llvm::IsaPred<StoreOp>);
  });
}

/// A kernel that copies a tensor.
static FuncOp makeCopy(ModuleOp module, Type element, ArrayRef<Expr> shape, llvm::StringSet<> &names) {
  OpBuilder builder(module.getContext());
  builder.setInsertionPointToEnd(module.getBody());
  Location loc = builder.getUnknownLoc();
  DimsAttr none = DimsAttr::get(module.getContext(), {});
  DimsAttr sizes = DimsAttr::get(module.getContext(), variablesOf(shape));
  Type buffer = BufferType::get(module.getContext(), element);
  auto func = FuncOp::create(builder, loc, "copy", builder.getFunctionType({buffer, buffer}, {}), nullptr, nullptr,
                             none, builder.getArrayAttr({}), none, sizes, builder.getArrayAttr({}), none);
  Block *body = builder.createBlock(&func.getBody(), {}, {buffer, buffer}, {loc, loc});
  auto tracker = TrackerAttr::get(module.getContext(), ShapeTracker::contiguous(shape));
  Value value = LoadOp::create(builder, loc, element, body->getArgument(1), tracker);
  StoreOp::create(builder, loc, value, body->getArgument(0), tracker);
  setDomain(func, shape);
  func.setName(freshNameOf(func, names));
  return func;
}

/// Notes the copies of inputs in what launches say of their tensors, for --why and --graph.
class CopyRecorder {
public:
  explicit CopyRecorder(host::ProgramOp program) {
    program.walk([&](host::LaunchOp launch) {
      for (host::TensorAttr tensor : tensorsOf(launch))
        last_ = std::max(last_, tensor.getMemory());
    });
  }

  /// The tensors of the launch that copies, for the node that reads the copy in `first`; null if a dump does not say.
  ArrayAttr copy(host::LaunchOp first, StringRef input, RankedTensorType type) {
    SmallVector<host::TensorAttr> tensors = tensorsOf(first);
    std::optional<size_t> read = positionOf(tensors, input);
    made_ = {};
    if (!read)
      return nullptr;
    auto reader = llvm::find_if(
        tensors, [&](host::TensorAttr tensor) { return llvm::is_contained(tensor.getOperands(), int64_t(*read)); });
    MLIRContext *context = first.getContext();
    StringRef node = reader == tensors.end() ? tensors.back().getNode() : reader->getNode();
    auto padded = host::PlacementAttr::get(context, host::Reason::Padded, 0, 0, 0);
    made_ = host::TensorAttr::get(context, node, "copy", {0}, {}, {}, type, ++last_, padded, nullptr);
    return ArrayAttr::get(context, {tensors[*read], made_});
  }

  /// Has a launch that reads nothing else of the input say that it reads the copy.
  void redirect(host::LaunchOp launch, StringRef input) const {
    SmallVector<host::TensorAttr> tensors = tensorsOf(launch);
    std::optional<size_t> read = positionOf(tensors, input);
    if (!read || !made_)
      return;
    tensors[*read] = host::TensorAttr::get(launch.getContext(), made_.getNode(), host::role::kLoad, {}, {}, {},
                                           made_.getType(), made_.getMemory(), nullptr, nullptr);
    launch.setTensorsAttr(ArrayAttr::get(launch.getContext(), SmallVector<Attribute>(tensors.begin(), tensors.end())));
  }

private:
  static SmallVector<host::TensorAttr> tensorsOf(host::LaunchOp launch) {
    ArrayAttr tensors = launch.getTensorsAttr();
    return tensors ? llvm::to_vector(tensors.getAsRange<host::TensorAttr>()) : SmallVector<host::TensorAttr>();
  }
  static std::optional<size_t> positionOf(ArrayRef<host::TensorAttr> tensors, StringRef input) {
    const auto *found = llvm::find_if(tensors, [&](host::TensorAttr tensor) {
      return tensor.getOp() == host::role::kInput && tensor.getNode() == input;
    });
    return found == tensors.end() ? std::nullopt : std::optional<size_t>(found - tensors.begin());
  }

  int64_t last_ = 0;      ///< the last number of memory
  host::TensorAttr made_; ///< the last copy
};

static void copyPadded(ModuleOp module, host::ProgramOp program, TargetAttr target) {
  optimize::ProgramSizes sizes(program);
  llvm::StringMap<FuncOp> kernels;
  llvm::StringSet<> names;
  CopyRecorder recorder(program);
  for (auto func : module.getOps<FuncOp>()) {
    kernels[func.getName()] = func;
    names.insert(func.getName());
  }
  for (auto input : llvm::make_early_inc_range(program.getBody().front().getOps<host::InputOp>())) {
    view::Shape shape = sizesOf(input);
    SmallVector<OpOperand *> uses, readingApart;
    double elements = 0;
    host::LaunchOp first;
    if (shape.empty() || isWritten(input, kernels))
      continue;
    for (OpOperand &use : input->getUses()) {
      auto launch = dyn_cast<host::LaunchOp>(use.getOwner());
      if (!launch || launch->getParentOp() != program)
        continue;
      unsigned buffer = use.getOperandNumber() - launch.getBuffers().getBeginOperandIndex();
      FuncOp func = kernels.lookup(launch.getKernel());
      if (double apart = elementsReadApart(func, buffer, shape)) {
        readingApart.push_back(&use);
        elements += apart;
      } else if (padsForProduct(launch, func, buffer, shape, target)) {
        uses.push_back(&use);
      }
    }
    if (elements >= kFewestReads * typicalElements(shape))
      llvm::append_range(uses, readingApart);
    for (OpOperand *use : uses)
      if (auto launch = cast<host::LaunchOp>(use->getOwner()); !first || launch->isBeforeInBlock(first))
        first = launch;
    if (!first)
      continue;
    auto arguments = llvm::map_to_vector(variablesOf(shape), [&](Expr variable) { return sizes.valueOf(variable); });
    if (llvm::is_contained(arguments, Value()))
      continue;
    auto port = cast<host::PortAttr>(program.getInputs()[input.getIndex()]);
    Type element = port.getType().getElementType();
    FuncOp copy = makeCopy(module, element, shape, names);
    OpBuilder builder(first);
    Location loc = first.getLoc();
    Value zero = arith::ConstantOp::create(builder, loc, builder.getI64IntegerAttr(0));
    Value memory =
        host::AllocOp::create(builder, loc, host::SliceType::get(builder.getContext()),
                              sizes.emit(builder, view::product(shape) * int64_t(byteSize(element))), nullptr);
    host::LaunchOp::create(builder, loc, copy.getName(), ValueRange{memory, input}, arguments, ValueRange(), zero, zero,
                           Value(), first.getOrigin(), recorder.copy(first, port.getName(), port.getType()));
    for (OpOperand *use : uses) {
      auto reader = cast<host::LaunchOp>(use->getOwner());
      use->set(memory);
      if (!llvm::is_contained(reader.getBuffers(), input.getResult()))
        recorder.redirect(reader, port.getName());
    }
  }
}

namespace {
struct CopyPaddedInputs : kiln::impl::CopyPaddedInputsBase<CopyPaddedInputs> {
  void runOnOperation() override {
    TargetAttr target = targetOf(getOperation());
    if (target.vectorBits() == 0 || target.hasGroups())
      return;
    for (auto program : getOperation().getOps<host::ProgramOp>())
      copyPadded(getOperation(), program, target);
  }
};
} // namespace
