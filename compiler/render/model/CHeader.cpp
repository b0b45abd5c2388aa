#include "render/model/CHeader.h"

#include "ir/base/NarrowDType.h"
#include "ir/base/ObjectType.h"
#include "render/kernel/Pattern.h"
#include "render/model/EntryPoints.h"
#include "support/Quote.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Support/xxhash.h"

using namespace kiln;
using namespace kiln::render;
using view::Expr;

namespace {

class HeaderWriter {
public:
  HeaderWriter(const ModelTables &tables, llvm::StringRef name);
  std::string write(llvm::StringRef types, llvm::StringRef model, const Origin &origin);

private:
  void writeEntryPoints();
  /// Calls `parameter` for each input, with the alias that it has, and for each output in memory of its own; with their
  /// names in C.
  void
  forEachParameter(llvm::function_ref<void(const PortEntry &, llvm::StringRef, const AliasEntry *)> parameter) const;
  void writeCounts();
  void describeParameters();
  void writeParameters(llvm::StringRef outputType, llvm::StringRef afterOutput);
  void writeInputs();
  void writeRun();
  void writeRunInto();
  void writeStructs();
  void writeRunStructs(bool isInto);
  bool hasRoom(size_t input) const;
  std::string dimInC(Expr size);

  const ModelTables &tables_;
  std::string name_, prefix_;
  std::vector<std::string> symbols_, inputs_, outputs_;
  std::string text_;
  llvm::raw_string_ostream out_{text_};
};

} // namespace

static constexpr std::pair<llvm::StringLiteral, llvm::StringLiteral> kFirstLine = {"/* The model ",
                                                                                   ", made by kiln. */"};

static llvm::StringRef typeInC(mlir::Type element) {
  if (llvm::isa<StringType>(element))
    return "kiln_string";
  if (isContainer(element))
    return "kiln_sequence";
  DType dtype = scalarDType(storageType(element));
  static constexpr llvm::StringLiteral names[kDTypes] = {"uint8_t",  "int8_t",   "uint8_t", "int16_t",  "uint16_t",
                                                         "int32_t",  "uint32_t", "int64_t", "uint64_t", "uint16_t",
                                                         "uint16_t", "float",    "double"};
  return names[static_cast<unsigned>(dtype)];
}

static llvm::StringRef nameOf(mlir::Type element) {
  if (llvm::isa<StringType>(element))
    return "string";
  if (isContainer(element))
    return llvm::isa<SequenceType>(element) ? "sequence" : "optional";
  if (const NarrowDType *narrow = narrowDType(element))
    return narrow->name;
  DType dtype = scalarDType(element);
  static constexpr llvm::StringLiteral names[kDTypes] = {"bool",     "int8",    "uint8",  "int16",  "uint16",
                                                         "int32",    "uint32",  "int64",  "uint64", "float16",
                                                         "bfloat16", "float32", "float64"};
  return names[static_cast<unsigned>(dtype)];
}

/// "float32 [batch, 10]"
static std::string describe(const PortEntry &port) {
  std::string text = nameOf(port.element).str();
  if (!port.holds.empty())
    return text + (llvm::isa<SequenceType>(port.element) ? " of " : " ") + describe(port.holds.front()) +
           (port.value ? ", or NULL" : "");
  if (!port.hasRank)
    return text;
  llvm::raw_string_ostream out(text);
  out << " [";
  size_t sure = port.dims.size() - port.optionalAxes;
  llvm::interleaveComma(llvm::enumerate(port.dims), out,
                        [&](const auto &dim) { out << dim.value().text << (dim.index() < sure ? "" : "?"); });
  out << ']';
  if (port.optionalAxes)
    out << "; the size of an axis with ? is -1 where a run leaves it out";
  if (port.value)
    out << ", or NULL for its stored default";
  return text;
}

/// The comment's addition if an output lies in the input's memory.
static std::string describe(const AliasEntry &alias, llvm::StringRef output) {
  std::string text = ", where a run puts output '" + output.str() + "'";
  if (alias.axis >= 0)
    text += ", in memory with " + std::to_string(alias.capacity) + " elements along axis " + std::to_string(alias.axis);
  return text;
}

