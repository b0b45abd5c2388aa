//===- ImportNodes.cpp - Graphs, nodes and calls ----------------------------===//
//
// A model is a list of nodes. Some hold further graphs (If, Loop) or call functions that the model defines. All are
// imported in place, into a scope of their own, whose names begin with the call's: a function that is called twice is
// imported twice. A file may say anything, so there are limits: on how deep graphs and calls nest, as each level takes
// some of the stack, and on the number of nodes, as functions that call functions multiply. An operator sees none of
// this. It is found by domain and name, checked against the opset, and any error that it leaves, an unread attribute
// included, gets the node's name in front.
//
//===------------------------------------------------------------------------===//
#include "import/DType.h"
#include "import/MemoryLimit.h"
#include "import/onnx/Compute.h"
#include "import/onnx/Importer.h"
#include "import/onnx/Node.h"
#include "import/onnx/NodeList.h"
#include "import/onnx/Registry.h"
#include "import/onnx/Unsupported.h"
#include "import/onnx/control/Sequence.h"
#include "import/onnx/text/Strings.h"
#include "ir/base/ObjectType.h"
#include "ir/graph/Source.h"
#include "support/Error.h"

using namespace kiln;
using namespace kiln::import;
using namespace kiln::import::onnx;
using llvm::StringRef;
using llvm::Twine;

/// A result of up to so many known elements is told in full.
static constexpr size_t kMostShown = 8;

static llvm::SmallVector<std::string>
namesOf(const google::protobuf::RepeatedPtrField<::onnx::ValueInfoProto> &values) {
  return llvm::map_to_vector(values, [](const ::onnx::ValueInfoProto &value) { return value.name(); });
}

llvm::Error Importer::importGraph(const ::onnx::GraphProto &graph, Scope &scope) {
  llvm::Expected<std::unique_ptr<OpenIf>> open = importOpenGraph(graph, scope);
  if (!open)
    return open.takeError();
  return *open ? (*open)->closeInto(scope, namesOf(graph.output())) : llvm::Error::success();
}

llvm::Expected<std::unique_ptr<OpenIf>> Importer::importOpenGraph(const ::onnx::GraphProto &graph, Scope &scope) {
  bool isMain = &graph == &file_.model().graph();
  bool haveDefaults = isMain && file_.model().ir_version() >= 4;
  llvm::StringSet<> inputs;
  for (const ::onnx::ValueInfoProto &input : graph.input())
    inputs.insert(input.name());
  llvm::StringSet<> names;
  auto define = [&](const std::string &name, const auto &initializer) -> llvm::Error {
    if (!names.insert(name).second)
      return failure("initializer " + quoted(name) + " is given twice", "give every initializer a name of its own");
    if (haveDefaults && inputs.contains(name))
      return llvm::Error::success();
    llvm::Expected<Constant> constant = file_.constant(builder_.getContext(), initializer);
    if (!constant)
      return constant.takeError();
    if (!scope.define(name, Tensor(constant->type, constant->data, scope.prefix() + name)))
      return failure("initializer " + quoted(name) + " has the name of an input", "give it a name of its own");
    if (options_.nodes)
      options_.nodes->try_emplace(scope.prefix() + name, ReadNode{ReadNode::Kind::Constant, ""});
    return llvm::Error::success();
  };
  for (const ::onnx::TensorProto &initializer : graph.initializer())
    if (llvm::Error error = define(initializer.name(), initializer))
      return fatal(std::move(error));
  for (const ::onnx::SparseTensorProto &initializer : graph.sparse_initializer())
    if (llvm::Error error = define(initializer.values().name(), initializer))
      return fatal(std::move(error));
  scope.declare(graph.value_info());
  scope.declare(graph.output());
  llvm::SmallVector<std::string> outputs = namesOf(graph.output());
  return NodeList(*this, graph.node(), scope, outputs, isMain).import();
}

llvm::Expected<std::unique_ptr<OpenIf>> Importer::importNode(const ::onnx::NodeProto &node, const std::string &name,
                                                             Scope &scope) {
  if (const ::onnx::FunctionProto *called = function(node))
    return importCall(node, name, *called, scope);
  return importOperator(node, name, scope);
}

/// What an operator of known results has been computed to: "[n, 64]", or their type.
static std::string textOf(const Tensor &known) {
  if (known.elements && known.elements->size() <= kMostShown)
    return written(*known.elements);
  return dtypeName(known.element()) + " " + written(known.shape());
}

