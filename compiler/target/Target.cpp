//===- Target.cpp - Make a target from LLVM's tables --------------------------------===//
//
// A CPU is known by its features. Widths and registers follow from the widest vectors, native dtypes and rows from
// those that need no call; instructions that multiply small matrices are the rows of Products.def whose features it
// has.
//
//===----------------------------------------------------------------------------------===//
#include "target/Target.h"

#include "target/Times.h"

#include "ir/base/Products.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/TargetParser/Triple.h"

using namespace kiln;
using namespace kiln::target;

/// Rows without an instruction on any CPU.
static constexpr Alu kCalls[] = {Alu::EXP2, Alu::LOG2, Alu::EXP, Alu::LOG, Alu::SIN,
                                 Alu::COS,  Alu::TANH, Alu::ERF, Alu::POW, Alu::THREEFRY};
/// Rows that CPUs with vectors of 512 bits have, and that take several instructions otherwise.
static constexpr Alu kScaling = Alu::LDEXP;
static constexpr Alu kRoundings[] = {Alu::FLOOR, Alu::CEIL, Alu::ROUND, Alu::TRUNC};

static llvm::SmallVector<CacheAttr> cachesOf(const Cpu &cpu, mlir::MLIRContext *context) {
  llvm::SmallVector<CacheAttr> caches;
  for (auto [level, bytes] : llvm::enumerate(cpu.cacheBytes))
    caches.push_back(CacheAttr::get(context, bytes, /*shared=*/level + 1 == cpu.cacheBytes.size()));
  return caches;
}

llvm::StringRef target::featureOf(llvm::StringRef instruction) {
  const ProductRow *row = findProductRow(instruction);
  return row ? row->feature : "";
}

/// Typical rates are those of vectors of 256 bits. Sums of products, which registers hold, scale with the width of
/// vectors; element-wise work still waits for memory.
static RatesAttr ratesOf(int64_t vectorBits, mlir::MLIRContext *context) {
  RatesAttr rates = RatesAttr::typical(context);
  if (vectorBits <= 256)
    return rates;
  return rates.with("product-ops-per-ns", Rate{rates.getProductOpsPerNs() * double(vectorBits) / 256});
}

target::CacheRates target::cacheRates(TargetAttr target) {
  return {{{target.cacheBytes(2), times::kOwnCacheBytesPerNs}, {target.cacheBytes(3), times::kSharedCacheBytesPerNs}}};
}

TargetAttr target::cpuTarget(llvm::StringRef device, const Cpu &cpu, mlir::MLIRContext *context) {
  std::unique_ptr<llvm::MCSubtargetInfo> info = subtargetOf(cpu);
  auto has = [&](llvm::StringRef feature) { return info->checkFeatures("+" + feature.str()); };
  auto type = [&](DType dtype) { return elementType(context, dtype); };
  const llvm::Triple &triple = info->getTargetTriple();
  bool isArm = triple.isAArch64(), isArm32 = triple.isARM(), isX86 = triple.isX86(), isWide = isX86 && has("avx512f");

  llvm::SmallVector<int64_t> widths = {128};
  if (isWide || (isX86 && has("avx")))
    widths.push_back(256);
  if (isWide)
    widths.push_back(512);
  // Arm has 32, too. But its multiply-adds take no operand from memory: elements of rows are loaded in pairs, and
  // ahead, into six of them; otherwise each step would load and store totals.
  int64_t registers = isWide ? 32 : isArm ? 26 : triple.isArch64Bit() || isArm32 ? 16 : 8;

  llvm::SmallVector<ProductAttr> products;
  for (const ProductRow &row : productRows()) {
    if ((row.cpu == ProductCpu::X86 ? !isX86 : !isArm) || !has(row.feature))
      continue;
    bool isFast = !row.fastWith.empty() && has(row.fastWith);
    products.push_back(ProductAttr::get(context, row.name, type(row.a), type(row.b), type(row.sum), row.m, row.n, row.k,
                                        isFast ? row.fastSteps : row.steps));
  }

  llvm::SmallVector<mlir::Type> stores, emulates;
  auto hasOf = [&](llvm::StringRef arm, llvm::StringRef x86) { return isArm ? has(arm) : isX86 && has(x86); };
  bool computesHalf = hasOf("fullfp16", "avx512fp16");
  if (!computesHalf)
    (cpu.half ? stores : emulates).push_back(type(DType::F16));
  (hasOf("bf16", "avx512bf16") ? stores : emulates).push_back(type(DType::BF16));

  llvm::SmallVector<Alu> lacks(std::begin(kCalls), std::end(kCalls));
  if (!isWide)
    lacks.push_back(kScaling);
  if ((isX86 && !has("sse4.1")) || isArm32)
    llvm::append_range(lacks, kRoundings);

  bool fma = isArm || (isArm32 && has("vfp4")) || triple.isRISCV64() || (isX86 && (has("fma") || has("fma4")));
  bool lookups = isWide && has("avx512vbmi");
  return TargetAttr::get(context, device, cpu.name, cpu.features, VectorsAttr::get(context, registers, widths, lookups),
                         products, stores, emulates, lacks, fma, cachesOf(cpu, context), /*groups=*/{},
                         /*chunks=*/kMostChunks, /*panel=*/0, ratesOf(widths.back(), context));
}

TargetAttr target::recipeTarget(mlir::MLIRContext *context) {
  llvm::SmallVector<Alu> lacks(std::begin(kCalls), std::end(kCalls));
  lacks.push_back(kScaling);
  llvm::append_range(lacks, kRoundings);
  return TargetAttr::get(
      context, /*device=*/"cpu", /*cpu=*/"", /*features=*/"", VectorsAttr::get(context, 16, {128}, /*lookups=*/false),
      /*products=*/{}, /*stores=*/{}, {elementType(context, DType::F16), elementType(context, DType::BF16)}, lacks,
      /*fma=*/false, cachesOf(Cpu(), context), /*groups=*/{}, /*chunks=*/0, /*panel=*/0, RatesAttr::typical(context));
}

TargetAttr target::parseTarget(llvm::StringRef text, mlir::MLIRContext *context) {
  auto target = llvm::dyn_cast_or_null<TargetAttr>(mlir::parseAttribute(text, context));
  assert(target && "kiln wrote down a target that cannot be read");
  return target;
}

double target::typicalSize(view::Expr size, int64_t typical) {
  if (size.isConst())
    return size.constant();
  llvm::DenseMap<view::Expr, int64_t> values;
  size.forEachVariable(
      [&](view::Expr symbol) { values[symbol] = std::clamp<int64_t>(typical, symbol.min(), symbol.max()); });
  double value = double(size.evaluate(values).value_or(1));
  // Strides, one after the other, leave next to nothing of so small a picture, which would then cost nothing.
  return value < 2 ? double(std::clamp<int64_t>(typical, size.min(), size.max())) : value;
}

bool target::paysToHold(TargetAttr target, view::Expr length, mlir::Type element, double steps, size_t walks) {
  if (walks < 2 || steps * double(walks - 1) < kFewestHeldSteps || target.hasGroups() ||
      !(element.isF32() || element.isF64()))
    return false;
  int64_t bytes = element.getIntOrFloatBitWidth() / 8, lanes = target.vectorBits() / 8 / bytes;
  int64_t most = target.cacheBytes(2) / 2 / bytes;
  double points = typicalSize(length);
  return lanes > 1 && points >= double(lanes) && points <= double(most);
}
