//===- Recurrent.cpp - RNN, GRU and LSTM ------------------------------------===//
//
// A loop over time. The input's part of the gates does not depend on the state, so it is one product before the loop,
// in which all steps of all samples are rows of their direction; in an iteration, all gates of all directions are one
// product with the state. A reversed direction runs forward over the flipped input, both directions as one batch of
// two. Large weights of two directions have a loop for each direction instead, so that a core's caches may keep them
// from one step to the next. If the weights are quantised, their other operand is quantised by its own range, in each
// step and direction anew.
//
//===----------------------------------------------------------------------===//
#include "import/Quantize.h"
#include "import/onnx/Registry.h"
#include "import/onnx/control/CountedLoop.h"
#include "import/onnx/file/ModelFile.h"
#include "import/onnx/tensor/DataSizes.h"

using namespace kiln;
using namespace kiln::import;
using namespace kiln::import::onnx;
using llvm::StringRef;
using llvm::Twine;
using mlir::Value;

namespace {

/// The most bytes of one direction's recurrent weights for which two directions share a loop.
constexpr int64_t kMostBytesOfStep = 1 << 20;

/// An activation function, its numbers as its ONNX operator has them unless the node gives others.
struct ActivationKind {
  StringRef name; ///< in lower case; models write it as they like
  bool hasAlpha, hasBeta;
  double alpha, beta;
  Value (*apply)(TensorBuilder &b, Value x, double alpha, double beta);
};

#define ACTIVATION(expression) [](TensorBuilder &b, Value x, double alpha, double beta) -> Value { return expression; }
constexpr ActivationKind kActivations[] = {
    {"relu", false, false, 0, 0, ACTIVATION(b.relu(x))},
    {"tanh", false, false, 0, 0, ACTIVATION(b.tanh(x))},
    {"sigmoid", false, false, 0, 0, ACTIVATION(b.sigmoid(x))},
    {"softsign", false, false, 0, 0, ACTIVATION(b.softsign(x))},
    {"softplus", false, false, 0, 0, ACTIVATION(b.softplus(x))},
    {"affine", true, true, 1, 0, ACTIVATION(b.add(b.mul(x, alpha), beta))},
    {"leakyrelu", true, false, 0.01f, 0, ACTIVATION(b.leakyRelu(x, alpha))},
    {"thresholdedrelu", true, false, 1, 0, ACTIVATION(b.where(b.less(x, alpha), b.constantLike(x, 0), x))},
    {"scaledtanh", true, true, 1, 1, ACTIVATION(b.mul(b.tanh(b.mul(x, beta)), alpha))},
    {"hardsigmoid", true, true, 0.2f, 0.5, ACTIVATION(b.hardSigmoid(x, alpha, beta))},
    {"elu", true, false, 1, 0, ACTIVATION(b.elu(x, alpha))},
};
#undef ACTIVATION

struct Activation {
  const ActivationKind *kind;
  double alpha, beta;

  Value apply(TensorBuilder &b, Value x) const { return kind->apply(b, x, alpha, beta); }
  bool operator==(const Activation &) const = default;
};

/// Common to all three. Tensors of a step are [direction, batch, …].
class Recurrence {
public:
  /// `standard`: the activations of a direction unless attributes name others. Quantised weights are transposed,
  /// [direction, …, gates·hidden], with their scales and zero points from input 8 on.
  Recurrence(Node &n, TensorBuilder &b, int64_t gates, llvm::ArrayRef<StringRef> standard, bool isQuantized = false);

  /// False after a failure.
  bool ok() const { return b.ok() && x_; }

  /// One step: the state (hidden, and cell if there is one) from the one before and the input's part of the gates.
  using Step = llvm::function_ref<llvm::SmallVector<Value>(Value gates, llvm::ArrayRef<Value> state)>;
  /// Y, then the last state. `step` is for all directions at once, or is called for one direction after the other.
  /// `separate`: the gates whose recurrent bias `step` adds itself.
  Tensors run(llvm::ArrayRef<Value> initial, Step step, int64_t separate = 0);

