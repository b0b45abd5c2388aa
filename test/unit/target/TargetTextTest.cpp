// A target as text.

#include "ir/base/Target.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"

#include <catch2/catch.hpp>

using namespace kiln;

namespace {

/// An attribute as it prints, or why it cannot be read.
std::string reprint(const std::string &text) {
  mlir::MLIRContext context;
  context.loadDialect<KilnDialect>();
  std::string printed;
  mlir::ScopedDiagnosticHandler handler(&context, [&](mlir::Diagnostic &problem) {
    if (printed.empty())
      printed = problem.str();
    return mlir::success();
  });
  if (mlir::Attribute attribute = mlir::parseAttribute(text, &context))
    llvm::raw_string_ostream(printed) << attribute;
  return printed;
}

const std::string kRates = "rates = <bytes_per_ns = 10, ops_per_ns = 0.1, product_ops_per_ns = 60, launch_ns = 200, "
                           "units = 1, tile_reuse = 8>";

} // namespace

TEST_CASE("every field of a target is read as it is printed") {
  std::string text =
      "#kiln.target<device = \"cpu\", cpu = \"znver4\", features = \"-avx512f\", "
      "vectors = <registers = 32, widths = [128, 256]>, "
      "products = [<\"vdpbf16ps\", bf16 * bf16 -> f32, m = 1, n = 16, k = 2>, "
      "<\"tdpbusd\", ui8 * i8 -> i32, m = 16, n = 16, k = 64>], "
      "stores = [f16], emulates = [bf16, f64], lacks = [exp, log2], fma = true, "
      "caches = [<bytes = 32768>, <bytes = 1024, shared = true>], "
      "groups = <items = 256, local_bytes = 32768, warp = 32, meets_in_branches = true>, chunks = 32, panel = 64, " +
      kRates + ">";
  CHECK(reprint(text) == text);
}

TEST_CASE("what a device does not have is not written") {
  std::string text = "#kiln.target<device = \"c\", " + kRates + ">";
  CHECK(reprint(text) == text);
}

TEST_CASE("an instruction is a row of the table") {
  auto product = [](const std::string &name, const std::string &dtypes, const std::string &k) {
    return reprint("#kiln.product<\"" + name + "\", " + dtypes + ", m = 1, n = 16, k = " + k + ">");
  };
  CHECK(product("vpdpwssd", "i16 * i16 -> i32", "2") ==
        "#kiln.product<\"vpdpwssd\", i16 * i16 -> i32, m = 1, n = 16, k = 2>");
  CHECK(product("vpdpwsd", "i16 * i16 -> i32", "2") == "kiln does not know the instruction \"vpdpwsd\"");
  CHECK(product("vpdpwssd", "i8 * i16 -> i32", "2") == "the instruction \"vpdpwssd\" multiplies other dtypes");
  CHECK(product("vpdpwssd", "i16 * i16 -> i32", "0") == "an instruction takes 1 row, column and term or more");
}

TEST_CASE("a rate is written in as few digits as say it") {
  auto rate = [](const std::string &number) {
    std::string text = reprint("#kiln.rates<bytes_per_ns = " + number +
                               ", ops_per_ns = 1, product_ops_per_ns = 1, launch_ns = 1, units = 1, tile_reuse = 1>");
    return llvm::StringRef(text).split("= ").second.split(',').first.str();
  };
  CHECK(rate("10") == "10");
  CHECK(rate("2.500") == "2.5");
  CHECK(rate("1.0e9") == "1.0e+09");
  CHECK(rate("0.30000000000000004") == "0.30000000000000004");
}

TEST_CASE("a target that cannot be is refused") {
  CHECK(reprint("#kiln.vectors<registers = 16, widths = []>").find("widths from 8 bits on") != std::string::npos);
  CHECK(reprint("#kiln.vectors<registers = 0, widths = [128]>").find("have registers") != std::string::npos);
  CHECK(reprint("#kiln.vectors<registers = 1, widths = [256, 128]>").find("narrow to wide") != std::string::npos);
  CHECK(reprint("#kiln.cache<bytes = 0>") == "a cache has bytes");
  CHECK(reprint("#kiln.groups<items = 0, local_bytes = 1>") == "a group has items");
  CHECK(reprint("#kiln.groups<items = 1, local_bytes = 1, warp = 12>") == "the items of a warp are a power of two");
  CHECK(reprint("#kiln.rates<bytes_per_ns = 0, ops_per_ns = 1, product_ops_per_ns = 1, launch_ns = 1, units = 1, "
                "tile_reuse = 1>") == "a rate is a finite number above 0");
}
