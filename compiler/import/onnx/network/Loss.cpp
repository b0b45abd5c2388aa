//===- Loss.cpp - Losses of classifiers -------------------------------------===//
#include "import/onnx/Registry.h"
#include "import/onnx/file/ModelFile.h"

using namespace kiln;
using namespace kiln::import;
using namespace kiln::import::onnx;
using mlir::Value;

/// -weight[target] · x[target] at each place, x being [n, classes, …]; then none of it, the sum or the weighted mean.
static Tensor negativeLogLikelihood(Node &n, TensorBuilder &b, Value x) {
  Value target = n.input(1), weight = n.optionalInput(2);
  std::string reduction = n.string("reduction", "mean");
  bool ignores = n.hasAttr("ignore_index");
  int64_t ignored = n.integer("ignore_index", 0);
  if (!x || !target)
    return {};
  if (reduction != "none" && reduction != "sum" && reduction != "mean")
    return n.fail("attribute 'reduction' is " + quoted(reduction), "it is none, sum or mean");
  if (b.rank(x) < 2 || b.rank(target) != b.rank(x) - 1)
    return n.fail("targets " + describe(b.shape(target)) + " for scores " + describe(b.shape(x)),
                  "the scores have one axis more, the classes, at place 1");
  Value counts = ignores ? b.notEqual(target, ignored) : Value();
  if (ignores) // which need not be a class
    target = b.where(counts, target, 0);
  Value share = weight ? b.gather(weight, target, 0) : Value();
  if (ignores)
    share = b.where(counts, share ? share : b.constant(1, b.element(x), b.shape(target)), 0);
  Value loss = b.neg(b.squeeze(b.gatherElements(x, b.unsqueeze(target, {1}), 1), {1}));
  if (share)
    loss = b.mul(loss, share);
  if (reduction == "none")
    return loss;
  if (reduction == "sum")
    return b.sum(loss, b.allAxes(loss));
  if (!share)
    return b.mean(loss, b.allAxes(loss));
  return b.div(b.sum(loss, b.allAxes(loss)), b.sum(share, b.allAxes(share)));
}

static Tensor negativeLogLikelihoodLoss(Node &n, TensorBuilder &b) { return negativeLogLikelihood(n, b, n.input(0)); }

/// The loss, and if they are asked for the logarithms of the probabilities.
static Tensors softmaxCrossEntropyLoss(Node &n, TensorBuilder &b) {
  Value logarithms = b.logSoftmax(n.input(0), 1);
  Tensors results{negativeLogLikelihood(n, b, logarithms)};
  if (n.proto().output_size() > 1)
    results.push_back(logarithms);
  return results;
}

void kiln::import::onnx::addLosses(Registry &r) {
  r.add("NegativeLogLikelihoodLoss", 12, negativeLogLikelihoodLoss);
  r.add("SoftmaxCrossEntropyLoss", 12, softmaxCrossEntropyLoss);
}
