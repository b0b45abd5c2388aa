//===- BoundRows.cpp - Gathers that read no row out of range ------------------------------===//
// Stage: optimize (kernel → kernel).
// A row may be negative or out of range, so a gather compares each row with its table. Often the rows follow from a
// weight whose numbers the module holds: the nodes of a decision tree, a table of positions; or another kernel has
// clamped them. Then they are an expression over the domain, and its bounds may prove that they are in range.
// Expects: kernels without opts, and all their launches.
// Guarantees: a load is `in_bounds` only if its row is in range at each point of the domain, in every launch.
// Position: before opts, which count what a gather costs.
//===--------------------------------------------------------------------------------------===//

#include "passes/Passes.h"

#include "passes/optimize/KernelVariants.h"

#include "ir/host/Host.h"

#include "mlir/IR/BuiltinAttributes.h"

using namespace kiln;
using namespace kiln::kernel;
using namespace mlir;
using view::Expr;

namespace kiln {
#define GEN_PASS_DEF_BOUNDROWS
#include "passes/Passes.h.inc"
} // namespace kiln

namespace {
struct Interval {
  int64_t min, max;
};

/// The program's launches, by the names of their kernels, and what is known of the numbers in its memory.
struct Program {
  llvm::StringMap<SmallVector<host::LaunchOp>> launches;
  llvm::DenseMap<Value, std::optional<Interval>> numbers;
};

class RowBounder {
public:
  RowBounder(FuncOp func, Program &program) : func_(func), program_(program) {}
  void run();
  /// The bounds of an integer at all points of the domain, in every launch.
  std::optional<Interval> boundsOf(Value value);

private:
  /// The integer as an expression over the axes, sizes, and numbers that only bounds are known for. Nothing if it is
  /// not known, or may wrap.
  std::optional<Expr> exprOf(Value value);
  std::optional<Expr> compute(Value value);
  std::optional<Expr> compute(AluOp alu);
  Expr compute(LoadOp load, Interval range);
  /// Of the numbers in what the kernel's launches hand to it for a buffer, as far as they are known.
  std::optional<Interval> numbersIn(BlockArgument buffer);
  /// Of those in a temporary, by what kernels store there, and 0, which may lie around them.
  std::optional<Interval> numbersOf(host::AllocOp alloc);
  /// A number that no more is known of than this.
  Expr within(Interval bounds) { return Expr::variable("number" + std::to_string(numbers_++), bounds.min, bounds.max); }

  FuncOp func_;
  Program &program_;
  llvm::DenseMap<Value, std::optional<Expr>> known_;
  int numbers_ = 0;
};

struct BoundRows : kiln::impl::BoundRowsBase<BoundRows> {
  void runOnOperation() override {
    Program program;
    program.launches = optimize::launchesOf(getOperation());
    for (auto func : getOperation().getOps<FuncOp>())
      if (func.getOpts().empty())
        RowBounder(func, program).run();
  }
};
} // namespace

/// The numbers of an integer dtype, as far as int64 reaches.
static std::optional<Interval> rangeOf(Type type) {
  auto integer = dyn_cast<IntegerType>(type);
  if (!integer)
    return std::nullopt;
  unsigned width = integer.getWidth();
  if (width == 1 || integer.isUnsigned())
    return Interval{0, width < 64 ? int64_t(llvm::maxUIntN(width)) : INT64_MAX};
  return Interval{llvm::minIntN(width), llvm::maxIntN(width)};
}

/// Of the numbers in a weight, if they are known at compile time.
static std::optional<Interval> numbersOf(host::WeightOp weight) {
  auto program = weight->getParentOfType<host::ProgramOp>();
  auto data = dyn_cast<DenseIntElementsAttr>(cast<host::WeightAttr>(program.getWeights()[weight.getIndex()]).getData());
  if (!data || data.empty() || data.getElementType().getIntOrFloatBitWidth() > 64)
    return std::nullopt;
  bool isUnsigned = data.getElementType().isUnsignedInteger() || data.getElementType().isInteger(1);
  Interval bounds{INT64_MAX, INT64_MIN};
  for (const llvm::APInt &number : data.getValues<llvm::APInt>()) {
    if (isUnsigned && number.getActiveBits() > 63)
      return std::nullopt;
    int64_t value = isUnsigned ? int64_t(number.getZExtValue()) : number.getSExtValue();
    bounds = {std::min(bounds.min, value), std::max(bounds.max, value)};
  }
  return bounds;
}

static void include(std::optional<Interval> &all, Interval one) {
  all = all ? Interval{std::min(all->min, one.min), std::max(all->max, one.max)} : one;
}

std::optional<Interval> RowBounder::numbersOf(host::AllocOp alloc) {
  std::optional<Interval> all = Interval{0, 0};
  for (OpOperand &use : alloc->getUses()) {
    auto launch = dyn_cast<host::LaunchOp>(use.getOwner());
    auto kernel = launch ? SymbolTable::lookupNearestSymbolFrom<FuncOp>(launch, launch.getKernelAttr()) : FuncOp();
    if (!kernel)
      return std::nullopt;
    unsigned buffer = use.getOperandNumber() - launch.getBuffers().getBeginOperandIndex();
    for (Operation *access : optimize::accessesOf(kernel, buffer))
      if (auto store = dyn_cast<StoreOp>(access)) {
        std::optional<Interval> one = RowBounder(kernel, program_).boundsOf(store.getValue());
        if (!one)
          return std::nullopt;
        include(all, *one);
      }
  }
  return all;
}