/// The comment after the first line.
static std::string describe(const Origin &origin) {
  std::string about = origin.kiln.empty() ? "" : cComment(originSentence(origin)) + "\n * ";
  return "/* " + about + "SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */\n";
}

HeaderWriter::HeaderWriter(const ModelTables &tables, llvm::StringRef name) : tables_(tables), name_(name) {
  prefix_ = headerName(name);
  HeaderNames parameters;
  for (const std::string &function : entryPointNames(prefix_))
    parameters.take(function);
  for (llvm::StringRef own : {"_run", "_run_into", "_run_structs", "_run_structs_into", "_inputs", "_outputs"})
    parameters.take(prefix_ + own.str());
  parameters.take(modelSymbol(prefix_));
  for (const SymbolEntry &entry : tables.symbols)
    symbols_.push_back(parameters.add(entry.name));
  for (auto [index, entry] : llvm::enumerate(tables.inputs))
    inputs_.push_back(hasRoom(index) ? parameters.add(entry.name, {"_room"}) : parameters.add(entry.name));
  for (const PortEntry &entry : tables.outputs)
    outputs_.push_back(parameters.add(entry.name, {"_dims", "_room"}));
}

/// Whether an output grows in this input's memory.
bool HeaderWriter::hasRoom(size_t input) const {
  const AliasEntry *alias = tables_.aliasOfInput(input);
  return alias && alias->axis >= 0;
}

/// An expression over the symbols, none of them negative.
std::string HeaderWriter::dimInC(Expr size) {
  if (size.isConst())
    return std::to_string(size.constant());
  if (size.kind() == Expr::Kind::Var) {
    for (auto [entry, name] : llvm::zip(tables_.symbols, symbols_))
      if (entry.name == size.name())
        return name;
    llvm_unreachable("an input's dims are expressions over the program's symbols");
  }
  llvm::SmallVector<std::string> operands;
  for (Expr operand : size.operands())
    operands.push_back(dimInC(operand));
  auto joined = [&](llvm::StringRef with) { return "(" + llvm::join(operands, with) + ")"; };
  auto chosen = [&](llvm::StringRef when) {
    return "(" + operands[0] + when.str() + operands[1] + " ? " + operands[0] + " : " + operands[1] + ")";
  };
  switch (size.kind()) {
  case Expr::Kind::Add:
    return joined(" + ");
  case Expr::Kind::Mul:
    return joined(" * ");
  case Expr::Kind::FloorDiv:
    return joined(" / ");
  case Expr::Kind::Mod:
    return joined(" % ");
  case Expr::Kind::Min:
    return chosen(" < ");
  case Expr::Kind::Max:
    return chosen(" > ");
  case Expr::Kind::Less:
    return joined(" < ");
  case Expr::Kind::And:
    return joined(" & ");
  case Expr::Kind::Const:
  case Expr::Kind::Var:
    break;
  }
  llvm_unreachable("constants and variables are handled above");
}

void HeaderWriter::writeEntryPoints() {
  for (const EntryPoint &entry : entryPoints()) {
    if (!entry.comment.empty())
      out_ << "/* " << entry.comment << " */\n";
    out_ << entry.result << prefix_ << '_' << entry.suffix << '(' << entry.parameters << ");\n";
  }
  out_ << "\n/* In an object, for the functions of kiln/kiln.h. */\nextern const kiln_model " << modelSymbol(prefix_)
       << ";\n\n";
}

void HeaderWriter::forEachParameter(
    llvm::function_ref<void(const PortEntry &, llvm::StringRef, const AliasEntry *)> parameter) const {
  for (auto [index, port, name] : llvm::enumerate(tables_.inputs, inputs_))
    parameter(port, name, tables_.aliasOfInput(index));
  for (auto [index, port, name] : llvm::enumerate(tables_.outputs, outputs_))
    if (!tables_.aliasOfOutput(index))
      parameter(port, name, nullptr);
}

