//===- OpenIf.cpp - The ways of an If, until they are an op --------------------===//
//
// A name is given by tensors of the versions: values in their regions, or elements and constants that are not ops yet.
// If all versions give the same elements or the same value from outside, nothing has to be yielded. Otherwise the
// versions' tensors become values in their regions, the sizes in which they differ become symbols of the result, and
// each If of the tree yields what its two ways give, from the leaves to the root. A way that no run can take yields
// zeros of the other one's type, which nobody sees, since its check ends the run before.
//
//===----------------------------------------------------------------------===//
#include "import/onnx/control/OpenIf.h"

#include "import/DType.h"
#include "import/onnx/Importer.h"
#include "import/onnx/control/SequenceCalls.h"
#include "import/onnx/file/ModelFile.h"
#include "ir/base/NarrowDType.h"
#include "ir/base/ObjectType.h"
#include "support/Error.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"

using namespace kiln;
using namespace kiln::import;
using namespace kiln::import::onnx;
using llvm::Twine;
using mlir::Value;

OpenIf::OpenIf(Importer &importer, std::string node, mlir::Location location, Tensor condition, Value scalar)
    : importer_(importer), node_(std::move(node)), location_(location), condition_(std::move(condition)),
      scalar_(scalar), symbolsBefore_(importer.symbols().count()) {
  for (Way &way : ways_)
    way.region->emplaceBlock();
}

llvm::Error OpenIf::forEach(llvm::function_ref<llvm::Error(OpenIf &, Way &)> visit) {
  for (Way &way : ways_) {
    if (!way.fault.empty())
      continue;
    if (!way.inner) {
      mlir::OpBuilder::InsertionGuard guard(importer_.builder());
      importer_.builder().setInsertionPointToEnd(&way.region->front());
      if (llvm::Error error = visit(*this, way))
        return error;
    } else if (llvm::Error error = way.inner->forEach(visit)) {
      return error;
    }
  }
  return llvm::Error::success();
}

static void collectVersions(const OpenIf::Way &way, llvm::SmallVectorImpl<const OpenIf::Way *> &versions) {
  if (!way.fault.empty())
    return;
  if (way.inner)
    versions.append(way.inner->versions());
  else
    versions.push_back(&way);
}

llvm::SmallVector<const OpenIf::Way *> OpenIf::versions() const {
  llvm::SmallVector<const Way *> versions;
  for (const Way &way : ways_)
    collectVersions(way, versions);
  return versions;
}

void OpenIf::collectNodes(llvm::SmallVectorImpl<std::string> &nodes) const {
  if (!llvm::is_contained(nodes, node_))
    nodes.push_back(node_);
  for (const Way &way : ways_)
    if (way.inner)
      way.inner->collectNodes(nodes);
}

std::string OpenIf::prune() {
  for (Way &way : ways_)
    if (way.inner)
      if (std::string fault = way.inner->prune(); !fault.empty())
        drop(way, fault);
  return ways_[1].fault.empty() ? "" : ways_[0].fault;
}

void OpenIf::drop(Way &way, std::string fault) {
  importer_.warn(location_, node_ + ": a run that takes its " + (&way == &ways_[0] ? "then" : "else") +
                                " branch ends with an error: " + fault);
  way.fault = std::move(fault);
  way.scope.reset();
  way.inner.reset();
  for (mlir::Operation &op : llvm::make_early_inc_range(llvm::reverse(way.region->front()))) {
    importer_.forget(&op);
    op.erase();
  }
}

//===----------------------------------------------------------------------===//
// What the versions give a name
//===----------------------------------------------------------------------===//

static bool haveOtherTypes(const Tensor &one, const Tensor &other) {
  if (isContainer(one.element()) || isContainer(other.element()))
    return !commonContainer(one.element(), other.element());
  if (one.element() != other.element() || one.type.getRank() != other.type.getRank())
    return true;
  return one.elements && other.elements && one.type != other.type;
}

static bool haveOtherElements(const Tensor &one, const Tensor &other) {
  return one.elements && other.elements && *one.elements != *other.elements;
}

