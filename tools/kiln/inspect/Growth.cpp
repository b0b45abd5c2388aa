#include "Growth.h"

#include "ir/base/Base.h"
#include "ir/graph/Graph.h"
#include "ir/host/Host.h"
#include "support/Quote.h"

#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FormatVariadic.h"

using namespace kiln;
using namespace kiln::driver;

/// An artefact that is larger than its model by less than this, or by less than a part of it, needs no reason.
static constexpr int64_t kUnnoticedBytes = 1 << 20;
static constexpr double kUnnoticedPart = 0.2;

static int64_t bytesOf(host::WeightAttr weight) {
  return weight.getType().getNumElements() * byteSize(weight.getType().getElementType());
}

static llvm::SmallVector<host::WeightAttr> weightsOf(mlir::ModuleOp module) {
  llvm::SmallVector<host::WeightAttr> weights;
  for (auto program : module.getOps<host::ProgramOp>())
    llvm::append_range(weights, program.getWeights().getAsRange<host::WeightAttr>());
  return weights;
}

/// The model's weights that a recipe reads, also through recipes that it builds on.
static void addSources(mlir::ModuleOp module, mlir::ModuleOp recipe, llvm::StringSet<> &names, int64_t &bytes) {
  for (host::WeightAttr source : weightsOf(recipe)) {
    auto made = llvm::dyn_cast<graph::RecipeAttr>(source.getData());
    auto inner = made ? module.lookupSymbol<mlir::ModuleOp>(made.getModel()) : nullptr;
    if (inner)
      addSources(module, inner, names, bytes);
    else if (names.insert(source.getName()).second)
      bytes += bytesOf(source);
  }
}

Growth driver::growthOf(mlir::ModuleOp module) {
  Growth growth;
  llvm::StringSet<> there; // the model's weights that are in the artefact in some form
  llvm::SmallVector<host::WeightAttr> weights = weightsOf(module);
  for (host::WeightAttr weight : weights)
    if (!llvm::isa<graph::RecipeAttr>(weight.getData()))
      there.insert(weight.getName());
  int64_t mostTwice = 0, mostWidened = 0;
  std::string twice, widened;
  for (host::WeightAttr weight : weights) {
    growth.weightBytes += bytesOf(weight);
    auto made = llvm::dyn_cast<graph::RecipeAttr>(weight.getData());
    auto recipe = made ? module.lookupSymbol<mlir::ModuleOp>(made.getModel()) : nullptr;
    if (!recipe)
      continue;
    llvm::StringSet<> sources;
    int64_t from = 0, own = bytesOf(weight);
    addSources(module, recipe, sources, from);
    std::string repeated;
    for (const auto &source : sources)
      if (!there.insert(source.getKey()).second)
        repeated = source.getKey().str();
    bool isTwice = !repeated.empty();
    if (isTwice)
      growth.twiceBytes += own;
    else
      growth.widenedBytes += std::max<int64_t>(own - from, 0);
    if (isTwice && own > mostTwice) {
      mostTwice = own;
      twice = repeated;
    } else if (!isTwice && own - from > mostWidened) {
      mostWidened = own - from;
      widened = weight.getName().str();
    }
  }
  growth.largest = growth.twiceBytes >= growth.widenedBytes ? twice : widened;
  return growth;
}

std::string driver::sizeText(double bytes) {
  static constexpr llvm::StringLiteral kUnits[] = {"B", "kB", "MB", "GB"};
  size_t unit = 0;
  for (; bytes >= 999.5 && unit + 1 < std::size(kUnits); ++unit)
    bytes /= 1e3;
  return llvm::formatv(bytes < 9.95 && unit > 0 ? "{0:F1} {1}" : "{0:F0} {1}", bytes, kUnits[unit]).str();
}

std::string driver::growthText(const Growth &growth, int64_t bytes, int64_t modelBytes) {
  int64_t more = bytes - modelBytes;
  if (more < kUnnoticedBytes || double(more) < kUnnoticedPart * double(modelBytes))
    return "";
  std::string text = sizeText(double(more)) + " more than the model";
  bool isTwice = growth.twiceBytes >= growth.widenedBytes;
  int64_t weights = isTwice ? growth.twiceBytes : growth.widenedBytes;
  if (2 * weights < more)
    return text;
  text += ": weights take " + sizeText(double(weights)) + " more ";
  text += isTwice ? "since kernels read them in different orders" : "in the form that kernels compute with";
  return text + ", above all '" + plainText(growth.largest) + "'";
}
