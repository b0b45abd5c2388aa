#include "render/c/CHost.h"

#include "ir/uop/LaunchCost.h"
#include "render/kernel/CStyle.h"
#include "render/kernel/Pattern.h"
#include "render/kernel/Spelling.h"
#include "render/model/EntryPoints.h"
#include "render/model/WeightData.h"
#include "support/Quote.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FormatVariadic.h"

using namespace kiln;
using namespace kiln::render;

namespace {

/// Writes the tables of kiln/program.h.
class TableWriter {
public:
  explicit TableWriter(const CHostOptions &options) : options_(options), functions_(kC11) {}

  llvm::Expected<std::string> run(const ModelTables &tables);

private:
  /// Defines an array and returns its name; NULL if it is empty.
  std::string array(llvm::StringRef type, llvm::StringRef name, llvm::ArrayRef<std::string> rows,
                    llvm::StringRef separator = ",\n  ");
  std::string ports(llvm::StringRef name, llvm::ArrayRef<PortEntry> entries);
  std::string elements(llvm::StringRef name, mlir::ElementsAttr value);
  std::string symbols(llvm::ArrayRef<SymbolEntry> entries);
  std::string weights(llvm::ArrayRef<WeightEntry> entries);
  std::string kernels(llvm::ArrayRef<KernelEntry> entries);
  std::string aliases(llvm::ArrayRef<AliasEntry> entries);
  std::string words(llvm::StringRef bytes);
  llvm::Expected<std::string> weightData(const ModelTables &tables);
  std::string code(llvm::StringRef name, llvm::StringRef content);
  std::string places();
  std::string origin();
  void entryPoints();

  const CHostOptions &options_;
  SemanticFunctions functions_;
  std::string text_;
};

} // namespace

std::string TableWriter::array(llvm::StringRef type, llvm::StringRef name, llvm::ArrayRef<std::string> rows,
                               llvm::StringRef separator) {
  if (rows.empty())
    return "NULL";
  bool isTable = separator.contains('\n');
  text_ += ("static const " + type + " " + name + "[] = {" + (isTable ? "\n  " : "") + llvm::join(rows, separator) +
            (isTable ? ",\n" : "") + "};\n")
               .str();
  return name.str();
}

std::string TableWriter::elements(llvm::StringRef name, mlir::ElementsAttr value) {
  DType dtype = scalarDType(value.getElementType());
  Spelling spelling(kC11, functions_);
  std::vector<std::string> texts;
  for (mlir::Attribute element : value.getValues<mlir::Attribute>())
    texts.push_back(spelling.constant(llvm::cast<mlir::TypedAttr>(element)));
  if (texts.empty())
    texts.push_back("0"); // C has no empty arrays, and NULL would mean that there is no default
  std::string type = ("_Alignas(KILN_HOST_ALIGNMENT) " + kC11.element(dtype)).str();
  return array(type, name, texts, texts.size() > 16 ? ",\n  " : ", ");
}

std::string TableWriter::ports(llvm::StringRef name, llvm::ArrayRef<PortEntry> entries) {
  llvm::SmallVector<std::string> rows;
  for (auto [index, port] : llvm::enumerate(entries)) {
    std::string prefix = (name.drop_back() + llvm::Twine(index)).str(); // input0, output0
    auto dims = llvm::map_to_vector(port.dims, [](const DimEntry &dim) -> std::string {
      return llvm::formatv("{{{0}, {1}, {2}}", cString(dim.text), dim.size, dim.symbol);
    });
    std::string dimsName = array("kiln_dim", prefix + "_dims", dims, ", ");
    std::string value = port.value ? elements(prefix + "_value", port.value) : "NULL";
    std::string held = ports(prefix + "_holds", port.holds);
    rows.push_back(llvm::formatv("{{{0}, {1}, {2}, {3}, {4}, {5}, {6}, {7}}", cString(port.name),
                                 runtimeName(port.element), port.hasRank ? int64_t(port.dims.size()) : -1, dimsName,
                                 value, held, port.device, port.optionalAxes));
  }
  return array("kiln_port", name, rows);
}

