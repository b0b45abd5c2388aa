"""Indices that are data: gathers, scatters, choices of elements."""

import numpy
from onnx import TensorProto

import schemas
from families import operators
from schemas import Unfit


def indices(g, shape, size, negative=True, dtypes=(TensorProto.INT64, TensorProto.INT64, TensorProto.INT32)):
    """Random indices of an axis."""
    if size == 0 and numpy.prod(shape):
        raise Unfit("no element to choose")
    low = -size if negative and g.chance(0.5) else 0
    return g.new(g.rng.choice(dtypes), shape, low, max(size, low + 1))


def newer(g, op, version=11):
    return schemas.schema(op, g.scope.opset).since_version >= version


@operators("Gather")
def gather(g, op):
    x = g.operand(op, low=1)
    axis = g.axis(x.rank)
    axis = axis if newer(g, op) else axis % x.rank
    g.op(op, [x, indices(g, g.shape(g.rng.choice([0, 1, 1, 2])), x.shape[axis], newer(g, op))], axis=axis)


@operators("GatherElements")
def gather_elements(g, op):
    x = g.operand(op, low=1)
    axis = g.axis(x.rank)
    shape = tuple(g.rng.choice([size, max(1, size - 1)]) if size else 0 for size in x.shape)
    g.op(op, [x, indices(g, shape, x.shape[axis])], axis=axis)


def tuples(g, shape, depth, batch=()):
    """Index tuples into the first axes of a shape."""
    outer = (*batch, *g.shape(g.rng.choice([1, 1, 2]) if not batch else 1))
    if 0 in shape[:depth]:
        raise Unfit("no element to choose")
    parts = [g.scope.generator.integers(-size if g.chance(0.2) else 0, size, outer) for size in shape[:depth]]
    return numpy.stack(parts, -1).astype(numpy.int64)


@operators("GatherND")
def gather_nd(g, op):
    x = g.operand(op, low=1)
    batch = g.rng.choice([0, 1]) if newer(g, op, 12) and x.rank > 1 else 0
    depth = g.rng.randint(1, x.rank - batch)
    found = tuples(g, x.shape[batch:], depth, x.shape[:batch])
    g.op(op, [x, g.source(found)], batch_dims=batch)


def permuted(g, shape, axis, size):
    """Indices of an axis without doubles along it, since those are undefined without a reduction."""
    made = numpy.zeros(shape, numpy.int64)
    lines = numpy.moveaxis(made, axis, -1)
    for place in numpy.ndindex(lines.shape[:-1]):
        lines[place] = g.scope.generator.permutation(size)[: lines.shape[-1]]
    return made


@operators("ScatterElements", "Scatter")
def scatter_elements(g, op):
    x = g.operand(op, low=1, where=lambda value: 0 not in value.shape)
    axis = g.axis(x.rank)
    if not newer(g, op):
        axis %= x.rank
    reduction = g.rng.choice([None, "add", "mul"] + ["max", "min"] * newer(g, op, 18)) if newer(g, op, 16) else None
    if x.dtype in (TensorProto.BOOL, TensorProto.STRING, TensorProto.BFLOAT16):
        reduction = None
    shape = tuple(g.rng.randint(1, size) for size in x.shape)
    if reduction:
        where = indices(g, shape, x.shape[axis])
    else:
        where = g.source(permuted(g, shape, axis, x.shape[axis]))
    g.op(op, [x, where, g.new(x.dtype, shape, *scale(x, reduction))], axis=axis, reduction=reduction)


def scale(x, reduction):
    return (1, 2) if reduction == "mul" and x.dtype not in schemas.FLOATS else (None, None)


@operators("ScatterND")
def scatter_nd(g, op):
    x = g.operand(op, low=1, where=lambda value: 0 not in value.shape)
    depth = g.rng.randint(1, x.rank)
    reduction = g.rng.choice([None, "add", "mul"] + ["max", "min"] * newer(g, op, 18)) if newer(g, op, 16) else None
    if x.dtype in (TensorProto.BOOL, TensorProto.STRING, TensorProto.BFLOAT16):
        reduction = None
    where = tuples(g, x.shape, depth)
    if not reduction and len(numpy.unique(where.reshape(-1, depth) % numpy.array(x.shape[:depth]), axis=0)) < where[..., 0].size:
        raise Unfit("doubles are undefined")
    g.op(op, [x, g.source(where), g.new(x.dtype, where.shape[:-1] + x.shape[depth:], *scale(x, reduction))], reduction=reduction)


