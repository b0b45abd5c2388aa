#include "render/CHeader.h"

#include "ir/base/NarrowDType.h"
#include "ir/base/ObjectType.h"
#include "render/EntryPoints.h"
#include "render/Pattern.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace kiln;
using namespace kiln::render;
using view::Expr;

namespace {

/// Identifiers for names in one scope: what C and C++ reserve, or another name has taken, gets a number.
class Scope {
public:
  explicit Scope(llvm::ArrayRef<llvm::StringRef> taken) {
    for (llvm::StringRef word : taken)
      taken_.insert(word);
  }
  std::string add(llvm::StringRef name);

private:
  llvm::StringSet<> taken_;
};

class HeaderWriter {
public:
  HeaderWriter(const ModelTables &tables, llvm::StringRef name);
  std::string write(llvm::StringRef types);

private:
  void writeEntryPoints();
  void writeCounts();
  void describeParameters();
  void writeParameters(llvm::StringRef outputType, llvm::StringRef afterOutput);
  void writeInputs();
  void writeRun();
  void writeRunInto();
  std::string dimInC(Expr size);

  const ModelTables &tables_;
  std::string name_, prefix_;
  std::vector<std::string> symbols_, inputs_, outputs_;
  std::string text_;
  llvm::raw_string_ostream out_{text_};
};

} // namespace

static constexpr llvm::StringRef kReserved[] = {
    // of C11 and C++20, and what the header's function itself names
    "alignas", "alignof", "and", "and_eq", "asm", "auto", "bitand", "bitor", "bool", "break", "case", "catch", "char",
    "char16_t", "char32_t", "char8_t", "class", "co_await", "co_return", "co_yield", "compl", "concept", "const",
    "const_cast", "consteval", "constexpr", "constinit", "continue", "decltype", "default", "delete", "do", "double",
    "dynamic_cast", "else", "enum", "explicit", "export", "extern", "false", "float", "for", "friend", "goto", "if",
    "inline", "int", "int16_t", "int32_t", "int64_t", "int8_t", "long", "mutable", "namespace", "new", "noexcept",
    "not", "not_eq", "nullptr", "operator", "or", "or_eq", "private", "protected", "public", "register",
    "reinterpret_cast", "requires", "restrict", "return", "short", "signed", "sizeof", "static", "static_assert",
    "static_cast", "struct", "switch", "template", "this", "thread_local", "throw", "true", "try", "typedef", "typeid",
    "typename", "uint16_t", "uint32_t", "uint64_t", "uint8_t", "union", "unsigned", "using", "virtual", "void",
    "volatile", "wchar_t", "while", "xor", "xor_eq",
    // what a C library or a compiler in GNU mode may define as a macro
    "NULL", "EOF", "I", "assert", "complex", "errno", "i386", "linux", "major", "max", "min", "minor", "noreturn",
    "offsetof", "stderr", "stdin", "stdout", "unix", "vector", "pixel", "arm", "mips", "sparc", "context",
    "kiln_status", "kiln_tensor", "kiln_context", "kiln_inputs", "kiln_outputs", "kiln_none", "kiln_result", "axis",
    "INT64_MAX"};

std::string Scope::add(llvm::StringRef name) {
  std::string base = identifier(name);
  if (base.empty() || llvm::isDigit(base.front()))
    base = "_" + base;
  std::string made = base;
  for (unsigned number = 2; !taken_.insert(made).second; ++number)
    made = base + "_" + std::to_string(number);
  return made;
}

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

/// "float32 [batch, 10]". A name may hold anything; it must not end the comment.
static std::string describe(const PortEntry &port) {
  std::string text = nameOf(port.element).str();
  if (!port.holds.empty())
    return text + (llvm::isa<SequenceType>(port.element) ? " of " : " ") + describe(port.holds.front()) +
           (port.value ? ", or NULL" : "");
  if (!port.hasRank)
    return text;
  llvm::raw_string_ostream out(text);
  out << " [";
  llvm::interleaveComma(port.dims, out, [&](const DimEntry &dim) { out << dim.text; });
  out << ']';
  if (port.value)
    out << ", or NULL for its stored default";
  return text;
}

