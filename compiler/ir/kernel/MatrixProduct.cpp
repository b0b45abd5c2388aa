#include "ir/kernel/MatrixProduct.h"

#include "view/WithoutZeros.h"

using namespace kiln;
using namespace kiln::kernel;
using namespace mlir;
using view::Expr;

bool kernel::hasFragments(const Walk &walk) {
  return llvm::any_of(walk.axes, [](AxisAttr axis) { return axis.getKind() == AxisKind::Fragment; });
}

/// The axes of a walk that are fragments, by id.
static SmallVector<int64_t> fragmentsOf(const Walk &walk) {
  SmallVector<int64_t> axes;
  for (AxisAttr axis : walk.axes)
    if (axis.getKind() == AxisKind::Fragment)
      axes.push_back(axis.getId());
  return axes;
}

bool kernel::hasMatrices(const Walk &walk) { return fragmentsOf(walk).size() > 1; }

std::optional<DotProduct> kernel::dotProductOf(const Walk &walk) {
  SmallVector<int64_t> axes = fragmentsOf(walk);
  if (axes.size() != 1)
    return std::nullopt;
  int64_t terms = axes.front();
  ReduceOp reduce;
  SmallVector<Operation *> moving; // along the terms
  WalkAxes axesOfValues(walk);
  for (Operation *op : walk.operations()) {
    auto sum = dyn_cast<ReduceOp>(op);
    bool ends = sum && llvm::is_contained(sum.getAxes(), terms);
    if (ends && reduce)
      return std::nullopt;
    if (ends)
      reduce = sum;
    else if (axesOfValues.of(op).contains(terms))
      moving.push_back(op);
  }
  std::optional<Product> sum = reduce ? productOf(reduce) : std::nullopt;
  if (!sum || !sum->isNarrow())
    return std::nullopt;
  DotProduct product{reduce, sum->operands[0].narrow, sum->operands[1].narrow, terms};
  auto movesAlong = [&](Value value) {
    return value.getDefiningOp() && axesOfValues.of(value.getDefiningOp()).contains(product.terms);
  };
  if (!movesAlong(product.a) || !movesAlong(product.b) || llvm::any_of(walk.results, movesAlong))
    return std::nullopt;
  // Anything else would be needed one element at a time.
  Walk behind{walk.stage, {}, {}, {reduce.getInput()}};
  llvm::SetVector<Operation *> known = behind.operations();
  bool areAll = llvm::all_of(moving, [&](Operation *op) { return known.contains(op); });
  return areAll ? std::optional(product) : std::nullopt;
}

std::optional<MatrixProduct> kernel::matrixProductOf(const Walk &walk) {
  SmallVector<int64_t> axes = fragmentsOf(walk);
  auto reduce = walk.stage ? walk.stage.getInput().getDefiningOp<ReduceOp>() : ReduceOp();
  if (axes.size() != 4 || !reduce || reduce.getBuffer())
    return std::nullopt;
  std::optional<Product> sum = productOf(reduce);
  if (!sum || !sum->isNarrow())
    return std::nullopt;
  MatrixProduct product{reduce, {}, {}, axes[0], axes[1], axes[2], axes[3]};
  bool hasOneColumn = walk.axes[walk.positionOf(product.n)].getSize().getValue().isConst(1);
  auto isReduced = [&](int64_t axis) { return llvm::is_contained(reduce.getAxes(), axis); };
  if (isReduced(product.m) || isReduced(product.n) || !isReduced(product.k) || !isReduced(product.p))
    return std::nullopt;
  for (const Operand &operand : sum->operands) {
    auto moved = axesOf(walk, operand.narrow);
    bool isAlongRows = moved.contains(product.m), isAlongColumns = moved.contains(product.n);
    if (isAlongRows != isAlongColumns || hasOneColumn)
      (isAlongRows ? product.rows : product.columns) = operand.narrow;
  }
  if (!product.rows || !product.columns)
    return std::nullopt;
  return product;
}

