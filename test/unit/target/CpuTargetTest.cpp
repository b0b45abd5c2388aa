// What LLVM's tables of a CPU become.

#include "ir/base/DType.h"
#include "target/Target.h"

#include "mlir/IR/MLIRContext.h"

#include <catch2/catch.hpp>

using namespace kiln;

namespace {

struct Described {
  explicit Described(llvm::StringRef cpu, llvm::StringRef features = "") {
    context.loadDialect<KilnDialect>();
    target = target::cpuTarget("cpu", llvm::cantFail(target::describeCpu(cpu, features)), &context);
  }
  bool stores(DType dtype) const {
    return llvm::is_contained(target.getStores(), elementType(target.getContext(), dtype));
  }
  std::vector<std::string> products() const {
    std::vector<std::string> names;
    for (ProductAttr product : target.getProducts())
      names.push_back(product.getName().str());
    return names;
  }
  mlir::MLIRContext context;
  TargetAttr target;
};

using Names = std::vector<std::string>;

} // namespace

#if defined(__x86_64__)
TEST_CASE("the least CPU has SSE2: rounding is a call, and half floats are made of integers") {
  Described d("x86-64");
  CHECK(d.target.vectorBits() == 128);
  CHECK(d.target.vectorRegisters() == 16);
  CHECK_FALSE(d.target.isNative(Alu::FLOOR));
  CHECK_FALSE(d.stores(DType::F16));
  CHECK_FALSE(d.target.getFma());
}

TEST_CASE("AVX2 brings FMA and conversions of half floats") {
  Described d("x86-64-v3");
  CHECK(d.target.vectorBits() == 256);
  CHECK(d.target.vectorRegisters() == 16);
  CHECK(d.target.isNative(Alu::FLOOR));
  CHECK_FALSE(d.target.isNative(Alu::EXP));
  CHECK(d.stores(DType::F16));
  CHECK_FALSE(d.stores(DType::BF16));
  CHECK(d.target.getFma());
  CHECK(d.products() == Names{"vpmaddwd"});
}

TEST_CASE("AVX-512 has 32 registers, in three widths") {
  Described d("x86-64-v4");
  CHECK(d.target.getVectors().getWidths() == llvm::ArrayRef<int64_t>({128, 256, 512}));
  CHECK(d.target.vectorRegisters() == 32);
}

TEST_CASE("sums of products go with the width of vectors beyond 256 bits, what is element-wise does not") {
  Described wide("x86-64-v4"), narrow("x86-64-v3"), least("x86-64");
  double typical = narrow.target.getRates().getProductOpsPerNs();
  CHECK(double(wide.target.getRates().getProductOpsPerNs()) == 2 * typical);
  CHECK(double(least.target.getRates().getProductOpsPerNs()) == typical);
  CHECK(double(wide.target.getRates().getOpsPerNs()) == double(narrow.target.getRates().getOpsPerNs()));
}

TEST_CASE("AVX-512 BF16 is a row of dot products") {
  Described d("znver4");
  CHECK(d.products() == Names{"vdpbf16ps", "vpdpbusd", "vpdpwssd", "vpmaddwd.zmm", "vpmaddwd"});
  ProductAttr dot = d.target.getProducts().front();
  CHECK(dot.getM() == 1);
  CHECK(dot.getN() == 16);
  CHECK(dot.getK() == 2);
  CHECK(d.stores(DType::BF16));
}

TEST_CASE("AMX is rows of matrix products, and AVX-512 FP16 computes in half floats") {
  Described d("sapphirerapids");
  CHECK(llvm::is_contained(d.products(), "tdpbf16ps"));
  CHECK(llvm::is_contained(d.products(), "tdpbssd"));
  CHECK(d.target.isNative(elementType(&d.context, DType::F16)));
  CHECK_FALSE(d.target.isNative(elementType(&d.context, DType::BF16)));
}

TEST_CASE("features count where they differ from what the CPU's name says") {
  CHECK(Described("x86-64-v4", "-avx512f").target.vectorBits() == 256);
  CHECK(Described("x86-64-v3", "+avx512f").target.vectorBits() == 512);
}
#endif

TEST_CASE("this machine is its CPU's name and what differs from it, which describes it again") {
  target::Cpu native = llvm::cantFail(target::describeCpu(""));
  target::Cpu again = llvm::cantFail(target::describeCpu(native.name, native.features));
  CHECK(again.required == native.required);
  CHECK(again.half == native.half);
}

TEST_CASE("a size that only a run knows counts as neither one nor many") {
  view::Expr n = view::Expr::variable("n", 0, view::kMaxDim), few = view::Expr::variable("few", 1, 4);
  CHECK(target::typicalSize(7) == 7);
  CHECK(target::typicalSize(n) == 16);
  CHECK(target::typicalSize(n * 2) == 32);
  CHECK(target::typicalSize(few) == 4);
  // The rest of a picture of 16 rows after strides would cost nothing.
  CHECK(target::typicalSize(floorDiv(n + 15, 16) - 1) == 16);
  CHECK(target::typicalSize(floorDiv(n, 16)) == 16);
  CHECK(target::typicalSize(minimum(n, 1)) == 1);
}
