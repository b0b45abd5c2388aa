//===- Cpu.h - kiln's description of a CPU ------------------------------------===//
//
// LLVM's tables describe CPUs; this is the part that matters for kernels. Nothing here depends on the machine that
// compiles, unless the machine itself is asked for. It may lack features that CPUs of its name have (a virtual machine
// can hide them), so its features are kept as differences from the name. A program lists the features that its code may
// use and that not all CPUs of the architecture have. Features that LLVM never uses unasked are left out, since they
// would only make the program run on fewer CPUs.
//
//===--------------------------------------------------------------------------===//
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace llvm {
class MCSubtargetInfo;
} // namespace llvm

namespace kiln::target {

struct Cpu {
  std::string triple;   ///< LLVM's: x86_64-pc-linux-gnu
  std::string name;     ///< LLVM's: znver3, x86-64-v3
  std::string features; ///< differences from those of the name, as LLVM takes them: "-avx512f,+f16c"

  bool half = false; ///< conversions between f16 and f32 are instructions
  /// The data caches: of a core, of a core, shared.
  std::array<int64_t, 3> cacheBytes = {32 << 10, 512 << 10, 8 << 20};

  /// The features that code for this CPU may use and that not every CPU of the architecture has, sorted: the list in
  /// kiln_model.features.
  std::vector<std::string> required;
};

/// LLVM's name of the least CPU of this machine's architecture: results of code for it do not depend on the
/// machine.
llvm::StringRef baselineCpu();

/// The systems that code is made for, by their compilers' names.
llvm::ArrayRef<llvm::StringRef> systems();

/// The CPU that LLVM calls `name`, with these features changed; "" and "native" mean this machine, whose features and
/// caches are measured. Other CPUs get the defaults above. An unknown name is a usage error. With a `triple`, a CPU of
/// that system, by default the least; a triple that no code can be made for is a usage error.
llvm::Expected<Cpu> describeCpu(llvm::StringRef name, llvm::StringRef features = "", llvm::StringRef triple = "");

/// Makes the architectures that kiln compiles for known to LLVM.
void initializeTargets();

/// LLVM's description of the CPU.
std::unique_ptr<llvm::MCSubtargetInfo> subtargetOf(const Cpu &cpu);

} // namespace kiln::target
