#include "import/onnx/control/CountedLoop.h"

#include "import/onnx/Importer.h"

using namespace kiln;
using namespace kiln::import;
using namespace kiln::import::onnx;
using mlir::Value;

llvm::SmallVector<Value> kiln::import::onnx::countedLoop(Node &n, Expr trips, llvm::ArrayRef<Value> inits,
                                                         llvm::function_ref<IterationResult(const Iteration &)> body) {
  TensorBuilder &b = n.builder();
  if (llvm::is_contained(inits, Value()))
    return {};
  if (trips.isConst(1)) {
    IterationResult once = body({0, b.size(0), inits});
    for (Value slice : once.slices)
      once.carried.push_back(b.unsqueeze(slice, {0}));
    return b.ok() ? once.carried : llvm::SmallVector<Value>();
  }
  Value count = b.size(trips);
  auto region = std::make_unique<mlir::Region>();
  mlir::Block &block = region->emplaceBlock();
  IterationResult result;
  {
    mlir::OpBuilder::InsertionGuard guard(b.builder());
    b.builder().setInsertionPointToEnd(&block);
    Value number = block.addArgument(mlir::RankedTensorType::get({}, b.int64()), b.location());
    llvm::SmallVector<Value> carried;
    for (Value init : inits)
      carried.push_back(block.addArgument(init.getType(), b.location()));
    SymbolBounds bounds;
    bounds.max = std::clamp<int64_t>(trips.max() - 1, 0, bounds.max);
    bounds.value = 0;
    // If there is at most one step, its number is known.
    Expr index = 0;
    if (bounds.max > 0)
      index = n.importer().bind(n.scope().prefix() + n.op().str() + ".step", number, b, bounds);
    result = body({index, number, carried});
    if (!b.ok())
      return {};
    assert((!result.goesOn || result.slices.empty()) && "as many slices as trips");
    llvm::SmallVector<Value> yields{result.goesOn ? result.goesOn : b.constant(1, b.boolType())};
    yields.append(result.carried);
    yields.append(result.slices);
    graph::YieldOp::create(b.builder(), b.location(), yields);
  }
  llvm::SmallVector<mlir::Type> types(mlir::ValueRange(inits).getTypes());
  for (Value slice : result.slices) {
    Shape stacked = b.shape(slice);
    stacked.insert(stacked.begin(), trips);
    types.push_back(tensorType(stacked, b.element(slice)));
  }
  auto op = graph::LoopOp::create(b.builder(), b.location(), types, count, /*condition=*/Value(), inits);
  op.getBody().takeBody(*region);
  return llvm::SmallVector<Value>(op->result_begin(), op->result_end());
}