@operators("TensorScatter")
def tensor_scatter(g, op):
    batch, length = g.rng.choice([1, 2, 3]), g.rng.choice([1, 2])
    shape = (batch, g.rng.choice([3, 4, 5]), 2) if g.chance(0.5) else (batch, 2, g.rng.choice([3, 4]), 3)
    axis = g.rng.randrange(1, len(shape))
    past = g.new(g.dtype(op), shape)
    update = g.new(past.dtype, (*shape[:axis], min(length, shape[axis]), *shape[axis + 1:]))
    mode = g.rng.choice([None, "linear", "circular"])
    most = shape[axis] if mode == "circular" else shape[axis] - update.shape[axis] + 1
    starts = g.new(TensorProto.INT64, (batch,), 0, most) if g.chance(0.8) else None
    g.op(op, [past, update] + [starts] * bool(starts), axis=axis if g.chance(0.6) else axis - len(shape), mode=mode)


@operators("OneHot")
def one_hot(g, op):
    depth = g.rng.choice([1, 2, 4, 5])
    where = g.new(g.dtype(op, 0, [TensorProto.INT64, TensorProto.INT32, TensorProto.FLOAT]), g.shape(g.rng.choice([1, 1, 2])), 0, depth)
    if where.dtype == TensorProto.FLOAT:
        where = g.op("Floor", [where])
    count = g.parameter(numpy.asarray(depth if g.chance(0.7) else [depth], numpy.int64))
    g.op(op, [where, count, g.new(g.dtype(op, 2, schemas.PLAIN), (2,))], axis=g.axis(where.rank, past=True))


@operators("Compress")
def compress(g, op):
    x = g.operand(op, where=lambda value: 0 not in value.shape)
    axis = g.axis(x.rank) if x.rank and g.chance(0.6) else None
    if axis is not None and not newer(g, op):
        axis %= x.rank
    length = x.shape[axis] if axis is not None else x.data.size
    g.op(op, [x, g.new(TensorProto.BOOL, (g.rng.randint(1, max(1, length)),))], axis=axis)


@operators("NonZero")
def non_zero(g, op):
    g.op(op, [g.operand(op, low=1)])


@operators("TopK")
def top_k(g, op):
    x = g.operand(op, low=1, where=lambda value: 0 not in value.shape)
    axis = g.axis(x.rank)
    if not newer(g, op):
        axis %= x.rank
    if g.scope.opset < 10:
        g.op(op, [x], outputs=2, axis=axis, k=g.rng.randint(1, x.shape[axis]))
        return
    g.op(op, [x, g.parameter(numpy.array([g.rng.randint(0, x.shape[axis])]))], outputs=2,
         axis=axis, largest=g.rng.choice([None, 0, 1]))


@operators("Unique")
def unique(g, op):
    x = g.operand(op, low=1, where=lambda value: 0 not in value.shape)
    g.op(op, [x], outputs=4, want=g.rng.choice([[0], [0, 1], [0, 2], [0, 1, 2, 3], [0, 3]]), sorted=g.rng.choice([None, 0, 1]),
         axis=g.axis(x.rank) if g.chance(0.4) else None)


@operators("Range")
def range_(g, op):
    dtype = g.dtype(op, 0, schemas.PLAIN)
    low, step = g.rng.choice([0, 1, 3]), g.rng.choice([1, 2, 3])
    numbers = [low, low + g.rng.randint(0, 12), step]
    if dtype not in schemas.UNSIGNED and g.chance(0.3):
        numbers = [numbers[1], numbers[0], -step]
    kinds = "input" if g.chance(0.25) else None
    g.op(op, [g.source(numpy.asarray(number).astype(g.array(dtype, ()).dtype), kinds) for number in numbers])


@operators("NonMaxSuppression")
def non_max_suppression(g, op):
    batch, boxes, classes = g.rng.choice([1, 2]), g.rng.choice([1, 3, 6]), g.rng.choice([1, 2])
    corner = g.array(TensorProto.FLOAT, (batch, boxes, 2), 0, 4)
    inputs = [g.source(numpy.concatenate([corner, corner + g.array(TensorProto.FLOAT, corner.shape, 0.5, 3)], -1).astype(numpy.float32)),
              g.new(TensorProto.FLOAT, (batch, classes, boxes), 0, 1), g.parameter(numpy.array([g.rng.choice([1, 2, 5])], numpy.int64)),
              g.parameter(numpy.array([g.rng.choice([0.3, 0.6])], numpy.float32)),
              g.parameter(numpy.array([g.rng.choice([0.1, 0.4])], numpy.float32))]
    g.op(op, inputs[: g.rng.choice([3, 4, 5])], center_point_box=g.rng.choice([None, 0]))