/// What is added where an output lies in the input's memory.
static std::string describe(const AliasEntry &alias, llvm::StringRef output) {
  std::string text = ", where output '" + output.str() + "' comes to lie";
  if (alias.axis >= 0)
    text += ", in memory with " + std::to_string(alias.capacity) + " elements along axis " + std::to_string(alias.axis);
  return text;
}

static std::string inComment(llvm::StringRef text) {
  std::string result;
  for (char c : text)
    result += llvm::isPrint(c) && !(c == '/' && !result.empty() && result.back() == '*') ? c : '?';
  return result;
}

HeaderWriter::HeaderWriter(const ModelTables &tables, llvm::StringRef name) : tables_(tables), name_(name) {
  prefix_ = headerName(name);
  Scope parameters(kReserved);
  for (const SymbolEntry &entry : tables.symbols)
    symbols_.push_back(parameters.add(entry.name));
  for (const PortEntry &entry : tables.inputs)
    inputs_.push_back(parameters.add(entry.name));
  for (const PortEntry &entry : tables.outputs) {
    outputs_.push_back(parameters.add(entry.name));
    parameters.add(outputs_.back() + "_dims");
    parameters.add(outputs_.back() + "_room");
  }
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

/// How many elements there are where a shape is fixed, so that the caller's memory may be an array; with the room that
/// an alias has.
void HeaderWriter::writeCounts() {
  Scope macros({});
  for (auto [ports, names] : {std::pair(&tables_.inputs, &inputs_), std::pair(&tables_.outputs, &outputs_)})
    for (auto [index, port, name] : llvm::enumerate(*ports, *names)) {
      bool isInput = ports == &tables_.inputs;
      if (!isInput && tables_.aliasOfOutput(index))
        continue;
      const AliasEntry *alias = isInput ? tables_.aliasOfInput(index) : nullptr;
      int64_t count = 1;
      bool wraps = false;
      for (auto [axis, dim] : llvm::enumerate(port.dims)) {
        int64_t size = alias && alias->axis == int64_t(axis) ? alias->capacity : dim.size;
        wraps |= size < 0 || llvm::MulOverflow(count, size, count);
      }
      std::string macro = macros.add(llvm::StringRef(prefix_ + "_" + name).upper() + "_ELEMENTS");
      if (!wraps)
        out_ << "#define " << macro << ' ' << count << '\n';
    }
  out_ << '\n';
}

void HeaderWriter::describeParameters() {
  for (auto [entry, name] : llvm::zip(tables_.symbols, symbols_))
    out_ << " *   " << name << ": " << entry.min << " to " << entry.max << '\n';
  for (auto [ports, names] : {std::pair(&tables_.inputs, &inputs_), std::pair(&tables_.outputs, &outputs_)})
    for (auto [index, port, name] : llvm::enumerate(*ports, *names)) {
      bool isInput = ports == &tables_.inputs;
      if (!isInput && tables_.aliasOfOutput(index))
        continue;
      out_ << " *   " << name << ": " << inComment(describe(port));
      if (const AliasEntry *alias = isInput ? tables_.aliasOfInput(index) : nullptr)
        out_ << inComment(describe(*alias, tables_.outputs[alias->output].name));
      if (port.name != name)
        out_ << " (" << inComment(port.name) << ")";
      out_ << '\n';
    }
}

/// "(kiln_context *context, …)"; an output is a pointer of this type, and what is behind it, where $ is its name.
void HeaderWriter::writeParameters(llvm::StringRef outputType, llvm::StringRef afterOutput) {
  auto withType = [](llvm::StringRef pattern, const PortEntry &port, llvm::StringRef name) {
    return fillPattern(pattern, [&](char c) { return c == 't' ? typeInC(port.element).str() : name.str(); });
  };
  out_ << "(kiln_context *context";
  for (const std::string &name : symbols_)
    out_ << ", int64_t " << name;
  for (auto [index, port, name] : llvm::enumerate(tables_.inputs, inputs_)) {
    const AliasEntry *alias = tables_.aliasOfInput(index);
    out_ << ", " << (alias ? "" : "const ") << typeInC(port.element) << " *" << name;
    if (alias && alias->axis >= 0)
      out_ << ", int64_t " << name << "_room";
  }
  for (auto [index, port, name] : llvm::enumerate(tables_.outputs, outputs_))
    if (!tables_.aliasOfOutput(index))
      out_ << ", " << withType(outputType, port, name) << name << withType(afterOutput, port, name);
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
    if (const AliasEntry *alias = tables_.aliasOfInput(index); alias && alias->axis >= 0)
      out_ << slot << "capacity = " << bytesOf(inputs_[index], port) << ";\n";
  }
}

