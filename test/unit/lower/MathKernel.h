//===- MathKernel.h - Kernels of one function, and what they should give ------------===//
//
// Shared by the test of errors and the program that measures them.
//
//===--------------------------------------------------------------------------------===//
#pragma once

#include "ir/base/DType.h"
#include "ir/uop/UOp.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"

#include <string>
#include <vector>

namespace kiln::test {

/// A function of one number as kernels write it.
struct MathFunction {
  const char *name;
  std::vector<const char *> rows; ///< applied to x one after the other; "add 1" adds a number
  double (*reference)(double);    ///< in double, whose error does not show in a float
  int64_t ulps;                   ///< the largest distance from the float nearest to the result
};
const std::vector<MathFunction> &mathFunctions();

/// Floats of every sign and exponent, subnormals, infinities and NaNs too: `count` random ones of each, the ends
/// included. The same in every run.
std::vector<float> stratified(unsigned count);

/// How many floats lie between; 0 for two NaNs, and a great many where one is NaN or their zeros have other signs.
template <class T> int64_t distance(T a, T b);

/// A kernel that applies rows to each element of x, pow and threefry to those of x and y. Rows of functions and
/// roundings are rewritten as for a device that lacks them; `scales`: but has a product with a power of 2.
class MathKernel {
public:
  MathKernel(llvm::ArrayRef<const char *> rows, DType dtype, int64_t elements, unsigned lanes, bool fma,
             bool isRewritten = true, bool scales = false);
  uop::FuncOp function();
  /// By the interpreter of uops: x and perhaps y, `elements` of each.
  std::vector<char> interpret(const void *x, const void *y = nullptr);

private:
  mlir::MLIRContext context_;
  mlir::OwningOpRef<mlir::ModuleOp> module_;
  int64_t bytes_;
};

} // namespace kiln::test
