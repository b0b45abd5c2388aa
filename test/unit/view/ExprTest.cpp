// Views compare expressions by identity, and kernels lose a mask where a bound proves it. So two ways of writing the
// same must become one node, whichever thread writes it, and a bound must be tight but never wrong. The tests are laws
// of that kind on small expressions, among them sizes that are symbols, where division and modulo have to simplify
// without knowing a number.
#include "view/Expr.h"

#include <catch2/catch.hpp>

#include <thread>

using namespace kiln::view;

static Expr var(const char *name, int64_t min, int64_t max) { return Expr::variable(name, min, max); }

TEST_CASE("equal expressions are one node, in whatever order they were built") {
  Expr b = var("b", 1, 8), s = var("s", 0, 512);
  CHECK(b + s == s + b);
  CHECK(b * s * Expr(48) == Expr(48) * s * b);
  CHECK((b + Expr(1)) * s == s + s * b);
  CHECK(var("b", 1, 8) == b);
  CHECK(var("b", 1, 9) != b);
  CHECK(Expr(3) + Expr(4) == Expr(7));
  CHECK(Expr(INT64_MAX) == Expr(INT64_MAX));
}

TEST_CASE("threads that build the same expression get the same node") {
  std::vector<std::thread> threads;
  std::vector<Expr> results(8);
  for (size_t i = 0; i < results.size(); ++i)
    threads.emplace_back([&results, i] {
      for (int n = 0; n < 200; ++n)
        results[i] = mod(floorDiv(var("threaded", 0, 1000) * Expr(3) + var("other", 0, n + 5), 7), 5);
    });
  for (std::thread &t : threads)
    t.join();
  for (Expr e : results)
    CHECK(e == results[0]);
}

TEST_CASE("bounds follow from the operands") {
  Expr x = var("x", 2, 9), y = var("y", -3, 4);
  CHECK((x * Expr(-2) + y).min() == -21);
  CHECK((x * Expr(-2) + y).max() == 0);
  CHECK((x * y).min() == -27);
  CHECK(floorDiv(y, 2).min() == -2);
  CHECK(mod(y, 5).max() == 4);
  CHECK(minimum(x, y).max() == 4);
  Expr huge = var("huge", 0, INT64_MAX);
  CHECK((huge * Expr(4)).max() == INT64_MAX);
  CHECK((huge * Expr(-4) - huge).min() == -INT64_MAX);
}

TEST_CASE("an index that stays below a symbolic size divides away") {
  Expr n = var("n", 0, 512), b = var("b", 0, 64);
  Expr i = Expr::variable("i", 0, n - Expr(1)), j = Expr::variable("j", 0, b - Expr(1));
  CHECK((n - i).min() == 1);
  CHECK(floorDiv(j * n + i, n) == j);
  CHECK(mod(j * n + i, n) == i);
  CHECK(floorDiv((j * n + i) * Expr(48) + var("k", 0, 47), 48) == j * n + i);
  CHECK(less(i, n).isConst(1));
  CHECK(less(j * n + i, b * n).isConst(1));
}

TEST_CASE("a place inside an axis divides away, also where the axis may have no element") {
  Expr size = Expr::variable("w", 0, 2147483647);
  Expr first = maximum(minimum(size - 1, 1), 0), last = maximum(size - 2, 0);
  for (Expr place : {first, last})
    for (Expr divisor : {size, maximum(size, 1)}) {
      CHECK(floorDiv(place, divisor) == Expr(0));
      CHECK(mod(place, divisor) == place);
    }
  CHECK(floorDiv(minimum(size, 1), size) != Expr(0)); // 1 where the size is
}

