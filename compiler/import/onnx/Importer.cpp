//===- Importer.cpp - A model's parts, in the order in which they are known ----===//
//
// ONNX names tensors by strings, leaves the shapes between nodes out, and computes sizes by operators as if they were
// data. So a tensor here is either a value of the graph or known elements, which may be expressions over symbols; it
// becomes an op only if a node needs data. Shape arithmetic thus becomes sizes, and the rest of it, which nothing
// reads, is erased at the end.
//
//===----------------------------------------------------------------------===//

#include "import/onnx/Importer.h"

#include "ir/base/NarrowDType.h"
#include "ir/base/ObjectType.h"
#include "ir/base/OutputRank.h"
#include "ir/graph/DeadOps.h"

#include "import/DType.h"
#include "import/MemoryLimit.h"
#include "import/StoreNarrow.h"
#include "import/onnx/control/Sequence.h"
#include "import/onnx/control/SequenceCalls.h"
#include "import/onnx/file/ElementType.h"
#include "import/onnx/text/Strings.h"
#include "support/Error.h"

#include "mlir/IR/Verifier.h"

using namespace kiln;
using namespace kiln::import;
using namespace kiln::import::onnx;
using llvm::StringRef;
using llvm::Twine;
using view::Expr;

/// The opsets of ONNX's own domain whose differences the operators' importers know.
static constexpr int64_t kFirstOpset = 1, kLastOpset = 28;
static constexpr int64_t kFirstIrVersion = 3;

/// The error with its subject before it; the kind of fault stays the same.
static llvm::Error inFile(const Twine &what, llvm::Error error) {
  return llvm::handleErrors(std::move(error), [&](const UserError &given) {
    return llvm::make_error<UserError>(given.kind(), (what + ": " + given.text()).str());
  });
}

llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>> kiln::import::importOnnx(mlir::MLIRContext &context, StringRef path,
                                                                           const ImportOptions &options) {
  llvm::Expected<std::unique_ptr<ModelFile>> file = ModelFile::open(path, options);
  if (!file)
    return file.takeError();
  // A node's facts about sizes may hold from the first node on, so the import begins anew with them.
  SymbolLimits limits;
  JoinedSizes joined;
  while (true) {
    Importer importer(context, **file, options, limits, joined);
    llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>> module = importer.run();
    if (module && importer.shared().joinMet(**module, joined))
      continue;
    if (module) {
      importer.printWarnings();
      return module;
    }
    std::optional<std::pair<Expr, Expr>> differing = importer.differing();
    if (!importer.shared().joinAll(joined) && !(differing && limitToEqual(differing->first, differing->second, limits)))
      return inFile(path, module.takeError());
    llvm::consumeError(module.takeError());
  }
}

/// Says why --dim cannot name this axis of an input; "" if it can.
static std::string faultOfAxis(int64_t axis, llvm::ArrayRef<Expr> shape, SymbolBounds given) {
  int64_t rank = shape.size();
  if (axis >= rank)
    return "has " + std::to_string(rank) + (rank == 1 ? " axis; it is number 0" : " axes; the first is number 0");
  Expr size = shape[axis];
  bool isOther = size.isConst() && (size.constant() < given.min || size.constant() > given.max);
  return isOther ? "has the fixed size " + size.print() + " there; leave it out" : "";
}

/// An axis that --dim names as INPUT.AXIS is one of the input's, and open. Sizes of the model may have such names, too.
static llvm::Error checkDimAxes(const ImportOptions &options, mlir::func::FuncOp function) {
  llvm::StringSet<> symbols;
  for (mlir::Type type : function.getArgumentTypes())
    if (auto tensor = llvm::dyn_cast<mlir::RankedTensorType>(type))
      for (Expr size : shapeOf(tensor))
        size.forEachVariable([&](Expr variable) { symbols.insert(variable.name()); });
  for (mlir::BlockArgument input : function.getArguments()) {
    auto name = function.getArgAttrOfType<mlir::StringAttr>(input.getArgNumber(), graph::kNameAttr);
    auto tensor = llvm::dyn_cast<mlir::RankedTensorType>(input.getType());
    if (!name || !tensor)
      continue;
    for (const auto &dim : options.dims) {
      llvm::StringRef axis = dim.first();
      int64_t number;
      if (symbols.contains(dim.first()) || !axis.consume_front(name.getValue()) || !axis.consume_front(".") ||
          axis.getAsInteger(10, number) || number < 0)
        continue;
      if (std::string fault = faultOfAxis(number, shapeOf(tensor), dim.second); !fault.empty())
        return usageError("--dim names '" + dim.first() + "', and '" + name.getValue() + "' " + fault);
    }
  }
  return llvm::Error::success();
}

llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>> Importer::run() {
  const ::onnx::ModelProto &model = file_.model();
  if (!model.has_graph() || model.graph().output_size() == 0)
    return failure("the model has no output", "name a graph output");
  if (options_.nodes)
    options_.nodes->clear();
  Scope scope;
  if (llvm::Error error = checkVersions(scope))
    return error;
  if (llvm::Error error = indexFunctions())
    return error;

  mlir::Location location =
      mlir::NameLoc::get(builder_.getStringAttr(model.graph().name().empty() ? "main" : model.graph().name()));
  mlir::OwningOpRef<mlir::ModuleOp> module = mlir::ModuleOp::create(location);
  builder_.setInsertionPointToEnd(module->getBody());
  auto function = mlir::func::FuncOp::create(builder_, location, "main", builder_.getFunctionType({}, {}));
  entry_ = function.addEntryBlock();
  commonSizes_.bindIn(*entry_);
  builder_.setInsertionPointToEnd(entry_);
  if (llvm::Error error = checkShapes(model.graph()))
    return error;
  if (llvm::Error error = importInputs(model.graph(), scope, function))
    return error;
  if (llvm::Error error = checkDimAxes(options_, function))
    return error;
  if (llvm::Error error = symbols_.checkDims())
    return error;
  if (llvm::Error error = symbols_.checkNames())
    return error;
  if (llvm::Error error = importGraph(model.graph(), scope))
    return error;
  if (llvm::Error error = importOutputs(model.graph(), scope, function))
    return error;
  // Shape arithmetic that became expressions, a Dropout's mask.
  graph::eraseDeadOps(*module);
  storeNarrow(*module);
  (*module)->setAttr(graph::kSymbolsAttr, symbols_.attribute(builder_.getContext()));
  std::string diagnostic;
  mlir::ScopedDiagnosticHandler handler(builder_.getContext(), [&](mlir::Diagnostic &given) {
    if (diagnostic.empty())
      llvm::raw_string_ostream(diagnostic) << given.getLocation() << ": " << given;
    return mlir::success();
  });
  if (failed(mlir::verify(*module)))
    return failure("the imported graph is not valid: " + diagnostic, "this is a bug of kiln; please report it");
  return module;
}

llvm::Error Importer::checkVersions(Scope &scope) {
  const ::onnx::ModelProto &model = file_.model();
  if (model.ir_version() < kFirstIrVersion || model.ir_version() > ::onnx::IR_VERSION)
    return failure("IR version " + Twine(model.ir_version()) + " is not known",
                   "export the model with a version from " + Twine(kFirstIrVersion) + " to " +
                       Twine(int(::onnx::IR_VERSION)));
  for (const ::onnx::OperatorSetIdProto &import : model.opset_import())
    scope.setOpset(import.domain(), import.version());
  if (int64_t version = scope.opset(""); version && (version < kFirstOpset || version > kLastOpset))
    return failure("opset " + Twine(version) + " is not known",
                   "export the model with an opset from " + Twine(kFirstOpset) + " to " + Twine(kLastOpset));
  return llvm::Error::success();
}

//===----------------------------------------------------------------------===//
// Inputs and outputs
//===----------------------------------------------------------------------===//

/// A sequence, or an optional value: if none is given, it is empty.
static llvm::Error importContainer(mlir::Builder &builder, const ::onnx::ValueInfoProto &input, Scope &scope,
                                   mlir::func::FuncOp function) {
  llvm::Expected<mlir::Type> declared = declaredType(builder.getContext(), input.type());
  if (!declared)
    return declared.takeError();
  llvm::SmallVector<mlir::NamedAttribute> attributes = {
      builder.getNamedAttr(graph::kNameAttr, builder.getStringAttr(input.name()))};
  if (llvm::isa<OptionalType>(*declared)) {
    auto none = mlir::RankedTensorType::get({}, builder.getI64Type());
    attributes.push_back(
        builder.getNamedAttr(graph::kValueAttr, mlir::DenseElementsAttr::get(none, builder.getI64IntegerAttr(0))));
  }
  unsigned index = function.getNumArguments();
  if (failed(function.insertArgument(index, tensorType({}, *declared), builder.getDictionaryAttr(attributes),
                                     mlir::NameLoc::get(builder.getStringAttr(input.name())))))
    return failure("it cannot be an argument");
  if (!scope.define(input.name(), mlir::Value(function.getArgument(index))))
    return failure("the name is given twice", "give every input a name of its own");
  return llvm::Error::success();
}

