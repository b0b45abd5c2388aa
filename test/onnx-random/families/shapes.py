"""Arithmetic of shapes, as exporters write it: Shape, Gather, Concat, Reshape and the like."""

import numpy
from onnx import TensorProto

import schemas
from families import operators
from families.convolution import image
from schemas import Unfit
from values import tensor_of


@operators("Shape")
def shape(g, op):
    x = g.operand(op)
    start, end = (g.rng.choice([None, None, g.rng.randint(-x.rank - 1, x.rank + 1)]) for _ in range(2))
    g.op(op, [x], start=start, end=end)


@operators("Size")
def size(g, op):
    g.op(op, [g.operand(op)])


@operators("ConstantOfShape")
def constant_of_shape(g, op):
    dtype = g.rng.choice([None, TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL, TensorProto.UINT8, TensorProto.FLOAT16])
    value = None if dtype is None else tensor_of(g.array(dtype, (1,)))
    there = g.pick(lambda value: value.dtype == TensorProto.INT64 and value.rank == 1 and value.data.size <= 6
                   and (value.data >= 0).all() and numpy.prod(value.data) < 3000, 0.5)
    g.op(op, [there or g.parameter(numpy.array(g.shape(), numpy.int64))], value=value)


def sizes_of(g, x, places):
    """A list of one-element tensors with sizes of a tensor, or with numbers that follow from these."""
    there = g.op("Shape", [x])
    parts = []
    for place in places:
        index = g.source(numpy.asarray([place] if g.chance(0.5) else place), g.rng.choice(["node", "initializer"]))
        part = g.op("Gather", [there, index], axis=0)
        if part.rank == 0:
            part = unsqueeze(g, part)
        parts.append(part)
    return parts


def unsqueeze(g, x):
    return g.op("Unsqueeze", [x], axes=[0]) if g.scope.opset < 13 else g.op("Unsqueeze", [x, g.source(numpy.array([0]), "node")])


def joined(g, parts):
    return g.op("Concat", parts, axis=0) if len(parts) > 1 or g.chance(0.5) else parts[0]


def constant(g, *numbers):
    return g.source(numpy.array(numbers, numpy.int64), g.rng.choice(["node", "initializer"]))


def tensor(g):
    return g.operand("Identity", low=1, high=5, among=schemas.PLAIN)


@operators("shape:merge")
def merge(g, op):
    """Reshapes to the first sizes and one that takes the rest."""
    x = tensor(g)
    if 0 in x.shape:
        raise Unfit("a size of -1 of nothing")
    kept = g.rng.randint(0, x.rank - 1)
    parts = sizes_of(g, x, range(kept))
    rest = g.rng.choice(["minus", "product"])
    if rest == "minus" or kept == x.rank - 1:
        parts.append(constant(g, -1))
    else:
        first, *more = sizes_of(g, x, range(kept, x.rank))
        for each in more:
            first = g.op("Mul", [first, each])
        parts.append(first)
    g.op("Reshape", [x, joined(g, parts)])


@operators("shape:heads")
def heads(g, op):
    """Splits the last axis in two, as attention does, and transposes."""
    x = g.operand("Identity", low=2, high=4, among=schemas.PLAIN, where=lambda value: value.shape[-1] % 2 == 0 and 0 not in value.shape)
    parts = sizes_of(g, x, range(x.rank - 1))
    last = sizes_of(g, x, [-1])[0]
    count = constant(g, 2)
    y = g.op("Reshape", [x, joined(g, [*parts, count, g.op("Div", [last, count])] if g.chance(0.6) else [*parts, count, constant(g, -1)])])
    order = list(range(y.rank))
    order[-2], order[-3] = order[-3], order[-2]
    g.op("Transpose", [y], perm=order)


@operators("shape:expand")
def expand(g, op):
    """Repeats a tensor along a new axis, or to the shape of another."""
    x = tensor(g)
    if g.chance(0.5):
        target = joined(g, [constant(g, g.rng.choice([1, 2, 3])), *sizes_of(g, x, range(x.rank))])
    else:
        target = g.op("Shape", [x])
        x = g.partner(x)
    g.op("Expand", [x, target])


@operators("shape:slice")
def slice_(g, op):
    """Cuts an axis at a half, or at its size less a number."""
    if g.scope.opset < 10:
        raise Unfit("starts are attributes")
    x = tensor(g)
    axis = g.axis(x.rank)
    there = sizes_of(g, x, [axis])[0]
    cut = g.op(*g.rng.choice([("Div", [there, constant(g, 2)]), ("Sub", [there, constant(g, 1)])]))
    first, last = g.rng.choice([(constant(g, 0), cut), (cut, there), (cut, constant(g, 2**62))])
    g.op("Slice", [x, first, last, constant(g, axis)])


@operators("shape:range")
def positions(g, op):
    """Numbers along an axis, added to a tensor of positions or compared to make a mask."""
    x = tensor(g)
    count = g.op("Gather", [g.op("Shape", [x]), g.source(numpy.asarray(g.axis(x.rank)), "node")])
    places = g.op("Range", [g.source(numpy.asarray(0), "node"), count, g.source(numpy.asarray(1), "node")])
    if g.chance(0.5):
        column = g.op("Unsqueeze", [places], axes=[1])
        g.op("Less", [column, places])


@operators("shape:fill")
def fill(g, op):
    """Joins zeros of a tensor's shape, less one axis, to it."""
    x = tensor(g)
    axis = g.rng.randrange(x.rank)
    parts = sizes_of(g, x, range(x.rank))
    parts[axis] = constant(g, g.rng.choice([0, 1, 2]))
    filled = g.op("ConstantOfShape", [joined(g, parts)], value=tensor_of(g.array(x.dtype, (1,))))
    g.op("Concat", [x, filled], axis=axis)


@operators("shape:resize")
def resize(g, op):
    """Doubles the sizes of an image by arithmetic of floats, as exporters of upsampling do."""
    if g.scope.opset < 13:
        raise Unfit("scales must be given")
    x = image(g, "Resize", axes=2, among=[TensorProto.FLOAT])
    doubled = []
    for part in sizes_of(g, x, [2, 3]):
        wide = g.op("Mul", [g.op("Cast", [part], to=TensorProto.FLOAT), g.source(numpy.float32(g.rng.choice([2, 0.5, 1.5])), "node")])
        doubled.append(g.op("Cast", [g.op("Floor", [wide])], to=TensorProto.INT64))
    target = g.op("Concat", [*sizes_of(g, x, [0, 1]), *doubled], axis=0)
    g.op("Resize", [x, None, None, target], mode=g.rng.choice(["nearest", "linear"]), coordinate_transformation_mode="asymmetric",
         nearest_mode="floor")
