#include "render/CHeader.h"

#include "render/Pattern.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
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
  HeaderWriter(const ModelTables &tables, llvm::StringRef name, llvm::StringRef symbol);
  std::string write();

private:
  void writeRun();
  std::string dimInC(Expr size);

  const ModelTables &tables_;
  std::string name_, prefix_, symbol_;
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
    "kiln_status", "kiln_tensor", "kiln_run", "kiln_context", "kiln_inputs", "kiln_outputs", "kiln_none",
    "kiln_result"};

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

static llvm::StringRef typeInC(DType dtype) {
  static constexpr llvm::StringLiteral names[kDTypes] = {"uint8_t",  "int8_t",   "uint8_t", "int16_t",  "uint16_t",
                                                         "int32_t",  "uint32_t", "int64_t", "uint64_t", "uint16_t",
                                                         "uint16_t", "float",    "double"};
  return names[static_cast<unsigned>(dtype)];
}

static llvm::StringRef nameOf(DType dtype) {
  static constexpr llvm::StringLiteral names[kDTypes] = {"bool",     "int8",    "uint8",  "int16",  "uint16",
                                                         "int32",    "uint32",  "int64",  "uint64", "float16",
                                                         "bfloat16", "float32", "float64"};
  return names[static_cast<unsigned>(dtype)];
}

/// "float32 [batch, 10]". A name may hold anything; it must not end the comment.
static std::string describe(const PortEntry &port) {
  std::string text = nameOf(port.dtype).str() + " [";
  llvm::raw_string_ostream out(text);
  llvm::interleaveComma(port.dims, out, [&](const DimEntry &dim) { out << dim.text; });
  out << ']';
  if (port.value)
    out << ", or NULL for its stored default";
  return text;
}

static std::string inComment(llvm::StringRef text) {
  std::string result;
  for (char c : text)
    result += llvm::isPrint(c) && !(c == '/' && !result.empty() && result.back() == '*') ? c : '?';
  return result;
}

HeaderWriter::HeaderWriter(const ModelTables &tables, llvm::StringRef name, llvm::StringRef symbol)
    : tables_(tables), name_(name), symbol_(symbol) {
  prefix_ = headerName(name);
  Scope parameters(kReserved);
  for (const SymbolEntry &entry : tables.symbols)
    symbols_.push_back(parameters.add(entry.name));
  for (const PortEntry &entry : tables.inputs)
    inputs_.push_back(parameters.add(entry.name));
  for (const PortEntry &entry : tables.outputs) {
    outputs_.push_back(parameters.add(entry.name));
    parameters.add(outputs_.back() + "_dims");
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

void HeaderWriter::writeRun() {
  out_ << "/* Runs the model";
  if (!tables_.symbols.empty()) {
    out_ << " for these sizes:\n";
    for (auto [entry, name] : llvm::zip(tables_.symbols, symbols_))
      out_ << " *   " << name << ": " << entry.min << " to " << entry.max << '\n';
    out_ << " *";
  } else {
    out_ << '.';
  }
  out_ << " An output points to memory of the context, valid until its next run, in which it may be an\n"
          " * input; where the pointer to its dims is not NULL, they are written there.\n";
  for (auto [ports, names] : {std::pair(&tables_.inputs, &inputs_), std::pair(&tables_.outputs, &outputs_)})
    for (auto [port, name] : llvm::zip(*ports, *names)) {
      out_ << " *   " << name << ": " << inComment(describe(port));
      if (port.name != name)
        out_ << " (" << inComment(port.name) << ")";
      out_ << '\n';
    }
  out_ << " */\nstatic inline kiln_status " << prefix_ << "_run(kiln_context *context";
  for (const std::string &name : symbols_)
    out_ << ", int64_t " << name;
  for (auto [port, name] : llvm::zip(tables_.inputs, inputs_))
    out_ << ", const " << typeInC(port.dtype) << " *" << name;
  for (auto [port, name] : llvm::zip(tables_.outputs, outputs_))
    out_ << ", const " << typeInC(port.dtype) << " **" << name << ", int64_t *" << name << "_dims";
  out_ << ") {\n";
  size_t inputs = tables_.inputs.size(), outputs = tables_.outputs.size();
  out_ << "  kiln_tensor kiln_inputs[" << std::max<size_t>(inputs, 1) << "];\n";
  out_ << "  kiln_tensor kiln_outputs[" << std::max<size_t>(outputs, 1) << "];\n";
  // Zeros, without a function's name that a parameter may have, and in a form that both C11 and C++ take.
  out_ << "  static kiln_tensor kiln_none;\n";
  for (size_t i = 0; i < std::max<size_t>(inputs, 1); ++i)
    out_ << "  kiln_inputs[" << i << "] = kiln_none;\n";
  for (size_t i = 0; i < std::max<size_t>(outputs, 1); ++i)
    out_ << "  kiln_outputs[" << i << "] = kiln_none;\n";
  for (auto [index, port] : llvm::enumerate(tables_.inputs)) {
    std::string slot = "  kiln_inputs[" + std::to_string(index) + "].";
    out_ << slot << "data = (void *)" << inputs_[index] << ";\n";
    out_ << slot << "dtype = " << runtimeName(port.dtype) << ";\n";
    out_ << slot << "rank = " << port.dims.size() << ";\n";
    for (auto [axis, dim] : llvm::enumerate(port.dims))
      out_ << slot << "dims[" << axis << "] = " << stripParens(dimInC(dim.value)) << ";\n";
  }
  out_ << "  kiln_status kiln_result = kiln_run(context, kiln_inputs, " << inputs << ", kiln_outputs, " << outputs
       << ");\n";
  for (auto [index, port] : llvm::enumerate(tables_.outputs)) {
    std::string slot = "kiln_outputs[" + std::to_string(index) + "].";
    const std::string &name = outputs_[index];
    out_ << "  *" << name << " = (const " << typeInC(port.dtype) << " *)" << slot << "data;\n";
    if (port.dims.empty()) {
      out_ << "  (void)" << name << "_dims;\n";
      continue;
    }
    out_ << "  for (int axis = 0; " << name << "_dims && axis < " << port.dims.size() << "; axis++)\n    " << name
         << "_dims[axis] = " << slot << "dims[axis];\n";
  }
  out_ << "  return kiln_result;\n}\n";
}

std::string HeaderWriter::write() {
  std::string guard = llvm::StringRef(prefix_).upper() + "_H";
  out_ << kFirstLine.first << inComment(name_) << kFirstLine.second << "\n#ifndef " << guard << "\n#define " << guard
       << "\n\n#include \"kiln/kiln.h\"\n\n#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n"
       << "/* For kiln_context_create. */\nextern const kiln_model " << symbol_ << ";\n\n";
  writeRun();
  out_ << "\n#ifdef __cplusplus\n}\n#endif\n#endif\n";
  return text_;
}

std::string render::modelHeader(const ModelTables &tables, llvm::StringRef name, llvm::StringRef symbol) {
  return HeaderWriter(tables, name, symbol).write();
}

std::string render::headerName(llvm::StringRef text) {
  std::string name = identifier(text);
  if (name.empty() || llvm::isDigit(name.front()))
    name.insert(0, "_");
  // kiln_model and kiln_run are the runtime's.
  return name == "kiln" ? "kiln_2" : name;
}

bool render::isModelHeader(llvm::StringRef text) {
  llvm::StringRef line = text.split('\n').first;
  return line.starts_with(kFirstLine.first) && line.ends_with(kFirstLine.second);
}