static ReadNode readOperator(const std::string &name, llvm::ArrayRef<Tensor> results) {
  llvm::SmallVector<mlir::Value> values;
  std::string known;
  for (const Tensor &result : results)
    if (result.value)
      values.push_back(result.value);
    else if (result)
      known += (known.empty() ? "" : " and ") + textOf(result);
  if (values.empty() && !known.empty())
    return {ReadNode::Kind::Computed, known};
  return import::readNode(name, values);
}

void Importer::note(const std::string &name, ReadNode read, const ::onnx::NodeProto &node, const Scope &scope) {
  if (!options_.nodes)
    return;
  for (const std::string &output : node.output())
    if (!output.empty())
      read.outputs.push_back(scope.prefix() + output);
  options_.nodes->insert_or_assign(name, std::move(read));
}

/// Most operators take only tensors of numbers.
static llvm::Error checkKind(const ::onnx::NodeProto &node, StringRef input, const Tensor *given) {
  if (!given || !*given || !isObject(given->element()))
    return llvm::Error::success();
  if (!isContainer(given->element()) && !takesStrings(node.op_type()))
    return failure("input " + quoted(input) + " is of strings", "the operator takes numbers");
  if (isContainer(given->element()) && !takesContainers(node.op_type()))
    return failure("input " + quoted(input) + " is " + dtypeName(given->element()), "the operator takes tensors");
  return llvm::Error::success();
}

llvm::Error Importer::checkOperator(const ::onnx::NodeProto &proto, Scope &scope) const {
  const Registry::Row *row = Registry::all().find(proto.domain(), proto.op_type());
  if (!row)
    return unsupportedOperators(file_.model().graph(), [&](const ::onnx::NodeProto &node) { return function(node); });
  if (proto.output_size() == 0) // its name is part of those of symbols and weights
    return failure("it has no output", "remove it");
  int64_t opset = scope.opset(proto.domain());
  if (opset == 0)
    return failure("the model imports no opset of domain " + quoted(proto.domain()), "add it to opset_import");
  if (opset < row->since)
    return failure(quoted(proto.op_type()) + " came with opset " + Twine(row->since) + "; the model imports " +
                       Twine(opset),
                   "export the model with a newer opset");
  for (const std::string &input : proto.input()) {
    const Tensor *given = scope.find(input);
    if (!given && !input.empty())
      return failure("input " + quoted(input) + " is undefined", "no node, input or initializer gives it");
    if (llvm::Error error = checkKind(proto, input, given))
      return error;
  }
  return llvm::Error::success();
}

llvm::Expected<std::unique_ptr<OpenIf>> Importer::importOperator(const ::onnx::NodeProto &proto,
                                                                 const std::string &name, Scope &scope) {
  if (llvm::Error error = checkOperator(proto, scope))
    return fatal(std::move(error));
  TensorBuilder b(builder_, mlir::NameLoc::get(builder_.getStringAttr(name)), commonSizes_);
  Node node(*this, scope, proto, b);
  if (node.opset() < 6)
    node.ignore({"consumed_inputs"}); // a hint of the first opset, on most operators that it had
  NodeOps ops(*this);
  Tensors results = Registry::all().find(proto.domain(), proto.op_type())->import(node, b);
  if (!differing_)
    differing_ = b.differing();
  if (llvm::Error error = b.takeError())
    return error;
  if (StringRef unread = node.unread(); !unread.empty())
    return fatal(failure("attribute " + quoted(unread) + " is not known in opset " + Twine(node.opset()), "remove it"));
  if (std::unique_ptr<OpenIf> open = node.takeOpen()) {
    note(name, {ReadNode::Kind::Made, ""}, proto, scope);
    return open;
  }
  ops.compute(results,
              llvm::map_to_vector(proto.output(), [&](const std::string &output) { return scope.prefix() + output; }),
              b);
  if (llvm::Error error = b.takeError())
    return error;
  // A value that a node passes on, as Identity does, keeps its name.
  for (auto [output, result] : llvm::zip(proto.output(), results))
    if (mlir::Operation *made = result.value ? result.value.getDefiningOp() : nullptr;
        made && made->getLoc() == b.location())
      made->setLoc(graph::locationOf({builder_.getStringAttr(name), builder_.getStringAttr(scope.prefix() + output)}));
  if (options_.nodes)
    note(name, readOperator(name, results), proto, scope);
  if (llvm::Error error = defineOutputs(proto, results, scope))
    return error;
  return nullptr;
}

