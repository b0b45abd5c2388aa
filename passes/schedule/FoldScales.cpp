//===- FoldScales.cpp - Move constant factors into the weights of sums ---------===//
// Stage: schedule (graph → graph).
// A batch norm in use is a factor and an addend per channel, and it follows a convolution: Σ x·w · s. If s moves only
// along axes along which w moves, that is Σ x·(w·s), and w·s is known at compile time. Addends on the way, Σ x·w + b,
// are multiplied too, and addends of one sum become one. It is a rule of sums and constants, whichever operators they
// came from; it holds for real numbers, so results change by roundings.
// Expects: views folded, constants shrunk.
// Guarantees: nothing is computed twice: what another op reads as it was stays as it was.
// Position: before recipes are made, which the new constants become.
//===----------------------------------------------------------------------===//

#include "passes/Passes.h"

#include "ir/graph/DeadOps.h"
#include "ir/graph/Source.h"
#include "passes/schedule/KnownConstants.h"

using namespace kiln;
using namespace kiln::schedule;
using namespace mlir;
using view::ShapeTracker;

namespace kiln {
#define GEN_PASS_DEF_FOLDSCALES
#include "passes/Passes.h.inc"
} // namespace kiln

namespace {
class Folder {
public:
  explicit Folder(func::FuncOp main) : constants_(main), builder_(main.getContext(), &made_) {}

  void fold(graph::AluOp root);

private:
  /// `tensor`·`scale` with the scale in the weights of the sum that it comes from; null if there is none.
  Value scaled(Value tensor, const Edge &scale);
  Value scaledSum(graph::ReduceOp sum, const Edge &scale);
  /// The same for a constant: null if the product would be computed at run time.
  Value scaledWeight(Value weight, const Edge &scale);
  /// `tensor` + `addend` with the addend in the constant that is added to the sum that it comes from; null if there is
  /// none.
  Value shifted(Value tensor, const Edge &addend);

  /// Two constants whose product or sum is no larger than the larger one.
  std::optional<Edge> combined(Alu kind, const Edge &a, const Edge &b);
  /// The constant operand of a row with two operands, and the other one; nullopt where not just one is constant.
  std::optional<std::pair<Value, Value>> split(graph::AluOp row);
  /// Whether nothing else reads the sources of an op with this operand.
  static bool isOnlyReader(Value operand);
  /// Whether a constant's weights are read for it alone, and are no smaller: it can replace them.
  bool canReplaceWeights(Value constant);
  /// A number as one element that a view repeats, which moves along no axis.
  Edge standing(const Edge &constant);
  Value row(Alu kind, ArrayRef<Value> operands, Location loc);
  /// Notes the model's name of `replaced`, which nothing computes any more, at its replacement.
  static void keepNames(Value made, Value replaced);

  /// The ops made on the way to a result, or to none.
  struct Made : OpBuilder::Listener {
    void notifyOperationInserted(Operation *op, OpBuilder::InsertPoint) override { ops.push_back(op); }
    SmallVector<Operation *> ops;
  };

  KnownConstants constants_;
  Made made_;
  OpBuilder builder_;
  Location loc_ = builder_.getUnknownLoc(); ///< of the factor
  Block *block_ = nullptr;
};
} // namespace

/// Half precision could overflow in w·s if it did not in Σ x·w; wider floats do so far beyond any weights.
static bool isWide(Value tensor) {
  Type element = cast<RankedTensorType>(tensor.getType()).getElementType();
  return element.isF32() || element.isF64();
}

static bool isSubset(const llvm::SmallBitVector &a, const llvm::SmallBitVector &b) { return !a.test(b); }

bool Folder::isOnlyReader(Value operand) { return operand.hasOneUse() && edgeOf(operand).base.hasOneUse(); }

std::optional<std::pair<Value, Value>> Folder::split(graph::AluOp row) {
  Value a = row->getOperand(0), b = row->getOperand(1);
  if (constants_.isConstant(a) == constants_.isConstant(b))
    return std::nullopt;
  return constants_.isConstant(a) ? std::pair(a, b) : std::pair(b, a);
}

Edge Folder::standing(const Edge &constant) {
  auto number = constant.base.getDefiningOp<graph::ConstOp>();
  if (!number || movesOf(constant).any())
    return constant;
  view::Shape shape(constant.tracker.shape()), one(shape.size(), 1);
  Value element =
      graph::ConstOp::create(builder_, loc_, tensorType(one, number.getValue().getType()), number.getValue());
  return {element, ShapeTracker::contiguous(one).expand(shape)};
}

