// Views and trackers: that those which mean the same are written the same, where elements lie and whether there is one,
// and which chains of views become one. The expected answers are worked out by hand; what random chains of movements do
// is compared with brute force in test/property/ViewProperty.cpp.

#include "view/ShapeTracker.h"
#include "view/Repeat.h"

#include <catch2/catch.hpp>

using namespace kiln::view;

static ShapeTracker tracker(const char *text) { return llvm::cantFail(ShapeTracker::parse(text)); }

TEST_CASE("a view is canonical") {
  CHECK(View::make({2, 1, 3}).strides() == llvm::ArrayRef<Expr>({3, 0, 1}));
  CHECK(View::make({2, 3}, Shape{3, 1}, 0, llvm::SmallVector<Range>{{0, 2}, {0, 3}}).contiguous());
  // One element left of an axis: it stands still there.
  View one = View::make({4, 3}, Shape{3, 1}, 0, llvm::SmallVector<Range>{{2, 3}, {0, 3}});
  CHECK(one.strides()[0].isConst(0));
  CHECK(one.offset().isConst(6));
  CHECK(View::make({4, 0}).contiguous());
}

TEST_CASE("movements stay one view where they can") {
  ShapeTracker st = ShapeTracker::contiguous({2, 3, 4});
  CHECK(st.permute({0, 2, 1}).reshape({8, 3}).print() == "(2,4,3):(12,1,4) -> (8,3):(3,1)");
  CHECK(st.permute({1, 0, 2}).reshape({3, 2, 2, 2}).print() == "(3,2,2,2):(4,12,2,1)");
  CHECK(st.flip({1}).print() == "(2,3,4):(12,-4,1)+8");
  CHECK(st.pad({{1, 0}, {0, 0}, {0, 2}}).print() == "(3,3,6):(12,4,1)+-12?[1:3,0:3,0:4]");
  CHECK(st.shrink({{1, 2}, {0, 3}, {2, 4}}).print() == "(1,3,2):(0,4,1)+14");
  CHECK(st.stride({1, -2, 3}).print() == "(2,2,2):(12,-8,3)+8");
  CHECK(st.reshape({2, 3, 4, 1}).expand({2, 3, 4, 5}).print() == "(2,3,4,5):(12,4,1,0)");
}

TEST_CASE("a merged view has the sizes of the outer one") {
  // With elements n is 7 or 8, and n // 2 is n - 4, which is below 0 for others.
  // Of n's two values, one leaves something to read.
  CHECK(tracker("(3,n{2..3}+-2,7,8,9):(0,0,0,0,1) -> (3,n{2..3}+-2,7,3,9):((n{2..3}*504)+-1008,0,72,27,1)")
            .simplify()
            .print() == "(3,(n{2..3}+-2),7,3,9):(0,0,0,0,1)");
  CHECK(tracker("(n{0..8},9):(9,1) -> (n{0..8}+-6,n{0..8}//2):(9,1)").simplify().print() ==
        "((n{0..8}+-6),(n{0..8}//2)):(9,1)");
  CHECK(tracker("(n{0..8},9):(9,1)?[1:n{0..8},0:9] -> (n{0..8}+-6,n{0..8}//2):(9,1)").simplify().print() ==
        "((n{0..8}+-6),(n{0..8}//2)):(0,1)+9?[1:(n{0..8}+-6),0:(n{0..8}//2)]");
  // An axis of one element or none keeps a stride, so that nothing is read ahead of its loop.
  CHECK(tracker("(n{0..3},9):(9,1) -> ((n{0..3}+2)//3,9):(27,1)").simplify().print() == "(((n{0..3}+2)//3),9):(1,1)");
}

