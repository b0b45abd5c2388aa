//===- RewriteLog.h - Results of a set of patterns -------------------------------===//
#pragma once

#include "passes/lower/Lanes.h"

namespace kiln::lower {

/// Tells `constants` of erased ones and, if asked to, prints each rewrite: the kernel, set and pattern, the op before
/// and the ops after.
class RewriteListener final : public mlir::RewriterBase::Listener {
public:
  RewriteListener(uop::FuncOp func, llvm::StringRef set, Constants &constants, bool prints)
      : func_(func), set_(set), constants_(constants), prints_(prints) {}

  void notifyOperationErased(mlir::Operation *op) override;
  void notifyOperationInserted(mlir::Operation *op, mlir::OpBuilder::InsertPoint previous) override;
  void notifyOperationModified(mlir::Operation *op) override;
  void notifyPatternBegin(const mlir::Pattern &pattern, mlir::Operation *op) override;
  void notifyPatternEnd(const mlir::Pattern &pattern, mlir::LogicalResult status) override;

private:
  void print(mlir::Operation *op, llvm::raw_ostream &out);

  uop::FuncOp func_;
  llvm::StringRef set_;
  Constants &constants_;
  bool prints_;
  std::string before_;
  llvm::SetVector<mlir::Operation *> after_;
};

} // namespace kiln::lower
