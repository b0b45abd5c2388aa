//===- Growth.h - Why an artefact's weights take more room than the model's ----------===//
//
// Kernels read weights in the order in which they need them, so kiln packs them anew. The model's own order stays next
// to that if another kernel reads it, as a table of tokens that is a product's weight as well. Narrow weights become
// wide where they are computed with. Somebody who ships a program that is far larger than its model wants to know.
//
//===------------------------------------------------------------------------------------===//
#pragma once

#include "mlir/IR/BuiltinOps.h"

#include <cstdint>
#include <string>

namespace kiln::driver {

struct Growth {
  int64_t weightBytes = 0;  ///< of the artefact
  int64_t twiceBytes = 0;   ///< of these, weights that are there in another form as well
  int64_t widenedBytes = 0; ///< of these, what weights have grown by being made from narrower or fewer elements
  std::string largest;      ///< the model's name of the largest of these
};

/// For the weights of a module after stage schedule.
Growth growthOf(mlir::ModuleOp module);

/// A size as people write it: "987 B", "125 kB", "1.5 MB".
std::string sizeText(double bytes);

/// "152 MB more than the model: 154 MB of weights are there in two orders, for kernels that read them differently,
/// above all 'wte'"; "" if `bytes` of artefact for `modelBytes` of model need no reason.
std::string growthText(const Growth &growth, int64_t bytes, int64_t modelBytes);

} // namespace kiln::driver
