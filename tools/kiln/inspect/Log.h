//===- Log.h - The command's output besides results ----------------------------===//
//
// Results go to standard output; everything else goes to standard error, by one library for log lines (spdlog): errors,
// warnings and, if they are asked for, steps, each one line that begins "kiln: ", which is coloured only on a terminal;
// and DEBUG's listings, whose lines are unchanged. NO_COLOR in the environment turns colours off.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

namespace kiln::driver {

/// From the least to the most output.
enum class LogLevel { Error, Warning, Info };

/// Sends debugStream() to the log. Call it once, before anything is printed.
void beginLog();

/// LogLevel::Warning until it is called. Listings are printed at any level.
void setLogLevel(LogLevel level);

/// Has logError write `{"version":2,"error":"LINE"}`, whatever the level: --json.
void logErrorsAsJson();

/// One line without its end; control characters in it are made visible.
void logError(llvm::StringRef text);
void logWarning(llvm::StringRef text);
void logInfo(llvm::StringRef text);

/// A line of DEBUG's listings that begins with a kernel's name, whose numbers have tinygrad's colours on a terminal, by
/// `axes` (kiln_kernel.axes).
void listKernel(llvm::StringRef name, llvm::StringRef axes, llvm::StringRef after = "");

/// Flushes standard output; LLVM would abort if that fails.
llvm::Error flushOutput();

} // namespace kiln::driver