/// The last place on an axis of the domain that a walk's matrices reach. Loops around it stay inside the domain, so no
/// tile begins outside.
static Expr lastOf(const Walk &walk, size_t domainAxis, Expr size) {
  Expr index = walk.index[domainAxis];
  llvm::DenseMap<Expr, Expr> own, around;
  index.forEachVariable([&](Expr variable) {
    int64_t id = loopAxisOf(variable);
    (id >= 0 && walk.contains(id) ? own : around)[variable] = 0;
  });
  int64_t reach = index.substitute(around).max();
  if (reach == 0)
    return size - 1;
  bool isWhole = view::mod(index.substitute(own), reach + 1).isConst(0);
  Expr begin = isWhole ? view::floorDiv(size - 1, reach + 1) * (reach + 1) : size - 1;
  return size.isConst() ? Expr(std::min(index.max(), begin.max() + reach)) : begin + reach;
}

/// The place where an element is read, whatever guards say: products past the end of the domain are wasted. nullopt if
/// the element would not exist.
static std::optional<view::Index> indexOf(const Walk &walk, Value operand) {
  if (auto stage = operand.getDefiningOp<StageOp>())
    return view::Index{stage.elementAt(walk.index), 1};
  auto load = operand.getDefiningOp<LoadOp>();
  if (!load || load.getRow())
    return std::nullopt;
  view::ShapeTracker tracker = load.getTracker().getValue();
  // If a size of the domain is 0 nothing is read.
  ArrayRef<Expr> domain = load->getParentOfType<FuncOp>().getDomain().getSizes();
  llvm::DenseMap<Expr, Expr> positive = view::withoutZeros(domain, domain);
  SmallVector<Expr> reached;
  for (auto [axis, size] : llvm::enumerate(domain))
    reached.push_back(tracker.shape()[axis].isConst(1) ? Expr(0)
                                                       : Expr::variable(("_reached" + llvm::Twine(axis)).str(), 0,
                                                                        lastOf(walk, axis, size.substitute(positive))));
  view::Index all = tracker.at(reached);
  const view::View &memory = tracker.views().front();
  Expr end = memory.offset() + 1;
  for (auto [size, stride] : llvm::zip(memory.shape(), memory.strides()))
    end = end + (size - 1) * view::maximum(stride, 0);
  if (load.getRoom())
    end = view::maximum(end, int64_t(*load.getRoom()));
  Expr place = all.index.substitute(positive);
  if (!all.valid.substitute(positive).isConst(1) || place.min() < 0 ||
      !view::provablyLess(place, end.substitute(positive)))
    return std::nullopt;
  return tracker.at(positionOf(walk.index, tracker));
}

/// The matrix over the axes `row` and `columns`, whose neighbours are as many elements apart as `steps` says.
static std::optional<MatrixView> viewOf(const Walk &walk, std::optional<view::Index> where, int64_t row,
                                        ArrayRef<int64_t> columns) {
  if (!where)
    return std::nullopt;
  llvm::DenseMap<Expr, Expr> first;
  for (AxisAttr axis : walk.axes)
    if (axis.getKind() == AxisKind::Fragment && !loopVariable(axis).isConst())
      first[loopVariable(axis)] = 0;
  auto variableOf = [&](int64_t axis) { return loopVariable(walk.axes[walk.positionOf(axis)]); };
  // The distance of neighbours along an axis, wherever the matrix begins.
  auto stepAlong = [&](int64_t axis) {
    if (variableOf(axis).isConst())
      return Expr(0);
    llvm::DenseMap<Expr, Expr> own{{variableOf(axis), 0}};
    return (where->index - where->index.substitute(own)).substitute({{variableOf(axis), 1}});
  };
  int64_t step = 1;
  for (int64_t axis : llvm::reverse(columns)) {
    if (!variableOf(axis).isConst() && !view::provablyEqual(stepAlong(axis), step))
      return std::nullopt;
    step *= walk.axes[walk.positionOf(axis)].getSize().getValue().constant();
  }
  Expr base = where->index.substitute(first), pitch = stepAlong(row), sum = base;
  SmallVector<int64_t> all{row};
  all.append(columns.begin(), columns.end());
  for (int64_t axis : all)
    sum = sum + variableOf(axis) * stepAlong(axis);
  bool isEven = view::provablyEqual(sum, where->index);
  return isEven ? std::optional(MatrixView{{base, 1}, pitch}) : std::nullopt;
}

