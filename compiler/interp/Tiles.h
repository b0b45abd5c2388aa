//===- Tiles.h - A tensor's positions, a few thousand at a time --------------===//
#pragma once

#include "interp/LazyTensor.h"

#include "llvm/ADT/DenseMap.h"

namespace kiln::interp {

/// Walks the positions of a shape in row-major order, in tiles of up to kElements consecutive ones. Every tile but the
/// last of each round has the same shape, so a strided map's elements in a tile are a base and a list of offsets that
/// is the same for all tiles.
class TileWalk {
public:
  static constexpr int64_t kElements = 2048;

  explicit TileWalk(llvm::ArrayRef<int64_t> dims);

  bool done() const { return done_; }
  void next();
  /// Positions in this tile, and at most in any.
  int64_t count() const;
  int64_t capacity() const { return chunk_ * inner_; }
  /// Positions along the last axis in a full tile.
  int64_t row() const { return dims_.empty() ? 1 : split_ + 1 == dims_.size() ? chunk_ : dims_.back(); }
  /// The element of the tile's first position.
  int64_t base(const Strided &map) const;
  /// The elements of a full tile's positions, less the base.
  std::vector<int64_t> offsets(const Strided &map) const;
  /// How many consecutive positions of a tile differ only along trailing axes for which `isRun` holds: a divisor of
  /// every tile's count.
  int64_t trailingRun(llvm::function_ref<bool(size_t axis)> isRun) const;

private:
  Dims dims_, position_;
  size_t split_ = 0;              // the axis that is cut into chunks; those after it are whole in a tile
  int64_t chunk_ = 1, inner_ = 1; // positions along the split axis, and of the axes after it
  bool done_;
};

/// A tree of operations made flat: evaluates the root on one tile after another.
class TileEvaluator {
public:
  TileEvaluator(const LazyTensor &root, const TileWalk &walk);

  /// The root's elements on the walk's present tile: in `room`, or in place.
  const void *evaluate(const TileWalk &walk, void *room);
  /// Room for a tile of the root.
  void *rootRoom() { return steps_.back().room.data(); }

private:
  struct Step {
    const LazyTensor *tensor;
    llvm::SmallVector<size_t, 3> operands;
    std::vector<char> room;
    std::vector<int64_t> offsets; // a leaf's
    bool consecutive = false, constant = false;
    std::optional<int64_t> filled; // the base of the constant that `room` holds
  };
  size_t add(const LazyTensor &tensor, const TileWalk &walk);
  const void *read(Step &leaf, const TileWalk &walk);

  std::vector<Step> steps_; // operands before their users
  std::vector<const void *> values_;
  llvm::DenseMap<const LazyTensor *, size_t> index_;
};

} // namespace kiln::interp
