//===- Loop.cpp - A graph that runs again and again ----------------------------===//
//
// A region's results have the sizes that it yields if those are the same in every iteration. Otherwise they are new
// symbols, bound when the region ends. Which sizes a Loop changes shows only in the results of its body, and these
// depend on the sizes of its arguments. So the body is imported as if none changed. If it yields another size, that one
// becomes a symbol and the body is imported again, until arguments and results agree.
//
//===-------------------------------------------------------------------------===//
#include "import/DType.h"
#include "import/onnx/Importer.h"
#include "import/onnx/Registry.h"
#include "import/onnx/control/Scan.h"
#include "import/onnx/control/SequenceCalls.h"
#include "import/onnx/file/ModelFile.h"
#include "import/onnx/tensor/DataSizes.h"
#include "ir/base/ObjectType.h"

using namespace kiln;
using namespace kiln::import;
using namespace kiln::import::onnx;
using llvm::Twine;
using mlir::Value;

namespace {
/// A region that is not part of an op yet, and its results.
struct Body {
  std::unique_ptr<mlir::Region> region = std::make_unique<mlir::Region>();
  llvm::SmallVector<Tensor> outputs;
  llvm::SmallVector<Value> yields; ///< the outputs as data
};
} // namespace

static bool checkInputs(Node &n, const ::onnx::GraphProto &graph, llvm::StringRef name, size_t wanted) {
  if (size_t(graph.input_size()) == wanted)
    return true;
  n.fail("graph '" + name + "' has " + Twine(graph.input_size()) + " inputs where " + Twine(wanted) + " are needed");
  return false;
}

/// A graph at the insertion point; `scope` knows its inputs. Nothing after a failure, which is noted.
static std::optional<llvm::SmallVector<Tensor>> importGraph(Node &n, const ::onnx::GraphProto &graph, Scope &scope) {
  if (llvm::Error error = n.importer().importGraph(graph, scope)) {
    n.builder().fail(std::move(error));
    return std::nullopt;
  }
  llvm::Expected<llvm::SmallVector<Tensor>> outputs = n.importer().outputs(graph, scope);
  if (!outputs) {
    n.builder().fail(outputs.takeError());
    return std::nullopt;
  }
  return std::move(*outputs);
}

/// A graph as the body's region; false after a failure.
static bool importBody(Node &n, const ::onnx::GraphProto &graph, Scope &scope, Body &body) {
  mlir::OpBuilder::InsertionGuard guard(n.builder().builder());
  n.builder().builder().setInsertionPointToEnd(&body.region->front());
  std::optional<llvm::SmallVector<Tensor>> outputs = importGraph(n, graph, scope);
  if (!outputs)
    return false;
  body.outputs = *outputs;
  for (const Tensor &output : body.outputs)
    body.yields.push_back(n.importer().materialize(output, scope, n.builder(), /*isNamed=*/false));
  return n.builder().ok();
}

/// Makes the region's result at `index` a sequence or an optional of this type.
static void yieldAs(TensorBuilder &b, Body &body, size_t index, mlir::Type container) {
  mlir::OpBuilder::InsertionGuard guard(b.builder());
  b.builder().setInsertionPointToEnd(&body.region->front());
  body.yields[index] = asContainer(b, body.yields[index], container);
}

static void yield(TensorBuilder &b, Body &body) {
  mlir::OpBuilder::InsertionGuard guard(b.builder());
  b.builder().setInsertionPointToEnd(&body.region->front());
  graph::YieldOp::create(b.builder(), b.location(), body.yields);
}

static bool isOneOf(const Tensor &tensor, mlir::Type element) {
  return tensor.element() == element && tensor.type.hasStaticShape() && tensor.type.getNumElements() == 1;
}

static std::string resultName(Node &n, size_t index) {
  bool named = index < size_t(n.proto().output_size()) && !n.proto().output(index).empty();
  return n.scope().prefix() + (named ? n.proto().output(index) : n.op().str() + "_result" + std::to_string(index));
}