std::optional<MatrixView> kernel::rowsView(const Walk &walk, const MatrixProduct &product) {
  return viewOf(walk, indexOf(walk, product.rows), product.m, {product.k, product.p});
}

std::optional<MatrixView> kernel::columnsView(const Walk &walk, const MatrixProduct &product) {
  return viewOf(walk, indexOf(walk, product.columns), product.k, {product.n, product.p});
}

std::optional<MatrixView> kernel::sumsView(const Walk &walk, const MatrixProduct &product) {
  return viewOf(walk, view::Index{walk.stage.elementAt(walk.index), 1}, product.m, {product.n});
}

SmallVector<size_t> kernel::axesPastEnd(const Walk &walk, const MatrixProduct &product) {
  SmallVector<size_t> axes;
  ArrayRef<Expr> domain = walk.stage->getParentOfType<FuncOp>().getDomain().getSizes();
  for (auto [axis, index] : llvm::enumerate(walk.index)) {
    auto ids = axesOf(index);
    bool isSummed = llvm::any_of(product.reduce.getAxes(), [&](int64_t id) { return ids.contains(id); });
    if (isSummed && !view::provablyLess(lastOf(walk, axis, domain[axis]), domain[axis]))
      axes.push_back(axis);
  }
  return axes;
}

SmallVector<size_t> kernel::axesPastEnd(StageOp stage) {
  SmallVector<size_t> axes;
  for (const Walk &walk : walksOf(stage->getParentOfType<FuncOp>()))
    if (std::optional<MatrixProduct> product = matrixProductOf(walk);
        product && (product->rows == stage.getResult() || product->columns == stage.getResult()))
      for (size_t axis : axesPastEnd(walk, *product))
        if (!llvm::is_contained(axes, axis))
          axes.push_back(axis);
  return axes;
}

/// Whether an operand is 0 past the end of the domain: it is held, or was packed before.
static bool vanishesPastEnd(Value operand) {
  auto load = operand.getDefiningOp<LoadOp>();
  return operand.getDefiningOp<StageOp>() || (load && load.getRoom());
}

static AxisAttr laneOf(const Walk &walk) {
  return *llvm::find_if(walk.axes, [](AxisAttr axis) { return axis.getKind() == AxisKind::Lane; });
}

/// Whether an operand's terms are neighbours, wherever they begin, and if lanes go along it, one lane's come after the
/// other's; and whether it is read for all of them or none. One that is computed of such tensors and of numbers that
/// all terms share is computed for all terms at once.
static bool liesInTerms(const Walk &walk, const DotProduct &product, Value operand) {
  operand = readOperand(operand);
  int64_t lane = laneOf(walk).getId();
  if (auto alu = operand.getDefiningOp<AluOp>()) {
    bool isOfLanes = axesOf(walk, operand).contains(lane);
    return llvm::all_of(alu->getOperands(), [&](Value part) {
      auto axes = axesOf(walk, part);
      bool isOfTerms = axes.contains(product.terms);
      return isOfTerms ? axes.contains(lane) == isOfLanes && liesInTerms(walk, product, part) : !axes.contains(lane);
    });
  }
  view::Index where{0, 1};
  if (auto stage = operand.getDefiningOp<StageOp>())
    where.index = stage.elementAt(walk.index);
  else if (auto load = operand.getDefiningOp<LoadOp>(); load && !load.getRow())
    where = load.getTracker().getValue().at(positionOf(walk.index, load.getTracker().getValue()));
  else
    return false;
  auto goesBy = [&](int64_t step, AxisAttr axis) {
    Expr variable = loopVariable(axis);
    return view::provablyEqual(where.index - where.index.substitute({{variable, 0}}), variable * step);
  };
  AxisAttr terms = walk.axes[walk.positionOf(product.terms)];
  if (!goesBy(1, terms) || axesOf(where.valid).contains(product.terms))
    return false;
  return !axesOf(walk, operand).contains(lane) || goesBy(terms.getSize().getValue().constant(), laneOf(walk));
}

