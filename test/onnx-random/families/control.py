"""If, Loop and Scan, with bodies that use tensors of the graph around them."""

import numpy
from onnx import TensorProto

from families import operators
from graph import Graph
from growth import grow
from schemas import Unfit
from values import value_of

CARRIED = [TensorProto.FLOAT, TensorProto.FLOAT, TensorProto.DOUBLE, TensorProto.INT64, TensorProto.INT32]


def condition(g):
    found = g.pick(lambda value: value.dtype == TensorProto.BOOL and value.shape == (), 0.6)
    if found:
        return found
    if g.chance(0.4):
        x = g.new(TensorProto.FLOAT, ())
        return g.op("Greater", [x, g.source(numpy.float32(0.1))])
    return g.new(TensorProto.BOOL, ())


def computed(graph):
    """A tensor that a node of the graph makes; nodes are added until there is one."""
    grow(graph, graph.rng.choice([1, 1, 2]))
    made = [value for value in graph.values if value.kind == "tensor" and not value.fixed and value.rank <= 5 and not value.used]
    if not made:
        raise Unfit("an empty body")
    return graph.rng.choice(made)


@operators("If")
def if_(g, op):
    chosen = condition(g)
    count, before = g.scope.count, set(g.scope.taken)
    branches = [Graph(g.scope, outer=g)]
    y = computed(branches[0])
    # Names of one branch may be those of the other.
    after, g.scope.taken = g.scope.taken, before | {value.name for value in g.visible()}
    last, g.scope.count = g.scope.count, count
    other = Graph(g.scope, outer=g)
    other.siblings = after
    branches.append(other)
    x = other.pick(lambda value: value.dtype == y.dtype and value.rank == y.rank, 0.6)
    x = x or other.source(other.array(y.dtype, y.shape if g.chance(0.5) else g.shape(y.rank)))
    z = other.op("Identity" if g.chance(0.5) or x.dtype in (TensorProto.BOOL, TensorProto.STRING) else g.rng.choice(["Abs", "Identity"]), [x])
    g.scope.taken |= after
    g.scope.count = max(g.scope.count, last)
    for branch in branches:
        branch.grows = y.shape != z.shape
    graphs = {"then_branch": branches[0].proto([y]), "else_branch": other.proto([z])}
    if g.chance(0.5):
        graphs = dict(zip(graphs, reversed(graphs.values())))
    g.op(op, [chosen], graphs=graphs)


def entry(body, stem, data):
    """An input of a body with the data of its first run."""
    value = value_of(body.scope.name(stem), data)
    body.inputs.append(value)
    body.values.append(value)
    return value


def step(body, state):
    """A state's next value, of the same shape and dtype."""
    y = body.op(body.rng.choice(["Add", "Sub", "Max", "Min"]), [state, body.partner(state)])
    return body.op("Abs", [y]) if body.chance(0.2) else y


@operators("Loop")
def loop(g, op):
    start = g.new(g.rng.choice(CARRIED), g.shape(high=3))
    trips = g.rng.choice([0, 1, 2, 3, 5]) if g.chance(0.9) else None
    # Without a condition at the start, that of the body is ignored.
    given = g.source(numpy.asarray(True)) if trips is None else condition(g) if g.chance(0.5) else None
    limit = None if trips is None else g.source(numpy.asarray(trips, numpy.int64))
    body = Graph(g.scope, outer=g)
    number = entry(body, "i", numpy.asarray(0, numpy.int64))
    going = entry(body, "go", numpy.asarray(True))
    state = entry(body, "s", start.data)
    grows = body.grows = start.rank > 0 and g.chance(0.2)
    after = body.op("Concat", [state, body.new(start.dtype, (g.rng.choice([1, 2]), *start.shape[1:]))], axis=0) if grows else step(body, state)
    if trips is None or given and g.chance(0.5):
        again = body.op("Less", [number, body.source(numpy.asarray(g.rng.choice([1, 2, 3]), numpy.int64), "node")])
    else:
        again = body.op("Identity", [going])
    scans = []
    if g.chance(0.5):
        scans.append(body.op("Cast", [number], to=TensorProto.FLOAT) if g.chance(0.3) else step(body, state) if not grows else number)
        if scans[-1] is number:
            scans[-1] = body.op("Identity", [number])
    made = g.op(op, [limit, given, start], outputs=1 + len(scans), graphs={"body": body.proto([again, after, *scans])})
    if scans and made[1].shape[0] == 0:
        raise Unfit("nothing says what sizes slices would have had")


@operators("Scan")
def scan(g, op):
    if g.scope.opset < 9:
        raise Unfit("the first Scan has batches")
    start = g.new(g.rng.choice(CARRIED), g.shape(high=2))
    length = g.rng.choice([1, 2, 4])
    row = g.shape(g.rng.choice([0, 1, 2]))
    axis = g.rng.randint(0, len(row))
    x = g.new(g.rng.choice(CARRIED), (*row[:axis], length, *row[axis:]))
    body = Graph(g.scope, outer=g)
    state = entry(body, "s", start.data)
    part = entry(body, "p", numpy.take(x.data, 0, axis))
    after = step(body, state)
    y = step(body, part)
    flips, flips_out = ([g.rng.choice([0, 1])] if g.chance(0.4) else None for _ in range(2))
    g.op(op, [start, x], outputs=2, graphs={"body": body.proto([after, y])}, num_scan_inputs=1,
         scan_input_axes=[axis] if axis or g.chance(0.3) else None, scan_input_directions=flips, scan_output_directions=flips_out,
         scan_output_axes=[g.rng.randint(0, y.rank)] if g.chance(0.4) else None)
