//===- RegisterTile.h - How many rows and columns a core sums up at a time ----------------===//
#pragma once

#include "llvm/ADT/ArrayRef.h"

#include <cstdint>
#include <optional>

namespace kiln::optimize {

/// For a number of rows known at run time: each has an address of its own, as it may be past the end, and there are 16
/// registers for these, the loop's among them. Rows that lie apart by a number are found from one address, but need
/// some registers at the end of the domain. And a rough number of rows.
inline constexpr int64_t kMostUnknownRows = 8, kMostRowsOfOneAddress = 10, kTypicalRows = 512;

/// A register tile: totals of `rows` rows and `vectors` vectors of columns.
struct RegisterTile {
  int64_t rows, vectors;
  double steps =
      0; ///< what bestTile expects for all rows and columns, in multiply-adds of a vector and term of the sum
};

/// The register tile over rows × columns (in vectors) that takes the least time. A step of the sum's loop loads an
/// element for each row and the vectors of columns, and multiplies and adds each with each; with fewer than some number
/// of totals the additions wait for each other. A masked row is tested in each step. The last tile has as many rows as
/// are left; columns past the end are computed in vain. `rows` < 0: their number is not known. `widths`: how many
/// vectors of columns can be chosen, ascending. `mostRows`: of a tile; of unknown rows kMostUnknownRows if not given.
RegisterTile bestTile(int64_t rows, int64_t vectors, int64_t registers, int64_t mostTotals, bool areMasked,
                      llvm::ArrayRef<int64_t> widths = {}, std::optional<int64_t> mostRows = std::nullopt);

/// The number of rows, at most `most`, of a register tile over `size` rows. A step of the reduce loop loads a row's
/// element for each row and the columns once, so its cost goes with rows + 1; rows past the end are computed in vain.
int64_t bestRows(int64_t size, int64_t most);

} // namespace kiln::optimize