TEST_CASE("views that can be one are merged, wherever they stand") {
  CHECK(tracker("(2,3):(1,2) -> (3,2):(1,3)").simplify().print() == "(3,2):(2,1)");
  CHECK(tracker("(2,4,3):(12,1,4) -> (8,3):(3,1)").simplify().views().size() == 2);
  CHECK(tracker("(2,3):(1,2) -> (3,2):(1,3) -> (6):(1)").simplify().isContiguous());
  // Nothing is read where t is 0.
  Expr s = Expr::variable("s", 0, 64), t = Expr::variable("t", 0, 64);
  ShapeTracker rows = ShapeTracker::contiguous({2, s, 1}).expand({2, s, t});
  ShapeTracker repeated = ShapeTracker::contiguous({2, s, t}).reshape({2, s, 1, t}).expand({2, s, 12, t});
  CHECK(rows.compose(repeated).simplify() == rows.reshape({2, s, 1, t}).expand({2, s, 12, t}));
  // Tiles of two rows and columns read the first of each: where h is 0 there is no tile.
  CHECK(tracker("((h+1)//2*2,(w+1)//2*2,8):(w,1,h*w)+(w*-1+-1)?[min((h+1)//2*2,1):h,min((w+1)//2*2,1):w,0:8]"
                " -> ((h+1)//2,(w+1)//2,8):((w+1)//2*32,16,1)")
            .simplify()
            .print() == "(((h+1)//2),((w+1)//2),8):((w*2),2,(h*w))+((w*-1)+-1)?[1:((h+1)//2),1:((w+1)//2),0:8]");
  // A size that is below 0 where x is not 0 leaves nothing to prove.
  CHECK(tracker("(2,4,-x-m):(1,1,4) -> (8,x):(3,1)").simplify().views().size() == 2);
}

TEST_CASE("an axis that a run may repeat stands still or moves") {
  Expr r = Expr::variable("r", 0, 1), n = Expr::variable("n", 0, 64);
  auto at = [&](const ShapeTracker &st, int64_t step) { return st.substitute({{r, step}}).simplify(); };
  ShapeTracker open = ShapeTracker::contiguous({r * (n - 1) + 1, 4}).expand({n, 4});
  CHECK(open.print() == "(n{0..64},4):((r{0..1}*4),1)");
  CHECK(at(open, 1) == ShapeTracker::contiguous({n, 4}));
  CHECK(at(open, 0) == ShapeTracker::contiguous({1, 4}).expand({n, 4}));
  // Of n - 1 elements and one that is not there, all are; of none and one, none is.
  ShapeTracker padded = ShapeTracker::contiguous({r * (n - 1)}).pad({{0, 1}}).expand({n});
  CHECK(at(padded, 1).at({3}).valid.render() == "((n*-1)<-4)");
  CHECK(at(padded, 0).at({3}).valid.isConst(0));
  CHECK(repeatStep(r * (n - 1) + 1, n) == r);
  CHECK(repeatStep(n, n) == Expr(1));
  CHECK(repeatStep(1, n) == Expr(0));
  CHECK(repeatStep(n * 2, n) == std::nullopt);
}

TEST_CASE("a part of a tensor has an inverse, whatever its sizes are") {
  ShapeTracker part = tracker("(3,m,n,8):(0,n*8,8,1)?[1:2,0:m,0:n,0:8]");
  std::optional<ShapeTracker> inverse =
      part.invert({Expr::variable("m", 0, kMaxDim) * Expr::variable("n", 0, kMaxDim) * 8});
  REQUIRE(inverse);
  CHECK(part.compose(*inverse).simplify().isContiguous());
}

TEST_CASE("index and validity of an element") {
  ShapeTracker st = ShapeTracker::contiguous({4}).pad({{1, 2}}).reshape({7, 1}).expand({7, 3});
  CHECK(st.at().index.render() == "(-1+idx0)");
  CHECK(st.at().valid.render() == "(((idx0*-1)<0) and (idx0<5))");
  CHECK(st.at({2, 1}).index.isConst(1));
  CHECK(st.at({0, 1}).valid.isConst(0));
  CHECK(st.realSize().isConst(6));
}

/// Ones above a diagonal of rows × columns, made of windows of one row.
static ShapeTracker triangle(Expr rows, Expr columns, Expr diagonal) {
  Expr period = diagonal + columns + rows;
  ShapeTracker windows = ShapeTracker::contiguous({columns}).pad({{diagonal, rows}}).reshape({1, period});
  windows = windows.expand({rows, period}).reshape({rows * period}).shrink({{0, rows * (period - 1)}});
  return windows.reshape({rows, period - 1}).shrink({{0, rows}, {0, columns}});
}

TEST_CASE("a triangle is where one axis is ahead of another") {
  CHECK(triangle(128, 128, 1).at().valid.render() == "(idx0<idx1)");
  CHECK(triangle(10, 20, 11).at().valid.render() == "(idx0<(-10+idx1))");
  Expr n = Expr::variable("n", 1, 1024);
  CHECK(triangle(n, n, 1).at().valid.render() == "(idx0<idx1)");
}

