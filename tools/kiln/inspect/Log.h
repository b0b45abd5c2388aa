//===- Log.h - What the command says besides results ---------------------------===//
//
// Results go to standard output; all else goes to standard error, by one library for log lines (spdlog): errors,
// warnings and, where they are asked for, steps, each one line that begins "kiln: ", which has a colour on a terminal
// alone; and DEBUG's listings, whose lines stand as they are. NO_COLOR in the environment does without colours.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

namespace kiln::driver {

/// From the least to the most that is said.
enum class LogLevel { Error, Warning, Info };

/// Sends debugStream() to the log. To be called once, before something is said.
void beginLog();

/// LogLevel::Warning until it is called. Listings are said at any level.
void setLogLevel(LogLevel level);

/// Has logError write `{"version":1,"error":"LINE"}`, whatever the level: --json.
void logErrorsAsJson();

/// One line without its end; control characters in it are made visible.
void logError(llvm::StringRef text);
void logWarning(llvm::StringRef text);
void logInfo(llvm::StringRef text);

/// Has standard output take what was shown so far; LLVM would abort where it cannot.
llvm::Error flushOutput();

} // namespace kiln::driver
