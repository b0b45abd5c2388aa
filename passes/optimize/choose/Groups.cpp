//===- Groups.cpp - How a device of groups and items walks a kernel -------------------===//
// A GPU's items run 32 at once, and their loads are one access if they are neighbours in memory. So the axis along
// which most of memory is contiguous decides. If it is one of the result's, its points go to items, several to each if
// that makes accesses wider. If it is reduced, a whole group sums up one row, and neighbours read together. A device is
// full only with thousands of items: if results are few, items share the sums of each. A product, in which one operand
// does not move along one axis and the other not along another, has each group compute a tile of results from operands
// in local memory, and each item a part of that tile in registers.
//===----------------------------------------------------------------------------------===//

#include "passes/optimize/choose/Groups.h"

#include "ir/base/AluTraits.h"
#include "ir/kernel/Operands.h"
#include "ir/kernel/Walk.h"
#include "passes/optimize/choose/Product.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/ADT/SetVector.h"

using namespace kiln;
using namespace kiln::kernel;
using namespace mlir;
using view::Expr;

/// The default size of a group, its size for points that need no others, and the number of items that run together.
static constexpr int64_t kItems = 256, kLooseItems = 128, kWarp = 32;
/// If a point takes so many dependent steps, its item takes longer than its memory does: that hides if all items that
/// the device can hold run.
static constexpr double kManySteps = 16;
/// The widest access of one item, and the one for transpositions: a wider one leaves too few items to wait for.
static constexpr int64_t kAccessBytes = 16, kTurnedBytes = 8;
/// Enough items to fill a device.
static constexpr int64_t kManyItems = 1 << 16;
/// An axis of unknown size counts as this, or as its bound: enough points for the items of a group.
static constexpr int64_t kTypicalAxis = 256;
static constexpr size_t kMostGroupAxes = 3;
/// The bytes of a row that the cache near a group holds while other groups walk theirs.
static constexpr int64_t kCachedRow = 16 << 10;
/// The bytes of summed columns that an item takes, more if there are more columns.
static constexpr struct {
  int64_t bytes, fewest;
} kColumnAccesses[] = {{8, 1 << 14}, {4, 1 << 11}};
/// Accesses to a small part of the largest one's elements do not count.
static constexpr int64_t kManyReads = 16;
/// A row that fits into registers: the items of its group, and the points that one of them holds.
static constexpr int64_t kRowItems = 128, kHeldPoints = 64;
/// A group's items along rows and along columns of a product, and how many groups make a tile worth its size.
static constexpr int64_t kTileItems = 16, kTileGroups = 96;
/// Items along rows and along columns of one with many columns: items that run together all read the same element of a
/// row. Of the columns an item has two runs of one access.
static constexpr int64_t kWideRows = 8, kWideColumns = 32, kRuns = 2;
/// If there are fewer groups than this, a smaller tile of 4 × 4 results per item: its items along rows, along columns,
/// and along the sum, each taking steps of kPartDepth.
static constexpr int64_t kFullTiles = 192, kPartRows = 4, kPartColumns = 8, kParts = 4, kPartDepth = 8,
                         kPartedSum = 128;

