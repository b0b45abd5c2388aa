//===- Step.h - What is being done now, for whoever waits ---------------------===//
//
// Compiling a large model takes long enough that a person wants to know how far it is. The libraries say what they
// begin; whether anyone shows it, and how, is the program's matter.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/Twine.h"

#include <functional>

namespace kiln {

/// Who hears of steps, from any thread; an empty function: nobody. Not to be set while steps are said.
void setStepListener(std::function<void(llvm::StringRef)> listener);

/// "weight 3 of 10", "link": begins now. Costs nothing where nobody listens.
void beginStep(const llvm::Twine &what);

} // namespace kiln