void Folder::keepNames(Value made, Value replaced) {
  SmallVector<graph::Source, 1> own = graph::sourcesOf(made.getLoc());
  if (own.empty())
    return;
  llvm::SetVector<StringAttr> names;
  for (Value value : {replaced, edgeOf(replaced).base}) {
    names.insert_range(graph::foldedOf(value.getLoc()));
    for (const graph::Source &source : graph::sourcesOf(value.getLoc()))
      for (StringAttr name : {source.tensor, source.node})
        if (name && name != own.back().node)
          names.insert(name);
  }
  graph::Source source = own.back();
  if (source.tensor && names.contains(source.tensor))
    source.tensor = nullptr;
  made.setLoc(graph::locationOf(source, names.getArrayRef()));
}

Value Folder::row(Alu kind, ArrayRef<Value> operands, Location loc) {
  auto made = graph::AluOp::create(builder_, loc, kind, operands);
  constants_.add(made);
  return made;
}

std::optional<Edge> Folder::combined(Alu kind, const Edge &a, const Edge &b) {
  llvm::SmallBitVector left = movesOf(a), right = movesOf(b);
  if (!isSubset(left, right) && !isSubset(right, left))
    return std::nullopt;
  Operation *made = nullptr;
  Type element = cast<RankedTensorType>(a.base.getType()).getElementType();
  std::optional<Edge> once = computeOnce(builder_, loc_, kind, {a, b}, element, made);
  return once && constants_.add(made) ? once : std::nullopt;
}

bool Folder::canReplaceWeights(Value constant) {
  int64_t replaced = 0;
  SmallVector<Value> open{constant};
  llvm::DenseSet<Value> known;
  while (!open.empty()) {
    Value value = open.pop_back_val();
    bool isShared = value != constant && !value.hasOneUse();
    if (isShared || !known.insert(value).second)
      continue;
    if (value.getDefiningOp<graph::WeightOp>())
      replaced += packedBytes(value);
    for (Value operand : value.getDefiningOp()->getOperands())
      open.push_back(operand);
  }
  return replaced >= packedBytes(constant);
}

Value Folder::scaledWeight(Value weight, const Edge &scale) {
  Edge edge = edgeOf(weight);
  std::optional<ShapeTracker> at = pullBack(scale.tracker, edge.tracker, shapeOf(edge.base));
  // A tensor that was rounded to a narrow dtype stays in it: products take it so.
  if (!at || !isOnlyReader(weight) || edge.base.getDefiningOp<graph::ConstOp>() || isWidened(edge.base))
    return {};
  Edge inner{scale.base, *at};
  if (canReplaceWeights(edge.base)) {
    std::optional<Edge> product = combined(Alu::MUL, edgeOf(edge.base), inner);
    if (!product)
      return {};
    return tensorOf(builder_, loc_, {product->base, product->tracker.compose(edge.tracker).simplify()});
  }
  // Weights that are widened when the model runs have a scale of their own after that.
  auto product = edge.base.getDefiningOp<graph::AluOp>();
  if (!product || product.getKind().getValue() != Alu::MUL)
    return {};
  for (unsigned side : {0, 1}) {
    Value factor = scaledWeight(product->getOperand(side), inner);
    if (factor)
      return tensorOf(builder_, loc_,
                      {row(Alu::MUL, {factor, product->getOperand(1 - side)}, product.getLoc()), edge.tracker});
  }
  return {};
}

Value Folder::scaledSum(graph::ReduceOp sum, const Edge &scale) {
  Edge edge = edgeOf(sum.getInput());
  auto product = edge.base.getDefiningOp<graph::AluOp>();
  if (sum.getKind().getValue() != Alu::ADD || !product || product.getKind().getValue() != Alu::MUL ||
      !isOnlyReader(sum.getInput()))
    return {};
  ShapeTracker everywhere = scale.tracker.expand(shapeOf(sum.getInput()));
  std::optional<ShapeTracker> at = pullBack(everywhere, edge.tracker, shapeOf(edge.base));
  std::optional<std::pair<Value, Value>> factors = split(product);
  if (!at || !factors)
    return {};
  Value weight = scaledWeight(factors->first, {scale.base, *at});
  if (!weight)
    return {};
  // The product is the factor's node from here on, the sum its own: the launch names both.
  Value scaled = row(Alu::MUL, {factors->second, weight}, loc_);
  Value input = tensorOf(builder_, product.getLoc(), {scaled, edge.tracker});
  return graph::ReduceOp::create(builder_, sum.getLoc(), Alu::ADD, input, sum.getAxes(), sum.getScore());
}

