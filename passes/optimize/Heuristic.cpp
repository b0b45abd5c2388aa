//===- Heuristic.cpp - Choose opts from a kernel's structure ---------------------------===//
// What makes a kernel fast is written in how its operands move along its axes: a sum of products in which one operand
// does not move along one axis and the other not along another is a matrix product, whatever operator it came from, and
// wants a register tile over the two. Where there is none, the axis along which memory is contiguous becomes vector
// lanes.
//===--------------------------------------------------------------------------------===//

#include "passes/optimize/Heuristic.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/ADT/SetVector.h"

using namespace kiln;
using namespace kiln::kernel;
using namespace mlir;
using view::Expr;

namespace {

/// How one load or store moves along each axis of the domain.
struct Access {
  Operation *op;
  unsigned buffer;
  SmallVector<std::optional<Expr>, 4> strides;

  bool isStill(size_t axis) const { return strides[axis] && strides[axis]->isConst(0); }
  bool isContiguous(size_t axis) const { return strides[axis] && strides[axis]->isConst(1); }
};

/// A sum over `k` of products of an operand that moves along `m` and one that moves along `n`.
struct Product {
  Access rows, columns; ///< still along n, and along m
  size_t m, n;
};

class Chooser {
public:
  Chooser(FuncOp func, const target::Target &target) : func_(func), target_(target) {}
  SmallVector<OptAttr> choose();

private:
  Access accessOf(Operation *op, Value buffer);
  std::optional<Product> findProduct();
  std::optional<size_t> placeOfColumns(const Product &product, int64_t width);
  void chooseProduct(const Product &product);
  void chooseLanes();
  void chooseChunks(ArrayRef<size_t> candidates);
  void chooseGroups();
  void add(OptKind kind, int64_t axis, int64_t amount) {
    opts_.push_back(OptAttr::get(func_.getContext(), kind, axis, amount));
    bool splits = kind != OptKind::SWAP && kind != OptKind::STAGE && kind != OptKind::GLOBAL;
    if (splits)
      ++nextAxis_;
  }
  int64_t fixedSize(size_t axis) const {
    Expr size = func_.getDomain().getSizes()[axis];
    return size.isConst() ? size.constant() : -1;
  }

  mutable FuncOp func_;
  const target::Target &target_;
  SmallVector<OptAttr> opts_;
  SmallVector<Access> loads_, stores_;
  llvm::SmallDenseSet<size_t> reduced_;
  int64_t nextAxis_ = 0;
};

} // namespace

/// Whether a value differs along an axis of a domain without opts.
static bool dependsOn(Value value, size_t axis) {
  llvm::SetVector<Value> work;
  work.insert(value);
  for (size_t i = 0; i < work.size(); ++i) {
    Operation *op = work[i].getDefiningOp();
    auto reduce = dyn_cast_or_null<ReduceOp>(op);
    if (!op || (reduce && llvm::is_contained(reduce.getAxes(), axis)))
      continue;
    if (auto tracker = op->getAttrOfType<TrackerAttr>("tracker")) {
      auto stride = tracker.getValue().realStrides()[axis];
      if (!stride || !stride->isConst(0))
        return true;
    }
    work.insert(op->operand_begin(), op->operand_end());
  }
  return false;
}

Access Chooser::accessOf(Operation *op, Value buffer) {
  auto tracker = op->getAttrOfType<TrackerAttr>("tracker").getValue();
  auto strides = tracker.realStrides(/*ignoreValid=*/true);
  Access access{op, cast<BlockArgument>(buffer).getArgNumber(), {}};
  access.strides.append(strides.begin(), strides.begin() + func_.getDomain().getSizes().size());
  // Along the axes that choose its row a load moves by no stride.
  if (auto load = dyn_cast<LoadOp>(op); load && load.getRow())
    for (auto [axis, stride] : llvm::enumerate(access.strides))
      if (dependsOn(load.getRow(), axis))
        stride = std::nullopt;
  return access;
}

/// The one load that a value is made of by element-wise ops; null when there are several, or none.
static LoadOp onlyLoadOf(Value value) {
  SmallVector<Value> work{value};
  llvm::DenseSet<Operation *> loads;
  while (!work.empty()) {
    Operation *op = work.pop_back_val().getDefiningOp();
    if (isa<LoadOp>(op))
      loads.insert(op);
    else if (isa<ReduceOp>(op))
      return nullptr;
    else
      work.append(op->operand_begin(), op->operand_end());
  }
  return loads.size() == 1 ? cast<LoadOp>(*loads.begin()) : nullptr;
}