  /// An initial state as [direction, batch, hidden]: zeros if the input is absent.
  Value initial(int input);
  /// Those directions of a tensor [direction, …] that the step is for.
  Value here(Value all);
  /// state · Rᵀ for gates [first, first + count), in a step.
  Value recurrent(Value state, int64_t first, int64_t count);
  /// Row vectors [direction, 1, count·hidden] of an input [direction, …·hidden], from the gate `first` on.
  Value rows(Value vectors, int64_t first, int64_t count);
  Value gate(Value gates, int64_t index);
  /// The activation at this place in each direction's list, in a step.
  Value activate(size_t place, Value x);
  /// The same on the clipped value, as the sum that goes into a gate is.
  Value activateGate(size_t place, Value x) { return activate(place, clip_ ? b.clip(x, -*clip_, *clip_) : x); }

  Value bias() const { return bias_; }
  int64_t numGates() const { return gates_; }

private:
  void readDirection();
  void readActivations(llvm::ArrayRef<StringRef> standard);
  void readInputs();
  /// The scale and the zero point of weights, at `input` and the next one, as they broadcast to products with them.
  bool readScale(int input, Quantized &weights);
  /// x · Wᵀ for the gates [first, first + count).
  Value product(Value x, const Quantized &weights, int64_t first, int64_t count);
  /// False, and a failure noted, if a tensor cannot have this shape. The run checks sizes that only it knows.
  bool expect(int input, Value &tensor, llvm::ArrayRef<Expr> shape);
  /// [direction, time, batch, gates·hidden]: all steps of a direction are the rows of one product.
  Value inputGates(int64_t separate);
  /// bool [direction, batch, 1]: the sequence is not over at this step.
  Value isWithin(Value number);
  /// bool [1, batch, 1]: the sequence has a step. One without has zeros for its last state, not the initial one.
  Value hasSteps();
  /// The loop over time for `here_`: the last state, and all states if they are wanted, forward in time.
  llvm::SmallVector<Value> loop(llvm::ArrayRef<Value> initial, Value gates, Step step, bool wantsAll);
  /// Whether each direction has a loop of its own.
  bool areApart();
  Value toStep(Value perNode) { return isBatchFirst_ ? b.permute(perNode, {1, 0, 2}) : perNode; }

  Node &n;
  TensorBuilder &b;
  int64_t gates_;
  bool isQuantized_;
  llvm::SmallVector<bool> reversed_; ///< a direction each
  llvm::SmallVector<llvm::SmallVector<Activation>> activations_;
  std::optional<double> clip_;
  bool isBatchFirst_ = false;
  Value x_;                       ///< [time, batch, input]
  Quantized weight_, recurrence_; ///< floats if there is no scale
  Value bias_, lengths_;
  Expr time_, batch_, hidden_, directions_;
  std::optional<size_t> here_; ///< the direction that the step is for; all if there is none
};

} // namespace

Recurrence::Recurrence(Node &n, TensorBuilder &b, int64_t gates, llvm::ArrayRef<StringRef> standard, bool isQuantized)
    : n(n), b(b), gates_(gates), isQuantized_(isQuantized) {
  readDirection();
  readActivations(standard);
  if (n.hasAttr("clip"))
    clip_ = n.real("clip", 0);
  if (!isQuantized && n.opset() >= 14)
    isBatchFirst_ = n.flag("layout", false);
  if (b.ok())
    readInputs();
}

void Recurrence::readDirection() {
  if (!isQuantized_ && n.opset() < 7)
    n.ignore({"output_sequence"}); // whether the first output is there says so too
  std::string direction = n.string("direction", "forward");
  if (direction == "forward")
    reversed_ = {false};
  else if (direction == "reverse")
    reversed_ = {true};
  else if (direction == "bidirectional")
    reversed_ = {false, true};
  else
    n.fail("attribute 'direction' is " + quoted(direction), "it is forward, reverse or bidirectional");
  directions_ = int64_t(reversed_.size());
}

