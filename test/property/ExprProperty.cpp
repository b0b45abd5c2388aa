//===- ExprProperty.cpp - Random expressions against their meaning --------===//
//
//   ExprProperty [--cases N] [--seed S]
//
// Builds each expression twice: with kiln's constructors, which simplify, and as plain numbers at every point. Divisors
// may be symbolic and 0: there the expression has no value, and anything may stand for it.
//
//===----------------------------------------------------------------------===//
#include "view/Expr.h"

#include <CLI/CLI.hpp>

#include <iostream>
#include <random>

using namespace kiln::view;

namespace {

using Values = std::vector<std::optional<int64_t>>;

/// An expression and its value at every point, empty where it has none.
struct Case {
  Expr expr;
  Values values;
};

class Maker {
public:
  explicit Maker(uint64_t seed) : random_(seed) {
    static const char *names[] = {"x", "y", "z"};
    points_.emplace_back();
    for (const char *name : names) {
      int64_t min = oneIn(3) ? in(-6, 4) : 0;
      Expr variable = Expr::variable(name, min, min + in(1, 7));
      if (oneIn(4) && !variables_.empty() && variables_[0].min() >= 1)
        variable = Expr::variable(name, 0, variables_[0] - Expr(1));
      extend(variable);
    }
  }

  Case make(int depth) {
    if (depth == 0 || oneIn(8))
      return leaf();
    Case a = make(depth - 1), b = oneIn(2) ? constant(in(-8, 24)) : make(depth - 1);
    switch (in(0, 9)) {
    case 0:
      return {minimum(a.expr, b.expr), each(a, b, [](int64_t x, int64_t y) { return std::min(x, y); })};
    case 1:
      return {maximum(a.expr, b.expr), each(a, b, [](int64_t x, int64_t y) { return std::max(x, y); })};
    case 2:
      return {less(a.expr, b.expr), each(a, b, [](int64_t x, int64_t y) { return x < y; })};
    case 3:
    case 4:
      return {a.expr * b.expr, each(a, b, [](int64_t x, int64_t y) { return x * y; })};
    case 5:
    case 6:
      return {floorDiv(a.expr, b.expr), each(a, b, floorDivide)};
    case 7:
      return {mod(a.expr, b.expr), each(a, b, [](int64_t x, int64_t y) -> std::optional<int64_t> {
                std::optional<int64_t> q = floorDivide(x, y);
                return q ? std::optional(x - *q * y) : std::nullopt;
              })};
    default:
      return {a.expr + b.expr, each(a, b, [](int64_t x, int64_t y) { return x + y; })};
    }
  }

  Case condition() {
    Case result{1, Values(points_.size(), 1)};
    for (int64_t n = in(1, 3); n > 0; --n) {
      Case a = make(1), b = constant(in(-4, 12));
      Case c = oneIn(2) ? Case{less(a.expr, b.expr), each(a, b, [](int64_t x, int64_t y) { return x < y; })}
                        : Case{greaterEqual(a.expr, b.expr), each(a, b, [](int64_t x, int64_t y) { return x >= y; })};
      result = {logicalAnd({result.expr, c.expr}), each(result, c, [](int64_t x, int64_t y) { return x && y; })};
    }
    return result;
  }

  std::string check(const Case &c) {
    for (size_t i = 0; i < points_.size(); ++i)
      if (c.values[i] && c.expr.evaluate(points_[i]) != c.values[i])
        return "has another value than " + std::to_string(*c.values[i]) + at(i);
      else if (c.values[i] && (*c.values[i] < c.expr.min() || *c.values[i] > c.expr.max()))
        return "has bounds that leave out " + std::to_string(*c.values[i]) + at(i);
    llvm::Expected<Expr> again = Expr::parse(c.expr.print());
    if (!again)
      return llvm::toString(again.takeError());
    return *again == c.expr ? "" : "reads back as " + again->print();
  }

  std::string checkUnder(const Case &c, const Case &condition) {
    Expr simple = simplifyUnder(c.expr, condition.expr);
    if (simple.weight() > c.expr.weight())
      return "grows under " + condition.expr.print() + " to " + simple.print();
    for (size_t i = 0; i < points_.size(); ++i)
      if (c.values[i] && condition.values[i] == 1 && simple.evaluate(points_[i]) != c.values[i])
        return "becomes " + simple.print() + " under " + condition.expr.print() + at(i);
    return "";
  }

private:
  int64_t in(int64_t low, int64_t high) { return std::uniform_int_distribution<int64_t>(low, high)(random_); }
  bool oneIn(int64_t n) { return in(1, n) == 1; }

  static std::optional<int64_t> floorDivide(int64_t x, int64_t y) {
    if (y == 0)
      return std::nullopt;
    return x / y - (x % y != 0 && (x < 0) != (y < 0));
  }

  void extend(Expr variable) {
    variables_.push_back(variable);
    std::vector<llvm::DenseMap<Expr, int64_t>> points;
    for (const auto &point : points_) {
      int64_t max = variable.isConst() || !variable.limit() ? variable.max() : *variable.limit()->evaluate(point);
      for (int64_t v = variable.min(); v <= max; ++v) {
        points.push_back(point);
        if (!variable.isConst())
          points.back()[variable] = v;
      }
    }
    points_ = std::move(points);
  }

  Case constant(int64_t value) { return {value, Values(points_.size(), value)}; }
  Case leaf() {
    Expr variable = variables_[in(0, int64_t(variables_.size()) - 1)];
    Values values;
    for (const auto &point : points_)
      values.push_back(variable.evaluate(point));
    return {variable, values};
  }

  static std::optional<int64_t> toOptional(std::optional<int64_t> value) { return value; }

  template <typename Op> Values each(const Case &a, const Case &b, Op op) {
    Values values;
    for (size_t i = 0; i < points_.size(); ++i)
      values.push_back(a.values[i] && b.values[i] ? toOptional(op(*a.values[i], *b.values[i]))
                                                  : std::optional<int64_t>());
    return values;
  }

  std::string at(size_t i) {
    std::string text = " at";
    for (Expr v : variables_)
      text += " " + v.render() + "=" + std::to_string(*v.evaluate(points_[i]));
    return text;
  }

  std::mt19937_64 random_;
  std::vector<Expr> variables_;
  std::vector<llvm::DenseMap<Expr, int64_t>> points_;
};

} // namespace

int main(int argc, char **argv) {
  uint64_t seed = 1, cases = 1000;
  CLI::App app("Random expressions against brute force");
  app.add_option("--seed", seed, "the first case's seed; the next ones follow");
  app.add_option("--cases", cases, "how many cases");
  CLI11_PARSE(app, argc, argv);

  uint64_t failed = 0;
  for (uint64_t i = 0; i < cases && failed < 10; ++i) {
    Maker maker(seed + i);
    Case c = maker.make(4);
    std::string wrong = maker.check(c);
    if (wrong.empty())
      wrong = maker.checkUnder(c, maker.condition());
    if (wrong.empty())
      continue;
    ++failed;
    std::cout << "seed " << seed + i << ": " << c.expr.print() << " " << wrong << "\n";
  }
  std::cout << "seeds " << seed << " to " << seed + cases - 1 << ": " << failed << " failed" << std::endl;
  return failed != 0;
}