llvm::Error Importer::importInputs(const ::onnx::GraphProto &graph, Scope &scope, mlir::func::FuncOp function) {
  // Before IR version 4 every initializer had to be an input too; since then such an input has a default.
  bool haveDefaults = file_.model().ir_version() >= 4;
  llvm::StringMap<const ::onnx::TensorProto *> initializers;
  for (const ::onnx::TensorProto &initializer : graph.initializer())
    initializers[initializer.name()] = &initializer;
  findPlainSymbols(graph);
  for (const ::onnx::ValueInfoProto &input : graph.input()) {
    auto initializer = initializers.find(input.name());
    bool hasInitializer = initializer != initializers.end();
    if (hasInitializer && !haveDefaults)
      continue;
    auto fail = [&](const Twine &cause, const Twine &remedy = "") {
      return failure("input " + quoted(input.name()) + ": " + cause, remedy);
    };
    if (input.name().empty())
      return fail("it has no name", "name it");
    if (!input.type().has_tensor_type()) {
      if (llvm::Error error = importContainer(builder_, input, scope, function))
        return fail(llvm::toString(std::move(error)));
      continue;
    }
    mlir::Type element = elementType(builder_.getContext(), input.type().tensor_type().elem_type());
    if (!element)
      return fail("dtype " + dataTypeName(input.type().tensor_type().elem_type()) + " is not supported", kKnownDTypes);
    llvm::Expected<view::Shape> shape = inputShape(input, function.getNumArguments());
    if (!shape)
      return inFile("input " + quoted(input.name()), shape.takeError());
    mlir::RankedTensorType type = tensorType(*shape, element);
    if (llvm::Error error = checkMemory(*shape, element, options_.memoryLimit))
      return fail(llvm::toString(std::move(error)));
    unsigned index = function.getNumArguments();
    mlir::DictionaryAttr name =
        builder_.getDictionaryAttr(builder_.getNamedAttr(graph::kNameAttr, builder_.getStringAttr(input.name())));
    if (failed(function.insertArgument(index, type, name, mlir::NameLoc::get(builder_.getStringAttr(input.name())))))
      return fail("it cannot be an argument");
    if (hasInitializer) {
      // A program stores a default next to its input, so the data are read from the file now.
      llvm::Expected<Constant> value = file_.constant(builder_.getContext(), *initializer->second, INT64_MAX);
      if (!value)
        return value.takeError();
      if (isObject(element))
        return fail("a default of strings is not supported", "make it a constant, or a plain input");
      if (value->type != type)
        return fail("its stored default has another shape or dtype", "store one of the input's own");
      function.setArgAttr(index, graph::kValueAttr, value->data);
    }
    if (!scope.define(input.name(), mlir::Value(function.getArgument(index))))
      return fail("the name is given twice", "give every input a name of its own");
  }
  return llvm::Error::success();
}

/// A declared shape that differs from the computed one is most often a mistake of a tool that changed the model;
/// nothing here needs it, so it is not an error. Some exporters write rank 0 for an unknown one. "" if it fits.
static std::string otherShape(const ::onnx::ValueInfoProto &declared, const Tensor &computed) {
  const ::onnx::TensorShapeProto &given = declared.type().tensor_type().shape();
  if (given.dim_size() == 0)
    return "";
  Shape shape = computed.shape();
  bool fits = given.dim_size() == int64_t(shape.size());
  std::string text;
  for (auto [axis, dim] : llvm::enumerate(given.dim())) {
    bool isKnown = dim.has_dim_value() && dim.dim_value() >= 0;
    fits = fits && (!isKnown || !shape[axis].isConst() || shape[axis].isConst(dim.dim_value()));
    std::string otherwise = dim.has_dim_param() ? dim.dim_param() : "?";
    text += (axis ? ", " : "") + (isKnown ? std::to_string(dim.dim_value()) : otherwise);
  }
  return fits ? ""
              : "output " + quoted(declared.name()) + " is declared as [" + text + "] but computed as " +
                    describe(shape) + "; declare it so";
}