std::optional<Product> Chooser::findProduct() {
  auto reduces = func_.getBody().getOps<ReduceOp>();
  if (llvm::range_size(reduces) != 1)
    return std::nullopt;
  ReduceOp reduce = *reduces.begin();
  auto mul = reduce.getInput().getDefiningOp<AluOp>();
  if (reduce.getKind().getValue() != Alu::ADD || !mul || mul.getKind().getValue() != Alu::MUL)
    return std::nullopt;
  LoadOp a = onlyLoadOf(mul->getOperand(0)), b = onlyLoadOf(mul->getOperand(1));
  if (!a || !b || a == b)
    return std::nullopt;
  Access first = accessOf(a, a.getBuffer()), second = accessOf(b, b.getBuffer());
  // Lanes run along n: the axis along which the result is contiguous, if it is one of the two kinds.
  std::optional<Product> best;
  for (bool swapped : {false, true}) {
    const Access &rows = swapped ? second : first, &columns = swapped ? first : second;
    for (size_t n = 0; n < rows.strides.size(); ++n) {
      if (reduced_.contains(n) || !rows.isStill(n) || columns.isStill(n) || !stores_.front().isContiguous(n))
        continue;
      std::optional<size_t> m;
      for (size_t axis = 0; axis < rows.strides.size(); ++axis)
        if (!reduced_.contains(axis) && columns.isStill(axis) && !rows.isStill(axis) &&
            (!m || fixedSize(axis) > fixedSize(*m)))
          m = axis;
      if (m)
        best = Product{rows, columns, *m, n};
    }
  }
  return best;
}

/// The number of rows, at most `most`, of a register tile over `size` rows. A step of the reduce loop loads a row's
/// element for each row and the columns once, so its cost goes with rows + 1; rows past the end are computed in vain.
static int64_t bestTile(int64_t size, int64_t most) {
  int64_t best = 1;
  auto cost = [&](int64_t tile) { return llvm::divideCeil(size, tile) * (tile + 1); };
  for (int64_t tile = 2; tile <= std::min(size, most); ++tile)
    if (cost(tile) <= cost(best))
      best = tile;
  return best;
}

/// `count` cut into as few parts of at most `most` as possible, all of about one size.
static int64_t evenPart(int64_t count, int64_t most) {
  return llvm::divideCeil(count, llvm::divideCeil(count, std::max<int64_t>(1, most)));
}

static int64_t elementBits(FuncOp func) {
  StoreOp store = *func.getBody().getOps<StoreOp>().begin();
  return store.getValue().getType().getIntOrFloatBitWidth();
}

/// The axis inside which columns that are no plain vectors in memory are staged; none where they are, or do not fit.
std::optional<size_t> Chooser::placeOfColumns(const Product &product, int64_t width) {
  auto tracker = product.columns.op->getAttrOfType<TrackerAttr>("tracker").getValue();
  bool isPlain = product.columns.isContiguous(product.n) && tracker.at().valid.isConst(1);
  int64_t bytes = width * elementBits(func_) / 8;
  std::optional<size_t> last, around; // kept axes in loop order once m and n have changed places
  for (size_t axis = 0; axis < product.columns.strides.size(); ++axis) {
    if (reduced_.contains(axis)) {
      if (fixedSize(axis) < 1)
        return std::nullopt;
      bytes *= fixedSize(axis);
      continue;
    }
    around = last;
    last = axis == product.m ? product.n : axis;
  }
  bool rowsInside = product.m < product.n && last == product.n;
  if (isPlain || !rowsInside || bytes > target_.l2Bytes / 2)
    return std::nullopt;
  return around;
}

