#include "RandomOpts.h"

#include "passes/optimize/ApplyOpts.h"

using namespace kiln;
using namespace kiln::kernel;
using namespace mlir;

namespace {

/// Draws opts that a kernel might take as it is now.
class OptMaker {
public:
  OptMaker(FuncOp func, std::mt19937_64 &random) : func_(func), axes_(func.getLoopAxes()), random_(random) {}
  std::string any(const test::OptsChoice &choice);

private:
  int64_t below(int64_t count) { return int64_t(random_() % uint64_t(std::max<int64_t>(count, 1))); }
  bool chance(int percent) { return below(100) < percent; }
  int64_t anyAxis() { return axes_.empty() || chance(3) ? below(12) - 1 : axes_[below(axes_.size())].getId(); }
  bool isReduced(int64_t axis) {
    bool reduced = false;
    for (auto reduce : func_.getBody().getOps<ReduceOp>())
      reduced |= llvm::is_contained(reduce.getAxes(), axis);
    return reduced;
  }
  int64_t amount(OptKind kind, int64_t axis, int64_t most);

  FuncOp func_;
  SmallVector<AxisAttr> axes_;
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
  AxisAttr split = func_.getLoopAxis(axis);
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

std::string OptMaker::any(const test::OptsChoice &choice) {
  SmallVector<OptKind> kinds;
  for (int64_t kind = 0; kind <= getMaxEnumValForOptKind(); ++kind)
    if (!choice.without.count(stringifyOptKind(OptKind(kind)).str()))
      kinds.push_back(OptKind(kind));
  OptKind kind = kinds[below(kinds.size())];
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

/// Applies one opt, written as in a file; what refuses it.
static llvm::Error applyOne(FuncOp func, StringRef opt) {
  auto parsed = optimize::parseOpts(func.getContext(), opt);
  return parsed ? optimize::applyOpt(func, parsed->front(), TargetAttr::unknown(func.getContext()))
                : parsed.takeError();
}

test::RandomList test::applyRandomOpts(FuncOp func, std::mt19937_64 &random, const test::OptsChoice &choice,
                                       const std::function<void(const std::string &)> &tries) {
  RandomList list;
  size_t length = 1 + random() % 7;
  for (size_t i = 0, taken = 0; i < 3 * length && taken < length; ++i) {
    std::string opt = OptMaker(func, random).any(choice);
    std::string longer = list.accepted.empty() ? opt : list.accepted + ", " + opt;
    tries(longer);
    // Tried on a copy: a compilation ends with an opt that is refused, here the kernel is wanted as it was.
    OwningOpRef<FuncOp> copy = func.clone();
    llvm::Error error = applyOne(*copy, opt);
    if (!error) {
      llvm::cantFail(applyOne(func, opt));
      list.accepted = longer;
      ++taken;
      continue;
    }
    std::string message = llvm::toString(std::move(error));
    if (message.empty() || StringRef(message).contains('\n'))
      list.wrong = longer + ": refused in more than a line, or none: " + message;
    list.refused = longer;
  }
  return list;
}
