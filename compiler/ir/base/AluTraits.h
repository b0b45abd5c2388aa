//===- AluTraits.h - Properties of the rows of Alu.def ---------------------------===//
#pragma once

#include "ir/base/Alu.h"

namespace kiln {

/// The class of a row's operands, and its accuracy.
enum class AluClass {
  Plain,
  Function, ///< of real numbers, as a library rounds it: results differ from one to the next. POW of integers is exact
  Real,     ///< of floats, rounded correctly
  Rounding, ///< of floats, to an integer
  Integer,  ///< of integers only
};

struct AluTraits {
  AluClass family;
  double steps;   ///< its cost, in additions of vectors of f32
  bool keepsZero; ///< whether it makes 0 of zeros
};

const AluTraits &aluTraits(Alu kind);

} // namespace kiln
