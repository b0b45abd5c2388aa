//===- Chains.h - Random chains of movements ------------------------------===//
#pragma once

#include "Model.h"
#include "view/ShapeTracker.h"

#include <random>
#include <string>

namespace kiln::test {

/// Values of the symbols that a chain uses.
using Binding = llvm::DenseMap<view::Expr, int64_t>;

/// A tracker and what it must mean where the symbols have the values of `binding`.
struct Chain {
  view::ShapeTracker tracker;
  Model model;
  Binding binding;
  /// The movements, to print where the chain fails.
  std::string text;
};

/// A chain of up to `length` movements; dims, pads and slices are symbolic in part where `symbolic` is set. Symbols
/// take values from 0 on. The same random numbers give the same chain.
Chain randomChain(std::mt19937_64 &random, unsigned length, bool symbolic);

/// Checks a chain in every way there is; what is wrong, or "" if nothing.
std::string checkChain(const Chain &chain);

} // namespace kiln::test
