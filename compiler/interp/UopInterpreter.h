//===- UopInterpreter.h - What a uop function does -----------------------------===//
//
// The device `interp`: runs a kernel's uops as they stand, one group after another. The items of a group take turns:
// each runs up to its next barrier, so whatever order a real device could choose, an access that a barrier does not
// order is found, not suffered. A launch fails, and says at which item and element, where
//   - two items touch one element of local memory, or of a buffer that the kernel writes, at least one of them writes,
//   and
//     no barrier stands between (items of different groups are never ordered),
//   - an access is outside its memory,
//   - local or register memory is read before it is written,
//   - some items of a group wait at a barrier that the others do not reach.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "interp/BankLog.h"
#include "ir/uop/UOp.h"

#include "llvm/Support/Error.h"

#include <memory>
#include <vector>

namespace kiln::interp {

/// Global memory as a launch passes it: the first byte that the kernel sees, and how many there are.
struct UopBuffer {
  void *data;
  int64_t bytes;
  bool isScratch = false; ///< each group has it alone, while it runs
};

/// What the items of warps asked of one local memory.
struct LocalTurns {
  std::string memory;
  BankTurns reads, writes;
};

struct UopCode;

/// A kernel made ready to run: decoded once, launched often, also from several threads at a time.
class UopProgram {
public:
  static llvm::Expected<UopProgram> decode(uop::FuncOp function);

  llvm::StringRef name() const;
  /// Runs every item of every group. `buffers` and `sizes` are the function's arguments in order; `grid` counts the
  /// groups along each axis, absent axes being 1. With `turns`, that of each local memory is added.
  llvm::Error launch(llvm::ArrayRef<UopBuffer> buffers, llvm::ArrayRef<int64_t> sizes, llvm::ArrayRef<int64_t> grid,
                     std::vector<LocalTurns> *turns = nullptr) const;

private:
  explicit UopProgram(std::shared_ptr<const UopCode> code) : code_(std::move(code)) {}
  std::shared_ptr<const UopCode> code_;
};

/// Every uop.func of a module, in order.
llvm::Expected<std::vector<UopProgram>> decodeUops(mlir::ModuleOp module);

} // namespace kiln::interp
