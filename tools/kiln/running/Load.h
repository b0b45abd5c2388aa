//===- Load.h - A model in this process ---------------------------------------===//
#pragma once

#include "target/KernelRunner.h"
#include "tools/kiln/model/Model.h"

namespace kiln::driver {

/// Takes the model through the remaining stages and makes it callable. It outlives `model`.
llvm::Expected<std::unique_ptr<target::LoadedModel>> load(Model &model, const CompileOptions &options);

} // namespace kiln::driver
