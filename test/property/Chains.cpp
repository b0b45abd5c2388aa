// Each movement is simple; what breaks is a combination that nobody thought of. So chains of movements are drawn at
// random and applied twice, to a ShapeTracker and to the model of Model.h, which keeps a plain list of elements. Both
// must read the same elements: as it is, simplified, with its symbols bound, and printed and read back. Reshapes
// regroup the factors of the dims, so that sizes always match.
#include "Chains.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>

using namespace kiln::test;
using namespace kiln::view;
using llvm::SmallVector;

/// Larger tensors only cost time, and so do dims of many terms.
static constexpr int64_t kMostElements = 600;
static constexpr uint32_t kMostWeight = 100;

namespace {

class Maker {
public:
  Maker(std::mt19937_64 &random, bool symbolic) : random_(random), symbolic_(symbolic) {
    if (!symbolic)
      return;
    for (const char *name : {"n", "m"}) {
      int64_t min = oneIn(3) ? 1 : 0, max = min + in(1, 6);
      Expr symbol = Expr::variable(name, min, max);
      symbols_.push_back(symbol);
      binding_[symbol] = in(min, max);
    }
  }

  Chain make(unsigned length) {
    Shape shape;
    for (int64_t rank = in(1, 4); rank > 0; --rank)
      shape.push_back(dim());
    while (sizeOf(valuesOf(shape)) > kMostElements)
      shape.pop_back();
    Chain chain{ShapeTracker::contiguous(shape), Model(valuesOf(shape)), binding_, tuple(shape)};
    auto isLarge = [](Expr size) { return size.weight() > kMostWeight; };
    for (unsigned i = 0; i < length && llvm::none_of(chain.tracker.shape(), isLarge); ++i)
      move(chain);
    return chain;
  }

private:
  int64_t in(int64_t low, int64_t high) { return std::uniform_int_distribution<int64_t>(low, high)(random_); }
  bool oneIn(int64_t n) { return in(1, n) == 1; }
  Expr symbol() { return symbols_[in(0, int64_t(symbols_.size()) - 1)]; }

  Expr dim() {
    if (!symbolic_ || oneIn(2))
      return oneIn(5) ? 1 : in(1, 6);
    switch (in(0, 4)) {
    case 0:
      return symbols_[0] * symbols_[1];
    case 1:
      return symbols_[0] + symbols_[1];
    case 2:
      return symbol() * Expr(in(2, 3));
    default:
      return symbol();
    }
  }

  int64_t valueOf(Expr e) { return *e.evaluate(binding_); }
  Numbers valuesOf(llvm::ArrayRef<Expr> shape) {
    Numbers values;
    for (Expr e : shape)
      values.push_back(valueOf(e));
    return values;
  }
  static std::string tuple(llvm::ArrayRef<Expr> shape) {
    SmallVector<std::string> parts;
    for (Expr e : shape)
      parts.push_back(e.print());
    return "(" + llvm::join(parts, ",") + ")";
  }

  void move(Chain &chain) {
    switch (in(0, 9)) {
    case 0:
      return permute(chain);
    case 1:
      return stride(chain);
    case 2:
      return expand(chain);
    case 3:
    case 4:
      return pad(chain);
    case 5:
      return shrink(chain);
    default:
      return reshape(chain);
    }
  }

  void permute(Chain &chain) {
    SmallVector<int64_t> axes(chain.tracker.shape().size());
    for (size_t i = 0; i < axes.size(); ++i)
      axes[i] = int64_t(i);
    std::shuffle(axes.begin(), axes.end(), random_);
    chain.tracker = chain.tracker.permute(axes);
    chain.model.permute(Numbers(axes.begin(), axes.end()));
    chain.text += " permute";
    for (int64_t axis : axes)
      chain.text += " " + std::to_string(axis);
  }

  void stride(Chain &chain) {
    SmallVector<int64_t> steps;
    bool flip = oneIn(2);
    chain.text += " stride";
    for (size_t i = 0; i < chain.tracker.shape().size(); ++i) {
      steps.push_back((oneIn(2) ? -1 : 1) * (flip || oneIn(2) ? 1 : in(2, 3)));
      chain.text += " " + std::to_string(steps.back());
    }
    chain.tracker = chain.tracker.stride(steps);
    chain.model.stride(Numbers(steps.begin(), steps.end()));
  }

