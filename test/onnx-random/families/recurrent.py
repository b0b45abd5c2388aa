"""RNN, GRU and LSTM."""

from onnx import TensorProto

import schemas
from families import operators

GATES = {"RNN": 1, "GRU": 3, "LSTM": 4}


@operators(*GATES)
def recurrent(g, op):
    length, batch, features, hidden = (g.rng.choice(each) for each in ([1, 2, 4], [1, 2, 3], [1, 3, 5], [1, 2, 4]))
    direction = g.rng.choice([None, "forward", "reverse", "bidirectional"])
    ways = 2 if direction == "bidirectional" else 1
    layout = g.rng.choice([None, None, 0]) if schemas.schema(op, g.scope.opset).since_version >= 14 else None
    dtype = TensorProto.FLOAT
    x = g.pick(lambda value: value.rank == 3 and value.dtype == dtype and value.data.size, 0.4) or g.new(dtype, (length, batch, features))
    length, batch, features = x.shape
    rows = GATES[op] * hidden

    def maybe(*shape):
        return g.weight(dtype, shape, -1, 1) if g.chance(0.5) else None
    lengths = g.source(g.array(TensorProto.INT32, (batch,), 1, length + 1)) if g.chance(0.3) else None
    inputs = [x, g.weight(dtype, (ways, rows, features), -1, 1), g.weight(dtype, (ways, rows, hidden), -1, 1), maybe(ways, 2 * rows), lengths,
              maybe(ways, batch, hidden)]
    if op == "LSTM":
        inputs += [maybe(ways, batch, hidden), maybe(ways, 3 * hidden)]
    while inputs[-1] is None:
        inputs.pop()
    count = 3 if op == "LSTM" else 2
    names = {"RNN": 1, "GRU": 2, "LSTM": 3}[op] * ways
    activations = [g.rng.choice(["Tanh", "Sigmoid", "Relu"]) for _ in range(names)] if g.chance(0.25) else None
    g.op(op, inputs, outputs=count, want=sorted(g.rng.sample(range(count), g.rng.randint(1, count))), hidden_size=hidden,
         direction=direction, layout=layout, activations=activations, clip=g.rng.choice([None, None, None, 0.5]),
         linear_before_reset=g.rng.choice([None, 0, 1]), input_forget=g.rng.choice([None, None, 0]))
