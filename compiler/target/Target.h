//===- Target.h - What a device is like, as far as kernels are shaped by it -----------===//
#pragma once

#include "ir/base/Alu.h"

#include <cstdint>
#include <vector>

namespace kiln::target {

/// Sums of products of this many points hold their operands in cache in the order in which they are used, so that each
/// element is computed once.
inline constexpr int64_t kStagedProduct = int64_t(1) << 21;

/// The most sums that one thread or item adds up side by side, in registers.
inline constexpr int64_t kMostTotals = 128;

/// What a device takes for what, roughly: enough to choose between two ways to cut a graph into kernels.
struct Rates {
  double bytesPerNs = 10;      ///< between memory and the device
  double opsPerNs = 10;        ///< element-wise operations, all of its units together
  double productOpsPerNs = 60; ///< multiplications and additions of a sum of products
  double launchNs = 200;       ///< to begin and end a kernel
  double units = 1;            ///< how many rows of a reduction it works on at once
  double tileReuse = 8;        ///< how often a register tile uses an operand's element that it has at hand
};

/// More than most machines have cores, so that uneven chunks even out.
inline constexpr int64_t kMostChunks = 32;

/// The rows that C's library computes: a device that has no more than that does better by arithmetic of its own.
inline constexpr Alu kMathRows[] = {Alu::EXP, Alu::EXP2, Alu::LOG, Alu::LOG2, Alu::TANH,
                                    Alu::ERF, Alu::SIN,  Alu::COS, Alu::POW};

/// The numbers that choosing opts depends on. A device without vectors, groups or caches leaves them 0.
struct Target {
  int64_t vectorBits = 0;      ///< the widest vector
  int64_t vectorRegisters = 0; ///< how many of them
  int64_t l1Bytes = 0;         ///< the data caches of one core
  int64_t l2Bytes = 0;
  int64_t l3Bytes = 0;      ///< the cache that cores share
  int64_t maxItems = 0;     ///< of a work group; 0: no groups, launches are cut into chunks
  int64_t localBytes = 0;   ///< local memory of a work group
  int64_t maxChunks = 0;    ///< that a launch is worth being cut into; 0: it is never cut
  bool fma = false;         ///< a multiply-add that rounds once is one operation
  std::vector<Alu> lacks{}; ///< rows that are computed by others
  Rates rates{};
};

} // namespace kiln::target
