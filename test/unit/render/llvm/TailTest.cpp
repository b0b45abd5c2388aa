// The last lanes of a row, stored under a mask: each pair of dtypes, as a cast from one to the other, and each number
// of lanes that are left, for CPUs of several kinds. What a CPU has not got cannot be run on it, so the assembly is
// read: no store may reach past the lanes. Code for AVX-512 once did (LLVM 22 stored a truncated lane as wide as it
// was). A kernel that this machine can run is run too, in memory with a guard after the lanes.
#include "ir/base/ConvertElement.h"
#include "ir/base/Evaluate.h"
#include "render/llvm/Jit.h"
#include "render/llvm/LlvmKernel.h"
#include "target/Target.h"

#include "mlir/Parser/Parser.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/Regex.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/TargetParser/Triple.h"

#include <catch2/catch.hpp>

#include <map>

extern "C" {
#include "runtime/device/cpu/cpu_features.h"
}

using namespace kiln;

namespace {

/// One kernel: `lanes` lanes converted, the first `tail` of them stored.
struct Tail {
  DType from, to;
  unsigned lanes, tail;
  std::string name() const {
    return (dtypeName(from) + "_" + dtypeName(to) + "_" + llvm::Twine(lanes) + "_" + llvm::Twine(tail)).str();
  }
  unsigned bytes() const { return tail * byteSize(to); }
};

struct Machine {
  const char *cpu, *triple;
  bool allTails; ///< else a few
};

std::string vectorOf(DType dtype, unsigned lanes) {
  return "vector<" + std::to_string(lanes) + "x" + dtypeName(dtype).str() + ">";
}

std::string pointerTo(DType dtype) { return "!uop.ptr<" + dtypeName(dtype).str() + ", global>"; }

/// The mask is a comparison of places in a loop of one step, as lowering writes it; LLVM finds out that it is known.
std::string textOf(const Tail &tail) {
  std::string lanes = std::to_string(tail.lanes), from = vectorOf(tail.from, tail.lanes),
              to = vectorOf(tail.to, tail.lanes), places = "vector<" + lanes + "xi32>", place, places32;
  std::string text =
      "uop.func @" + tail.name() + "(%out: " + pointerTo(tail.to) + ", %in: " + pointerTo(tail.from) +
      ") attributes {sizes = #kiln.dims<[]>, grid = #kiln.dims<[1]>, local = array<i64: 1>, operations = "
      "#kiln.expr<0>, bytes = #kiln.expr<0>} {\n%zero = uop.const 0 : i32\n";
  for (unsigned lane = 0; lane < tail.lanes; ++lane) {
    std::string number = std::to_string(lane);
    text += "%l" + number + " = uop.const " + number + " : i32\n";
    place += (lane ? ", %l" : "%l") + number;
    places32 += lane ? ", i32" : "i32";
  }
  text += "%place = uop.vectorize " + place + " : " + places32 + " -> " + places + "\n%n = uop.const " +
          std::to_string(tail.tail) + " : i32\n%end = uop.vectorize %n : i32 -> " + places +
          "\n%gate = uop.alu cmplt %place, %end : (" + places + ", " + places + ") -> vector<" + lanes +
          "xi1>\n%x = uop.load %in[%zero : i32] : " + pointerTo(tail.from) + " -> " + from +
          "\n%y = uop.alu cast %x : (" + from + ") -> " + to +
          "\nuop.store %y, %out[%zero : i32] gate %gate : vector<" + lanes + "xi1> : " + to + ", " +
          pointerTo(tail.to) + "\nuop.yield\n}\n";
  return text;
}

std::vector<Tail> tailsOf(DType from, const Machine &machine) {
  std::vector<Tail> tails;
  for (unsigned to = 0; to < kDTypes; ++to)
    for (unsigned lanes : {4u, 8u, 16u})
      for (unsigned tail = 1; tail < lanes; ++tail)
        if (machine.allTails || (lanes == 8 && (tail <= 2 || tail == 7)))
          tails.push_back({from, DType(to), lanes, tail});
  return tails;
}

/// The kernels of a text for a machine.
class Kernels {
public:
  Kernels(const std::vector<Tail> &tails, const target::Cpu &cpu) : cpu_(cpu) {
    context_.loadDialect<uop::UOpDialect, KilnDialect>();
    std::string text;
    for (const Tail &tail : tails)
      text += textOf(tail);
    module_ = mlir::parseSourceString<mlir::ModuleOp>(text, &context_);
    REQUIRE(module_);
    (*module_)->setAttr(kTargetAttr, target::cpuTarget("cpu", cpu, &context_));
  }