/// Whether `test` holds of the first version's tensor of this name and another's.
static bool anyDiffers(const OpenIf &open, llvm::StringRef name, bool (*test)(const Tensor &, const Tensor &)) {
  const Tensor *first = nullptr;
  for (const OpenIf::Way *version : open.versions()) {
    const Tensor *given = version->scope->find(name);
    if (!given || !*given)
      continue;
    if (first && test(*first, *given))
      return true;
    first = first ? first : given;
  }
  return false;
}

bool OpenIf::differs(llvm::StringRef name) const { return anyDiffers(*this, name, haveOtherTypes); }

bool OpenIf::differsInElements(llvm::StringRef name) const { return anyDiffers(*this, name, haveOtherElements); }

//===----------------------------------------------------------------------===//
// The end of a scope
//===----------------------------------------------------------------------===//

std::unique_ptr<Scope> OpenIf::scopeOf(const Way &way, Scope &outer) const {
  auto scope = std::make_unique<Scope>(outer);
  scope->assume(condition_, &way == &ways_[0]);
  return scope;
}

llvm::Error OpenIf::leaveScope(Way &way, Scope &outer, llvm::ArrayRef<std::string> from,
                               llvm::ArrayRef<std::string> to) {
  if (!way.fault.empty())
    return llvm::Error::success();
  std::unique_ptr<Scope> scope = scopeOf(way, outer);
  if (way.inner) {
    if (llvm::Error error = way.inner->leaveScope(*scope, from, to))
      return error;
  } else {
    for (auto [inside, outside] : llvm::zip_first(to, from)) {
      if (inside.empty())
        continue;
      const Tensor *found = way.scope->find(outside);
      if (!found || !*found)
        return failure("output " + quoted(outside) + " is undefined", "no node, input or initializer gives it");
      if (!scope->define(inside, *found))
        return failure("output " + quoted(inside) + " is made twice", "give every output a name of its own");
    }
  }
  way.scope = std::move(scope);
  return llvm::Error::success();
}

llvm::Error OpenIf::leaveScope(Scope &outer, llvm::ArrayRef<std::string> from, llvm::ArrayRef<std::string> to) {
  for (Way &way : ways_)
    if (llvm::Error error = leaveScope(way, outer, from, to))
      return error;
  return llvm::Error::success();
}

//===----------------------------------------------------------------------===//
// The op
//===----------------------------------------------------------------------===//

/// How the user can have the condition decided at import: by the sizes that it follows from, if there is nothing else.
static std::string decideBySizes(const Symbols &symbols, Value condition) {
  llvm::SetVector<Value> reached;
  reached.insert(condition);
  llvm::SmallVector<std::string> options;
  for (size_t i = 0; i < reached.size(); ++i) {
    mlir::Operation *op = reached[i].getDefiningOp();
    if (!op)
      return "";
    reached.insert(op->operand_begin(), op->operand_end());
    if (auto size = llvm::dyn_cast<graph::SizeOp>(op))
      size.getSize().getValue().forEachVariable([&](Expr variable) {
        std::string option = "--dim " + variable.name().str() + "=SIZE";
        if (symbols.isDim(variable.name()) && !llvm::is_contained(options, option))
          options.push_back(option);
      });
  }
  return options.empty() ? "" : "the condition follows from sizes: decide it with " + llvm::join(options, " ");
}

namespace {
/// A way that a run can take, and the tensors that it gives.
struct Live {
  OpenIf::Way *way;
  llvm::SmallVector<Tensor> given;
};
} // namespace

/// The ways that a run can take, their own Ifs closed.
static llvm::Expected<llvm::SmallVector<Live, 2>> closeInner(llvm::MutableArrayRef<OpenIf::Way> ways,
                                                             mlir::OpBuilder &builder,
                                                             llvm::ArrayRef<std::string> names,
                                                             llvm::StringRef prefix) {
  llvm::SmallVector<Live, 2> live;
  for (OpenIf::Way &way : ways) {
    if (!way.fault.empty())
      continue;
    live.push_back({&way, {}});
    if (!way.inner) {
      for (const std::string &name : names)
        live.back().given.push_back(*way.scope->find(name));
      continue;
    }
    mlir::OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToEnd(&way.region->front());
    llvm::Expected<llvm::SmallVector<Tensor>> results = way.inner->close(names, prefix);
    if (!results)
      return results.takeError();
    live.back().given = std::move(*results);
    way.inner.reset();
  }
  assert(!live.empty() && "a run can take one of the ways");
  return live;
}