std::string TableWriter::symbols(llvm::ArrayRef<SymbolEntry> entries) {
  auto number = [](int64_t value) {
    return integerLiteral(kC11, DType::I64, llvm::APInt(64, value, /*isSigned=*/true));
  };
  return array("kiln_symbol", "symbols", llvm::map_to_vector(entries, [&](const SymbolEntry &entry) -> std::string {
                 return llvm::formatv("{{{0}, {1}, {2}, {3}}", cString(entry.name), number(entry.min),
                                      number(entry.max), number(entry.value));
               }));
}

std::string TableWriter::aliases(llvm::ArrayRef<AliasEntry> entries) {
  return array("kiln_alias", "aliases", llvm::map_to_vector(entries, [](const AliasEntry &entry) -> std::string {
                 return llvm::formatv("{{{0}, {1}, {2}, {3}}", entry.input, entry.output, entry.axis, entry.capacity);
               }));
}

std::string TableWriter::weights(llvm::ArrayRef<WeightEntry> entries) {
  llvm::SmallVector<std::string> rows;
  for (auto [index, entry] : llvm::enumerate(entries)) {
    auto dims = llvm::map_to_vector(entry.dims, [](int64_t size) { return std::to_string(size); });
    std::string dimsName = array("int64_t", "weight" + std::to_string(index) + "_dims", dims, ", ");
    rows.push_back(llvm::formatv("{{{0}, {1}, {2}, {3}, {4}, {5}, {6}}", cString(entry.name), runtimeName(entry.dtype),
                                 entry.dims.size(), dimsName, entry.offset, entry.bytes, entry.device));
  }
  return array("kiln_weight", "weights", rows);
}

/// The texts of the origin, and its note; NULL if it is not known.
std::string TableWriter::origin() {
  const Origin &origin = options_.origin;
  if (origin.kiln.empty())
    return "NULL";
  text_ += "static const kiln_origin origin = {" + cString(origin.kiln) + ", " + cString(origin.digest) + ", " +
           cString(llvm::join(origin.cpus, ",")) + ", " + cString(origin.target) + ", " +
           cString(llvm::join(origin.libraries, ",")) + "};\n";
  std::string description = originJson(origin);
  size_t bytes = description.size() + 1;
  text_ +=
      llvm::formatv("#ifdef __ELF__\n__attribute__((section(\"{0}\"), aligned({1}), used)) static const struct {{\n"
                    "  uint32_t name_bytes, text_bytes, type;\n  char name[{2}], text[{3}];\n"
                    "} note = {{{4}, {5}, {6}, {7}, {8}};\n#endif\n",
                    kNoteSection, kNoteAlignment, sizeof kNoteOwner, llvm::alignTo(bytes, kNoteAlignment),
                    kNoteOwnerBytes, bytes, kNoteType, cString(kNoteOwner), cString(description));
  return "&origin";
}

/// The kernels, declared static first, and for each a function of the form that kiln_kernel.entry has.
std::string TableWriter::kernels(llvm::ArrayRef<KernelEntry> entries) {
  llvm::SmallVector<std::string> rows;
  for (const KernelEntry &entry : entries) {
    uop::FuncOp function = entry.function;
    std::string name = cIdentifier(function.getSymName()), trampoline = "NULL";
    if (options_.places[entry.device].device == "c") {
      LinearProgram program = linearize(function);
      llvm::SmallVector<std::string> arguments;
      for (int32_t index = 0; index < entry.buffers; ++index)
        arguments.push_back("buffers[" + std::to_string(index) + "]");
      for (int32_t index = 0; index < entry.sizes; ++index)
        arguments.push_back(("(" + kC11.value(scalarDType(function.getArgumentTypes()[entry.buffers + index])) +
                             ")sizes[" + llvm::Twine(index) + "]")
                                .str());
      bool takesChunk = usesChunk(program);
      if (takesChunk)
        arguments.push_back("chunk");
      trampoline = "enter_" + name;
      text_ += llvm::formatv("static {0};\n{1}"
                             "static void {2}(void *const *buffers, const int64_t *sizes, int64_t chunk) {{\n{3}{4}{5}"
                             "  {6}({7});\n}\n\n",
                             kernelSignature(kC11, program), renderKernel(kC11, program, functions_), trampoline,
                             entry.buffers ? "" : "  (void)buffers;\n", entry.sizes ? "" : "  (void)sizes;\n",
                             takesChunk ? "" : "  (void)chunk;\n", name, llvm::join(arguments, ", "));
    }
    llvm::StringRef axes = uop::axesOf(function);
    rows.push_back(llvm::formatv("{{{0}, {1}, {2}, {3}, {{{4}, {5}, {6}}, {7}, {8}, {9}}",
                                 cString(function.getSymName()), entry.buffers, entry.sizes, trampoline, entry.local[0],
                                 entry.local[1], entry.local[2], entry.scratch, entry.device,
                                 axes.empty() ? "NULL" : cString(axes)));
  }
  return array("kiln_kernel", "kernels", rows);
}

