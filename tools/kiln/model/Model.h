//===- Model.h - A model on its way through the stages ------------------------===//
#pragma once

#include "Diagnostics.h"
#include "tools/kiln/options/Options.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"

#include <memory>

namespace kiln::driver {

class Model {
public:
  /// Imports a model file, or parses a dump, which stands after the stage that its attribute kiln.stage names.
  static llvm::Expected<std::unique_ptr<Model>> open(const CompileOptions &options);

  /// Runs the passes of the stages that are left up to and with `stage`, one of View to Lower.
  llvm::Error advance(Stage stage);

  mlir::ModuleOp module() const { return *module_; }
  Stage stage() const { return stageOf(module()); }

  /// The file that was imported, also where this began with a dump of a later stage. A dump names it as it was named
  /// then; where that leads to no file from here, it is looked for beside the dump.
  llvm::StringRef source() const { return source_; }
  /// What artefacts call it: the source's file name.
  llvm::StringRef name() const;
  /// Paths of weights are relative to it.
  llvm::StringRef folder() const;

  /// The files that this was made of and that the weights' bytes will be read from.
  std::vector<std::string> files() const;

  /// The module in a form that `open` reads back.
  void print(llvm::raw_ostream &out) const;

private:
  explicit Model(const CompileOptions &options);
  /// Whether a module that was parsed could be a stage's.
  llvm::Error readDump();
  llvm::Error checkDump();
  /// Where a dump's model lies. An error where the dump needs files of a folder that it may not name.
  llvm::Error findSource();

  const CompileOptions &options_;
  mlir::MLIRContext context_;
  Diagnostics diagnostics_;
  mlir::OwningOpRef<mlir::ModuleOp> module_;
  std::string source_;
  std::vector<std::string> files_; ///< what the import read
};

} // namespace kiln::driver