/// The number of elements if a shape is fixed, so that the caller's memory may be an array; with the room that an alias
/// has. Model a's tensor b_c and model a_b's tensor c have one macro: if they differ, nobody has it.
void HeaderWriter::writeCounts() {
  llvm::StringSet<> macros;
  forEachParameter([&](const PortEntry &port, llvm::StringRef name, const AliasEntry *alias) {
    int64_t count = 1;
    bool wraps = false;
    for (auto [axis, dim] : llvm::enumerate(port.dims)) {
      int64_t size = alias && alias->axis == int64_t(axis) ? alias->capacity : dim.size;
      wraps |= size < 0 || llvm::MulOverflow(count, size, count);
    }
    const std::string base = llvm::StringRef(prefix_ + "_" + name.str()).upper() + "_ELEMENTS";
    std::string macro = base;
    for (unsigned number = 2; !macros.insert(macro).second; ++number)
      macro = base + "_" + std::to_string(number);
    if (!wraps)
      out_ << "#ifndef " << macro << "\n#define " << macro << ' ' << count << "\n#elif " << macro << " != " << count
           << "\n#undef " << macro << "\n#define " << macro << ' ' << macro << "_is_of_two_models\n#endif\n";
  });
  out_ << '\n';
}

void HeaderWriter::describeParameters() {
  for (auto [entry, name] : llvm::zip(tables_.symbols, symbols_))
    out_ << " *   " << name << ": " << entry.min << " to " << entry.max << '\n';
  forEachParameter([&](const PortEntry &port, llvm::StringRef name, const AliasEntry *alias) {
    out_ << " *   " << name << ": " << cComment(describe(port));
    if (alias)
      out_ << cComment(describe(*alias, tables_.outputs[alias->output].name));
    if (port.name != name)
      out_ << " (" << cComment(port.name) << ")";
    out_ << '\n';
  });
}

/// Whether its rank or some of its sizes are known only after a run.
static bool isOpen(const PortEntry &port) {
  return port.optionalAxes > 0 || llvm::any_of(port.dims, [](const DimEntry &dim) { return dim.size < 0; });
}

/// "(kiln_context *context, …)"; an output is a pointer of this type and then the text, in which $ is its name, and its
/// dims where they are not fixed.
void HeaderWriter::writeParameters(llvm::StringRef outputType, llvm::StringRef afterOutput) {
  auto withType = [](llvm::StringRef pattern, const PortEntry &port, llvm::StringRef name) {
    return fillPattern(pattern, [&](char c) { return c == 't' ? typeInC(port.element).str() : name.str(); });
  };
  out_ << "(kiln_context *context";
  for (const std::string &name : symbols_)
    out_ << ", int64_t " << name;
  for (auto [index, port, name] : llvm::enumerate(tables_.inputs, inputs_)) {
    out_ << ", " << (tables_.aliasOfInput(index) ? "" : "const ") << typeInC(port.element) << " *" << name;
    if (hasRoom(index))
      out_ << ", int64_t " << name << "_room";
  }
  for (auto [index, port, name] : llvm::enumerate(tables_.outputs, outputs_))
    if (!tables_.aliasOfOutput(index))
      out_ << ", " << withType(outputType, port, name) << name << withType(afterOutput, port, name)
           << (isOpen(port) ? ", int64_t *" + name + "_dims" : "");
  out_ << ") {\n";
}

/// The room for so many elements, in bytes.
static std::string bytesOf(const std::string &name, const PortEntry &port) {
  std::string size = std::to_string(byteSize(port.element));
  return name + "_room > INT64_MAX / " + size + " ? INT64_MAX : " + name + "_room * " + size;
}

void HeaderWriter::writeInputs() {
  size_t inputs = std::max<size_t>(tables_.inputs.size(), 1), outputs = std::max<size_t>(tables_.outputs.size(), 1);
  out_ << "  kiln_tensor kiln_inputs[" << inputs << "];\n";
  out_ << "  kiln_tensor kiln_outputs[" << outputs << "];\n";
  // Zeros, without a function's name that a parameter may have, and in a form that both C11 and C++ take.
  out_ << "  static kiln_tensor kiln_none;\n";
  for (size_t i = 0; i < inputs; ++i)
    out_ << "  kiln_inputs[" << i << "] = kiln_none;\n";
  for (size_t i = 0; i < outputs; ++i)
    out_ << "  kiln_outputs[" << i << "] = kiln_none;\n";
  for (auto [index, port] : llvm::enumerate(tables_.inputs)) {
    std::string slot = "  kiln_inputs[" + std::to_string(index) + "].";
    out_ << slot << "data = (void *)" << inputs_[index] << ";\n";
    out_ << slot << "dtype = " << runtimeName(port.element) << ";\n";
    out_ << slot << "rank = " << port.dims.size() << ";\n";
    for (auto [axis, dim] : llvm::enumerate(port.dims))
      out_ << slot << "dims[" << axis << "] = " << stripParens(dimInC(dim.value)) << ";\n";
    if (hasRoom(index))
      out_ << slot << "capacity = " << bytesOf(inputs_[index], port) << ";\n";
  }
}