namespace {

struct Moved : optimize::Access {
  int64_t elements, bytes; ///< how many there are, and of one
  bool isStore;
};

/// A sum over `k` of products of an operand that moves along `m` alone and one that moves along `n` alone.
struct GroupProduct {
  size_t m, n, k;
  std::optional<unsigned> rows, columns; ///< the buffers of the operands that may be staged
  int64_t bytes;                         ///< of an operand's element as it is multiplied, and staged
};

/// A group's part of a product: `each` × `each` results per item, kTileItems × kTileItems items, in steps of
/// `depth`.
struct GroupTile {
  int64_t each, depth;
};

class GroupChooser {
public:
  GroupChooser(FuncOp func, TargetAttr target, ArrayRef<size_t> unrolled, SmallVectorImpl<OptAttr> &opts)
      : func_(func), target_(target), unrolled_(unrolled), opts_(opts) {}
  void choose();

private:
  void note(optimize::Access access, Value buffer, bool isStore);
  /// The reduced axis over which a group sums up together.
  std::optional<size_t> sharedAxis() const;
  /// Of the kept axes, the one that most accesses are contiguous along; the last if there is none.
  size_t innerAxis() const;
  /// How many points of an axis an item takes in one access, among accesses of at least so many elements.
  int64_t lanesAlong(size_t axis, int64_t fewest = 0) const;
  int64_t mostRead() const;
  std::optional<GroupProduct> findProduct() const;
  bool chooseProduct(const GroupProduct &product);
  bool choosePartedProduct(const GroupProduct &product);
  /// The axis other than `inner` along which an element-wise kernel reads its memory.
  std::optional<size_t> crossAxis(size_t inner) const;
  bool chooseTransposed(size_t cross, size_t inner);
  void chooseRows(size_t shared);
  /// How often the row along a reduced axis is walked: for each reduce, and for results along it.
  int64_t walksAlong(size_t shared) const;
  bool chooseHeldRow(size_t shared, int64_t lanes);
  void holdRow(size_t shared, int64_t items);
  void chooseColumns(size_t inner);
  void chooseItems(size_t inner, int64_t items);
  void addGroupAxes();

  void add(OptKind kind, size_t axis, int64_t amount) {
    opts_.push_back(OptAttr::get(func_.getContext(), kind, axis, amount, /*isValue=*/false));
    if (kind != OptKind::GLOBAL && kind != OptKind::STAGE)
      left_[axis] = llvm::divideCeil(left_[axis], amount);
  }
  bool isKept(size_t axis) const { return !reduced_.contains(axis) && !llvm::is_contained(unrolled_, axis); }
  bool isFixed(size_t axis) const { return sizes_[axis].isConst(); }
  bool isShareable(size_t axis) const;
  /// Whether another reduce is taken at each point of a reduced axis: work enough for an item.
  bool hasSumInside(size_t axis) const;
  int64_t results() const;
  /// The steps of a point of an axis, sums not counted.
  double stepsAlong(size_t axis) const;
  /// How many items of so many lanes may share all sums, so that their exchange has room in local memory.
  int64_t mostSharing(int64_t lanes) const;

  mutable FuncOp func_;
  TargetAttr target_;
  ArrayRef<size_t> unrolled_;
  SmallVectorImpl<OptAttr> &opts_;
  ArrayRef<Expr> sizes_;
  SmallVector<int64_t> left_; ///< the points of each axis that splits have left, guessed if they are not known
  SmallVector<Moved> accesses_;
  SmallVector<size_t> groupAxes_;
  llvm::SmallDenseSet<size_t> reduced_;
};

} // namespace

void GroupChooser::note(optimize::Access access, Value buffer, bool isStore) {
  view::ShapeTracker view = access.op->getAttrOfType<TrackerAttr>("tracker").getValue();
  int64_t bits = cast<BufferType>(buffer.getType()).getElement().getIntOrFloatBitWidth();
  accesses_.push_back({std::move(access), view.realSize().max(), std::max<int64_t>(1, bits / 8), isStore});
}

int64_t GroupChooser::results() const {
  int64_t count = 1;
  for (size_t axis = 0; axis < sizes_.size(); ++axis)
    if (isKept(axis))
      count *= std::min<int64_t>(left_[axis], int64_t(1) << 20);
  return count;
}

/// Whether items may share the axis: every reduce goes over it, or is taken at each of its points, and none weighs by
/// scores, whose largest is an item's.
bool GroupChooser::isShareable(size_t axis) const {
  Walk walk = walkOf(func_);
  return llvm::all_of(func_.getBody().getOps<ReduceOp>(), [&](ReduceOp reduce) {
    bool isOver = llvm::is_contained(reduce.getAxes(), axis);
    return !reduce.getScore() && (isOver || axesOf(walk, reduce.getResult()).contains(axis));
  });
}

