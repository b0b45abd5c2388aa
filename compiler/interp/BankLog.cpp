//===- BankLog.cpp - Find accesses of local memory that meet in a bank ------===//

#include "interp/BankLog.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallSet.h"

#include <algorithm>

using namespace kiln::interp;

static constexpr int32_t kWarp = 32;
static constexpr int64_t kBanks = 32, kWordBytes = 4, kWidest = 16;

void BankLog::note(const Place &place, int32_t item, int64_t byte, int64_t bytes) {
  if (item != item_) {
    item_ = item;
    visits_.clear();
  }
  size_t warp = item / kWarp;
  if (warps_.size() <= warp)
    warps_.resize(warp + 1);
  Step step{place.instruction, visits_[place.instruction]++};
  Access &access = warps_[warp].insert({step, Access{place, bytes, {}}}).first->second;
  access.items.push_back({item, byte});
}

void BankLog::finishPhase() {
  for (const Warp &warp : warps_)
    countWarp(warp);
  warps_.clear();
  visits_.clear();
  item_ = -1;
}

/// Whether an access has each item's next bytes after those of the one before: a compiler makes one of them.
bool BankLog::continues(const Access &access, const Access &before) {
  if (access.place.isGated || before.place.isGated || access.items.size() != before.items.size())
    return false;
  return llvm::all_of(llvm::zip(access.items, before.items), [&](auto both) {
    auto [mine, earlier] = both;
    return mine.first == earlier.first && mine.second == earlier.second + before.bytes;
  });
}

void BankLog::countWarp(const Warp &warp) {
  using Run = llvm::SmallVector<const Access *>;
  llvm::MapVector<uint32_t, llvm::SmallVector<Run>> open; // by memory: what later accesses may continue
  auto finish = [&](llvm::SmallVector<Run> &runs) {
    for (const Run &run : runs)
      countRun(run);
    runs.clear();
  };
  for (const auto &[step, access] : warp) {
    llvm::SmallVector<Run> &runs = open[access.place.memory];
    const Access *last = runs.empty() ? nullptr : runs.back().back();
    // A write separates reads; an instruction that comes again is a loop's next step.
    if (last && (access.place.writes != last->place.writes || access.place.instruction <= last->place.instruction))
      finish(runs);
    auto *run = llvm::find_if(runs, [&](const Run &each) { return continues(access, *each.back()); });
    if (run == runs.end())
      runs.push_back({&access});
    else
      run->push_back(&access);
  }
  for (auto &[memory, runs] : open)
    finish(runs);
}

/// The turns of accesses that a compiler joins, cut into the widest that begin at a multiple of their size.
void BankLog::countRun(llvm::ArrayRef<const Access *> run) {
  int64_t rest = 0;
  for (const Access *access : run)
    rest += access->bytes;
  const Place &place = run.front()->place;
  BankTurns &turns = (place.writes ? writes_ : reads_)[place.memory];
  const auto &items = run.front()->items;
  for (int64_t done = 0, width; rest > 0; done += width, rest -= width) {
    auto isAligned = [&](int64_t bytes) {
      return llvm::all_of(items, [&](auto item) { return (item.second + done) % bytes == 0; });
    };
    width = kWidest;
    while (width > 1 && (width > rest || !isAligned(width)))
      width /= 2;
    int32_t together = std::min<int64_t>(kWarp, kBanks * kWordBytes / width);
    for (int32_t first = 0; first < kWarp; first += together) {
      llvm::SmallSet<int64_t, 32> words[kBanks];
      size_t most = 0;
      for (auto [item, byte] : items)
        if (item % kWarp / together == first / together)
          for (int64_t word = (byte + done) / kWordBytes; word * kWordBytes < byte + done + width; ++word) {
            words[word % kBanks].insert(word);
            most = std::max(most, words[word % kBanks].size());
          }
      turns.taken += int64_t(most);
      turns.least += most > 0;
    }
  }
}
