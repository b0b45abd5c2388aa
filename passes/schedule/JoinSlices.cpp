//===- JoinSlices.cpp - Products of slices with one matrix as one product -----------===//
// Stage: schedule (graph → graph).
// A recurrent network that was unrolled multiplies the input of each step by the same matrix. All these inputs are
// slices of one tensor, so no product waits for another step. Each product has few rows, and takes as long as reading
// the matrix. With the slices as rows of one product, the matrix is read once instead of once per step. It is a rule of
// sums of products and views, whichever operators they came from.
// Expects: views folded.
// Guarantees: each result has the terms that it had; nothing is computed that was not computed before.
// Position: first, since all other passes of the stage look at sums of products.
//===--------------------------------------------------------------------------------===//

#include "passes/Passes.h"

#include "ir/graph/DeadOps.h"
#include "passes/schedule/Domain.h"
#include "passes/schedule/KnownConstants.h"
#include "target/Target.h"

#include "llvm/ADT/MapVector.h"

#include <map>

using namespace kiln;
using namespace kiln::schedule;
using namespace mlir;
using view::Expr;
using view::ShapeTracker;

namespace kiln {
#define GEN_PASS_DEF_JOINSLICES
#include "passes/Passes.h.inc"
} // namespace kiln

/// A product of more rows than this takes longer than reading its matrix.
static constexpr double kMostRows = target::kTypicalSize;
/// A matrix of fewer elements stays in the first cache from one product to the next.
static constexpr double kFewestElements = 4096;

namespace {
/// A sum of products of a matrix and a slice.
struct Product {
  graph::ReduceOp sum;
  unsigned side;      ///< the operand that the slice is
  Edge matrix, slice; ///< from the shape of the sum's input; the slice's is one view without mask

  const view::View &view() const { return slice.tracker.views().front(); }
  /// How far another slice of the tensor lies from this one, if it is multiplied by the same matrix. nullopt if the two
  /// differ in more than that, or the distance is not a number.
  std::optional<int64_t> distanceTo(const Product &other) const;
};

class Joiner {
public:
  /// Notes the sum if it is a product with few rows of a large matrix.
  void add(graph::ReduceOp sum);
  /// Joins the products that were noted.
  void join();

private:
  /// Products that differ only in the place of their slice.
  struct Group {
    Product first;
    std::map<int64_t, Product> products; ///< by the slice's place, counted from the first one's
  };

  /// Makes one product of these, whose slices lie equal distances apart, in order.
  void joinRun(ArrayRef<Product> run, int64_t distance);

  std::vector<Group> groups_;
  llvm::DenseMap<std::pair<Value, Value>, SmallVector<size_t>> groupsOf_; // by matrix and tensor
  llvm::MapVector<Operation *, Edge> joined_;                             // sums, and where their results are now
};
} // namespace

std::optional<int64_t> Product::distanceTo(const Product &other) const {
  graph::ReduceOp a = sum, b = other.sum;
  bool isAlike = a->getBlock() == b->getBlock() && a.getAxes() == b.getAxes() && a.getType() == b.getType() &&
                 side == other.side && matrix.tracker == other.matrix.tracker &&
                 view().shape() == other.view().shape() && view().strides() == other.view().strides();
  Expr distance = other.view().offset() - view().offset();
  return isAlike && distance.isConst() ? std::optional(distance.constant()) : std::nullopt;
}

/// The sum as such a product, with the slice as this operand.
static std::optional<Product> match(graph::ReduceOp sum, unsigned side) {
  graph::AluOp mul = aluOf(sum.getInput(), Alu::MUL);
  if (sum.getKind().getValue() != Alu::ADD || sum.getScore() || !mul)
    return std::nullopt;
  Product product{sum, side, edgeOf(mul->getOperand(!side)), edgeOf(mul->getOperand(side))};
  ArrayRef<view::View> views = product.slice.tracker.views();
  if (isNumber(product.slice.base) || isNumber(product.matrix.base) || views.size() != 1 || views.front().mask())
    return std::nullopt;
  llvm::SmallBitVector moves = axesOf(product.matrix.tracker);
  double rows = 1, elements = 1;
  for (auto [axis, size] : llvm::enumerate(product.view().shape()))
    (moves.test(axis) ? elements : rows) *= target::typicalSize(size);
  return rows <= kMostRows && elements >= kFewestElements ? std::optional(product) : std::nullopt;
}

