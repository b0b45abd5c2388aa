//===- GraphImporter.cpp - Inputs, weights, then each node after its inputs -------===//
//
// The schema has made sure of a document's form. This checks the rest: that each name is made once, that nodes make no
// cycle, that a run can know each symbol. Nodes may be in any order. They are imported depth first with a stack of
// their own, since a chain may be longer than the machine's.
//
//===----------------------------------------------------------------------===//

#include "import/json/GraphImporter.h"

#include "import/DType.h"
#include "import/MemoryLimit.h"
#include "import/json/InlineData.h"
#include "import/json/Operators.h"
#include "ir/graph/DeadOps.h"
#include "ir/graph/Source.h"
#include "support/Error.h"

#include "mlir/IR/Verifier.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Path.h"

using namespace kiln;
using namespace kiln::import;
using namespace kiln::import::json;
using namespace mlir;
using llvm::StringRef;
using llvm::Twine;

GraphImporter::GraphImporter(MLIRContext &context, const Json &document, StringRef folder, const ImportOptions &options)
    : context_(context), document_(document), folder_(folder), options_(options), symbols_(options),
      opBuilder_(&context), builder_(opBuilder_, UnknownLoc::get(&context), commonSizes_) {}

Location GraphImporter::locationOf(StringRef name) const { return NameLoc::get(StringAttr::get(&context_, name)); }

std::string GraphImporter::nodeName(size_t index) const {
  const Json &node = document_["nodes"][index];
  if (node.contains("name"))
    return node["name"];
  if (node.contains("output"))
    return node["output"];
  return node.contains("outputs") && !node["outputs"].empty() ? node["outputs"][0].get<std::string>()
                                                              : std::to_string(index);
}

llvm::Error GraphImporter::inNode(size_t index, llvm::Error error) const {
  if (!error)
    return error;
  StringRef op = document_["nodes"][index]["op"].get_ref<const std::string &>();
  return failure("node '" + nodeName(index) + "' (" + op + "): " + llvm::toString(std::move(error)));
}

llvm::Error GraphImporter::define(StringRef name, Definition definition) {
  if (definitions_.try_emplace(name, definition).second)
    return llvm::Error::success();
  return failure("the name '" + name + "' is defined twice", "give each tensor a name of its own");
}

llvm::Expected<Shape> GraphImporter::readShape(const Json &sizes) {
  Shape shape;
  for (const Json &size : sizes) {
    llvm::Expected<Expr> parsed = size.is_string() ? symbols_.parse(size.get_ref<const std::string &>())
                                                   : llvm::Expected<Expr>(size.get<int64_t>());
    if (!parsed)
      return parsed.takeError();
    if (parsed->max() < 0)
      return failure("the size " + parsed->print() + " is negative", "sizes count elements");
    shape.push_back(*parsed);
  }
  return shape;
}

llvm::Expected<Type> GraphImporter::readDType(const Json &holder) const {
  StringRef name = holder["dtype"].get_ref<const std::string &>();
  if (Type type = parseDType(&context_, name))
    return type;
  return failure("unknown dtype '" + name + "'", "dtypes are " + dtypeNames());
}

llvm::Error GraphImporter::declareSymbols() {
  if (!document_.contains("symbols"))
    return llvm::Error::success();
  for (const auto &[name, given] : document_["symbols"].items()) {
    SymbolBounds bounds;
    bounds.min = given.value("min", bounds.min);
    bounds.max = given.value("max", bounds.max);
    bounds.value = given.value("default", std::clamp(bounds.value, bounds.min, std::max(bounds.min, bounds.max)));
    auto wrong = [&](const Twine &cause, const Twine &remedy) {
      return failure("symbol '" + name + "': " + cause, remedy);
    };
    if (bounds.min > bounds.max)
      return wrong("the least size, " + Twine(bounds.min) + ", is above the largest, " + Twine(bounds.max),
                   "give min and max in order");
    if (bounds.max > view::kMaxDim)
      return wrong("a size of " + Twine(bounds.max) + " is too large",
                   "let max be " + Twine(view::kMaxDim) + " or less");
    if (bounds.value < bounds.min || bounds.value > bounds.max)
      return wrong("the default, " + Twine(bounds.value) + ", is not between " + Twine(bounds.min) + " and " +
                       Twine(bounds.max),
                   "give one that is");
    symbols_.declare(name, bounds);
  }
  return llvm::Error::success();
}