TEST_CASE("the size of the buffer behind symbolic dims is symbolic") {
  Expr n = Expr::variable("n", 0, 64), m = Expr::variable("m", 0, 64);
  CHECK(ShapeTracker::contiguous({n, 4}).realSize() == n * Expr(4));
  CHECK(ShapeTracker::contiguous({n, m}).permute({1, 0}).flip({0}).realSize() == n * m);
  CHECK(ShapeTracker::contiguous({n, m}).expand({n, m}).realSize() == n * m);
}

TEST_CASE("what the padding further out keeps away needs no remainder further in") {
  Expr t = Expr::variable("t", 0, 1 << 20);
  for (Expr size : {Expr(100), t}) {
    Expr blocks = ceilDiv(size, 16), all = blocks * Expr(16);
    ShapeTracker st =
        ShapeTracker::contiguous({size}).pad({{0, all - size}}).reshape({blocks, 16}).pad({{0, 0}, {15, 0}});
    for (Expr e : {st.at().index, st.at().valid})
      CHECK(e.render().find('%') == std::string::npos);
  }
}

TEST_CASE("strides of the whole map") {
  ShapeTracker st = tracker("(2,3):(1,2) -> (6):(1)");
  CHECK(!st.realStrides()[0]);
  ShapeTracker padded = ShapeTracker::contiguous({2, 3}).pad({{0, 0}, {1, 0}});
  CHECK(*padded.realStrides()[0] == Expr(3));
  CHECK(!padded.realStrides()[1]);
  CHECK(*padded.realStrides(/*ignoreValid=*/true)[1] == Expr(1));
  CHECK(tracker("(2,3):(3,1)+5").isConsecutive());
  CHECK(padded.isMasked());
  CHECK(padded.reshape({8}).permute({0}).isMasked());
  CHECK(!st.isMasked());
}

TEST_CASE("symbolic dims reshape, pad and slice") {
  Expr b = Expr::variable("batch", 0, 64), s = Expr::variable("seq", 0, 512), past = Expr::variable("past", 0, 512);
  ShapeTracker flat = ShapeTracker::contiguous({b * s, 48});
  CHECK(flat.reshape({b, s, 48}).isContiguous());
  CHECK(flat.reshape({b, s, 6, 8}).permute({0, 2, 1, 3}).views().size() == 1);
  ShapeTracker heads = flat.reshape({b, s, 6, 8}).permute({0, 2, 1, 3});
  CHECK(heads.permute({0, 2, 1, 3}).reshape({b * s, 48}).isContiguous());
  CHECK(heads.reshape({b * Expr(6), s, 8}).views().size() == 2);
  ShapeTracker padded = ShapeTracker::contiguous({s, 48}).pad({{past, 0}, {0, 0}});
  CHECK(padded.reshape({past + s, 6, 8}).views().size() == 1);
  CHECK(padded.shrink({{past, past + s}, {0, 48}}).isContiguous());
  CHECK(padded.at().valid.render() == "(past<(1+idx0))");
}

TEST_CASE("a chain of symbolic views gives the index without division") {
  Expr b = Expr::variable("batch", 0, 64), s = Expr::variable("seq", 0, 512);
  View inner = View::make({b, s, 48}, Shape{48, b * Expr(48), 1}), outer = View::make({b * s, 48});
  ShapeTracker st({inner, outer});
  CHECK(st.reshape({b, s, 48}).simplify().views().size() == 1);
  CHECK(st.reshape({b, s, 48}).at().index ==
        inner
            .at({Expr::variable("idx0", 0, b - Expr(1)), Expr::variable("idx1", 0, s - Expr(1)),
                 Expr::variable("idx2", 0, 47)})
            .index);
}

/// Windows of `kernel` elements over the two axes of a picture, as the importer cuts them out: [rows, columns, kernel,
/// kernel] of a tensor of `height` by `width`.
static ShapeTracker windowsOf(ShapeTracker picture, int64_t kernel, int64_t stride) {
  Shape copies, one, repeated, rows, cut, apart, kept;
  for (Expr size : picture.shape()) {
    Expr padded = size + kernel, row = padded + 1, count = floorDiv(size - kernel, stride) + 1;
    one.append({Expr(1), padded});
    copies.append({Expr(kernel + 1), padded});
    repeated.push_back((kernel + 1) * padded);
    cut.push_back(kernel * row);
    rows.append({Expr(kernel), row});
    kept.append({Expr(kernel), count * stride});
    apart.append({Expr(kernel), count, Expr(stride)});
  }
  auto firsts = [](const ShapeTracker &tracker, llvm::ArrayRef<Expr> end) {
    llvm::SmallVector<Range, 6> ranges;
    for (Expr e : end)
      ranges.push_back({0, e});
    return tracker.shrink(ranges);
  };
  picture = picture.pad({{0, kernel}, {0, kernel}}).reshape(one).expand(copies).reshape(repeated);
  picture = firsts(firsts(picture, cut).reshape(rows), kept).reshape(apart);
  Shape first(apart);
  first[2] = first[5] = 1;
  return firsts(picture, first).reshape({apart[0], apart[1], apart[3], apart[4]}).permute({1, 3, 0, 2}).simplify();
}