void Chooser::chooseProduct(const Product &product) {
  int64_t lanes = target_.vectorBits / elementBits(func_);
  int64_t rows = fixedSize(product.m), columns = fixedSize(product.n);
  if (rows < 0 || columns < 0)
    return chooseLanes();
  int64_t depth = 1;
  for (size_t axis : reduced_)
    depth *= std::max<int64_t>(fixedSize(axis), 1);
  // Two vectors a row: the accumulators fill the registers, less two for the columns and one for the row.
  // One where the second would mostly be past the end.
  auto padded = [&](int64_t part) { return llvm::divideCeil(columns, part) * part; };
  bool two = columns >= 2 * lanes && 10 * padded(2 * lanes) <= 11 * padded(lanes);
  int64_t width = two ? 2 * lanes : lanes;
  int64_t tileRows = bestTile(rows, (target_.vectorRegisters - 4) / (width / lanes));
  if (columns < lanes)
    return chooseLanes();
  int64_t m = product.m, n = product.n;

  // Large operands are held in cache in the order in which the register tile reads them.
  int64_t bytes = elementBits(func_) / 8;
  bool large = rows * columns * depth >= target::kStagedProduct && rows >= 4 * tileRows && columns >= 4 * width;
  // So are the columns of small ones that are gated or scattered: each is then read so once, not once a tile of rows.
  std::optional<size_t> around = large ? std::nullopt : placeOfColumns(product, width);
  bool columnsOutside = m < n && (large || around);
  if (columnsOutside)
    add(OptKind::SWAP, m, n);
  add(OptKind::VECTOR, n, width);
  add(OptKind::UPCAST, m, tileRows);
  if (around)
    add(OptKind::STAGE, *around, product.columns.buffer);
  if (!large)
    return;
  // A panel's columns of one register tile stay in L1 while the rows pass by: long sums are cut, totals held between.
  size_t outer = *llvm::min_element(reduced_);
  int64_t inside = depth / std::max<int64_t>(1, fixedSize(outer)), most = target_.l1Bytes / 2 / (bytes * width);
  int64_t step = evenPart(fixedSize(outer), most / inside);
  bool cut = step < fixedSize(outer);
  if (cut) {
    depth = step * inside;
    add(OptKind::SWAP, m, outer); // columns, the cut sum, rows
  }
  add(OptKind::TILE, n, evenPart(llvm::divideCeil(columns, width), target_.l3Bytes / 2 / (depth * bytes * width)));
  add(OptKind::TILE, m, evenPart(llvm::divideCeil(rows, tileRows), target_.l2Bytes / 2 / (depth * bytes * tileRows)));
  if (cut)
    add(OptKind::TILE, outer, step);
  add(OptKind::STAGE, cut ? outer : n, product.columns.buffer);
  add(OptKind::STAGE, m, product.rows.buffer);
  if (cut)
    add(OptKind::STAGE, outer, stores_.front().buffer);
}

void Chooser::chooseLanes() {
  int64_t lanes = target_.vectorBits / elementBits(func_);
  // The axis along which most of memory is contiguous.
  size_t rank = func_.getDomain().getSizes().size();
  int64_t best = -1, bestCount = 0;
  for (size_t axis = 0; axis < rank; ++axis) {
    if (fixedSize(axis) < lanes)
      continue;
    int64_t count = 0;
    for (const Access &access : llvm::concat<Access>(loads_, stores_))
      count += access.isContiguous(axis);
    if (count > bestCount) {
      best = axis;
      bestCount = count;
    }
  }
  if (best < 0 || lanes < 2)
    return;
  // A sum over lanes has one accumulator a lane: four vectors of them hide the addition's latency.
  int64_t vectors = reduced_.contains(best) ? 4 : 2;
  while (vectors > 1 && fixedSize(best) < vectors * lanes)
    vectors /= 2;
  add(OptKind::VECTOR, best, vectors * lanes);
}

void Chooser::chooseGroups() {
  // A GPU: one item an output element, neighbours along the contiguous axis in one group.
  SmallVector<size_t> axes;
  for (size_t axis = 0; axis < func_.getDomain().getSizes().size(); ++axis)
    if (!reduced_.contains(axis))
      axes.push_back(axis);
  if (axes.size() > 3)
    axes.erase(axes.begin(), axes.end() - 3);
  if (axes.empty())
    return;
  size_t last = axes.back();
  int64_t items = std::min<int64_t>(target_.maxItems, 64);
  if (fixedSize(last) < 0 || fixedSize(last) >= items)
    add(OptKind::LOCAL, last, items);
  for (size_t axis : axes)
    add(OptKind::GLOBAL, axis, 0);
}

SmallVector<OptAttr> Chooser::choose() {
  for (Operation &op : func_.getBody().front()) {
    if (auto load = dyn_cast<LoadOp>(op))
      loads_.push_back(accessOf(load, load.getBuffer()));
    if (auto store = dyn_cast<StoreOp>(op))
      stores_.push_back(accessOf(store, store.getBuffer()));
    if (auto reduce = dyn_cast<ReduceOp>(op))
      for (int64_t axis : reduce.getAxes())
        reduced_.insert(axis);
  }
  nextAxis_ = func_.getAxes().size();
  bool empty = llvm::any_of(func_.getDomain().getSizes(), [](Expr size) { return size.isConst(0); });
  if (empty)
    return {};
  if (target_.maxItems > 0) {
    chooseGroups();
    return opts_;
  }
  if (target_.vectorBits < elementBits(func_) * 2)
    return {};
  if (std::optional<Product> product = findProduct())
    chooseProduct(*product);
  else
    chooseLanes();
  return opts_;
}

SmallVector<OptAttr> optimize::chooseOpts(FuncOp func, const target::Target &target) {
  return Chooser(func, target).choose();
}