//===----------------------------------------------------------------------===//
// Loop
//===----------------------------------------------------------------------===//

namespace {
/// A Loop while its body is being imported: the carried tensors' axes that change are known only after
/// that.
class LoopImport {
public:
  LoopImport(Node &n, TensorBuilder &b, const ::onnx::GraphProto &graph) : n_(n), b_(b), graph_(graph) {}

  Tensors run();

private:
  /// The trip count, the condition and the carried values; false after a failure.
  bool readInputs();
  /// An optional input of one element as a scalar; null if it is not given. False after a failure.
  bool readScalar(size_t index, mlir::Type element, const llvm::Twine &what, Value &scalar);
  /// Imports the body until its results and arguments have the same types; false after a failure.
  bool settle();
  /// Has the body yield the condition and the carried values as the loop wants them; false after a failure.
  bool finishBody();
  /// The loop's op around its body.
  Tensors create();
  /// Imports the body with the axes that are known to change as symbols; false after a failure.
  bool importOnce();
  /// Compares the body's results with its arguments; false after a failure. `settled_` says whether they agree.
  bool compare();
  /// Assumes the sizes that the body's outputs declare, which each iteration checks; false after a failure.
  bool believe();
  /// Whether slices of a scan output may have different sizes.
  bool sliceChanges() const;
  std::optional<mlir::Type> scanType(size_t index);

  Node &n_;
  TensorBuilder &b_;
  const ::onnx::GraphProto &graph_;
  Value trips_, condition_;
  llvm::SmallVector<Value> inits_;
  llvm::SmallVector<llvm::SmallVector<bool>> changes_; ///< for each axis of each carried tensor
  llvm::SmallVector<mlir::Type> elements_;             ///< of each carried tensor: a sequence's type may change
  /// For each carried tensor: a sequence after the loop though its first value is an optional, if there is such.
  llvm::SmallVector<bool> isNoOptional_;
  Body body_;
  size_t symbolsBefore_ = 0;
  bool settled_ = false;
  bool believes_ = false; ///< uses declarations of the body's outputs, if a slice's size is not known otherwise
};
} // namespace

bool LoopImport::importOnce() {
  n_.importer().symbols().forget(symbolsBefore_);
  for (mlir::Block &block : *body_.region)
    for (mlir::Operation &op : block)
      n_.importer().forget(&op);
  body_ = Body();
  mlir::Block &block = body_.region->emplaceBlock();
  Scope scope(n_.scope());
  auto define = [&](int index, Tensor tensor) {
    const std::string &name = graph_.input(index).name();
    if (!scope.define(name, std::move(tensor)))
      n_.fail("the body's input " + quoted(name) + " is given twice", "give every input a name of its own");
  };
  define(0, Value(block.addArgument(mlir::RankedTensorType::get({}, b_.int64()), b_.location())));
  // The body only runs while the condition holds.
  define(1, Tensor(b_.boolType(), {}, {Expr(1)}));
  for (auto [i, init] : llvm::enumerate(inits_)) {
    Shape shape = b_.shape(init);
    const std::string &name = graph_.input(2 + i).name();
    for (auto [axis, size] : llvm::enumerate(shape))
      if (changes_[i][axis])
        size = n_.importer().symbols().freshSize(n_.scope().prefix() + name, axis, 0, view::kMaxDim);
    define(2 + i, Value(block.addArgument(tensorType(shape, elements_[i]), b_.location())));
  }
  return b_.ok() && importBody(n_, graph_, scope, body_) && (!believes_ || believe());
}

