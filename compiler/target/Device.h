//===- Device.h - A device's half of the compiler ---------------------------===//
//
// One value: the device's name, its properties, and how its kernels become text. Its other half is the runtime's
// kiln_device. docs/adding-a-device.md says how both become part of kiln.
//
//===----------------------------------------------------------------------------===//
#pragma once

#include "ir/uop/UOp.h"
#include "target/Target.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"

#include <functional>
#include <optional>
#include <string>

namespace kiln::target {

/// The compiler of a device whose kernels are compiled with the model, not when the program runs. The functions take
/// the text of all kernels and the architectures that --gpu-arch names.
struct SourceCompiler {
  std::string archs; ///< if --gpu-arch is not given
  std::function<llvm::Expected<std::string>(llvm::StringRef source, llvm::StringRef archs)> code; ///< kiln_place.code
  std::function<llvm::Expected<std::string>(llvm::StringRef source, llvm::StringRef archs)> assembly; ///< as text
  std::function<llvm::Expected<std::string>(llvm::StringRef source, llvm::StringRef archs)> listing;  ///< of `code`
};

struct Device {
  std::string name;    ///< the name for --device; kiln_device_NAME is its half in the runtime
  std::string summary; ///< its line in `kiln devices`
  /// Its properties, as a #kiln.target of MLIR's: without a machine at hand, modest numbers that hold for most. "" for
  /// the CPU's.
  std::string target;
  /// Renders kernels as text. Null if kernels are code of the host's, compiled with the host program.
  std::function<std::string(llvm::ArrayRef<uop::FuncOp>)> source;
  /// Compiles the text to kiln_place.code; none if the device's runtime compiles the text itself.
  std::optional<SourceCompiler> sourceCompiler{};
};

} // namespace kiln::target
