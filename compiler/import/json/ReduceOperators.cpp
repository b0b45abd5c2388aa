//===- ReduceOperators.cpp - Reductions and running sums ---------------------===//
#include "import/json/Operators.h"

using namespace kiln;
using namespace kiln::import;
using namespace kiln::import::json;
using mlir::Value;

using Reduction = Value (TensorBuilder::*)(Value, llvm::ArrayRef<int64_t>, bool);
using Moment = Value (TensorBuilder::*)(Value, llvm::ArrayRef<int64_t>, bool, int64_t);
using Position = Value (TensorBuilder::*)(Value, int64_t, bool, mlir::Type, bool);

template <Reduction function> static Results reduction(Node &node) {
  Value x = node.tensor(0);
  return (node.b.*function)(x, node.axes(x), node.flag("keepdims"));
}

template <Moment function> static Results moment(Node &node) {
  Value x = node.tensor(0);
  return (node.b.*function)(x, node.axes(x), node.flag("keepdims"), node.integer("correction", 1));
}

template <Position function> static Results position(Node &node) {
  return (node.b.*function)(node.tensor(0), node.integer("axis"), node.flag("keepdims"),
                            node.dtype("dtype", node.b.int32()), node.flag("last"));
}

/// The bare primitive: no change of dtype.
static Results reduce(Node &node) {
  Value x = node.tensor(0);
  std::optional<Alu> kind = symbolizeAlu(node.word("kind", ""));
  if (!kind)
    return node.b.fail("the attribute 'kind' is missing", "it is add, mul, max or min");
  return node.b.reduce(*kind, x, node.axes(x), node.flag("keepdims"));
}

static Results cumsum(Node &node) {
  return node.b.cumsum(node.tensor(0), node.integer("axis"), node.flag("exclusive"), node.flag("reverse"));
}

llvm::ArrayRef<Operator> kiln::import::json::reduceOperators() {
  using T = TensorBuilder;
  static const Operator table[] = {
      {"reduce", 1, 1, {"kind", "axes", "keepdims"}, reduce},
      {"sum", 1, 1, {"axes", "keepdims"}, reduction<&T::sum>},
      {"prod", 1, 1, {"axes", "keepdims"}, reduction<&T::prod>},
      {"max", 1, 1, {"axes", "keepdims"}, reduction<&T::max>},
      {"min", 1, 1, {"axes", "keepdims"}, reduction<&T::min>},
      {"mean", 1, 1, {"axes", "keepdims"}, reduction<&T::mean>},
      {"l1", 1, 1, {"axes", "keepdims"}, reduction<&T::l1>},
      {"l2", 1, 1, {"axes", "keepdims"}, reduction<&T::l2>},
      {"logsumexp", 1, 1, {"axes", "keepdims"}, reduction<&T::logSumExp>},
      {"var", 1, 1, {"axes", "keepdims", "correction"}, moment<&T::var>},
      {"std", 1, 1, {"axes", "keepdims", "correction"}, moment<&T::stddev>},
      {"argmax", 1, 1, {"axis", "keepdims", "dtype", "last"}, position<&T::argMax>},
      {"argmin", 1, 1, {"axis", "keepdims", "dtype", "last"}, position<&T::argMin>},
      {"cumsum", 1, 1, {"axis", "exclusive", "reverse"}, cumsum},
  };
  return table;
}
