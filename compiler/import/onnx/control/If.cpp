//===- If.cpp - One of two graphs ---------------------------------------------===//
//
// A condition that is known at import leaves one branch and no region. Otherwise both are imported into regions. What
// both give in one rank and dtype becomes a result of the op; if an output differs in these, the If stays open for the
// nodes that read it (OpenIf.h). A branch that does not fit the sizes is no obstacle to a run that takes the other one.
//
//===-------------------------------------------------------------------------===//
#include "import/DType.h"
#include "import/onnx/Importer.h"
#include "import/onnx/Registry.h"
#include "import/onnx/file/ModelFile.h"
#include "import/onnx/file/TopologicalOrder.h"

using namespace kiln;
using namespace kiln::import;
using namespace kiln::import::onnx;
using llvm::Twine;

namespace {
class IfImport {
public:
  IfImport(Node &n, TensorBuilder &b) : n_(n), b_(b), outputs_(n.proto().output().begin(), n.proto().output().end()) {}

  Tensors run();

private:
  /// The outputs of the graph, which is imported in place.
  Tensors importInPlace(const ::onnx::GraphProto &graph);
  /// Imports a graph as a way of the If; false after a failure.
  bool importWay(const ::onnx::GraphProto &graph, OpenIf &open, OpenIf::Way &way);
  /// Whether the graph takes nothing and gives as much as the node does; a failure is noted otherwise.
  bool fits(const ::onnx::GraphProto &graph, llvm::StringRef name);

  Node &n_;
  TensorBuilder &b_;
  llvm::SmallVector<std::string> outputs_;
};
} // namespace

static llvm::SmallVector<std::string> resultsOf(const ::onnx::GraphProto &graph) {
  return llvm::map_to_vector(graph.output(), [](const ::onnx::ValueInfoProto &output) { return output.name(); });
}

bool IfImport::fits(const ::onnx::GraphProto &graph, llvm::StringRef name) {
  if (graph.input_size() != 0)
    n_.fail("graph '" + name + "' has " + Twine(graph.input_size()) + " inputs where 0 are needed");
  else if (graph.output_size() < n_.proto().output_size())
    n_.fail("graph '" + name + "' has " + Twine(graph.output_size()) + " outputs where the node has " +
                Twine(n_.proto().output_size()),
            "leave the others out");
  return b_.ok();
}

Tensors IfImport::importInPlace(const ::onnx::GraphProto &graph) {
  Scope scope(n_.scope());
  llvm::Expected<std::unique_ptr<OpenIf>> open = n_.importer().importOpenGraph(graph, scope);
  if (!open)
    return b_.fail(open.takeError()), Tensors();
  if (*open) {
    if (llvm::Error error = (*open)->leaveScope(n_.scope(), resultsOf(graph), outputs_))
      return b_.fail(std::move(error)), Tensors();
    n_.leaveOpen(std::move(*open));
    return {};
  }
  llvm::Expected<llvm::SmallVector<Tensor>> outputs = n_.importer().outputs(graph, scope);
  if (!outputs)
    return b_.fail(outputs.takeError()), Tensors();
  return Tensors(outputs->begin(), outputs->end());
}

bool IfImport::importWay(const ::onnx::GraphProto &graph, OpenIf &open, OpenIf::Way &way) {
  mlir::OpBuilder::InsertionGuard guard(b_.builder());
  b_.builder().setInsertionPointToEnd(&way.region->front());
  size_t symbolsBefore = n_.importer().symbols().count();
  std::unique_ptr<Scope> scope = open.scopeOf(way, n_.scope());
  llvm::Expected<std::unique_ptr<OpenIf>> inner = n_.importer().importOpenGraph(graph, *scope);
  if (inner) {
    way.inner = std::move(*inner);
    way.scope = std::make_unique<Scope>(*scope);
    if (llvm::Error error = open.leaveScope(way, n_.scope(), resultsOf(graph), outputs_))
      return b_.fail(n_.importer().fatal(std::move(error))), false;
    return true;
  }
  if (n_.importer().isFatal())
    return b_.fail(inner.takeError()), false;
  open.drop(way, llvm::toString(inner.takeError()));
  n_.importer().symbols().forget(symbolsBefore);
  return true;
}

Tensors IfImport::run() {
  const ::onnx::GraphProto *graphs[] = {n_.graph("then_branch"), n_.graph("else_branch")};
  const Tensor &condition = n_.tensor(0);
  if (!condition || !graphs[0] || !graphs[1])
    return {};
  if (condition.element() != b_.boolType() || !condition.type.hasStaticShape() || condition.type.getNumElements() != 1)
    return n_.fail("the condition is " + describe(condition.shape()) + " of " + dtypeName(condition.element()),
                   "it is one bool"),
           Tensors();
  if (!fits(*graphs[0], "then_branch") || !fits(*graphs[1], "else_branch"))
    return {};
  if (std::optional<int64_t> known = condition.elements ? condition.elements->front().asConst() : std::nullopt)
    return importInPlace(*graphs[*known ? 0 : 1]);
  if (std::optional<bool> assumed = n_.scope().assumed(condition))
    return importInPlace(*graphs[*assumed ? 0 : 1]);

  llvm::StringRef name = llvm::cast<mlir::NameLoc>(b_.location()).getName();
  auto open = std::make_unique<OpenIf>(n_.importer(), "node " + quoted(name) + " (If)", b_.location(), condition,
                                       b_.reshape(n_.input(0), {}));
  if (!importWay(*graphs[0], *open, open->then()) || !importWay(*graphs[1], *open, open->otherwise()))
    return {};
  if (std::string fault = open->prune(); !fault.empty())
    return n_.fail(fault), Tensors();
  auto isNamed = [](const std::string &output) { return !output.empty(); };
  llvm::SmallVector<std::string> named = llvm::to_vector(llvm::make_filter_range(outputs_, isNamed));
  if (llvm::any_of(named, [&](const std::string &output) { return open->differs(output); })) {
    n_.leaveOpen(std::move(open));
    return {};
  }
  llvm::Expected<llvm::SmallVector<Tensor>> tensors = open->close(named, n_.scope().prefix());
  if (!tensors)
    return b_.fail(tensors.takeError()), Tensors();
  Tensors results;
  for (auto *next = tensors->begin(); const std::string &output : outputs_)
    results.push_back(output.empty() ? Tensor() : *next++);
  return results;
}

static Tensors ifOperator(Node &n, TensorBuilder &b) { return IfImport(n, b).run(); }

void kiln::import::onnx::addIf(Registry &r) { r.add("If", 1, ifOperator); }