bool GroupChooser::hasSumInside(size_t axis) const {
  return llvm::any_of(func_.getBody().getOps<ReduceOp>(),
                      [&](ReduceOp reduce) { return !llvm::is_contained(reduce.getAxes(), axis); });
}

double GroupChooser::stepsAlong(size_t axis) const {
  Walk walk = walkOf(func_);
  double steps = 0;
  for (auto alu : func_.getBody().getOps<AluOp>())
    if (axesOf(walk, alu.getResult()).contains(axis))
      steps += aluTraits(alu.getKind().getValue()).steps;
  return steps;
}

int64_t GroupChooser::mostSharing(int64_t lanes) const {
  for (size_t axis : unrolled_)
    lanes *= left_[axis];
  int64_t bytes = 0; // of an item, which meet twice
  for (auto reduce : func_.getBody().getOps<ReduceOp>())
    bytes += 2 * lanes * int64_t(byteSize(reduce.getResult().getType()));
  return llvm::bit_floor(uint64_t(target_.localBytes() / std::max<int64_t>(bytes, 1)));
}

std::optional<size_t> GroupChooser::sharedAxis() const {
  std::optional<size_t> shared;
  for (size_t axis : reduced_)
    if (isShareable(axis) && (!shared || left_[axis] > left_[*shared]))
      shared = axis;
  return shared;
}

size_t GroupChooser::innerAxis() const {
  size_t best = sizes_.size();
  int64_t most = -1;
  for (size_t axis = 0; axis < sizes_.size(); ++axis) {
    if (!isKept(axis))
      continue;
    int64_t weight = 0;
    for (const Moved &access : accesses_)
      weight += access.isContiguous(axis) && left_[axis] > 1 ? std::max<int64_t>(1, access.elements) * access.bytes : 0;
    if (weight >= most) {
      best = axis;
      most = weight;
    }
  }
  return best;
}

int64_t GroupChooser::mostRead() const {
  int64_t most = 0;
  for (const Moved &access : accesses_)
    most = std::max(most, access.isStore ? 0 : access.elements);
  return most;
}

int64_t GroupChooser::lanesAlong(size_t axis, int64_t fewest) const {
  int64_t widest = 1, lanes = 0;
  for (const Moved &access : accesses_) {
    if (access.elements < fewest)
      continue;
    if (!access.isContiguous(axis) && !access.isStill(axis))
      return 1;
    if (access.isContiguous(axis))
      widest = std::max(widest, access.bytes);
  }
  lanes = kAccessBytes / widest;
  while (lanes > 1 && (!isFixed(axis) || left_[axis] % lanes))
    lanes /= 2;
  return lanes;
}

void GroupChooser::addGroupAxes() {
  SmallVector<size_t> axes;
  for (size_t axis = 0; axis < sizes_.size(); ++axis)
    if (isKept(axis) && (left_[axis] > 1 || !isFixed(axis)))
      axes.push_back(axis);
  // The largest, in their order.
  while (axes.size() > kMostGroupAxes)
    axes.erase(llvm::min_element(axes, [&](size_t a, size_t b) { return left_[a] < left_[b]; }));
  for (size_t axis : axes)
    add(OptKind::GLOBAL, axis, 0);
  groupAxes_ = axes;
}

/// Gives points of `inner`, and of the axes around it while these are few, to items: neighbours along `inner`.
void GroupChooser::chooseItems(size_t inner, int64_t items) {
  SmallVector<std::pair<size_t, int64_t>> splits;
  for (size_t axis = std::min(inner + 1, left_.size()), count = 0;
       axis-- > 0 && items > 1 && count < kMostGroupAxes - 1;) {
    if (!isKept(axis) || left_[axis] == 1)
      continue;
    int64_t part = std::min<int64_t>(items, isFixed(axis) ? left_[axis] : items);
    // If a part does not divide, items of the last group have nothing to do.
    if (part == items && axis != inner)
      while (part > 1 && left_[axis] % part)
        --part;
    if (part > 1)
      splits.push_back({axis, part});
    items /= part;
    ++count;
  }
  for (auto [axis, part] : llvm::reverse(splits)) // the innermost last
    add(OptKind::LOCAL, axis, part);
}

