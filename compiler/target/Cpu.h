//===- Cpu.h - What kiln knows of a CPU ---------------------------------------===//
//
// LLVM's tables say what a CPU can do; this is the part of it that kernels are shaped by. Nothing here depends on the
// machine that compiles, unless the machine itself is asked for: it may lack what CPUs of its name have (a virtual
// machine can hide it), so its features are kept as differences from the name. A program lists the features that its
// code may use and that not all CPUs of the architecture have; what LLVM never uses unasked is left out, since it would
// only narrow where the program runs.
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
  std::string features; ///< where they differ from what the name says, as LLVM takes them: "-avx512f,+f16c"

  bool half = false; ///< conversions between f16 and f32 are instructions
  /// The data caches: of a core, of a core, shared.
  std::array<int64_t, 3> cacheBytes = {32 << 10, 512 << 10, 8 << 20};

  /// The features that code for this CPU may use and that not every CPU of the architecture has, sorted: what
  /// kiln_model.features lists.
  std::vector<std::string> required;
};

/// LLVM's name of the least CPU of this machine's architecture: what code for it computes does not depend on the
/// machine.
llvm::StringRef baselineCpu();

/// The systems that code is made for, as their compilers are called.
llvm::ArrayRef<llvm::StringRef> systems();

/// The CPU that LLVM calls `name`, with these features changed; "" and "native" mean this machine, whose features and
/// caches are measured. Other CPUs get the defaults above. An unknown name is a usage error. With a `triple`, a CPU of
/// that system, by default the least; a triple that no code can be made for is a usage error.
llvm::Expected<Cpu> describeCpu(llvm::StringRef name, llvm::StringRef features = "", llvm::StringRef triple = "");

/// Has LLVM know the architectures that kiln makes code for.
void initializeTargets();

/// LLVM's account of what the CPU can do.
std::unique_ptr<llvm::MCSubtargetInfo> subtargetOf(const Cpu &cpu);

} // namespace kiln::target
