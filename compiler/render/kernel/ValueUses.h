//===- ValueUses.h - How often, how deep and in which lanes values are used ----------===//
//
// This decides which values a rendered kernel names: a value that is used once is written where it is used, one that
// nothing reads is not written at all.
//
//===----------------------------------------------------------------------------===//
#pragma once

#include "render/kernel/Linear.h"

#include "llvm/ADT/BitVector.h"

namespace kiln::render {

/// Each by row.
struct ValueUses {
  std::vector<unsigned> counts;       ///< a scalar that a vector op repeats for its lanes counts twice
  std::vector<unsigned> depths;       ///< the loops around the row
  std::vector<unsigned> useDepths;    ///< the loops around its deepest use
  std::vector<bool> areChosen;        ///< whether some selection takes the row's value or another
  std::vector<llvm::BitVector> lanes; ///< the lanes that something reads; one, and it is set, if the row has no value
};

/// `isWhole` says which vector types are one value in the source: all their lanes are read together.
ValueUses findUses(const LinearProgram &program, llvm::function_ref<bool(mlir::Type)> isWhole);

} // namespace kiln::render
