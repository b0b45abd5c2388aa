//===- Example.h - The examples of docs/views.md -------------------------===//
//
// A page of the docs holds examples as fenced blocks that begin with ```views NAME. A block's lines are
//
//   (2,3):(3,1)             the tracker to begin with
//   flip 1                  a movement: reshape (S) | permute AXES | expand (S) | pad B,A … | shrink B:E … | flip AXES
//   |
//                           stride STEPS | simplify
//   = (2,3):(3,-1)+2        what the tracker must be here
//   index EXPR, valid EXPR  what its index and validity must be, rendered
//
//===----------------------------------------------------------------------===//
#pragma once

#include "view/ShapeTracker.h"

#include <string>
#include <vector>

namespace kiln::docs {

struct Example {
  std::string name;
  /// The beginning of its block in the page.
  unsigned line = 0;
  std::vector<std::string> lines;
};

/// The examples of a page, in order.
std::vector<Example> findExamples(llvm::StringRef page);

/// The tracker at the end, after every claim was checked.
llvm::Expected<view::ShapeTracker> runExample(const Example &example);

/// The picture of a tracker with constant dims: the buffer, and which of its elements each position reads; positions
/// that are masked off are hollow.
std::string drawTracker(const view::ShapeTracker &tracker, llvm::StringRef title);

} // namespace kiln::docs
