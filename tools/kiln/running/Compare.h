//===- Compare.h - The difference of one tensor from another ------------------===//
#pragma once

#include "interp/HostTensor.h"
#include "tools/kiln/options/Options.h"

namespace kiln::driver {

struct Comparison {
  bool comparable = true; ///< of one dtype and shape
  bool equal = false;     ///< within the tolerances everywhere, a NaN only where a NaN is wanted
  std::string mismatch;   ///< the difference: "dtype float32, wanted float64", or the worst element; "" if equal
  /// The largest errors over the elements that are finite in both; 0 if there is none. `ulps` counts the dtype's
  /// numbers between the two; for integers it is the absolute error.
  double absolute = 0, relative = 0, ulps = 0;
};

Comparison compare(const interp::HostTensor &got, const interp::HostTensor &wanted, const VerifyOptions &options);

/// "float32 [2, 3]"
std::string describe(const interp::HostTensor &tensor);

} // namespace kiln::driver
