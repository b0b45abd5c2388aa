//===- Scan.cpp - A graph run on each slice along an axis -------------------===//
//
// The states go from slice to slice as a loop's carried tensors do, and keep their shapes. A slice is a view at the
// iteration's number, and the loop stacks the body's results. If the slices are along another axis or are taken from
// the end, that is a view of the whole, before or after.
//
//===----------------------------------------------------------------------===//
#include "import/onnx/control/Scan.h"

#include "import/DType.h"
#include "import/onnx/Importer.h"
#include "import/onnx/control/CountedLoop.h"
#include "import/onnx/file/ModelFile.h"

using namespace kiln;
using namespace kiln::import;
using namespace kiln::import::onnx;
using llvm::Twine;
using mlir::Value;
using Values = llvm::SmallVector<Value>;

namespace {
class ScanImport {
public:
  ScanImport(Node &n, TensorBuilder &b, const ::onnx::GraphProto &graph, size_t scanned);
  /// Reads the attributes that describe the slices; false after a failure.
  bool readAttributes();
  size_t states() const { return states_; }
  size_t scanned() const { return axes_.size(); }
  /// The states after the last slice, then the slices' results, stacked; nothing after a failure.
  Values run(llvm::ArrayRef<Value> states, llvm::ArrayRef<Value> scanned);

private:
  /// An attribute with a number for each input or output; 0 if it is not given.
  llvm::SmallVector<int64_t> numbers(llvm::StringRef name, size_t count);
  Value slice(Value x, size_t index, const Iteration &step);
  IterationResult iterate(llvm::ArrayRef<Value> scanned, const Iteration &step);
  /// The body's outputs for these inputs; nothing after a failure.
  Values call(llvm::ArrayRef<Value> inputs);

  Node &n_;
  TensorBuilder &b_;
  const ::onnx::GraphProto &graph_;
  size_t states_ = 0, outputs_ = 0;
  llvm::SmallVector<int64_t> axes_, backwards_, outputAxes_, outputBackwards_;
};
} // namespace

ScanImport::ScanImport(Node &n, TensorBuilder &b, const ::onnx::GraphProto &graph, size_t scanned)
    : n_(n), b_(b), graph_(graph), axes_(scanned) {}

llvm::SmallVector<int64_t> ScanImport::numbers(llvm::StringRef name, size_t count) {
  llvm::SmallVector<int64_t> given = n_.hasAttr(name) ? n_.integers(name) : llvm::SmallVector<int64_t>(count);
  if (given.size() != count)
    n_.fail("attribute " + quoted(name) + " has " + Twine(given.size()) + " numbers where " + Twine(count) +
                " are needed",
            "give one for each");
  given.resize(count);
  return given;
}

bool ScanImport::readAttributes() {
  bool hasBatch = n_.opset() < 9;
  size_t given = n_.numInputs() - hasBatch, scanned = axes_.size();
  if (scanned == 0 || scanned > given || size_t(graph_.input_size()) != given)
    return n_.fail("its body has " + Twine(graph_.input_size()) + " inputs for " + Twine(given) +
                       " tensors, of which " + Twine(scanned) + " are scanned",
                   "make them agree"),
           false;
  states_ = given - scanned;
  if (size_t(graph_.output_size()) < states_)
    return n_.fail("its body gives " + Twine(graph_.output_size()) + " outputs for " + Twine(states_) + " states",
                   "it needs one for each"),
           false;
  outputs_ = graph_.output_size() - states_;
  backwards_ = numbers(hasBatch ? "directions" : "scan_input_directions", scanned);
  if (!hasBatch)
    axes_ = numbers("scan_input_axes", scanned);
  outputAxes_ = hasBatch ? llvm::SmallVector<int64_t>(outputs_) : numbers("scan_output_axes", outputs_);
  outputBackwards_ = hasBatch ? llvm::SmallVector<int64_t>(outputs_) : numbers("scan_output_directions", outputs_);
  return b_.ok();
}

Values ScanImport::call(llvm::ArrayRef<Value> inputs) {
  Scope scope(n_.scope());
  for (auto [declared, input] : llvm::zip(graph_.input(), inputs)) {
    if (!input)
      return {};
    if (!scope.define(declared.name(), input))
      return n_.fail("the body's input " + quoted(declared.name()) + " is given twice",
                     "give every input a name of its own"),
             Values();
  }
  if (llvm::Error error = n_.importer().importGraph(graph_, scope))
    return b_.fail(std::move(error)), Values();
  llvm::Expected<llvm::SmallVector<Tensor>> outputs = n_.importer().outputs(graph_, scope);
  if (!outputs)
    return b_.fail(outputs.takeError()), Values();
  return llvm::map_to_vector(
      *outputs, [&](const Tensor &output) { return n_.importer().materialize(output, scope, b_, /*isNamed=*/false); });
}

