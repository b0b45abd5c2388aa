//===- SequenceMap.cpp - A graph for each tensor of a sequence ---------------===//
//
// If the sequence's length is known and small, the graph is imported for each of its tensors, whose sizes may then all
// differ. Otherwise SequenceMap is the Loop by which ONNX defines it: it takes a tensor of each sequence, and appends
// the graph's results to other sequences. That Loop is written as ONNX nodes and imported as if the model had it, since
// Loop already handles sequences that grow.
//
//===-------------------------------------------------------------------------===//
#include "import/onnx/Importer.h"
#include "import/onnx/Registry.h"
#include "import/onnx/control/Sequence.h"
#include "ir/base/ObjectType.h"

#include "mlir/IR/TypeUtilities.h"

using namespace kiln;
using namespace kiln::import;
using namespace kiln::import::onnx;
using llvm::Twine;

/// More copies of a graph than this are not made.
static constexpr size_t kMostCopies = 64;

static bool isSequence(const Tensor &tensor) { return llvm::isa<SequenceType>(tensor.element()); }

/// The length of the sequences, if it is known and small; a failure is noted if lengths differ.
static std::optional<size_t> knownLength(Node &n) {
  std::optional<size_t> length;
  for (int i = 0; i < n.numInputs(); ++i) {
    const Tensor &input = n.tensor(i);
    if (!isSequence(input))
      continue;
    if (!input.items)
      return std::nullopt;
    if (length && *length != input.items->size()) {
      n.fail("sequences of " + Twine(*length) + " and " + Twine(input.items->size()) + " tensors",
             "they need as many each");
      return std::nullopt;
    }
    length = input.items->size();
  }
  return length && *length <= kMostCopies ? length : std::nullopt;
}

static Tensors copies(Node &n, TensorBuilder &b, const ::onnx::GraphProto &body, size_t length) {
  std::vector<std::vector<Tensor>> results(body.output_size());
  for (size_t step = 0; step < length; ++step) {
    Scope scope(n.scope());
    for (int i = 0; i < n.numInputs(); ++i) {
      const Tensor &input = n.tensor(i);
      if (!scope.define(body.input(i).name(), isSequence(input) ? (*input.items)[step] : input))
        return n.fail("graph 'body' has an input twice", "give every input a name of its own"), Tensors();
    }
    if (llvm::Error error = n.importer().importGraph(body, scope))
      return b.fail(std::move(error)), Tensors();
    llvm::Expected<llvm::SmallVector<Tensor>> outputs = n.importer().outputs(body, scope);
    if (!outputs)
      return b.fail(outputs.takeError()), Tensors();
    for (auto [result, output] : llvm::zip(results, *outputs))
      result.push_back(output);
  }
  Tensors sequences;
  for (auto [index, items] : llvm::enumerate(results)) {
    mlir::Type dtype = b.float32();
    if (!items.empty())
      dtype = items.front().element();
    else if (llvm::Expected<mlir::Type> declared = declaredType(dtype.getContext(), body.output(index).type()))
      dtype = mlir::getElementTypeOrSelf(heldTensor(*declared));
    else
      llvm::consumeError(declared.takeError());
    sequences.push_back(sequenceOf(n, dtype, std::move(items)));
  }
  return sequences;
}

//===----------------------------------------------------------------------===//
// As a Loop
//===----------------------------------------------------------------------===//

static ::onnx::NodeProto &addNode(::onnx::GraphProto &graph, const char *op, std::initializer_list<std::string> inputs,
                                  std::initializer_list<std::string> outputs) {
  ::onnx::NodeProto &node = *graph.add_node();
  node.set_op_type(op);
  for (const std::string &input : inputs)
    node.add_input(input);
  for (const std::string &output : outputs)
    node.add_output(output);
  return node;
}

static void setBool(::onnx::NodeProto &constant, bool value) {
  ::onnx::AttributeProto &attribute = *constant.add_attribute();
  attribute.set_name("value");
  attribute.set_type(::onnx::AttributeProto::TENSOR);
  attribute.mutable_t()->set_data_type(::onnx::TensorProto::BOOL);
  attribute.mutable_t()->add_int32_data(value);
}