TEST_CASE("windows of a picture of any size are indexed without division") {
  Expr h = Expr::variable("h", 0, kMaxDim), w = Expr::variable("w", 0, kMaxDim);
  for (int64_t stride : {1, 2}) {
    Index where = windowsOf(ShapeTracker::contiguous({h, w}), 3, stride).at();
    INFO(where.index.render());
    CHECK(where.index.render().find_first_of("/%") == std::string::npos);
  }
  // Of a known height, where a distance is 19 rows of one copy, or a row of the next copy.
  ShapeTracker windows = windowsOf(ShapeTracker::contiguous({18, w}), 3, 1);
  CHECK(windows.views().size() == 1);
  CHECK(windows.views().back().strides() == llvm::ArrayRef<Expr>{w, 1, w, 1});
  // After other strides, sizes are quotients and nothing else is.
  Expr half = floorDiv(h - 3, 2) + 1, quarter = floorDiv(w + 5, 4) + 5;
  for (int64_t stride : {1, 2}) {
    Index where = windowsOf(ShapeTracker::contiguous({half, quarter}), 3, stride).at();
    INFO(where.index.render());
    CHECK(llvm::StringRef(where.index.render()).count("//") ==
          llvm::StringRef(where.index.render()).count("((1+w)//4)"));
    CHECK(where.index.render().find('%') == std::string::npos);
  }
}

TEST_CASE("an unknown number of blocks is not divided by") {
  Expr n = Expr::variable("n", 0, 100), block = Expr::variable("b", 0, 99);
  Expr row = Expr::variable("r", 0, 3), column = Expr::variable("c", 0, 7);
  ShapeTracker blocks = ShapeTracker::contiguous({3 * n, 8, 4}).permute({0, 2, 1}).reshape({12 * n, 8});
  CHECK(blocks.at({block * 4 + row, column}).index == block * 32 + column * 4 + row);
}

TEST_CASE("binding symbols gives the static tracker") {
  Expr n = Expr::variable("n", 0, 64);
  ShapeTracker st = ShapeTracker::contiguous({n, 4}).pad({{1, n}, {0, 0}}).flip({0});
  CHECK(st.substitute({{n, Expr(3)}}) == ShapeTracker::contiguous({3, 4}).pad({{1, 3}, {0, 0}}).flip({0}));
}

TEST_CASE("a movement that loses nothing can be undone") {
  ShapeTracker st = ShapeTracker::contiguous({2, 3, 4}).permute({2, 0, 1}).flip({0});
  CHECK(st.compose(*st.invert({2, 3, 4})).isContiguous());
  CHECK(!ShapeTracker::contiguous({2, 1}).expand({2, 3}).invert({2}));
}

TEST_CASE("trackers print, render and read back") {
  for (const char *text : {"(2,3):(3,1)", "():()", "():()+3", "(2,3):(-3,1)+3?[0:1,1:3]", "(4):(2) -> (2,2):(2,1)"}) {
    INFO(text);
    ShapeTracker st = tracker(text);
    CHECK(llvm::cantFail(ShapeTracker::parse(st.print())) == st);
    CHECK(hash_value(tracker(text)) == hash_value(st));
  }
  CHECK(tracker("(2):(1)").render() ==
        "ShapeTracker(views=(View(shape=(2,), strides=(1,), offset=0, mask=None, contiguous=True),))");
  CHECK(tracker("(3):(1)+-1?[1:3]").render() ==
        "ShapeTracker(views=(View(shape=(3,), strides=(1,), offset=-1, mask=((1, 3),), contiguous=False),))");
  for (const char *text : {"", "(2)", "(2):()", "(-1):(1)", "(2):(1)?[0:1,0:1]", "(2):(1) ->", "(2):(1) x"}) {
    INFO(text);
    llvm::Expected<ShapeTracker> st = ShapeTracker::parse(text);
    CHECK(!st);
    llvm::consumeError(st.takeError());
  }
}
