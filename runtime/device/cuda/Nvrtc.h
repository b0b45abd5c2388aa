//===- Nvrtc.h - NVIDIA's compiler of CUDA C++, as a library -------------------===//
//
// NVRTC is loaded when the first kernel is compiled: neither kiln nor its programs are linked with it.
//
//===---------------------------------------------------------------------------===//
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <string>

namespace kiln::cuda {

class Nvrtc {
public:
  /// The file that $KILN_NVRTC names, else the one that the build found, else the one that the system's loader finds.
  /// Loaded once per process.
  static llvm::Expected<const Nvrtc *> load();

  /// major * 1000 + minor * 10
  int version() const { return version_; }

  struct Result {
    std::string ptx;   ///< without the 0 at its end
    std::string cubin; ///< "" where `arch` is virtual ("compute_80")
  };
  /// A product and a sum are never contracted; division and roots are rounded as the standard says. The error is the
  /// first that NVRTC reports, in one line.
  llvm::Expected<Result> compile(llvm::StringRef source, llvm::StringRef arch) const;

private:
  struct Functions;
  Nvrtc() = default;
  const Functions *functions_ = nullptr;
  int version_ = 0;
};

} // namespace kiln::cuda
