//===- ShapeTrackerCheck.cpp - Views against the reference's -------------===//
//
// Two trackers may be written differently and mean the same, and kiln's may be the simpler one, so to compare their
// text would say little. Each case is a chain of movements. Kiln's tracker must read the same buffer element at every
// position (by brute force over the reference's views), have the same views or fewer, and index expressions of no more
// nodes. A stride that the reference does not know is right if it holds between all neighbours.
//
//===----------------------------------------------------------------------===//
#include "tools/kiln-golden/Movement.h"
#include "tools/kiln-golden/PlainViews.h"

using namespace kiln::golden;
using namespace kiln::view;

namespace {

View toView(const Json &v) {
  Shape strides = toShape(v.at("strides"));
  if (v.at("mask").is_null())
    return View::make(toShape(v.at("shape")), strides, v.at("offset").get<int64_t>());
  return View::make(toShape(v.at("shape")), strides, v.at("offset").get<int64_t>(), toRanges(v.at("mask")));
}

/// Is kiln's view the reference's, field by field?
bool isSame(const View &view, const Json &v) {
  return isSameMap(view, v) && view.contiguous() == v.at("contiguous").get<bool>();
}

/// The same by evaluating the index expressions.
Numbers indicesOf(const ShapeTracker &st) {
  Shape position;
  Numbers shape;
  for (Expr size : st.shape()) {
    shape.push_back(size.constant());
    position.push_back(
        Expr::variable("idx" + std::to_string(position.size()), 0, std::max<int64_t>(size.constant() - 1, 0)));
  }
  Index here = st.at();
  Numbers indices(sizeOf(shape));
  for (size_t i = 0; i < indices.size(); ++i) {
    llvm::DenseMap<Expr, int64_t> values;
    int64_t left = int64_t(i);
    for (size_t d = shape.size(); d-- > 0; left /= shape[d])
      if (!position[d].isConst())
        values[position[d]] = left % shape[d];
    bool valid = here.valid.evaluate(values).value_or(0);
    indices[i] = valid ? here.index.evaluate(values).value_or(-2) : -1;
  }
  return indices;
}

void expectIndices(const char *what, const Numbers &want, const Numbers &got, Report &report) {
  if (want == got)
    return;
  size_t i = std::mismatch(want.begin(), want.end(), got.begin(), got.end()).first - want.begin();
  report.mismatch(std::string(what) + ": element " + std::to_string(i) + " is not at the right index");
}

/// If kiln's stride is not the reference's, it must hold between all neighbours, and none may differ in validity.
bool strideHolds(const Numbers &indices, llvm::ArrayRef<Expr> shape, unsigned axis, int64_t stride) {
  int64_t step = 1;
  for (Expr size : shape.drop_front(axis + 1))
    step *= size.constant();
  int64_t size = shape[axis].constant();
  for (int64_t i = 0; i + step < int64_t(indices.size()); ++i) {
    if (i / step % size == size - 1)
      continue;
    int64_t a = indices[i], b = indices[i + step];
    if ((a < 0) != (b < 0) || (a >= 0 && b - a != stride))
      return false;
  }
  return true;
}

void checkStrides(const char *what, const ShapeTracker &st, const Json &want, const Numbers &indices, Report &report) {
  auto got = st.realStrides();
  if (got.size() != want.size())
    return report.mismatch(std::string(what) + ": wrong number of axes");
  for (unsigned i = 0; i < got.size(); ++i) {
    bool same = want[i].is_null() ? !got[i] : got[i] && got[i]->isConst(want[i].get<int64_t>());
    if (!same && !(got[i] && strideHolds(indices, st.shape(), i, got[i]->constant())))
      report.mismatch(std::string(what) + ": axis " + std::to_string(i) + " is " +
                      (got[i] ? got[i]->render() : "none") + ", not " + want[i].dump());
  }
}

void checkViews(const char *what, const ShapeTracker &st, const Json &want, Report &report) {
  if (st.views().size() < want.size())
    return;
  bool same = st.views().size() == want.size();
  for (size_t i = 0; same && i < want.size(); ++i)
    same = isSame(st.views()[i], want[i]);
  if (!same)
    report.mismatch(std::string(what) + ": " + st.print() + " is not " + want.dump());
}

template <typename T> void expectEqual(const char *what, const T &got, const Json &want, Report &report) {
  if (Json(got) != want)
    report.mismatch(std::string(what) + " is " + Json(got).dump() + ", not " + want.dump());
}

/// The reference's is an upper bound of an index that nothing need reach. Kiln's may be lower, but not too low: every
/// element that is read must be below it.
void checkRealSize(const ShapeTracker &st, const Json &want, const Numbers &indices, Report &report) {
  int64_t got = st.realSize().constant();
  int64_t highest = indices.empty() ? -1 : *std::max_element(indices.begin(), indices.end());
  if (got > want.get<int64_t>() || got <= highest)
    report.mismatch("real_size is " + std::to_string(got) + ", not " + want.dump());
}

void expectNoLarger(const char *what, Expr got, const Json &c, Report &report) {
  if (c.contains(what) && countNodes(got.render()) > countNodes(c.at(what)))
    report.mismatch(std::string(what) + " " + got.render() + " has more nodes than " + c.at(what).get<std::string>());
}

void checkCase(const Json &c, Report &report) {
  report.expectFields(c,
                      {"shape", "ops", "final_shape", "views", "simplified", "real_strides", "real_strides_simplified",
                       "size", "real_size", "contiguous", "consecutive", "idx_expr", "valid_expr", "indices"});
  ShapeTracker st = ShapeTracker::contiguous(toShape(c.at("shape")));
  for (const Json &op : c.at("ops")) {
    std::optional<ShapeTracker> next = applyMovement(st, op.at(0), op.at(1), report);
    if (!next)
      return;
    st = *next;
  }
  if (st.shape() != llvm::ArrayRef<Expr>(toShape(c.at("final_shape"))))
    return report.mismatch("the shape is not " + c.at("final_shape").dump());
  ShapeTracker simple = st.simplify();
  checkViews("views", st, c.at("views"), report);
  checkViews("simplified", simple, c.at("simplified"), report);

  PlainViews reference;
  for (const Json &v : c.at("views"))
    reference.push_back(toPlain(v));
  Numbers indices = indicesOf(reference);
  if (c.contains("indices"))
    expectIndices("the reference", c.at("indices"), indices, report);
  expectIndices("views", indices, indicesOf(toPlain(st.views())), report);
  expectIndices("simplified", indices, indicesOf(toPlain(simple.views())), report);
  expectIndices("index of views", indices, indicesOf(st), report);
  expectIndices("index of simplified", indices, indicesOf(simple), report);

  checkStrides("real_strides", st, c.at("real_strides"), indices, report);
  checkStrides("real_strides_simplified", simple, c.at("real_strides_simplified"), indices, report);
  expectEqual("size", st.size().constant(), c.at("size"), report);
  checkRealSize(st, c.at("real_size"), indices, report);
  expectEqual("contiguous", st.isContiguous(), c.at("contiguous"), report);
  expectEqual("consecutive", st.isConsecutive(), c.at("consecutive"), report);
  expectNoLarger("idx_expr", st.at().index, c, report);
  expectNoLarger("valid_expr", st.at().valid, c, report);
  llvm::Expected<ShapeTracker> again = ShapeTracker::parse(st.print());
  if (!again)
    report.mismatch(llvm::toString(again.takeError()));
  else if (*again != st)
    report.mismatch(st.print() + " reads back as " + again->print());
}

void checkMerge(const Json &c, Report &report) {
  report.expectFields(c, {"left", "right", "merged"});
  for (const char *side : {"left", "right"})
    report.expectFields(c.at(side), {"shape", "strides", "offset", "mask", "contiguous"});
  View left = toView(c.at("left")), right = toView(c.at("right"));
  if (!isSame(left, c.at("left")) || !isSame(right, c.at("right")))
    report.mismatch("a view is not canonical");
  std::optional<View> merged = merge(left, right);
  if (!merged) {
    if (!c.at("merged").is_null())
      report.mismatch("not merged, but could be " + c.at("merged").dump());
    return;
  }
  Numbers indices = indicesOf(PlainViews{toPlain(c.at("left")), toPlain(c.at("right"))});
  expectIndices("merged", indices, indicesOf(toPlain(*merged)), report);
  if (!c.at("merged").is_null() && !isSame(*merged, c.at("merged")))
    expectIndices("the reference", indices, indicesOf(PlainViews{toPlain(c.at("merged"))}), report);
}

} // namespace

void kiln::golden::checkShapeTrackers(const Json &file, Report &report) {
  for (const auto &item : file.items())
    if (item.key() != "source" && item.key() != "commit" && item.key() != "cases" && item.key() != "merges") {
      report.begin("file");
      report.mismatch("unknown field '" + item.key() + "'");
      report.end();
    }
  auto each = [&](const char *list, auto check) {
    size_t number = 0;
    for (const Json &c : file.value(list, Json::array())) {
      report.begin(std::string(list) + " " + std::to_string(number++));
      check(c, report);
      report.end();
    }
  };
  each("cases", checkCase);
  each("merges", checkMerge);
}
