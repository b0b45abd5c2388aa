//===- SingleLaneStores.h - Masked stores of one lane become scalar stores ---===//
#pragma once

namespace llvm {
class Module;
} // namespace llvm

namespace kiln::target {

/// Replaces each masked store whose mask is known and has one lane by a store of that lane. Expects an optimised
/// module: a mask becomes known late if a loop was unrolled.
void storeSingleLanes(llvm::Module &module);

} // namespace kiln::target
