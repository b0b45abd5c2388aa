//===- Kernels.h - Small kernels, written as uops, that the render tests share -===//
#pragma once

#include "ir/host/Host.h"
#include "ir/uop/UOp.h"

#include "mlir/IR/OwningOpRef.h"

namespace kiln::test {

/// A parsed module and its context; the test fails where the text does not parse and verify.
class Module {
public:
  explicit Module(llvm::StringRef text);
  mlir::ModuleOp operator*() const { return *module_; }
  /// The kernels in order.
  llvm::SmallVector<uop::FuncOp> kernels() const;
  uop::FuncOp kernel() const { return kernels().front(); }
  host::ProgramOp program() const;

private:
  std::unique_ptr<mlir::MLIRContext> context_;
  mlir::OwningOpRef<mlir::ModuleOp> module_;
};

/// A kernel of one group without sizes: its name, its arguments as "%0: !uop.ptr<i32, global>, …" and its body.
std::string kernelText(llvm::StringRef name, llvm::StringRef arguments, llvm::StringRef body,
                       llvm::StringRef sizes = "");

/// The dot product of two vectors of two ints: r_2.
extern const llvm::StringLiteral kDot;
/// The sum of a 2×3 matrix, by two nested ranges.
extern const llvm::StringLiteral kSumOfMatrix;
/// Mean and variance of four floats: two ranges, the second reads what the first gives.
extern const llvm::StringLiteral kVariance;
/// Three floats padded with one zero on each side.
extern const llvm::StringLiteral kPad;

} // namespace kiln::test
