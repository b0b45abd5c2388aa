//===- Interior.cpp - Tiles that no mask cuts --------------------------------------===//
//
// A window at the border of a picture has taps outside it, so each tap has a mask, and masks cost more than the
// arithmetic of a pool or an interpolation: they differ by lane, a masked load needs a vector of bools, and where the
// border is repeated each tap is chosen from three loads. Yet nearly all tiles lie inside the picture, where each mask
// is true, or false, for all points. So the code of a tile is written twice: once with all masks decided, for tiles
// that a test of a few numbers finds inside, and once with the masks.
//
// A mask is a conjunction of terms a < b. If b - a grows steadily along each axis that the tile goes through, its least
// or greatest value is at a corner of the tile, and the test asks there.
//
//===----------------------------------------------------------------------===//

#include "passes/lower/KernelLowering.h"

#include "llvm/ADT/SetVector.h"

using namespace kiln;
using namespace kiln::lower;
using namespace mlir;
using kernel::AxisKind;
using view::Expr;

/// A size that only a run knows is taken to be so large, where it is asked which value of a mask most tiles have.
static constexpr int64_t kOpenSize = 64;

bool KernelLowering::holdsInTheMiddle(Expr slack) {
  llvm::DenseMap<Expr, int64_t> values;
  for (Expr size : func_.getSizes().getSizes())
    values[size] = std::clamp(kOpenSize, size.min(), size.max());
  llvm::DenseMap<Expr, int64_t> places = values;
  slack.forEachVariable([&](Expr variable) {
    int64_t axis = kernel::loopAxisOf(variable);
    if (std::optional<Expr> last = axis >= 0 ? variable.limit() : std::nullopt)
      places[variable] = last->evaluate(values).value_or(0) / 2;
    else if (axis >= 0)
      places[variable] = axisOf(axis).getSize().getValue().evaluate(values).value_or(1) / 2;
  });
  return slack.evaluate(places).value_or(0) < 0;
}

std::optional<KernelLowering::Decision> KernelLowering::decisionOf(Expr term) {
  bool isOfWalk = term.kind() == Expr::Kind::Less;
  term.forEachVariable([&](Expr variable) {
    isOfWalk &= kernel::loopAxisOf(variable) >= 0 || llvm::is_contained(func_.getSizes().getSizes(), variable);
  });
  if (!isOfWalk)
    return std::nullopt;
  Expr slack = term.operands()[0] - term.operands()[1];
  Decision decision{term, holdsInTheMiddle(slack), none(), {}};
  AxisSet axes = none();
  addVariables(slack, axes);
  for (unsigned axis : axes.set_bits()) {
    if (isBound(axis))
      continue;
    Expr size = isUnrolled(axis) ? Expr(sizeOf(axis)) : axisOf(axis).getSize().getValue();
    Expr first = fix(slack, axis, 0), step = fix(slack, axis, 1) - first;
    if (!size.isConst() || !step.isConst() || !view::provablyEqual(slack, first + variableOf(axis) * step))
      return std::nullopt;
    decision.over.set(axis);
    // The corner at which it is hardest to be as it mostly is.
    slack = (step.constant() > 0) == decision.holds ? fix(slack, axis, size.constant() - 1) : first;
  }
  slack = resolve(slack);
  decision.test = decision.holds ? view::less(slack, 0) : view::greaterEqual(slack, 0);
  return axes.none() ? std::nullopt : std::optional(decision);
}

/// Whether a step of some loop of known size passes all tests that are about it alone.
static bool canHold(ArrayRef<Expr> tests) {
  llvm::MapVector<Expr, SmallVector<Expr>> about;
  for (Expr test : tests) {
    llvm::SetVector<Expr> variables;
    test.forEachVariable([&](Expr variable) { variables.insert(variable); });
    if (variables.size() == 1)
      about[variables.front()].push_back(test);
  }
  return llvm::all_of(about, [](auto &each) {
    auto &[variable, own] = each;
    if (kernel::loopAxisOf(variable) < 0 || variable.max() - variable.min() > kOpenSize)
      return true;
    return llvm::any_of(
        llvm::seq_inclusive(variable.min(), variable.max()), [&, &variable = variable, &own = own](int64_t step) {
          return llvm::all_of(own, [&](Expr test) { return !test.substitute({{variable, step}}).isConst(0); });
        });
  });
}

