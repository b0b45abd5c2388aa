#include "interp/BankLog.h"

#include <catch2/catch.hpp>

using kiln::interp::BankLog;
using kiln::interp::BankTurns;

namespace {

constexpr BankLog::Place kRead{/*instruction=*/7, /*memory=*/0, /*writes=*/false, /*isGated=*/false};

/// A warp's accesses, each item's `stride` bytes after those of the one before.
void readEach(BankLog &log, int64_t stride, int64_t bytes, BankLog::Place place = kRead) {
  for (int32_t item = 0; item < 32; ++item)
    log.note(place, item, item * stride, bytes);
}

BankTurns turnsOf(BankLog &log) {
  log.finishPhase();
  return log.reads(0);
}

} // namespace

TEST_CASE("words that are neighbours, and one word for all, take one turn") {
  BankLog log;
  readEach(log, 4, 4);
  CHECK(turnsOf(log) == BankTurns{1, 1});
  readEach(log, 0, 4);
  CHECK(turnsOf(log) == BankTurns{2, 2});
}

TEST_CASE("every second word takes two turns, every 32nd takes 32, and one more between them one") {
  for (auto [stride, turns] : {std::pair(8, 2), {128, 32}, {132, 1}}) {
    BankLog log;
    readEach(log, stride, 4);
    CHECK(turnsOf(log) == BankTurns{turns, 1});
  }
}

TEST_CASE("elements of two bytes share a word") {
  BankLog log;
  readEach(log, 2, 2);
  CHECK(turnsOf(log) == BankTurns{1, 1});
}

TEST_CASE("of accesses of 16 bytes eight items go at once") {
  BankLog dense, sparse;
  readEach(dense, 16, 16);
  CHECK(turnsOf(dense) == BankTurns{4, 4});
  readEach(sparse, 32, 16);
  CHECK(turnsOf(sparse) == BankTurns{8, 4});
}

TEST_CASE("what is wider than 16 bytes, or not at a multiple of its size, is several accesses") {
  BankLog wide, odd;
  readEach(wide, 32, 32);
  CHECK(turnsOf(wide) == BankTurns{16, 8});
  for (int32_t item = 0; item < 32; ++item)
    odd.note(kRead, item, 4 + item * 8, 8);
  CHECK(turnsOf(odd) == BankTurns{4, 2});
}

TEST_CASE("loads of what lies side by side are one access, whatever stands between them") {
  BankLog log;
  for (int32_t item = 0; item < 32; ++item)
    for (uint32_t word : {0, 1, 2, 3}) {
      log.note({word * 2, 0, false, false}, item, item * 16 + word * 4, 4);
      log.note({word * 2 + 1, 0, false, false}, item, 512 + item * 16 + word * 4, 4);
    }
  CHECK(turnsOf(log) == BankTurns{8, 8});
}

TEST_CASE("no access is made of gated loads, of a loop's steps, or across a write") {
  auto inTwo = [](auto second) {
    BankLog log;
    for (int32_t item = 0; item < 32; ++item) {
      log.note(kRead, item, item * 8, 4);
      second(log, item);
    }
    return turnsOf(log);
  };
  CHECK(inTwo([](BankLog &log, int32_t item) { log.note({8, 0, false, false}, item, item * 8 + 4, 4); }) ==
        BankTurns{2, 2});
  CHECK(inTwo([](BankLog &log, int32_t item) { log.note({8, 0, false, true}, item, item * 8 + 4, 4); }) ==
        BankTurns{4, 2});
  CHECK(inTwo([](BankLog &log, int32_t item) { log.note(kRead, item, item * 8 + 4, 4); }) == BankTurns{4, 2});
  CHECK(inTwo([](BankLog &log, int32_t item) {
          log.note({8, 0, true, false}, item, 4096, 4);
          log.note({9, 0, false, false}, item, item * 8 + 4, 4);
        }) == BankTurns{4, 2});
}

TEST_CASE("warps ask by themselves, reads and writes and memories are counted apart") {
  BankLog log;
  for (int32_t item = 0; item < 64; ++item)
    log.note(kRead, item, item * 8, 4);
  readEach(log, 4, 4, {9, 0, true, false});
  readEach(log, 8, 4, {10, 1, true, false});
  CHECK(turnsOf(log) == BankTurns{4, 2});
  CHECK(log.writes(0) == BankTurns{1, 1});
  CHECK(log.writes(1) == BankTurns{2, 1});
}

TEST_CASE("items that a gate keeps out ask for nothing") {
  BankLog log;
  for (int32_t item = 0; item < 32; item += 2)
    log.note(kRead, item, item * 8, 4);
  CHECK(turnsOf(log) == BankTurns{2, 1});
}
