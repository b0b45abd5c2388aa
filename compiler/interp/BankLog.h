//===- BankLog.h - Find accesses of local memory that meet in a bank --------===//
//
// A GPU's local memory is 32 banks, and each gives one word of four bytes at a time: word n is in bank n % 32. The
// words that the 32 items of a warp ask for at once take one turn if all are in different banks or are the same word.
// Otherwise they take as many turns as the busiest bank has words to give. Wide accesses go for 16 items at once, the
// widest for eight.
//
// The interpreter runs the items of a group one after another, each from one barrier to the next. So accesses are noted
// with their instruction and how often the item has come there, and those of a warp are put together at the barrier.
//
//===------------------------------------------------------------------------===//
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SmallVector.h"

#include <cstdint>

namespace kiln::interp {

/// The turns that accesses of one memory take, and that they would take if no two words were in one bank.
struct BankTurns {
  int64_t taken = 0, least = 0;
  bool operator==(const BankTurns &) const = default;
};

class BankLog {
public:
  struct Place {
    uint32_t instruction, memory;
    bool writes;
    bool isGated; ///< a compiler does not join it and its neighbours to a wider access
  };
  /// The next access of an item: `bytes` from `byte` on. An item's accesses up to a barrier come one after another.
  void note(const Place &place, int32_t item, int64_t byte, int64_t bytes);
  /// Counts the noted accesses.
  void finishPhase();
  /// For each memory, by its number.
  BankTurns reads(uint32_t memory) const { return reads_.lookup(memory); }
  BankTurns writes(uint32_t memory) const { return writes_.lookup(memory); }

private:
  struct Access {
    Place place;
    int64_t bytes;
    llvm::SmallVector<std::pair<int32_t, int64_t>, 32> items; ///< with the byte that each begins at
  };
  /// An instruction, and how often an item has come there before.
  using Step = std::pair<uint32_t, uint32_t>;
  using Warp = llvm::MapVector<Step, Access>;

  void countWarp(const Warp &warp);
  void countRun(llvm::ArrayRef<const Access *> run);
  static bool continues(const Access &access, const Access &before);

  llvm::SmallVector<Warp> warps_;
  llvm::DenseMap<uint32_t, uint32_t> visits_; ///< of the item whose accesses come, by instruction
  int32_t item_ = -1;
  llvm::DenseMap<uint32_t, BankTurns> reads_, writes_;
};

} // namespace kiln::interp