std::optional<size_t> GroupChooser::crossAxis(size_t inner) const {
  for (const Moved &access : accesses_)
    for (size_t axis = 0; axis < sizes_.size() && !access.isStore && reduced_.empty(); ++axis)
      if (axis != inner && isKept(axis) && access.isContiguous(axis) && access.elements >= kManyItems)
        return axis;
  return std::nullopt;
}

bool GroupChooser::chooseTransposed(size_t cross, size_t inner) {
  int64_t widest = 1;
  for (const Moved &access : accesses_)
    widest = std::max(widest, access.bytes);
  // With narrow elements an item reads wider than it writes, lest it have few.
  int64_t side = std::max<int64_t>(2, kTurnedBytes / widest), read = widest < 4 ? kAccessBytes / widest : side,
          items = std::min(kItems, target_.maxItems());
  if (!isFixed(cross) || !isFixed(inner) || left_[cross] % read || left_[inner] % side ||
      left_[inner] / side < kWarp / 2)
    return false;
  // Few are contiguous along each of the two axes: whole sectors are read as well as written.
  add(OptKind::UPCAST, cross, read);
  add(OptKind::VECTOR, inner, side);
  add(OptKind::LOCAL, cross, std::min(kWarp, left_[cross]));
  add(OptKind::LOCAL, inner, std::min(items / kWarp, left_[inner]));
  return true;
}

std::optional<GroupProduct> GroupChooser::findProduct() const {
  std::optional<Product> product = onlyProductOf(func_);
  if (!product)
    return std::nullopt;
  LoadOp loads[] = {product->operands[0].onlyLoad(), product->operands[1].onlyLoad()};
  bool areLoads = llvm::all_of(loads, [](LoadOp load) { return load && !load.getRow(); });
  if (!areLoads || loads[0] == loads[1])
    return std::nullopt;
  const Moved *operands[2], *store = nullptr;
  for (const Moved &access : accesses_) {
    store = access.isStore ? &access : store;
    for (int i : {0, 1})
      if (access.op == loads[i])
        operands[i] = &access;
  }
  auto isReadOnce = [&](const Moved &operand) {
    return llvm::count_if(accesses_, [&](const Moved &other) { return other.buffer == operand.buffer; }) == 1;
  };
  if (!isReadOnce(*operands[0]) || !isReadOnce(*operands[1]))
    return std::nullopt;
  auto isLarger = [&](std::optional<size_t> best, size_t axis) {
    return !best ||
           std::pair(store->isContiguous(axis), left_[axis]) > std::pair(store->isContiguous(*best), left_[*best]);
  };
  std::optional<size_t> free[2], k; // along which the first and the second operand alone moves
  for (size_t axis = 0; axis < sizes_.size(); ++axis) {
    if (!isKept(axis)) {
      if (isFixed(axis) && (!k || left_[axis] > left_[*k]))
        k = axis;
      continue;
    }
    for (int i : {0, 1})
      if (!operands[i]->isStill(axis) && operands[1 - i]->isStill(axis) && isLarger(free[i], axis))
        free[i] = axis;
  }
  if (!free[0] || !free[1] || !k)
    return std::nullopt;
  int columns = store->isContiguous(*free[0]) ? 0 : 1;
  int64_t bits = product->multiply.getResult().getType().getIntOrFloatBitWidth();
  // Zeros around the result may be in both operands' masks. Such a stage would go along the other operand's axis, too.
  auto held = [&](int i) {
    return dependsOn(product->operands[i].value, *free[1 - i]) ? std::nullopt : std::optional(operands[i]->buffer);
  };
  return GroupProduct{*free[1 - columns], *free[columns], *k,
                      held(1 - columns),  held(columns),  std::max<int64_t>(1, bits / 8)};
}

