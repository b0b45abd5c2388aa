#include "RandomInputs.h"

#include "RunModel.h"
#include "ir/base/NarrowDType.h"
#include "ir/base/ObjectType.h"
#include "ir/graph/Graph.h"
#include "support/Error.h"

#include "kiln/cli.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"

using namespace kiln;
using namespace kiln::driver;
using interp::HostTensor;

llvm::Error driver::checkSizes(mlir::ModuleOp graph, const Sizes &sizes) {
  llvm::SetVector<view::Expr> known; // those that data has are nobody's to choose
  for (mlir::BlockArgument input : graph.lookupSymbol<mlir::func::FuncOp>("main").getArguments())
    for (view::Expr size : shapeOf(input))
      size.forEachVariable([&](view::Expr variable) { known.insert(variable); });
  auto names = llvm::map_range(known, [](view::Expr symbol) { return symbol.name(); });
  for (const auto &[name, size] : sizes) {
    auto symbol = llvm::find_if(known, [&](view::Expr each) { return each.name() == name; });
    if (symbol == known.end())
      return usageError("--at names '" + name + "', which is not a size of the model",
                        known.empty() ? "it has none" : "it has " + llvm::join(names, ", "));
    if (size < symbol->min() || size > symbol->max())
      return usageError("--at " + name + "=" + llvm::Twine(size) + ": the size lies outside of " +
                            llvm::Twine(symbol->min()) + " to " + llvm::Twine(symbol->max()),
                        "give one of these, or other bounds with --dim");
  }
  return llvm::Error::success();
}

/// The value of every symbol of the graph.
static llvm::DenseMap<view::Expr, int64_t> symbolValues(mlir::ModuleOp graph, const Sizes &sizes) {
  llvm::DenseMap<view::Expr, int64_t> values;
  for (auto symbol : graph->getAttrOfType<mlir::ArrayAttr>(graph::kSymbolsAttr).getAsRange<SymbolAttr>()) {
    auto given = sizes.find(symbol.getName());
    values[view::Expr::variable(symbol.getName(), symbol.getMin(), symbol.getMax())] =
        given == sizes.end() ? symbol.getValue() : given->second;
  }
  return values;
}

static HostTensor randomTensor(mlir::Type element, llvm::ArrayRef<int64_t> dims, uint64_t stream) {
  HostTensor tensor = HostTensor::zeros(*dtypeOf(storageType(element)), dims);
  kiln_tensor view = {};
  view.data = tensor.bytes.data();
  view.dtype = static_cast<kiln_dtype>(runtimeDType(element));
  view.rank = static_cast<int32_t>(dims.size());
  llvm::copy(dims, view.dims);
  // A sum of products that cancel keeps no digits to compare, so most of the numbers are positive.
  kiln_random_fill(&view, /*seed=*/0, stream, /*mean=*/0.5);
  if (view.dtype == KILN_STRING)
    tensor.objects = std::make_shared<char>(); // the words are always there
  return tensor;
}

/// Three tensors; a size that is not fixed is 2, a rank 1.
static HostTensor randomList(mlir::Type held, uint64_t stream) {
  llvm::SmallVector<int64_t> dims = {2};
  if (auto ranked = llvm::dyn_cast<mlir::RankedTensorType>(held))
    dims.assign(ranked.getShape().begin(), ranked.getShape().end());
  for (int64_t &size : dims)
    if (size < 0)
      size = 2;
  std::vector<HostTensor> tensors;
  for (uint64_t i = 1; i <= 3; ++i)
    tensors.push_back(randomTensor(mlir::getElementTypeOrSelf(held), dims, stream + (i << 32)));
  return listOf(std::move(tensors));
}

llvm::Expected<std::vector<HostTensor>> driver::randomInputs(mlir::ModuleOp graph, const Sizes &sizes) {
  llvm::DenseMap<view::Expr, int64_t> values = symbolValues(graph, sizes);
  auto main = graph.lookupSymbol<mlir::func::FuncOp>("main");
  std::vector<HostTensor> inputs;
  for (mlir::BlockArgument input : main.getArguments()) {
    if (main.getArgAttr(input.getArgNumber(), graph::kValueAttr)) {
      inputs.emplace_back();
      continue;
    }
    interp::Dims dims;
    for (view::Expr size : shapeOf(input)) {
      std::optional<int64_t> value = size.evaluate(values);
      if (!value || *value < 0)
        return failure("input " + llvm::Twine(input.getArgNumber()) + ": its size " + size.print() + " has no value",
                       "give it with --at, or a default with --dim");
      dims.push_back(*value);
    }
    auto element = mlir::cast<mlir::RankedTensorType>(input.getType()).getElementType();
    auto port = main.getArgAttrOfType<mlir::TypeAttr>(input.getArgNumber(), kPortDTypeAttr);
    if (port)
      element = port.getValue();
    inputs.push_back(isContainer(element) ? randomList(heldTensor(element), input.getArgNumber())
                                          : randomTensor(element, dims, input.getArgNumber()));
  }
  return inputs;
}
