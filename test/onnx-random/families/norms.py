"""Normalizations."""

from onnx import TensorProto

from families import operators
from families.convolution import PLAIN_FLOATS, image


@operators("BatchNormalization")
def batch_normalization(g, op):
    x = g.pick(lambda value: value.rank >= 2 and value.dtype in PLAIN_FLOATS and 0 not in value.shape, 0.4) or image(g, op)
    parts = [g.weight(x.dtype, (x.shape[1],)) for _ in range(3)] + [g.weight(x.dtype, (x.shape[1],), 0.1, 4)]
    g.op(op, [x, *parts], epsilon=g.rng.choice([None, 1e-3]), momentum=g.rng.choice([None, 0.5]))


@operators("InstanceNormalization")
def instance_normalization(g, op):
    x = image(g, op)
    g.op(op, [x, g.weight(x.dtype, (x.shape[1],)), g.weight(x.dtype, (x.shape[1],))], epsilon=g.rng.choice([1e-3, 0.1]))


@operators("GroupNormalization")
def group_normalization(g, op):
    x = image(g, op)
    groups = g.rng.choice([each for each in (1, 2, 3, 4) if x.shape[1] % each == 0])
    length = groups if g.scope.opset < 21 else x.shape[1]
    g.op(op, [x, g.weight(x.dtype, (length,)), g.weight(x.dtype, (length,))], num_groups=groups, epsilon=g.rng.choice([None, 0.1]))


@operators("LayerNormalization", "RMSNormalization")
def layer_normalization(g, op):
    x = g.operand(op, low=1, among=PLAIN_FLOATS, where=lambda value: value.data.size > 0)
    axis = g.axis(x.rank)
    shape = x.shape[axis % x.rank:]
    parts = [g.weight(x.dtype, shape)]
    if op == "LayerNormalization" and g.chance(0.6):
        parts.append(g.weight(x.dtype, shape))
    g.op(op, [x, *parts], axis=axis, epsilon=g.rng.choice([1e-3, 0.1]), stash_type=g.rng.choice([None, 1]),
         **({"outputs": 3, "want": g.rng.choice([[0], [0, 1], [0, 2], [0, 1, 2]])} if op == "LayerNormalization" else {}))


@operators("MeanVarianceNormalization")
def mean_variance_normalization(g, op):
    g.op(op, [image(g, op, axes=2, among=[TensorProto.FLOAT])], axes=g.rng.choice([None, [0, 2, 3], [2, 3]]))
