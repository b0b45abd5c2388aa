//===- TextModel.h - A model from text, loaded into this process -------------------===//
#pragma once

#include "render/llvm/Jit.h"

#include "kiln/program.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"

#include <string>
#include <vector>

namespace kiln::test {

/// A module with a host.program and its kernels, as text.
class TextModel {
public:
  explicit TextModel(const std::string &text, llvm::StringRef folder = "");
  ~TextModel();

  render::ModelTables tables() { return render::modelTables(*module_); }
  const kiln_model &model();
  /// Runs with one-dimensional float inputs, the rest by their defaults; gives the first output.
  std::vector<float> run(std::vector<std::vector<float>> inputs);

private:
  mlir::MLIRContext context_;
  mlir::OwningOpRef<mlir::ModuleOp> module_;
  std::string folder_;
  std::unique_ptr<target::LoadedModel> loaded_;
};

/// The functions of the runtime that models call.
render::RuntimeSymbols runtimeSymbols();

} // namespace kiln::test
