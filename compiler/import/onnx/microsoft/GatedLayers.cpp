//===- GatedLayers.cpp - Gates and norms of language models' layers ------------===//
//
// ONNX Runtime's exporters write some of a layer's element-wise parts as one node: a gate with its activation, a norm
// of each head with the gate after it, the mixing of parallel streams. All arithmetic is in float32, even for half
// precision, which is rounded once at the end unless the operator's definition says otherwise.
//
//===---------------------------------------------------------------------------===//
#include "import/onnx/Microsoft.h"
#include "import/onnx/file/ModelFile.h"

#include <cmath>

using namespace kiln;
using namespace kiln::import;
using namespace kiln::import::onnx;
using llvm::Twine;
using mlir::Value;

static Value wide(TensorBuilder &b, Value x) { return x ? b.cast(x, b.accumulator(b.element(x))) : x; }

/// x with its last axis in parts of a size.
static Value inParts(TensorBuilder &b, Value x, Expr size) {
  if (!x)
    return {};
  Shape shape = b.shape(x);
  Expr whole = shape.pop_back_val();
  shape.append({view::floorDiv(whole, view::maximum(size, 1)), size});
  return b.reshape(x, shape);
}

/// x / √(mean of squares + epsilon) along the last axis.
static Value normalized(TensorBuilder &b, Value x, double epsilon) { return b.rmsNorm(x, {-1}, epsilon, Value()); }

/// x plus y times a gate for each row.
static Value gatedAdd(Node &n, TensorBuilder &b) {
  if (n.has(3))
    return b.fail("a gate with a weight is not supported", "leave input 3 out, and compute the gate before");
  return b.add(n.input(0), b.mul(n.input(1), n.input(2)));
}

static Value gatedRmsNorm(Node &n, TensorBuilder &b) {
  Value x = n.input(0), scale = n.input(1), gate = n.input(2);
  double epsilon = n.real("epsilon", 1e-5f);
  std::string activation = n.string("activation", "silu");
  if (!x || !scale || !gate)
    return {};
  if (activation != "silu" && activation != "swish" && activation != "sigmoid")
    return b.fail("attribute 'activation' is " + quoted(activation), "it is silu, swish or sigmoid");
  Value parts = inParts(b, wide(b, x), b.dim(scale, 0)), y = b.mul(normalized(b, parts, epsilon), wide(b, scale));
  gate = wide(b, gate);
  gate = activation == "sigmoid" ? b.sigmoid(gate) : b.silu(gate);
  return y ? b.cast(b.mul(b.reshape(y, b.shape(x)), gate), b.element(x)) : Value();
}

/// x [..., streams, size] in float32, even if it is given as [..., streams · size].
static Value streamsOf(Node &n, TensorBuilder &b, Value x) {
  int64_t count = n.integer("num_branches", 0);
  if (!x)
    return {};
  if (count < 0 || count > view::kMaxDim || b.rank(x) < 1)
    return b.fail("attribute 'num_branches' is " + Twine(count), "it is 0 or how many streams there are");
  return count == 0 ? wide(b, x) : inParts(b, wide(b, x), view::floorDiv(b.dim(x, -1), count));
}

static Value branchwiseRmsNorm(Node &n, TensorBuilder &b) {
  Value x = n.input(0), scale = n.optionalInput(1), parts = streamsOf(n, b, x);
  double epsilon = n.real("epsilon", 1e-5f);
  Value y = normalized(b, parts, epsilon);
  if (!y)
    return {};
  if (scale) {
    scale = wide(b, scale);
    if (b.rank(scale) == 1 && !view::provablyEqual(b.dim(scale, 0), b.dim(parts, -1)))
      scale = inParts(b, scale, b.dim(parts, -1));
    y = b.mul(y, scale);
  }
  return b.cast(b.reshape(y, b.shape(x)), b.element(x));
}

/// Gates [..., streams], [..., streams, 1], [..., streams, size] or [..., streams · size] as they broadcast against
/// streams [..., streams, size].
static Value gatesOf(TensorBuilder &b, Value gates, Value streams) {
  gates = wide(b, gates);
  if (!gates || !streams || b.rank(gates) == b.rank(streams))
    return gates;
  return view::provablyEqual(b.dim(gates, -1), b.dim(streams, -2)) ? b.unsqueeze(gates, {-1})
                                                                   : inParts(b, gates, b.dim(streams, -1));
}

/// The streams' sum, each times its gate.
static Value preMix(Node &n, TensorBuilder &b) {
  Value x = n.input(0), streams = streamsOf(n, b, x);
  double scale = n.real("reduction_scale", 1);
  Value y = b.mul(b.sum(b.mul(streams, gatesOf(b, n.input(1), streams)), {-2}), scale);
  return y ? b.cast(y, b.element(x)) : Value();
}

