//===- UopInterpreter.h - The meaning of a uop function ------------------------===//
//
// The device `interp`: runs a kernel's uops unchanged, one group after another. The items of a group take turns: each
// runs up to its next barrier. So an access that a barrier does not order is found, whatever order a real device could
// choose. A launch fails, and names the item and element, if
//   - two items touch one element of local memory, or of a buffer that the kernel writes, at least one of them
//     writes, and no barrier is between (items of different groups are never ordered),
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
  bool isScratch = false; ///< only the group has it while it runs
};

/// The requests of items of warps to one local memory.
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
  /// groups along each axis, absent axes being 1. With `turns`, each local memory's turns are added there.
  llvm::Error launch(llvm::ArrayRef<UopBuffer> buffers, llvm::ArrayRef<int64_t> sizes, llvm::ArrayRef<int64_t> grid,
                     std::vector<LocalTurns> *turns = nullptr) const;

private:
  explicit UopProgram(std::shared_ptr<const UopCode> code) : code_(std::move(code)) {}
  std::shared_ptr<const UopCode> code_;
};

/// Every uop.func of a module, in order.
llvm::Expected<std::vector<UopProgram>> decodeUops(mlir::ModuleOp module);

} // namespace kiln::interp
