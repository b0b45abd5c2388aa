#include "target/Cpu.h"

#include "support/Error.h"
#include "support/Nearest.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/TargetParser/ARMTargetParser.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/SubtargetFeature.h"

#include <unistd.h>

using namespace kiln;
using namespace kiln::target;

/// Instruction sets that LLVM's code generator uses for plain arithmetic. Features that it never uses unasked (AES,
/// random numbers, cache control) would only make the program run on fewer CPUs.
static constexpr llvm::StringLiteral kUsed[] = {
    // x86
    "sse3", "ssse3", "sse4.1", "sse4.2", "sse4a", "popcnt", "lzcnt", "bmi", "bmi2", "tbm", "movbe", "adx", "cx16",
    "avx", "avx2", "fma", "fma4", "xop", "f16c", "avxvnni", "avxvnniint8", "avxvnniint16", "avxifma", "avxneconvert",
    "gfni", "avx512f", "avx512cd", "avx512bw", "avx512dq", "avx512vl", "avx512ifma", "avx512vbmi", "avx512vbmi2",
    "avx512vnni", "avx512bitalg", "avx512vpopcntdq", "avx512bf16", "avx512fp16",
    // Arm
    "neon", "vfp4", "fullfp16", "dotprod", "bf16", "i8mm", "sve", "sve2", "sve2p1", "lse", "sha3", "cssc", "mops",
    // RISC-V
    "v", "zba", "zbb", "zbs", "zfh", "zfhmin", "zvfh", "zicond"};

static std::string hostFeatures() {
  llvm::StringMap<bool> map = llvm::sys::getHostCPUFeatures();
  std::vector<std::string> names;
  for (const llvm::StringMapEntry<bool> &entry : map)
    names.push_back((entry.second ? "+" : "-") + entry.first().str());
  llvm::sort(names, [](llvm::StringRef a, llvm::StringRef b) { return a.drop_front() < b.drop_front(); });
  return llvm::join(names, ",");
}

static void measureCaches(Cpu &cpu) {
  auto measure = [](int name, int64_t &bytes) {
    if (long value = sysconf(name); value > 0)
      bytes = value;
  };
#ifdef _SC_LEVEL1_DCACHE_SIZE
  measure(_SC_LEVEL1_DCACHE_SIZE, cpu.cacheBytes[0]);
  measure(_SC_LEVEL2_CACHE_SIZE, cpu.cacheBytes[1]);
  measure(_SC_LEVEL3_CACHE_SIZE, cpu.cacheBytes[2]);
#endif
  // If each group of cores has a last cache of its own, sysconf adds them all up; Linux knows that of one core.
  int64_t kilobytes = 0;
  if (auto file = llvm::MemoryBuffer::getFileAsStream("/sys/devices/system/cpu/cpu0/cache/index3/size")) {
    llvm::StringRef size = (*file)->getBuffer().trim();
    if (size.consume_back("K") && !size.getAsInteger(10, kilobytes) && kilobytes > 0)
      cpu.cacheBytes[2] = kilobytes << 10;
  }
}

/// The features in which two CPUs of a name differ; empty for a machine that has exactly the features of its name.
static std::string differences(const llvm::MCSubtargetInfo &info, const llvm::MCSubtargetInfo &named) {
  std::vector<std::string> names;
  for (const llvm::SubtargetFeatureKV &feature : info.getAllProcessorFeatures())
    if (bool has = info.hasFeature(feature.Value); has != named.hasFeature(feature.Value))
      names.push_back((has ? "+" : "-") + std::string(feature.Key));
  return llvm::join(names, ",");
}

void target::initializeTargets() {
  llvm::InitializeNativeTarget();
  llvm::InitializeNativeTargetAsmPrinter();
  llvm::InitializeNativeTargetAsmParser();
#define KILN_TARGET(NAME)                                                                                              \
  LLVMInitialize##NAME##TargetInfo();                                                                                  \
  LLVMInitialize##NAME##Target();                                                                                      \
  LLVMInitialize##NAME##TargetMC();                                                                                    \
  LLVMInitialize##NAME##AsmPrinter();                                                                                  \
  LLVMInitialize##NAME##AsmParser();
  KILN_TARGET(X86)
  KILN_TARGET(AArch64)
  KILN_TARGET(ARM)
  KILN_TARGET(RISCV)
#undef KILN_TARGET
}