/// The streams mixed by a matrix, and a branch's output added to each, times its gate.
static Value postMix(Node &n, TensorBuilder &b) {
  Value x = n.input(0), output = n.input(1), mix = n.optionalInput(3), streams = streamsOf(n, b, x);
  Value added = b.mul(gatesOf(b, n.input(2), streams), b.unsqueeze(wide(b, output), {-2}));
  Value kept = mix ? b.matmul(b.transpose(wide(b, mix), -1, -2), streams) : streams;
  Value y = b.add(kept, added);
  return y ? b.cast(b.reshape(y, b.shape(x)), b.element(x)) : Value();
}

/// The decay of linear attention, and its learning rate.
static Tensors linearAttentionGate(Node &n, TensorBuilder &b) {
  Value x = n.input(0), rate = n.optionalInput(3);
  Value decay = b.mul(b.softplus(b.add(wide(b, x), n.input(1))), n.input(2));
  if (!decay)
    return {};
  return {b.cast(decay, b.element(x)), rate ? b.cast(b.sigmoid(wide(b, rate)), b.element(x)) : Value()};
}

/// SiLU of a scaled x; each step is rounded to x's dtype.
static Value scaledSilu(Node &n, TensorBuilder &b) {
  Value x = n.input(0), factor = n.optionalInput(1);
  double alpha = n.real("alpha", 1);
  if (!x)
    return {};
  Value scaled =
      factor ? b.mul(wide(b, x), b.reshape(b.cast(factor, b.accumulator(b.element(x))), {})) : b.mul(wide(b, x), alpha);
  scaled = b.cast(scaled, b.element(x));
  return b.mul(scaled, b.cast(b.sigmoid(wide(b, scaled)), b.element(x)));
}

/// gate · sigmoid(alpha · gate) · (linear + beta); without a second input the two are halves of the first.
static Value clampedSwiGlu(Node &n, TensorBuilder &b) {
  Value x = n.input(0), linear = wide(b, n.optionalInput(1)), gate = wide(b, x);
  double alpha = n.real("activation_alpha", 1), beta = n.real("activation_beta", 0), limit = n.real("limit", 0);
  bool roundsActivation = n.flag("round_activation", false);
  if (!x)
    return {};
  if (!linear) {
    Expr half = view::floorDiv(b.dim(x, -1), 2);
    linear = b.narrow(gate, -1, half, half * 2);
    gate = b.narrow(gate, -1, 0, half);
  }
  if (limit > 0) {
    gate = b.minimum(gate, limit);
    linear = b.clip(linear, Operand(-limit), Operand(limit));
  }
  Value activation = b.mul(gate, b.sigmoid(b.mul(gate, alpha)));
  if (roundsActivation)
    activation = wide(b, b.cast(activation, b.element(x)));
  return b.cast(b.mul(activation, beta == 0 ? linear : b.add(linear, beta)), b.element(x));
}

/// A value gated by keys and queries [batch, length, streams, size], and its norm.
static Tensors engramGate(Node &n, TensorBuilder &b) {
  Value key = n.input(0), query = n.input(1), value = n.input(2), after = n.optionalInput(5);
  double epsilon = n.real("epsilon", 1e-5f);
  auto scaled = [&](Value x, Value scale) { return b.mul(normalized(b, wide(b, x), epsilon), wide(b, scale)); };
  Value product = b.sum(b.mul(scaled(key, n.input(3)), scaled(query, n.input(4))), {-1}, /*keepDims=*/true);
  if (!product || !value)
    return {};
  if (!b.dim(key, -1).isConst())
    return n.fail("the size " + b.dim(key, -1).print() + " of keys is not known at import", "fix it with --dim"),
           Tensors();
  Value dot = b.div(product, std::sqrt(double(b.dim(key, -1).constant())));
  Value gate = b.sigmoid(b.mul(b.sign(dot), b.sqrt(b.maximum(b.abs(dot), 1e-6))));
  Value y = b.mul(gate, b.unsqueeze(wide(b, value), {2}));
  Tensors results{b.cast(y, b.element(key))};
  if (after)
    results.push_back(b.cast(scaled(y, after), b.element(key)));
  return results;
}

void kiln::import::onnx::addGatedLayers(Registry &r) {
  llvm::StringRef domain = "com.microsoft";
  r.add(domain, "BranchwiseRMSNorm", 1, branchwiseRmsNorm);
  r.add(domain, "EngramGate", 1, engramGate);
  r.add(domain, "GatedAdd", 1, gatedAdd);
  r.add(domain, "GatedRMSNorm", 1, gatedRmsNorm);
  r.add(domain, "HyperConnectionPostMix", 1, postMix);
  r.add(domain, "HyperConnectionPreMix", 1, preMix);
  r.add(domain, "LinearAttentionGate", 1, linearAttentionGate);
  r.add(domain, "ScaledSiLU", 1, scaledSilu);
  r.add(domain, "SwiGLU", 1, clampedSwiGlu);
}
