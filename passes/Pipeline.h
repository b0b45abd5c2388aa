//===- Pipeline.h - The stages in order --------------------------------------------===//
#pragma once

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/StringRef.h"

#include <optional>
#include <string>
#include <vector>

namespace kiln {

/// The stages, in order. The same word is the folder, the --emit value and the dump.
enum class Stage { Import, View, Schedule, Optimize, Lower, Render, Package };

llvm::StringRef stageName(Stage stage);
std::optional<Stage> stageByName(llvm::StringRef name);

/// Choices made by hand. The target of a module is an attribute of its own (ir/base/Target.h).
struct PipelineOptions {
  bool classic = false; ///< --schedule=classic
  int64_t winograd = 2; ///< --winograd: outputs of a tile along an axis; 0: none
  bool noOpt = false;   ///< NOOPT=1, --no-opt
  std::string opts;     ///< --opts: the text of an opts file; empty: the heuristic decides
  std::string optsPath; ///< the file's name in errors
  /// DEBUG=7: print each rewrite of a uop in these kernels; a * stands for any letters.
  std::vector<std::string> loggedKernels;
};

/// The stage that `module` has passed: its attribute `kiln.stage`, which every stage writes.
Stage stageOf(mlir::ModuleOp module);

/// Adds the passes of one MLIR stage (View to Lower) and its verifier, which also notes that it has passed.
void addStage(mlir::OpPassManager &manager, Stage stage, const PipelineOptions &options);

/// Registers every dialect that a stage's module may contain.
void registerDialects(mlir::DialectRegistry &registry);

/// Registers every pass with mlir's command line.
void registerPasses();

} // namespace kiln