/// The graph that a SequenceMap means; its names begin with `own`, which no other does.
static ::onnx::GraphProto loopGraph(Node &n, const ::onnx::GraphProto &body, const std::string &own) {
  ::onnx::GraphProto graph;
  addNode(graph, "SequenceLength", {n.proto().input(0)}, {own + "length"});
  setBool(addNode(graph, "Constant", {}, {own + "always"}), true);
  for (int i = 0; i < body.output_size(); ++i) {
    ::onnx::AttributeProto &dtype =
        *addNode(graph, "SequenceEmpty", {}, {own + "empty" + std::to_string(i)}).add_attribute();
    dtype.set_name("dtype");
    dtype.set_type(::onnx::AttributeProto::INT);
    int32_t declared = body.output(i).type().tensor_type().elem_type();
    dtype.set_i(declared ? declared : int32_t(::onnx::TensorProto::FLOAT));
  }
  ::onnx::NodeProto &loop = addNode(graph, "Loop", {own + "length", own + "always"}, {});
  ::onnx::AttributeProto &attribute = *loop.add_attribute();
  attribute.set_name("body");
  attribute.set_type(::onnx::AttributeProto::GRAPH);
  ::onnx::GraphProto &step = *attribute.mutable_g();
  step.add_input()->set_name(own + "step");
  step.add_input()->set_name(own + "goes");
  step.add_output()->set_name(own + "goes");
  for (int i = 0; i < n.numInputs(); ++i) {
    // The graph may give its input the name that the model gives the sequence.
    std::string given = own + "given" + std::to_string(i);
    addNode(graph, "Identity", {n.proto().input(i)}, {given});
    if (isSequence(n.tensor(i))) {
      addNode(step, "SequenceAt", {given, own + "step"}, {body.input(i).name()});
      *step.add_value_info() = body.input(i);
    } else {
      addNode(step, "Identity", {given}, {body.input(i).name()});
    }
  }
  step.mutable_value_info()->MergeFrom(body.value_info());
  *step.mutable_initializer() = body.initializer();
  step.mutable_node()->MergeFrom(body.node());
  for (int i = 0; i < body.output_size(); ++i) {
    std::string number = std::to_string(i);
    loop.add_input(own + "empty" + number);
    loop.add_output(own + "all" + number);
    step.add_input()->set_name(own + "before" + number);
    step.add_output()->set_name(own + "after" + number);
    addNode(step, "SequenceInsert", {own + "before" + number, body.output(i).name()}, {own + "after" + number});
    graph.add_output()->set_name(own + "all" + number);
  }
  return graph;
}

static Tensors sequenceMap(Node &n, TensorBuilder &b) {
  const ::onnx::GraphProto *body = n.graph("body");
  if (!body || !n.has(0) || !n.tensor(0))
    return {};
  if (!isSequence(n.tensor(0)))
    return n.fail("input 0 is not a sequence", "give it one"), Tensors();
  if (body->input_size() != n.numInputs())
    return n.fail("graph 'body' has " + Twine(body->input_size()) + " inputs where " + Twine(n.numInputs()) +
                  " are needed"),
           Tensors();
  for (int i = 0; i < n.numInputs(); ++i)
    if (!n.tensor(i))
      return {};
  std::optional<size_t> length = knownLength(n);
  if (!b.ok())
    return {};
  if (length)
    return copies(n, b, *body, *length);
  ::onnx::GraphProto graph = loopGraph(n, *body, "SequenceMap/" + n.proto().output(0) + "/");
  Scope scope(n.scope());
  if (llvm::Error error = n.importer().importGraph(graph, scope))
    return b.fail(std::move(error)), Tensors();
  llvm::Expected<llvm::SmallVector<Tensor>> outputs = n.importer().outputs(graph, scope);
  if (!outputs)
    return b.fail(outputs.takeError()), Tensors();
  return Tensors(outputs->begin(), outputs->end());
}

void kiln::import::onnx::addSequenceMap(Registry &r) { r.add("SequenceMap", 17, sequenceMap); }