/// Whether a value is of a region that belongs to no op yet, or of one within it.
static bool isWithin(const mlir::Region &region, Value value) {
  mlir::Region *around = value.getParentRegion();
  while (around && around != &region)
    around = around->getParentOp() ? around->getParentOp()->getParentRegion() : nullptr;
  return around != nullptr;
}

/// The tensor from outside of the ways that all of them give, so that none has to yield it; null if they give others.
static Tensor fromOutside(const Symbols &symbols, llvm::ArrayRef<Live> live, size_t index, size_t symbolsBefore) {
  const Tensor &first = live.front().given[index], &last = live.back().given[index];
  auto isOutside = [&](const Tensor &tensor) {
    if (!tensor.value)
      return tensor.data != nullptr;
    return llvm::none_of(live, [&](const Live &each) { return isWithin(*each.way->region, tensor.value); });
  };
  bool sameElements = first.elements && last.elements && first.type == last.type && *first.elements == *last.elements;
  if (sameElements &&
      llvm::none_of(*first.elements, [&](Expr element) { return symbols.isNewer(element, symbolsBefore); }))
    return Tensor(first.element(), first.type.getShape(), *first.elements);
  if (first.type == last.type && first.value == last.value && first.data == last.data && !first.elements &&
      isOutside(first))
    return first;
  return {};
}

/// The type of an If's result, which both ways then yield; null with a failure noted. A size that the two do not share
/// is a new symbol, called after `name`.
static mlir::Type joinYields(Importer &importer, TensorBuilder &b, llvm::ArrayRef<Live> live, Value &one, Value &other,
                             const std::string &name) {
  mlir::OpBuilder::InsertionGuard guard(b.builder());
  std::pair<OpenIf::Way *, Value *> sides[] = {{live[0].way, &one}, {live[1].way, &other}};
  if (mlir::Type common = commonContainer(b.element(one), b.element(other))) {
    for (auto [way, value] : sides) {
      b.builder().setInsertionPointToEnd(&way->region->front());
      *value = asContainer(b, *value, common);
    }
    return tensorType({}, common);
  }
  // A scalar on one way and a tensor of one element on the other are the latter.
  for (auto [side, against] : llvm::zip(sides, llvm::reverse(sides))) {
    Shape sizes = b.shape(*against.second);
    bool isOne = llvm::all_of(sizes, [](Expr size) { return size.isConst(1); });
    if (b.rank(*side.second) != 0 || !isOne)
      continue;
    b.builder().setInsertionPointToEnd(&side.first->region->front());
    *side.second = b.reshape(*side.second, sizes);
  }
  if (b.element(one) != b.element(other) || b.rank(one) != b.rank(other)) {
    b.fail(quoted(name) + " is " + describe(one) + " in one branch and " + describe(other) + " in the other");
    return {};
  }
  Shape shape;
  for (auto [axis, size, otherSize] : llvm::enumerate(b.shape(one), b.shape(other)))
    shape.push_back(view::provablyEqual(size, otherSize)
                        ? size
                        : importer.symbols().freshSize(name, axis, std::min(size.min(), otherSize.min()),
                                                       std::max(size.max(), otherSize.max())));
  return tensorType(shape, b.element(one));
}

/// The type of an If's result where a run can go one way alone: sizes that only the way knows are new symbols.
static mlir::Type typeOutside(Importer &importer, mlir::Type yielded, size_t symbolsBefore, const std::string &name) {
  auto type = llvm::cast<mlir::RankedTensorType>(yielded);
  if (isContainer(type.getElementType()))
    return type;
  Shape shape = shapeOf(type);
  for (auto [axis, size] : llvm::enumerate(shape))
    if (importer.symbols().isNewer(size, symbolsBefore))
      size = importer.symbols().freshSize(name, axis, size.min(), size.max());
  return tensorType(shape, type.getElementType());
}

/// Zeros of this type. A size that only the ways know, newer than the others, is as small as it can be.
static Value zerosOf(Importer &importer, TensorBuilder &b, mlir::RankedTensorType type, size_t symbolsBefore) {
  Shape shape = shapeOf(type);
  for (Expr &size : shape)
    if (importer.symbols().isNewer(size, symbolsBefore))
      size = std::max<int64_t>(size.min(), 0);
  mlir::Type element = type.getElementType();
  if (isObject(element))
    return b.fromCodes(b.constant(0, b.int64(), shape), element);
  if (isNarrow(element))
    return b.fromCodes(b.constant(0, b.builder().getIntegerType(8, /*isSigned=*/false), shape), element);
  return b.constant(0, element, shape);
}

