//===- Program.cpp - A program of the reference as kiln's graph ----------===//
//
// To compare schedules, both schedulers need the same graph, primitive by primitive; an importer's would differ before
// scheduling begins. The primitives are the calls that the reference's scheduler saw, in order, after its constant
// folding: a call that folded is a constant here. If a program asks for a tensor in order that is so already, the
// reference makes no call but keeps the tensor in memory; a graph.contiguous says so here. An output that is a mere
// view of a tensor is that tensor and the view's tracker.
//
//===----------------------------------------------------------------------===//
#include "tools/kiln-golden/Program.h"

#include "tools/kiln-golden/ForcedRealizes.h"
#include "tools/kiln-golden/Movement.h"

#include "passes/Pipeline.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/raw_ostream.h"

using namespace kiln;
using namespace kiln::golden;

static constexpr std::pair<llvm::StringLiteral, DType> kDTypeNames[] = {
    {"bool", DType::Bool},  {"int8", DType::I8},     {"uint8", DType::U8},      {"int16", DType::I16},
    {"uint16", DType::U16}, {"int32", DType::I32},   {"uint32", DType::U32},    {"int64", DType::I64},
    {"uint64", DType::U64}, {"float16", DType::F16}, {"bfloat16", DType::BF16}, {"float32", DType::F32},
    {"float64", DType::F64}};

std::optional<DType> golden::dtypeByName(llvm::StringRef name) {
  for (const auto &[known, dtype] : kDTypeNames)
    if (known == name)
      return dtype;
  return std::nullopt;
}

llvm::StringRef golden::referenceName(mlir::Type element) {
  for (const auto &[name, dtype] : kDTypeNames)
    if (dtype == dtypeOf(element))
      return name;
  return "none";
}

mlir::TypedAttr golden::numberOf(const Json &value, mlir::Type element) {
  double number;
  if (value.is_string())
    number = std::stod(value.get<std::string>()); // inf, -inf, nan
  else
    number = value.is_boolean() ? double(value.get<bool>()) : value.get<double>();
  if (llvm::isa<mlir::FloatType>(element))
    return mlir::FloatAttr::get(element, number);
  return mlir::IntegerAttr::get(element, llvm::APInt(element.getIntOrFloatBitWidth(), int64_t(number),
                                                     /*isSigned=*/true, /*implicitTrunc=*/true));
}

namespace {
/// Writes one program; `fail` keeps the first reason why it cannot.
class ProgramBuilder {
public:
  ProgramBuilder(const Json &program, mlir::MLIRContext &context, Report &report)
      : program_(program), report_(report), builder_(&context), loc_(builder_.getUnknownLoc()) {}
  std::optional<Program> build();

private:
  mlir::RankedTensorType typeOf(const Json &json);
  mlir::Value emit(const Json &primitive);
  mlir::Value emitMovement(const std::string &op, mlir::Value source, const Json &arg, mlir::RankedTensorType type);
  mlir::Value emitAlu(const std::string &op, llvm::ArrayRef<mlir::Value> sources, mlir::RankedTensorType type);
  mlir::Value fail(const std::string &what) {
    report_.mismatch(what);
    return nullptr;
  }

  const Json &program_;
  Report &report_;
  mlir::OpBuilder builder_;
  mlir::Location loc_;
  mlir::Block *entry_ = nullptr;
  std::map<std::string, mlir::Value> inputs_;
  std::map<int64_t, mlir::Value> values_;
};
} // namespace

mlir::RankedTensorType ProgramBuilder::typeOf(const Json &json) {
  std::optional<DType> dtype = dtypeByName(json.at("dtype").get<std::string>());
  if (!dtype) {
    report_.mismatch("unknown dtype " + json.at("dtype").dump());
    return nullptr;
  }
  return tensorType(toShape(json.at("shape")), elementType(builder_.getContext(), *dtype));
}

static bool isMovement(const std::string &op) {
  return op == "RESHAPE" || op == "EXPAND" || op == "PERMUTE" || op == "PAD" || op == "SHRINK" || op == "STRIDE";
}