  std::string assembly() {
    std::unique_ptr<llvm::TargetMachine> machine = llvm::cantFail(target::makeTargetMachine(cpu_, 2));
    llvm::LLVMContext context;
    llvm::Module module("tails", context);
    target::configure(module, *machine);
    for (uop::FuncOp kernel : module_->getOps<uop::FuncOp>())
      render::renderKernel(kernel, cpu_, module)->setLinkage(llvm::GlobalValue::ExternalLinkage);
    target::optimize(module, *machine, 2);
    llvm::SmallString<0> text;
    llvm::raw_svector_ostream out(text);
    target::emit(module, *machine, target::MachineFile::Assembly, out);
    return text.str().str();
  }

  auto functions() { return module_->getOps<uop::FuncOp>(); }

private:
  mlir::MLIRContext context_;
  mlir::OwningOpRef<mlir::ModuleOp> module_;
  target::Cpu cpu_;
};

/// A store through the first argument: from which byte on, and how many bytes; 0 where a mask says it.
struct Store {
  int offset, bytes;
};

unsigned bytesOfLetter(char letter) { return letter == 'b' ? 1 : letter == 'w' ? 2 : letter == 'q' ? 8 : 4; }

/// How many bytes an instruction of x86 stores, by its name and its register; 0 of those with a mask.
int bytesOnX86(llvm::StringRef name, llvm::StringRef operands) {
  if (operands.contains("{%k") || name.contains("maskmov"))
    return 0;
  llvm::StringRef plain = name;
  plain.consume_front("v");
  if (plain.starts_with("set"))
    return 1;
  if (plain.starts_with("pextr"))
    return bytesOfLetter(plain.back());
  if (plain == "movss" || plain == "extractps")
    return 4;
  if (llvm::is_contained({"movsd", "movlps", "movhps", "movlpd", "movhpd"}, plain))
    return 8;
  if (plain == "movsh")
    return 2;
  if (plain.size() == 4 && plain.starts_with("mov"))
    return bytesOfLetter(plain.back());
  int wide = operands.contains("%zmm") ? 64 : operands.contains("%ymm") ? 32 : operands.contains("%xmm") ? 16 : -1;
  if (plain.starts_with("extract"))
    return plain.contains("128") || plain.contains("32x4") || plain.contains("64x2") ? 16 : 32;
  if (plain == "cvtps2ph")
    return wide / 2;
  if (plain.starts_with("pmov") && plain.size() >= 6) // from wide lanes to narrow ones
    return wide * int(bytesOfLetter(plain.back())) / int(bytesOfLetter(plain[plain.size() - 2]));
  if (plain.starts_with("movup") || plain.starts_with("movdq") || plain.starts_with("movap") ||
      plain.starts_with("movnt"))
    return wide;
  return -1;
}

int bytesOnArm(llvm::StringRef name, llvm::StringRef operands) {
  if (name == "strb" || name == "sturb")
    return 1;
  if (name == "strh" || name == "sturh")
    return 2;
  int one = llvm::StringSwitch<int>(operands.take_front(1))
                .Case("b", 1)
                .Case("h", 2)
                .Cases({"s", "w"}, 4)
                .Cases({"d", "x"}, 8)
                .Case("q", 16)
                .Default(-1);
  if (name == "str" || name == "stur")
    return one;
  if (name == "stp")
    return 2 * one;
  if (name == "st1" && operands.contains("}[")) // { v0.h }[3]
    return llvm::StringSwitch<int>(operands.split('.').second.take_front(1))
        .Case("b", 1)
        .Case("h", 2)
        .Case("s", 4)
        .Case("d", 8)
        .Default(-1);
  return -1;
}

int bytesOnRiscV(llvm::StringRef name) {
  return llvm::StringSwitch<int>(name)
      .Case("sb", 1)
      .Case("sh", 2)
      .Cases({"sw", "fsw"}, 4)
      .Cases({"sd", "fsd"}, 8)
      .Default(-1);
}

/// Registers of Arm that hold the first argument and so many bytes more, for what an instruction cannot add.
using Bases = std::map<std::string, int>;

void noteBase(llvm::StringRef line, Bases &bases) {
  llvm::SmallVector<llvm::StringRef> found;
  if (llvm::Regex("^[[:space:]]*add[[:space:]]+(x[0-9]+), x0, #([0-9]+)$").match(line, &found))
    REQUIRE_FALSE(found[2].getAsInteger(10, bases[found[1].str()]));
}

/// The store of a line of assembly through the first argument.
std::optional<Store> storeOf(llvm::StringRef line, const llvm::Triple &triple, const Bases &bases) {
  int base = 0;
  auto [name, operands] = line.trim().split('\t');
  operands = operands.trim();
  llvm::SmallVector<llvm::StringRef> found;
  if (triple.isX86()) {
    if (name.starts_with("cmp") || name.starts_with("test") || name.starts_with("kortest") ||
        !llvm::Regex("(^|, )(-?[0-9]*)\\(%rdi\\)( \\{%k[0-7]\\})?$").match(operands, &found))
      return std::nullopt;
  } else if (triple.isAArch64()) {
    if (!name.starts_with("st") || !llvm::Regex("\\[(x[0-9]+)(, #(-?[0-9]+))?\\]$").match(operands, &found) ||
        !bases.contains(found[1].str()))
      return std::nullopt;
    base = bases.at(found[1].str());
    found[2] = found[3];
  } else if (!llvm::Regex("^(f?s[bhwd])$").match(name) ||
             !llvm::Regex("(, )(-?[0-9]+)\\(a0\\)$").match(operands, &found)) {
    return std::nullopt;
  }
  int offset = 0;
  if (!found[2].empty())
    REQUIRE_FALSE(found[2].getAsInteger(10, offset));
  int bytes = triple.isX86()       ? bytesOnX86(name, operands)
              : triple.isAArch64() ? bytesOnArm(name, operands)
                                   : bytesOnRiscV(name);
  INFO(line.str());
  REQUIRE(bytes >= 0); // else it is an instruction that this test does not know
  return Store{base + offset, bytes};
}

/// No store of a kernel reaches past its lanes, and they are all stored.
void checkAssembly(llvm::StringRef assembly, const std::vector<Tail> &tails, const llvm::Triple &triple) {
  for (const Tail &tail : tails) {
    llvm::StringRef code = assembly.split("\n" + tail.name() + ":").second.split(".Lfunc_end").first;
    REQUIRE_FALSE(code.empty());
    std::vector<bool> stored(tail.bytes());
    bool isMasked = false;
    INFO(code.str());
    llvm::SmallVector<llvm::StringRef> lines;
    code.split(lines, '\n');
    Bases bases = {{"x0", 0}};
    for (llvm::StringRef text : lines) {
      llvm::StringRef line = text.split(triple.isAArch64() ? "//" : "#").first.rtrim();
      noteBase(line, bases);
      if (std::optional<Store> store = storeOf(line, triple, bases)) {
        isMasked |= store->bytes == 0;
        REQUIRE(store->offset >= 0);
        REQUIRE(store->offset + store->bytes <= int(tail.bytes()));
        std::fill_n(stored.begin() + store->offset, store->bytes, true);
      }
    }
    REQUIRE((isMasked || llvm::all_of(stored, [](bool is) { return is; })));
  }
}

/// What the kernel makes of small numbers, and nothing after that.
void checkRun(uop::FuncOp kernel, const Tail &tail, render::Jit &jit) {
  constexpr unsigned kMostLanes = 16, kMostBytes = 8;
  constexpr char kGuard = 0x55;
  std::array<char, kMostLanes * kMostBytes> in{}, wanted, made;
  wanted.fill(kGuard), made.fill(kGuard);
  withElement(tail.from, [&](auto tag) {
    using T = typename decltype(tag)::Type;
    for (unsigned lane = 0; lane < tail.lanes; ++lane)
      reinterpret_cast<T *>(in.data())[lane] =
          convertElement<T>(double(tail.from == DType::Bool ? lane % 2 : lane + 1));
  });
  const void *operands[] = {in.data()};
  aluLoop(Alu::CAST, tail.from, tail.to)(operands, wanted.data(), tail.tail);
  void *buffers[] = {made.data(), in.data()};
  std::unique_ptr<target::LoadedKernel> loaded = llvm::cantFail(jit.load(kernel));
  loaded->run(buffers, nullptr, 0);
  INFO(tail.name());
  REQUIRE(made == wanted);
}

} // namespace

