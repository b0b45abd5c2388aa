//===- Step.h - Report the current step to whoever waits ----------------------===//
//
// Compiling a large model takes long enough that a person wants to know how far it is. The libraries report what they
// begin; the program decides whether and how it is shown.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/Twine.h"

#include <functional>

namespace kiln {

/// The function that hears of steps, from any thread; empty: none. Do not set it while steps are reported.
void setStepListener(std::function<void(llvm::StringRef)> listener);

/// "weight 3 of 10", "link": begins now. Costs nothing if nobody listens.
void beginStep(const llvm::Twine &what);

} // namespace kiln
