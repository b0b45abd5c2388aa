//===- LaunchRecords.h - What the scheduler decided, launch by launch ----------------===//
//
// Reads the `tensors` that launches keep, for --why, --stats and --graph. It is there from stage schedule on, in dumps
// too; how a tensor lies in memory from stage optimize on. Each reason that the scheduler or the choice of layouts had
// is a number or an enum there and becomes a sentence here, the same for all who ask.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "ir/host/Host.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/Support/raw_ostream.h"

#include <string>
#include <vector>

namespace kiln::driver {

struct Launch {
  std::string name; ///< the kernel's; where it is launched again, with the launch's number: "E_4 (launch 3)"
  llvm::SmallVector<host::TensorAttr> tensors;

  /// Whether the launch computes the tensor, or only reads it.
  static bool computes(host::TensorAttr tensor);
  /// Whether a tensor is written to memory for others.
  static bool writes(host::TensorAttr tensor) { return computes(tensor) && tensor.getMemory(); }
  /// The tensors of this launch that are made of the one at `position`.
  llvm::SmallVector<host::TensorAttr> madeOf(size_t position) const;
};

class LaunchRecords {
public:
  /// The launches of a module that has been scheduled, in the order of its text.
  explicit LaunchRecords(mlir::ModuleOp module);

  const std::vector<Launch> &launches() const { return launches_; }
  /// The launches that read the memory which holds a tensor.
  llvm::ArrayRef<const Launch *> readers(host::TensorAttr tensor) const;

private:
  std::vector<Launch> launches_;
  llvm::DenseMap<int64_t, llvm::SmallVector<const Launch *>> readers_;
};

/// Prints what each launch writes to memory, and why.
void printPlacements(mlir::ModuleOp module, llvm::raw_ostream &out);

/// "float32 [batch, 4], 16*batch bytes"
std::string describe(mlir::RankedTensorType type);

/// Why a tensor is where it is: "an output of the model". "" where the scheduler had no choice and no reason.
std::string reason(host::TensorAttr tensor);

/// How a tensor lies in memory, and why: "; its axes lie in the order 2, 3, 1, since …". "" where it lies as the model
/// has it, or where one of two results alike lies otherwise.
std::string layout(host::TensorAttr tensor);

} // namespace kiln::driver
