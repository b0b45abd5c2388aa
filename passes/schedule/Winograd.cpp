//===- Winograd.cpp - Windows of three by three with fewer multiplications ------===//
// Stage: schedule (graph → graph).
// Neighbouring outputs of a window share most of what they read. Winograd's minimal filtering computes m × m of them
// from a tile of (m + 2) × (m + 2) inputs d and a window g as
//     y = Aᵀ ((G g Gᵀ) ⊙ (Bᵀ d B)) A,
// with (m + 2)² multiplications instead of 9 m²: 16 instead of 36 for m = 2, 36 instead of 144 for m = 4 (Lavin and
// Gray, "Fast Algorithms for Convolutional Neural Networks", 2015). Summed up over channels, ⊙ becomes (m + 2)²
// products of matrices; G g Gᵀ is a recipe; what is left is additions along tiles, which are ordinary rows of the
// graph.
//   A window is found by how an operand moves, whatever operator it came from: along an axis of the result as along one
// of the sum, which has three points. Constants of m = 2 are 0, 1 and 1/2 and round hardly more than the direct sum;
// those of m = 4 lose about a decimal digit, so that they have to be asked for.
// Expects: views folded; scales are in the weights.
// Guarantees: a sum is rewritten only where the device's rates say that it gets faster.
// Position: after scales are folded, before recipes are made; G g Gᵀ becomes one.
//===----------------------------------------------------------------------------===//

#include "passes/Passes.h"

#include "ir/graph/DeadOps.h"

#include "passes/schedule/Cost.h"
#include "passes/schedule/Domain.h"
#include "passes/schedule/KnownConstants.h"
#include "passes/schedule/Products.h"

#include "target/Target.h"
#include "target/Times.h"

using namespace kiln;
using namespace kiln::schedule;
using namespace mlir;
using view::Expr;
using view::ShapeTracker;

namespace kiln {
#define GEN_PASS_DEF_WINOGRAD
#include "passes/Passes.h.inc"
} // namespace kiln

static constexpr int64_t kTaps = 3;
/// An unknown height or width counts as this, that of a small picture: strides leave it tiles enough.
static constexpr int64_t kTypicalPicture = 256;

namespace {
using Matrix = SmallVector<SmallVector<double>>;

/// The matrices of F(m, 3): from inputs (Bᵀ) and windows (G) to the factors, and from the products to outputs (Aᵀ).
struct Transform {
  int64_t outputs; ///< m
  Matrix input, window, output;

  int64_t points() const { return outputs + kTaps - 1; }
  /// Additions and multiplications for a number that is made of inputs, along both axes of a tile.
  double operations() const {
    double total = 0;
    for (ArrayRef<double> line : input) {
      total -= 1;
      for (double factor : line)
        total += factor == 0 ? 0 : std::abs(factor) == 1 ? 1 : 2;
    }
    return 2 * total / double(points());
  }
};

/// An axis of the result and one of the sum along which an operand moves alike.
struct Window {
  int64_t axis, tap;
};

/// Σ x·w with windows along two axes.
struct Windows {
  mutable graph::ReduceOp sum;
  Edge data, weight; ///< from the shape of the sum's input
  Window rows, columns;

  ArrayRef<Expr> shape() const { return data.tracker.shape(); }
  bool isTap(int64_t axis) const { return axis == rows.tap || axis == columns.tap; }
};
} // namespace

static Transform transformOf(int64_t outputs) {
  if (outputs == 2)
    return {2,
            {{1, 0, -1, 0}, {0, 1, 1, 0}, {0, -1, 1, 0}, {0, 1, 0, -1}},
            {{1, 0, 0}, {.5, .5, .5}, {.5, -.5, .5}, {0, 0, 1}},
            {{1, 1, 1, 0}, {0, 1, -1, -1}}};
  return {4,
          {{4, 0, -5, 0, 1, 0},
           {0, -4, -4, 1, 1, 0},
           {0, 4, -4, -1, 1, 0},
           {0, -2, -1, 2, 1, 0},
           {0, 2, -1, -2, 1, 0},
           {0, 4, 0, -5, 0, 1}},
          {{1. / 4, 0, 0},
           {-1. / 6, -1. / 6, -1. / 6},
           {-1. / 6, 1. / 6, -1. / 6},
           {1. / 24, 1. / 12, 1. / 6},
           {1. / 24, -1. / 12, 1. / 6},
           {0, 0, 1}},
          {{1, 1, 1, 1, 1, 0}, {0, 1, -1, 2, -2, 0}, {0, 1, 1, 4, 4, 0}, {0, 1, -1, 8, -8, 1}}};
}

