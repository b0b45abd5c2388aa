#include "import/onnx/Registry.h"

#include "import/onnx/Microsoft.h"

using namespace kiln::import::onnx;

const Registry &Registry::all() {
  static const Registry registry = [] {
    Registry r;
    addActivations(r);
    addAttention(r);
    addClassical(r);
    addControlFlow(r);
    addEinsum(r);
    addElementwise(r);
    addExperts(r);
    addGatedLayers(r);
    addImageLayers(r);
    addImages(r);
    addIndexing(r);
    addLabelEncoder(r);
    addLinearModels(r);
    addLosses(r);
    addMicrosoft(r);
    addMicrosoftQuantization(r);
    addMovement(r);
    addNGrams(r);
    addNormalizations(r);
    addPackedWeights(r);
    addPooling(r);
    addProducts(r);
    addQuantization(r);
    addRandom(r);
    addRecurrent(r);
    addReductions(r);
    addResizing(r);
    addRotaryEmbeddings(r);
    addSampling(r);
    addScatters(r);
    addSelections(r);
    addSequences(r);
    addShapes(r);
    addSignals(r);
    addStrings(r);
    addSupportVectors(r);
    addText(r);
    addTokens(r);
    addTraining(r);
    addTrees(r);
    addUnfolding(r);
    return r;
  }();
  return registry;
}

std::string Registry::key(llvm::StringRef domain, llvm::StringRef name) {
  return ((domain == "ai.onnx" ? "" : domain) + ":" + name).str();
}

const Registry::Row *Registry::find(llvm::StringRef domain, llvm::StringRef name) const {
  auto found = rows_.find(key(domain, name));
  return found == rows_.end() ? nullptr : &found->second;
}

bool Registry::hasDomain(llvm::StringRef domain) const {
  std::string prefix = key(domain, "");
  return llvm::any_of(rows_, [&](const auto &row) { return row.first().starts_with(prefix); });
}

std::vector<std::string> Registry::names() const {
  std::vector<std::string> names;
  for (const auto &row : rows_)
    names.push_back(row.first().ltrim(':').str());
  llvm::sort(names);
  return names;
}
