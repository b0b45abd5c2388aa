"""Sequences of tensors and optionals."""

import numpy
from onnx import TensorProto, helper

from families import operators
from graph import Graph
from schemas import Unfit
from values import Value, value_of

HELD = [TensorProto.FLOAT, TensorProto.FLOAT, TensorProto.INT64, TensorProto.DOUBLE, TensorProto.BOOL]


def sequence(g):
    """One that is there, or a new one of one to three tensors."""
    there = [value for value in g.visible() if value.kind == "sequence"]
    if there and g.chance(0.7):
        return g.rng.choice(there)
    dtype = g.rng.choice(HELD)
    rank = g.rng.choice([0, 1, 2, 3])
    same = g.shape(rank)
    tensors = [g.array(dtype, same if g.chance(0.6) else g.shape(rank)) for _ in range(g.rng.choice([1, 2, 3]))]
    if g.chance(0.25) and not g.body:
        return g.source(tensors, "input")
    return g.op("SequenceConstruct", [g.source(each) for each in tensors])


def position(g, count):
    place = g.rng.randrange(-count, count)
    return g.source(numpy.asarray(place, g.rng.choice([numpy.int64, numpy.int32])))


@operators("SequenceConstruct")
def construct(g, op):
    x = g.operand(op)
    g.op(op, [x, *(g.partner(x) for _ in range(g.rng.choice([0, 1, 2])))])


@operators("SequenceAt", "SequenceErase")
def at(g, op):
    x = sequence(g)
    if op == "SequenceErase" and len(x.data) < 2:
        raise Unfit("an empty sequence")
    g.op(op, [x, position(g, len(x.data))] if op == "SequenceAt" or g.chance(0.6) else [x])


@operators("SequenceInsert")
def insert(g, op):
    x = sequence(g)
    tensor = g.new(x.dtype, g.rng.choice(x.data).shape)
    g.op(op, [x, tensor, position(g, len(x.data))] if g.chance(0.6) else [x, tensor])


@operators("SequenceLength")
def length(g, op):
    g.op(op, [sequence(g)])


@operators("SequenceEmpty")
def empty(g, op):
    # Made and filled by one step, since an empty list says nothing of its dtype.
    dtype = g.rng.choice(HELD)
    name = g.scope.name("v")
    g.nodes.append(helper.make_node(op, [], [name], dtype=dtype))
    value = Value(name, [], dtype, "sequence")
    g.values.append(value)
    try:
        g.op("SequenceInsert", [value, g.new(dtype, g.shape(high=3))])
    finally:
        g.values.remove(value)


@operators("ConcatFromSequence")
def concat(g, op):
    x = sequence(g)
    rank = x.data[0].ndim
    stacked = g.chance(0.4)
    g.op(op, [x], axis=g.axis(rank, past=stacked), new_axis=1 if stacked else g.rng.choice([None, 0]))


@operators("SplitToSequence")
def split(g, op):
    x = g.operand(op, low=1, among=HELD)
    axis = g.axis(x.rank)
    size = x.shape[axis]
    if size == 0:
        raise Unfit("nothing to split")
    way = g.rng.randrange(3)
    cut = g.rng.randint(0, size)
    given = [] if way == 0 else [g.parameter(numpy.asarray(g.rng.randint(1, size)) if way == 1 else numpy.array([cut, size - cut]))]
    g.op(op, [x, *given], axis=axis, keepdims=g.rng.choice([None, 0, 1]))


@operators("SequenceMap")
def sequence_map(g, op):
    x = sequence(g)
    body = Graph(g.scope, outer=g)
    element = value_of(g.scope.name("e"), x.data[0])
    body.values.append(element)
    body.inputs.append(element)
    y = body.op(g.rng.choice(["Identity", "Abs", "Neg", "Shape"]), [element])
    g.op(op, [x], graphs={"body": body.proto([y])})


@operators("Optional")
def optional(g, op):
    x = sequence(g) if g.chance(0.3) else g.operand(op, among=HELD)
    made = g.scope.name("v")
    node = helper.make_node(op, [x.name], [made])
    kind = "optional sequence" if x.kind == "sequence" else "optional"
    mine = Value(made, x.data, x.dtype, kind)
    g.nodes.append(node)
    g.values.append(mine)
    x.used = True
    try:
        g.op(g.rng.choice(["OptionalGetElement", "OptionalHasElement"]), [mine])
    finally:
        g.values.remove(mine)


@operators("OptionalHasElement", "OptionalGetElement")
def optional_of_tensor(g, op):
    g.op(op, [g.operand(op, among=HELD)])