/// The tracker at one point of an axis, which stays, and from `begin` on along another one.
static ShapeTracker cut(const ShapeTracker &tracker, int64_t axis, view::Range range, int64_t fixed, int64_t at) {
  SmallVector<view::Range> ranges;
  for (Expr size : tracker.shape())
    ranges.push_back({0, size});
  ranges[axis] = range;
  ranges[fixed] = {at, at + 1};
  return tracker.shrink(ranges);
}

/// Whether the map depends on `axis` + `tap` alone, as far as these two are concerned.
static bool movesAlike(const ShapeTracker &tracker, int64_t axis, int64_t tap) {
  Expr size = tracker.shape()[axis];
  for (int64_t i = 1; i < kTaps; ++i) {
    view::Index next = cut(tracker, axis, {0, size - 1}, tap, i).simplify().at();
    view::Index same = cut(tracker, axis, {1, size}, tap, i - 1).simplify().at();
    if (!view::provablyEqual(next.valid, same.valid) || !view::provablyEqual(next.index, same.index))
      return false;
  }
  return true;
}

static std::optional<Windows> match(graph::ReduceOp sum, const KnownConstants &constants) {
  graph::AluOp product = multiplicationOf(sum);
  if (!product || !isWhole(edgeOf(sum.getInput())) || !sum.getResult().getType().getElementType().isF32())
    return std::nullopt;
  bool isSecond = constants.isConstant(product->getOperand(1));
  if (isSecond == constants.isConstant(product->getOperand(0)))
    return std::nullopt;
  Windows found{
      sum, edgeOf(product->getOperand(isSecond ? 0 : 1)), edgeOf(product->getOperand(isSecond ? 1 : 0)), {}, {}};

  llvm::SmallBitVector data = axesOf(found.data.tracker), weight = axesOf(found.weight.tracker);
  SmallVector<Window, 2> windows;
  for (int64_t tap : sum.getAxes())
    for (int64_t axis = 0; axis < int64_t(found.shape().size()) && windows.size() < 2; ++axis) {
      Expr size = found.shape()[axis];
      bool isUsed = llvm::any_of(windows, [&](const Window &window) { return window.axis == axis; });
      if (!found.shape()[tap].isConst(kTaps) || !weight.test(tap) || !data.test(tap) || isUsed ||
          llvm::is_contained(sum.getAxes(), axis) || weight.test(axis) || !data.test(axis) || size.max() < 2 ||
          !movesAlike(found.data.tracker, axis, tap))
        continue;
      windows.push_back({axis, tap});
      break;
    }
  if (windows.size() < 2)
    return std::nullopt;
  std::tie(found.rows, found.columns) = std::pair(windows[0], windows[1]);
  return found;
}

static Expr tilesOf(const Windows &windows, const Window &window, const Transform &transform) {
  return view::ceilDiv(windows.shape()[window.axis], transform.outputs);
}

/// Whether the products of fewer numbers save more time than the sums along tiles and larger weights cost.
static bool isWorthwhile(const Windows &windows, const Transform &transform, TargetAttr target) {
  RatesAttr rates = target.getRates();
  llvm::SmallBitVector data = axesOf(windows.data.tracker), weight = axesOf(windows.weight.tracker);
  double points = double(transform.points()) * transform.points();
  double read = points, written = points, multiplied = points, weights = points, summed = kTaps * kTaps;
  for (auto [axis, size] : llvm::enumerate(windows.shape())) {
    if (windows.isTap(axis))
      continue;
    double elements = typicalSize(size), steps = elements;
    for (const Window &window : {windows.rows, windows.columns})
      if (window.axis == int64_t(axis)) {
        elements = typicalSize(size, kTypicalPicture);
        steps = typicalSize(tilesOf(windows, window, transform), kTypicalPicture);
      }
    summed *= elements;
    multiplied *= steps;
    read *= data.test(axis) ? steps : 1;
    weights *= weight.test(axis) ? steps : 1;
    written *= llvm::is_contained(windows.sum.getAxes(), int64_t(axis)) ? 1 : steps;
  }
  auto time = [&](double products, double weights) {
    return std::max(2 * products / rates.getProductOpsPerNs(), 4 * weights / rates.getBytesPerNs());
  };
  double direct = time(summed, weights / points * kTaps * kTaps);
  // A kernel for each line of a tile, and two for what becomes of the products.
  double launches = (transform.points() + 2) * target::times::kLaunchNanoseconds;
  double numbers = read + written, bytes = numbers * sizeof(float);
  double transforms = numbers * transform.operations() * target::times::kTransformNanoseconds;
  if (size_t caches = target.getCaches().size(); caches > 0 && bytes > double(target.cacheBytes(caches)))
    transforms = std::max(transforms, bytes / rates.getBytesPerNs());
  double tiled = time(multiplied, weights) + transforms + launches;
  return tiled * target::times::kTransformMargin < direct;
}

