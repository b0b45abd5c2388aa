//===- Versions.h - One model, compiled for several CPUs ------------------------------===//
//
// An artefact may hold a model more than once: for one CPU, and for others that lack features of that one. Each version
// is whole, schedule and kernels, but weights are stored once: if two versions have the same bytes, both read the same
// ones.
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

/// For one model's versions, the preferred one first: has all of them refer to one weight data. If a weight of a later
/// version is computed or read like an earlier one's, it becomes that; the others follow, under names that no weight
/// before them has.
void shareWeights(llvm::MutableArrayRef<Version> versions);

/// The contents of the weight data, in its order, each weight once.
std::vector<WeightEntry> sharedWeights(llvm::ArrayRef<Version> versions);

} // namespace kiln::render
