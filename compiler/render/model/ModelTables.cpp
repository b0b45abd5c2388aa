#include "render/model/ModelTables.h"

#include "ir/base/Devices.h"
#include "ir/base/ObjectType.h"
#include "ir/base/OutputRank.h"
#include "ir/graph/Graph.h"
#include "ir/host/Call.h"
#include "render/kernel/Pattern.h"

#include "kiln/call.h"
#include "kiln/program.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MathExtras.h"

using namespace kiln;
using namespace kiln::render;

static_assert(host::kMaxPortRank == KILN_MAX_RANK, "the runtime's tables hold what a program may have");

/// A size as the runtime reads it (runtime/src/size.c): a symbol of letters, digits, _ and . is written unchanged.
/// Other names are in quotes, with quotes in them doubled, so that none is read as an operator, a number or two names.
static std::string declaredText(view::Expr size) {
  llvm::DenseMap<view::Expr, view::Expr> quoted;
  size.forEachVariable([&](view::Expr symbol) {
    llvm::StringRef name = symbol.name();
    bool isWord = llvm::all_of(name, [](char c) { return llvm::isAlnum(c) || c == '_' || c == '.'; });
    bool isTaken = name == "min" || name == "max" || name == "and";
    if (name.empty() || !isWord || isTaken || llvm::isDigit(name.front())) {
      std::string doubled = llvm::join(llvm::split(name, '"'), "\"\"");
      quoted[symbol] = view::Expr::variable("\"" + doubled + "\"", symbol.min(), symbol.max());
    }
  });
  return stripParens((quoted.empty() ? size : size.substitute(quoted)).render()).str();
}

static std::vector<DimEntry> describeDims(mlir::RankedTensorType type, const std::vector<SymbolEntry> &symbols) {
  std::vector<DimEntry> dims;
  for (view::Expr size : shapeOf(type)) {
    bool isSymbol = size.kind() == view::Expr::Kind::Var;
    DimEntry dim{size, isSymbol ? size.name().str() : declaredText(size), -1, -1};
    if (size.isConst())
      dim.size = size.constant();
    if (isSymbol)
      for (auto [index, symbol] : llvm::enumerate(symbols))
        if (symbol.name == size.name())
          dim.symbol = index;
    dims.push_back(std::move(dim));
  }
  return dims;
}

/// The contents of a sequence or an optional.
static PortEntry describeHeld(mlir::Type held) {
  PortEntry entry{"", mlir::getElementTypeOrSelf(held), {}, {}, /*hasRank=*/false};
  if (isContainer(held))
    entry.holds.push_back(describeHeld(heldBy(held)));
  entry.hasRank = isContainer(held) || llvm::isa<mlir::RankedTensorType>(held);
  if (auto ranked = llvm::dyn_cast<mlir::RankedTensorType>(held))
    for (int64_t size : ranked.getShape()) {
      bool isFixed = !mlir::ShapedType::isDynamic(size);
      entry.dims.push_back({isFixed ? size : -1, isFixed ? std::to_string(size) : "?", isFixed ? size : -1, -1});
    }
  return entry;
}

static PortEntry describePort(host::PortAttr port, const std::vector<SymbolEntry> &symbols) {
  mlir::Type element = port.getType().getElementType();
  PortEntry entry{port.getName().str(), element, describeDims(port.getType(), symbols), port.getValue()};
  if (isContainer(element))
    entry.holds.push_back(describeHeld(heldBy(element)));
  return entry;
}

bool render::mayWrap(view::Expr size) {
  // Bounds saturate.
  bool isWithin = size.min() > std::numeric_limits<int64_t>::min() && size.max() < std::numeric_limits<int64_t>::max();
  bool isSum = size.kind() == view::Expr::Kind::Add || size.kind() == view::Expr::Kind::Mul;
  return isSum && !isWithin;
}

std::string render::wrapMessage(view::Expr size) {
  return "the sizes together are too large: " + stripParens(size.render()).str() +
         " passes 64 bits; run with smaller ones";
}