llvm::Error Importer::fatal(llvm::Error error) {
  fatal_ = true;
  return error;
}

bool Importer::isFatal() const {
  JoinedSizes joined = joined_;
  SymbolLimits limits = symbols_.limits();
  return fatal_ || shared_.joinAll(joined) ||
         (differing_ && limitToEqual(differing_->first, differing_->second, limits));
}

void Importer::warn(mlir::Location location, std::string text) {
  std::pair warning(location, std::move(text));
  if (!llvm::is_contained(warnings_, warning)) // a loop's body is imported more than once
    warnings_.push_back(std::move(warning));
}

void Importer::printWarnings() const {
  for (const auto &[location, text] : warnings_)
    mlir::emitWarning(location) << text;
}

llvm::Error Importer::importOutputs(const ::onnx::GraphProto &graph, Scope &scope, mlir::func::FuncOp function) {
  llvm::Expected<llvm::SmallVector<Tensor>> results = outputs(graph, scope);
  if (!results)
    return results.takeError();
  llvm::SmallVector<mlir::Value> values;
  llvm::SmallVector<mlir::Attribute> attributes;
  llvm::StringSet<> names;
  TensorBuilder b(builder_, function.getLoc(), commonSizes_);
  for (auto [result, declared] : llvm::zip(*results, graph.output())) {
    if (declared.type().has_optional_type() && !llvm::isa<OptionalType>(result.element()))
      result = optionalOf(result);
    if (!names.insert(declared.name()).second)
      return failure("output " + quoted(declared.name()) + " is given twice", "give every output a name of its own");
    if (int32_t dataType = declared.type().tensor_type().elem_type();
        dataType && elementType(builder_.getContext(), dataType) != result.element())
      return failure("output " + quoted(declared.name()) + " is declared as " + dataTypeName(dataType) +
                         " but computed as " + dtypeName(result.element()),
                     "declare it so, or cast it");
    bool isOfMaps = declared.type().sequence_type().elem_type().has_map_type(); // of ZipMap, which returns a tensor
    if (declared.type().has_sequence_type() && !isOfMaps && !llvm::isa<SequenceType>(result.element()))
      return failure("output " + quoted(declared.name()) + " is declared as a sequence but computed as " +
                         dtypeName(result.element()),
                     "declare it so");
    b.setLocation(mlir::NameLoc::get(builder_.getStringAttr(declared.name())));
    auto rank = ranks_.find(declared.name());
    if (std::string warning = otherShape(declared, result); !warning.empty() && rank == ranks_.end())
      warn(b.location(), std::move(warning));
    values.push_back(materialize(result, scope, b, /*isNamed=*/false));
    llvm::SmallVector<mlir::NamedAttribute> own = {
        builder_.getNamedAttr(graph::kNameAttr, builder_.getStringAttr(declared.name()))};
    if (rank != ranks_.end())
      own.push_back(builder_.getNamedAttr(kRankAttr, ExprAttr::get(builder_.getContext(), rank->second)));
    attributes.push_back(builder_.getDictionaryAttr(own));
  }
  if (llvm::Error error = b.takeError())
    return error;
  mlir::func::ReturnOp::create(builder_, function.getLoc(), values);
  function.setType(builder_.getFunctionType(function.getArgumentTypes(), mlir::TypeRange(mlir::ValueRange(values))));
  function.setAllResultAttrs(attributes);
  return llvm::Error::success();
}

llvm::Expected<llvm::SmallVector<Tensor>> Importer::outputs(const ::onnx::GraphProto &graph, Scope &scope) {
  llvm::SmallVector<Tensor> tensors;
  for (const ::onnx::ValueInfoProto &output : graph.output()) {
    const Tensor *found = scope.find(output.name());
    if (!found || !*found)
      return failure("output " + quoted(output.name()) + " is undefined", "no node, input or initializer gives it");
    tensors.push_back(*found);
  }
  return tensors;
}

