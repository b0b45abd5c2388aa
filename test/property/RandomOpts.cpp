// Opts change how a kernel is walked and never what it computes, in whatever order they come. Lists of them are drawn
// opt by opt, against the kernel as it is at that moment, because most that know nothing of it would be refused at
// once. Matrix and dot instructions, and what is held in another order, take several opts in a certain order, which
// chance would hardly ever find, so a share of the lists is led towards them. A refusal must be one line.
#include "RandomOpts.h"

#include "ir/kernel/MatrixProduct.h"
#include "passes/optimize/ApplyOpts.h"
#include "passes/optimize/choose/Product.h"

using namespace kiln;
using namespace kiln::kernel;
using namespace mlir;

namespace {

/// Draws opts that a kernel might take as it is now.
class OptMaker {
public:
  OptMaker(FuncOp func, std::mt19937_64 &random) : func_(func), walks_(walksOf(func)), random_(random) {}
  std::string any(const test::OptsChoice &choice);
  /// One opt on the way to matrix instructions: the sum in a stage, parts of its walk, the instruction, its operands in
  /// stages. "": the kernel has no sum of products of what was widened.
  std::string towardsMatrices(const test::OptsChoice &choice);
  /// The same on the way to dot instructions: the terms, lanes, the operands in stages.
  std::string towardsDots(const test::OptsChoice &choice);

  /// The same on the way to memory in another order and several buffers.
  std::string towardsMemory(const test::OptsChoice &choice);

private:
  /// A stage's axes in any order, padded or swizzled.
  std::string layout();
  /// A sum of products of what was widened; null: there is none.
  ReduceOp narrowSum();
  int64_t below(int64_t count) { return int64_t(random_() % uint64_t(std::max<int64_t>(count, 1))); }
  bool chance(int percent) { return below(100) < percent; }
  /// Of the kernel's own walk, or of a stage's.
  int64_t anyAxis() {
    const Walk &walk = chance(60) ? walks_.front() : walks_[below(walks_.size())];
    return walk.axes.empty() || chance(3) ? below(12) - 1 : walk.axes[below(walk.axes.size())].getId();
  }
  AxisAttr axisOf(int64_t id) const {
    for (const Walk &walk : walks_)
      if (walk.contains(id))
        return walk.axes[walk.positionOf(id)];
    return {};
  }
  bool isReduced(int64_t axis) {
    bool reduced = false;
    for (auto reduce : func_.getBody().getOps<ReduceOp>())
      reduced |= llvm::is_contained(reduce.getAxes(), axis);
    return reduced;
  }
  int64_t amount(OptKind kind, int64_t axis, int64_t most);
  std::string stage();

  FuncOp func_;
  SmallVector<Walk> walks_;
  std::mt19937_64 &random_;
};

} // namespace

int64_t OptMaker::amount(OptKind kind, int64_t axis, int64_t most) {
  if (kind == OptKind::SWAP)
    return anyAxis();
  if (kind == OptKind::STAGE || kind == OptKind::PREFETCH)
    return chance(3) ? below(9) - 1 : below(func_.getNumArguments());
  if (kind == OptKind::GLOBAL)
    return 0;
  if (kind == OptKind::THREAD && chance(40))
    return 0;
  if (chance(1))
    return most;
  if (chance(3))
    return below(3) - 1;
  // A split of a part must divide it.
  AxisAttr split = axisOf(axis);
  view::Expr size = split ? split.getSize().getValue() : view::Expr(8);
  if (size.isConst() && chance(60)) {
    SmallVector<int64_t> divisors;
    for (int64_t part = 1; part <= std::min<int64_t>({size.constant(), 16, most}); ++part)
      if (size.constant() % part == 0)
        divisors.push_back(part);
    if (!divisors.empty())
      return divisors[below(divisors.size())];
  }
  return std::min(most, chance(10) ? 16 : 1 + below(8));
}

