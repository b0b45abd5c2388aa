//===- ViewBench.cpp - How fast views are merged -------------------------===//
//
// Every fusion asks again whether views merge, so simplify() must cost about as much as an allocation. Measures random
// static trackers of two views up to rank 4, and chains of growing length, whose cost must grow with it and not faster.
//
//===----------------------------------------------------------------------===//
#include "view/ShapeTracker.h"

#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <ctime>
#include <random>

using namespace kiln::view;

namespace {

class Random {
public:
  explicit Random(uint64_t seed) : engine_(seed) {}
  int64_t in(int64_t low, int64_t high) { return std::uniform_int_distribution<int64_t>(low, high)(engine_); }

  /// At most four dims of the given product.
  Shape factors(int64_t size) {
    Shape shape;
    while (shape.size() < 3 && size > 1) {
      int64_t f = in(1, 8);
      while (size % f != 0)
        --f;
      shape.push_back(f);
      size /= f;
    }
    shape.push_back(size);
    return shape;
  }

  ShapeTracker move(const ShapeTracker &st) {
    size_t rank = st.shape().size();
    switch (in(0, 3)) {
    case 0: {
      llvm::SmallVector<int64_t> order(rank);
      for (size_t i = 0; i < rank; ++i)
        order[i] = int64_t(i);
      std::shuffle(order.begin(), order.end(), engine_);
      return st.permute(order);
    }
    case 1:
      return st.flip({in(0, int64_t(rank) - 1)});
    case 2: {
      llvm::SmallVector<std::pair<Expr, Expr>> amounts(rank, {0, 0});
      amounts[in(0, int64_t(rank) - 1)] = {in(0, 2), in(0, 2)};
      return st.pad(amounts);
    }
    default: {
      llvm::SmallVector<Range> ranges;
      for (Expr size : st.shape())
        ranges.push_back({size.constant() > 2 ? in(0, 1) : 0, size});
      return st.shrink(ranges);
    }
    }
  }

  ShapeTracker twoViews() {
    while (true) {
      ShapeTracker st = ShapeTracker::contiguous(factors(in(2, 8) * in(2, 8) * in(1, 8)));
      for (int64_t n = in(1, 3); n > 0; --n)
        st = move(st);
      if (st.size().constant() > 4096)
        continue;
      // A reshape that did not merge, or a view of the same elements that was made on its own.
      ShapeTracker outer = ShapeTracker::contiguous(in(0, 2) ? factors(st.size().constant()) : Shape(st.shape()));
      for (int64_t n = in(0, 2); n > 0; --n)
        outer = move(outer);
      if (st.views().size() == 1 && outer.views().size() == 1)
        return ShapeTracker({st.views()[0], outer.views()[0]});
    }
  }

private:
  std::mt19937_64 engine_;
};

/// Processor time, so that a busy machine does not count.
double seconds(llvm::function_ref<void()> work) {
  std::clock_t begin = std::clock();
  work();
  return double(std::clock() - begin) / CLOCKS_PER_SEC;
}

} // namespace

int main() {
  Random random(1);
  std::vector<ShapeTracker> trackers;
  for (int i = 0; i < 10000; ++i)
    trackers.push_back(random.twoViews());
  size_t merged = 0, runs = 0;
  double best = 0;
  for (int round = 0; round < 10; ++round) {
    double time = seconds([&] {
      for (const ShapeTracker &st : trackers)
        merged += st.simplify().views().size() == 1;
    });
    runs += trackers.size();
    best = std::max(best, double(trackers.size()) / time);
  }
  llvm::outs() << "simplify, two static views: " << llvm::format("%.2f", best / 1e6) << " million a second, "
               << merged * 100 / runs << " % merged\n";
  for (int length : {100, 200, 400, 800}) {
    // Neighbours that do not merge, so that every pair is looked at.
    llvm::SmallVector<View, 1> views;
    for (int i = 0; i < length; ++i)
      views.push_back(i % 2 ? View::make({4, 6}, Shape{1, 4}) : View::make({3, 8}, Shape{1, 3}));
    ShapeTracker st(views);
    double time = seconds([&] {
      for (int n = 0; n < 20; ++n)
        st.simplify();
    });
    llvm::outs() << "simplify, " << length << " views: " << llvm::format("%.2f", time * 1e6 / 20 / length)
                 << " us a view\n";
  }
}
