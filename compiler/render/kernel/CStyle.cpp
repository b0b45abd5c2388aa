#include "render/kernel/CStyle.h"

#include "render/kernel/Alignment.h"
#include "render/kernel/Pattern.h"
#include "render/kernel/Spelling.h"
#include "render/kernel/ValueUses.h"
#include "support/Quote.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"

using namespace kiln;
using namespace kiln::render;

/// Letters of a size's name in its variable's name: C compares the first 63.
static constexpr size_t kMostLetters = 40;

/// The names of sizes in a kernel. Two names of a model may become one identifier, and one may become what another gets
/// with a number appended.
static llvm::SmallVector<std::string> sizeNames(const LinearProgram &program) {
  llvm::SmallVector<std::string> names;
  for (auto [number, size] : llvm::enumerate(uop::FuncOp(program.function).getSizes().getSizes())) {
    if (size.kind() != view::Expr::Kind::Var) {
      names.push_back("dim" + std::to_string(number));
      continue;
    }
    const std::string base = "dim_" + cIdentifier(size.name().take_front(kMostLetters));
    std::string name = base;
    for (unsigned repeats = 2; llvm::is_contained(names, name); ++repeats)
      name = base + "_" + std::to_string(repeats);
    names.push_back(std::move(name));
  }
  return names;
}

namespace {

/// clang reads 256 nested brackets; an expression is cut well before that, and before copying it takes long.
constexpr unsigned kMostNesting = 64;
constexpr size_t kMostLength = 1000;

/// A row's value: one text, or one per lane if the language has no such vector.
struct Value {
  llvm::SmallVector<std::string, 1> texts;
  bool isInlined = false; ///< an expression, not a name
};

class KernelRenderer {
public:
  KernelRenderer(const CLanguage &language, const LinearProgram &program, SemanticFunctions &functions)
      : language_(language), program_(program), spelling_(language, functions), sizeNames_(sizeNames(program)),
        values_(program.rows.size()), uses_(findUses(program, [&](mlir::Type type) { return isWhole(type); })) {}

  std::string run();

private:
  const LinearUOp &row(unsigned index) const { return program_.rows[index]; }
  bool isWhole(mlir::Type type) const { return language_.hasVector(scalarDType(type), uop::lanesOf(type)); }
  std::string typeName(mlir::Type type) const;

  void render(unsigned index);
  void define(unsigned index);
  void assumeAligned(unsigned index);
  void load(unsigned index);
  void store(const LinearUOp &uop);
  unsigned assignPhis(unsigned index);
  void emitValue(unsigned index);
  void shuffle(unsigned index);
  std::string scalar(const LinearUOp &uop, unsigned lane);
  std::optional<std::string> wholeVector(const LinearUOp &uop);

  bool mayInline(unsigned index, llvm::ArrayRef<std::string> texts) const;
  void bindText(unsigned index, llvm::StringRef prefix, llvm::SmallVector<std::string, 1> texts);
  void declare(unsigned index, llvm::StringRef prefix, llvm::ArrayRef<std::string> texts);

  /// The value of one lane, of a scalar for every lane.
  std::string lane(unsigned index, unsigned lane) const;
  /// The value as one text of the language's vector type.
  std::string whole(unsigned index) const;
  Operand operand(unsigned index, unsigned lane) const;
  std::string element(const LinearUOp &uop, unsigned lane) const;
  std::string pointer(const LinearUOp &uop) const;
  std::string pointToLanes(const LinearUOp &uop, unsigned lanes);

  void line(const llvm::Twine &text) { body_ += std::string(2 * depth_, ' ') + text.str() + "\n"; }
  std::string fresh(llvm::StringRef prefix) { return (prefix + llvm::Twine(counters_[prefix]++)).str(); }

  const CLanguage &language_;
  const LinearProgram &program_;
  Spelling spelling_;
  llvm::SmallVector<std::string> sizeNames_;
  std::vector<Value> values_;
  ValueUses uses_;
  llvm::StringMap<unsigned> counters_;
  std::string body_;
  unsigned depth_ = 1;
};

} // namespace

//===----------------------------------------------------------------------===//
// Names and types
//===----------------------------------------------------------------------===//