void HeaderWriter::writeRun() {
  out_
      << "/* Runs the model. Outputs are in memory of the context until its next run, and may be inputs of that run.\n";
  if (llvm::any_of(tables_.outputs, isOpen))
    out_ << " * The dims of an output whose shape is not fixed are written to its _dims, unless that is NULL.\n";
  describeParameters();
  out_ << " */\nstatic inline kiln_status " << prefix_ << "_run";
  writeParameters("const $t **", "");
  writeInputs();
  out_ << "  kiln_status kiln_result = " << prefix_ << "_run_tensors(context, kiln_inputs, " << tables_.inputs.size()
       << ", kiln_outputs, " << tables_.outputs.size() << ");\n";
  for (auto [index, port] : llvm::enumerate(tables_.outputs)) {
    if (tables_.aliasOfOutput(index))
      continue;
    std::string slot = "kiln_outputs[" + std::to_string(index) + "].";
    const std::string &name = outputs_[index];
    out_ << "  *" << name << " = (const " << typeInC(port.element) << " *)" << slot << "data;\n";
    if (isOpen(port))
      out_ << "  for (int axis = 0; " << name << "_dims && axis < " << port.dims.size() << "; axis++)\n    " << name
           << "_dims[axis] = " << slot << "dims[axis];\n";
  }
  out_ << "  return kiln_result;\n}\n\n";
}

void HeaderWriter::writeRunInto() {
  out_ << "/* The same with results in the caller's memory, which has room for so many elements. */\n"
          "static inline kiln_status "
       << prefix_ << "_run_into";
  writeParameters("$t *", ", int64_t $n_room");
  writeInputs();
  for (auto [index, port] : llvm::enumerate(tables_.outputs)) {
    if (tables_.aliasOfOutput(index))
      continue;
    std::string slot = "  kiln_outputs[" + std::to_string(index) + "].";
    const std::string &name = outputs_[index];
    out_ << slot << "data = " << name << ";\n";
    out_ << slot << "capacity = " << bytesOf(name, port) << ";\n";
  }
  out_ << "  kiln_status kiln_result = " << prefix_ << "_run_tensors(context, kiln_inputs, " << tables_.inputs.size()
       << ", kiln_outputs, " << tables_.outputs.size() << ");\n";
  for (auto [index, port] : llvm::enumerate(tables_.outputs)) {
    const std::string &name = outputs_[index];
    if (!tables_.aliasOfOutput(index) && isOpen(port))
      out_ << "  for (int axis = 0; " << name << "_dims && !kiln_result && axis < " << port.dims.size()
           << "; axis++)\n    " << name << "_dims[axis] = kiln_outputs[" << index << "].dims[axis];\n";
  }
  out_ << "  return kiln_result;\n}\n";
}

