#include "kiln/plan.h"

#include <catch2/catch.hpp>

#include <random>
#include <vector>

namespace {

struct Plan {
  std::vector<kiln_lifetime> lifetimes;
  std::vector<int64_t> bytes, offsets;
  int64_t peak = 0;

  void add(int32_t first, int32_t last, int64_t size) {
    lifetimes.push_back({first, last});
    bytes.push_back(size);
  }
  int64_t run() {
    offsets.assign(bytes.size(), -1);
    return peak = kiln_plan(lifetimes.data(), int32_t(bytes.size()), bytes.data(), offsets.data(), nullptr);
  }
  bool overlaps(size_t a, size_t b) const {
    bool together = lifetimes[a].first <= lifetimes[b].last && lifetimes[b].first <= lifetimes[a].last;
    return together && offsets[a] < offsets[b] + bytes[b] && offsets[b] < offsets[a] + bytes[a];
  }
};

} // namespace

TEST_CASE("tensors that live apart share memory, those that meet at one step do not") {
  Plan plan;
  plan.add(0, 1, 100);
  plan.add(1, 2, 100);
  plan.add(2, 3, 100);
  CHECK(plan.run() == 256);
  CHECK(plan.offsets[0] == plan.offsets[2]);
  CHECK(plan.offsets[1] == 128 - plan.offsets[0]);
}

TEST_CASE("a small tensor fills the gap that a large one leaves") {
  Plan plan;
  plan.add(0, 5, 640);
  plan.add(0, 1, 320);
  plan.add(4, 5, 64);
  CHECK(plan.run() == 960);
}

TEST_CASE("what outlives many lies beside them where largest first would not fit") {
  // Largest first puts the long ones apart, between two that come and go.
  Plan plan;
  plan.add(0, 1, 640);
  plan.add(1, 8, 320);
  plan.add(2, 3, 576);
  plan.add(3, 9, 256);
  plan.add(4, 9, 448);
  CHECK(plan.run() <= 1280);
}

TEST_CASE("no plan of random lifetimes overlaps; all are aligned") {
  std::mt19937 random(1);
  auto in = [&](int low, int high) { return std::uniform_int_distribution<int>(low, high)(random); };
  for (int round = 0; round < 200; ++round) {
    Plan plan;
    for (int count = in(0, 40); count > 0; --count) {
      int first = in(0, 30);
      plan.add(first, first + in(0, in(0, 1) ? 3 : 30), in(0, 3) ? in(0, 4000) : 0);
    }
    REQUIRE(plan.run() >= 0);
    for (size_t a = 0; a < plan.bytes.size(); ++a) {
      REQUIRE(plan.offsets[a] % KILN_PLAN_ALIGNMENT == 0);
      REQUIRE(plan.offsets[a] + plan.bytes[a] <= plan.peak);
      for (size_t b = 0; b < a; ++b)
        REQUIRE_FALSE(plan.overlaps(a, b));
    }
  }
}

TEST_CASE("sizes that no memory has are refused") {
  Plan negative, large;
  negative.add(0, 1, -1);
  CHECK(negative.run() == -1);
  large.add(0, 1, INT64_MAX / 2);
  large.add(0, 1, INT64_MAX / 2 + 2);
  CHECK(large.run() == -1);
}