/// Has a way that no run can take end the run, and yield zeros in the place of what the other one yields.
static void endRefused(Importer &importer, TensorBuilder &b, OpenIf::Way &way, const std::string &node,
                       llvm::ArrayRef<Value> yields, size_t symbolsBefore) {
  mlir::OpBuilder &builder = b.builder();
  mlir::OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToEnd(&way.region->front());
  graph::CheckOp::create(builder, b.location(), ExprAttr::get(builder.getContext(), Expr(0)),
                         builder.getStringAttr(node + ": " + way.fault));
  llvm::SmallVector<Value> zeros = llvm::map_to_vector(yields, [&](Value value) {
    return zerosOf(importer, b, llvm::cast<mlir::RankedTensorType>(value.getType()), symbolsBefore);
  });
  graph::YieldOp::create(builder, b.location(), zeros);
}

llvm::Expected<llvm::SmallVector<Tensor>> OpenIf::close(llvm::ArrayRef<std::string> names, llvm::StringRef prefix) {
  mlir::OpBuilder &builder = importer_.builder();
  TensorBuilder b(builder, location_, importer_.commonSizes());
  llvm::Expected<llvm::SmallVector<Live, 2>> ways = closeInner(ways_, builder, names, prefix);
  if (!ways)
    return ways.takeError();
  llvm::ArrayRef<Live> live = *ways;

  llvm::SmallVector<Tensor> results(names.size());
  llvm::SmallVector<size_t> yielded;
  llvm::SmallVector<mlir::Type> types;
  llvm::SmallVector<Value> values[2];
  for (auto [index, name] : llvm::enumerate(names)) {
    results[index] = fromOutside(importer_.symbols(), live, index, symbolsBefore_);
    if (results[index])
      continue;
    yielded.push_back(index);
    Value sides[2];
    for (auto [each, side] : llvm::zip(live, sides)) {
      mlir::OpBuilder::InsertionGuard guard(builder);
      builder.setInsertionPointToEnd(&each.way->region->front());
      side = importer_.materialize(each.given[index], *each.way->scope, b, /*isNamed=*/false);
    }
    types.push_back(live.size() == 2 ? joinYields(importer_, b, live, sides[0], sides[1], prefix.str() + name)
                                     : typeOutside(importer_, sides[0].getType(), symbolsBefore_, prefix.str() + name));
    if (llvm::Error error = b.takeError()) {
      std::string decided = decideBySizes(importer_.symbols(), scalar_);
      return failure(node_ + ": " + llvm::toString(std::move(error)),
                     decided.empty() ? "rank and dtype have to be the same" : decided);
    }
    values[0].push_back(sides[0]);
    values[1].push_back(sides[1]);
  }

  for (auto [each, yields] : llvm::zip(live, values)) {
    mlir::OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToEnd(&each.way->region->front());
    graph::YieldOp::create(builder, location_, yields);
  }
  for (Way &way : ways_)
    if (!way.fault.empty())
      endRefused(importer_, b, way, node_, values[0], symbolsBefore_);
  auto op = graph::IfOp::create(builder, location_, types, scalar_);
  op.getThenRegion().takeBody(*ways_[0].region);
  op.getElseRegion().takeBody(*ways_[1].region);
  for (auto [index, result] : llvm::zip(yielded, op.getResults()))
    results[index] = Tensor(result);
  return results;
}

llvm::Error OpenIf::closeInto(Scope &scope, llvm::ArrayRef<std::string> names) {
  llvm::SmallVector<std::string> own;
  for (const std::string &name : names)
    if (!scope.find(name) && !llvm::is_contained(own, name))
      own.push_back(name);
  llvm::Expected<llvm::SmallVector<Tensor>> tensors = close(own, scope.prefix());
  if (!tensors)
    return tensors.takeError();
  for (auto [name, tensor] : llvm::zip(own, *tensors))
    scope.define(name, tensor);
  return llvm::Error::success();
}
