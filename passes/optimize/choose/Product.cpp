//===- Product.cpp - Sums of products, and how their operands move -----------------===//
//
// Matrix products and convolutions arrive as the same thing, a sum over a multiplication, and their names are gone.
// Both become fast if an element, once loaded, serves several sums. That can be seen from the strides alone:
// along an axis m one operand moves while the other stands still, along an axis n it is the other way round, and a tile
// of 4 × 6 sums needs no more than 10 loads for each of their terms.
// Lanes run along n. Columns that are a weight can be packed beforehand, so that any such n will do; else n is the axis
// along which the result is contiguous. Where both ways are open, counted steps decide.
//
//===-------------------------------------------------------------------------------===//

#include "passes/optimize/choose/Product.h"

#include "passes/optimize/KernelVariants.h"
#include "passes/optimize/choose/RegisterTile.h"

#include "target/Target.h"
#include "target/Times.h"

#include "llvm/ADT/SetVector.h"

using namespace kiln;
using namespace kiln::kernel;
using namespace mlir;
using kiln::optimize::Access;
using kiln::optimize::fixedSize;
using kiln::optimize::TiledProduct;
using view::Expr;

/// Lanes along an axis along which the result is not contiguous are stored one by one: where nobody knows what else
/// there is to do, sums of fewer terms would do little else.
static constexpr int64_t kPackedDepth = 128;

static Access accessOf(Operation *op, Value buffer) {
  size_t rank = op->getParentOfType<FuncOp>().getDomain().getSizes().size();
  auto strides = op->getAttrOfType<TrackerAttr>("tracker").getValue().realStrides(/*ignoreValid=*/true);
  Access access{op, cast<BlockArgument>(buffer).getArgNumber(), {}};
  access.strides.append(strides.begin(), strides.begin() + rank);
  return access;
}

Access optimize::accessOf(StoreOp store) { return ::accessOf(store, store.getBuffer()); }

Access optimize::accessOf(LoadOp load) {
  Access access = ::accessOf(load, load.getBuffer());
  // Along the axes that choose its row a load moves by no stride.
  for (auto [axis, stride] : llvm::enumerate(access.strides))
    if (load.getRow() && dependsOn(load.getRow(), axis))
      stride = std::nullopt;
  return access;
}

std::optional<int64_t> optimize::strideWithin(const Access &access, size_t axis, int64_t count) {
  if (access.strides[axis])
    return access.strides[axis]->isConst() ? std::optional(access.strides[axis]->constant()) : std::nullopt;
  if (auto load = dyn_cast<LoadOp>(access.op); load && load.getRow())
    return std::nullopt; // data chooses where its axes are
  SmallVector<Expr> position;
  for (auto [number, size] : llvm::enumerate(access.op->getParentOfType<FuncOp>().getDomain().getSizes()))
    position.push_back(size.isConst(1) ? Expr(0) : Expr::variable("_i" + std::to_string(number), 0, size - 1));
  view::ShapeTracker tracker = optimize::trackerOf(access.op);
  Expr block = Expr::variable("_block", 0, view::floorDiv(position[axis], count).max());
  auto at = [&](int64_t point) {
    position[axis] = block * count + point;
    return tracker.at(position).index;
  };
  Expr first = at(0), step = at(1) - first;
  if (!step.isConst())
    return std::nullopt;
  for (int64_t point = count - 1; point > 1; --point)
    if (!(at(point) - first).isConst(point * step.constant()))
      return std::nullopt;
  return step.constant();
}

/// The axis of rows that a register tile goes along, if some other is one of columns.
static std::optional<size_t> rowsFor(const Access &rows, const Access &columns, const llvm::SmallBitVector &reduced,
                                     ArrayRef<Expr> domain, bool packs) {
  std::optional<size_t> m;
  for (size_t axis = 0; axis < rows.strides.size(); ++axis) {
    bool isRow = !reduced.test(axis) && columns.isStill(axis) && !rows.isStill(axis);
    auto isApart = [&](size_t each) { return rows.strides[each] && rows.strides[each]->isConst(); };
    // The innermost, whose elements are neighbours, where nothing else decides. Of two whose sizes only the run knows,
    // rows that lie a number apart: the frames of a signal, not the signals of a batch, which is often one.
    bool isBatch = m && fixedSize(domain[*m]) < 0 && fixedSize(domain[axis]) < 0 && isApart(*m) && !isApart(axis);
    if (isRow && ((packs && !isBatch) || !m || fixedSize(domain[axis]) > fixedSize(domain[*m])))
      m = axis;
  }
  return m;
}

ProductAttr optimize::fastDot(const kernel::Product &product, TargetAttr target) {
  if (!product.isNarrow())
    return nullptr;
  const auto &[one, other] = product.operands;
  ProductAttr dot = target.dotProduct(one.narrow.getType(), other.narrow.getType(), product.sum());
  return dot && dot.getK() > dot.getSteps() ? dot : nullptr;
}

bool optimize::hasFastInstruction(const kernel::Product &product, TargetAttr target) {
  const auto &[one, other] = product.operands;
  return fastDot(product, target) ||
         (product.isNarrow() && target.matrixProduct(one.narrow.getType(), other.narrow.getType(), product.sum()));
}

bool optimize::isWhole(const Access &access) { return trackerOf(access.op).at().valid.isConst(1); }

int64_t optimize::bytesOfElement(const Access &access) {
  Value element = isa<StoreOp>(access.op) ? cast<StoreOp>(access.op).getValue() : access.op->getResult(0);
  return byteSize(element.getType());
}