std::string render::kernelSignature(const CLanguage &language, const LinearProgram &program) {
  llvm::SmallVector<std::string> parameters, names = sizeNames(program);
  uop::FuncOp function = program.function;
  for (const LinearUOp &uop : program.rows) {
    if (uop.kind == LinearKind::DefineGlobal) {
      llvm::StringRef constness = function.writes(uop.number) ? "" : "const ";
      parameters.push_back((constness + language.globalQualifier + language.element(scalarDType(uop.type)) + "* " +
                            language.restrictQualifier + " data" + llvm::Twine(uop.number))
                               .str());
    } else if (uop.kind == LinearKind::DefineVar) {
      bool isConverted = !language.sizeParameter.empty();
      llvm::StringRef type =
          isConverted ? llvm::StringRef(language.sizeParameter) : language.value(scalarDType(uop.type));
      parameters.push_back(
          ("const " + type + " " + (isConverted ? "size" + std::to_string(uop.number) : names[uop.number])).str());
    }
  }
  if (usesChunk(program))
    parameters.push_back(language.chunkParameter.str());
  bool isPastOneAxis = llvm::any_of(program.rows, [](const LinearUOp &uop) {
    auto special = llvm::dyn_cast_or_null<uop::SpecialOp>(uop.op);
    return special && special.getKind() == uop::SpecialKind::Group && special.getAxis() > 0;
  });
  if (isPastOneAxis && !language.gridParameters.empty())
    parameters.push_back(language.gridParameters.str());
  return "void " + cIdentifier(function.getSymName()) + "(" + llvm::join(parameters, ", ") + ")";
}

