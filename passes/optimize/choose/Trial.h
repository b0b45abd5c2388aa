//===- Trial.h - Opts tried on a copy of a kernel --------------------------------------===//
#pragma once

#include "ir/base/Target.h"
#include "ir/kernel/Kernel.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/IR/OwningOpRef.h"

#include <string>

namespace kiln::optimize {

/// A copy of a kernel, and the opts that have been applied to it. A later opt's names of axes are read off the copy.
class Trial {
public:
  Trial(kernel::FuncOp func, TargetAttr target)
      : func_(mlir::cast<kernel::FuncOp>(func->clone(mapping_))), target_(target) {}
  /// Another copy, with the same opts, that goes on by itself.
  Trial(const Trial &other);
  Trial(Trial &&other) noexcept = default;
  Trial &operator=(Trial other);

  kernel::FuncOp func() { return *func_; }
  template <typename T> T copyOf(T value) { return mlir::cast<T>(mapping_.lookup(mlir::Value(value))); }
  mlir::Value copyOf(mlir::Value value) { return mapping_.lookup(value); }
  /// After an opt that does not fit nothing more is applied, and the copy must not be used.
  void apply(kernel::OptAttr opt);
  void apply(kernel::OptKind kind, int64_t axis, int64_t amount, bool isValue = false);
  /// Splits an axis; the id of its inner part.
  int64_t split(kernel::OptKind kind, int64_t axis, int64_t amount);
  /// Holds a value inside an axis; the stage, null if that is impossible.
  kernel::StageOp hold(mlir::Value value, int64_t axis);
  /// Whether all opts so far fitted.
  bool fits() const { return fault_.empty(); }
  /// Why one did not; "": all did.
  llvm::StringRef fault() const { return fault_; }
  /// Those that fitted.
  llvm::ArrayRef<kernel::OptAttr> opts() const { return opts_; }

private:
  mlir::IRMapping mapping_;
  mlir::OwningOpRef<kernel::FuncOp> func_;
  TargetAttr target_;
  llvm::SmallVector<kernel::OptAttr> opts_;
  std::string fault_;
};

/// The axes of a stage's own walk that go along an axis of the domain, in loop order.
llvm::SmallVector<int64_t> axesAlong(kernel::StageOp stage, size_t axis);

} // namespace kiln::optimize
