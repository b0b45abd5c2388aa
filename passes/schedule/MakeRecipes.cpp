//===- MakeRecipes.cpp - Weights that are computed at compile time -------------===//
// Stage: schedule (graph → graph).
// Values that depend only on weights are the same in every run. Each becomes a weight whose data is a recipe: a small
// model of its own, without inputs, which a module in this module holds. It goes through the remaining stages as any
// model does and runs when the bytes of the weight are needed. So a dump is complete, and compiling takes no more
// memory than one recipe does. A package hardly grows by it: a replacement may be a sixteenth larger than the weights
// that nothing else needs, so that a weight stays narrow if it is widened later, and a vector if it is repeated. Small
// ones may grow by more, together by a 64th of all weights.
// Tensors that fail this are left to the kernels, and so are constants that are largest in the middle of their
// computation.
// Expects: views folded, constants shrunk.
// Guarantees: modules that only make weights, named recipe_0, recipe_1 …; a weight that only they read is not a weight
// of the model's.
// Position: after all that makes constants; before kernels are formed, to which the results are weights like others.
//===----------------------------------------------------------------------===//

#include "passes/Passes.h"

#include "ir/graph/DeadOps.h"

#include "passes/schedule/KnownConstants.h"
#include "passes/schedule/Products.h"

#include "target/Target.h"

#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/ADT/StringSet.h"

using namespace kiln;
using namespace kiln::schedule;
using namespace mlir;

namespace kiln {
#define GEN_PASS_DEF_MAKERECIPES
#include "passes/Passes.h.inc"
} // namespace kiln

/// A weight's replacements may be larger by so much together: a matrix and the sums of its rows.
static constexpr double kMostGrowth = 1.0625;

/// The part of all weights by which the model may grow for results that are larger than that, the small ones first: a
/// bias of bytes that is widened takes a launch of its own in each run.
static constexpr double kMostExtra = 1.0 / 64;

namespace {
class RecipeMaker {
public:
  RecipeMaker(ModuleOp module, func::FuncOp main);
  void run();

private:
  /// Computed at compile time, as far as is known.
  bool isFolded(Operation *op) const { return folded_.contains(op); }
  /// Whether an op that stays reads the tensor, also through a view.
  bool isReadOutside(Value tensor) const;
  /// Whether a product reads the tensor, or a cast of it, in the narrower dtype of the two.
  bool isReadNarrow(Value tensor) const;
  /// Whether a tensor is made of one that is asked to be in memory and is no larger.
  bool isUnpacked(Value tensor) const;
  /// The ops that a tensor depends on, it and its weights included, views too.
  llvm::SetVector<Operation *> coneOf(Value tensor) const;
  /// Removes recipes that do not pay; whether there were any.
  bool rejectWhatGrows();
  std::string nameFor(const llvm::SetVector<Operation *> &cone);
  void make(ArrayRef<Value> results, unsigned number);

  mutable ModuleOp module_;
  func::FuncOp main_;
  llvm::DenseMap<Operation *, unsigned> position_;
  llvm::SetVector<Operation *> folded_; ///< ops that compute, in order
  SmallVector<Value> results_;          ///< their results that remaining ops read
  llvm::StringSet<> names_;
  double weightBytes_ = 0; ///< of the model's
};
} // namespace

RecipeMaker::RecipeMaker(ModuleOp module, func::FuncOp main) : module_(module), main_(main) {
  KnownConstants constants(main);
  main.walk<WalkOrder::PreOrder>([&](Operation *op) {
    position_[op] = position_.size();
    if (auto weight = dyn_cast<graph::WeightOp>(op)) {
      names_.insert(weight.getName());
      weightBytes_ += double(packedBytes(weight.getResult()));
    }
    bool computes = isa<graph::AluOp, graph::ReduceOp, graph::GatherOp, graph::ContiguousOp>(op);
    if (computes && constants.contains(op->getResult(0)))
      folded_.insert(op);
  });
}

bool RecipeMaker::isReadOutside(Value tensor) const {
  return llvm::any_of(tensor.getUsers(), [&](Operation *user) {
    return isa<graph::ViewOp>(user) ? isReadOutside(user->getResult(0)) : !isFolded(user);
  });
}

