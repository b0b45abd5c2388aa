//===- ShapeTrackerIndex.cpp - The place of an element -------------------===//
//
// The index into the buffer is found from the last view inwards: each view gives a flat index into the shape of the one
// before it, which division and remainder take apart again, axis by axis. An index into a shape of unknown sizes, such
// as memory with as many blocks as a run needs, should have neither if it is inside.
//
//===----------------------------------------------------------------------===//
#include "view/ExprNode.h"
#include "view/ViewImpl.h"

#include "llvm/ADT/DenseSet.h"

using namespace kiln::view;
using llvm::ArrayRef;
using llvm::SmallVector;

Expr kiln::view::axisVariable(unsigned axis, Expr size) {
  std::string name = "idx" + std::to_string(axis);
  return size.isConst() ? Expr::variable(name, 0, std::max<int64_t>(size.constant() - 1, 0))
                        : Expr::variable(name, 0, size - Expr(1));
}

static Shape axisVariables(ArrayRef<Expr> shape) {
  Shape position;
  for (unsigned i = 0; i < shape.size(); ++i)
    position.push_back(axisVariable(i, shape[i]));
  return position;
}

/// The element of a view that has this number.
static Index elementOf(const View &view, Expr number) {
  Shape coordinates(view.shape().size());
  // From the inside out, one symbolic size at a time: x + k * (w + 1) comes apart by w + 1 and then by the number of
  // rows, but not by their product, which could pass 64 bits as well. Numbers are divided by together.
  Expr rest = number, inside = 1;
  for (size_t i = coordinates.size(); i-- > 0;) {
    Expr size = view.shape()[i];
    coordinates[i] = floorDiv(rest, inside);
    if (size.isConst())
      inside = inside * size;
    else
      rest = floorDiv(coordinates[i], size), inside = 1;
    // Every point is within the outermost axis. The simplifier knows that for a number, and a masked part, too, stays
    // a small number.
    if (i > 0 || size.isConst())
      coordinates[i] = mod(coordinates[i], size);
  }
  return view.at(coordinates);
}

/// The element at a position; where it is not valid, any number, or with `staysInside` one of an element that exists.
static Index elementAt(ArrayRef<View> views, ArrayRef<Expr> position, bool staysInside) {
  if (llvm::any_of(views, [](const View &v) { return hasZero(v.shape()); }))
    return {0, 0};
  Index here = views.back().at(position);
  for (const View &view : llvm::reverse(views.drop_back())) {
    if (here.valid.isConst(0))
      break;
    View merged = withFewestAxes(view);
    Index next = elementOf(merged, here.index);
    // Symbolic sizes that are not merged may come apart where their product does not.
    bool isOfSymbols = llvm::any_of(view.shape(), [](Expr size) { return !size.isConst(); });
    if (isOfSymbols && merged.shape().size() < view.shape().size()) {
      auto weightOf = [](const Index &index) { return index.index.weight() + index.valid.weight(); };
      if (Index apart = elementOf(view, here.index); weightOf(apart) < weightOf(next))
        next = apart;
    }
    // A place matters where views further out are valid: quotients and remainders by their padding fall away there.
    if (!staysInside)
      next = {simplifyUnder(next.index, here.valid), simplifyUnder(next.valid, here.valid)};
    here = {next.index, logicalAnd({here.valid, next.valid})};
  }
  if (here.valid.isConst(0))
    return {0, 0};
  // If padding surrounds an empty part, there is an index to compute, yet a size is 0: the answer is "not valid", and
  // finding it must not divide by 0.
  if (llvm::any_of(llvm::drop_begin(views), [](const View &v) { return v.mask().has_value(); }))
    here = {guardDivisors(here.index), guardDivisors(here.valid)};
  return here;
}

Index ShapeTracker::at(ArrayRef<Expr> position) const { return elementAt(views_, position, /*staysInside=*/false); }

Index ShapeTracker::at() const { return at(axisVariables(shape())); }

/// The greatest value of `index` over the axes, as an expression over the shape's symbols alone.
static Expr greatest(Expr index, ArrayRef<Expr> axes) {
  if (!isLimited(index))
    return index.max();
  auto terms = [](const Expr &e) { return e.kind() == Expr::Kind::Add ? e.operands() : ArrayRef(e); };
  Expr bound = boundSum(terms(index), /*above=*/true).value_or(index);
  SmallVector<Expr, 8> parts;
  for (Expr term : terms(bound)) {
    bool moves = false;
    term.forEachVariable([&](Expr v) { moves |= llvm::is_contained(axes, v); });
    parts.push_back(moves ? Expr(term.max()) : term);
  }
  return sum(parts);
}

Expr ShapeTracker::realSize() const {
  if (hasZero(shape()))
    return 0;
  Shape position = axisVariables(shape());
  Index here = elementAt(views_, position, /*staysInside=*/true);
  if (here.valid.isConst(0))
    return 0;
  return greatest(here.index, position) + Expr(1);
}

bool ShapeTracker::isContiguous() const { return views_.size() == 1 && views_[0].contiguous(); }

bool ShapeTracker::isConsecutive() const {
  return views_.size() == 1 && !views_[0].mask() &&
         views_[0].strides() == ArrayRef<Expr>(rowMajorStrides(views_[0].shape()));
}

bool ShapeTracker::isMasked() const {
  return llvm::any_of(views_, [](const View &view) { return view.mask().has_value(); });
}

SmallVector<std::optional<Expr>, 4> ShapeTracker::realStrides(bool ignoreValid) const {
  SmallVector<std::optional<Expr>, 4> strides;
  if (views_.size() == 1 && !views_[0].mask()) {
    strides.assign(views_[0].strides().begin(), views_[0].strides().end());
    return strides;
  }
  Shape position = axisVariables(shape());
  auto [index, valid] = at(position);
  auto variablesOf = [](Expr e) {
    llvm::DenseSet<Expr> found;
    e.forEachVariable([&](Expr v) { found.insert(v); });
    return found;
  };
  llvm::DenseSet<Expr> inIndex = variablesOf(index), inValid = variablesOf(valid);
  for (Expr axis : position) {
    if (inValid.contains(axis) && !ignoreValid) {
      strides.push_back(std::nullopt);
    } else if (axis.isConst() || !inIndex.contains(axis)) {
      strides.push_back(0);
    } else {
      // A stride is the index's gain by one step, if that is the same everywhere.
      Expr stride = 0;
      bool linear = true;
      for (Expr term : index.kind() == Expr::Kind::Add ? index.operands() : ArrayRef(index)) {
        if (!variablesOf(term).contains(axis))
          continue;
        std::optional<Expr> factor = exactQuotient(term, axis);
        linear &= factor && !variablesOf(*factor).contains(axis);
        if (linear)
          stride = stride + *factor;
      }
      strides.push_back(linear ? std::optional(stride) : std::nullopt);
    }
  }
  return strides;
}
