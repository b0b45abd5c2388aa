//===- PlainViews.h - Views as plain numbers -----------------------------===//
#pragma once

#include "tools/kiln-golden/Report.h"
#include "view/ShapeTracker.h"

namespace kiln::golden {

using Numbers = std::vector<int64_t>;

/// A view as plain numbers, so that the judge shares nothing with what it judges.
struct PlainView {
  Numbers shape, strides;
  int64_t offset = 0;
  std::vector<std::pair<int64_t, int64_t>> mask;

  /// The flat index at a flat logical position, -1 where masked.
  int64_t at(int64_t position) const;
};

using PlainViews = std::vector<PlainView>;

PlainViews toPlain(llvm::ArrayRef<view::View> views);
PlainView toPlain(const Json &view);

int64_t sizeOf(const Numbers &shape);
/// The buffer index of every element in row-major order, -1 where masked.
Numbers indicesOf(const PlainViews &views);

} // namespace kiln::golden
