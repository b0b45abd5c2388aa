//===- Cpu.h - What kiln knows of a CPU ---------------------------------------===//
//
// LLVM's tables say what a CPU can do; this is the part of it that kernels are shaped by. Nothing here depends on the
// machine that compiles, unless the machine itself is asked for.
//
//===--------------------------------------------------------------------------===//
#pragma once

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <string>
#include <vector>

namespace kiln::target {

struct Cpu {
  std::string triple;   ///< LLVM's: x86_64-pc-linux-gnu
  std::string name;     ///< LLVM's: znver3, x86-64-v3
  std::string features; ///< beyond what the name says, as LLVM takes them: "+avx2,-avx512f"; "" for a named CPU

  unsigned vectorBits = 128;     ///< the widest vector
  unsigned vectorRegisters = 16; ///< how many of them
  bool fma = false;              ///< a fused multiply-add is one instruction
  bool half = false;             ///< conversions between f16 and f32 are instructions

  int64_t l1Bytes = 32 << 10;  ///< data cache of a core
  int64_t l2Bytes = 512 << 10; ///< of a core
  int64_t l3Bytes = 8 << 20;   ///< shared

  /// The features that code for this CPU may use and that not every CPU of the architecture has, sorted: what
  /// kiln_model.features lists.
  std::vector<std::string> required;
};

/// LLVM's name of the least CPU of this machine's architecture: what code for it computes does not depend on the
/// machine.
llvm::StringRef baselineCpu();

/// The CPU that LLVM calls `name`; "" and "native" mean this machine, whose caches are measured. Other CPUs get the
/// defaults above. An unknown name is a usage error.
llvm::Expected<Cpu> describeCpu(llvm::StringRef name);

} // namespace kiln::target