TEST_CASE("no store of a tail reaches past it") {
  // AVX-512 has masks for narrow lanes and stores that truncate: there, all tails.
  Machine machine = GENERATE(values<Machine>({{"x86-64-v4", "", true},
                                              {"znver4", "", false},
                                              {"sapphirerapids", "", false},
                                              {"x86-64-v3", "", false},
                                              {"x86-64-v2", "", false},
                                              {"", "aarch64-linux-gnu", false},
                                              {"", "riscv64-linux-gnu", false}}));
  std::string triple = machine.triple;
#if !defined(__x86_64__)
  if (triple.empty())
    triple = "x86_64-linux-gnu";
#endif
  target::Cpu cpu = llvm::cantFail(target::describeCpu(machine.cpu, "", triple));
  char missing[256];
  bool runsHere = triple.empty() && !kiln_cpu_lacks(llvm::join(cpu.required, ",").c_str(), missing, sizeof missing);
  for (unsigned from = 0; from < kDTypes; ++from) {
    std::vector<Tail> tails = tailsOf(DType(from), machine);
    Kernels kernels(tails, cpu);
    INFO(machine.cpu << machine.triple);
    checkAssembly(kernels.assembly(), tails, llvm::Triple(cpu.triple));
    if (!runsHere)
      continue;
    std::unique_ptr<render::Jit> jit = llvm::cantFail(render::Jit::create(cpu, 2));
    for (auto [kernel, tail] : llvm::zip(kernels.functions(), tails))
      checkRun(kernel, tail, *jit);
  }
}