/// x at one place of an axis. For an axis without elements, whose loop makes no step, zeros that give the body its
/// shapes.
static Value sliceAt(TensorBuilder &b, Value x, int64_t axis, Expr at) {
  if (!x || b.dim(x, axis).max() > 0)
    return b.squeeze(b.narrow(x, axis, at, at + 1), {axis});
  Shape sizes = b.shape(x);
  sizes.erase(sizes.begin() + axis);
  return b.constant(0, b.element(x), sizes);
}

Value ScanImport::slice(Value x, size_t index, const Iteration &step) {
  Expr at = backwards_[index] ? b_.dim(x, axes_[index]) - 1 - step.index : step.index;
  return sliceAt(b_, x, axes_[index], at);
}

IterationResult ScanImport::iterate(llvm::ArrayRef<Value> scanned, const Iteration &step) {
  size_t symbols = n_.importer().symbols().count();
  Values inputs(step.carried);
  for (auto [index, x] : llvm::enumerate(scanned))
    inputs.push_back(slice(x, index, step));
  Values outputs = call(inputs);
  if (!b_.ok() || outputs.empty())
    return {};
  IterationResult result;
  for (auto [index, state] : llvm::enumerate(step.carried)) {
    Value next = outputs[index];
    Shape shape = b_.shape(state), after = b_.shape(next);
    bool same = b_.element(next) == b_.element(state) && shape.size() == after.size();
    for (size_t axis = 0; same && axis < shape.size(); ++axis) {
      Value taken = b_.takeSize(next, axis, shape[axis], "keep a state");
      same = bool(taken);
      next = same ? taken : next;
    }
    if (!same)
      return n_.fail("state " + Twine(index) + " is " + describe(shape) + " of " + dtypeName(b_.element(state)) +
                         " and becomes " + describe(after) + " of " + dtypeName(b_.element(next)),
                     "shape and dtype have to stay the same"),
             IterationResult();
    result.carried.push_back(b_.reshape(next, shape));
  }
  result.slices.append(outputs.begin() + states_, outputs.end());
  for (Value made : result.slices)
    for (Expr size : b_.shape(made))
      if (n_.importer().symbols().isNewer(size, symbols))
        n_.fail("a slice of size " + size.print() + ", which changes between iterations, cannot be stacked",
                "every iteration has to give slices of one size");
  return result;
}

Values ScanImport::run(llvm::ArrayRef<Value> states, llvm::ArrayRef<Value> scanned) {
  for (auto [axis, x] : llvm::zip(axes_, scanned)) {
    std::optional<int64_t> at = b_.normalizeAxis(axis, b_.rank(x));
    if (!at)
      return {};
    axis = *at;
  }
  Expr trips = b_.dim(scanned[0], axes_[0]);
  for (auto [axis, x] : llvm::zip(axes_, scanned))
    if (!view::provablyEqual(trips, b_.dim(x, axis)))
      return n_.fail("its inputs have " + trips.print() + " and " + b_.dim(x, axis).print() + " slices",
                     "they need as many"),
             Values();
  Values results = countedLoop(n_, trips, states, [&](const Iteration &step) { return iterate(scanned, step); });
  if (!b_.ok() || results.size() != states_ + outputs_)
    return {};
  for (size_t i = 0; i < outputs_; ++i) {
    Value &stacked = results[states_ + i];
    if (outputBackwards_[i])
      stacked = b_.flip(stacked, {0});
    std::optional<int64_t> axis = b_.normalizeAxis(outputAxes_[i], b_.rank(stacked));
    if (!axis)
      return {};
    llvm::SmallVector<int64_t> order;
    for (int64_t from = 1; from < b_.rank(stacked); ++from)
      order.push_back(from);
    order.insert(order.begin() + *axis, 0);
    stacked = b_.permute(stacked, order);
  }
  return results;
}

Tensors kiln::import::onnx::scan(Node &n, TensorBuilder &b) {
  const ::onnx::GraphProto *graph = n.graph("body");
  int64_t scanned = n.integer("num_scan_inputs");
  if (!graph || !b.ok())
    return {};
  bool hasBatch = n.opset() < 9;
  if (hasBatch && n.has(0))
    return n.fail("sequence lengths are not supported", "leave input 0 out"), Tensors();
  ScanImport import(n, b, *graph, std::max<int64_t>(scanned, 0));
  if (!import.readAttributes())
    return {};
  Values inputs = n.inputs(hasBatch);
  if (!b.ok())
    return {};
  llvm::ArrayRef<Value> all(inputs);
  if (!hasBatch) {
    Values results = import.run(all.take_front(import.states()), all.drop_front(import.states()));
    return Tensors(results.begin(), results.end());
  }
  // The first opset that had it scans axis 1 of each entry of a batch for itself.
  Values results = countedLoop(n, b.dim(all[0], 0), {}, [&](const Iteration &entry) {
    auto entryOf = [&](Value x) { return sliceAt(b, x, 0, entry.index); };
    Values given = llvm::map_to_vector(all, entryOf);
    llvm::ArrayRef<Value> split(given);
    return IterationResult{{}, import.run(split.take_front(import.states()), split.drop_front(import.states()))};
  });
  return Tensors(results.begin(), results.end());
}