llvm::SetVector<Operation *> RecipeMaker::coneOf(Value tensor) const {
  llvm::SetVector<Operation *> cone;
  cone.insert(tensor.getDefiningOp());
  for (size_t i = 0; i < cone.size(); ++i)
    for (Value operand : cone[i]->getOperands())
      cone.insert(operand.getDefiningOp());
  return cone;
}

bool RecipeMaker::isReadNarrow(Value tensor) const {
  TargetAttr target = targetOf(module_);
  auto isConstant = [&](Value value) {
    Operation *op = value.getDefiningOp();
    return op && (isa<graph::WeightOp>(op) || isFolded(op));
  };
  SmallVector<Value> open{tensor};
  while (!open.empty())
    for (Operation *user : open.pop_back_val().getUsers()) {
      auto alu = dyn_cast<graph::AluOp>(user);
      if (isa<graph::ViewOp>(user) || (alu && llvm::is_contained({Alu::CAST, Alu::MUL}, alu.getKind().getValue())))
        open.push_back(user->getResult(0));
      if (auto reduce = dyn_cast<graph::ReduceOp>(user); reduce && multipliesNarrow(reduce, target, isConstant))
        return true;
    }
  return false;
}

bool RecipeMaker::isUnpacked(Value tensor) const {
  return llvm::any_of(coneOf(tensor), [&](Operation *op) {
    return op != tensor.getDefiningOp() && isa<graph::ContiguousOp>(op) &&
           packedBytes(op->getResult(0)) <= packedBytes(tensor);
  });
}

bool RecipeMaker::rejectWhatGrows() {
  results_.clear();
  for (Operation *op : folded_)
    if (isReadOutside(op->getResult(0)))
      results_.push_back(op->getResult(0));
  // A weight counts if no remaining op reads it, in parts for the results that need it, as large as these are.
  llvm::DenseMap<Operation *, double> needed;
  std::vector<SmallVector<Operation *>> weights;
  for (Value result : results_) {
    SmallVector<Operation *> &own = weights.emplace_back();
    for (Operation *op : coneOf(result))
      if (isa<graph::WeightOp>(op) && !isReadOutside(op->getResult(0))) {
        own.push_back(op);
        needed[op] += double(packedBytes(result));
      }
  }
  struct Grown {
    Value result;
    int64_t most;
    double by;
  };
  SmallVector<Grown> grown;
  llvm::DenseSet<Operation *> rejected; // also those with more axes than a weight can have
  auto reject = [&](Value result, int64_t most) {
    rejected.insert(result.getDefiningOp());
    // A tensor that is too large on the way stays so; a long chain need not be taken back step by step.
    for (Operation *op : coneOf(result))
      if (isFolded(op) && packedBytes(op->getResult(0)) > most)
        rejected.insert(op);
  };
  for (auto [result, own] : llvm::zip(results_, weights)) {
    double replaced = 0;
    int64_t most = 0; // of everything replaced, if nothing else reads it
    for (Operation *weight : own) {
      int64_t bytes = packedBytes(weight->getResult(0));
      most += bytes;
      replaced += double(bytes) * double(packedBytes(result)) / needed[weight];
    }
    bool isWeight = cast<RankedTensorType>(result.getType()).getRank() <= host::kMaxPortRank;
    auto row = result.getDefiningOp<graph::AluOp>();
    bool isCast = row && row.getKind().getValue() == Alu::CAST;
    // An operand that a product reads in narrow form is stored so, in addition to the form that others read.
    bool isNarrow = row && (isCast || getElementTypeOrSelf(result).isInteger(16)) && isReadNarrow(result);
    // A tensor that was packed on request is unpacked where it is read.
    if (isUnpacked(result)) {
      rejected.insert(result.getDefiningOp());
      continue;
    }
    if (isNarrow && isWeight && !isWidened(result))
      continue;
    // A tensor that is asked to be in memory may be larger than its sources.
    if (isWeight && isa<graph::ContiguousOp>(result.getDefiningOp()))
      continue;
    if (isWeight && !isNarrow && replaced > 0 && replaced * kMostGrowth >= double(packedBytes(result)))
      continue;
    if (isNarrow)
      rejected.insert(result.getDefiningOp());
    else if (isWeight && replaced > 0 && !isReadNarrow(result))
      grown.push_back({result, most, double(packedBytes(result)) - replaced});
    else
      reject(result, most);
  }
  llvm::sort(grown, [&](const Grown &a, const Grown &b) {
    auto rank = [&](const Grown &each) { return std::pair(each.by, position_.at(each.result.getDefiningOp())); };
    return rank(a) < rank(b);
  });
  double extra = 0;
  for (const Grown &each : grown) {
    extra += each.by;
    if (extra > kMostExtra * weightBytes_)
      reject(each.result, each.most);
  }
  folded_.remove_if([&](Operation *op) { return rejected.contains(op); });
  return !rejected.empty();
}

