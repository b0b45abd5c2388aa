//===- ShapeTrackerText.cpp - Trackers as text ---------------------------===//
//
//   tracker := view { " -> " view }
//   view    := tuple ":" tuple [ "+" expr ] [ "?" "[" range { "," range } "]" ]     shape, strides, offset, mask
//   tuple   := "(" [ expr { "," expr } ] ")"
//   range   := expr ":" expr
//
//===----------------------------------------------------------------------===//
#include "view/ExprNode.h"
#include "view/ExprParse.h"
#include "view/ViewImpl.h"

#include "llvm/ADT/SmallVectorExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace kiln::view;
using llvm::ArrayRef;
using llvm::SmallVector;
using llvm::StringRef;

/// A tuple as Python writes it, with a comma after a lone element.
template <typename T, typename Print>
static void writePythonTuple(llvm::raw_ostream &os, ArrayRef<T> elements, Print print) {
  os << '(';
  llvm::interleave(elements, os, print, ", ");
  os << (elements.size() == 1 ? ",)" : ")");
}

std::string ShapeTracker::render() const {
  std::string text;
  llvm::raw_string_ostream os(text);
  auto expr = [&](Expr e) { os << e.render(); };
  os << "ShapeTracker(views=";
  writePythonTuple<View>(os, views_, [&](const View &view) {
    os << "View(shape=";
    writePythonTuple(os, view.shape(), expr);
    os << ", strides=";
    writePythonTuple(os, view.strides(), expr);
    os << ", offset=" << view.offset().render() << ", mask=";
    if (view.mask())
      writePythonTuple(os, *view.mask(), [&](Range r) { writePythonTuple<Expr>(os, {r.begin, r.end}, expr); });
    else
      os << "None";
    os << ", contiguous=" << (view.contiguous() ? "True" : "False") << ")";
  });
  os << ")";
  return text;
}

/// The view that reading its text gives: known facts about settled sizes may bring it to a simpler form.
static View settledView(const View &view) {
  auto all = [](ArrayRef<Expr> exprs) { return llvm::map_to_vector<4>(exprs, settled); };
  std::optional<SmallVector<Range, 4>> mask;
  if (view.mask())
    mask = llvm::map_to_vector<4>(*view.mask(), [](Range r) { return Range{settled(r.begin), settled(r.end)}; });
  return View::make(all(view.shape()), all(view.strides()), settled(view.offset()), mask);
}

std::string ShapeTracker::print() const {
  std::string text;
  llvm::raw_string_ostream os(text);
  auto tuple = [&](ArrayRef<Expr> elements) {
    os << '(';
    llvm::interleave(elements, os, [&](Expr e) { os << e.print(); }, ",");
    os << ')';
  };
  llvm::interleave(
      views_, os,
      [&](const View &given) {
        View view = settledView(given);
        tuple(view.shape());
        os << ':';
        tuple(view.strides());
        if (!view.offset().isConst(0))
          os << '+' << view.offset().print();
        if (!view.mask())
          return;
        os << "?[";
        llvm::interleave(*view.mask(), os, [&](Range r) { os << r.begin.print() << ':' << r.end.print(); }, ",");
        os << ']';
      },
      " -> ");
  return text;
}

static bool readTuple(Reader &reader, Shape &elements) {
  if (!reader.expect("("))
    return false;
  if (reader.accept(")"))
    return true;
  do {
    std::optional<Expr> e = reader.expression();
    if (!e)
      return false;
    elements.push_back(*e);
  } while (reader.accept(","));
  return reader.expect(")");
}

static bool readMask(Reader &reader, SmallVector<Range, 4> &mask) {
  do {
    std::optional<Expr> begin = reader.expression();
    if (!begin || !reader.expect(":"))
      return false;
    std::optional<Expr> end = reader.expression();
    if (!end)
      return false;
    mask.push_back({*begin, *end});
  } while (reader.accept(","));
  return reader.expect("]");
}

static std::optional<View> readView(Reader &reader) {
  Shape shape, strides;
  if (!readTuple(reader, shape))
    return std::nullopt;
  if (llvm::any_of(shape, [](Expr s) { return s.max() < 0; })) {
    reader.fail("a dimension is negative");
    return std::nullopt;
  }
  if (!reader.expect(":") || !readTuple(reader, strides))
    return std::nullopt;
  if (strides.size() != shape.size()) {
    reader.fail("expected as many strides as dimensions");
    return std::nullopt;
  }
  Expr offset = 0;
  if (reader.accept("+")) {
    std::optional<Expr> e = reader.expression();
    if (!e)
      return std::nullopt;
    offset = *e;
  }
  if (!reader.accept("?"))
    return View::make(shape, strides, offset);
  SmallVector<Range, 4> mask;
  if (!reader.expect("[") || !readMask(reader, mask))
    return std::nullopt;
  if (mask.size() != shape.size()) {
    reader.fail("expected as many mask ranges as dimensions");
    return std::nullopt;
  }
  return View::make(shape, strides, offset, mask);
}

llvm::Expected<ShapeTracker> ShapeTracker::parse(StringRef text) {
  Reader reader(text);
  SmallVector<View, 1> views;
  do {
    std::optional<View> view = readView(reader);
    if (!view)
      return reader.error();
    views.push_back(std::move(*view));
  } while (reader.accept("->"));
  if (!reader.atEnd()) {
    reader.fail("expected the end");
    return reader.error();
  }
  return ShapeTracker(views);
}