mlir::Value ProgramBuilder::emitMovement(const std::string &op, mlir::Value source, const Json &arg,
                                         mlir::RankedTensorType type) {
  if (op == "RESHAPE")
    return graph::ReshapeOp::create(builder_, loc_, type, source);
  if (op == "EXPAND")
    return graph::ExpandOp::create(builder_, loc_, type, source);
  if (op == "PERMUTE")
    return graph::PermuteOp::create(builder_, loc_, source, arg.get<std::vector<int64_t>>());
  view::Shape first, second;
  if (op == "STRIDE") {
    std::vector<int64_t> axes;
    for (size_t axis = 0; axis < arg.size(); ++axis) {
      int64_t step = arg[axis];
      if (step != 1 && step != -1)
        return fail("STRIDE by " + std::to_string(step));
      if (step < 0)
        axes.push_back(int64_t(axis));
    }
    return graph::FlipOp::create(builder_, loc_, source, axes);
  }
  for (view::Range range : toRanges(arg)) {
    first.push_back(range.begin);
    second.push_back(range.end);
  }
  if (op == "PAD")
    return graph::PadOp::create(builder_, loc_, source, first, second);
  return graph::ShrinkOp::create(builder_, loc_, source, first, second);
}

mlir::Value ProgramBuilder::emitAlu(const std::string &op, llvm::ArrayRef<mlir::Value> sources,
                                    mlir::RankedTensorType type) {
  std::optional<Alu> kind = symbolizeAlu(llvm::StringRef(op).lower());
  if (!kind)
    return fail("unknown op '" + op + "'");
  if (aluInfo(*kind).arity != sources.size())
    return fail(op + " of " + std::to_string(sources.size()) + " operands");
  if (*kind == Alu::CAST)
    return graph::AluOp::create(builder_, loc_, *kind, sources, type.getElementType());
  return graph::AluOp::create(builder_, loc_, *kind, sources);
}

mlir::Value ProgramBuilder::emit(const Json &primitive) {
  report_.expectFields(primitive,
                       {"id", "op", "src", "arg", "axis", "shape", "dtype", "name", "value", "folds_to_const"});
  std::string op = primitive.at("op");
  mlir::RankedTensorType type = typeOf(primitive);
  if (!type)
    return nullptr;
  const Json *number = nullptr;
  if (primitive.contains("folds_to_const"))
    number = &primitive.at("folds_to_const");
  else if (op == "CONST")
    number = &primitive.at("value");
  if (number)
    return graph::ConstOp::create(builder_, loc_, type, numberOf(*number, type.getElementType()));
  if (op == "INPUT") {
    auto input = inputs_.find(primitive.at("name"));
    return input != inputs_.end() ? input->second : fail("no input " + primitive.at("name").dump());
  }
  llvm::SmallVector<mlir::Value> sources;
  for (const Json &id : primitive.at("src")) {
    auto source = values_.find(id);
    if (source == values_.end())
      return fail("primitive " + primitive.at("id").dump() + " reads " + id.dump() + ", which is none before it");
    sources.push_back(source->second);
  }
  if (sources.empty())
    return fail(op + " of nothing");
  if (isMovement(op))
    return emitMovement(op, sources[0], primitive.at("arg"), type);
  if (op == "REDUCE_SUM" || op == "REDUCE_MAX")
    return graph::ReduceOp::create(builder_, loc_, op == "REDUCE_SUM" ? Alu::ADD : Alu::MAX, sources[0],
                                   primitive.at("axis").get<std::vector<int64_t>>());
  if (op == "ASSIGN" && sources.size() == 2)
    return graph::AssignOp::create(builder_, loc_, sources[0], sources[1]);
  if (op == "CONTIGUOUS")
    return graph::ContiguousOp::create(builder_, loc_, type, sources[0]);
  return emitAlu(op, sources, type);
}

/// The reference's trackers over primitives, for outputs that are mere views.
static std::optional<ProgramOutput> outputOf(const std::string &name, int64_t id, const Json &primitives,
                                             Report &report) {
  std::map<int64_t, const Json *> byId;
  for (const Json &primitive : primitives)
    byId[primitive.at("id")] = &primitive;
  std::vector<const Json *> chain;
  const Json *at = byId.at(id);
  for (; isMovement(at->at("op")) && !at->contains("folds_to_const"); at = byId.at(at->at("src").at(0)))
    chain.push_back(at);
  view::ShapeTracker tracker = view::ShapeTracker::contiguous(toShape(at->at("shape")));
  for (const Json *movement : llvm::reverse(chain)) {
    std::string op = llvm::StringRef(movement->at("op").get<std::string>()).lower();
    std::optional<view::ShapeTracker> next = applyMovement(tracker, op, movement->at("arg"), report);
    if (!next)
      return std::nullopt;
    tracker = *next;
  }
  return ProgramOutput{name, at->at("id"), tracker};
}