bool GroupChooser::chooseProduct(const GroupProduct &product) {
  auto [m, n, k, rows, columns, staged] = product;
  if (target_.maxItems() < kTileItems * kTileItems || left_[m] < kTileItems || left_[n] < kTileItems ||
      left_[k] < kTileItems)
    return false;
  int64_t inside = 1, bytes = 1; // points of a step for each of k's, and bytes of an element in memory
  for (size_t axis : reduced_) {
    if (!isFixed(axis))
      return false;
    inside *= axis == k ? 1 : left_[axis];
  }
  for (const Moved &access : accesses_)
    bytes = std::max(bytes, access.bytes);
  std::optional<GroupTile> tile;
  for (int64_t each : {8, 4, 2}) {
    int64_t side = each * kTileItems, depth = each == 8 ? 8 : 16;
    int64_t groups =
        results() / (left_[m] * left_[n]) * llvm::divideCeil(left_[m], side) * llvm::divideCeil(left_[n], side);
    while (depth > 1 && 2 * side * depth * inside * staged > target_.localBytes())
      depth /= 2;
    bool fits = 2 * side * depth * inside * staged <= target_.localBytes();
    if (each <= 4 && groups < kFullTiles && inside == 1 && choosePartedProduct(product))
      return true;
    if (fits && (each == 2 || groups >= kTileGroups)) {
      tile = {each, depth};
      break;
    }
  }
  if (!tile)
    return false;
  int64_t lanes = kAccessBytes / bytes;
  bool hasRuns = tile->each == kRuns * lanes && lanes > 1 && isFixed(n) && left_[n] % (tile->each * kTileItems) == 0;
  bool isWide = hasRuns && left_[n] % (tile->each * kWideColumns) == 0;
  // An item takes one access of the stage, and the next after those of all its neighbours, lest they meet in a bank.
  int64_t run = hasRuns ? lanes : std::clamp<int64_t>(kAccessBytes / staged, 1, tile->each);
  add(OptKind::UPCAST, m, tile->each);
  add(hasRuns ? OptKind::VECTOR : OptKind::UPCAST, n, run);
  add(OptKind::LOCAL, m, isWide ? kWideRows : kTileItems);
  add(OptKind::LOCAL, n, isWide ? kWideColumns : kTileItems); // neighbours along n
  if (tile->each > run && sizes_[n].max() > run * kTileItems) // else all columns are there already
    add(OptKind::UPCAST, n, tile->each / run);
  addGroupAxes();
  add(OptKind::TILE, k, tile->depth);
  for (std::optional<unsigned> operand : {rows, columns})
    if (operand)
      add(OptKind::STAGE, k, *operand);
  return true;
}

/// A small tile whose sum the items of a group take in parts, so that many of them hide the latency of memory.
bool GroupChooser::choosePartedProduct(const GroupProduct &product) {
  auto [m, n, k, rows, columns, staged] = product;
  constexpr int64_t each = 4;
  constexpr int64_t exchanged = 2 * kPartRows * kPartColumns * kParts * each * each,
                    held = kParts * kPartDepth * each * (kPartRows + kPartColumns);
  if (left_[k] < kPartedSum || left_[k] % (kParts * kPartDepth) || left_[n] < each * kPartColumns ||
      (exchanged + held) * staged > target_.localBytes())
    return false;
  add(OptKind::UPCAST, m, each);
  add(OptKind::UPCAST, n, each);
  add(OptKind::LOCAL, m, kPartRows);
  add(OptKind::LOCAL, n, kPartColumns);
  add(OptKind::GROUP, k, kParts);
  addGroupAxes();
  add(OptKind::TILE, k, kPartDepth);
  for (std::optional<unsigned> operand : {rows, columns})
    if (operand)
      add(OptKind::STAGE, k, *operand);
  return true;
}

int64_t GroupChooser::walksAlong(size_t shared) const {
  int64_t walks = llvm::range_size(func_.getBody().getOps<ReduceOp>());
  for (const Moved &access : accesses_)
    walks += access.isStore && !access.isStill(shared);
  return walks;
}

