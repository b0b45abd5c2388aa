//===- RandomOpts.h - Lists of opts at random ------------------------------===//
#pragma once

#include "ir/kernel/Kernel.h"

#include <functional>
#include <random>
#include <set>
#include <string>
#include <vector>

namespace kiln::test {

/// A list of opts as --opts reads it, "UPCAST 0 4, SWAP 0 1".
struct RandomList {
  std::string accepted; ///< "" where the kernel took none
  std::string refused;  ///< the same and one opt more, which the kernel did not take; "": it took all
  std::string wrong;    ///< what is wrong with how an opt was refused; "": nothing
};

/// Which opts are drawn.
struct OptsChoice {
  std::set<std::string> without; ///< kinds that are not
  int64_t most = 100'000;        ///< the largest amount of a split
};

/// Applies opts at random to `func`: mostly ones that fit its axes as they are at that moment, now and then any.
/// `tries` hears of each list before it is tried.
RandomList applyRandomOpts(kernel::FuncOp func, std::mt19937_64 &random, const OptsChoice &choice,
                           const std::function<void(const std::string &)> &tries);

} // namespace kiln::test
