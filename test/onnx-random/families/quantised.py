"""Integers with a scale."""

import numpy
from onnx import TensorProto

import schemas
from families import operators
from families.convolution import image, window

BYTES = [TensorProto.UINT8, TensorProto.INT8]


def scale(g, shape=(), dtype=TensorProto.FLOAT):
    return g.source(g.array(dtype, shape, 0.05, 0.5) if shape else numpy.asarray(g.rng.choice([0.1, 0.25, 0.05]), g.array(dtype, ()).dtype))


def spread(g, op, x):
    """The shape of scales, and the attributes that go with it: one, one for each slice of an axis, one for each block."""
    version = schemas.schema(op, g.scope.opset).since_version
    axis = g.axis(x.rank) if x.rank and version >= 13 and g.chance(0.5) else None
    if axis is None:
        return (), {}
    size = x.shape[axis]
    block = g.rng.choice([each for each in (2, 3, 4) if size % each == 0] or [0])
    if version >= 21 and block and g.chance(0.4):
        place = axis % x.rank
        return (*x.shape[:place], size // block, *x.shape[place + 1:]), {"axis": axis, "block_size": block}
    return (size,), {"axis": axis}


@operators("QuantizeLinear")
def quantize(g, op):
    x = g.operand(op, low=0, among=[TensorProto.FLOAT], where=lambda value: 0 not in value.shape)
    shape, attributes = spread(g, op, x)
    inputs = [x, scale(g, shape)]
    to = TensorProto.UINT8
    if g.chance(0.7):
        among = BYTES + [TensorProto.INT16, TensorProto.UINT16] * (g.scope.opset >= 21)
        inputs.append(g.weight(g.dtype(op, 2, among), shape, 0, 5))
    elif g.scope.opset >= 21 and g.chance(0.5):
        allowed = [schemas.DTYPE_OF_TEXT[text] for text in sorted(schemas.schema(op, g.scope.opset).outputs[0].types)]
        to = attributes["output_dtype"] = g.rng.choice(allowed)
    y = g.op(op, inputs, **attributes)
    if to in schemas.NARROW or g.chance(0.4):
        g.op("DequantizeLinear", [y, *inputs[1:]], **{name: value for name, value in attributes.items() if name != "output_dtype"})


@operators("DequantizeLinear")
def dequantize(g, op):
    x = g.operand(op, among=BYTES + [TensorProto.INT16, TensorProto.UINT16, TensorProto.INT32], where=lambda value: 0 not in value.shape)
    shape, attributes = spread(g, op, x)
    inputs = [x, scale(g, shape)]
    if g.chance(0.6) and x.dtype != TensorProto.INT32:
        inputs.append(g.weight(x.dtype, shape, 0, 5))
    g.op(op, inputs, **attributes)


@operators("DynamicQuantizeLinear")
def dynamic_quantize(g, op):
    g.op(op, [g.operand(op, where=lambda value: value.data.size > 0)], outputs=3)


@operators("QLinearMatMul")
def q_linear_matmul(g, op):
    m, k, n = (g.rng.choice([1, 2, 3, 5, 17]) for _ in range(3))
    batch = g.shape(g.rng.choice([0, 0, 1]), 0)
    dtypes = [g.rng.choice(BYTES)] * 3
    per_column = g.chance(0.3) and not batch
    b = ((n,), (n,)) if per_column else ((), ())
    g.op(op, [g.new(dtypes[0], (*batch, m, k)), scale(g), g.weight(dtypes[0], ()), g.weight(dtypes[1], (*batch, k, n)), scale(g, b[0]),
              g.weight(dtypes[1], b[1]), scale(g), g.weight(dtypes[2], ())])


@operators("QLinearConv")
def q_linear_conv(g, op):
    x = image(g, op, axes=g.rng.choice([1, 2, 2]), among=[TensorProto.UINT8])
    made = window(g, x.rank - 2, x.shape[2:])
    outputs = g.rng.choice([1, 2, 3])
    weights = g.weight(g.rng.choice(BYTES), (outputs, x.shape[1], *made["kernel_shape"]))
    shape = g.rng.choice([(), (outputs,)])
    inputs = [x, scale(g), g.weight(x.dtype, ()), weights, scale(g, shape),
              g.source(numpy.zeros(shape, weights.data.dtype), "initializer"), scale(g), g.weight(x.dtype, ())]
    if g.chance(0.5):
        inputs.append(g.weight(TensorProto.INT32, (outputs,)))
    g.op(op, inputs, **made)