TEST_CASE("division and modulo simplify through what divides what") {
  Expr x = var("x", 0, 15), y = var("y", 0, 3);
  CHECK(floorDiv(x * Expr(4) + y, 4) == x);
  CHECK(mod(x * Expr(4) + y, 4) == y);
  CHECK(floorDiv(x * Expr(4) + y, 8) == floorDiv(x, 2));
  CHECK(mod(floorDiv(x, 4), 4) == floorDiv(x, 4));
  CHECK(floorDiv(x, 4) * Expr(4) + mod(x, 4) == x);
  CHECK(floorDiv(x + Expr(20), 5) - floorDiv(x, 5) == Expr(4));
  CHECK(floorDiv(Expr(-7), 2) == Expr(-4));
  Expr odd = var("odd", 0, 1);
  CHECK(floorDiv(odd + Expr(1), 2) == odd);
  CHECK(floorDiv(odd + Expr(7), 4) == odd + Expr(1));
  CHECK(floorDiv(-odd, 3) == -odd);
  CHECK(mod(odd + Expr(7), 4) == Expr(3) - odd * Expr(3));
  CHECK(mod(Expr(-7), 3) == Expr(2));
  CHECK(ceilDiv(x, 16).max() == 1);
  // Without the offset by which a negative numerator would be divided.
  CHECK(ceilDiv(x, 16) == floorDiv(x + 15, 16));
}

TEST_CASE("parts of a size of wide bounds are counted without constants of that width") {
  Expr n = var("n", 0, INT32_MAX);
  CHECK(ceilDiv(n, 5) == floorDiv(n + 4, 5));
  CHECK(ceilDiv(n * Expr(5), 5) == n);
  CHECK((ceilDiv(n, 5) * ceilDiv(n, 56) * Expr(1120)).evaluate({{n, 11}}) == 3 * 1120);
}

TEST_CASE("symbols divide as polynomials") {
  Expr b = var("b", 0, 64), s = var("s", 0, 512), past = var("past", 0, 512);
  CHECK(*exactQuotient(b * s * Expr(48), s * Expr(6)) == b * Expr(8));
  CHECK(*exactQuotient((past + s) * b, past + s) == b);
  CHECK(!exactQuotient(b * s, s * s));
  CHECK(floorDiv(b * (past + s), b) == past + s);
}

TEST_CASE("comparisons have one form") {
  Expr x = var("x", 0, 15), y = var("y", 0, 3), n = var("n", 0, 99);
  CHECK(greaterEqual(x, 1).render() == "((x*-1)<0)");
  CHECK(less(x * Expr(4) + y, 8) == less(x, 2));
  CHECK(less(floorDiv(x, 4), 2) == less(x, 8));
  CHECK(less(x, n).render() == "(x<n)");
  CHECK(less(x - n, 0) == less(x, n));
  CHECK(logicalAnd({less(x, 3), less(x, 5), less(x, 3)}) == less(x, 3));
  CHECK(logicalAnd({less(x, 3), greaterEqual(x, 5)}).isConst(0));
  CHECK(logicalAnd({}).isConst(1));
}

TEST_CASE("terms that move together bound a sum") {
  Expr h = var("h", 0, kMaxDim), n = var("n", 0, kMaxDim), x = var("x", -9, kMaxDim);
  CHECK((h - floorDiv(h, 2) * Expr(2)).min() >= 0);
  CHECK((floorDiv(h + 3, 4) * Expr(2) - floorDiv(h + 1, 2)).min() == 0);
  CHECK((floorDiv(h + 3, 4) * Expr(2) - floorDiv(h + 1, 2)).max() > 0);
  CHECK(minimum(floorDiv(h + 3, 4) - 1, floorDiv(h + 1, 4)) == floorDiv(h + 3, 4) - 1);
  CHECK(maximum(h, minimum(h, n)) == h);
  CHECK(minimum(h, maximum(n, h)) == h);
  CHECK(maximum(h, maximum(h - 3, 0)) == h);
  CHECK((n + h - minimum(n, h)).min() == 0);
  CHECK(maximum(x, 0) * Expr(3) + n - maximum(-x, 0) * Expr(3) == n + x * Expr(3));
  CHECK(maximum(x, 0) - maximum(-x, 0) * Expr(3) != x);
  // Products, each factor at one of its ends.
  Expr rows = var("rows", 1, kMaxDim), rest = var("rest", 0, 3);
  CHECK((rows * n - n).min() == 0);
  CHECK(((rows * Expr(4) - rest) * (rows * Expr(2) - rest)).min() < 0); // not linear in rows
  CHECK(((rows * Expr(4) - rest) * (n + 1)).min() == 1);
  CHECK((h * n - n).min() == -kMaxDim);
  // Not where the terms only look alike.
  CHECK(maximum(x, maximum(x - 3, 0)) != x);
  CHECK((floorDiv(h, 2) * Expr(2) - h).min() < 0);
  CHECK((floorDiv(h, 2) - floorDiv(n, 2)).min() < 0);
}