static std::unique_ptr<llvm::MCSubtargetInfo> subtargetOf(const llvm::Triple &triple, llvm::StringRef name,
                                                          llvm::StringRef features) {
  std::string error;
  const llvm::Target *target = llvm::TargetRegistry::lookupTarget(triple, error);
  return std::unique_ptr<llvm::MCSubtargetInfo>(target ? target->createMCSubtargetInfo(triple, name, features)
                                                       : nullptr);
}

std::unique_ptr<llvm::MCSubtargetInfo> target::subtargetOf(const Cpu &cpu) {
  return ::subtargetOf(llvm::Triple(cpu.triple), cpu.name, cpu.features);
}

static bool isArm32(const llvm::Triple &triple) { return triple.isARM() || triple.isThumb(); }

/// LLVM's tables of x86 and RISC-V have CPUs of 32 bits too, and that of Arm microcontrollers.
static bool runs(const llvm::Triple &triple, llvm::StringRef name) {
  if (!subtargetOf(triple, "", "")->isCPUStringValid(name)) // prints nothing on standard error
    return false;
  std::unique_ptr<llvm::MCSubtargetInfo> info = subtargetOf(triple, name, "");
  return isArm32(triple) ? !info->checkFeatures("+mclass") : triple.isAArch64() || info->checkFeatures("+64bit");
}

/// LLVM's names of the CPUs that run programs for this system.
static std::vector<llvm::StringRef> cpusFor(const llvm::Triple &triple) {
  std::vector<llvm::StringRef> names;
  std::unique_ptr<llvm::MCSubtargetInfo> info = subtargetOf(triple, "", "");
  for (const llvm::SubtargetSubTypeKV &cpu : info->getAllProcessorDescriptions())
    if (runs(triple, cpu.Key))
      names.push_back(cpu.Key);
  return names;
}

/// The least CPU of an architecture, and the features that its systems have and LLVM's CPU of that name lacks.
static std::pair<llvm::StringRef, llvm::StringRef> leastCpu(const llvm::Triple &triple) {
  if (triple.isRISCV64())
    return {"generic-rv64", "+a,+c,+d,+f,+m"};
  return {triple.getArch() == llvm::Triple::x86_64 ? "x86-64" : "generic", ""};
}

/// For 32-bit Arm's CPUs LLVM's table does not say which floats and vectors they have. One without a name has vectors,
/// as nearly all have; a program says so if one has none.
static std::string armFeatures(llvm::StringRef name) {
  if (name == "generic")
    return "+neon";
  std::vector<llvm::StringRef> all;
  llvm::ARM::getFPUFeatures(llvm::ARM::getDefaultFPU(name, llvm::ARM::ArchKind::ARMV7A), all);
  llvm::erase_if(all, [](llvm::StringRef feature) { return feature != "+neon" && feature != "+vfp4"; });
  return llvm::join(all, ",");
}

llvm::StringRef target::baselineCpu() { return leastCpu(llvm::Triple(llvm::sys::getDefaultTargetTriple())).first; }

llvm::ArrayRef<llvm::StringRef> target::systems() {
  static constexpr llvm::StringRef kSystems[] = {"x86_64-linux-gnu",
                                                 "x86_64-linux-musl",
                                                 "aarch64-linux-gnu",
                                                 "aarch64-linux-musl",
                                                 "riscv64-linux-gnu",
                                                 "riscv64-linux-musl",
                                                 "armv7"};
  return kSystems;
}

/// Other tools' names of these systems.
static constexpr std::pair<llvm::StringLiteral, llvm::StringLiteral> kOtherNames[] = {{"arm64", "aarch64-linux-gnu"},
                                                                                      {"armv8", "aarch64-linux-gnu"},
                                                                                      {"amd64", "x86_64-linux-gnu"},
                                                                                      {"x86-64", "x86_64-linux-gnu"},
                                                                                      {"x64", "x86_64-linux-gnu"},
                                                                                      {"riscv", "riscv64-linux-gnu"},
                                                                                      {"rv64gc", "riscv64-linux-gnu"},
                                                                                      {"arm", "armv7"},
                                                                                      {"arm32", "armv7"},
                                                                                      {"armhf", "armv7"},
                                                                                      {"armv7l", "armv7"}};

