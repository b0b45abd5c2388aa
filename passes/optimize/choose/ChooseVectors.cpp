//===- ChooseVectors.cpp - Sums of products with a matrix that is used once --------------===//
// A product of one vector and a matrix takes as long as reading the matrix. So it matters how memory is read: in one
// piece, or several rows at a time if a cache holds them, and of several matrices with one vector all together. Narrow
// elements are fewer bytes, if an instruction multiplies them directly: widened one by one they would take as long as
// wide ones.
//===--------------------------------------------------------------------------------===//

#include "passes/optimize/choose/Chooser.h"

#include "passes/optimize/choose/LaneWork.h"

#include "ir/base/AluTraits.h"
#include "ir/kernel/MatrixProduct.h"

using namespace kiln;
using namespace kiln::kernel;
using namespace kiln::optimize;
using namespace mlir;

/// Totals of vectors, so that additions do not wait for each other, if a matrix is read in one piece; the extra time of
/// reading, by their number, if they do; and the steps that adding up a row's lanes at the end costs.
static constexpr int64_t kTotalsOfStream = 4, kFewestStreamSteps = 8;
static constexpr double kWaitOfTotal = 0.25;
/// Rows that are read together otherwise, at most; and the registers that hold no totals then.
static constexpr int64_t kRowsOfStream = 8, kOtherRegisters = 4;
/// What is computed from sums of rows takes so many steps that it pays to store the sums and have lanes along them; and
/// how many vectors of sums wait at a time.
static constexpr double kFewestStepsInLanes = 8;
static constexpr int64_t kVectorsOfSums = 4;
/// Matrix instructions in flight: one waits for its sums longer than it takes.
static constexpr int64_t kMatrices = 4;

std::optional<Chooser::VectorProduct> Chooser::findVectorProduct(bool byMatrices) {
  std::optional<Product> product = onlyProductOf(func_);
  if (!product || !product->isNarrow() || !isRunOften())
    return std::nullopt;
  for (unsigned side : {0, 1}) {
    Value narrow = product->operands[side].narrow, other = product->operands[!side].narrow;
    LoadOp matrix = optimize::onlyLoadOf(narrow); // which may be widened where it is multiplied
    auto vector = other.getDefiningOp<LoadOp>();
    ProductAttr instruction = byMatrices ? target_.matrixProduct(narrow.getType(), other.getType(), product->sum())
                                         : fastDot(*product, target_);
    if (!matrix || !vector || !instruction || matrix.getRow() || vector.getRow())
      continue;
    Access elements = optimize::accessOf(matrix), terms = optimize::accessOf(vector);
    if (!weights_.test(elements.buffer) || weights_.test(terms.buffer) || !isReadOnce(elements))
      continue;
    int64_t fewest = byMatrices ? kMatrices * instruction.getM() : instruction.getN();
    int64_t fewestTerms = byMatrices ? target::kFewestTerms : target::kFewestDotTerms;
    int64_t group = byMatrices ? 2 : instruction.getK(); // the last step of matrices may have fewer pairs
    SmallVector<size_t> kept = keptAxes();
    auto results = llvm::find_if(
        kept, [&](size_t axis) { return fixedSize(axis) >= fewest && !optimize::dependsOn(other, axis); });
    auto along = llvm::find_if(reduced_, [&](size_t axis) {
      return terms.isContiguous(axis) && fixedSize(axis) >= fewestTerms && fixedSize(axis) % group == 0;
    });
    bool areFixed = llvm::all_of(reduced_, [&](size_t axis) { return fixedSize(axis) > 0; });
    if (results != kept.end() && along != reduced_.end() && areFixed &&
        vector.getTracker().getValue().at().valid.isConst(1))
      return VectorProduct{elements.buffer, *results, *along, instruction};
  }
  return std::nullopt;
}

