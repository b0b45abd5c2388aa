//===- ElementwiseOperators.cpp - Arithmetic, comparison, activations --------===//
#include "import/json/Operators.h"

using namespace kiln::import;
using namespace kiln::import::json;

using Unary = mlir::Value (TensorBuilder::*)(mlir::Value);
using Binary = mlir::Value (TensorBuilder::*)(Operand, Operand);

template <Unary function> static Results unary(Node &node) { return (node.b.*function)(node.tensor(0)); }
template <Binary function> static Results binary(Node &node) {
  return (node.b.*function)(node.operand(0), node.operand(1));
}

/// The quotient as a float: integers are cast to float32 first.
static Results div(Node &node) {
  auto real = [&](size_t index) -> Operand {
    Operand operand = node.operand(index);
    mlir::Value tensor = operand.tensor();
    return tensor && !node.b.isFloat(tensor) ? Operand(node.b.cast(tensor, node.b.float32())) : operand;
  };
  return node.b.div(real(0), real(1));
}

static Results clip(Node &node) {
  return node.b.clip(node.tensor(0), node.operandAttribute("low"), node.operandAttribute("high"));
}

static Results gelu(Node &node) {
  bool approximate = node.word("approximate", "none") == "tanh";
  return approximate ? node.b.geluTanh(node.tensor(0)) : node.b.gelu(node.tensor(0));
}

llvm::ArrayRef<Operator> kiln::import::json::elementwiseOperators() {
  using T = TensorBuilder;
  static const Operator table[] = {
      {"sub", 2, 2, {}, binary<&T::sub>},
      {"div", 2, 2, {}, div},
      {"pow", 2, 2, {}, binary<&T::pow>},
      {"maximum", 2, 2, {}, binary<&T::maximum>},
      {"minimum", 2, 2, {}, binary<&T::minimum>},
      {"less", 2, 2, {}, binary<&T::less>},
      {"less_equal", 2, 2, {}, binary<&T::lessEqual>},
      {"greater", 2, 2, {}, binary<&T::greater>},
      {"greater_equal", 2, 2, {}, binary<&T::greaterEqual>},
      {"equal", 2, 2, {}, binary<&T::equal>},
      {"not_equal", 2, 2, {}, binary<&T::notEqual>},
      {"not", 1, 1, {}, unary<&T::logicalNot>},
      {"is_nan", 1, 1, {}, unary<&T::isNaN>},
      {"is_inf", 1, 1, {}, [](Node &n) -> Results { return n.b.isInf(n.tensor(0)); }},
      {"abs", 1, 1, {}, unary<&T::abs>},
      {"sign", 1, 1, {}, unary<&T::sign>},
      {"square", 1, 1, {}, unary<&T::square>},
      {"rsqrt", 1, 1, {}, unary<&T::rsqrt>},
      {"clip", 1, 1, {"low", "high"}, clip},
      {"cast",
       1,
       1,
       {"dtype"},
       [](Node &n) -> Results {
         mlir::Type type = n.dtype("dtype");
         return type ? n.b.cast(n.tensor(0), type) : mlir::Value();
       }},
      {"bitcast",
       1,
       1,
       {"dtype"},
       [](Node &n) -> Results {
         mlir::Type type = n.dtype("dtype");
         return type ? n.b.bitcast(n.tensor(0), type) : mlir::Value();
       }},
      {"where", 3, 3, {}, [](Node &n) -> Results { return n.b.where(n.tensor(0), n.operand(1), n.operand(2)); }},
      {"relu", 1, 1, {}, unary<&T::relu>},
      {"leaky_relu",
       1,
       1,
       {"alpha"},
       [](Node &n) -> Results { return n.b.leakyRelu(n.tensor(0), n.number("alpha", 0.01)); }},
      {"elu", 1, 1, {"alpha"}, [](Node &n) -> Results { return n.b.elu(n.tensor(0), n.number("alpha", 1)); }},
      {"sigmoid", 1, 1, {}, unary<&T::sigmoid>},
      {"hard_sigmoid",
       1,
       1,
       {"alpha", "beta"},
       [](Node &n) -> Results { return n.b.hardSigmoid(n.tensor(0), n.number("alpha", 0.2), n.number("beta", 0.5)); }},
      {"hard_swish", 1, 1, {}, unary<&T::hardSwish>},
      {"silu", 1, 1, {}, unary<&T::silu>},
      {"gelu", 1, 1, {"approximate"}, gelu},
      {"softplus", 1, 1, {}, unary<&T::softplus>},
      {"softsign", 1, 1, {}, unary<&T::softsign>},
      {"mish", 1, 1, {}, unary<&T::mish>},
  };
  return table;
}