/// Many weights are numbers of eight bytes, so that the compiler reads fewer.
std::string TableWriter::words(llvm::StringRef bytes) {
  text_ += "#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__\n"
           "#error the weights are in little-endian order\n#endif\n"
           "static const _Alignas(KILN_ALIGNMENT) uint64_t weight_data[] = {";
  llvm::raw_string_ostream out(text_);
  for (size_t at = 0; at < bytes.size(); at += 8) {
    uint64_t word = 0;
    for (size_t i = 0; i < 8 && at + i < bytes.size(); ++i)
      word |= uint64_t(static_cast<unsigned char>(bytes[at + i])) << 8 * i;
    out << (at == 0 ? "\n0x" : at % 64 == 0 ? ",\n0x" : ",0x") << llvm::utohexstr(word, /*LowerCase=*/true);
  }
  out << "};\n";
  return "weight_data";
}

llvm::Expected<std::string> TableWriter::weightData(const ModelTables &tables) {
  if (tables.weights.empty() || options_.weightsInFile)
    return "NULL";
  if (!weightsInSource(tables) && !options_.isSelfContained) {
    text_ += "extern const unsigned char " + options_.weightSymbol + "[];\n";
    return options_.weightSymbol;
  }
  std::string bytes;
  llvm::raw_string_ostream stream(bytes);
  if (llvm::Error error = writeWeights(tables.weights, options_.weights, stream))
    return error;
  if (!weightsInSource(tables))
    return words(bytes);
  auto numbers = llvm::map_to_vector(bytes, [](unsigned char byte) { return std::to_string(byte); });
  if (numbers.empty())
    numbers.push_back("0");
  return array("_Alignas(KILN_ALIGNMENT) unsigned char", "weight_data", numbers, ", ");
}

std::string TableWriter::code(llvm::StringRef name, llvm::StringRef content) {
  if (content.empty())
    return "NULL";
  text_ += ("static const char " + name + "[] =").str();
  for (llvm::StringRef rest = content; !rest.empty();) {
    size_t end = std::min(rest.find('\n'), rest.size() - 1) + 1;
    text_ += "\n  " + cString(rest.take_front(end));
    rest = rest.drop_front(end);
  }
  text_ += ";\n";
  return name.str();
}

std::string TableWriter::places() {
  auto real = [](double value) { return llvm::formatv("{0:F3}", value).str(); };
  llvm::SmallVector<std::string> rows;
  llvm::StringSet<> declared;
  for (auto [index, place] : llvm::enumerate(options_.places)) {
    if (declared.insert(place.device).second)
      text_ += "extern const kiln_device kiln_device_" + place.device + ";\n";
    auto caches = llvm::map_to_vector(place.caches, [&](const target::CacheRate &cache) -> std::string {
      return llvm::formatv("{{{0}, {1}}", cache.bytes, real(cache.bytesPerNs));
    });
    rows.push_back(llvm::formatv("{{&kiln_device_{0}, {1}, {2}, {3}, {4}, {{{5}}}", place.device,
                                 code("code" + std::to_string(index), place.code), place.code.size(),
                                 real(place.operationsPerNs), real(place.bytesPerNs), llvm::join(caches, ", ")));
  }
  return array("kiln_place", "devices", rows);
}

