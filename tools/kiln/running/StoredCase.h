//===- StoredCase.h - Inputs and outputs stored next to a model ---------------===//
#pragma once

#include "interp/HostTensor.h"

#include "llvm/Support/Error.h"

#include <string>

namespace kiln::driver {

/// One run of a model, in declared order.
struct StoredCase {
  std::string folder;
  std::vector<interp::HostTensor> inputs, outputs;
};

/// The model's file in `path`, or `path` itself if it is not a folder. A folder has model.onnx, graph.json, or one file
/// that could be a model.
llvm::Expected<std::string> findModel(llvm::StringRef path);

/// The cases in `folder`: input_*.npy and output_*.npy, and in test_data_set_* the same as .pb, or as .npy if the
/// folder has no .pb. Files must be numbered from 0 without gaps; inputs without outputs are an error.
llvm::Expected<std::vector<StoredCase>> findCases(llvm::StringRef folder, int64_t memoryLimit);

} // namespace kiln::driver