/// Memory for a buffer's elements or for any value, inside an axis or for the whole launch.
std::string OptMaker::stage() {
  std::string place = chance(15) ? "-" : std::to_string(anyAxis());
  if (chance(60))
    return "STAGE " + place + " " + std::to_string(amount(OptKind::STAGE, 0, 0));
  int64_t values = llvm::count_if(func_.getBody().front(), [](Operation &op) { return op.getNumResults() > 0; });
  return "STAGE " + place + " v" + std::to_string(below(values));
}

std::string OptMaker::layout() {
  const Walk &walk = walks_[below(walks_.size())];
  SmallVector<int64_t> axes;
  for (AxisAttr axis : walk.axes)
    if (!isReduced(axis.getId()) || chance(3))
      axes.push_back(axis.getId());
  if (chance(70))
    std::shuffle(axes.begin(), axes.end(), random_);
  if (chance(3) || axes.empty())
    axes.push_back(anyAxis());
  std::string text = "LAYOUT";
  for (auto [position, axis] : llvm::enumerate(axes)) {
    text += " " + std::to_string(axis);
    bool isInside = position > 0 || chance(3);
    if (isInside && chance(30))
      text += " PAD " + std::to_string(chance(50) ? 4 : below(9));
    if (isInside && chance(30))
      text += " XOR " + std::to_string(2 << below(3)) + " " + std::to_string(1 << below(3));
  }
  return text;
}

std::string OptMaker::towardsMemory(const test::OptsChoice &choice) {
  if (choice.without.count("STAGE") || choice.without.count("LAYOUT") || choice.without.count("BUFFERS"))
    return "";
  if (walks_.size() == 1)
    return chance(60) ? stage() : "";
  const Walk &walk = walks_[1 + below(walks_.size() - 1)];
  if (walk.axes.empty() || chance(40))
    return layout();
  return "BUFFERS " + std::to_string(walk.axes[below(walk.axes.size())].getId()) + " " + std::to_string(1 + below(4));
}

std::string OptMaker::any(const test::OptsChoice &choice) {
  SmallVector<OptKind> kinds;
  for (int64_t kind = 0; kind <= getMaxEnumValForOptKind(); ++kind)
    if (!choice.without.count(stringifyOptKind(OptKind(kind)).str()))
      kinds.push_back(OptKind(kind));
  OptKind kind = kinds[below(kinds.size())];
  if (kind == OptKind::STAGE)
    return stage();
  if (kind == OptKind::LAYOUT)
    return layout();
  int64_t axis = anyAxis();
  // Not every refusal is worth a try.
  auto fits = [&] {
    if (kind == OptKind::UNROLL || kind == OptKind::GROUP)
      return isReduced(axis);
    if (kind == OptKind::UPCAST || kind == OptKind::LOCAL || kind == OptKind::GLOBAL || kind == OptKind::THREAD)
      return !isReduced(axis);
    return true;
  };
  for (int tries = 0; tries < 4 && !fits(); ++tries)
    axis = anyAxis();
  return (stringifyOptKind(kind) + " " + Twine(axis) + " " + Twine(amount(kind, axis, choice.most))).str();
}

ReduceOp OptMaker::narrowSum() {
  ReduceOp sum;
  for (auto reduce : func_.getBody().getOps<ReduceOp>())
    if (std::optional<Product> product = productOf(reduce); product && product->isNarrow())
      sum = reduce;
  return sum;
}