bool Chooser::chooseVectorByMatrices() {
  std::optional<VectorProduct> product = findVectorProduct(/*byMatrices=*/true);
  if (!product)
    return false;
  auto [matrix, results, terms, instruction] = *product;
  ReduceOp reduce = *func_.getBody().getOps<ReduceOp>().begin();
  SmallVector<size_t> kept = keptAxes();
  int64_t tile = add(OptKind::TILE, results, kMatrices * instruction.getM());
  if (size_t last = *llvm::max_element(reduced_); last != terms)
    add(OptKind::SWAP, terms, last);
  chooseChunks(kept);
  StageOp sums = trial_.hold(trial_.copyOf(reduce.getResult()), loopOf(kept.back()));
  if (!trial_.fits())
    return false;
  int64_t copy = optimize::axesAlong(sums, results).front();
  add(OptKind::TC, copy, instruction.getM());
  add(OptKind::UPCAST, copy, kMatrices);
  add(OptKind::STAGE, -1, matrix);
  add(OptKind::VECTOR, tile, kMatrices * instruction.getM());
  return true;
}

/// The number of vectors in the panels of a matrix that has so many across, at most `most`: with few, additions wait
/// for each other, and those past the end are read in vain.
static int64_t totalsOfPanel(int64_t vectors, int64_t most = kTotalsOfStream) {
  int64_t best = most;
  auto cost = [&](int64_t wide) { return double(llvm::alignTo(vectors, wide)) * (1 + kWaitOfTotal / double(wide)); };
  for (int64_t wide = most / 2; wide > 0; wide /= 2)
    if (cost(wide) < cost(best))
      best = wide;
  return best;
}

bool Chooser::chooseVectorByDots() {
  std::optional<VectorProduct> product = findVectorProduct(/*byMatrices=*/false);
  if (!product)
    return false;
  auto [matrix, results, terms, instruction] = *product;
  int64_t lanes = instruction.getN();
  usesDots_ = true;
  add(OptKind::DOT, terms, instruction.getK());
  add(OptKind::VECTOR, results, totalsOfPanel(llvm::divideCeil(fixedSize(results), lanes)) * lanes);
  add(OptKind::STAGE, -1, matrix);
  chooseChunks(keptAxes());
  return true;
}

std::optional<SmallVector<Access>> Chooser::streamsAlong(size_t columns) const {
  SmallVector<Access> matrices;
  for (auto reduce : func_.getBody().getOps<ReduceOp>()) {
    std::optional<Product> product = productOf(reduce);
    if (!product || reduce.getAxes().size() != reduced_.size())
      return std::nullopt;
    std::optional<Access> matrix;
    for (unsigned side : {0, 1}) {
      LoadOp load = product->operands[side].onlyLoad();
      if (matrix || !load || optimize::dependsOn(product->operands[!side].value, columns))
        continue;
      Access access = optimize::accessOf(load);
      if (llvm::none_of(keptAxes(), [&](size_t axis) { return fixedSize(axis) != 1 && access.isStill(axis); }))
        matrix = access;
    }
    if (!matrix)
      return std::nullopt;
    matrices.push_back(*matrix);
  }
  return matrices.empty() ? std::nullopt : std::optional(matrices);
}

std::optional<size_t> Chooser::rowsAlong(ArrayRef<Access> matrices) const {
  int64_t lanes = target_.vectorBits() / elementBits(func_);
  auto inner = llvm::find_if(reduced_, [&](size_t axis) {
    return llvm::all_of(matrices, [&](const Access &matrix) { return matrix.isContiguous(axis); });
  });
  return inner == reduced_.end() || fixedSize(*inner) < lanes ? std::nullopt : std::optional(*inner);
}

Chooser::RowBlock Chooser::rowBlock(ArrayRef<Access> matrices, size_t inner, int64_t sums, int64_t rows) const {
  int64_t lanes = target_.vectorBits() / elementBits(func_);
  double bytes = 0;
  for (const Access &matrix : matrices)
    bytes += optimize::elementsOf(matrix) * double(bytesOfElement(matrix));
  // Memory is read fastest in one piece, by enough totals that additions do not wait for each other. From a cache,
  // several rows read together share the vector, and their lanes are added up together at the end. What the second
  // cache does not hold may come from memory, as other kernels' matrices took its place.
  bool isFar = bytes > double(target_.cacheBytes(2));
  if (isFar && fixedSize(inner) >= kFewestStreamSteps * kTotalsOfStream * lanes)
    return {1, kTotalsOfStream * lanes};
  int64_t totals = target_.vectorRegisters() - kOtherRegisters;
  return {evenPart(rows, std::clamp<int64_t>(totals / sums, 1, kRowsOfStream)), lanes};
}

