//===- DefaultSizes.h - A host program at the defaults of its sizes -------------------===//
//
// The symbols of a model are arguments of its program, which computes further sizes and conditions from them. With
// each symbol at its default these are numbers, unless they are data; so are those of a launch's kernel.
//
//===----------------------------------------------------------------------------------===//
#pragma once

#include "Json.h"

#include "ir/host/Host.h"
#include "ir/uop/UOp.h"

#include "llvm/ADT/MapVector.h"

#include <optional>
#include <string>

namespace kiln::driver {

class DefaultSizes {
public:
  explicit DefaultSizes(host::ProgramOp program);

  /// Whether the host program comes to this launch: no condition around it is known to choose the other branch, and
  /// the bounds of its kernel's sizes include those that it gets. A condition that is data chooses both branches.
  bool reaches(host::LaunchOp launch, uop::FuncOp kernel);
  /// An expression over the sizes of the launch's kernel. A size that is data counts as 1, or as the least it can be.
  double evaluate(host::LaunchOp launch, uop::FuncOp kernel, view::Expr expr);

  /// " at batch = 1, seq = 8"; "" without symbols.
  std::string text() const;
  Json json() const;

private:
  /// An integer that the program computes; nullopt if it is data or depends on some.
  std::optional<int64_t> valueOf(mlir::Value value);
  std::optional<int64_t> compute(mlir::Value value);
  /// Those that the launch gives its kernel.
  llvm::DenseMap<view::Expr, int64_t> sizesOf(host::LaunchOp launch, uop::FuncOp kernel);

  llvm::MapVector<llvm::StringRef, int64_t> defaults_;
  llvm::DenseMap<mlir::Value, std::optional<int64_t>> values_;
};

} // namespace kiln::driver
