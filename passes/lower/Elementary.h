//===- Elementary.h - Exponentials, logarithms, angles, as formulas ------------===//
//
// Functions of reals from additions, products, integers and bits: no branch, no table, any number of lanes. The bits
// are the same on all machines that agree whether a multiply-add rounds once. For float32; docs/transcendental.md has
// their errors.
//
//===----------------------------------------------------------------------------===//
#pragma once

#include "passes/lower/Lanes.h"

namespace kiln::lower {

Lanes exp(Lanes x);
Lanes exp2(Lanes x);
Lanes log(Lanes x);
Lanes log2(Lanes x);
Lanes tanh(Lanes x);
/// 1 / (1 + e^-x), without overflow on the way.
Lanes sigmoid(Lanes x);
Lanes erf(Lanes x);
/// These compute in float64 on the way.
Lanes sin(Lanes x);
Lanes cos(Lanes x);
Lanes pow(Lanes x, Lanes y);

} // namespace kiln::lower