llvm::Error GraphImporter::readInputs() {
  Block &body = function_.getBody().front();
  commonSizes_.bindIn(body);
  for (const Json &input : document_["inputs"]) {
    StringRef name = input["name"].get_ref<const std::string &>();
    auto inInput = [&](llvm::Error error) {
      return failure("input '" + name + "': " + llvm::toString(std::move(error)));
    };
    llvm::Expected<Type> element = readDType(input);
    if (!element)
      return inInput(element.takeError());
    llvm::Expected<Shape> shape = readShape(input["shape"]);
    if (!shape)
      return inInput(shape.takeError());
    if (llvm::Error error = checkMemory(*shape, *element, options_.memoryLimit))
      return inInput(std::move(error));
    Value argument = body.addArgument(tensorType(*shape, *element), locationOf(name));
    NamedAttrList attributes;
    attributes.set(graph::kNameAttr, opBuilder_.getStringAttr(name));
    if (input.contains("value")) {
      // A run that gives no input takes its sizes from the shape.
      for (Expr size : *shape)
        if (!size.isConst())
          return inInput(failure("a value's shape is fixed, but its size " + size.print() + " is not",
                                 "write the size as a number, or fix it with --dim"));
      auto sizes = llvm::map_to_vector(*shape, [](Expr size) { return size.constant(); });
      llvm::Expected<DenseElementsAttr> value = readInlineData(input["value"], sizes, *element);
      if (!value)
        return inInput(value.takeError());
      attributes.set(graph::kValueAttr, *value);
    }
    inputAttributes_.push_back(attributes.getDictionary(&context_));
    if (llvm::Error error = define(name, {argument, std::nullopt}))
      return error;
  }
  return llvm::Error::success();
}

/// Remembers which node makes each tensor.
llvm::Error GraphImporter::indexNodes() {
  for (const auto &[index, node] : llvm::enumerate(document_["nodes"])) {
    bool one = node.contains("output"), many = node.contains("outputs") && !node["outputs"].empty();
    if (one == node.contains("outputs") || (!one && !many))
      return inNode(index, failure("it has " + Twine(one ? "both output and outputs" : "no output"),
                                   "name the result in output, or the results in outputs"));
    if (node.contains("output")) {
      if (llvm::Error error = define(node["output"].get_ref<const std::string &>(), {Value(), index}))
        return inNode(index, std::move(error));
      continue;
    }
    for (const Json &output : node["outputs"])
      if (llvm::Error error = define(output.get_ref<const std::string &>(), {Value(), index}))
        return inNode(index, std::move(error));
  }
  return llvm::Error::success();
}

llvm::Error GraphImporter::cycleThrough(ArrayRef<size_t> open, size_t again) const {
  std::string names;
  for (size_t index : open.drop_until([&](size_t index) { return index == again; }))
    names += "'" + nodeName(index) + "' -> ";
  return inNode(again, failure("the nodes form a cycle: " + names + "'" + nodeName(again) + "'",
                               "a node must not need its own result"));
}

/// Nodes may be in any order: each is imported after those that it reads.
llvm::Error GraphImporter::importNodes() {
  const Json &nodes = document_["nodes"];
  std::vector<Progress> progress(nodes.size(), Progress::Waiting);
  for (size_t root = 0; root < nodes.size(); ++root) {
    SmallVector<size_t> open;
    if (progress[root] == Progress::Waiting)
      open.push_back(root);
    while (!open.empty()) {
      size_t index = open.back();
      progress[index] = Progress::Open;
      std::optional<size_t> needed;
      for (const Json &input : nodes[index].value("inputs", Json::array())) {
        if (!input.is_string())
          continue;
        auto definition = definitions_.find(input.get_ref<const std::string &>());
        if (definition == definitions_.end())
          return inNode(index, failure("the name '" + input.get<std::string>() + "' is not defined",
                                       "make it an input, a weight or a node's output"));
        std::optional<size_t> maker = definition->second.node;
        if (!maker || progress[*maker] == Progress::Done)
          continue;
        if (progress[*maker] == Progress::Open)
          return cycleThrough(open, *maker);
        needed = needed ? needed : maker;
      }
      if (needed) {
        open.push_back(*needed);
        continue;
      }
      if (llvm::Error error = importNode(index))
        return inNode(index, std::move(error));
      progress[index] = Progress::Done;
      open.pop_back();
    }
  }
  return llvm::Error::success();
}

llvm::Error GraphImporter::importNode(size_t index) {
  const Json &json = document_["nodes"][index];
  std::string name = nodeName(index);
  builder_.setLocation(locationOf(name));
  SmallVector<Value> tensors;
  if (json.contains("inputs"))
    for (const Json &input : json["inputs"])
      tensors.push_back(input.is_string() ? definitions_[input.get_ref<const std::string &>()].value : Value());
  Node node(json, builder_, symbols_, name, tensors);
  SmallVector<Value> results = buildOperator(json["op"].get_ref<const std::string &>(), json, node);
  if (llvm::Error error = builder_.takeError())
    return error;
  for (auto [position, result] : llvm::enumerate(results)) {
    assert(result && "a null result comes with a failure");
    const Json &output = json.contains("output") ? json["output"] : json["outputs"][position];
    StringRef tensor = output.get_ref<const std::string &>();
    // A value that a node passes on keeps its name.
    if (Operation *made = result.getDefiningOp(); made && made->getLoc() == builder_.location())
      made->setLoc(graph::locationOf({StringAttr::get(&context_, name), StringAttr::get(&context_, tensor)}));
    if (llvm::Error error = checkMemory(shapeOf(result), TensorBuilder::element(result), options_.memoryLimit))
      return error;
    definitions_[tensor].value = result;
  }
  if (options_.nodes)
    noteNode(name, json, results);
  return llvm::Error::success();
}