std::optional<Program> ProgramBuilder::build() {
  Program result;
  result.module = mlir::ModuleOp::create(loc_);
  builder_.setInsertionPointToEnd(result.module->getBody());
  llvm::SmallVector<mlir::Type> types;
  for (const Json &input : program_.at("inputs")) {
    report_.expectFields(input, {"name", "shape", "dtype"});
    types.push_back(typeOf(input));
    if (!types.back())
      return std::nullopt;
  }
  auto main = mlir::func::FuncOp::create(builder_, loc_, "main", builder_.getFunctionType(types, {}));
  entry_ = main.addEntryBlock();
  builder_.setInsertionPointToEnd(entry_);
  for (auto [index, input] : llvm::enumerate(program_.at("inputs"))) {
    inputs_[input.at("name")] = entry_->getArgument(index);
    main.setArgAttr(index, graph::kNameAttr, builder_.getStringAttr(input.at("name").get<std::string>()));
  }
  const Json &primitives = program_.at("primitives");
  std::optional<std::set<int64_t>> forced = findForcedRealizes(program_, report_);
  if (!forced)
    return std::nullopt;
  for (const Json &primitive : primitives) {
    mlir::Value value = emit(primitive);
    if (!value)
      return std::nullopt;
    if (value.getType() != typeOf(primitive)) {
      fail("primitive " + primitive.at("id").dump() + " has another type");
      return std::nullopt;
    }
    if (forced->count(primitive.at("id")))
      value = graph::ContiguousOp::create(builder_, loc_, value.getType(), value);
    values_[primitive.at("id")] = value;
    if (llvm::isa<mlir::BlockArgument>(value))
      result.inputs[primitive.at("id")] = primitive.at("name");
    if (auto assign = value.getDefiningOp<graph::AssignOp>())
      result.inputs[primitive.at("id")] = result.inputs.at(primitive.at("src").at(0));
  }

  llvm::SetVector<int64_t> results;
  const Json &ids = program_.at("primitive_outputs");
  for (const Json &name : program_.at("outputs")) {
    std::optional<ProgramOutput> output = outputOf(name, ids.at(name.get<std::string>()), primitives, report_);
    if (!output)
      return std::nullopt;
    result.outputs.push_back(*output);
    if (!result.inputs.count(output->base))
      results.insert(output->base);
  }
  result.results.assign(results.begin(), results.end());
  llvm::SmallVector<mlir::Value> returned;
  for (int64_t id : result.results)
    returned.push_back(values_.at(id));
  mlir::func::ReturnOp::create(builder_, loc_, returned);
  main.setFunctionType(builder_.getFunctionType(types, mlir::ValueRange(returned).getTypes()));
  return result;
}

std::optional<Program> golden::buildProgram(const Json &program, mlir::MLIRContext &context, Report &report) {
  return ProgramBuilder(program, context, report).build();
}

void golden::writePrograms(const Json &file, const std::string &folder, Report &report) {
  mlir::DialectRegistry registry;
  registerDialects(registry);
  mlir::MLIRContext context(registry);
  context.loadAllAvailableDialects();
  for (const Json &json : file.at("programs")) {
    std::string name = json.at("name");
    report.begin(name);
    if (std::optional<Program> program = buildProgram(json, context, report)) {
      mlir::Builder builder(&context);
      mlir::ModuleOp module = *program->module;
      module->setAttr("kiln.stage", builder.getStringAttr(stageName(Stage::Import)));
      module->setAttr(graph::kSymbolsAttr, builder.getArrayAttr({}));
      std::error_code failed;
      llvm::raw_fd_ostream out((llvm::Twine(folder) + "/" + name + ".mlir").str(), failed);
      if (failed)
        report.mismatch("cannot be written: " + failed.message());
      else
        module->print(out);
    }
    report.end();
  }
}