/// Whether the domain ends between the terms of an instruction.
static bool isCut(const Walk &walk, const DotProduct &product, ArrayRef<Expr> domain) {
  AxisAttr terms = walk.axes[walk.positionOf(product.terms)];
  Expr variable = loopVariable(terms);
  for (auto [index, size] : llvm::zip(walk.index, domain)) {
    if (!axesOf(index).contains(product.terms) || view::provablyLess(index, size))
      continue;
    int64_t count = terms.getSize().getValue().constant();
    Expr first = index.substitute({{variable, 0}});
    bool isWhole = view::provablyEqual(index - first, variable) && view::mod(first, count).isConst(0) &&
                   view::mod(size, count).isConst(0);
    if (!isWhole)
      return true;
  }
  return false;
}

static std::optional<std::string> faultOfDot(const Walk &walk, const DotProduct &product, FuncOp func,
                                             TargetAttr target) {
  ProductAttr instruction =
      target.dotProduct(product.a.getType(), product.b.getType(), product.reduce.getResult().getType());
  const auto *lane = llvm::find_if(walk.axes, [](AxisAttr axis) { return axis.getKind() == AxisKind::Lane; });
  auto sizeOf = [](AxisAttr axis) { return axis.getSize().getValue().constant(); };
  if (!instruction || sizeOf(walk.axes[walk.positionOf(product.terms)]) != instruction.getK())
    return std::string("the device has no dot instruction of these dtypes and so many terms");
  if (lane == walk.axes.end() || sizeOf(*lane) % instruction.getN() != 0 ||
      !axesOf(walk, product.reduce.getResult()).contains(lane->getId()))
    return "a dot instruction adds up " + std::to_string(instruction.getN()) +
           " sums side by side: VECTOR an axis of them";
  if (isCut(walk, product, func.getDomain().getSizes()))
    return std::string("the domain ends between the terms of a dot instruction");
  if (!liesInTerms(walk, product, product.a) || !liesInTerms(walk, product, product.b))
    return std::string("the operands of a dot instruction do not lie term by term in memory: STAGE them");
  return std::nullopt;
}

std::optional<std::string> kernel::faultOfProducts(FuncOp func, TargetAttr target) {
  for (const Walk &walk : walksOf(func)) {
    if (!hasFragments(walk))
      continue;
    if (std::optional<DotProduct> dot = dotProductOf(walk)) {
      if (std::optional<std::string> fault = faultOfDot(walk, *dot, func, target))
        return fault;
      continue;
    }
    std::optional<MatrixProduct> product = matrixProductOf(walk);
    if (!product)
      return std::string("an axis is a fragment of no product");
    ProductAttr instruction = target.matrixProduct(product->rows.getType(), product->columns.getType(),
                                                   product->reduce.getResult().getType());
    auto sizeOf = [&](int64_t axis) { return walk.axes[walk.positionOf(axis)].getSize().getValue().constant(); };
    if (!instruction || sizeOf(product->m) > instruction.getM() || sizeOf(product->n) > instruction.getN() ||
        sizeOf(product->k) * sizeOf(product->p) > instruction.getK())
      return std::string("the device has no matrix instruction of these dtypes and sizes");
    bool vanishes = vanishesPastEnd(product->rows) && vanishesPastEnd(product->columns);
    if (!vanishes && !axesPastEnd(walk, *product).empty())
      return std::string("a matrix product sums up terms past the end of the domain: STAGE both operands");
    if (!sumsView(walk, *product))
      return std::string("the sums of a matrix product are not held row by row");
    if (!rowsView(walk, *product))
      return std::string("the rows of a matrix product do not lie term by term in memory: STAGE them");
    if (!columnsView(walk, *product))
      return std::string("the columns of a matrix product do not lie in the instruction's order: STAGE them");
  }
  return std::nullopt;
}