void Joiner::add(graph::ReduceOp sum) {
  for (unsigned side : {0, 1}) {
    std::optional<Product> product = match(sum, side);
    if (!product)
      continue;
    SmallVector<size_t> &groups = groupsOf_[{product->matrix.base, product->slice.base}];
    for (size_t at : groups)
      if (std::optional<int64_t> place = groups_[at].first.distanceTo(*product)) {
        groups_[at].products.insert({*place, *product});
        return;
      }
    groups.push_back(groups_.size());
    groups_.push_back({*product, {{0, *product}}});
  }
}

void Joiner::joinRun(ArrayRef<Product> run, int64_t distance) {
  graph::ReduceOp first = run.front().sum;
  SmallVector<Location> sums, views;
  for (const Product &product : run) {
    graph::ReduceOp sum = product.sum;
    sums.push_back(sum.getLoc());
    views.push_back(aluOf(sum.getInput(), Alu::MUL)->getOperand(product.side).getLoc());
    if (sum->isBeforeInBlock(first))
      first = sum;
  }
  OpBuilder builder(first);
  Location loc = builder.getFusedLoc(sums);
  const auto &[sum, side, matrix, slice] = run.front();

  view::Shape shape{Expr(int64_t(run.size()))}, strides{Expr(distance)}, once{1};
  llvm::append_range(shape, slice.tracker.shape());
  llvm::append_range(strides, run.front().view().strides());
  llvm::append_range(once, slice.tracker.shape());
  ShapeTracker slices(view::View::make(shape, ArrayRef<Expr>(strides), run.front().view().offset()));
  Value operands[2];
  operands[side] = tensorOf(builder, builder.getFusedLoc(views), {slice.base, slices});
  operands[!side] = tensorOf(builder, loc, {matrix.base, matrix.tracker.reshape(once).expand(shape).simplify()});
  Value product = graph::AluOp::create(builder, loc, Alu::MUL, operands);
  SmallVector<int64_t> axes;
  for (int64_t axis : first.getAxes())
    axes.push_back(axis + 1);
  Value joined = graph::ReduceOp::create(builder, loc, Alu::ADD, product, axes);

  SmallVector<view::Range> ranges;
  for (Expr size : shapeOf(joined))
    ranges.push_back({0, size});
  for (auto [row, part] : llvm::enumerate(run)) {
    ranges.front() = {Expr(int64_t(row)), Expr(int64_t(row) + 1)};
    ShapeTracker place = ShapeTracker::contiguous(shapeOf(joined)).shrink(ranges);
    graph::ReduceOp sum = part.sum;
    joined_.insert({sum, {joined, place.reshape(shapeOf(sum.getResult())).simplify()}});
  }
}

void Joiner::join() {
  for (Group &group : groups_) {
    std::vector<std::pair<int64_t, Product>> left;
    for (const auto &entry : group.products)
      if (!joined_.contains(entry.second.sum)) // as the other operand's slice
        left.push_back(entry);
    for (size_t begin = 0; begin + 1 < left.size();) {
      int64_t distance = left[begin + 1].first - left[begin].first;
      std::vector<Product> run{left[begin].second};
      for (++begin; begin < left.size() && left[begin].first - left[begin - 1].first == distance; ++begin)
        run.push_back(left[begin].second);
      joinRun(run, distance);
    }
  }
  for (auto &[sum, edge] : joined_)
    replaceByEdge(sum->getResult(0), edge);
}

namespace {
struct JoinSlices : kiln::impl::JoinSlicesBase<JoinSlices> {
  void runOnOperation() override {
    auto main = getOperation().lookupSymbol<func::FuncOp>("main");
    if (!main)
      return;
    Joiner joiner;
    main.walk([&](graph::ReduceOp sum) { joiner.add(sum); });
    joiner.join();
    graph::eraseDeadOps(main);
  }
};
} // namespace
