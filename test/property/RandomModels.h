//===- RandomModels.h - Models of every kind of kernel, at random ----------===//
#pragma once

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <random>
#include <string>

namespace kiln::test {

/// A model of a few operators, imported, and what it is called in a report: "conv(4x32xhxw f32, 3x3)".
struct RandomModel {
  mlir::OwningOpRef<mlir::ModuleOp> module; ///< null where the drawn shapes do not suit each other
  std::string text;
};

/// Draws a model: products, windows, reductions, rows walked several times, gathers and movements between them, at
/// sizes that may each be open. Weights have no bytes: no pass after the import may read them. The same random numbers
/// give the same model. The context needs the dialects loaded.
RandomModel randomModel(mlir::MLIRContext &context, std::mt19937_64 &random);

} // namespace kiln::test