bool LoopImport::believe() {
  mlir::OpBuilder::InsertionGuard guard(b_.builder());
  b_.builder().setInsertionPointToEnd(&body_.region->front());
  for (size_t i = 1; i < body_.yields.size(); ++i) {
    const ::onnx::ValueInfoProto &output = graph_.output(i);
    const ::onnx::TensorShapeProto &declared = output.type().tensor_type().shape();
    Shape shape = b_.shape(body_.yields[i]);
    if (size_t(declared.dim_size()) != shape.size())
      continue;
    for (auto [size, dim] : llvm::zip(shape, declared.dim())) {
      int64_t wanted = dim.dim_value();
      if (!dim.has_dim_value() || size.isConst() || wanted < 0 || wanted > view::kMaxDim)
        continue;
      b_.check(isEqual(size, wanted), "output " + quoted(output.name()) + " of the loop's body has size " +
                                          size.print() + " where it declares " + Twine(wanted));
      size = wanted;
    }
    body_.yields[i] = b_.reshape(body_.yields[i], shape);
  }
  return b_.ok();
}

bool LoopImport::sliceChanges() const {
  for (Value slice : llvm::ArrayRef(body_.yields).drop_front(1 + inits_.size()))
    for (Expr size : TensorBuilder::shape(slice))
      if (n_.importer().symbols().isNewer(size, symbolsBefore_))
        return true;
  return false;
}

bool LoopImport::compare() {
  settled_ = true;
  for (size_t i = 0; i < inits_.size(); ++i) {
    Value given = body_.region->front().getArgument(1 + i), next = body_.yields[1 + i];
    if (mlir::Type common = commonContainer(b_.element(given), b_.element(next))) {
      settled_ &= common == elements_[i];
      elements_[i] = common;
      continue;
    }
    if (b_.element(given) != b_.element(next) || b_.rank(given) != b_.rank(next))
      return n_.fail("carried tensor " + Twine(i) + " is " + describe(given) + " and becomes " + describe(next),
                     "rank and dtype have to stay the same"),
             false;
    for (auto [axis, before, after] : llvm::enumerate(b_.shape(given), b_.shape(next)))
      if (!changes_[i][axis] && !view::provablyEqual(before, after)) {
        changes_[i][axis] = true;
        settled_ = false;
      }
  }
  return true;
}

std::optional<mlir::Type> LoopImport::scanType(size_t index) {
  Value slice = body_.yields[1 + index];
  if (isContainer(b_.element(slice))) {
    n_.fail("scan output " + Twine(index - inits_.size()) + " is of " + describe(slice), "carry it from step to step");
    return std::nullopt;
  }
  Shape shape = b_.shape(slice);
  for (Expr size : shape)
    if (n_.importer().symbols().isNewer(size, symbolsBefore_)) {
      n_.fail("scan output " + Twine(index - inits_.size()) + " has slices of size " + size.print() +
                  ", which changes between iterations",
              "every iteration has to give a slice of one size");
      return std::nullopt;
    }
  shape.insert(shape.begin(), n_.importer().symbols().freshSize(resultName(n_, index), 0, 0, view::kMaxDim));
  return tensorType(shape, b_.element(slice));
}

bool LoopImport::readScalar(size_t index, mlir::Type element, const Twine &what, Value &scalar) {
  if (!n_.has(index))
    return true;
  if (!n_.tensor(index))
    return false;
  if (!isOneOf(n_.tensor(index), element))
    return n_.fail("the " + what + " is " + describe(n_.input(index)),
                   element == b_.boolType() ? "it is one bool" : "it is one int64"),
           false;
  scalar = b_.reshape(n_.input(index), {});
  return true;
}

bool LoopImport::readInputs() {
  inits_ = n_.inputs(2);
  if (!b_.ok() || !checkInputs(n_, graph_, "body", 2 + inits_.size()))
    return false;
  if (graph_.output_size() < int(1 + inits_.size()))
    return n_.fail("graph 'body' has " + Twine(graph_.output_size()) + " outputs where the condition and " +
                   Twine(inits_.size()) + " carried tensors are needed"),
           false;
  if (!readScalar(0, b_.int64(), "trip count", trips_) || !readScalar(1, b_.boolType(), "condition", condition_))
    return false;
  for (auto [index, init] : llvm::enumerate(inits_)) {
    if (!init)
      return n_.fail("carried tensor " + Twine(index) + " has no initial value", "name one"), false;
    changes_.emplace_back(b_.rank(init), false);
    elements_.push_back(b_.element(init));
  }
  return true;
}