/// What a product whose lanes run along its columns takes, in multiply-adds of a vector: its register tiles, columns
/// that are not packed and do not lie side by side, and a result whose elements lie apart along them. 0 where that is
/// not known, of columns far from each other. Sizes that only the run knows count as typical ones.
static double stepsOf(const TiledProduct &product, const Access &store, ArrayRef<Expr> domain,
                      const llvm::SmallBitVector &reduced, TargetAttr target) {
  std::optional<Expr> apart = product.columns.strides[product.n];
  bool isPlain = product.packs || product.areVectors();
  if (!isPlain && !(apart && apart->isConst() && apart->constant() >= 1 && apart->constant() <= target::kMostApart))
    return 0;
  auto pointsOf = [&](size_t axis) { return int64_t(target::typicalSize(domain[axis])); };
  double depth = 1, around = 1;
  for (size_t axis = 0; axis < domain.size(); ++axis) {
    if (pointsOf(axis) < 1)
      return 0;
    if (reduced.test(axis))
      depth *= double(pointsOf(axis));
    else if (axis != product.m && axis != product.n)
      around *= double(pointsOf(axis));
  }
  int64_t rows = pointsOf(product.m), registers = target.vectorRegisters();
  int64_t lanes = target.vectorBits() / (8 * byteSize(cast<StoreOp>(store.op).getValue().getType()));
  int64_t vectors = llvm::divideCeil(pointsOf(product.n), lanes);
  double steps = depth * optimize::bestTile(rows, vectors, registers, registers, !isWhole(product.rows)).steps;
  if (!isPlain)
    steps += target::times::kStageSteps * depth * double(vectors);
  if (!store.isContiguous(product.n))
    steps += target::times::kStoreApartSteps * double(rows * vectors);
  return steps * around;
}

bool TiledProduct::areVectors() const {
  return llvm::all_of(sourcesOf(columnOperand().value).loads, [&](LoadOp load) {
    Access access = optimize::accessOf(load);
    return (access.isContiguous(n) || access.isStill(n)) && isWhole(access);
  });
}

std::optional<TiledProduct> optimize::findProduct(FuncOp func, TargetAttr target, const llvm::SmallBitVector &weights,
                                                  bool relays) {
  std::optional<Product> sum = onlyProductOf(func);
  if (!sum)
    return std::nullopt;
  const auto &[one, other] = sum->operands;
  LoadOp a = one.onlyLoad(), b = other.onlyLoad();
  bool isAlone[] = {a != nullptr, b != nullptr}, areLoads = a && b;
  // If columns are packed before, rows may be computed from several loads: a bias and a relu in front of the product.
  a = a ? a : one.widestLoad();
  b = b ? b : other.widestLoad();
  if (!a || !b || a == b)
    return std::nullopt;
  Access first = accessOf(a), second = accessOf(b);
  for (size_t axis = 0; axis < first.strides.size(); ++axis) {
    if (!isAlone[0] && dependsOn(one.value, axis) && first.isStill(axis))
      first.strides[axis] = std::nullopt;
    if (!isAlone[1] && dependsOn(other.value, axis) && second.isStill(axis))
      second.strides[axis] = std::nullopt;
  }
  ArrayRef<Expr> domain = func.getDomain().getSizes();
  llvm::SmallBitVector reduced(domain.size());
  int64_t depth = 1;
  for (int64_t axis : sum->reduce.getAxes()) {
    reduced.set(axis);
    depth *= std::max<int64_t>(fixedSize(domain[axis]), 1);
  }
  auto isReadOnce = [&](const Access &access) {
    return llvm::count_if(func.getBody().getOps<LoadOp>(),
                          [&](LoadOp load) { return load.getBuffer() == func.getArgument(access.buffer); }) == 1;
  };
  // Groups of items hold what one load reads. Tiles of unknown sizes hold columns by their buffer.
  bool mayCompute = areLoads || (!target.hasGroups() && llvm::all_of(domain, [](Expr size) { return size.isConst(); }));
  Access store = accessOf(*func.getBody().getOps<StoreOp>().begin());
  // Lanes run along n: columns that are packed before may run along any axis, others along the one along which the
  // result is contiguous, if it is one of the two kinds.
  std::optional<TiledProduct> packed, plain;
  auto isSure = [&](size_t n) { return depth >= kPackedDepth || relays || store.isContiguous(n); };
  for (bool swapped : {false, true}) {
    const Access &rows = swapped ? second : first, &columns = swapped ? first : second;
    bool canPack = !target.hasGroups() && weights.test(columns.buffer) && !weights.test(rows.buffer) &&
                   isReadOnce(columns) && isAlone[swapped ? 0 : 1];
    for (size_t n = 0; n < rows.strides.size(); ++n) {
      bool isColumn = !reduced.test(n) && rows.isStill(n) && !columns.isStill(n);
      if (!isColumn || !(canPack || (mayCompute && store.isContiguous(n))))
        continue;
      std::optional<size_t> m = rowsFor(rows, columns, reduced, domain, canPack);
      std::optional<TiledProduct> &best = canPack ? packed : plain;
      if (m && (!best || fixedSize(domain[n]) >= fixedSize(domain[best->n])))
        best = TiledProduct{*sum, unsigned(swapped), rows, columns, *m, n, canPack, areLoads};
    }
  }
  // Of sizes that only a run knows, counted steps are a guess.
  bool isGuess = llvm::any_of(domain, [](Expr size) { return !size.isConst(); });
  if (packed && plain && !relays && !(isGuess && isSure(packed->n))) {
    double steps = stepsOf(*packed, store, domain, reduced, target);
    double otherwise = stepsOf(*plain, store, domain, reduced, target);
    if (steps > 0 && otherwise > 0)
      return steps < otherwise ? packed : plain;
  }
  return packed && isSure(packed->n) ? packed : plain;
}