llvm::Error Importer::defineOutputs(const ::onnx::NodeProto &node, llvm::ArrayRef<Tensor> results, Scope &scope) {
  if (node.output_size() > int(results.size()))
    return failure("it has " + Twine(node.output_size()) + " outputs where the operator gives " + Twine(results.size()),
                   "leave the others out");
  for (auto [name, result] : llvm::zip_first(node.output(), results)) {
    if (name.empty())
      continue;
    assert(result && "an importer without a failure gives every output");
    if (llvm::Error error = checkMemory(result.shape(), result.element(), options_.memoryLimit))
      return error;
    if (!scope.define(name, result))
      return failure("output " + quoted(name) + " is made twice", "give every output a name of its own");
  }
  return llvm::Error::success();
}

//===----------------------------------------------------------------------===//
// Functions of the model
//===----------------------------------------------------------------------===//

static std::string functionKey(StringRef domain, StringRef name, StringRef overload) {
  return ((domain == "ai.onnx" ? "" : domain) + "\n" + name + "\n" + overload).str();
}

llvm::Error Importer::indexFunctions() {
  for (const ::onnx::FunctionProto &function : file_.model().functions())
    if (!functions_.try_emplace(functionKey(function.domain(), function.name(), function.overload()), &function).second)
      return failure("function " + quoted(function.name()) + " is defined twice", "give each a name of its own");
  return llvm::Error::success();
}

const ::onnx::FunctionProto *Importer::function(const ::onnx::NodeProto &node) const {
  return functions_.lookup(functionKey(node.domain(), node.op_type(), node.overload()));
}

llvm::Expected<std::unique_ptr<OpenIf>> Importer::importCall(const ::onnx::NodeProto &node, const std::string &name,
                                                             const ::onnx::FunctionProto &function, Scope &scope) {
  if (llvm::is_contained(calls_, &function))
    return fatal(failure("function " + quoted(function.name()) + " calls itself", "use a Loop"));
  if (node.input_size() > function.input_size() || node.output_size() > function.output_size())
    return fatal(failure("the function has " + Twine(function.input_size()) + " inputs and " +
                             Twine(function.output_size()) + " outputs, the call " + Twine(node.input_size()) +
                             " and " + Twine(node.output_size()),
                         "make them agree"));
  note(name, {ReadNode::Kind::Call, ""}, node, scope);
  Scope inner(name + "/");
  inner.setCaller(scope);
  for (const ::onnx::OperatorSetIdProto &import : function.opset_import())
    inner.setOpset(import.domain(), import.version());
  for (int i = 0; i < function.input_size(); ++i) {
    Tensor argument; // a null one means an input that the call leaves out
    if (i < node.input_size() && !node.input(i).empty()) {
      const Tensor *found = scope.find(node.input(i));
      if (!found)
        return fatal(
            failure("input " + quoted(node.input(i)) + " is undefined", "no node, input or initializer gives it"));
      argument = *found;
    }
    if (!inner.define(function.input(i), std::move(argument)))
      return fatal(
          failure("parameter " + quoted(function.input(i)) + " is given twice", "give each a name of its own"));
  }
  for (const ::onnx::AttributeProto &standard : function.attribute_proto())
    inner.setArgument(standard.name(), &standard);
  for (const ::onnx::AttributeProto &given : node.attribute()) {
    // A call within a function can hand on an attribute of its own call.
    const ::onnx::AttributeProto *argument =
        given.ref_attr_name().empty() ? &given : scope.argument(given.ref_attr_name());
    if (argument)
      inner.setArgument(given.name(), argument);
  }
  inner.declare(function.value_info());
  calls_.push_back(&function);
  llvm::SmallVector<std::string> outputs(function.output().begin(), function.output().end());
  llvm::Expected<std::unique_ptr<OpenIf>> open =
      NodeList(*this, function.node(), inner, outputs, /*isMain=*/false).import();
  calls_.pop_back();
  if (!open)
    return open.takeError();
  if (*open) {
    llvm::SmallVector<std::string> results(node.output().begin(), node.output().end());
    if (llvm::Error error = (*open)->leaveScope(scope, outputs, results))
      return error;
    return open;
  }
  llvm::SmallVector<Tensor> results;
  for (const std::string &output : function.output()) {
    const Tensor *found = inner.find(output);
    if (!found || !*found)
      return failure("the function's output " + quoted(output) + " is undefined", "no node of it gives it");
    results.push_back(*found);
  }
  if (llvm::Error error = defineOutputs(node, results, scope))
    return error;
  return nullptr;
}