/// Systems for which all of kiln's artefacts are made: little-endian ones with ELF. For 32-bit Arm, those whose
/// functions take floats in registers; their compilers' names leave the architecture open, and code with vectors needs
/// the seventh.
static llvm::Expected<llvm::Triple> parseTriple(llvm::StringRef text) {
  llvm::Triple triple(llvm::Triple::normalize(text));
  bool isArmv7 = isArm32(triple) && triple.getEnvironment() == llvm::Triple::GNUEABIHF;
  if (isArmv7)
    triple.setArchName("armv7");
  // LLVM takes each word that begins with gnu for that C library, and any word for a vendor. A compiler's name contains
  // these words literally, and is a command.
  bool isWords = llvm::all_of(text, [](char c) { return llvm::isAlnum(c) || llvm::StringRef("_-.").contains(c); });
  bool hasLibrary = triple.getEnvironmentName() == llvm::Triple::getEnvironmentTypeName(triple.getEnvironment());
  if (isWords && (triple.isX86_64() || triple.isAArch64() || triple.isRISCV64() || isArmv7) &&
      triple.isLittleEndian() && triple.isOSLinux() && hasLibrary)
    return triple;
  for (const auto &[other, system] : kOtherNames)
    if (text.split('-').first.equals_insensitive(other) || text.equals_insensitive(other))
      return usageError("--target " + text + ": no such system", "did you mean '" + system + "'?");
  return usageError(
      "--target " + text + ": no such system",
      didYouMean(
          text, systems(),
          "systems are x86_64, aarch64 and riscv64 with Linux, as aarch64-linux-gnu or x86_64-linux-musl, and armv7"));
}

llvm::Expected<Cpu> target::describeCpu(llvm::StringRef name, llvm::StringRef features, llvm::StringRef tripleText) {
  initializeTargets();
  Cpu cpu;
  cpu.triple = llvm::sys::getDefaultTargetTriple();
  if (!tripleText.empty()) {
    llvm::Expected<llvm::Triple> parsed = parseTriple(tripleText);
    if (!parsed)
      return parsed.takeError();
    cpu.triple = parsed->str();
  }
  llvm::Triple triple(cpu.triple);
  bool native = tripleText.empty() && (name.empty() || name == "native");
  auto [least, itsFeatures] = leastCpu(triple);
  bool isLeast = !tripleText.empty() && (name.empty() || name == least);
  if (!tripleText.empty() && name == "native")
    return usageError("--mcpu native: this machine is not the one that --target names", "name a CPU");
  cpu.name = native ? llvm::sys::getHostCPUName().str() : isLeast ? least.str() : name.str();
  std::unique_ptr<llvm::MCSubtargetInfo> baseline = ::subtargetOf(triple, "", "");
  if (!baseline)
    return failure("LLVM has no code generator for " + cpu.triple);
  if (!runs(triple, cpu.name)) {
    for (const char *other : {"x86_64-linux-gnu", "aarch64-linux-gnu", "riscv64-linux-gnu", "arm-linux-gnueabihf"})
      if (runs(llvm::Triple(other), cpu.name))
        return usageError("--mcpu " + name + ": is a CPU of another system", llvm::Twine("add --target ") + other);
    std::vector<llvm::StringRef> names = cpusFor(triple);
    return usageError("--mcpu " + name + ": no such CPU",
                      didYouMean(name, names,
                                 (tripleText.empty() ? "'native' is this machine; others are " : "CPUs are ") +
                                     llvm::join(names, ", ")));
  }
  cpu.features = features;
  if (features.empty())
    cpu.features = isArm32(triple) ? armFeatures(cpu.name) : isLeast ? itsFeatures.str() : "";
  if (native) {
    cpu.features = differences(*::subtargetOf(triple, cpu.name, hostFeatures()), *::subtargetOf(triple, cpu.name, ""));
    measureCaches(cpu);
  }
  std::unique_ptr<llvm::MCSubtargetInfo> info = subtargetOf(cpu);
  for (const llvm::SubtargetFeatureKV &feature : info->getAllProcessorFeatures())
    if (info->hasFeature(feature.Value) && !baseline->hasFeature(feature.Value) &&
        llvm::is_contained(kUsed, llvm::StringRef(feature.Key)))
      cpu.required.push_back(feature.Key);
  llvm::sort(cpu.required);
  cpu.half = triple.isAArch64() || (triple.isX86() && info->checkFeatures("+f16c"));
  return cpu;
}
