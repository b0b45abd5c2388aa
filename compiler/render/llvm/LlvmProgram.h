//===- LlvmProgram.h - A whole model as an LLVM module ------------------------------------===//
//
// Stage: render (host and uop → LLVM IR).  The module defines one constant kiln_model: tables, host program and, on the
// CPU, kernels. Weight data never passes through LLVM: the module has an empty section for it, which package fills, or
// refers to memory that a JIT names.
//
//===--------------------------------------------------------------------------------------===//
#pragma once

#include "render/llvm/Versions.h"
#include "render/model/Origin.h"

namespace llvm {
class Module;
}

namespace kiln::render {

enum class WeightPlacement {
  Section,  ///< in this object's section kWeightSection, to be filled
  External, ///< memory of the symbol kWeightSymbol
  Absent,   ///< in a file that is named at run time
};
inline constexpr char kWeightSection[] = ".lrodata.kiln"; ///< "l": may lie further than 2 GB from code
inline constexpr char kWeightSymbol[] = "kiln_the_weights";

struct ProgramOptions {
  std::string name; ///< of the model
  Origin origin = {};
  std::string symbol = "kiln_the_model"; ///< the name of the kiln_model
  std::string prefix;                    ///< of its functions, which EntryPoints.h lists; "": it has none
  std::vector<Place> places = {{"cpu", ""}};
  WeightPlacement weights = WeightPlacement::Section;
  std::string weightsDigest;    ///< kiln_model.weights_digest; "": none
  bool separateKernels = false; ///< kernels are objects of their own, whose entries are only declared here
};

/// Fills an empty module that has its layout (target::configure). The first version has the symbol, and each refers to
/// the next; with several versions, functions say what CPU they are for.
void renderProgram(llvm::ArrayRef<Version> versions, const ProgramOptions &options, llvm::Module &module);

} // namespace kiln::render
