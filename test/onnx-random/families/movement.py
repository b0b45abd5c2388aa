"""Operators that move elements: reshapes, transpositions, slices, pads, tiles."""

import numpy
from onnx import TensorProto

import schemas
from families import operators
from schemas import Unfit


@operators("Reshape")
def reshape(g, op):
    x = g.operand(op)
    sizes = list(split_product(g, x.data.size))
    allow = g.rng.choice([None, 0, 1])
    if sizes and g.chance(0.4) and 0 not in sizes:
        sizes[g.rng.randrange(len(sizes))] = -1
    for place, size in enumerate(sizes):
        if place < x.rank and size == x.shape[place] and size and g.chance(0.3) and not allow:
            sizes[place] = 0
    g.op(op, [x, g.parameter(numpy.array(sizes, dtype=numpy.int64))], allowzero=allow)


def split_product(g, count):
    """Sizes whose product is a count."""
    sizes = []
    if count == 0:
        return [0] + [g.rng.choice([1, 2, 3]) for _ in range(g.rng.randrange(3))]
    while count > 1:
        divisor = g.rng.choice([each for each in range(2, count + 1) if count % each == 0])
        sizes.append(divisor)
        count //= divisor
    sizes = sizes[:6]
    left = numpy.prod(sizes, dtype=int)
    return [*sizes] if left == count or count == 1 else sizes


@operators("Transpose")
def transpose(g, op):
    x = g.operand(op)
    g.op(op, [x], perm=None if g.chance(0.2) else g.rng.sample(range(x.rank), x.rank) or None)


@operators("Flatten")
def flatten(g, op):
    x = g.operand(op)
    low = -x.rank if schemas.schema(op, g.scope.opset).since_version >= 11 else 0
    g.op(op, [x], axis=g.rng.randint(low, x.rank))


@operators("Squeeze")
def squeeze(g, op):
    x = g.operand(op, where=lambda value: 1 in value.shape)
    ones = [axis for axis, size in enumerate(x.shape) if size == 1]
    axes = g.rng.sample(ones, g.rng.randint(0, len(ones)))
    negative = schemas.schema(op, g.scope.opset).since_version >= 11
    g.op(op, [x], axes=[axis - x.rank if negative and g.chance(0.3) else axis for axis in axes] or None)


@operators("Unsqueeze")
def unsqueeze(g, op):
    x = g.operand(op, high=4)
    rank = x.rank + g.rng.choice([1, 1, 2])
    axes = g.rng.sample(range(rank), rank - x.rank)
    negative = schemas.schema(op, g.scope.opset).since_version >= 11
    g.op(op, [x], axes=[axis - rank if negative and g.chance(0.3) else axis for axis in axes])


@operators("Expand")
def expand(g, op):
    x = g.operand(op, high=5)
    sizes = [g.size() if size == 1 else g.rng.choice([1, size]) for size in x.shape]
    sizes = sizes[x.rank:] + sizes if g.chance(0.2) else [g.size() for _ in range(g.rng.choice([0, 1]))] + sizes
    g.op(op, [x], shape=sizes)


@operators("Tile")
def tile(g, op):
    x = g.operand(op, where=lambda value: value.data.size < 300)
    g.op(op, [x], repeats=[g.rng.choice([1, 1, 2, 3, 0] if g.chance(0.1) else [1, 1, 2, 3]) for _ in x.shape])


@operators("Concat")
def concat(g, op):
    x = g.operand(op, low=1)
    axis = g.rng.randrange(x.rank)
    others = []
    for _ in range(g.rng.choice([0, 1, 1, 2])):
        fits = lambda value: value.dtype == x.dtype and value.rank == x.rank and all(
            left == right for place, (left, right) in enumerate(zip(value.shape, x.shape)) if place != axis)
        others.append(g.pick(fits, 0.5) or g.new(x.dtype, (*x.shape[:axis], g.size(), *x.shape[axis + 1:])))
    inputs = [x, *others]
    g.rng.shuffle(inputs)
    g.op(op, inputs, axis=axis - x.rank if schemas.schema(op, g.scope.opset).since_version >= 11 and g.chance(0.4) else axis)


@operators("Split")
def split(g, op):
    x = g.operand(op, low=1)
    axis = g.rng.randrange(x.rank)
    size = x.shape[axis]
    count = g.rng.choice([1, 2, 2, 3])
    version = schemas.schema(op, g.scope.opset).since_version
    written = axis - x.rank if version >= 11 and g.chance(0.4) else axis
    if size % count == 0 and size and g.chance(0.4) or version >= 18 and g.chance(0.3) and size > 3:
        g.op(op, [x], outputs=count, axis=written, num_outputs=count if version >= 18 else None)
        return
    cuts = sorted(g.rng.randint(0, size) for _ in range(count - 1))
    g.op(op, [x], outputs=count, axis=written, split=[high - low for low, high in zip([0, *cuts], [*cuts, size])])