//===----------------------------------------------------------------------===//
// Tensors as data
//===----------------------------------------------------------------------===//

std::string Importer::uniqueWeightName(const std::string &name) {
  std::string unique = name.empty() ? "constant" : name;
  for (unsigned i = 1; !weightNames_.insert(unique).second; ++i)
    unique = name + "." + std::to_string(i);
  return unique;
}

/// The dense elements of a tensor whose elements are all known numbers; null if they are not.
static mlir::DenseElementsAttr denseFromElements(const Tensor &tensor) {
  unsigned width = tensor.element().getIntOrFloatBitWidth();
  llvm::SmallVector<llvm::APInt> values;
  for (Expr element : *tensor.elements) {
    std::optional<int64_t> value = element.asConst();
    if (!value)
      return {};
    values.push_back(llvm::APInt(width, uint64_t(*value), /*isSigned=*/true, /*implicitTrunc=*/true));
  }
  return mlir::DenseElementsAttr::get(tensor.type, values);
}

/// Codes of fewer than 8 bits stay as the file has them; a reader takes each out of its byte.
static mlir::Value packedWeight(TensorBuilder &b, const Tensor &tensor, graph::FileAttr file, StringRef name) {
  mlir::Type byte = b.builder().getIntegerType(8, /*isSigned=*/false);
  auto type = mlir::RankedTensorType::get({file.getBytes()}, byte);
  mlir::Value packed = graph::WeightOp::create(b.builder(), b.location(), type, name, file);
  return b.unpackCodes(packed, tensor.element(), tensor.shape());
}

mlir::Value Importer::materialize(const Tensor &tensor, Scope &scope, TensorBuilder &b, bool isNamed) {
  if (tensor.value)
    return tensor.value;
  mlir::Attribute data = tensor.data;
  if (!data && tensor.elements)
    data = denseFromElements(tensor);
  if (data) {
    mlir::Value &made = constants_[{data, tensor.type}];
    if (made)
      return made;
    mlir::OpBuilder::InsertionGuard guard(builder_);
    if (lastConstant_)
      builder_.setInsertionPointAfter(lastConstant_);
    else
      builder_.setInsertionPointToStart(entry_);
    std::string name = tensor.name.empty() ? "constant" : tensor.name;
    TensorBuilder head(builder_, mlir::NameLoc::get(builder_.getStringAttr(name)), commonSizes_);
    auto dense = llvm::dyn_cast<mlir::DenseElementsAttr>(data);
    if (auto strings = llvm::dyn_cast<mlir::DenseStringElementsAttr>(data))
      made = stringConstant(head, name, llvm::to_vector(strings.getValues<StringRef>()), tensor.shape());
    else if (dense && dense.isSplat() && dense.getNumElements() > 0)
      made = head.weight(name, dense);
    else if (auto file = llvm::dyn_cast<graph::FileAttr>(data);
             file && isNarrow(tensor.element()) && tensor.element().getIntOrFloatBitWidth() < 8)
      made = packedWeight(head, tensor, file, uniqueWeightName(name));
    else
      made = graph::WeightOp::create(builder_, head.location(), tensor.type, uniqueWeightName(name), data);
    lastConstant_ = made.getDefiningOp();
    return made;
  }
  if (mlir::Value made = isNamed ? scope.made(&tensor) : mlir::Value())
    return made;
  mlir::Value made;
  if (tensor.items) {
    made = referenceTo(*this, tensor, scope, b);
  } else {
    llvm::SmallVector<mlir::Value> scalars;
    for (Expr element : *tensor.elements)
      scalars.push_back(b.unsqueeze(b.cast(b.size(element), tensor.element()), {0}));
    made = b.reshape(b.concat(scalars, 0), tensor.shape());
  }
  if (isNamed && made)
    scope.setMade(&tensor, made);
  return made;
}

void Importer::forget(mlir::Operation *op) {
  op->walk([&](mlir::Operation *inner) {
    for (mlir::Value result : inner->getResults()) {
      known_.erase(result);
      followed_.forget(result);
    }
  });
}

Expr Importer::bind(StringRef name, mlir::Value scalar, TensorBuilder &b, SymbolBounds bounds, StringRef meaning) {
  return scalar ? commonSizes_.read(name, scalar, bounds, builder_, b.location(), meaning) : Expr(0);
}
