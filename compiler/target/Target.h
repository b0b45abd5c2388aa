//===- Target.h - What a device is like, as far as kernels are shaped by it -----------===//
#pragma once

#include <cstdint>

namespace kiln::target {

/// The numbers that choosing opts depends on. A device without vectors, groups or caches leaves them 0.
struct Target {
  int64_t vectorBits = 0;      ///< the widest vector
  int64_t vectorRegisters = 0; ///< how many of them
  int64_t l1Bytes = 0;         ///< the data caches of one core
  int64_t l2Bytes = 0;
  int64_t l3Bytes = 0;    ///< the cache that cores share
  int64_t maxItems = 0;   ///< of a work group; 0: no groups, launches are cut into chunks
  int64_t localBytes = 0; ///< local memory of a work group
  int64_t maxChunks = 0;  ///< that a launch is worth being cut into; 0: it is never cut
};

} // namespace kiln::target