bool render::isEstimate(host::EvalOp eval) {
  return llvm::all_of(eval->getUses(), [](mlir::OpOperand &use) {
    auto launch = llvm::dyn_cast<host::LaunchOp>(use.getOwner());
    if (!launch)
      return false;
    unsigned operand = use.getOperandNumber();
    return operand == launch.getOperationsMutable().getOperandNumber() ||
           operand == launch.getBytesMutable().getOperandNumber() ||
           (launch.getExpected() && operand == launch.getExpectedMutable().begin()->getOperandNumber());
  });
}

/// The libraries that the program's calls use.
static std::vector<LibraryEntry> calledLibraries(host::ProgramOp program) {
  llvm::StringSet<> callees;
  program.walk([&](host::CallOp call) { callees.insert(call.getCallee()); });
  std::vector<LibraryEntry> libraries;
  [[maybe_unused]] auto add = [&](llvm::StringLiteral callee, LibraryEntry library) {
    bool isKnown = llvm::any_of(libraries, [&](const LibraryEntry &known) { return known.word == library.word; });
    if (callees.contains(callee) && !isKnown)
      libraries.push_back(library);
  };
#define KILN_CALL_LIBRARY(NAME, WORD, LINKED) add(#NAME, {#WORD, LINKED});
  KILN_CALL_LIBRARIES
#undef KILN_CALL_LIBRARY
  return libraries;
}

bool render::usesReferences(const ModelTables &tables) {
  auto isReference = [](const PortEntry &port) { return llvm::isa<StringType>(port.element) || !port.holds.empty(); };
  bool uses = llvm::any_of(tables.inputs, isReference) || llvm::any_of(tables.outputs, isReference);
  host::ProgramOp(tables.program).walk([&](host::CallOp call) {
    llvm::StringRef name = call.getCallee();
    uses |= name.starts_with("string_") || name == "regex_full_match" || name.contains("sequence") ||
            name.starts_with("optional_");
  });
  return uses;
}

const AliasEntry *ModelTables::aliasOfInput(int32_t index) const {
  auto found = llvm::find_if(aliases, [&](const AliasEntry &alias) { return alias.input == index; });
  return found == aliases.end() ? nullptr : &*found;
}

const AliasEntry *ModelTables::aliasOfOutput(int32_t index) const {
  auto found = llvm::find_if(aliases, [&](const AliasEntry &alias) { return alias.output == index; });
  return found == aliases.end() ? nullptr : &*found;
}

int32_t ModelTables::entryOf(host::WeightOp weight) const {
  int64_t index = weight.getIndex(), device = host::deviceOf(weight);
  if (weights[index].device == device)
    return index;
  auto found = llvm::find_if(weights, [&](const WeightEntry &entry) {
    return entry.isShared && entry.device == device && entry.name == weights[index].name;
  });
  return found - weights.begin();
}

/// Notes in whose memory inputs, outputs and weights are, as the program's ops say. A weight that a second device reads
/// gets a second entry.
static void placePorts(ModelTables &tables) {
  llvm::SmallVector<bool> isPlaced(tables.weights.size(), false);
  tables.program.walk([&](mlir::Operation *op) {
    if (auto input = llvm::dyn_cast<host::InputOp>(op))
      tables.inputs[input.getIndex()].device = host::deviceOf(input);
    if (auto output = llvm::dyn_cast<host::OutputOp>(op))
      tables.outputs[output.getIndex()].device = host::deviceOf(output);
    auto weight = llvm::dyn_cast<host::WeightOp>(op);
    if (!weight)
      return;
    int64_t index = weight.getIndex(), device = host::deviceOf(weight);
    if (!isPlaced[index])
      tables.weights[index].device = device;
    isPlaced[index] = true;
    if (tables.entryOf(weight) < int32_t(tables.weights.size()))
      return;
    WeightEntry second = tables.weights[index];
    second.isShared = true;
    second.device = device;
    tables.weights.push_back(std::move(second));
  });
}