void HeaderWriter::writeRun() {
  out_ << "/* Runs the model. Outputs come to lie in memory of the context, valid until its next run, in which they "
          "may\n"
          " * be inputs. Where the pointer to an output's dims is not NULL, they are written there.\n";
  describeParameters();
  out_ << " */\nstatic inline kiln_status " << prefix_ << "_run";
  writeParameters("const $t **", ", int64_t *$n_dims");
  writeInputs();
  out_ << "  kiln_status kiln_result = " << prefix_ << "_run_tensors(context, kiln_inputs, " << tables_.inputs.size()
       << ", kiln_outputs, " << tables_.outputs.size() << ");\n";
  for (auto [index, port] : llvm::enumerate(tables_.outputs)) {
    if (tables_.aliasOfOutput(index))
      continue;
    std::string slot = "kiln_outputs[" + std::to_string(index) + "].";
    const std::string &name = outputs_[index];
    out_ << "  *" << name << " = (const " << typeInC(port.element) << " *)" << slot << "data;\n";
    if (port.dims.empty()) {
      out_ << "  (void)" << name << "_dims;\n";
      continue;
    }
    out_ << "  for (int axis = 0; " << name << "_dims && axis < " << port.dims.size() << "; axis++)\n    " << name
         << "_dims[axis] = " << slot << "dims[axis];\n";
  }
  out_ << "  return kiln_result;\n}\n\n";
}

void HeaderWriter::writeRunInto() {
  out_ << "/* The same with results in the caller's memory, which has room for so many elements. */\n"
          "static inline kiln_status "
       << prefix_ << "_run_into";
  writeParameters("$t *", ", int64_t $n_room, int64_t *$n_dims");
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
    if (tables_.aliasOfOutput(index))
      continue;
    if (port.dims.empty())
      out_ << "  (void)" << name << "_dims;\n";
    else
      out_ << "  for (int axis = 0; " << name << "_dims && !kiln_result && axis < " << port.dims.size()
           << "; axis++)\n    " << name << "_dims[axis] = kiln_outputs[" << index << "].dims[axis];\n";
  }
  out_ << "  return kiln_result;\n}\n";
}

std::string HeaderWriter::write(llvm::StringRef types) {
  std::string guard = llvm::StringRef(prefix_).upper() + "_H";
  out_ << kFirstLine.first << inComment(name_) << kFirstLine.second << "\n#ifndef " << guard << "\n#define " << guard
       << "\n\n"
       << types << "\n#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n";
  writeEntryPoints();
  writeCounts();
  writeRun();
  writeRunInto();
  out_ << "\n#ifdef __cplusplus\n}\n#endif\n#endif\n";
  return text_;
}

std::string render::modelHeader(const ModelTables &tables, llvm::StringRef name, llvm::StringRef types) {
  return HeaderWriter(tables, name).write(types);
}

std::string render::headerName(llvm::StringRef text) {
  std::string name = identifier(text);
  if (name.empty() || llvm::isDigit(name.front()))
    name.insert(0, "_");
  // kiln_model and kiln_run are the runtime's.
  return name == "kiln" ? "kiln_2" : name;
}