@operators("Slice")
def slice_(g, op):
    x = g.operand(op, low=1)
    axes = sorted(g.rng.sample(range(x.rank), g.rng.randint(1, x.rank)))
    starts, ends, steps = [], [], []
    newer = schemas.schema(op, g.scope.opset).since_version >= 10
    for axis in axes:
        size, step = x.shape[axis], g.rng.choice([1, 1, 1, 2, 3, -1, -2]) if newer else 1
        first, last = sorted((g.rng.randint(0, size), g.rng.randint(0, size)))
        if step < 0:
            first, last = last, first
        starts.append(g.rng.choice([first, first, first - size if first < size else first, first]))
        ends.append(g.rng.choice([last, last, last - size if last < size else last,
                                  2**63 - 1 if step > 0 else -2**63, 1000 if step > 0 else -1000]))
        steps.append(step)
    left_out = axes == list(range(len(axes))) and g.chance(0.5)
    g.op(op, [x], starts=starts, ends=ends,
         axes=None if left_out else [axis - x.rank if newer and g.chance(0.3) else axis for axis in axes],
         steps=None if steps == [1] * len(steps) and g.chance(0.6) else steps)


@operators("Pad")
def pad(g, op):
    x = g.operand(op, low=1, where=lambda value: value.data.size < 600)
    found = schemas.schema(op, g.scope.opset)
    mode = g.rng.choice(["constant", "constant", "reflect", "edge", "wrap"] if found.since_version >= 19 else
                        ["constant", "constant", "reflect", "edge"])
    axes = g.rng.sample(range(x.rank), g.rng.randint(1, x.rank)) if found.since_version >= 18 and g.chance(0.4) else None
    padded = [x.shape[axis] for axis in (range(x.rank) if axes is None else axes)]
    if mode != "constant" and 0 in x.shape:
        raise Unfit("nothing to reflect")
    most = [2 if mode in ("constant", "edge") else min(2, size - (mode == "reflect")) for size in padded]
    low = -1 if mode == "constant" and g.chance(0.2) else 0
    pads = [g.rng.randint(low if size > 2 else 0, high) for size, high in zip(padded * 2, most * 2)]
    value = g.rng.choice([None, 0.0, 2.0]) if mode == "constant" else None
    g.op(op, [x], mode=mode, pads=pads, axes=axes, **({"value": value} if found.since_version < 11 else {"constant_value": value}))


@operators("DepthToSpace", "SpaceToDepth")
def blocks(g, op):
    block = g.rng.choice([1, 2, 2, 3])
    n, c, h, w = g.rng.choice([1, 2]), g.rng.choice([1, 2, 3]), g.rng.choice([1, 2, 3]), g.rng.choice([1, 2, 4])
    shape = (n, c * block * block, h, w) if op == "DepthToSpace" else (n, c, h * block, w * block)
    g.op(op, [g.new(g.dtype(op), shape)], blocksize=block, mode=g.rng.choice([None, "DCR", "CRD"]))


@operators("Trilu")
def trilu(g, op):
    x = g.operand(op, low=2)
    g.op(op, [x], k=g.rng.choice([None, 0, 1, -1, 2, -3, 30]), upper=g.rng.choice([None, 0, 1]))


@operators("EyeLike")
def eye_like(g, op):
    x = g.operand(op, rank=2)
    g.op(op, [x], k=g.rng.choice([None, 0, 1, -1]), dtype=g.rng.choice([None, TensorProto.FLOAT, TensorProto.INT64, TensorProto.DOUBLE]))


@operators("ReverseSequence")
def reverse_sequence(g, op):
    x = g.operand(op, low=2, where=lambda value: 0 not in value.shape[:2])
    batch = g.rng.choice([0, 1])
    lengths = g.array(TensorProto.INT64, (x.shape[batch],), 1, x.shape[1 - batch] + 1)
    g.op(op, [x, g.parameter(lengths)], batch_axis=batch, time_axis=1 - batch)


@operators("CenterCropPad")
def center_crop_pad(g, op):
    x = g.operand(op, low=1, where=lambda value: value.data.size < 600)
    axes = g.axes(x.rank) if g.chance(0.6) else None
    g.op(op, [x, g.parameter(numpy.array([g.rng.choice([1, 2, 3, 5, 8]) for _ in (x.shape if axes is None else axes)]))], axes=axes)