/// A weight's name in the form of a safetensors file and a C string: UTF-8 without a character 0. Two names that become
/// one are numbered.
static std::string fileName(llvm::StringRef name, llvm::StringSet<> &taken) {
  std::string text = llvm::json::fixUTF8(name);
  for (size_t at = text.find('\0'); at != std::string::npos; at = text.find('\0', at))
    text.replace(at, 1, "\xef\xbf\xbd"); // U+FFFD
  std::string unique = text;
  for (int number = 2; !taken.insert(unique).second; ++number)
    unique = text + "_" + std::to_string(number);
  return unique;
}

ModelTables render::modelTables(mlir::ModuleOp module) {
  ModelTables tables;
  mlir::SymbolTableCollection symbols;
  tables.program = *module.getOps<host::ProgramOp>().begin();
  for (auto symbol : tables.program.getSymbols().getAsRange<SymbolAttr>())
    tables.symbols.push_back({symbol.getName().str(), symbol.getMin(), symbol.getMax(), symbol.getValue()});
  for (auto port : tables.program.getInputs().getAsRange<host::PortAttr>())
    tables.inputs.push_back(describePort(port, tables.symbols));
  for (auto [index, port] : llvm::enumerate(tables.program.getInputs().getAsRange<host::PortAttr>()))
    if (host::AliasAttr alias = port.getAlias())
      tables.aliases.push_back(
          {int32_t(index), int32_t(alias.getPort()), int32_t(alias.getAxis()), alias.getCapacity()});
  for (auto port : tables.program.getOutputs().getAsRange<host::PortAttr>())
    tables.outputs.push_back(describePort(port, tables.symbols));
  if (auto optional = tables.program->getAttrOfType<mlir::DenseI64ArrayAttr>(kOptionalAxesAttr))
    for (auto [output, axes] : llvm::zip(tables.outputs, optional.asArrayRef()))
      output.optionalAxes = std::clamp<int64_t>(axes, 0, output.dims.size());
  llvm::StringSet<> names;
  for (auto weight : tables.program.getWeights().getAsRange<host::WeightAttr>()) {
    mlir::RankedTensorType type = weight.getType();
    int64_t bytes = type.getNumElements() * byteSize(type.getElementType());
    int64_t offset = llvm::alignTo(tables.weightBytes, KILN_ALIGNMENT);
    tables.weights.push_back({fileName(weight.getName(), names),
                              scalarDType(type.getElementType()),
                              type.getShape().vec(),
                              offset,
                              bytes,
                              weight.getData(),
                              {}});
    if (auto recipe = llvm::dyn_cast<graph::RecipeAttr>(weight.getData())) {
      // A recipe that uses another's result is in the same module.
      mlir::StringAttr name = mlir::StringAttr::get(module.getContext(), recipe.getModel());
      mlir::Operation *model = symbols.lookupSymbolIn(module, name);
      if (!model)
        model = symbols.lookupSymbolIn(module->getParentOp(), name);
      tables.weights.back().recipe = llvm::cast<mlir::ModuleOp>(model);
    }
    tables.weightBytes = offset + bytes;
  }
  placePorts(tables);
  tables.libraries = calledLibraries(tables.program);
  llvm::DenseMap<llvm::StringRef, int32_t> scratch;
  tables.program.walk([&](host::LaunchOp launch) {
    scratch[launch.getKernel()] = llvm::count_if(
        launch.getBuffers(), [](mlir::Value buffer) { return buffer.getDefiningOp<host::ScratchOp>() != nullptr; });
  });
  for (uop::FuncOp kernel : module.getOps<uop::FuncOp>()) {
    std::array<int64_t, 3> local = {1, 1, 1};
    llvm::copy(kernel.getLocal(), local.begin());
    tables.kernelIndex[kernel.getSymName()] = tables.kernels.size();
    tables.kernels.push_back({kernel, int32_t(kernel.getBufferCount()), int32_t(kernel.getSizes().getSizes().size()),
                              local, scratch.lookup(kernel.getSymName()), int32_t(deviceOf(kernel))});
  }
  return tables;
}
