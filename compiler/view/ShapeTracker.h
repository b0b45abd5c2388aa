//===- ShapeTracker.h - Movement of data as index math -------------------===//
//
// Reshaping, transposing, padding or slicing a tensor moves no data: it changes which element of the buffer an index
// reads. A View is one such map: shape, strides, offset and, after padding, a mask outside which an element reads as
// padding. Not every chain of movements is one View (a transpose followed by a reshape that merges the two axes is
// not); a ShapeTracker is the list of Views that the chain needs, the first nearest to the buffer, the last with the
// logical shape.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "view/Expr.h"

#include "llvm/ADT/SmallVector.h"

namespace kiln::view {

using Shape = llvm::SmallVector<Expr, 4>;
/// Half-open [begin, end) of one axis.
struct Range {
  Expr begin, end;
  bool operator==(const Range &) const = default;
};

/// An index into the buffer, and whether there is an element at all (0/1).
struct Index {
  Expr index, valid;
};

/// One strided map. Immutable; make() brings it to canonical form: a size-1 axis has stride 0, a full mask is none.
class View {
public:
  /// Row-major strides if `strides` is nullopt.
  static View make(llvm::ArrayRef<Expr> shape, std::optional<llvm::ArrayRef<Expr>> strides = std::nullopt,
                   Expr offset = 0, std::optional<llvm::ArrayRef<Range>> mask = std::nullopt);

  llvm::ArrayRef<Expr> shape() const { return shape_; }
  llvm::ArrayRef<Expr> strides() const { return strides_; }
  Expr offset() const { return offset_; }
  /// One range per axis, or nullopt if every element exists.
  std::optional<llvm::ArrayRef<Range>> mask() const;
  /// Row-major, from element 0, without mask.
  bool contiguous() const { return contiguous_; }
  Expr size() const;

  View permute(llvm::ArrayRef<int64_t> axes) const;
  View expand(llvm::ArrayRef<Expr> shape) const;
  /// (elements before, elements after) an axis.
  View pad(llvm::ArrayRef<std::pair<Expr, Expr>> amounts) const;
  View shrink(llvm::ArrayRef<Range> ranges) const;
  /// The axes to reverse.
  View flip(llvm::ArrayRef<int64_t> axes) const;
  /// x[::step] for each axis; negative steps reverse first.
  View stride(llvm::ArrayRef<int64_t> steps) const;
  /// nullopt if no single strided map expresses it.
  std::optional<View> reshape(llvm::ArrayRef<Expr> shape) const;

  /// The view that undoes this one, onto a row-major buffer of `bufferShape`; nullopt if this is not injective.
  std::optional<View> invert(llvm::ArrayRef<Expr> bufferShape) const;

  /// Index and validity at the logical position `position` (one expression per axis).
  Index at(llvm::ArrayRef<Expr> position) const;

  bool operator==(const View &) const = default;

private:
  View() = default;
  llvm::SmallVector<Expr, 4> shape_, strides_;
  Expr offset_;
  std::optional<llvm::SmallVector<Range, 4>> mask_;
  bool contiguous_ = false;
};

/// `outer` after `inner` (inner nearer to the buffer) as one View; nullopt if the two cannot become one.
std::optional<View> merge(const View &inner, const View &outer);

class ShapeTracker {
public:
  static ShapeTracker contiguous(llvm::ArrayRef<Expr> shape);
  explicit ShapeTracker(llvm::ArrayRef<View> views);

  llvm::ArrayRef<View> views() const { return views_; }
  llvm::ArrayRef<Expr> shape() const { return views_.back().shape(); }
  Expr size() const { return views_.back().size(); }
  /// Elements of the buffer that the index can reach: the largest index + 1, the mask left out of account. An upper
  /// bound, over the shape's symbols; 0 where nothing is ever valid.
  Expr realSize() const;
  /// One view, and that contiguous.
  bool isContiguous() const;
  /// One view, no mask, row-major strides, any offset.
  bool isConsecutive() const;
  /// Whether some of the elements may be padding, which reads nothing.
  bool isMasked() const;
  /// The stride of every axis if the whole map has one, else nullopt at that axis. `ignoreValid`: leave masks out.
  llvm::SmallVector<std::optional<Expr>, 4> realStrides(bool ignoreValid = false) const;

  ShapeTracker reshape(llvm::ArrayRef<Expr> shape) const;
  ShapeTracker permute(llvm::ArrayRef<int64_t> axes) const;
  ShapeTracker expand(llvm::ArrayRef<Expr> shape) const;
  ShapeTracker pad(llvm::ArrayRef<std::pair<Expr, Expr>> amounts) const;
  ShapeTracker shrink(llvm::ArrayRef<Range> ranges) const;
  ShapeTracker flip(llvm::ArrayRef<int64_t> axes) const;
  ShapeTracker stride(llvm::ArrayRef<int64_t> steps) const;
  /// `outer`'s views on top of these, each merged with the one below it if possible: a view of a view.
  ShapeTracker compose(const ShapeTracker &outer) const;
  /// Merges neighbouring views until none merges.
  ShapeTracker simplify() const;
  std::optional<ShapeTracker> invert(llvm::ArrayRef<Expr> bufferShape) const;

  /// Index and validity at a logical position; with no position given, over the variables idx0, idx1, … of the shape.
  Index at(llvm::ArrayRef<Expr> position) const;
  Index at() const;
  /// The tracker with variables (symbolic dims) replaced.
  ShapeTracker substitute(const llvm::DenseMap<Expr, Expr> &values) const;

  /// The reference's form: ShapeTracker(views=(View(shape=(2,), strides=(1,), offset=0, mask=None, contiguous=True),)).
  std::string render() const;
  /// A compact form that parse reads back, e.g. (2,3):(3,1) with +offset and ?mask, views joined by " -> ".
  std::string print() const;
  static llvm::Expected<ShapeTracker> parse(llvm::StringRef text);

  bool operator==(const ShapeTracker &) const = default;

private:
  llvm::SmallVector<View, 1> views_;
};

llvm::hash_code hash_value(const View &view);
llvm::hash_code hash_value(const ShapeTracker &tracker);

} // namespace kiln::view