namespace {
class Rewriter {
public:
  Rewriter(const Windows &windows, const Transform &transform)
      : windows_(windows), transform_(transform), builder_(windows.sum), loc_(windows.sum.getLoc()) {
    // Samples of unknown number stay outermost, so that each one's results are in one piece.
    bool areSamples = !windows.shape().front().isConst() && !axesOf(windows.weight.tracker).test(0);
    place_ = areSamples ? 1 : 0;
  }

  void rewrite();

private:
  using Grid = SmallVector<SmallVector<Value>>;

  /// The sum's domain with tiles for outputs and no taps, as far as `moves` says; elsewhere 1.
  view::Shape tiled(const llvm::SmallBitVector &moves) const;
  /// Input (i, j) of each tile.
  Value inputAt(int64_t i, int64_t j);
  /// Σ factors[i] · values[i].
  Value combine(ArrayRef<double> factors, ArrayRef<Value> values);
  /// matrix · grid · matrixᵀ.
  Grid transformed(const Matrix &matrix, const Grid &grid);
  /// G g Gᵀ, as it is seen from the products' domain `shape`.
  Value windowsAt(ArrayRef<Expr> shape);
  /// One tensor in which each part, padded by the given amounts, fills another box.
  Value joined(ArrayRef<std::pair<Value, SmallVector<std::pair<Expr, Expr>>>> parts);
  Value row(Alu kind, ArrayRef<Value> operands) { return graph::AluOp::create(builder_, loc_, kind, operands); }
  /// `tensor`, which may be a view itself, seen through `tracker`.
  Value view(Value tensor, const ShapeTracker &tracker) {
    Edge edge = edgeOf(tensor);
    return tensorOf(builder_, loc_, {edge.base, edge.tracker.compose(tracker).simplify()});
  }
  static ShapeTracker whole(Value tensor) { return ShapeTracker::contiguous(shapeOf(tensor)); }

  const Windows &windows_;
  const Transform &transform_;
  OpBuilder builder_;
  Location loc_;
  size_t place_; ///< of the axis of a tile's points among the sum's
};
} // namespace

view::Shape Rewriter::tiled(const llvm::SmallBitVector &moves) const {
  view::Shape shape(windows_.shape());
  for (const Window &window : {windows_.rows, windows_.columns}) {
    shape[window.axis] = tilesOf(windows_, window, transform_);
    shape[window.tap] = 1;
  }
  for (auto [axis, size] : llvm::enumerate(shape))
    if (!moves.test(axis))
      size = 1;
  return shape;
}

Value Rewriter::inputAt(int64_t i, int64_t j) {
  const ShapeTracker &tracker = windows_.data.tracker;
  llvm::SmallBitVector moves = axesOf(tracker);
  SmallVector<std::pair<Expr, Expr>> beyond(tracker.shape().size(), {0, 0});
  SmallVector<view::Range> ranges, places;
  view::Shape split;
  for (auto [axis, size] : llvm::enumerate(tracker.shape()))
    ranges.push_back({0, moves.test(axis) ? size : Expr(1)});
  // Input i is the one that the last tap of output i - 2 reads; taps of output 0 read the first two.
  for (auto [window, at] : {std::pair(windows_.rows, i), std::pair(windows_.columns, j)}) {
    Expr padded = tilesOf(windows_, window, transform_) * transform_.outputs;
    beyond[window.axis].second = padded - tracker.shape()[window.axis];
    ranges[window.axis] = {0, padded};
    int64_t tap = std::min(at, kTaps - 1);
    ranges[window.tap] = {tap, tap + 1};
  }
  for (auto [axis, range] : llvm::enumerate(ranges)) {
    split.push_back(range.end - range.begin);
    places.push_back({0, split.back()});
    for (auto [window, at] : {std::pair(windows_.rows, i), std::pair(windows_.columns, j)})
      if (window.axis == int64_t(axis)) {
        split.back() = tilesOf(windows_, window, transform_);
        places.back() = {0, split.back()};
        split.push_back(transform_.outputs);
        int64_t output = std::max<int64_t>(at - (kTaps - 1), 0);
        places.push_back({output, output + 1});
      }
  }
  ShapeTracker seen = tracker.pad(beyond).shrink(ranges).simplify().reshape(split).shrink(places).reshape(tiled(moves));
  return view(windows_.data.base, seen);
}

