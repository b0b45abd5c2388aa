//===- Draw.cpp - A tracker as a picture ---------------------------------===//
//
// Above, the buffer: its elements in a row, each in its own colour. Below, the logical tensor: a grid, outer axes as
// grids next to each other, each position in the colour of the element that it reads and with its number. Masked
// positions are hollow; an element that nothing reads is pale.
//
//===----------------------------------------------------------------------===//
#include "tools/draw-views/Example.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <cmath>

using namespace kiln::docs;
using namespace kiln::view;
using llvm::SmallVector;
using llvm::StringRef;

static constexpr int kCell = 36, kGap = 18, kMargin = 16, kLine = 22;

namespace {

class Picture {
public:
  Picture() : os_(body_) {}

  void text(int x, int y, const llvm::Twine &what, int size, const char *colour) {
    os_ << "<text x=\"" << x << "\" y=\"" << y << "\" font-size=\"" << size << "\" fill=\"" << colour << "\">"
        << escape(what.str()) << "</text>\n";
    width_ = std::max<int>(width_, x + int(what.str().size()) * size * 62 / 100);
    height_ = std::max(height_, y);
  }

  static std::string colour(int64_t element, int64_t count, bool pale) {
    // Around the colour wheel, without the last sixth, which looks like the first.
    double hue = count > 0 ? 5.0 * double(element) / double(count) : 0, strength = pale ? 12 : 62;
    int base = pale ? 240 : 190;
    std::string text = "#";
    for (double peak : {0.0, 2.0, 4.0}) {
      double away = std::min(std::abs(hue - peak), 6 - std::abs(hue - peak));
      int value = base + int(strength * std::clamp(2 - away, 0.0, 1.0)) - int(strength / 3);
      text += llvm::utohexstr(unsigned(std::clamp(value, 0, 255)), /*LowerCase=*/true, 2);
    }
    return text;
  }

  /// An element of the buffer; -1 for a hollow cell.
  void cell(int x, int y, int64_t element, int64_t count, bool pale) {
    os_ << "<rect x=\"" << x << "\" y=\"" << y << "\" width=\"" << kCell - 3 << "\" height=\"" << kCell - 3
        << "\" rx=\"4\" ";
    if (element < 0) {
      os_ << "fill=\"none\" stroke=\"#999\" stroke-dasharray=\"3 3\"/>\n";
    } else {
      os_ << "fill=\"" << colour(element, count, pale) << "\" stroke=\"" << (pale ? "#ccc" : "#555") << "\"/>\n";
      os_ << "<text x=\"" << x + (kCell - 3) / 2 << "\" y=\"" << y + kCell / 2 + 4
          << "\" font-size=\"13\" text-anchor=\"middle\" fill=\"" << (pale ? "#aaa" : "#222") << "\">" << element
          << "</text>\n";
    }
    width_ = std::max(width_, x + kCell);
    height_ = std::max(height_, y + kCell);
  }

  int bottom() const { return height_; }

  std::string finish() {
    std::string svg;
    llvm::raw_string_ostream os(svg);
    int width = width_ + kMargin, height = height_ + kMargin;
    os << "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" << width << "\" height=\"" << height
       << "\" viewBox=\"0 0 " << width << " " << height << "\" font-family=\"monospace\">\n"
       << "<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n"
       << body_ << "</svg>\n";
    return svg;
  }

private:
  static std::string escape(StringRef text) {
    std::string result;
    llvm::raw_string_ostream os(result);
    llvm::printHTMLEscaped(text, os);
    return result;
  }

  std::string body_;
  llvm::raw_string_ostream os_;
  int width_ = 0, height_ = 0;
};

} // namespace

/// The buffer element of every position in row-major order, -1 where masked.
static SmallVector<int64_t> elementsOf(const ShapeTracker &tracker) {
  SmallVector<int64_t> elements;
  int64_t size = tracker.size().constant();
  for (int64_t flat = 0; flat < size; ++flat) {
    Shape position(tracker.shape().size());
    int64_t left = flat;
    for (size_t i = position.size(); i-- > 0;) {
      int64_t extent = tracker.shape()[i].constant();
      position[i] = left % extent;
      left /= extent;
    }
    Index here = tracker.at(position);
    elements.push_back(here.valid.isConst(1) ? here.index.constant() : -1);
  }
  return elements;
}

std::string kiln::docs::drawTracker(const ShapeTracker &tracker, StringRef title) {
  SmallVector<int64_t> elements = elementsOf(tracker);
  int64_t count = tracker.views()[0].mask() ? 0 : tracker.realSize().constant();
  for (int64_t e : elements)
    count = std::max(count, e + 1);
  llvm::DenseSet<int64_t> read(elements.begin(), elements.end());

  Picture picture;
  picture.text(kMargin, kMargin + kLine - 8, title, 15, "#000");
  for (const View &view : tracker.views())
    picture.text(kMargin, picture.bottom() + kLine - 2, ShapeTracker(view).print(), 13, "#444");
  picture.text(kMargin, picture.bottom() + kLine + 4, "buffer", 12, "#777");
  int y = picture.bottom() + 6;
  for (int64_t e = 0; e < count; ++e)
    picture.cell(kMargin + int(e) * kCell, y, e, count, !read.contains(e));

  SmallVector<int64_t> shape;
  for (Expr size : tracker.shape())
    shape.push_back(size.constant());
  SmallVector<std::string> dims;
  for (int64_t s : shape)
    dims.push_back(std::to_string(s));
  picture.text(kMargin, picture.bottom() + kLine + 4, "tensor (" + llvm::join(dims, ",") + ")", 12, "#777");
  y = picture.bottom() + 6;
  // The last two axes are a grid; the grids of the ones before are next to each other.
  int64_t columns = shape.empty() ? 1 : shape.back(), rows = shape.size() < 2 ? 1 : shape[shape.size() - 2];
  for (size_t flat = 0; flat < elements.size(); ++flat) {
    int64_t column = int64_t(flat) % columns, row = int64_t(flat) / columns % rows,
            grid = int64_t(flat) / columns / rows;
    picture.cell(kMargin + int(grid * (columns * kCell + kGap) + column * kCell), y + int(row) * kCell, elements[flat],
                 count, false);
  }
  return picture.finish();
}