bool LoopImport::settle() {
  symbolsBefore_ = n_.importer().symbols().count();
  while (!settled_) {
    if (!importOnce() || !compare())
      return false;
    if (settled_ && !believes_ && sliceChanges()) {
      believes_ = true;
      settled_ = false;
      for (llvm::SmallVector<bool> &axes : changes_)
        axes.assign(axes.size(), false);
    }
  }
  return true;
}

bool LoopImport::finishBody() {
  const Tensor &next = body_.outputs[0];
  if (!isOneOf(next, b_.boolType()))
    return n_.fail("the body's condition is " + describe(body_.yields[0]), "it is one bool"), false;
  auto isTrue = [](const Tensor &tensor) { return tensor.elements && tensor.elements->front().isConst(1); };
  bool counts = !condition_ || (isTrue(n_.tensor(1)) && isTrue(next));
  if (counts && !trips_)
    return n_.fail("it never ends", "give it a trip count or a condition that changes"), false;
  {
    mlir::OpBuilder::InsertionGuard guard(b_.builder());
    b_.builder().setInsertionPointToEnd(&body_.region->front());
    // Without a condition at the start, the body's one has no effect.
    body_.yields[0] = counts ? b_.constant(1, b_.boolType()) : b_.reshape(body_.yields[0], {});
    if (counts)
      condition_ = Value();
  }
  isNoOptional_.assign(inits_.size(), false);
  for (size_t i = 0; i < inits_.size(); ++i)
    if (isContainer(elements_[i])) {
      isNoOptional_[i] =
          llvm::isa<OptionalType>(elements_[i]) && llvm::isa<SequenceType>(b_.element(body_.yields[1 + i]));
      inits_[i] = asContainer(b_, inits_[i], elements_[i]);
      yieldAs(b_, body_, 1 + i, elements_[i]);
    }
  yield(b_, body_);
  return true;
}

Tensors LoopImport::create() {
  llvm::SmallVector<mlir::Type> types;
  for (size_t i = 0; i + 1 < body_.yields.size(); ++i) {
    if (i >= inits_.size()) {
      std::optional<mlir::Type> type = scanType(i);
      if (!type)
        return {};
      types.push_back(*type);
      continue;
    }
    Shape shape = b_.shape(inits_[i]);
    for (auto [axis, size] : llvm::enumerate(shape))
      if (changes_[i][axis])
        size = n_.importer().symbols().freshSize(resultName(n_, i), axis, 0, view::kMaxDim);
    types.push_back(tensorType(shape, b_.element(inits_[i])));
  }
  auto op = graph::LoopOp::create(b_.builder(), b_.location(), types, trips_, condition_, inits_);
  op.getBody().takeBody(*body_.region);
  Tensors results(op->result_begin(), op->result_end());
  for (size_t i = 0; i < inits_.size(); ++i)
    if (isNoOptional_[i])
      results[i] = elementOf(n_, b_, op->getResult(i));
  return results;
}

Tensors LoopImport::run() { return readInputs() && settle() && finishBody() ? create() : Tensors(); }

static Tensors loopOperator(Node &n, TensorBuilder &b) {
  const ::onnx::GraphProto *graph = n.graph("body");
  return graph ? LoopImport(n, b, *graph).run() : Tensors();
}

void kiln::import::onnx::addControlFlow(Registry &r) {
  addIf(r);
  r.add("Loop", 1, loopOperator);
  r.add("Scan", 8, scan);
}
