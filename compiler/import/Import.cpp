#include "import/Import.h"

#include "import/Alias.h"
#include "import/CheckSizes.h"
#include "import/NarrowProducts.h"
#include "import/RaiseDefaults.h"
#include "ir/graph/Graph.h"
#include "ir/host/Host.h"
#include "support/Error.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace kiln;

static llvm::Error checkRank(llvm::StringRef kind, llvm::StringRef name, mlir::Type type) {
  int64_t rank = llvm::cast<mlir::RankedTensorType>(type).getRank();
  if (rank <= host::kMaxPortRank)
    return llvm::Error::success();
  return failure(kind + " '" + name + "': it has " + llvm::Twine(rank) + " axes, more than the " +
                     llvm::Twine(host::kMaxPortRank) + " of a program's inputs, outputs and weights",
                 "reshape it to fewer");
}

llvm::Error import::checkPorts(mlir::ModuleOp module) {
  auto main = module.lookupSymbol<mlir::func::FuncOp>("main");
  // One that assigns to its inputs has an effect without any.
  bool assigns = main.walk([](graph::AssignOp) { return mlir::WalkResult::interrupt(); }).wasInterrupted();
  if (main.getNumResults() == 0 && !assigns)
    return failure("the model has no output", "let @main return one");
  auto nameOf = [](mlir::StringAttr name) { return name ? name.getValue() : ""; };
  for (auto [index, type] : llvm::enumerate(main.getArgumentTypes()))
    if (llvm::Error error =
            checkRank("input", nameOf(main.getArgAttrOfType<mlir::StringAttr>(index, graph::kNameAttr)), type))
      return error;
  for (auto [index, type] : llvm::enumerate(main.getResultTypes()))
    if (llvm::Error error =
            checkRank("output", nameOf(main.getResultAttrOfType<mlir::StringAttr>(index, graph::kNameAttr)), type))
      return error;
  llvm::Error weights = llvm::Error::success();
  main.walk([&](graph::WeightOp weight) {
    llvm::consumeError(std::move(weights));
    weights = checkRank("weight", weight.getName(), weight.getType());
    return weights ? mlir::WalkResult::interrupt() : mlir::WalkResult::advance();
  });
  return weights;
}

/// The error with the file before it, of the same kind.
static llvm::Error inFile(llvm::StringRef path, llvm::Error error) {
  return llvm::handleErrors(std::move(error), [&](const UserError &known) {
    std::string text = (path + ": " + known.text()).str();
    return known.kind() == ErrorKind::Usage ? usageError(text) : failure(text);
  });
}

llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>
kiln::import::importModel(mlir::MLIRContext &context, llvm::StringRef path, const ImportOptions &options) {
  auto read = [&](const ImportOptions &with) {
    return path.ends_with(".json") ? importJson(context, path, with) : importOnnx(context, path, with);
  };
  auto module = read(options);
  if (!module)
    return module;
  if (llvm::Error error = checkPorts(**module))
    return failure(path + ": " + llvm::toString(std::move(error)));
  // A capacity bounds sizes, and consequences of bounds are known from the beginning.
  ImportOptions bounded = options;
  if (llvm::Error error = declareAliases(**module, options, bounded.dims))
    return inFile(path, std::move(error));
  if (bounded.dims.size() > options.dims.size()) {
    module = read(bounded);
    if (!module)
      return module;
    if (llvm::Error error = declareAliases(**module, bounded, bounded.dims))
      return inFile(path, std::move(error));
  }
  if (options.precision)
    narrowProducts(**module, elementType(&context, *options.precision));
  checkSizes(**module);
  raiseDefaults(**module);
  if (options.nodes)
    markUnread(**module, *options.nodes);
  return module;
}