SmallVector<KernelLowering::Decision> KernelLowering::decisionsOfTile() {
  // Terms of a sum are many points, while a mask of an element that is read once costs little more than its load.
  llvm::SetVector<Value> read;
  for (Value root : roots_)
    for (Operation *reduce : reducesBehind(root))
      read.insert(reduce->operand_begin(), reduce->operand_end());
  llvm::SetVector<Expr> terms;
  for (size_t i = 0; i < read.size(); ++i) {
    Operation *op = read[i].getDefiningOp();
    if (!op || isa<kernel::StageOp>(op)) // which is filled by a walk of its own
      continue;
    read.insert(op->operand_begin(), op->operand_end());
    if (!isa<kernel::LoadOp, kernel::ValidOp>(op))
      continue;
    Expr valid = indexInside(op->getAttrOfType<TrackerAttr>("tracker").getValue()).valid;
    for (Expr term : valid.kind() == Expr::Kind::And ? valid.operands() : ArrayRef(valid))
      terms.insert(term);
  }
  SmallVector<Decision> decisions;
  for (Expr term : terms)
    if (std::optional<Decision> decision = decisionOf(term); decision && !decision->test.isConst())
      decisions.push_back(*decision);
  return decisions;
}

bool KernelLowering::isAtEdge() const {
  return llvm::any_of(walk().guards, [&](Expr guard) {
    const Scope *test = testOf(guard);
    return test && !test->inside;
  });
}

void KernelLowering::inInterior(llvm::function_ref<void()> body) {
  // At an edge of the domain lanes have masks anyway. Code without lanes is a GPU's, or was not optimised.
  if (isAtEdge() || walk_ != 0 || walk().lane < 0 || target_.hasGroups() || kernel::hasFragments(walk()))
    return body();
  SmallVector<Decision> decisions = decisionsOfTile();
  SmallVector<Expr> tests = llvm::map_to_vector(decisions, [](const Decision &decision) { return decision.test; });
  bool isCut = llvm::any_of(decisions, [](const Decision &decision) { return decision.over.any(); });
  Expr test = view::logicalAnd(tests);
  if (!isCut || test.isConst() || !canHold(tests))
    return body();
  inBranches(test, [&](bool isInterior) {
    Scope &scope = *scopes_.back();
    for (const Decision &decision : decisions) {
      scope.tested.push_back(decision.term); // what has the mask stays in its branch
      if (isInterior)
        scope.decided.try_emplace(decision.term, decision.holds, decision.over);
    }
    body();
  });
}

void KernelLowering::inOneTensor(llvm::function_ref<void()> body) {
  // Of sums there is too much code for two copies. Code without lanes is a GPU's, or was not optimised.
  if (walk_ != 0 || walk().lane < 0 || target_.hasGroups() || !func_.getBody().getOps<kernel::ReduceOp>().empty())
    return body();
  llvm::MapVector<Expr, Value> terms; // and a tensor that is read where they hold
  for (auto load : func_.getBody().getOps<kernel::LoadOp>()) {
    Expr valid = indexInside(load.getTracker().getValue()).valid;
    for (Expr term : valid.kind() == Expr::Kind::And ? valid.operands() : ArrayRef(valid))
      terms.insert({term, load.getBuffer()});
  }
  for (auto [term, tensor] : terms) {
    if (term.kind() != Expr::Kind::Less)
      continue;
    AxisSet axes = none();
    addVariables(term, axes);
    bool isKnown = llvm::all_of(axes.set_bits(), [&](unsigned axis) { return isBound(axis); });
    Expr other = view::greaterEqual(term.operands()[0], term.operands()[1]);
    auto found = terms.find(other);
    if (!isKnown || resolve(term).isConst() || found == terms.end() || found->second == tensor)
      continue;
    return inBranches(resolve(term), [&, term = term](bool holds) {
      Scope &scope = *scopes_.back();
      scope.tested.append({term, other});
      scope.decided.try_emplace(term, holds, none());
      scope.decided.try_emplace(other, !holds, none());
      body();
    });
  }
  body();
}

std::optional<bool> KernelLowering::decided(Expr term) const {
  if (walk_ != 0)
    return std::nullopt;
  AxisSet axes = none(), opened = none();
  addVariables(term, axes);
  for (const std::unique_ptr<Scope> &scope : llvm::reverse(scopes_)) {
    if (auto known = scope->decided.find(term); known != scope->decided.end()) {
      auto [holds, over] = known->second;
      // A loop that is opened again inside goes over other points.
      return opened.test(over) ? std::nullopt : std::optional(holds);
    }
    for (unsigned axis : axes.set_bits())
      if (scope->variables.contains(variableOf(axis)))
        opened.set(axis);
  }
  return std::nullopt;
}

Expr KernelLowering::undecided(Expr valid) const {
  SmallVector<Expr> left;
  for (Expr term : valid.kind() == Expr::Kind::And ? valid.operands() : ArrayRef(valid)) {
    std::optional<bool> holds = decided(term);
    if (holds == false)
      return 0;
    if (!holds)
      left.push_back(term);
  }
  return view::logicalAnd(left);
}
