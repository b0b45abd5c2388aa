//===- CHost.h - A whole model as one C file ----------------------------------===//
//
// Stage: render (host and uop → C11). The file defines one constant kiln_model: tables, host program and, on device c,
// the kernels. All else in it is static, so models can be linked together. It needs the runtime's headers and is clean
// with gcc and clang under
//   -std=c11 -Wall -Wextra -fwrapv -ffp-contract=off
// Without -fwrapv integers that overflow are undefined, without -ffp-contract=off gcc fuses products and sums.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "render/kernel/Semantics.h"
#include "render/model/Origin.h"
#include "render/model/WeightData.h"
#include "target/Device.h"

#include "llvm/Support/Error.h"

namespace kiln::render {

/// The device "c": any compiler's C, so one element at a time and one chunk after another.
inline target::Device cDevice() {
  return {.name = "c",
          .summary = "any CPU, through a C compiler",
          .target = R"(#kiln.target<device = "c", emulates = [f16, bf16], lacks = [threefry], chunks = 32,
              rates = <bytes_per_ns = 10, ops_per_ns = 10, product_ops_per_ns = 60, launch_ns = 200, units = 1,
                       tile_reuse = 8>>)",
          .source = nullptr};
}

struct CHostOptions {
  std::string name; ///< of the model
  Origin origin = {};
  std::string symbol = "kiln_the_model";         ///< the name of the kiln_model
  std::string prefix;                            ///< of its functions, which EntryPoints.h lists; "": it has none
  std::vector<Place> places = {{"c", ""}};       ///< kernels are rendered for "c", others' come as code
  WeightSource weights{""};                      ///< paths are relative to the model's folder
  bool weightsInFile = false;                    ///< no weight data: it is named at run time
  std::string weightsDigest;                     ///< kiln_model.weights_digest; "": none
  std::string weightSymbol = "kiln_the_weights"; ///< see weightsInSource
  bool isSelfContained = false;                  ///< all weights are in the source, which includes only one "kiln.h"
};

/// Data up to this size is written into the source.
inline constexpr int64_t kMostWeightBytesInSource = 4096;

/// Whether the source holds the weights. If not, and there are some, it declares `extern const unsigned char
/// kiln_the_weights[]`, to be defined elsewhere: tables.weightBytes bytes, aligned to KILN_ALIGNMENT.
inline bool weightsInSource(const ModelTables &tables) { return tables.weightBytes <= kMostWeightBytesInSource; }

/// An error is one from reading weights.
llvm::Expected<std::string> renderCHost(const ModelTables &tables, const CHostOptions &options);

/// Kernels alone, of external names; `isComplete`: with what a C compiler needs before them.
std::string renderCKernels(llvm::ArrayRef<uop::FuncOp> kernels, bool isComplete);

/// The host program alone: the definition of `static kiln_status run(kiln_context *, const int64_t *)` and of the data
/// that it needs. The functions that it calls are noted in `functions`.
std::string renderRunFunction(const ModelTables &tables, SemanticFunctions &functions);

} // namespace kiln::render