void Recurrence::readActivations(llvm::ArrayRef<StringRef> standard) {
  llvm::SmallVector<std::string> names = n.strings("activations");
  llvm::SmallVector<double> alphas = n.reals("activation_alpha").value_or(llvm::SmallVector<double>());
  llvm::SmallVector<double> betas = n.reals("activation_beta").value_or(llvm::SmallVector<double>());
  size_t wanted = standard.size() * reversed_.size();
  if (names.empty())
    for (size_t i = 0; i < wanted; ++i)
      names.push_back(standard[i % standard.size()].str());
  if (names.size() != wanted) {
    n.fail("attribute 'activations' names " + Twine(names.size()), Twine(standard.size()) + " a direction are needed");
    return;
  }
  // The numbers belong to those activations that have any, in order.
  const double *alpha = alphas.begin(), *beta = betas.begin();
  for (size_t i = 0; i < wanted; ++i) {
    if (i % standard.size() == 0)
      activations_.emplace_back();
    const ActivationKind *kind = llvm::find_if(
        kActivations, [&](const ActivationKind &known) { return StringRef(names[i]).lower() == known.name; });
    if (kind == std::end(kActivations)) {
      n.fail("activation " + quoted(names[i]) + " is not known", "use one that the operator's definition lists");
      return;
    }
    Activation activation{kind, kind->alpha, kind->beta};
    if (kind->hasAlpha && alpha != alphas.end())
      activation.alpha = *alpha++;
    if (kind->hasBeta && beta != betas.end())
      activation.beta = *beta++;
    activations_.back().push_back(activation);
  }
}

bool Recurrence::expect(int input, Value &tensor, llvm::ArrayRef<Expr> wanted) {
  if (!tensor)
    return true;
  Shape given = b.shape(tensor), sizes(wanted);
  std::string cause = "input " + std::to_string(input) + " is " + describe(given);
  std::string remedy = "it must be " + describe(wanted);
  bool mayBe = given.size() == wanted.size();
  for (size_t i = 0; mayBe && i < sizes.size(); ++i) {
    if (view::provablyEqual(given[i], sizes[i]))
      continue;
    Expr same = isEqual(given[i], sizes[i]);
    mayBe = !same.isConst(0) && b.check(same, Twine(cause) + "; " + remedy);
    if (given[i].isConst())
      sizes[i] = given[i];
  }
  if (!mayBe)
    n.fail(cause, remedy);
  else
    tensor = b.reshape(tensor, sizes);
  return mayBe;
}

void Recurrence::readInputs() {
  Value x = n.input(0), weight = n.input(1), recurrence = n.input(2), bias = n.optionalInput(3);
  Value lengths = n.optionalInput(4);
  if (!b.ok())
    return;
  if (b.rank(x) != 3 || b.rank(recurrence) != 3) {
    n.fail("its inputs are " + describe(b.shape(x)) + " and " + describe(b.shape(recurrence)),
           "the input and the weights have three axes");
    return;
  }
  if (isBatchFirst_)
    x = b.transpose(x, 0, 1);
  if (isQuantized_) {
    weight = b.transpose(weight, 1, 2);
    recurrence = b.transpose(recurrence, 1, 2);
  }
  time_ = b.dim(x, 0);
  batch_ = b.dim(x, 1);
  if (n.hasAttr("hidden_size")) {
    Value taken = b.takeSize(recurrence, 2, n.integer("hidden_size"), "repeat");
    if (!taken) {
      n.fail("attribute 'hidden_size' is " + Twine(n.integer("hidden_size")) + " but the weights are " +
             describe(b.shape(recurrence)));
      return;
    }
    recurrence = taken;
  }
  hidden_ = b.dim(recurrence, 2);
  Expr rows = hidden_ * gates_;
  if (!expect(1, weight, {directions_, rows, b.dim(x, 2)}) || !expect(2, recurrence, {directions_, rows, hidden_}) ||
      !expect(3, bias, {directions_, rows * 2}) || !expect(4, lengths, {batch_}))
    return;
  weight_.values = weight;
  recurrence_.values = recurrence;
  if (isQuantized_ && (!readScale(8, weight_) || !readScale(10, recurrence_)))
    return;
  bias_ = bias;
  lengths_ = lengths;
  x_ = x;
}