bool Chooser::readAsRows(ArrayRef<Access> matrices, size_t columns) {
  std::optional<size_t> inner = rowsAlong(matrices);
  if (!inner)
    return false;
  auto [rows, lanes] = rowBlock(matrices, *inner, /*sums=*/matrices.size(), countOf_[columns]);
  add(OptKind::VECTOR, *inner, lanes);
  if (rows > 1)
    add(OptKind::UPCAST, columns, rows);
  return true;
}

double Chooser::stepsAfterSums() const {
  double steps = 0;
  for (auto alu : func_.getBody().getOps<AluOp>())
    if (llvm::any_of(func_.getBody().getOps<ReduceOp>(),
                     [&](ReduceOp reduce) { return kernel::isComputedFrom(alu.getResult(), reduce.getResult()); }))
      steps += aluTraits(alu.getKind().getValue()).steps;
  return steps;
}

bool Chooser::holdSumsOfRows(ArrayRef<Access> matrices, size_t columns) {
  std::optional<size_t> inner = rowsAlong(matrices);
  int64_t lanes = target_.vectorBits() / elementBits(func_);
  if (!inner || stepsAfterSums() < kFewestStepsInLanes)
    return false;
  int64_t points = target::largestPart(fixedSize(columns), kVectorsOfSums * lanes, lanes);
  if (points == 0)
    points = lanes;
  auto [rows, width] = rowBlock(matrices, *inner, /*sums=*/1, points);
  if (rows == 1) // read as fast as memory is, whatever is computed meanwhile
    return false;
  int64_t tile = add(OptKind::TILE, columns, points);
  chooseChunks(keptAxes());
  for (auto reduce : func_.getBody().getOps<ReduceOp>()) {
    StageOp sum = trial_.hold(trial_.copyOf(reduce.getResult()), loopOf(columns));
    if (!trial_.fits())
      return false;
    trial_.apply(OptKind::VECTOR, optimize::axesAlong(sum, *inner).back(), width);
    trial_.apply(OptKind::UPCAST, optimize::axesAlong(sum, columns).front(), rows);
  }
  add(OptKind::VECTOR, tile, lanes);
  return true;
}

bool Chooser::chooseStreams() {
  int64_t lanes = target_.vectorBits() / elementBits(func_);
  if (!isRunOften())
    return false;
  for (size_t n : keptAxes()) {
    std::optional<SmallVector<Access>> matrices = fixedSize(n) >= lanes ? streamsAlong(n) : std::nullopt;
    if (!matrices)
      continue;
    if (tryWay([&](Chooser &tried) { return tried.holdSumsOfRows(*matrices, n); }))
      return true;
    if (!readAsRows(*matrices, n)) {
      if (!llvm::all_of(*matrices, [&](const Access &matrix) { return isReadOnce(matrix); }))
        continue;
      if (llvm::all_of(*matrices, [&](const Access &matrix) { return weights_.test(matrix.buffer); })) {
        int64_t free = (target_.vectorRegisters() - kOtherRegisters) / int64_t(matrices->size());
        int64_t most = std::clamp<int64_t>(llvm::bit_floor(uint64_t(free)), 1, kTotalsOfStream);
        add(OptKind::VECTOR, n, totalsOfPanel(llvm::divideCeil(fixedSize(n), lanes), most) * lanes);
        for (const Access &matrix : *matrices)
          stage(-1, matrix.buffer);
      } else if (matrices->size() == 1 && chooseLines(matrices->front(), n, /*rows=*/std::nullopt)) {
        return true;
      } else {
        continue;
      }
    }
    chooseChunks(keptAxes());
    return true;
  }
  return false;
}
