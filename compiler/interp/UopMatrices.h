//===- UopMatrices.h - The results of matrix and dot instructions -----------------===//
#pragma once

#include "ir/base/DType.h"

#include <cstdint>

namespace kiln::interp {

/// The sum is rows × columns, a is rows × (steps · side), b is steps × (columns · side): in each step `side` terms of a
/// row of a meet as many of a column of b, which are neighbours in both.
struct MatrixSizes {
  uint32_t rows, columns, steps, side;
};

/// The most terms of a column that are neighbours: bytes, in 32 bits.
inline constexpr uint32_t kMostSide = 4;

/// result = sum + a × b; matrices are dense, row by row. The result may be the sum.
/// Integers wrap. Floats follow x86's instructions: the terms at each place of a step have a total of their own, which
/// takes them in with one rounding; these totals are added up, and then to the sum. Numbers too small to be normal
/// count as 0, read or written, and a NaN is the quiet one.
using MatrixLoop = void (*)(const char *a, const char *b, const char *sum, char *result, const MatrixSizes &sizes);

/// That of a row of Products.def; null if the name is not one of those that kiln makes, or it multiplies other dtypes.
MatrixLoop matrixLoop(llvm::StringRef name, DType a, DType b, DType sum);

/// For a dot instruction: its lanes, of `side` terms each. An operand's step is from one lane's terms to the next
/// one's: 0 if all lanes have the same.
struct DotSizes {
  uint32_t lanes, side, stepA, stepB;
};

/// result = sum + the terms of a × those of b, lane by lane, as AVX-512 does it: each term is taken in with one
/// rounding, the last first; numbers too small to be normal count as 0, read or written, also between. The result may
/// be the sum.
using DotLoop = void (*)(const char *a, const char *b, const char *sum, char *result, const DotSizes &sizes);

/// The same of a dot instruction.
DotLoop dotLoop(llvm::StringRef name, DType a, DType b, DType sum);

} // namespace kiln::interp
