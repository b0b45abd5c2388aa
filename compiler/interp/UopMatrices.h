//===- UopMatrices.h - What a matrix instruction computes ------------------------===//
#pragma once

#include "ir/base/DType.h"

#include <cstdint>

namespace kiln::interp {

/// The sum is rows × columns, a is rows × (steps · side), b is steps × (columns · side): in each step `side` terms of a
/// row of a meet as many of a column of b, which lie side by side in both.
struct MatrixSizes {
  uint32_t rows, columns, steps, side;
};

/// The most terms of a column that lie side by side: bytes, in 32 bits.
inline constexpr uint32_t kMostSide = 4;

/// result = sum + a × b; matrices are dense, row by row. The result may be the sum.
///   Integers wrap. Floats go as x86's instructions have it: the terms at each place of a step have a total of their
///   own, which takes them in with one rounding; these totals are added up, and then to the sum. What is too small to
///   be normal counts as 0, read or written, and a NaN is the quiet one.
using MatrixLoop = void (*)(const char *a, const char *b, const char *sum, char *result, const MatrixSizes &sizes);

/// Null where no instruction multiplies such dtypes.
MatrixLoop matrixLoop(DType a, DType b, DType sum);

} // namespace kiln::interp