/// If a row is walked several times, and registers hold all of it, it is read once and computed once.
bool GroupChooser::chooseHeldRow(size_t shared, int64_t lanes) {
  bool isOnly = llvm::all_of(reduced_, [&](size_t axis) { return axis == shared; });
  if (!isOnly || !isFixed(shared) || walksAlong(shared) < 2 || left_[shared] % lanes)
    return false;
  int64_t steps = left_[shared] / lanes, items = 1;
  // As many as divide the row, more than usual if they have to hold more.
  auto isEnough = [&] { return items >= kRowItems && left_[shared] <= items * kHeldPoints; };
  while (steps % (2 * items) == 0 && 2 * items <= target_.maxItems() && !isEnough())
    items *= 2;
  if (items < kWarp || left_[shared] > items * kHeldPoints)
    return false;
  if (lanes > 1)
    add(OptKind::VECTOR, shared, lanes);
  int64_t rows = std::min(kRowItems / items, results() / kManyItems * items);
  if (rows > 1)
    chooseItems(innerAxis(), llvm::bit_floor(uint64_t(rows)));
  add(OptKind::GROUP, shared, items);
  if (left_[shared] > 1)
    add(OptKind::UNROLL, shared, left_[shared]);
  addGroupAxes();
  return true;
}

/// Memory is contiguous along a reduced axis: a group sums up a row, or several rows that are short.
void GroupChooser::chooseRows(size_t shared) {
  int64_t lanes = lanesAlong(shared), most = std::min({kItems, mostSharing(1), target_.maxItems()});
  if (chooseHeldRow(shared, lanes))
    return;
  bool isNested = hasSumInside(shared);
  if (!isNested && lanes > 1 && left_[shared] >= lanes * kWarp)
    add(OptKind::VECTOR, shared, lanes);
  int64_t items = isNested ? left_[shared] : llvm::bit_floor(uint64_t(std::max<int64_t>(1, left_[shared] / 4)));
  items = std::min<int64_t>(most, items);
  int64_t rows =
      std::min<int64_t>(most / std::max<int64_t>(items, 1), std::max<int64_t>(1, results() / kManyItems * items));
  if (rows > 1)
    chooseItems(innerAxis(), llvm::bit_floor(uint64_t(rows)));
  if (items > 1)
    add(OptKind::GROUP, shared, items);
  addGroupAxes();
  if (rows <= 1)
    holdRow(shared, items);
}

/// Holds a long row in local memory that is walked several times: for each reduce, and for the result.
void GroupChooser::holdRow(size_t shared, int64_t items) {
  int64_t walks = walksAlong(shared);
  const Moved *row = nullptr;
  for (const Moved &access : accesses_) {
    bool isRow = !access.isStore && access.isContiguous(shared) && (!row || access.elements > row->elements);
    row = isRow ? &access : row;
  }
  bool isOnlyAxis = row && llvm::all_of(reduced_, [&](size_t axis) { return axis == shared || row->isStill(axis); });
  bool isAlone = row && llvm::count_if(accesses_, [&](const Moved &other) { return other.buffer == row->buffer; }) == 1;
  if (walks < 2 || !isOnlyAxis || !isAlone || !isFixed(shared) || groupAxes_.empty())
    return;
  int64_t bytes = sizes_[shared].constant() * row->bytes;
  // Rounded up to whole splits, and the items' exchange for each reduce.
  int64_t local = bytes + items * kAccessBytes + walks * 2 * items * int64_t(sizeof(double));
  if (bytes > kCachedRow && local <= target_.localBytes())
    add(OptKind::STAGE, groupAxes_.back(), row->buffer);
}

