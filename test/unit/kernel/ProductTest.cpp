// A sum of products and its operands, in kernels of 4 rows, 8 columns and 16 terms.

#include "ir/kernel/Product.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Parser/Parser.h"

#include <catch2/catch.hpp>

using namespace kiln;
using namespace kiln::kernel;

namespace {

/// A kernel whose reduces are in `body`. %x moves along rows and terms, %w along columns and terms, and of %w's dtype
/// %z along columns alone; %s is one float for each column.
struct Kernel {
  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  mutable FuncOp func;

  explicit Kernel(const std::string &body, const std::string &x = "f32", const std::string &w = "f32") {
    context.loadDialect<KilnDialect, KernelDialect>();
    auto load = [](const std::string &name, int buffer, const std::string &strides, const std::string &dtype) {
      return "%" + name + " = kernel.load %b" + std::to_string(buffer) + " <\"(4,8,16):(" + strides + ")\"> : <" +
             dtype + "> -> " + dtype + "\n";
    };
    std::string text = "kernel.func @k(%b0: !kernel.buffer<f32>, %b1: !kernel.buffer<" + x + ">, %b2: !kernel.buffer<" +
                       w + ">, %b3: !kernel.buffer<" + w + ">, %b4: !kernel.buffer<f32>) attributes {axes = [" +
                       "#kernel.axis<0, <4>, loop>, #kernel.axis<1, <8>, loop>, #kernel.axis<2, <16>, loop>], " +
                       "domain = #kiln.dims<[4, 8, 16]>, index = #kiln.dims<[\"_x0{0..3}\", \"_x1{0..7}\", " +
                       "\"_x2{0..15}\"]>, opts = [], scratch = #kiln.dims<[]>, sizes = #kiln.dims<[]>} {\n" +
                       load("x", 1, "16,0,1", x) + load("w", 2, "0,1,8", w) + load("z", 3, "0,1,0", w) +
                       load("s", 4, "0,1,0", "f32") + body +
                       "kernel.store %sum, %b0 <\"(4,8,1):(8,1,0)\"> : f32, <f32>\n}";
    module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
    REQUIRE(module);
    func = *module->getOps<FuncOp>().begin();
  }
  LoadOp load(unsigned buffer) const {
    for (auto load : func.getBody().getOps<LoadOp>())
      if (load.getBuffer() == func.getArgument(buffer))
        return load;
    return nullptr;
  }
};

} // namespace

TEST_CASE("an operand that is one load") {
  Kernel kernel("%p = kernel.alu mul %x, %w : (f32, f32) -> f32\n%sum = kernel.reduce add %p over [2] : f32\n");
  std::optional<Product> product = onlyProductOf(kernel.func);
  REQUIRE(product);
  CHECK(product->operands[0].onlyLoad() == kernel.load(1));
  CHECK(product->operands[1].onlyLoad() == kernel.load(2));
  CHECK(product->operands[1].widestLoad() == kernel.load(2));
  CHECK(!product->isNarrow());
  CHECK(product->sum().isF32());
}

TEST_CASE("operands that are widened for the product") {
  Kernel kernel("%a = kernel.alu cast %x : (bf16) -> f32\n%b = kernel.alu cast %w : (bf16) -> f32\n"
                "%p = kernel.alu mul %a, %b : (f32, f32) -> f32\n%sum = kernel.reduce add %p over [2] : f32\n",
                "bf16", "bf16");
  std::optional<Product> product = onlyProductOf(kernel.func);
  REQUIRE(product);
  CHECK(product->isNarrow());
  CHECK(product->operands[1].narrow == kernel.load(2).getResult());
  CHECK(product->operands[1].onlyLoad() == kernel.load(2));
  CHECK(readOperand(product->operands[1].value) == kernel.load(2).getResult());
}

TEST_CASE("an operand less a zero point, times a scale") {
  Kernel kernel("%c = kernel.alu cast %w : (i8) -> f32\n%d = kernel.alu cast %z : (i8) -> f32\n"
                "%n = kernel.alu neg %d : (f32) -> f32\n%e = kernel.alu add %c, %n : (f32, f32) -> f32\n"
                "%v = kernel.alu mul %e, %s : (f32, f32) -> f32\n"
                "%p = kernel.alu mul %x, %v : (f32, f32) -> f32\n%sum = kernel.reduce add %p over [2] : f32\n",
                "f32", "i8");
  std::optional<Product> product = onlyProductOf(kernel.func);
  REQUIRE(product);
  const Operand &columns = product->operands[1];
  CHECK(!columns.onlyLoad());
  CHECK(columns.widestLoad() == kernel.load(2));
  CHECK(sourcesOf(columns.value).loads.size() == 3);
  CHECK(!columns.narrow);
}

TEST_CASE("an operand that is a sum has no load of its own") {
  Kernel kernel("%m = kernel.reduce max %x over [2] : f32\n%a = kernel.alu mul %m, %x : (f32, f32) -> f32\n"
                "%p = kernel.alu mul %a, %w : (f32, f32) -> f32\n%sum = kernel.reduce add %p over [2] : f32\n");
  CHECK(!onlyProductOf(kernel.func)); // of two reduces
  auto reduces = kernel.func.getBody().getOps<ReduceOp>();
  CHECK(!productOf(*reduces.begin())); // the largest
  std::optional<Product> product = productOf(*std::next(reduces.begin()));
  REQUIRE(product);
  CHECK(sourcesOf(product->operands[0].value).hasReduce);
  CHECK(!product->operands[0].onlyLoad());
  CHECK(!product->operands[0].widestLoad());
}