Value Rewriter::combine(ArrayRef<double> factors, ArrayRef<Value> values) {
  Value sum;
  for (auto [factor, value] : llvm::zip(factors, values)) {
    if (factor == 0)
      continue;
    Value term = value;
    if (std::abs(factor) != 1)
      term = row(Alu::MUL, {value, graph::ConstOp::create(builder_, loc_, cast<RankedTensorType>(value.getType()),
                                                          builder_.getF32FloatAttr(std::abs(factor)))});
    if (factor < 0)
      term = row(Alu::NEG, term);
    sum = sum ? row(Alu::ADD, {sum, term}) : term;
  }
  return sum;
}

Rewriter::Grid Rewriter::transformed(const Matrix &matrix, const Grid &grid) {
  Grid half, result;
  for (ArrayRef<double> factors : matrix) {
    SmallVector<Value> &line = half.emplace_back();
    for (size_t j = 0; j < grid.front().size(); ++j)
      line.push_back(combine(factors, llvm::map_to_vector(grid, [&](ArrayRef<Value> from) { return from[j]; })));
  }
  for (ArrayRef<Value> line : half)
    result.push_back(llvm::map_to_vector(matrix, [&](ArrayRef<double> factors) { return combine(factors, line); }));
  return result;
}

Value Rewriter::windowsAt(ArrayRef<Expr> shape) {
  int64_t points = transform_.points();
  SmallVector<float> factors;
  for (ArrayRef<double> row : transform_.window)
    for (ArrayRef<double> column : transform_.window)
      for (double a : row)
        for (double b : column)
          factors.push_back(float(a * b));
  auto type = RankedTensorType::get({points * points, kTaps, kTaps}, builder_.getF32Type());
  Value constants = graph::WeightOp::create(builder_, loc_, type, "winograd." + std::to_string(transform_.outputs),
                                            DenseElementsAttr::get(type, ArrayRef<float>(factors)));

  const ShapeTracker &tracker = windows_.weight.tracker;
  llvm::SmallBitVector moves = axesOf(tracker);
  moves.reset(windows_.rows.tap).reset(windows_.columns.tap);
  SmallVector<int64_t> order;
  SmallVector<view::Range> ranges;
  view::Shape sizes{points * points}, seen;
  for (auto [axis, size] : llvm::enumerate(tracker.shape())) {
    bool isKept = moves.test(axis) || windows_.isTap(axis);
    ranges.push_back({0, isKept ? size : Expr(1)});
    if (!windows_.isTap(axis))
      order.push_back(axis);
    if (moves.test(axis))
      sizes.push_back(size);
    seen.push_back(moves.test(axis) ? size : Expr(1));
  }
  seen.insert(seen.begin() + place_, points * points);
  order.append({windows_.rows.tap, windows_.columns.tap});
  view::Shape taps(sizes), flat(sizes.size(), 1);
  taps.append({kTaps, kTaps});
  flat.append({kTaps, kTaps});
  view::Shape one(taps);
  one.front() = 1;
  Value weight = view(windows_.weight.base, tracker.shrink(ranges).permute(order).reshape(one).expand(taps));
  flat.front() = points * points;
  Value factor = view(constants, whole(constants).reshape(flat).expand(taps));
  int64_t rank = int64_t(taps.size());
  Value sum = graph::ReduceOp::create(builder_, loc_, Alu::ADD, row(Alu::MUL, {weight, factor}), {rank - 2, rank - 1});
  // Memory is requested, since these are more numbers than the weight has.
  Value packed = view(sum, whole(sum).reshape(sizes));
  packed = graph::ContiguousOp::create(builder_, loc_, packed.getType(), packed);
  return view(packed, whole(packed).reshape(seen).expand(shape));
}