/// The name of the largest weight that is read, marked as changed.
std::string RecipeMaker::nameFor(const llvm::SetVector<Operation *> &cone) {
  graph::WeightOp largest;
  for (Operation *op : cone)
    if (auto weight = dyn_cast<graph::WeightOp>(op))
      if (!largest || packedBytes(weight.getResult()) > packedBytes(largest.getResult()))
        largest = weight;
  std::string base = largest.getName().str() + ".folded", name = base;
  for (unsigned repeats = 1; !names_.insert(name).second; ++repeats)
    name = base + std::to_string(repeats);
  return name;
}

void RecipeMaker::make(ArrayRef<Value> results, unsigned number) {
  llvm::SetVector<Operation *> all;
  SmallVector<std::string> names;
  for (Value result : results) {
    llvm::SetVector<Operation *> cone = coneOf(result);
    names.push_back(nameFor(cone));
    all.insert_range(cone);
  }
  SmallVector<Operation *> ops = all.takeVector();
  llvm::sort(ops, [&](Operation *a, Operation *b) { return position_.at(a) < position_.at(b); });

  std::string name = "recipe_" + std::to_string(number);
  OpBuilder builder(module_.getBodyRegion());
  builder.setInsertionPointToEnd(module_.getBody());
  auto model = ModuleOp::create(builder, results.front().getLoc(), name);
  model->setAttr(kTargetAttr, target::recipeTarget(builder.getContext()));
  builder.setInsertionPointToStart(model.getBody());
  auto main = func::FuncOp::create(builder, model.getLoc(), "main",
                                   builder.getFunctionType({}, ValueRange(results).getTypes()));
  builder.setInsertionPointToStart(main.addEntryBlock());
  IRMapping copies;
  for (Operation *op : ops)
    builder.clone(*op, copies);
  func::ReturnOp::create(builder, model.getLoc(),
                         llvm::map_to_vector(results, [&](Value result) { return copies.lookup(result); }));
  for (auto [index, value] : llvm::enumerate(results)) {
    Value result = value;
    main.setResultAttr(index, graph::kNameAttr, builder.getStringAttr(names[index]));
    builder.setInsertionPoint(result.getDefiningOp());
    auto weight =
        graph::WeightOp::create(builder, result.getLoc(), result.getType(), names[index],
                                graph::RecipeAttr::get(builder.getContext(), name, static_cast<int64_t>(index)));
    result.replaceAllUsesWith(weight);
  }
}

void RecipeMaker::run() {
  while (rejectWhatGrows()) {
  }
  // Results that share a computation are made together.
  llvm::EquivalenceClasses<Operation *> shared;
  for (Value result : results_)
    for (Operation *op : coneOf(result))
      if (isFolded(op))
        shared.unionSets(result.getDefiningOp(), op);
  llvm::MapVector<Operation *, SmallVector<Value>> recipes;
  for (Value result : results_)
    recipes[shared.getLeaderValue(result.getDefiningOp())].push_back(result);
  unsigned number = 0;
  for (auto &[leader, results] : recipes)
    make(results, number++);
  graph::eraseDeadOps(main_);
}

namespace {
struct MakeRecipes : kiln::impl::MakeRecipesBase<MakeRecipes> {
  void runOnOperation() override {
    if (auto main = getOperation().lookupSymbol<func::FuncOp>("main"))
      RecipeMaker(getOperation(), main).run();
  }
};
} // namespace
