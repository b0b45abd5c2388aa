//===- RunModel.h - Run a loaded model on tensors -----------------------------===//
#pragma once

#include "interp/HostTensor.h"

#include "kiln/kiln.h"

#include "llvm/Support/Error.h"

#include <vector>

namespace kiln::driver {

/// Runs `model` once on its device, on inputs in declared order; an absent one takes its stored default. `debug` of 2
/// and more prints a line per launch. The outputs in declared order.
llvm::Expected<std::vector<interp::HostTensor>> runModel(const kiln_model &model,
                                                         std::vector<interp::HostTensor> &inputs, int debug);

/// The type of a dtype's elements in memory: codes are bytes, and references to strings int64.
DType storedDType(kiln_dtype dtype);

/// A sequence of tensors.
interp::HostTensor listOf(std::vector<interp::HostTensor> tensors);
/// Copies of the tensors of a list; of nothing if it is absent.
std::vector<interp::HostTensor> tensorsOf(const interp::HostTensor &list);

} // namespace kiln::driver