Value Rewriter::joined(ArrayRef<std::pair<Value, SmallVector<std::pair<Expr, Expr>>>> parts) {
  Value result;
  for (const auto &[part, beside] : parts) {
    Value there = view(part, whole(part).pad(beside));
    if (!result) {
      result = there;
      continue;
    }
    Value yes = graph::ConstOp::create(builder_, loc_, tensorType(shapeOf(part), builder_.getI1Type()),
                                       builder_.getBoolAttr(true));
    result = row(Alu::WHERE, {view(yes, whole(part).pad(beside)), there, result});
  }
  return result;
}

void Rewriter::rewrite() {
  int64_t points = transform_.points(), outputs = transform_.outputs;
  using Beside = SmallVector<std::pair<Expr, Expr>>;
  Grid inputs(points);
  for (int64_t i = 0; i < points; ++i)
    for (int64_t j = 0; j < points; ++j)
      inputs[i].push_back(inputAt(i, j));
  SmallVector<std::pair<Value, Beside>> parts;
  for (ArrayRef<Value> line : transformed(transform_.input, inputs))
    for (Value part : line) {
      view::Shape shape = shapeOf(part);
      shape.insert(shape.begin() + place_, 1);
      Beside beside(shape.size(), {0, 0});
      beside[place_] = {int64_t(parts.size()), points * points - 1 - int64_t(parts.size())};
      parts.push_back({view(part, whole(part).reshape(shape)), beside});
    }
  Value data = joined(parts);

  view::Shape domain = tiled(llvm::SmallBitVector(windows_.shape().size(), true));
  domain.insert(domain.begin() + place_, points * points);
  Value product = row(Alu::MUL, {view(data, whole(data).expand(domain)), windowsAt(domain)});
  SmallVector<int64_t> axes =
      llvm::map_to_vector(windows_.sum.getAxes(), [&](int64_t axis) { return axis + (axis >= int64_t(place_)); });
  Value sums = graph::ReduceOp::create(builder_, loc_, Alu::ADD, product, axes);

  view::Shape one = shapeOf(sums);
  one.erase(one.begin() + place_);
  Grid grid(points);
  for (int64_t i = 0; i < points * points; ++i) {
    SmallVector<view::Range> ranges;
    for (Expr size : shapeOf(sums))
      ranges.push_back({0, size});
    ranges[place_] = {i, i + 1};
    grid[i / points].push_back(view(sums, whole(sums).shrink(ranges).reshape(one)));
  }
  parts.clear();
  for (auto [i, line] : llvm::enumerate(transformed(transform_.output, grid)))
    for (auto [j, part] : llvm::enumerate(line)) {
      view::Shape shape;
      Beside beside;
      for (auto [axis, size] : llvm::enumerate(shapeOf(part))) {
        shape.push_back(size);
        beside.push_back({0, 0});
        for (auto [window, at] : {std::pair(windows_.rows, i), std::pair(windows_.columns, j)})
          if (window.axis == int64_t(axis)) {
            shape.push_back(1);
            beside.push_back({int64_t(at), outputs - 1 - int64_t(at)});
          }
      }
      parts.push_back({view(part, whole(part).reshape(shape)), beside});
    }
  Value tiles = joined(parts);
  view::Shape side = shapeOf(windows_.sum.getResult());
  SmallVector<view::Range> ranges;
  for (Expr size : side)
    ranges.push_back({0, size});
  for (const Window &window : {windows_.rows, windows_.columns})
    side[window.axis] = tilesOf(windows_, window, transform_) * outputs;
  replaceByEdge(windows_.sum.getResult(), {tiles, whole(tiles).reshape(side).shrink(ranges).simplify()});
  windows_.sum.erase();
}

namespace {
struct Winograd : kiln::impl::WinogradBase<Winograd> {
  using WinogradBase::WinogradBase;

  void runOnOperation() override {
    auto main = getOperation().lookupSymbol<func::FuncOp>("main");
    TargetAttr target = targetOf(getOperation());
    // For devices with work groups nobody has measured the time of the sums along tiles.
    if (!main || target.hasGroups() || target.vectorBits() == 0)
      return;
    KnownConstants constants(main);
    Transform transform = transformOf(outputs);
    SmallVector<graph::ReduceOp> sums;
    main.walk([&](graph::ReduceOp sum) { sums.push_back(sum); });
    for (graph::ReduceOp sum : sums) {
      if (multipliesNarrow(sum, target, [&](Value value) { return constants.isConstant(value); }))
        continue;
      std::optional<Windows> windows = match(sum, constants);
      if (windows && isWorthwhile(*windows, transform, target))
        Rewriter(*windows, transform).rewrite();
    }
    graph::eraseDeadOps(main);
  }
};
} // namespace