void TableWriter::entryPoints() {
  for (const EntryPoint &entry : render::entryPoints()) {
    std::string head = (entry.result + options_.prefix + "_" + entry.suffix + "(" + entry.parameters + ")").str();
    text_ += llvm::formatv("\n{0};\n{0} {{\n  {1}{2}({3}{4});\n}\n", head, entry.types.front() == 'v' ? "" : "return ",
                           entry.target, entry.passesModel ? "&" + options_.symbol + ", " : "", entry.arguments);
  }
}

llvm::Expected<std::string> TableWriter::run(const ModelTables &tables) {
  std::string kernelTable = kernels(tables.kernels);
  text_ += renderRunFunction(tables, functions_) + "\n";
  std::string inputs = ports("inputs", tables.inputs), outputs = ports("outputs", tables.outputs);
  std::string symbolTable = symbols(tables.symbols), weightTable = weights(tables.weights), deviceTable = places();
  std::string aliasTable = aliases(tables.aliases), originTable = origin();
  llvm::Expected<std::string> data = weightData(tables);
  if (!data)
    return data.takeError();
  auto field = [&](llvm::StringRef name, const llvm::Twine &value) {
    text_ += ("  ." + name + " = " + value + ",\n").str();
  };
  text_ += "\nextern const kiln_model " + options_.symbol + ";\nconst kiln_model " + options_.symbol + " = {\n";
  field("abi", "KILN_ABI_VERSION");
  field("name", cString(options_.name));
  field("devices", deviceTable);
  field("features", "\"\"");
  field("inputs", inputs);
  field("outputs", outputs);
  field("symbols", symbolTable);
  field("weights", weightTable);
  field("kernels", kernelTable);
  field("device_count", llvm::Twine(options_.places.size()));
  field("input_count", llvm::Twine(tables.inputs.size()));
  field("output_count", llvm::Twine(tables.outputs.size()));
  field("symbol_count", llvm::Twine(tables.symbols.size()));
  field("weight_count", llvm::Twine(tables.weights.size()));
  field("kernel_count", llvm::Twine(tables.kernels.size()));
  field("weight_data", *data);
  field("weight_bytes", llvm::Twine(tables.weightBytes));
  field("run", "run");
  if (!options_.weightsDigest.empty())
    field("weights_digest", cString(options_.weightsDigest));
  if (!tables.aliases.empty()) {
    field("aliases", aliasTable);
    field("alias_count", llvm::Twine(tables.aliases.size()));
  }
  field("origin", originTable);
  text_ += "};\n";
  if (!options_.prefix.empty())
    entryPoints();
  std::string libraries,
      deviceNames = llvm::join(llvm::map_range(options_.places, [](const Place &place) { return place.device; }), ", ");
  if (options_.isSelfContained)
    for (const LibraryEntry &library : tables.libraries)
      libraries += ("\n * It calls " + library.word + ": compile kiln.c with -DKILN_WITH_" + library.word + ", link " +
                    library.linked + ".")
                       .str();
  return ("/* " + cComment(options_.name) + ", compiled by kiln for the device " + deviceNames +
          ".\n * Compile with -std=c11 -O2 -fwrapv -ffp-contract=off, link libm and kiln's runtime." + libraries +
          " */\n" + kC11.fileHead +
          (options_.isSelfContained ? "\n#include \"kiln.h\"\n\n"
                                    : "\n#include \"kiln/call.h\"\n#include \"kiln/program.h\"\n\n") +
          (usesReferences(tables)
               ? "_Static_assert(sizeof(kiln_string) == 8, \"strings and sequences are pointers of 64 bits\");\n\n"
               : "") +
          functions_.definitions() + text_)
      .str();
}

llvm::Expected<std::string> render::renderCHost(const ModelTables &tables, const CHostOptions &options) {
  return TableWriter(options).run(tables);
}

std::string render::renderCKernels(llvm::ArrayRef<uop::FuncOp> kernels, bool isComplete) {
  SemanticFunctions functions(kC11);
  std::string text;
  for (uop::FuncOp kernel : kernels)
    text += (text.empty() ? "" : "\n") + renderKernel(kC11, linearize(kernel), functions);
  if (!isComplete)
    return text;
  return (kC11.fileHead + "\n#include \"kiln/call.h\"\n#include \"kiln/program.h\"\n\n" + functions.definitions() +
          text)
      .str();
}