std::string OptMaker::towardsDots(const test::OptsChoice &choice) {
  constexpr int64_t kLanes = 16, kTerms = 2;
  ReduceOp sum = narrowSum();
  if (!sum || choice.without.count("DOT"))
    return "";
  const Walk &own = walks_.front();
  auto axisIn = [&] { return own.axes.empty() ? -1 : own.axes[below(own.axes.size())].getId(); };
  if (!hasFragments(own))
    return "DOT " + std::to_string(sum.getAxes()[below(sum.getAxes().size())]) + " " + std::to_string(kTerms);
  if (llvm::none_of(own.axes, [](AxisAttr axis) { return axis.getKind() == AxisKind::Lane; }))
    return "VECTOR " + std::to_string(axisIn()) + " " + std::to_string(kLanes * (1 + below(2)));
  std::string place = chance(50) ? "-" : std::to_string(axisIn());
  return "STAGE " + place + " " + std::to_string(1 + below(func_.getNumArguments() - 1));
}

std::string OptMaker::towardsMatrices(const test::OptsChoice &choice) {
  ReduceOp sum = narrowSum();
  if (!sum || choice.without.count("TC"))
    return "";
  auto holds = [&](const Walk &walk) { return walk.stage && walk.stage.getInput() == sum.getResult(); };
  const auto *held = llvm::find_if(walks_, holds);
  if (held == walks_.end()) {
    std::string place = chance(30) ? "-" : std::to_string(anyAxis());
    return "STAGE " + place + " v" + std::to_string(optimize::numberOf(func_, sum));
  }
  auto axisIn = [&] { return held->axes.empty() ? -1 : held->axes[below(held->axes.size())].getId(); };
  if (!hasFragments(*held)) {
    // Instructions take any number of rows, but only what divides them.
    int64_t axis = axisIn(), points = axis < 0 ? 1 : axisOf(axis).getSize().getValue().max();
    return "TC " + std::to_string(axis) + " " + std::to_string(points <= 16 && chance(60) ? points : 1 + below(16));
  }
  std::string place = chance(50) ? "-" : std::to_string(axisIn());
  return "STAGE " + place + " " + std::to_string(1 + below(func_.getNumArguments() - 1));
}

/// Applies one opt, written as in a file; what refuses it.
static llvm::Error applyOne(FuncOp func, StringRef opt, TargetAttr target) {
  auto parsed = optimize::parseOpts(func.getContext(), opt);
  return parsed ? optimize::applyOpt(func, parsed->front(), target) : parsed.takeError();
}

test::RandomList test::applyRandomOpts(FuncOp func, std::mt19937_64 &random, const test::OptsChoice &choice,
                                       const std::function<void(const std::string &)> &tries) {
  RandomList list;
  TargetAttr target = targetOf(func->getParentOfType<ModuleOp>());
  size_t wish = random() % 100;
  bool wantsMatrices = wish < 35, wantsDots = !wantsMatrices && wish < 60, wantsMemory = wish >= 60 && wish < 85;
  size_t length = 1 + random() % 7 + (wantsMatrices || wantsDots ? 4 : wantsMemory ? 2 : 0);
  for (size_t i = 0, taken = 0; i < 3 * length && taken < length; ++i) {
    OptMaker maker(func, random);
    bool isOnTheWay = random() % 100 < 65;
    std::string opt = wantsMatrices && isOnTheWay ? maker.towardsMatrices(choice)
                      : wantsDots && isOnTheWay   ? maker.towardsDots(choice)
                      : wantsMemory && isOnTheWay ? maker.towardsMemory(choice)
                                                  : "";
    if (opt.empty())
      opt = maker.any(choice);
    std::string longer = list.accepted.empty() ? opt : list.accepted + ", " + opt;
    tries(longer);
    // Tried on a copy: a compilation ends with an opt that is refused, here the kernel is wanted as it was.
    OwningOpRef<FuncOp> copy = func.clone();
    llvm::Error error = applyOne(*copy, opt, target);
    if (!error) {
      llvm::cantFail(applyOne(func, opt, target));
      list.accepted = longer;
      ++taken;
      continue;
    }
    std::string message = llvm::toString(std::move(error));
    if (message.empty() || StringRef(message).contains('\n'))
      list.wrong = (Twine(longer) + ": refused in more than a line, or none: " + message).str();
    list.refused = longer;
  }
  return list;
}