  void expand(Chain &chain) {
    Shape shape(chain.tracker.shape());
    for (Expr &size : shape)
      if (size.isConst(1) && oneIn(2))
        size = dim();
    if (sizeOf(valuesOf(shape)) > kMostElements)
      return;
    chain.tracker = chain.tracker.expand(shape);
    chain.model.expand(valuesOf(shape));
    chain.text += " expand " + tuple(shape);
  }

  void pad(Chain &chain) {
    SmallVector<std::pair<Expr, Expr>> amounts;
    Pairs values;
    Numbers shape = chain.model.shape();
    std::string text = " pad";
    for (size_t i = 0; i < shape.size(); ++i) {
      auto amount = [&]() -> Expr { return oneIn(2) ? Expr(0) : symbolic_ && oneIn(2) ? symbol() : Expr(in(0, 3)); };
      Expr before = amount(), after = amount();
      amounts.push_back({before, after});
      values.push_back({valueOf(before), valueOf(after)});
      shape[i] += values.back().first + values.back().second;
      text += " " + before.print() + "," + after.print();
    }
    if (sizeOf(shape) > kMostElements)
      return;
    chain.tracker = chain.tracker.pad(amounts);
    chain.model.pad(values);
    chain.text += text;
  }

  void shrink(Chain &chain) {
    SmallVector<Range> ranges;
    Pairs values;
    chain.text += " shrink";
    for (Expr size : chain.tracker.shape()) {
      Range range{0, size};
      if (size.isConst() && oneIn(2)) {
        int64_t begin = in(0, size.constant());
        range = {begin, in(begin, size.constant())};
      } else if (size.kind() == Expr::Kind::Add && oneIn(2)) {
        // One part of a concatenation.
        Expr first = size.operands()[0], rest = size - first;
        if (first.min() >= 0 && rest.min() >= 0)
          range = oneIn(2) ? Range{0, first} : Range{first, size};
      } else if (!size.isConst() && oneIn(3)) {
        range = oneIn(2) ? Range{minimum(size, in(0, 2)), size} : Range{0, minimum(size, in(1, 3))};
      }
      ranges.push_back(range);
      values.push_back({valueOf(range.begin), valueOf(range.end)});
      chain.text += " " + range.begin.print() + ":" + range.end.print();
    }
    chain.tracker = chain.tracker.shrink(ranges);
    chain.model.shrink(values);
  }

  /// The factors of a dim; a sum is one.
  void factor(Expr size, llvm::SmallVectorImpl<Expr> &factors) {
    if (size.kind() == Expr::Kind::Mul) {
      factor(size.operands()[0], factors);
      factor(size.operands()[1], factors);
      return;
    }
    if (!size.isConst() || size.isConst(0)) {
      factors.push_back(size);
      return;
    }
    int64_t left = size.constant();
    for (int64_t p = 2; left > 1; ++p)
      for (; left % p == 0; left /= p)
        factors.push_back(p);
  }

  void reshape(Chain &chain) {
    SmallVector<Expr, 8> factors;
    for (Expr size : chain.tracker.shape())
      factor(size, factors);
    if (oneIn(4))
      std::shuffle(factors.begin(), factors.end(), random_);
    Shape shape;
    for (Expr f : factors) {
      if (shape.empty() || oneIn(2) || shape.back().weight() + f.weight() > kMostWeight / 2)
        shape.push_back(f);
      else
        shape.back() = shape.back() * f;
      if (oneIn(8))
        shape.push_back(1);
    }
    chain.tracker = chain.tracker.reshape(shape);
    chain.model.reshape(valuesOf(shape));
    chain.text += " reshape " + tuple(shape);
  }

  std::mt19937_64 &random_;
  bool symbolic_;
  SmallVector<Expr, 2> symbols_;
  Binding binding_;
};

} // namespace