std::optional<Interval> RowBounder::numbersIn(BlockArgument buffer) {
  std::optional<Interval> all;
  for (host::LaunchOp launch : program_.launches[func_.getSymName()]) {
    Value memory = launch.getBuffers()[buffer.getArgNumber()];
    // Nothing is known of it while its writers are looked at, which may read it.
    auto [found, isNew] = program_.numbers.try_emplace(memory);
    if (isNew) {
      std::optional<Interval> numbers;
      if (auto weight = memory.getDefiningOp<host::WeightOp>())
        numbers = ::numbersOf(weight);
      else if (auto alloc = memory.getDefiningOp<host::AllocOp>())
        numbers = numbersOf(alloc);
      program_.numbers[memory] = numbers;
    }
    std::optional<Interval> one = program_.numbers[memory];
    if (!one)
      return std::nullopt;
    include(all, *one);
  }
  return all;
}

Expr RowBounder::compute(LoadOp load, Interval range) {
  auto buffer = dyn_cast<BlockArgument>(load.getBuffer());
  Interval numbers = buffer ? numbersIn(buffer).value_or(range) : range;
  bool readsAll = !load.getRow() || load.getInBounds();
  if (!readsAll || !load.getTracker().getValue().at().valid.isConst(1)) // else it is 0 in some places
    numbers = {std::min<int64_t>(numbers.min, 0), std::max<int64_t>(numbers.max, 0)};
  return within(numbers);
}

/// Whether sums and quotients of such numbers, and with `multiplies` their products, are far from the end of int64.
static bool isFarFromWrapping(ArrayRef<Expr> operands, bool multiplies) {
  constexpr double kMost = 1e18;
  double most = 1;
  for (Expr operand : operands) {
    double magnitude = std::max(std::abs(double(operand.min())), std::abs(double(operand.max())));
    most = multiplies ? most * std::max(magnitude, 1.0) : std::max(most, magnitude);
  }
  return most < kMost;
}

std::optional<Expr> RowBounder::compute(AluOp alu) {
  Alu kind = alu.getKind().getValue();
  if (alu.getType().isInteger(1))
    return within({0, 1});
  SmallVector<Expr, 3> operands;
  for (Value operand : alu.getOperands()) {
    std::optional<Expr> known = exprOf(operand);
    if (!known)
      return std::nullopt;
    operands.push_back(*known);
  }
  Expr a = operands.front(), b = operands.back();
  bool selects = llvm::is_contained({Alu::CAST, Alu::MIN, Alu::MAX, Alu::WHERE}, kind);
  if (!selects && !isFarFromWrapping(operands, /*multiplies=*/kind == Alu::MUL))
    return std::nullopt;
  bool divides = b.min() > 0 && a.min() >= 0; // so all ways to round are the same
  switch (kind) {
  case Alu::CAST:
    return a;
  case Alu::ADD:
    return a + b;
  case Alu::MUL:
    return a * b;
  case Alu::NEG:
    return -a;
  case Alu::MIN:
    return view::minimum(a, b);
  case Alu::MAX:
    return view::maximum(a, b);
  case Alu::WHERE:
    return within({std::min(operands[1].min(), b.min()), std::max(operands[1].max(), b.max())});
  case Alu::IDIV:
  case Alu::FLOORDIV:
    return divides ? std::optional(view::floorDiv(a, b)) : std::nullopt;
  case Alu::MOD:
  case Alu::FLOORMOD:
    return divides ? std::optional(view::mod(a, b)) : std::nullopt;
  default:
    return std::nullopt;
  }
}

std::optional<Expr> RowBounder::compute(Value value) {
  Operation *op = value.getDefiningOp();
  if (auto alu = dyn_cast_or_null<AluOp>(op))
    return compute(alu);
  if (auto index = dyn_cast_or_null<IndexOp>(op))
    return index.getTracker().getValue().at().index;
  if (auto size = dyn_cast_or_null<SizeOp>(op))
    return size.getSize().getValue();
  if (auto constant = dyn_cast_or_null<ConstOp>(op))
    if (auto number = dyn_cast<IntegerAttr>(constant.getValue()); number && number.getValue().getSignificantBits() < 64)
      return number.getType().isSignlessInteger(1) || number.getType().isUnsignedInteger()
                 ? int64_t(number.getValue().getZExtValue())
                 : number.getValue().getSExtValue();
  return std::nullopt;
}

std::optional<Expr> RowBounder::exprOf(Value value) {
  std::optional<Interval> range = rangeOf(value.getType());
  if (!range)
    return std::nullopt;
  if (auto found = known_.find(value); found != known_.end())
    return found->second;
  auto load = value.getDefiningOp<LoadOp>();
  std::optional<Expr> expr = load ? compute(load, *range) : compute(value);
  if (!expr || expr->min() < range->min || expr->max() > range->max)
    expr = within(*range);
  known_[value] = expr;
  return expr;
}

std::optional<Interval> RowBounder::boundsOf(Value value) {
  std::optional<Expr> known = exprOf(value);
  return known ? std::optional(Interval{known->min(), known->max()}) : std::nullopt;
}

void RowBounder::run() {
  for (auto load : func_.getBody().getOps<LoadOp>()) {
    if (!load.getRow())
      continue;
    std::optional<Expr> row = exprOf(load.getRow());
    Expr size = load.getTracker().getValue().shape().back();
    load.setInBounds(row && view::provablyLessEqual(0, *row) && view::provablyLess(*row, size));
  }
}