Value Recurrence::initial(int input) {
  Value given = toStep(n.optionalInput(input));
  Shape shape{directions_, batch_, hidden_};
  if (!given)
    return b.constant(0, b.element(x_), shape);
  return expect(input, given, shape) ? given : Value();
}

Value Recurrence::rows(Value vectors, int64_t first, int64_t count) {
  return b.unsqueeze(b.narrow(vectors, 1, hidden_ * first, hidden_ * (first + count)), {1});
}

bool Recurrence::readScale(int input, Quantized &weights) {
  auto read = [&](int index) {
    Value given = n.input(index);
    bool isOneEach = b.rank(given) == 1;
    if (!given || !expect(index, given, isOneEach ? Shape{directions_} : Shape{directions_, hidden_ * gates_}))
      return Value();
    return b.reshape(given, {directions_, 1, isOneEach ? Expr(1) : hidden_ * gates_});
  };
  weights.scale = read(input);
  weights.zero = read(input + 1);
  return weights.scale && weights.zero;
}

Value Recurrence::product(Value x, const Quantized &weights, int64_t first, int64_t count) {
  auto gatesOf = [&](Value all, int64_t axis) {
    return b.dim(all, axis).isConst(1) ? all : b.narrow(all, axis, hidden_ * first, hidden_ * (first + count));
  };
  if (!weights.scale)
    return b.matmul(x, b.transpose(b.narrow(weights.values, 1, hidden_ * first, hidden_ * (first + count)), 1, 2));
  Quantized left = quantizeDynamically(b, x, {1, 2});
  Value right = centred(b, b.transpose(weights.values, 1, 2), weights.zero);
  Value sum = b.matmul(centred(b, left.values, left.zero), gatesOf(right, 2));
  return b.mul(b.cast(sum, b.float32()), b.mul(left.scale, gatesOf(weights.scale, 2)));
}

Value Recurrence::here(Value all) {
  return here_ && all ? b.narrow(all, 0, int64_t(*here_), int64_t(*here_) + 1) : all;
}

Value Recurrence::recurrent(Value state, int64_t first, int64_t count) {
  return product(state, {here(recurrence_.values), here(recurrence_.scale), here(recurrence_.zero)}, first, count);
}

Value Recurrence::gate(Value gates, int64_t index) {
  return b.narrow(gates, -1, hidden_ * index, hidden_ * (index + 1));
}

Value Recurrence::inputGates(int64_t separate) {
  Value x = x_;
  if (reversed_.size() == 2)
    x = b.stack({x_, b.flip(x_, {0})}, 0);
  else if (reversed_[0])
    x = b.flip(x, {0});
  x = b.reshape(x, {directions_, time_ * batch_, b.dim(x_, 2)});
  Value gates = product(x, weight_, 0, gates_);
  if (bias_) {
    Value sum = rows(bias_, 0, gates_);
    Value recurrent = rows(bias_, gates_, gates_ - separate);
    if (separate)
      recurrent = b.pad(recurrent, {0, 0, 0}, {0, 0, hidden_ * separate});
    gates = b.add(gates, b.add(sum, recurrent));
  }
  return b.reshape(gates, {directions_, time_, batch_, hidden_ * gates_});
}