Chain kiln::test::randomChain(std::mt19937_64 &random, unsigned length, bool symbolic) {
  return Maker(random, symbolic).make(length);
}

/// The elements that a tracker reads, by evaluating its expressions.
static std::optional<Numbers> elementsOf(const ShapeTracker &tracker, const Numbers &shape, const Binding &binding) {
  Shape position;
  for (size_t i = 0; i < shape.size(); ++i)
    position.push_back(Expr::variable("idx" + std::to_string(i), 0, tracker.shape()[i] - Expr(1)));
  Index here = tracker.at(position);
  Numbers elements;
  Binding values = binding;
  for (int64_t flat = 0; flat < sizeOf(shape); ++flat) {
    Numbers at = coordinates(shape, flat);
    for (size_t i = 0; i < shape.size(); ++i)
      if (!position[i].isConst())
        values[position[i]] = at[i];
    std::optional<int64_t> valid = here.valid.evaluate(values);
    if (!valid)
      return std::nullopt;
    std::optional<int64_t> index = *valid ? here.index.evaluate(values) : std::optional<int64_t>(-1);
    if (!index || (*valid && (*index > here.index.max() || *index < here.index.min())))
      return std::nullopt;
    elements.push_back(*index);
  }
  return elements;
}

static std::string compare(const char *what, const ShapeTracker &tracker, const Chain &chain) {
  std::optional<Numbers> got = elementsOf(tracker, chain.model.shape(), chain.binding);
  if (got == chain.model.elements())
    return "";
  return std::string(what) + " reads other elements: " + tracker.print() + "\n  index " + tracker.at().index.print() +
         "\n  valid " + tracker.at().valid.print();
}

std::string kiln::test::checkChain(const Chain &chain) {
  const ShapeTracker &tracker = chain.tracker;
  const Numbers &elements = chain.model.elements();
  Binding binding = chain.binding;
  for (auto [size, value] : llvm::zip(tracker.shape(), chain.model.shape()))
    if (size.evaluate(binding) != value)
      return "a dimension is " + size.print();
  if (std::string wrong = compare("the tracker", tracker, chain); !wrong.empty())
    return wrong;
  ShapeTracker simple = tracker.simplify();
  if (std::string wrong = compare("the simplified tracker", simple, chain); !wrong.empty())
    return wrong;

  llvm::DenseMap<Expr, Expr> values;
  for (auto [symbol, value] : binding)
    values[symbol] = value;
  Chain bound{tracker.substitute(values), chain.model, Binding(), ""};
  if (std::string wrong = compare("the bound tracker", bound.tracker, bound); !wrong.empty())
    return wrong;

  llvm::Expected<ShapeTracker> again = ShapeTracker::parse(tracker.print());
  if (!again)
    return llvm::toString(again.takeError());
  if (again->print() != tracker.print())
    return "the tracker prints as " + tracker.print() + " and reads back as " + again->print();

  if (std::any_of(elements.begin(), elements.end(), [](int64_t e) { return e >= 0; })) {
    std::optional<int64_t> size = tracker.realSize().evaluate(binding);
    if (!size || *size <= *std::max_element(elements.begin(), elements.end()))
      return "the real size is too small: " + tracker.realSize().print();
  }
  auto strides = tracker.realStrides();
  const Numbers &shape = chain.model.shape();
  for (size_t axis = 0, step = elements.size(); axis < strides.size() && !elements.empty(); ++axis) {
    step /= shape[axis];
    std::optional<int64_t> stride = strides[axis] ? strides[axis]->evaluate(binding) : std::nullopt;
    if (strides[axis] && !stride)
      return "a stride has no value";
    if (!stride)
      continue;
    for (size_t i = 0; i + step < elements.size(); ++i)
      if (int64_t(i / step) % shape[axis] != shape[axis] - 1 &&
          ((elements[i] < 0) != (elements[i + step] < 0) ||
           (elements[i] >= 0 && elements[i + step] - elements[i] != *stride)))
        return "the stride of axis " + std::to_string(axis) + " is not " + strides[axis]->print();
  }
  return "";
}
