//===- Target.cpp - A target's parts as attributes, and questions about them ---------===//
//
// A target arrives as text, from a device's table or from a dump that somebody may have changed. So the verifiers
// refuse what no device can be: passes trust a rate to be positive, and an instruction to be one of Products.def.
// Questions that several passes ask are answered here, lest two of them believe different things of one device.
//
//===-------------------------------------------------------------------------------===//
#include "ir/base/Target.h"

#include "ir/base/Products.h"

#include "llvm/Support/Format.h"

#include <cmath>

using namespace kiln;
using namespace mlir;

AsmPrinter &kiln::operator<<(AsmPrinter &printer, Rate rate) {
  for (int digits = 6; digits <= 17; ++digits) { // a double has no more than 17
    std::string text;
    llvm::raw_string_ostream(text) << llvm::format("%.*g", digits, rate.value);
    double read;
    if (digits < 17 && (llvm::StringRef(text).getAsDouble(read) || read != rate.value))
      continue;
    // A float of MLIR's has a point.
    size_t exponent = text.find('e');
    if (exponent != std::string::npos && text.find('.') == std::string::npos)
      text.insert(exponent, ".0");
    printer.getStream() << text;
    break;
  }
  return printer;
}

FailureOr<Rate> FieldParser<Rate>::parse(AsmParser &parser) {
  llvm::SMLoc where = parser.getCurrentLocation();
  int64_t number;
  double value;
  OptionalParseResult integer = parser.parseOptionalInteger(number);
  if (integer.has_value()) {
    if (failed(*integer))
      return failure();
    value = double(number);
  } else if (parser.parseFloat(value))
    return failure();
  if (!std::isfinite(value) || value <= 0)
    return parser.emitError(where) << "a rate is a finite number above 0";
  return Rate{value};
}

RatesAttr RatesAttr::typical(MLIRContext *context) { return get(context, {10}, {10}, {60}, {200}, {1}, {8}); }

llvm::ArrayRef<llvm::StringLiteral> RatesAttr::names() {
  static constexpr llvm::StringLiteral names[] = {"bytes-per-ns", "ops-per-ns", "product-ops-per-ns",
                                                  "launch-ns",    "units",      "tile-reuse"};
  return names;
}

RatesAttr RatesAttr::with(llvm::StringRef name, Rate value) const {
  Rate rates[] = {getBytesPerNs(), getOpsPerNs(), getProductOpsPerNs(), getLaunchNs(), getUnits(), getTileReuse()};
  const auto *found = llvm::find(names(), name);
  assert(found != names().end() && "no such rate");
  rates[found - names().begin()] = value;
  return get(getContext(), rates[0], rates[1], rates[2], rates[3], rates[4], rates[5]);
}

LogicalResult VectorsAttr::verify(llvm::function_ref<InFlightDiagnostic()> emitError, int64_t registers,
                                  ArrayRef<int64_t> widths, bool) {
  if (registers <= 0 || widths.empty() || widths.front() < 8 || !llvm::is_sorted(widths))
    return emitError() << "vectors have registers, and widths from 8 bits on, from narrow to wide";
  return success();
}

LogicalResult CacheAttr::verify(llvm::function_ref<InFlightDiagnostic()> emitError, int64_t bytes, bool) {
  return bytes > 0 ? success() : LogicalResult(emitError() << "a cache has bytes");
}

LogicalResult ProductAttr::verify(llvm::function_ref<InFlightDiagnostic()> emitError, StringRef name, Type a, Type b,
                                  Type sum, int64_t m, int64_t n, int64_t k, int64_t) {
  const ProductRow *row = findProductRow(name);
  if (!row)
    return emitError() << "kiln does not know the instruction \"" << name << '"';
  if (dtypeOf(a) != row->a || dtypeOf(b) != row->b || dtypeOf(sum) != row->sum)
    return emitError() << "the instruction \"" << name << "\" multiplies other dtypes";
  return m > 0 && n > 0 && k > 0 ? success()
                                 : LogicalResult(emitError() << "an instruction takes 1 row, column and term or more");
}

LogicalResult GroupsAttr::verify(llvm::function_ref<InFlightDiagnostic()> emitError, int64_t items, int64_t localBytes,
                                 int64_t warp, bool) {
  if (warp <= 0 || !llvm::isPowerOf2_64(warp))
    return emitError() << "the items of a warp are a power of two";
  return items > 0 && localBytes >= 0 ? success() : LogicalResult(emitError() << "a group has items");
}

