//===- TextKernel.h - A kernel from text, ready to be run ------------------------===//
#pragma once

#include "render/llvm/Jit.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"

#include <string>

namespace kiln::test {

/// A kernel written as uops. Arguments are a list as "%out: f32, %n: size" where a dtype means a global pointer to it
/// and `size` an i32 size of its own symbol; the body's last line (uop.yield) is added.
class TextKernel {
public:
  TextKernel(llvm::StringRef arguments, llvm::StringRef body, llvm::StringRef cpu = "");

  uop::FuncOp function();
  std::string llvm(target::OptLevel level = 3);
  std::string assembly();
  /// Compiles on first use, then runs chunk `chunk`.
  void run(llvm::ArrayRef<void *> buffers, llvm::ArrayRef<int64_t> sizes = {}, int64_t chunk = 0);

private:
  mlir::MLIRContext context_;
  mlir::OwningOpRef<mlir::ModuleOp> module_;
  target::Cpu cpu_;
  std::unique_ptr<target::LoadedKernel> loaded_;
};

} // namespace kiln::test
