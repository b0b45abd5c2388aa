//===- ModelOperators.cpp - Matrix products, norms and attention -------------===//
#include "import/json/Operators.h"

#include <cmath>

using namespace kiln;
using namespace kiln::import;
using namespace kiln::import::json;
using mlir::Value;

static llvm::SmallVector<int64_t> normAxes(Node &node) {
  return node.has("axes") ? node.integers("axes") : llvm::SmallVector<int64_t>{-1};
}

static Results linear(Node &node) {
  Value product = node.b.matmul(node.tensor(0), node.tensor(1));
  return node.inputs() > 2 ? node.b.add(product, node.operand(2)) : product;
}

static Results layerNorm(Node &node) {
  return node.b.layerNorm(node.tensor(0), normAxes(node), node.number("epsilon", 1e-5), node.tensor(1), node.tensor(2));
}

static Results rmsNorm(Node &node) {
  return node.b.rmsNorm(node.tensor(0), normAxes(node), node.number("epsilon", 1e-5), node.tensor(1));
}

static Results batchNorm(Node &node) {
  return node.b.batchNorm(node.tensor(0), node.tensor(1), node.tensor(2), node.tensor(3), node.tensor(4),
                          node.number("epsilon", 1e-5));
}

static Results groupNorm(Node &node) {
  return node.b.groupNorm(node.tensor(0), node.integer("groups"), node.tensor(1), node.tensor(2),
                          node.number("epsilon", 1e-5));
}

static Results instanceNorm(Node &node) {
  return node.b.instanceNorm(node.tensor(0), node.tensor(1), node.tensor(2), node.number("epsilon", 1e-5));
}

/// softmax(q·kᵀ/√d + mask)·v; causal: a query sees the keys up to its own place, the last query the last key.
static Results attention(Node &node) {
  TensorBuilder &b = node.b;
  Value q = node.tensor(0), k = node.tensor(1), v = node.tensor(2);
  if (b.rank(q) < 2 || b.rank(k) < 2 || !b.dim(q, -1).isConst())
    return b.fail("queries " + describe(b.shape(q)) + " and keys " + describe(b.shape(k)),
                  "both need two axes or more, the last of known size");
  Value scores = b.mul(b.matmul(q, b.transpose(k, -1, -2)), 1 / std::sqrt(double(b.dim(q, -1).constant())));
  if (node.inputs() > 3)
    scores = b.add(scores, node.tensor(3));
  if (node.flag("causal")) {
    Expr queries = b.dim(q, -2), keys = b.dim(k, -2);
    scores = b.where(b.triangle(queries, keys, keys - queries + 1), -INFINITY, scores);
  }
  return b.matmul(b.softmax(scores, -1), v);
}

llvm::ArrayRef<Operator> kiln::import::json::modelOperators() {
  static const Operator table[] = {
      {"matmul", 2, 2, {}, [](Node &n) -> Results { return n.b.matmul(n.tensor(0), n.tensor(1)); }},
      {"linear", 2, 3, {}, linear},
      {"softmax", 1, 1, {"axis"}, [](Node &n) -> Results { return n.b.softmax(n.tensor(0), n.integer("axis", -1)); }},
      {"log_softmax",
       1,
       1,
       {"axis"},
       [](Node &n) -> Results { return n.b.logSoftmax(n.tensor(0), n.integer("axis", -1)); }},
      {"layernorm", 1, 3, {"axes", "epsilon"}, layerNorm},
      {"rmsnorm", 1, 2, {"axes", "epsilon"}, rmsNorm},
      {"batchnorm", 5, 5, {"epsilon"}, batchNorm},
      {"groupnorm", 1, 3, {"groups", "epsilon"}, groupNorm},
      {"instancenorm", 1, 3, {"epsilon"}, instanceNorm},
      {"attention", 3, 4, {"causal"}, attention},
  };
  return table;
}