Value Recurrence::isWithin(Value number) {
  Value left = b.sub(b.size(time_ - 1), number);
  llvm::SmallVector<Value> steps;
  for (auto [direction, reversed] : llvm::enumerate(reversed_))
    if (!here_ || direction == *here_)
      steps.push_back(reversed ? left : number);
  Value step = b.unsqueeze(b.stack(steps, 0), {1});
  return b.unsqueeze(b.less(step, b.unsqueeze(b.cast(lengths_, b.int64()), {0})), {2});
}

Value Recurrence::hasSteps() { return b.unsqueeze(b.greater(lengths_, 0), {0, 2}); }

bool Recurrence::areApart() {
  Expr elements = hidden_ * hidden_ * gates_;
  return reversed_.size() == 2 && elements.isConst() &&
         elements.constant() * byteSize(b.element(recurrence_.values)) > kMostBytesOfStep;
}

llvm::SmallVector<Value> Recurrence::loop(llvm::ArrayRef<Value> initial, Value gates, Step step, bool wantsAll) {
  Expr directions = here_ ? Expr(1) : directions_;
  llvm::SmallVector<Value> own = llvm::map_to_vector(initial, [&](Value all) { return here(all); });
  if (here_)
    gates = here(gates);
  llvm::SmallVector<Value> results = countedLoop(n, time_, own, [&](const Iteration &iteration) {
    Value now = b.narrow(gates, 1, iteration.index, iteration.index + 1);
    now = b.reshape(now, {directions, batch_, hidden_ * gates_});
    llvm::SmallVector<Value> state = step(now, iteration.carried);
    IterationResult result{state, {}};
    Value hidden = state.empty() ? Value() : state[0];
    if (lengths_) {
      // A sequence that is over, or, reversed, has not begun, keeps its state.
      Value within = isWithin(iteration.number);
      for (auto [next, before] : llvm::zip(result.carried, iteration.carried))
        next = b.where(within, next, before);
      hidden = b.where(within, hidden, 0);
    }
    if (wantsAll)
      result.slices.push_back(hidden);
    return result;
  });
  if (results.empty() || !wantsAll)
    return results;
  Value &all = results.back();
  if (!here_ && reversed_.size() == 2)
    all = b.concat({b.narrow(all, 1, 0, 1), b.flip(b.narrow(all, 1, 1, 2), {0})}, 1);
  else if (reversed_[here_.value_or(0)])
    all = b.flip(all, {0});
  return results;
}

Tensors Recurrence::run(llvm::ArrayRef<Value> initial, Step step, int64_t separate) {
  Value gates = inputGates(separate);
  bool wantsAll = n.proto().output_size() > 0 && !n.proto().output(0).empty();
  llvm::SmallVector<Value> results;
  if (areApart()) {
    here_ = 0;
    results = loop(initial, gates, step, wantsAll);
    if (results.empty())
      return {};
    here_ = 1;
    llvm::SmallVector<Value> others = loop(initial, gates, step, wantsAll);
    here_.reset();
    if (others.empty())
      return {};
    for (auto [index, pair] : llvm::enumerate(llvm::zip(results, others))) {
      auto [result, other] = pair;
      result = b.concat({result, other}, wantsAll && index == initial.size() ? 1 : 0);
    }
  } else {
    results = loop(initial, gates, step, wantsAll);
  }
  if (results.empty())
    return {};
  Tensors outputs;
  Value all = wantsAll ? results.back() : Value();
  outputs.push_back(all && isBatchFirst_ ? b.permute(all, {2, 0, 1, 3}) : all);
  for (Value state : llvm::ArrayRef(results).take_front(initial.size()))
    outputs.push_back(toStep(lengths_ ? b.where(hasSteps(), state, 0) : state));
  return outputs;
}

Value Recurrence::activate(size_t place, Value x) {
  const Activation &first = activations_[here_.value_or(0)][place], &last = activations_.back()[place];
  if (here_ || first == last)
    return first.apply(b, x);
  return b.concat({first.apply(b, b.narrow(x, 0, 0, 1)), last.apply(b, b.narrow(x, 0, 1, 2))}, 0);
}