TEST_CASE("terms that share nothing with a product leave its bounds as tight") {
  Expr n = var("n", 0, 1 << 20), i = var("i", 0, 1), j = var("j", 0, 1);
  Expr sum = (n + 1) * (Expr(3) - i - j * Expr(2));
  for (const char *name : {"a", "b", "c", "d", "e"})
    sum = sum + var(name, 0, 12);
  CHECK(sum.min() == 0);
}

TEST_CASE("what a symbolic divisor is a multiple of cuts the numerator") {
  Expr n = var("n", 1, 512), many = var("many", 0, 1 << 20), c = var("c", 0, 95), wide = var("wide", 0, 96);
  CHECK(floorDiv(many * Expr(96) + c, n * Expr(96)) == floorDiv(many, n));
  CHECK(floorDiv(many * Expr(96) + c, n * Expr(4704)) == floorDiv(many, n * Expr(49)));
  CHECK(mod(many * Expr(96) + c, n * Expr(96)) == mod(many, n) * Expr(96) + c);
  CHECK(floorDiv(many * Expr(96) + wide, n * Expr(96)) != floorDiv(many, n));
  Expr either = var("either", -3, 3);
  CHECK(floorDiv(many * Expr(96) + c, either * Expr(96)) != floorDiv(many, either));
}

TEST_CASE("what a condition implies simplifies what stands under it") {
  Expr x = var("x", 0, 15), y = var("y", 0, 15);
  CHECK(simplifyUnder(mod(x, 8), less(x, 6)) == x);
  CHECK(simplifyUnder(floorDiv(x, 8), greaterEqual(x, 8)).isConst(1));
  CHECK(simplifyUnder(mod(x + y, 16), less(x + y, 10)) == x + y);
  CHECK(simplifyUnder(x, less(y, 3)) == x);
}

TEST_CASE("a division less is simpler than terms that are fewer") {
  Expr x = var("x", 0, 15), y = var("y", 0, 15), c = var("c", 0, 63);
  Expr wrapped = mod(x + y - 15, 32) * Expr(64) + c;
  CHECK(simplifyUnder(wrapped, less(14, x + y)) == (x + y - 15) * Expr(64) + c);
}

TEST_CASE("substitution replaces variables and simplifies again") {
  Expr n = var("n", 0, 512), i = Expr::variable("i", 0, n - Expr(1));
  Expr e = floorDiv(i, 8) + n;
  CHECK(e.substitute({{n, Expr(8)}}) == Expr(8));
  CHECK(e.evaluate({{n, 20}, {i, 17}}) == 22);
  CHECK(!e.evaluate({{n, 20}}));
  CHECK(!floorDiv(Expr(7), n).evaluate({{n, 0}}));
}

