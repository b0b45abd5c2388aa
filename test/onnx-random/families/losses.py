"""Losses of classes."""

from onnx import TensorProto

from families import operators


@operators("NegativeLogLikelihoodLoss", "SoftmaxCrossEntropyLoss")
def loss(g, op):
    batch, classes = g.rng.choice([1, 2, 3]), g.rng.choice([1, 3, 5])
    rest = g.rng.choice([(), (), (2,), (3, 2)])
    x = g.new(g.dtype(op, 0, [TensorProto.FLOAT, TensorProto.DOUBLE]), (batch, classes, *rest))
    target = g.weight(g.rng.choice([TensorProto.INT64, TensorProto.INT32]), (batch, *rest), 0, classes)
    weights = [g.weight(x.dtype, (classes,), 0.25, 2)] if g.chance(0.4) else []
    outputs = 2 if op.startswith("Softmax") and g.chance(0.4) else 1
    g.op(op, [x, target, *weights], outputs=outputs, reduction=g.rng.choice([None, "mean", "sum", "none"]),
         ignore_index=g.rng.choice([None, None, 0, -1]))
