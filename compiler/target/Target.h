//===- Target.h - Targets, and limits for all of them --------------------------------===//
//
// A device's properties are an attribute of the module, #kiln.target (ir/base/Target.td). A device that is not the host
// writes its own as text; the host's comes from LLVM's tables.
//
//===----------------------------------------------------------------------------------===//
#pragma once

#include "ir/base/Target.h"
#include "target/Cpu.h"
#include "view/Expr.h"

#include <array>

namespace kiln::target {

/// Sums of products of this many points hold their operands in cache in the order in which they are used, so that each
/// element is computed once.
inline constexpr int64_t kStagedProduct = int64_t(1) << 21;

/// Whether a product's operands are held in cache so. If it has fewer rows or columns than some register tiles, each
/// element would be held for few products.
constexpr bool stagesOperands(double rows, double columns, double depth) {
  return rows * columns * depth >= double(kStagedProduct) && rows >= 32 && columns >= 128;
}

/// A batch or a sequence of unknown length counts as this: neither one nor many.
inline constexpr int64_t kTypicalSize = 16;

/// A size as a number. Each symbol in it counts as `typical` if it is not known, or as the nearest number that its
/// bounds allow.
double typicalSize(view::Expr size, int64_t typical = kTypicalSize);

/// The most rows of scores that a kernel holds at a time: their products with the keys fill several register tiles.
inline constexpr int64_t kMostHeldRows = 64;

/// How many rows of `keys` scores a kernel holds in the second cache together with their exponentials, `bytes` to a
/// number, for products of vectors with at least `lanes` columns on both sides; 0 if that does not pay.
inline int64_t heldRows(TargetAttr target, int64_t keys, int64_t columns, int64_t bytes) {
  int64_t lanes = target.vectorBits() / 8 / bytes, fit = target.cacheBytes(2) / 2 / (2 * keys * bytes);
  bool isVector = !target.hasGroups() && lanes > 1 && keys >= lanes && columns >= lanes;
  return isVector && fit >= 8 ? std::min(fit / 8 * 8, kMostHeldRows) : 0;
}

/// So many keys count where they are not known: as many as their bound allows if rows of these are held, else as few as
/// most sequences and pictures have. Memory is for those that there are.
inline int64_t countedKeys(TargetAttr target, view::Expr keys, int64_t columns, int64_t bytes) {
  constexpr int64_t kTypicalKeys = 1024;
  bool isCounted = keys.isConst() || heldRows(target, keys.max(), columns, bytes) > 0;
  return isCounted ? keys.max() : std::min(keys.max(), kTypicalKeys);
}

/// The most rows of exponentials that are computed together and do not wait for each other.
inline constexpr int64_t kRowsTogether = 4;

/// The cost of holding an element that is stored once and read in so many walks, in steps of an addition (AluTraits),
/// as the schedule counts them.
constexpr double stepsToHold(size_t walks) { return 1 + double(walks); }

/// A value that takes fewer steps is computed again as fast as it is stored and read.
inline constexpr double kFewestHeldSteps = 8;

/// Whether a kernel holds a row of values that several walks of the row would each compute, in so many steps per
/// element: a CPU does if a row of them and one of their sources fit the second cache, as most rows of unknown length
/// do.
bool paysToHold(TargetAttr target, view::Expr length, mlir::Type element, double steps, size_t walks);

/// The largest divisor of a size that is a multiple of `step` and at most `most`; 0: there is none.
constexpr int64_t largestPart(int64_t size, int64_t most, int64_t step = 1) {
  for (int64_t part = most / step * step; part > 0; part -= step)
    if (size % part == 0)
      return part;
  return 0;
}

/// How many terms of a column a matrix instruction takes as neighbours: 32 bits of them, on all CPUs.
inline int64_t sideOf(mlir::Type element) { return 32 / element.getIntOrFloatBitWidth(); }

/// Matrix instructions for sums of fewer terms would spend more time on loads than on products; dot instructions load
/// one row's terms at a time.
inline constexpr int64_t kFewestTerms = 16, kFewestDotTerms = 12;

/// The most sums that one thread or item adds up at once, in registers.
inline constexpr int64_t kMostTotals = 128;
/// Lanes at this distance or less in memory are picked out of vectors that are loaded whole.
inline constexpr int64_t kMostApart = 4;

/// More than most machines have cores, so that uneven chunks even out.
inline constexpr int64_t kMostChunks = 128;
/// The most threads for which cuts of a kernel are judged.
inline constexpr int64_t kJudgedThreads = 32;

/// How many bytes a cache holds, and how many of them it gives a core in a nanosecond. `bytes` is 0 if that is not
/// known.
struct CacheRate {
  int64_t bytes = 0;
  double bytesPerNs = 0;
};
/// Of a core's own caches together, and of the one that cores share.
using CacheRates = std::array<CacheRate, 2>;
CacheRates cacheRates(TargetAttr target);

/// The feature of a CPU with one of its dot or matrix instructions.
llvm::StringRef featureOf(llvm::StringRef instruction);

/// The device of this name, whose kernels are code for the CPU.
TargetAttr cpuTarget(llvm::StringRef device, const Cpu &cpu, mlir::MLIRContext *context);

/// The target of recipes, whatever their model's is: any CPU, so that the bytes which they make are the same
/// everywhere.
TargetAttr recipeTarget(mlir::MLIRContext *context);

/// A target that kiln itself wrote: `text` is an attribute of MLIR's, #kiln.target<…>.
TargetAttr parseTarget(llvm::StringRef text, mlir::MLIRContext *context);

} // namespace kiln::target
