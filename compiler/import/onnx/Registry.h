//===- Registry.h - The table of operators ----------------------------------===//
//
// An operator is a row: domain, name, the first opset that has it, and the function that imports it. That function
// handles differences between opsets (Node::opset). docs/adding-an-op.md adds one.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "import/onnx/Importer.h"
#include "import/onnx/Node.h"

#include <functional>

namespace kiln::import::onnx {

using Tensors = llvm::SmallVector<Tensor, 1>;

/// Gives the node's outputs in order. Null tensors, or none, after a failure.
using ImportOperator = std::function<Tensors(Node &node, TensorBuilder &b)>;

class Registry {
public:
  /// All operators.
  static const Registry &all();

  /// `import` is called with (Node &, TensorBuilder &) and gives a Tensor, a Value or Tensors.
  template <typename F> void add(llvm::StringRef domain, llvm::StringRef name, int64_t since, F import) {
    rows_[key(domain, name)] = {since, [import](Node &node, TensorBuilder &b) -> Tensors {
                                  if constexpr (std::is_convertible_v<decltype(import(node, b)), Tensor>)
                                    return {Tensor(import(node, b))};
                                  else
                                    return import(node, b);
                                }};
  }
  /// An operator of ONNX's own domain.
  template <typename F> void add(llvm::StringRef name, int64_t since, F import) { add("", name, since, import); }

  struct Row {
    int64_t since;
    ImportOperator import;
  };
  /// Null if there is no such operator.
  const Row *find(llvm::StringRef domain, llvm::StringRef name) const;
  bool hasDomain(llvm::StringRef domain) const;
  /// All operators by name, sorted; those of other domains as "domain:Name".
  std::vector<std::string> names() const;

private:
  static std::string key(llvm::StringRef domain, llvm::StringRef name);
  llvm::StringMap<Row> rows_;
};

// The families, a file each.
void addActivations(Registry &registry);
void addAttention(Registry &registry);
void addClassical(Registry &registry);
void addControlFlow(Registry &registry);
void addEinsum(Registry &registry);
void addElementwise(Registry &registry);
void addIf(Registry &registry);
void addImages(Registry &registry);
void addIndexing(Registry &registry);
void addLabelEncoder(Registry &registry);
void addLinearModels(Registry &registry);
void addLosses(Registry &registry);
void addMicrosoft(Registry &registry);
void addMicrosoftQuantization(Registry &registry);
void addMovement(Registry &registry);
void addNormalizations(Registry &registry);
void addPooling(Registry &registry);
void addProducts(Registry &registry);
void addQuantization(Registry &registry);
void addRandom(Registry &registry);
void addRecurrent(Registry &registry);
void addReductions(Registry &registry);
void addResizing(Registry &registry);
void addSampling(Registry &registry);
void addScatters(Registry &registry);
void addSelections(Registry &registry);
void addSequences(Registry &registry);
void addShapes(Registry &registry);
void addSignals(Registry &registry);
void addStrings(Registry &registry);
void addSupportVectors(Registry &registry);
void addText(Registry &registry);
void addTraining(Registry &registry);
void addTrees(Registry &registry);
void addUnfolding(Registry &registry);

} // namespace kiln::import::onnx
