// Layouts: which zeros stand for a mask, and what a view of row-major memory is of memory that lies otherwise.

#include "view/Layout.h"

#include <catch2/catch.hpp>

using namespace kiln::view;

static const Expr h = Expr::variable("h", 0, kMaxDim), w = Expr::variable("w", 0, kMaxDim);

/// What a 3 x 3 window reads of [8, h, w]: one more row and column on either side.
static ShapeTracker padded() { return ShapeTracker::contiguous({8, h, w}).pad({{0, 0}, {1, 1}, {1, 1}}); }

TEST_CASE("zeros stand for the masks of a pad, whatever the sizes are") {
  auto halo = haloFor(padded(), {8, h, w});
  REQUIRE(halo);
  CHECK((*halo)[0] == Layout::Room{0, 0});
  CHECK((*halo)[1] == Layout::Room{1, 1});
  CHECK((*halo)[2] == Layout::Room{1, 1});
}

TEST_CASE("zeros stand for the mask of a last row that only some sizes have") {
  Expr pairs = ceilDiv(h, 2);
  ShapeTracker second = ShapeTracker::contiguous({h, w})
                            .pad({{0, pairs * 2 - h}, {0, 0}})
                            .reshape({pairs, 2, w})
                            .shrink({{0, pairs}, {1, 2}, {0, w}})
                            .reshape({pairs, w})
                            .simplify();
  auto halo = haloFor(second, {h, w});
  REQUIRE(halo);
  CHECK((*halo)[0] == Layout::Room{0, 1});
  CHECK((*halo)[1] == Layout::Room{0, 0});
}

TEST_CASE("a view of a layout has its strides and no mask") {
  Layout layout = Layout::rowMajor({8, h, w});
  layout.order = {1, 2, 0};
  layout.halo = *haloFor(padded(), layout.shape);
  CHECK(layout.strides() == Shape{1, (w + 2) * 8, 8});
  std::optional<ShapeTracker> view = relaid(padded(), layout);
  REQUIRE(view);
  CHECK(*view == ShapeTracker(View::make({8, h + 2, w + 2}, llvm::ArrayRef<Expr>(Shape{1, (w + 2) * 8, 8}))));
}

TEST_CASE("zeros that are too few leave the mask") {
  Layout layout = Layout::rowMajor({8, h, w});
  layout.halo[1] = {1, 1};
  std::optional<ShapeTracker> view = relaid(padded(), layout);
  REQUIRE(view);
  REQUIRE(view->views().front().mask());
  CHECK((*view->views().front().mask())[1] == Range{0, h + 2});
  CHECK((*view->views().front().mask())[2] == Range{1, w + 1});
}

TEST_CASE("no zeros stand for a mask that hides elements of the tensor") {
  CHECK_FALSE(haloFor(ShapeTracker::contiguous({4, 6}).shrink({{0, 4}, {1, 5}}).pad({{0, 0}, {1, 1}}), {4, 6}));
}

TEST_CASE("a place that lies in a row only for some sizes has no layout") {
  // Element 5 of [h, w] is in the first row where w is above 5, and in another one below.
  ShapeTracker fifth(View::make({h}, llvm::ArrayRef<Expr>(Shape{w}), 5));
  Layout layout = Layout::rowMajor({h, w});
  layout.halo[1] = {1, 1};
  CHECK_FALSE(relaid(fifth, layout));
}

TEST_CASE("what nothing is read of for some sizes has the layout that it has for the others") {
  // The second row and column of each tile of two of [8, h, w]; where h is 1 there is none.
  Shape tiles{floorDiv(h, 2), floorDiv(w, 2), 8}, strides{w * 2, 2, h * w};
  Layout layout = Layout::rowMajor({8, h, w});
  layout.order = {1, 2, 0};
  std::optional<ShapeTracker> view =
      relaid(ShapeTracker(View::make(tiles, llvm::ArrayRef<Expr>(strides), w + 1)), layout);
  REQUIRE(view);
  CHECK(*view == ShapeTracker(View::make(tiles, llvm::ArrayRef<Expr>(Shape{w * 16, 16, 1}), w * 8 + 8)));
}

TEST_CASE("a view under another form of the sizes has the layout's strides") {
  Expr steps = floorDiv(h + 7, 8), rows = floorDiv(h + 3, 4);
  Layout layout = Layout::rowMajor({8, rows, w});
  layout.order = {1, 2, 0};
  ShapeTracker other = ShapeTracker::contiguous({8, steps * 2, w});
  CHECK_FALSE(relaid(other, layout));
  std::optional<ShapeTracker> view = relaid(other, layout, {{rows, steps * 2}});
  REQUIRE(view);
  CHECK(*view == ShapeTracker(View::make({8, steps * 2, w}, llvm::ArrayRef<Expr>(Shape{1, w * 8, 8}))));
}

TEST_CASE("zeros stand for masks under another form of the sizes") {
  Expr steps = floorDiv(h + 7, 8), rows = floorDiv(h + 3, 4);
  ShapeTracker other = ShapeTracker::contiguous({8, steps * 2, w}).pad({{0, 0}, {1, 1}, {0, 0}});
  auto halo = haloFor(other, {8, rows, w}, {{rows, steps * 2}});
  REQUIRE(halo);
  CHECK((*halo)[1] == Layout::Room{1, 1});
  Layout layout = Layout::rowMajor({8, rows, w});
  layout.halo = *halo;
  std::optional<ShapeTracker> view = relaid(other, layout, {{rows, steps * 2}});
  REQUIRE(view);
  CHECK(!view->views().front().mask());
}
