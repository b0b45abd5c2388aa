//===- Model.h - A model on its way through the stages ------------------------===//
#pragma once

#include "Diagnostics.h"
#include "ModelShapes.h"
#include "tools/kiln/inspect/KernelFilter.h"
#include "tools/kiln/options/Options.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"

#include <memory>

namespace kiln::driver {

class Model {
public:
  /// Whether a model can be read from `path`: a regular file.
  static llvm::Error checkFile(const std::string &path);

  /// Imports a model file, or parses a dump, whose stage its attribute kiln.stage names.
  static llvm::Expected<std::unique_ptr<Model>> open(const CompileOptions &options);

  /// Runs the passes of the remaining stages up to and including `stage`, one of View to Lower.
  llvm::Error advance(Stage stage);

  /// --kernel, which has been checked once stage optimize has passed, or schedule if that was the last.
  const KernelFilter &filter() const { return filter_; }

  mlir::ModuleOp module() const { return *module_; }
  Stage stage() const { return stageOf(module()); }

  /// The file that was imported, even if this began with a dump of a later stage. A dump names it as it was named then;
  /// if that leads to no file from here, it is looked for in the dump's folder.
  llvm::StringRef source() const { return source_; }
  /// Its name in artefacts: the source's file name.
  llvm::StringRef name() const;
  /// The hash of the files that were imported, as kiln_origin.digest; "" if a dump does not say it.
  llvm::StringRef digest() const;
  /// From stage schedule on, launches record the shapes of the model, which people know. Without it they record those
  /// of the kernels, as a dump of the stage before, which has no others, gives them, too.
  void recordModelShapes() { recordsShapes_ = true; }
  /// The nodes of the model's file; none if this began with a dump, which does not keep them.
  const import::ReadNodes &nodes() const { return nodes_; }
  /// Paths of weights are relative to it.
  llvm::StringRef folder() const;

  /// The source files of this, including those that the weights' bytes will be read from.
  std::vector<std::string> files() const;

  /// The module in a form that `open` reads back; with a filter its kernels alone, without locations, for reading.
  void print(llvm::raw_ostream &out) const;

private:
  explicit Model(const CompileOptions &options);
  /// Whether --kernel names kernels, as soon as that is known.
  llvm::Error checkFilter(Stage last);
  /// Whether a module that was parsed could be a stage's.
  llvm::Error readDump();
  llvm::Error checkDump();
  /// The folder of a dump's model. An error if the dump needs files of a folder that it may not name.
  llvm::Error findSource();

  const CompileOptions &options_;
  KernelFilter filter_;
  mlir::MLIRContext context_;
  Diagnostics diagnostics_;
  mlir::OwningOpRef<mlir::ModuleOp> module_;
  bool recordsShapes_ = false;
  ModelShapes shapes_; ///< none if this began with a dump of a later stage than import
  std::string source_;
  std::vector<std::string> files_; ///< what the import read
  import::ReadNodes nodes_;
};

} // namespace kiln::driver