Value Folder::scaled(Value tensor, const Edge &scale) {
  Edge edge = edgeOf(tensor);
  Operation *op = edge.base.getDefiningOp();
  std::optional<ShapeTracker> at = pullBack(scale.tracker, edge.tracker, shapeOf(edge.base));
  if (!op || op->getBlock() != block_ || !at || !isOnlyReader(tensor))
    return {};
  Edge inner{scale.base, *at};
  auto alu = dyn_cast<graph::AluOp>(op);
  Value result;
  if (auto sum = dyn_cast<graph::ReduceOp>(op)) {
    result = scaledSum(sum, inner);
  } else if (alu && alu.getKind().getValue() == Alu::NEG) {
    if (Value operand = scaled(alu->getOperand(0), inner))
      result = row(Alu::NEG, operand, alu.getLoc());
  } else if (alu && alu.getKind().getValue() == Alu::ADD) {
    std::optional<std::pair<Value, Value>> parts = split(alu);
    std::optional<Edge> addend = parts ? combined(Alu::MUL, edgeOf(parts->first), inner) : std::nullopt;
    Value rest = addend ? scaled(parts->second, inner) : Value();
    if (rest)
      result = row(Alu::ADD, {rest, tensorOf(builder_, loc_, *addend)}, alu.getLoc());
  }
  if (!result)
    return {};
  keepNames(result, tensor);
  return tensorOf(builder_, alu ? alu.getLoc() : loc_, {result, edge.tracker});
}

Value Folder::shifted(Value tensor, const Edge &addend) {
  Edge edge = edgeOf(tensor);
  auto add = edge.base.getDefiningOp<graph::AluOp>();
  std::optional<ShapeTracker> at = pullBack(addend.tracker, edge.tracker, shapeOf(edge.base));
  if (!add || add->getBlock() != block_ || !at || !isOnlyReader(tensor) || add.getKind().getValue() != Alu::ADD)
    return {};
  std::optional<std::pair<Value, Value>> parts = split(add);
  auto sum = parts ? edgeOf(parts->second).base.getDefiningOp<graph::ReduceOp>() : graph::ReduceOp();
  if (!sum || sum.getKind().getValue() != Alu::ADD)
    return {};
  std::optional<Edge> both = combined(Alu::ADD, edgeOf(parts->first), {addend.base, *at});
  if (!both)
    return {};
  Value result = row(Alu::ADD, {parts->second, tensorOf(builder_, loc_, *both)}, loc_);
  keepNames(result, tensor);
  return tensorOf(builder_, add.getLoc(), {result, edge.tracker});
}

void Folder::fold(graph::AluOp root) {
  Alu kind = root.getKind().getValue();
  bool isKnown = kind == Alu::MUL || kind == Alu::ADD || kind == Alu::FDIV;
  if (!isKnown || !isWide(root.getResult()))
    return;
  std::optional<std::pair<Value, Value>> parts = split(root);
  if (!parts || (kind == Alu::FDIV && parts->first == root->getOperand(0)))
    return;
  builder_.setInsertionPoint(root);
  loc_ = root.getLoc();
  block_ = root->getBlock();
  Edge constant = edgeOf(parts->first);
  if (kind == Alu::FDIV) {
    Operation *made = nullptr;
    Type element = root.getResult().getType().getElementType();
    std::optional<Edge> factor = computeOnce(builder_, loc_, Alu::RECIP, {constant}, element, made);
    if (!factor || !constants_.add(made))
      return;
    constant = *factor;
  }
  constant = standing(constant);
  Value result = kind == Alu::ADD ? shifted(parts->second, constant) : scaled(parts->second, constant);
  if (result)
    replaceByEdge(root.getResult(), edgeOf(result));
  // A dead op is not a reader.
  for (Operation *op : llvm::reverse(made_.ops))
    constants_.eraseIfDead(op);
  made_.ops.clear();
  llvm::SetVector<Operation *> open;
  for (open.insert(root); !open.empty();)
    open.insert_range(constants_.eraseIfDead(open.pop_back_val()));
}

namespace {
struct FoldScales : kiln::impl::FoldScalesBase<FoldScales> {
  void runOnOperation() override {
    auto main = getOperation().lookupSymbol<func::FuncOp>("main");
    if (!main)
      return;
    Folder folder(main);
    // In order, so that a factor has reached the sum before the next one comes.
    SmallVector<graph::AluOp> rows;
    main.walk<WalkOrder::PreOrder>([&](graph::AluOp alu) { rows.push_back(alu); });
    for (graph::AluOp alu : rows)
      folder.fold(alu);
    graph::eraseDeadOps(main);
  }
};
} // namespace