void GraphImporter::noteNode(const std::string &name, const Json &json, ArrayRef<Value> results) {
  ReadNode node = readNode(name, results);
  if (json.contains("output"))
    node.outputs.push_back(json["output"]);
  else
    node.outputs = json["outputs"].get<std::vector<std::string>>();
  options_.nodes->insert_or_assign(name, std::move(node));
}

/// A run knows a symbol's value from the size of an input's axis, if it does not read it.
llvm::Error GraphImporter::checkSymbolsAreInputSizes() {
  llvm::DenseSet<StringRef> bound;
  for (Value argument : function_.getArguments())
    for (Expr size : shapeOf(argument))
      if (size.kind() == Expr::Kind::Var)
        bound.insert(size.name());
  function_.walk([&](graph::BindOp bind) { bound.insert(bind.getSymbol().getName()); });
  for (StringRef name : symbols_.names())
    if (!bound.contains(name))
      return failure("the symbol '" + name + "' is the size of no input's axis",
                     "give an input an axis of this size, or fix it, for example with --dim " + name + "=1");
  return llvm::Error::success();
}

llvm::Error GraphImporter::finish() {
  const Json &outputs = document_["outputs"];
  if (outputs.empty())
    return failure("the graph has no output", "name one or more tensors in outputs");
  if (llvm::Error error = checkSymbolsAreInputSizes())
    return error;
  if (llvm::Error error = symbols_.checkDeclared())
    return error;
  if (llvm::Error error = symbols_.checkNames())
    return error;
  SmallVector<Value> values;
  SmallVector<Attribute> attributes;
  llvm::StringSet<> seen;
  for (const Json &output : outputs) {
    StringRef name = output.get_ref<const std::string &>();
    auto definition = definitions_.find(name);
    if (definition == definitions_.end())
      return failure("the output '" + name + "' is not defined", "name an input, a weight or a node's output");
    if (!seen.insert(name).second)
      return failure("the output '" + name + "' is named twice", "name it once");
    values.push_back(definition->second.value);
    attributes.push_back(
        opBuilder_.getDictionaryAttr(opBuilder_.getNamedAttr(graph::kNameAttr, opBuilder_.getStringAttr(name))));
  }
  func::ReturnOp::create(opBuilder_, function_.getLoc(), values);
  function_.setFunctionType(
      opBuilder_.getFunctionType(function_.getBody().front().getArgumentTypes(), ValueRange(values).getTypes()));
  function_.setAllArgAttrs(inputAttributes_);
  function_.setAllResultAttrs(attributes);
  (*module_)->setAttr(graph::kSymbolsAttr, symbols_.attribute(&context_));
  // Numbers that were repeated or folded leave their sources unused.
  graph::eraseDeadOps(function_);
  return llvm::Error::success();
}

llvm::Expected<OwningOpRef<ModuleOp>> GraphImporter::import() {
  module_ = ModuleOp::create(UnknownLoc::get(&context_));
  if (options_.nodes)
    options_.nodes->clear();
  if (!document_.value("name", "").empty())
    module_->setName(document_["name"].get_ref<const std::string &>());
  opBuilder_.setInsertionPointToEnd(module_->getBody());
  function_ = func::FuncOp::create(opBuilder_, module_->getLoc(), "main", opBuilder_.getFunctionType({}, {}));
  opBuilder_.setInsertionPointToStart(function_.addEntryBlock());
  using Step = llvm::Error (GraphImporter::*)();
  for (Step step : {&GraphImporter::declareSymbols, &GraphImporter::readInputs, &GraphImporter::readWeights,
                    &GraphImporter::indexNodes, &GraphImporter::importNodes, &GraphImporter::finish})
    if (llvm::Error error = (this->*step)())
      return std::move(error);
  assert(succeeded(verify(*module_)) && "the builder makes valid ops");
  return std::move(module_);
}

llvm::Expected<OwningOpRef<ModuleOp>> kiln::import::importJson(MLIRContext &context, StringRef path,
                                                               const ImportOptions &options) {
  llvm::Expected<Json> document = readDocument(path, options.memoryLimit);
  if (!document)
    return document.takeError();
  GraphImporter importer(context, *document, llvm::sys::path::parent_path(path), options);
  llvm::Expected<OwningOpRef<ModuleOp>> module = importer.import();
  if (!module)
    return failure(path + ": " + llvm::toString(module.takeError()));
  if (llvm::Error error = importer.checkDims())
    return error;
  if (!options.shapes.empty())
    return usageError("--shape " + options.shapes.begin()->first() + ": a graph in JSON says the shapes of its inputs",
                      "write it there, or fix a size with --dim");
  return module;
}