TargetAttr TargetAttr::unknown(MLIRContext *context) {
  return get(context, /*device=*/"", /*cpu=*/"", /*features=*/"", /*vectors=*/{}, /*products=*/{}, /*stores=*/{},
             /*emulates=*/{}, /*lacks=*/{}, /*fma=*/false, /*caches=*/{}, /*groups=*/{}, /*chunks=*/0, /*panel=*/0,
             RatesAttr::typical(context));
}

int64_t TargetAttr::vectorBits() const { return getVectors() ? getVectors().getWidths().back() : 0; }
int64_t TargetAttr::vectorRegisters() const { return getVectors() ? getVectors().getRegisters() : 0; }
bool TargetAttr::hasLookups() const { return getVectors() && getVectors().getLookups(); }
bool TargetAttr::hasGroups() const { return bool(getGroups()); }
int64_t TargetAttr::maxItems() const { return getGroups() ? getGroups().getItems() : 0; }
int64_t TargetAttr::localBytes() const { return getGroups() ? getGroups().getLocalBytes() : 0; }
int64_t TargetAttr::warpItems() const { return getGroups() ? getGroups().getWarp() : 1; }
bool TargetAttr::meetsInBranches() const { return !getGroups() || getGroups().getMeetsInBranches(); }

int64_t TargetAttr::cacheBytes(unsigned level) const {
  assert(level > 0 && "levels count from 1");
  return level <= getCaches().size() ? getCaches()[level - 1].getBytes() : 0;
}

/// The first instruction for these dtypes that `fits`, of those that passes make; null if none does.
static ProductAttr findProduct(TargetAttr target, Type a, Type b, Type sum,
                               llvm::function_ref<bool(ProductAttr)> fits) {
  for (ProductAttr product : target.getProducts())
    if (product.getA() == a && product.getB() == b && product.getSum() == sum && fits(product) &&
        findProductRow(product.getName())->isMade)
      return product;
  return nullptr;
}

ProductAttr TargetAttr::matrixProduct(Type a, Type b, Type sum) const {
  return findProduct(*this, a, b, sum, [](ProductAttr product) { return product.getM() > 1; });
}

ProductAttr TargetAttr::dotProduct(Type a, Type b, Type sum) const {
  auto isDot = [](ProductAttr product) { return product.getM() == 1 && product.getSteps() > 0; };
  ProductAttr dot = findProduct(*this, a, b, sum, isDot);
  return dot ? dot : findProduct(*this, b, a, sum, isDot);
}

ProductAttr TargetAttr::fastProduct(Type a, Type b, Type sum) const {
  if (ProductAttr matrices = matrixProduct(a, b, sum))
    return matrices;
  ProductAttr dot = dotProduct(a, b, sum);
  return dot && dot.getK() > dot.getSteps() ? dot : nullptr;
}

bool TargetAttr::isNative(Type dtype) const {
  return !llvm::is_contained(getStores(), dtype) && !llvm::is_contained(getEmulates(), dtype);
}

TargetAttr TargetAttr::withCpu(llvm::StringRef cpu, llvm::StringRef features) const {
  return get(getContext(), getDevice(), cpu, features, getVectors(), getProducts(), getStores(), getEmulates(),
             getLacks(), getFma(), getCaches(), getGroups(), getChunks(), getPanel(), getRates());
}

TargetAttr TargetAttr::withPanel(int64_t bytes) const {
  return get(getContext(), getDevice(), getCpu(), getFeatures(), getVectors(), getProducts(), getStores(),
             getEmulates(), getLacks(), getFma(), getCaches(), getGroups(), getChunks(), bytes, getRates());
}

TargetAttr TargetAttr::withRates(RatesAttr rates) const {
  return get(getContext(), getDevice(), getCpu(), getFeatures(), getVectors(), getProducts(), getStores(),
             getEmulates(), getLacks(), getFma(), getCaches(), getGroups(), getChunks(), getPanel(), rates);
}

TargetAttr kiln::targetOf(ModuleOp module) {
  auto target = module->getAttrOfType<TargetAttr>(kTargetAttr);
  return target ? target : TargetAttr::unknown(module.getContext());
}
