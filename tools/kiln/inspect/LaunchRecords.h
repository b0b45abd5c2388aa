//===- LaunchRecords.h - The scheduler's decisions, launch by launch -----------------===//
//
// Reads the `tensors` that launches keep, for --why, --stats and --graph. They exist from stage schedule on, in dumps
// too; the layout of a tensor in memory from stage optimize on. Each reason of the scheduler or of the choice of
// layouts is a number or an enum there and becomes a sentence here, the same for all uses.
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
  std::string kernel;
  std::string name;   ///< the kernel's; if it is launched again, with the launch's number: "E_4 (launch 3)"
  std::string origin; ///< the source nodes: "['dot']"
  llvm::SmallVector<host::TensorAttr> tensors;
  /// "the then branch of 'If_0', the else branch of 'If_3'", from the outside in; "" for a launch of every run.
  std::string branches;
  std::string forSizes; ///< "step of 2 to 8" if other launches are for other sizes
  std::string standsIn; ///< the kernel of the launch that computes the same for other sizes, and says what that is

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
  /// Those of its recipes, which run at compile time.
  static LaunchRecords ofRecipes(mlir::ModuleOp module);

  const std::vector<Launch> &launches() const { return launches_; }
  /// The launches that read the memory which holds a tensor.
  llvm::ArrayRef<const Launch *> readers(host::TensorAttr tensor) const;

private:
  LaunchRecords() = default;

  std::vector<Launch> launches_;
  llvm::DenseMap<int64_t, llvm::SmallVector<const Launch *>> readers_;
};

/// Prints the tensors that each launch writes to memory, and why.
void printPlacements(mlir::ModuleOp module, llvm::raw_ostream &out);

/// Prints a line for each weight that is computed at compile time by a recipe whose name matches the pattern, with the
/// kernels that compute it; whether there is one.
bool printRecipes(mlir::ModuleOp module, llvm::StringRef pattern, llvm::raw_ostream &out);

/// "float32 [batch, 4], 16*batch bytes"
std::string describe(mlir::RankedTensorType type);

/// Why a tensor is where it is: "an output of the model". "" if the scheduler had no choice and no reason.
std::string reason(host::TensorAttr tensor);

/// The layout of a tensor in memory, and why: "; its axes lie in the order 2, 3, 1, since …". "" if it is the model's,
/// or if one of two equal results has another.
std::string layout(host::TensorAttr tensor);

} // namespace kiln::driver