/// Memory is contiguous along an axis of the result.
void GroupChooser::chooseColumns(size_t inner) {
  int64_t items = std::min(kItems, target_.maxItems());
  std::optional<size_t> shared = sharedAxis();
  if (shared && results() <= kManyItems && left_[*shared] >= kWarp) {
    bool isSlow = stepsAlong(*shared) >= kManySteps;
    int64_t widest = isSlow ? 1 : lanesAlong(inner, mostRead() / kManyReads), lanes = 1;
    for (auto [bytes, fewest] : kColumnAccesses)
      if (int64_t some = widest * bytes / kAccessBytes; lanes == 1 && some > 1 && results() / some >= fewest)
        lanes = some;
    if (lanes > 1)
      add(OptKind::VECTOR, inner, lanes);
    int64_t columns = std::min<int64_t>(kWarp, left_[inner]);
    int64_t most = std::min({isSlow      ? target_.maxItems()
                             : lanes > 1 ? 2 * items
                                         : items,
                             mostSharing(lanes), target_.maxItems()});
    int64_t parts = llvm::bit_floor(uint64_t(std::min(most / columns, left_[*shared] / 4)));
    if (parts > 1)
      add(OptKind::GROUP, *shared, parts);
    return chooseItems(inner, columns);
  }
  int64_t lanes = reduced_.empty() ? lanesAlong(inner, mostRead() / kManyReads) : 1;
  if (lanes > 1 && results() / lanes >= kManyItems)
    add(OptKind::VECTOR, inner, lanes);
  chooseItems(inner, reduced_.empty() ? std::min(items, kLooseItems) : items);
}

void GroupChooser::choose() {
  sizes_ = func_.getDomain().getSizes();
  for (Expr size : sizes_)
    left_.push_back(size.isConst() ? size.constant() : std::min(kTypicalAxis, size.max()));
  for (Operation &op : func_.getBody().front()) {
    if (auto load = dyn_cast<LoadOp>(op))
      note(optimize::accessOf(load), load.getBuffer(), /*isStore=*/false);
    if (auto store = dyn_cast<StoreOp>(op))
      note(optimize::accessOf(store), store.getBuffer(), /*isStore=*/true);
    if (auto reduce = dyn_cast<ReduceOp>(op))
      reduced_.insert(reduce.getAxes().begin(), reduce.getAxes().end());
  }
  if (std::optional<GroupProduct> product = unrolled_.empty() ? findProduct() : std::nullopt)
    if (chooseProduct(*product))
      return;
  // The largest operand decides whether rows are summed up by groups.
  const Moved *largest = nullptr;
  for (const Moved &access : accesses_)
    if (!access.isStore && (!largest || access.elements > largest->elements))
      largest = &access;
  std::optional<size_t> row;
  size_t inner = innerAxis();
  for (size_t axis : reduced_)
    if (largest && largest->isContiguous(axis) && left_[axis] >= kWarp && isShareable(axis) &&
        !llvm::is_contained(unrolled_, axis))
      row = axis;
  if (std::optional<size_t> outer = sharedAxis();
      !row && outer && hasSumInside(*outer) && left_[*outer] >= kWarp && results() < kManyItems)
    row = outer;
  bool isColumn = inner < sizes_.size() && llvm::any_of(
                                               accesses_,
                                               [&](const Moved &access) {
                                                 return !access.isStore && access.isContiguous(inner) &&
                                                        4 * access.elements >= largest->elements;
                                               });
  std::optional<size_t> cross = inner < sizes_.size() ? crossAxis(inner) : std::nullopt;
  if (cross && chooseTransposed(*cross, inner))
    return addGroupAxes();
  if (row && !isColumn)
    return chooseRows(*row);
  else if (inner < sizes_.size())
    chooseColumns(inner);
  else if (std::optional<size_t> shared = sharedAxis(); shared && left_[*shared] >= kWarp)
    return chooseRows(*shared);
  addGroupAxes();
}

SmallVector<OptAttr> optimize::chooseGroups(FuncOp func, TargetAttr target, ArrayRef<size_t> unrolled) {
  SmallVector<OptAttr> opts;
  GroupChooser(func, target, unrolled, opts).choose();
  return opts;
}
