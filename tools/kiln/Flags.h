//===- Flags.h - kiln flags: how a program is compiled and linked with an object ---===//
#pragma once

#include "llvm/Support/Error.h"
#include "llvm/Support/raw_ostream.h"

#include <string>

namespace kiln::driver {

struct FlagsOptions {
  bool compiling = false; ///< --cflags: where kiln/kiln.h is
  bool linking = false;   ///< --libs: the runtime, in the order in which a linker needs it
  std::string device = "cpu";
};

/// Prints a C compiler's arguments in one line, for a shell to read: both kinds if neither is asked for.
llvm::Error printFlags(const FlagsOptions &options, llvm::raw_ostream &out);

} // namespace kiln::driver