void HeaderWriter::writeStructs() {
  auto begin = [&](llvm::StringRef name) {
    out_ << "typedef struct " << prefix_ << name << " {\n";
    return out_.tell();
  };
  auto end = [&](llvm::StringRef name, uint64_t empty) {
    if (out_.tell() == empty) // which C does not allow
      out_ << "  void *kiln_nothing;\n";
    out_ << "} " << prefix_ << name << ";\n\n";
  };
  out_ << "/* The parameters of " << prefix_
       << "_run by name. A member that an initialiser leaves out is 0; an input then has its default. */\n";
  uint64_t empty = begin("_inputs");
  for (const std::string &name : symbols_)
    out_ << "  int64_t " << name << ";\n";
  for (auto [index, port, name] : llvm::enumerate(tables_.inputs, inputs_)) {
    out_ << "  " << (tables_.aliasOfInput(index) ? "" : "const ") << typeInC(port.element) << " *" << name << ";\n";
    if (hasRoom(index))
      out_ << "  int64_t " << name << "_room;\n";
  }
  end("_inputs", empty);
  out_ << "/* The outputs. For " << prefix_ << "_run_structs_into set each pointer, and its room in elements. */\n";
  empty = begin("_outputs");
  for (auto [index, port, name] : llvm::enumerate(tables_.outputs, outputs_)) {
    if (tables_.aliasOfOutput(index))
      continue;
    out_ << "  " << typeInC(port.element) << " *" << name << ";\n  int64_t " << name << "_room;\n";
    if (isOpen(port))
      out_ << "  int64_t " << name << "_dims[" << port.dims.size() << "];\n";
  }
  end("_outputs", empty);
}

void HeaderWriter::writeRunStructs(bool isInto) {
  llvm::StringRef into = isInto ? "_into" : "";
  out_ << (isInto
               ? "/* The same with results in the caller's memory, to which `outputs` points. */\n"
               : "/* Runs the model. Sets `outputs` to the results, in memory of the context, and to their sizes. */\n")
       << "static inline kiln_status " << prefix_ << "_run_structs" << into << "(kiln_context *context, const "
       << prefix_ << "_inputs *inputs, " << prefix_ << "_outputs *outputs) {\n";
  std::string arguments, results;
  llvm::raw_string_ostream passed(arguments), found(results);
  for (const std::string &name : symbols_)
    passed << ", inputs->" << name;
  for (auto [index, name] : llvm::enumerate(inputs_)) {
    passed << ", inputs->" << name;
    if (hasRoom(index))
      passed << ", inputs->" << name << "_room";
  }
  for (auto [index, port, name] : llvm::enumerate(tables_.outputs, outputs_)) {
    if (tables_.aliasOfOutput(index))
      continue;
    if (isInto) {
      passed << ", outputs->" << name << ", outputs->" << name << "_room";
    } else {
      passed << ", &kiln_output" << index;
      out_ << "  const " << typeInC(port.element) << " *kiln_output" << index << ";\n";
      found << "  outputs->" << name << " = (" << typeInC(port.element) << " *)kiln_output" << index << ";\n";
    }
    if (isOpen(port))
      passed << ", outputs->" << name << "_dims";
  }
  if (symbols_.empty() && inputs_.empty())
    out_ << "  (void)inputs;\n";
  if (tables_.aliases.size() == outputs_.size())
    out_ << "  (void)outputs;\n";
  out_ << "  kiln_status kiln_result = " << prefix_ << "_run" << into << "(context" << arguments << ");\n"
       << results << "  return kiln_result;\n}\n";
}

std::string HeaderWriter::write(llvm::StringRef types, llvm::StringRef model, const Origin &origin) {
  writeEntryPoints();
  writeCounts();
  writeRun();
  writeRunInto();
  out_ << '\n';
  writeStructs();
  writeRunStructs(/*isInto=*/false);
  out_ << '\n';
  writeRunStructs(/*isInto=*/true);

  // Case matters in a function's name, so it does here. The number distinguishes two models whose names begin alike.
  std::string guard = "KILN_HEADER_OF_" + prefix_, whole;
  auto number = llvm::format_hex(uint32_t(llvm::xxh3_64bits(text_ + model.str())), 10);
  llvm::raw_string_ostream(whole) << kFirstLine.first << cComment(name_) << kFirstLine.second << "\n"
                                  << describe(origin) << "#ifndef " << guard << "\n#define " << guard << ' ' << number
                                  << "\n\n"
                                  << types << "\n#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n"
                                  << text_ << "\n#ifdef __cplusplus\n}\n#endif\n#elif " << guard << " != " << number
                                  << "\n#error \"names in the header of another model begin with " << prefix_
                                  << "_ too; compile one of the two with another --name\"\n#endif\n";
  return whole;
}

std::string render::modelHeader(const ModelTables &tables, llvm::StringRef name, llvm::StringRef types,
                                llvm::StringRef model, const Origin &origin) {
  return HeaderWriter(tables, name).write(types, model, origin);
}
