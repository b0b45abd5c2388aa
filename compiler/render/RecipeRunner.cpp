#include "render/RecipeRunner.h"

#include "render/WeightData.h"

#include "ir/graph/Graph.h"
#include "support/Error.h"

#include "kiln/program.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

#include <cstring>

using namespace kiln;
using namespace kiln::render;

using Memory = std::unique_ptr<llvm::WritableMemoryBuffer>;

static int64_t numberOf(mlir::Value value) {
  llvm::APInt number;
  if (auto eval = value.getDefiningOp<host::EvalOp>())
    return eval.getExpr().getValue().constant();
  [[maybe_unused]] bool isConstant = mlir::matchPattern(value, mlir::m_ConstantInt(&number));
  assert(isConstant && "a recipe's sizes are fixed");
  return number.getSExtValue();
}

llvm::Expected<const target::LoadedKernel *> RecipeRunner::load(uop::FuncOp kernel) {
  std::string text;
  llvm::raw_string_ostream(text) << kernel;
  std::unique_ptr<target::LoadedKernel> &known = kernels_[text];
  if (!known) {
    llvm::Expected<std::unique_ptr<target::LoadedKernel>> loaded = runner_->load(kernel);
    if (!loaded)
      return loaded.takeError();
    known = std::move(*loaded);
  }
  return known.get();
}

llvm::Error RecipeRunner::run(mlir::ModuleOp recipe, const WeightSource &source) {
  ModelTables tables = modelTables(recipe);
  std::vector<Memory> held, results(tables.outputs.size());
  llvm::DenseMap<mlir::Value, char *> slices;
  auto allocate = [&](mlir::Value slice, int64_t bytes, Memory &memory) -> llvm::Error {
    memory = llvm::WritableMemoryBuffer::getNewUninitMemBuffer(bytes, "recipe", llvm::Align(KILN_ALIGNMENT));
    // A packed weight may have elements that no point of its domain stores.
    if (memory)
      std::memset(memory->getBufferStart(), 0, bytes);
    if (!memory)
      return failure("no memory for " + llvm::Twine(bytes) + " bytes of constants");
    slices[slice] = memory->getBufferStart();
    return llvm::Error::success();
  };
  auto launch = [&](host::LaunchOp op) -> llvm::Error {
    llvm::Expected<const target::LoadedKernel *> kernel =
        load(tables.kernels[tables.kernelIndex.at(op.getKernel())].function);
    if (!kernel)
      return kernel.takeError();
    std::vector<void *> buffers;
    for (mlir::Value buffer : op.getBuffers())
      buffers.push_back(slices.at(buffer));
    int64_t chunks = 1;
    for (mlir::Value size : op.getGrid())
      chunks *= numberOf(size);
    for (int64_t chunk = 0; chunk < chunks; ++chunk)
      (*kernel)->run(buffers.data(), nullptr, chunk);
    return llvm::Error::success();
  };
  // A model without inputs has no symbols and no control flow: its program is a list.
  for (mlir::Operation &op : tables.program.getBody().front()) {
    llvm::Error error =
        llvm::TypeSwitch<mlir::Operation *, llvm::Error>(&op)
            .Case([&](host::WeightOp weight) {
              const WeightEntry &entry = tables.weights[weight.getIndex()];
              Memory &memory = held.emplace_back();
              if (llvm::Error error = allocate(weight, entry.bytes, memory))
                return error;
              return readWeight(entry, source, memory->getBuffer());
            })
            .Case([&](host::OutputOp output) {
              auto port = llvm::cast<host::PortAttr>(tables.program.getOutputs()[output.getIndex()]);
              int64_t bytes = port.getType().getNumElements() * byteSize(port.getType().getElementType());
              return allocate(output, bytes, results[output.getIndex()]);
            })
            .Case<host::AllocOp, host::ArenaOp, host::ScratchOp>(
                [&](auto room) { return allocate(room, numberOf(room.getBytes()), held.emplace_back()); })
            .Case([&](host::OffsetOp offset) {
              slices[offset] = slices.at(offset.getSlice()) + numberOf(offset.getBytes());
              return llvm::Error::success();
            })
            .Case(launch)
            .Case<mlir::arith::ConstantOp, host::EvalOp, host::FreeOp, host::DoneOp>(
                [](mlir::Operation *) { return llvm::Error::success(); })
            .Default([](mlir::Operation *) -> llvm::Error { llvm_unreachable("no op of a recipe's program"); });
    if (error)
      return error;
  }
  results_ = std::move(results);
  made_ = recipe;
  return llvm::Error::success();
}

llvm::Expected<llvm::ArrayRef<char>> RecipeRunner::make(const WeightEntry &weight, const WeightSource &source) {
  if (made_ != weight.recipe) {
    made_ = {};
    results_.clear();
    if (llvm::Error error = run(weight.recipe, source))
      return error;
  }
  return results_[llvm::cast<graph::RecipeAttr>(weight.data).getOutput()]->getBuffer();
}