TEST_CASE("expressions print and read back") {
  Expr x = var("x", 0, 15), n = var("n", 0, kMaxDim), odd = var("batch size/2", 1, 4);
  Expr i = Expr::variable("i", 0, n - Expr(1));
  Expr cases[] = {
      x, n,     odd,        Expr(-5),          i + odd,       x * n * Expr(-3) + Expr(1),          floorDiv(x, 3),
      i, x - n, less(x, n), mod(x + n, 7) - i, minimum(x, n), logicalAnd({less(x, 3), less(n, 9)})};
  for (Expr e : cases) {
    INFO(e.print());
    llvm::Expected<Expr> again = Expr::parse(e.print());
    REQUIRE(bool(again));
    CHECK(*again == e);
  }
  CHECK((x * Expr(80) + Expr(-16)).render() == "((x*80)+-16)");
  CHECK(*Expr::parse(" 2*n - 3 ") == n * Expr(2) - Expr(3));
}

TEST_CASE("what is not an expression is refused with its place") {
  for (const char *text : {"", "(", "1+", "x{3..1}", "x{0..", "min(1)", "1 2", "\"open", "99999999999999999999"}) {
    INFO(text);
    llvm::Expected<Expr> e = Expr::parse(text);
    REQUIRE(!e);
    CHECK(llvm::toString(e.takeError()).find("column") != std::string::npos);
  }
}

TEST_CASE("a division by a product is one by its factors, where a remainder is provably one") {
  Expr h = var("h", 0, 512), w = var("w", 0, 512), c = var("c", 0, 64);
  Expr y = Expr::variable("y", 0, h - Expr(1)), x = Expr::variable("x", 0, w - Expr(1));
  Expr flat = c * h * w + y * w + x;
  CHECK(floorDiv(flat, h * w * 4) == floorDiv(c, 4));
  CHECK(mod(flat, h * w * 4) == mod(c, 4) * h * w + y * w + x);
  CHECK(floorDiv(y * w * 2 + x, h * w) == floorDiv(y * 2, h));
  CHECK(mod(y * w * 2 + x, h * w) == mod(y * 2, h) * w + x);
}

TEST_CASE("a numerator is moved up to 0 by few numbers only") {
  // By 2^32 it would make strides of such sizes pass 64 bits.
  Expr p = var("p", -kMaxDim, kMaxDim), q = var("q", -kMaxDim, kMaxDim), x = var("x", 0, kMaxDim);
  CHECK(floorDiv(x + p + q, 2).render() == "((p+q+x)//2)");
  CHECK(floorDiv(x + p + q + Expr(3), 2) == floorDiv(x + p + q + Expr(1), 2) + Expr(1));
  CHECK(mod(x + p, 2).render() == "((p+x)%2)");
  CHECK(floorDiv(x - Expr(1), 2).render() == "(((1+x)//2)+-1)");
}

TEST_CASE("a quotient and a constant are two terms of a product") {
  Expr h = var("h", 0, kMaxDim), n = var("n", 0, kMaxDim);
  Expr size = floorDiv(h + Expr(3), 4) + Expr(5), i = Expr::variable("i", 0, size - Expr(1));
  CHECK(size * n - floorDiv(h + Expr(3), 4) * n == n * Expr(5));
  CHECK(floorDiv(n * size + i, size) == n);
  CHECK(mod(n * (size + Expr(3)) + i, size + Expr(3)) == i);
}

TEST_CASE("whole symbolic sizes are compared without what is inside one") {
  Expr h = var("h", 0, 1000), w = var("w", 0, 1000), row = var("row", 0, 1000);
  Expr column = Expr::variable("column", 0, w - 1), pair = Expr::variable("pair", 0, w - 1);
  CHECK(less(row * w + column, h * w) == less(row, h));
  CHECK(greaterEqual(row * w + column, h * w) == greaterEqual(row, h));
  CHECK(less(row * w * 2 + pair * 2 + 1, h * w * 2) == less(row, h));
  CHECK(greaterEqual(row * w * 2 + pair * 2 + 1, h * w * 2) == greaterEqual(row, h));
  CHECK(less(row * w + column, h * w + 1) != less(row, h));
}