std::string KernelRenderer::typeName(mlir::Type type) const {
  std::string element = language_.value(scalarDType(type)).str();
  if (!isWhole(type))
    return element;
  return fillPattern(language_.vectors.type,
                     [&](char key) { return key == 't' ? element : std::to_string(uop::lanesOf(type)); });
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

std::string KernelRenderer::lane(unsigned index, unsigned lane) const {
  const Value &value = values_[index];
  if (value.texts.size() > 1)
    return value.texts[lane];
  if (!row(index).type || !isWhole(row(index).type))
    return value.texts[0];
  return fillPattern(language_.vectors.lane, [&](char key) {
    return key == 'x' ? value.texts[0] : llvm::utohexstr(lane, /*LowerCase=*/false);
  });
}

std::string KernelRenderer::whole(unsigned index) const {
  const Value &value = values_[index];
  if (value.texts.size() == 1)
    return value.texts[0];
  return fillPattern(language_.vectors.make,
                     [&](char key) { return key == 't' ? typeName(row(index).type) : llvm::join(value.texts, ","); });
}

Operand KernelRenderer::operand(unsigned index, unsigned at) const {
  auto constant = llvm::dyn_cast_or_null<uop::ConstOp>(row(index).op);
  return {lane(index, at), constant ? constant.getValue() : mlir::TypedAttr()};
}

/// Whether the row's text may replace a name at its only use.
bool KernelRenderer::mayInline(unsigned index, llvm::ArrayRef<std::string> texts) const {
  const LinearUOp &uop = row(index);
  if (uop.kind == LinearKind::Gep)
    return true;
  if (uses_.counts[index] > 1 || (language_.computesChoices && uses_.areChosen[index]))
    return false;
  bool isCheap = !isFloat(scalarDType(uop.type)) &&
                 !llvm::any_of(texts, [](llvm::StringRef text) { return text.contains("kiln_"); });
  if (uses_.useDepths[index] > uses_.depths[index] && !isCheap)
    return false;
  auto nesting = [](llvm::StringRef text) {
    unsigned depth = 0, most = 0;
    for (char c : text) {
      depth += (c == '(') - (c == ')');
      most = std::max(most, depth);
    }
    return most;
  };
  return llvm::all_of(texts,
                      [&](llvm::StringRef text) { return text.size() < kMostLength && nesting(text) < kMostNesting; });
}

void KernelRenderer::bindText(unsigned index, llvm::StringRef prefix, llvm::SmallVector<std::string, 1> texts) {
  if (!mayInline(index, texts))
    return declare(index, prefix, texts);
  values_[index] = {std::move(texts), /*isInlined=*/true};
}

void KernelRenderer::declare(unsigned index, llvm::StringRef prefix, llvm::ArrayRef<std::string> texts) {
  std::string name = fresh(prefix);
  Value value;
  for (auto [at, text] : llvm::enumerate(texts)) {
    value.texts.push_back(texts.size() == 1 ? name : name + "_" + std::to_string(at));
    if (texts.size() > 1 && !uses_.lanes[index][at])
      continue;
    line(typeName(row(index).type) + " " + value.texts.back() + " = " + text + ";");
  }
  values_[index] = std::move(value);
}

static bool stripsParens(const LinearUOp &uop, const LinearUOp &source, unsigned position) {
  if (uop.kind != LinearKind::Alu || source.kind != LinearKind::Alu)
    return false;
  Alu kind = llvm::cast<uop::AluOp>(uop.op).getKind().getValue();
  if (kind != llvm::cast<uop::AluOp>(source.op).getKind().getValue())
    return false;
  // a+(b+c) is another sum than (a+b)+c where sums are rounded.
  if (position > 0 && isFloat(scalarDType(uop.type)))
    return false;
  return kind == Alu::ADD || kind == Alu::MUL || kind == Alu::XOR;
}

/// One lane of a row that computes.
std::string KernelRenderer::scalar(const LinearUOp &uop, unsigned at) {
  if (uop.kind == LinearKind::Vectorize)
    return lane(uop.sources[at], 0);
  if (uop.kind == LinearKind::Gep)
    return lane(uop.sources[0], llvm::cast<uop::GepOp>(uop.op).getLane() + at);
  llvm::SmallVector<Operand> operands;
  for (auto [position, source] : llvm::enumerate(uop.sources)) {
    operands.push_back(operand(source, at));
    if (stripsParens(uop, row(source), position))
      operands.back().text = stripParens(operands.back().text).str();
  }
  DType from = scalarDType(row(uop.sources.back()).type), to = scalarDType(uop.type);
  if (auto alu = llvm::dyn_cast<uop::AluOp>(uop.op); alu && alu.getKind().getValue() == Alu::LDEXP)
    from = to;
  switch (uop.kind) {
  case LinearKind::Alu:
    return spelling_.alu(llvm::cast<uop::AluOp>(uop.op).getKind().getValue(), from, operands);
  case LinearKind::Fma:
    return spelling_.fma(to, operands);
  case LinearKind::Cast:
    return spelling_.cast(from, to, operands[0].text);
  case LinearKind::Bitcast:
    return spelling_.bitcast(from, to, operands[0].text);
  default:
    llvm_unreachable("the row computes no value lane by lane");
  }
}

/// The row as one expression of the language's vector types, if it has them all and the pattern is the whole meaning.
std::optional<std::string> KernelRenderer::wholeVector(const LinearUOp &uop) {
  if (!isWhole(uop.type))
    return std::nullopt;
  if (uop.kind == LinearKind::Vectorize) {
    bool isSplat = llvm::all_equal(uop.sources);
    auto lanes = llvm::map_to_vector(llvm::ArrayRef(uop.sources).take_front(isSplat ? 1 : uop.sources.size()),
                                     [&](unsigned source) { return lane(source, 0); });
    return fillPattern(language_.vectors.make,
                       [&](char key) { return key == 't' ? typeName(uop.type) : llvm::join(lanes, ","); });
  }
  if (!llvm::all_of(uop.sources, [&](unsigned source) { return isWhole(row(source).type); }))
    return std::nullopt;
  auto operands = llvm::map_to_vector(uop.sources, [&](unsigned source) { return whole(source); });
  DType dtype = scalarDType(uop.type);
  switch (uop.kind) {
  case LinearKind::Alu: {
    Alu kind = llvm::cast<uop::AluOp>(uop.op).getKind().getValue();
    if (!Spelling::isPlain(kind, dtype))
      return std::nullopt;
    return spelling_.pattern(kind, dtype, operands);
  }
  case LinearKind::Fma:
    if (!isFloat(dtype))
      return std::nullopt;
    return spelling_.fma(dtype, llvm::map_to_vector(operands, [](const std::string &text) { return Operand{text}; }));
  case LinearKind::Cast:
    if (!Spelling::isPlainCast(scalarDType(row(uop.sources[0]).type), dtype))
      return std::nullopt;
    return fillPattern(language_.vectors.cast, [&](char key) { return key == 't' ? typeName(uop.type) : operands[0]; });
  default:
    return std::nullopt;
  }
}

void KernelRenderer::emitValue(unsigned index) {
  const LinearUOp &uop = row(index);
  bool isCast = uop.kind == LinearKind::Cast || uop.kind == LinearKind::Bitcast || uop.kind == LinearKind::Vectorize;
  llvm::SmallVector<std::string, 1> texts;
  if (std::optional<std::string> text = wholeVector(uop))
    texts.push_back(std::move(*text));
  else
    for (unsigned at = 0; at < uop::lanesOf(uop.type); ++at)
      texts.push_back(uses_.lanes[index][at] ? scalar(uop, at) : "");
  // One vector's text, read lane by lane, would be computed once per lane.
  if (texts.size() == 1 && isWhole(uop.type))
    return declare(index, isCast ? "cast" : "alu", texts);
  if (isWhole(uop.type)) {
    std::string made = fillPattern(language_.vectors.make,
                                   [&](char key) { return key == 't' ? typeName(uop.type) : llvm::join(texts, ","); });
    return declare(index, isCast ? "cast" : "alu", made);
  }
  bindText(index, isCast ? "cast" : "alu", std::move(texts));
}

/// A statement of its own, since all items come to it.
void KernelRenderer::shuffle(unsigned index) {
  const LinearUOp &uop = row(index);
  assert(!language_.shuffle.empty() && "lowered for a device of warps");
  llvm::SmallVector<std::string, 1> texts;
  for (unsigned at = 0; at < uop::lanesOf(uop.type); ++at)
    texts.push_back(fillPattern(language_.shuffle, [&](char key) {
      return key == 'b' ? std::to_string(llvm::cast<uop::ShuffleOp>(uop.op).getBit())
                        : stripParens(lane(uop.sources[0], at)).str();
    }));
  declare(index, "val", texts);
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

static bool isNumber(llvm::StringRef text) { return !text.empty() && llvm::all_of(text, llvm::isDigit); }

/// data1[ridx0], the element `at` after the first.
std::string KernelRenderer::element(const LinearUOp &uop, unsigned at) const {
  llvm::StringRef buffer = values_[uop.sources[0]].texts[0], index = stripParens(values_[uop.sources[1]].texts[0]);
  uint64_t number;
  if (at == 0)
    return (buffer + "[" + index + "]").str();
  if (isNumber(index) && !index.getAsInteger(10, number))
    return (buffer + "[" + llvm::Twine(number + at) + "]").str();
  return (buffer + "[" + index + "+" + llvm::Twine(at) + "]").str();
}

std::string KernelRenderer::pointer(const LinearUOp &uop) const {
  return values_[uop.sources[0]].texts[0] + "+" + stripParens(values_[uop.sources[1]].texts[0]).str();
}

/// Names a pointer to the lanes of an access, if it is proved to be aligned so that they are one; "" if not.
std::string KernelRenderer::pointToLanes(const LinearUOp &uop, unsigned lanes) {
  const LinearUOp &buffer = row(uop.sources[0]);
  int64_t bytes = buffer.kind == LinearKind::DefineGlobal ? byteSize(scalarDType(buffer.type)) : 0;
  mlir::Value place = llvm::isa<uop::LoadOp>(uop.op) ? llvm::cast<uop::LoadOp>(uop.op).getIndex()
                                                     : llvm::cast<uop::StoreOp>(uop.op).getIndex();
  int64_t wide = std::min<int64_t>(kBufferAlignment, lanes * bytes);
  if (language_.alignedPointer.empty() || lanes < 2 || !llvm::isPowerOf2_64(wide) || bytes * divisorOf(place) < wide ||
      !alignedBuffers(program_.function).test(buffer.number))
    return "";
  std::string name = fresh("wide");
  llvm::StringRef constness = uop::FuncOp(program_.function).writes(buffer.number) ? "" : "const ";
  line(fillPattern(language_.alignedPointer, [&](char key) -> std::string {
    switch (key) {
    case 't':
      return (constness + language_.element(scalarDType(buffer.type)) + "* ").str();
    case 'n':
      return name;
    case 'p':
      return pointer(uop);
    default:
      return std::to_string(wide);
    }
  }));
  return name;
}

void KernelRenderer::load(unsigned index) {
  const LinearUOp &uop = row(index);
  unsigned lanes = uop::lanesOf(uop.type);
  bool isGated = uop.sources.size() > 2;
  bool isScalarGate = !isGated || uop::lanesOf(row(uop.sources[3]).type) == 1;
  auto choose = [&](const std::string &text, unsigned at, const std::string &otherwise) {
    return isGated ? "(" + lane(uop.sources[3], at) + "?" + text + ":" + otherwise + ")" : text;
  };
  if (isWhole(uop.type) && isScalarGate) {
    std::string text = fillPattern(language_.vectors.load,
                                   [&](char key) { return key == 'n' ? std::to_string(lanes) : pointer(uop); });
    return declare(index, "val", choose(text, 0, isGated ? whole(uop.sources[2]) : ""));
  }
  llvm::SmallVector<std::string> texts;
  std::string wide = isGated ? "" : pointToLanes(uop, lanes);
  auto from = [&](unsigned at) { return wide.empty() ? element(uop, at) : wide + "[" + std::to_string(at) + "]"; };
  for (unsigned at = 0; at < lanes; ++at)
    texts.push_back(uses_.lanes[index][at] ? choose(from(at), at, isGated ? lane(uop.sources[2], at) : "") : "");
  if (isWhole(uop.type))
    texts = {fillPattern(language_.vectors.make,
                         [&](char key) { return key == 't' ? typeName(uop.type) : llvm::join(texts, ","); })};
  declare(index, "val", texts);
}

void KernelRenderer::store(const LinearUOp &uop) {
  mlir::Type type = row(uop.sources[2]).type;
  unsigned lanes = uop::lanesOf(type);
  bool isGated = uop.sources.size() > 3;
  auto emit = [&](unsigned at, const llvm::Twine &statement) {
    if (isGated)
      line("if (" + stripParens(lane(uop.sources[3], at)) + ") { " + statement + " }");
    else
      line(statement);
  };
  if (isWhole(type) && (!isGated || uop::lanesOf(row(uop.sources[3]).type) == 1))
    return emit(0, fillPattern(language_.vectors.store, [&](char key) {
                  return key == 'n' ? std::to_string(lanes) : key == 'p' ? pointer(uop) : whole(uop.sources[2]);
                }));
  // Neighbours are joined to one access only if nothing comes between their stores.
  if (!language_.assumeAligned.empty() && lanes > 1 && values_[uop.sources[2]].isInlined)
    declare(uop.sources[2], "out", values_[uop.sources[2]].texts);
  std::string wide = isGated ? "" : pointToLanes(uop, lanes);
  for (unsigned at = 0; at < lanes; ++at)
    emit(at, (wide.empty() ? element(uop, at) : wide + "[" + std::to_string(at) + "]") + " = " +
                 lane(uop.sources[2], at) + ";");
}

/// Tells the language's compiler about a pointer that begins where wide accesses may, if there are any that could be
/// joined.
void KernelRenderer::assumeAligned(unsigned index) {
  const LinearUOp &uop = row(index);
  unsigned accesses = 0;
  for (const LinearUOp &other : program_.rows) {
    bool isLoad = other.kind == LinearKind::Load, isStore = other.kind == LinearKind::Store;
    if ((isLoad || isStore) && other.sources[0] == index)
      accesses += uop::lanesOf(isLoad ? other.type : row(other.sources[2]).type);
  }
  if (language_.assumeAligned.empty() || accesses < 2 || !alignedBuffers(program_.function).test(uop.number))
    return;
  llvm::StringRef constness = uop::FuncOp(program_.function).writes(uop.number) ? "" : "const ";
  line(fillPattern(language_.assumeAligned, [&](char key) {
    return key == 'p' ? values_[index].texts[0] : (constness + language_.element(scalarDType(uop.type)) + "*").str();
  }));
}

/// Memory that the kernel defines, sizes and specials: a statement at the head.
void KernelRenderer::define(unsigned index) {
  const LinearUOp &uop = row(index);
  switch (uop.kind) {
  case LinearKind::DefineGlobal:
    values_[index] = {{"data" + std::to_string(uop.number)}};
    return assumeAligned(index);
  case LinearKind::DefineVar: {
    const std::string &name = sizeNames_[uop.number];
    values_[index] = {{name}};
    if (!language_.sizeParameter.empty() && uses_.counts[index])
      line(typeName(uop.type) + " " + name + " = size" + llvm::Twine(uop.number) + ";");
    return;
  }
  case LinearKind::DefineLocal:
  case LinearKind::DefineRegister: {
    auto op = llvm::cast<uop::DefineOp>(uop.op);
    std::string name = fresh(cIdentifier(op.getName()) + "_");
    values_[index] = {{name}};
    llvm::StringRef qualifier =
        uop.kind == LinearKind::DefineLocal ? llvm::StringRef(language_.localQualifier) : llvm::StringRef();
    line(qualifier + language_.aligned + language_.element(scalarDType(uop.type)) + " " + name + "[" +
         llvm::Twine(op.getElements()) + "];");
    return;
  }
  default: {
    auto op = llvm::cast<uop::SpecialOp>(uop.op);
    std::string name = fresh(specialName(op).substr(0, specialName(op).find_first_of("0123456789")));
    llvm::StringRef text = language_.specials[static_cast<unsigned>(op.getKind())][op.getAxis()];
    assert(!text.empty() && "lowered for a device with other axes of a launch");
    values_[index] = {{name}};
    line(typeName(uop.type) + " " + name + " = " + text + "; /* " + cComment(op.getSize().getValue().render()) + " */");
  }
  }
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

/// Renders the PHIs of one range, which assign at the same time: a value that reads an accumulator assigned before it,
/// or other lanes of its own, is computed first. Returns the row after them.
unsigned KernelRenderer::assignPhis(unsigned first) {
  unsigned end = first;
  while (row(end).kind == LinearKind::Phi)
    ++end;
  llvm::SmallVector<unsigned> assigned;
  auto reads = [&](auto &&self, unsigned index) -> bool {
    const LinearUOp &uop = row(index);
    if (uop.kind == LinearKind::DefineAcc || uop.kind == LinearKind::Phi)
      return llvm::any_of(assigned, [&](unsigned acc) { return values_[acc].texts == values_[index].texts; });
    if (!values_[index].isInlined)
      return false;
    bool crossesLanes = uop.kind == LinearKind::Gep || uop.kind == LinearKind::Vectorize;
    return crossesLanes || llvm::any_of(uop.sources, [&](unsigned source) { return self(self, source); });
  };
  llvm::DenseMap<unsigned, Value> computed; // by PHI; the value itself keeps its name
  for (unsigned index = first; index < end; ++index) {
    unsigned value = row(index).sources[1];
    if (reads(reads, value)) {
      Value kept = values_[value];
      declare(value, "phi", kept.texts);
      computed[index] = std::exchange(values_[value], kept);
    }
    assigned.push_back(row(index).sources[0]);
  }
  for (unsigned index = first; index < end; ++index) {
    unsigned accumulator = row(index).sources[0], value = row(index).sources[1];
    Value kept = values_[value];
    if (computed.contains(index))
      values_[value] = computed[index];
    bool isOne = isWhole(row(index).type);
    for (unsigned at = 0; at < (isOne ? 1 : uop::lanesOf(row(index).type)); ++at) {
      std::string to = isOne ? whole(accumulator) : lane(accumulator, at),
                  from = isOne ? whole(value) : lane(value, at);
      if (to != from)
        line(llvm::Twine(to) + " = " + from + ";");
    }
    values_[value] = kept;
    values_[index] = values_[accumulator];
  }
  return end;
}

void KernelRenderer::render(unsigned index) {
  const LinearUOp &uop = row(index);
  switch (uop.kind) {
  case LinearKind::DefineGlobal:
  case LinearKind::DefineVar:
  case LinearKind::DefineLocal:
  case LinearKind::DefineRegister:
  case LinearKind::Special:
    return define(index);
  case LinearKind::Const:
    values_[index] = {{spelling_.constant(llvm::cast<uop::ConstOp>(uop.op).getValue())}};
    return;
  case LinearKind::DefineAcc: {
    unsigned init = uop.sources[0];
    if (isWhole(uop.type))
      return declare(index, "acc", whole(init));
    llvm::SmallVector<std::string> texts;
    for (unsigned at = 0; at < uop::lanesOf(uop.type); ++at)
      texts.push_back(lane(init, at));
    return declare(index, "acc", texts);
  }
  case LinearKind::Range: {
    std::string name = fresh("ridx");
    values_[index] = {{name}};
    line("for (" + typeName(uop.type) + " " + name + " = " + stripParens(lane(uop.sources[0], 0)) + "; " + name +
         " < " + lane(uop.sources[1], 0) + "; " + name + "++) {");
    ++depth_;
    return;
  }
  case LinearKind::If:
    line("if (" + stripParens(lane(uop.sources[0], 0)) + ") {");
    ++depth_;
    return;
  case LinearKind::Else:
    --depth_;
    line("} else {");
    ++depth_;
    return;
  case LinearKind::EndIf:
  case LinearKind::EndRange:
    --depth_;
    return line("}");
  case LinearKind::Barrier:
    if (!language_.barrier.empty())
      line(language_.barrier);
    return;
  case LinearKind::Prefetch:
    return line(fillPattern(language_.prefetch, [&](char) { return pointer(uop); }));
  case LinearKind::Shuffle:
    return shuffle(index);
  case LinearKind::Load:
    return load(index);
  case LinearKind::Store:
    return store(uop);
  case LinearKind::Alu:
  case LinearKind::Fma:
  case LinearKind::Cast:
  case LinearKind::Bitcast:
  case LinearKind::Vectorize:
  case LinearKind::Gep:
    return emitValue(index);
  case LinearKind::Phi:
  case LinearKind::LoadMatrix:
  case LinearKind::StoreMatrix:
  case LinearKind::Wmma:
  case LinearKind::Dot:
  case LinearKind::Lookup:
    break;
  }
  llvm_unreachable("a range's values are assigned together, and C has no instructions for matrices, dots and look-ups");
}

std::string KernelRenderer::run() {
  for (auto [index, uop] : llvm::enumerate(program_.rows))
    if ((uop.kind == LinearKind::DefineGlobal || uop.kind == LinearKind::DefineVar) && !uses_.counts[index])
      line("(void)" +
           (uop.kind == LinearKind::DefineGlobal ? "data" + std::to_string(uop.number)
            : language_.sizeParameter.empty()    ? sizeNames_[uop.number]
                                                 : "size" + std::to_string(uop.number)) +
           ";");
  for (unsigned index = 0; index < program_.rows.size();) {
    if (row(index).kind == LinearKind::Phi) {
      index = assignPhis(index);
      continue;
    }
    if (uses_.lanes[index].any())
      render(index);
    ++index;
  }
  uop::FuncOp function = program_.function;
  std::string attribute = fillPattern(language_.groupAttribute, [&](char axis) {
    llvm::ArrayRef<int64_t> local = function.getLocal();
    return std::to_string(size_t(axis - '0') < local.size() ? local[axis - '0'] : 1);
  });
  return (language_.kernelPrefix + attribute + kernelSignature(language_, program_) + " {\n" + body_ + "}\n").str();
}

std::string render::renderKernel(const CLanguage &language, const LinearProgram &program,
                                 SemanticFunctions &functions) {
  return KernelRenderer(language, program, functions).run();
}

std::string render::renderSource(const CLanguage &language, llvm::ArrayRef<uop::FuncOp> kernels) {
  SemanticFunctions functions(language);
  std::string text;
  bool usesDouble = false;
  for (uop::FuncOp kernel : kernels) {
    LinearProgram program = linearize(kernel);
    usesDouble |= llvm::any_of(program.rows,
                               [](const LinearUOp &uop) { return uop.type && scalarDType(uop.type) == DType::F64; });
    text += "\n" + renderKernel(language, program, functions);
  }
  return (language.fileHead + (usesDouble ? language.doubleHead : "") + "\n" + functions.definitions()).str() +
         llvm::StringRef(text).ltrim('\n').str();
}
