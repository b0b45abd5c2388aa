#include "support/Step.h"

using namespace kiln;

static std::function<void(llvm::StringRef)> &listenerOf() {
  static std::function<void(llvm::StringRef)> listener;
  return listener;
}

void kiln::setStepListener(std::function<void(llvm::StringRef)> listener) { listenerOf() = std::move(listener); }

void kiln::beginStep(const llvm::Twine &what) {
  if (listenerOf())
    listenerOf()(what.str());
}
