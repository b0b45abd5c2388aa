//===- Versions.h - One model, compiled for several CPUs ------------------------------===//
//
// An artefact may hold a model more than once: as it is for one CPU, and as it is for others that lack what that one
// needs. Each version is whole, schedule and kernels, but weights lie there once: what two versions have the same bytes
// of, both read.
//
//===----------------------------------------------------------------------------------===//
#pragma once

#include "render/model/ModelTables.h"
#include "target/Cpu.h"

namespace kiln::render {

struct Version {
  ModelTables tables;
  target::Cpu cpu;
};

/// Of one model's versions, the one to be preferred first: has all of them refer to one weight data. Where a weight of
/// a later version is computed or read as an earlier one's is, it becomes that; the others follow, under names that no
/// weight before them has.
void shareWeights(llvm::MutableArrayRef<Version> versions);

/// What lies in the weight data, in its order, each weight once.
std::vector<WeightEntry> sharedWeights(llvm::ArrayRef<Version> versions);

} // namespace kiln::render