//===----------------------------------------------------------------------===//
// The three operators
//===----------------------------------------------------------------------===//

static Tensors rnn(Node &n, TensorBuilder &b) {
  Recurrence r(n, b, 1, {"Tanh"});
  if (!r.ok())
    return {};
  return r.run({r.initial(5)}, [&](Value gates, llvm::ArrayRef<Value> state) {
    return llvm::SmallVector<Value>{r.activateGate(0, b.add(gates, r.recurrent(state[0], 0, 1)))};
  });
}

/// Gates: update, reset, hidden.
static Tensors gru(Node &n, TensorBuilder &b) {
  bool resetsAfter = n.flag("linear_before_reset", false);
  Recurrence r(n, b, 3, {"Sigmoid", "Tanh"});
  if (!r.ok())
    return {};
  Value hiddenBias = resetsAfter && r.bias() ? r.rows(r.bias(), 5, 1) : Value();
  auto step = [&](Value gates, llvm::ArrayRef<Value> state) {
    Value before = state[0], product = r.recurrent(before, 0, resetsAfter ? 3 : 2);
    Value update = r.activateGate(0, b.add(r.gate(gates, 0), r.gate(product, 0)));
    Value reset = r.activateGate(0, b.add(r.gate(gates, 1), r.gate(product, 1)));
    Value memory;
    if (resetsAfter) {
      memory = r.gate(product, 2);
      memory = b.mul(reset, hiddenBias ? b.add(memory, r.here(hiddenBias)) : memory);
    } else {
      memory = r.recurrent(b.mul(reset, before), 2, 1);
    }
    Value hidden = r.activateGate(1, b.add(r.gate(gates, 2), memory));
    return llvm::SmallVector<Value>{b.add(b.mul(b.sub(1, update), hidden), b.mul(update, before))};
  };
  return r.run({r.initial(5)}, step, resetsAfter ? 1 : 0);
}

/// Gates: input, output, forget, cell; peepholes: input, output, forget.
static Tensors lstmOf(Node &n, TensorBuilder &b, bool isQuantized) {
  bool coupled = n.flag("input_forget", false);
  Recurrence r(n, b, 4, {"Sigmoid", "Tanh", "Tanh"}, isQuantized);
  Value peepholes = n.optionalInput(7);
  if (!r.ok())
    return {};
  Value hidden = r.initial(5), cell = r.initial(6);
  auto step = [&](Value gates, llvm::ArrayRef<Value> state) {
    Value before = state[1];
    Value sum = b.add(gates, r.recurrent(state[0], 0, 4));
    auto peeped = [&](int64_t index, Value cell) {
      Value gate = r.gate(sum, index);
      return peepholes ? b.add(gate, b.mul(cell, r.here(r.rows(peepholes, index, 1)))) : gate;
    };
    Value input = r.activateGate(0, peeped(0, before));
    Value forget = coupled ? b.sub(1, input) : r.activateGate(0, peeped(2, before));
    Value cell = b.add(b.mul(forget, before), b.mul(input, r.activateGate(1, r.gate(sum, 3))));
    Value output = r.activateGate(0, peeped(1, cell));
    return llvm::SmallVector<Value>{b.mul(output, r.activate(2, cell)), cell};
  };
  return r.run({hidden, cell}, step);
}

static Tensors lstm(Node &n, TensorBuilder &b) { return lstmOf(n, b, /*isQuantized=*/false); }

static Tensors dynamicQuantizeLstm(Node &n, TensorBuilder &b) { return lstmOf(n, b, /*isQuantized=*/true); }

void kiln::import::onnx::addRecurrent(Registry &r) {
  r.add("GRU", 1, gru);
  r.add("LSTM", 1, lstm);
  r.add("RNN", 1, rnn);
  r.add("com.microsoft", "DynamicQuantizeLSTM", 1, dynamicQuantizeLstm);
}
