#!/usr/bin/env python3
"""gathers.py KILN SEED COUNT DEVICE [OPTION...]: random graphs with a gather in the middle, against the interpreter.

The source of a gather is moved or computed, the indices are moved or computed, negative or not, and the result is moved,
computed with or summed. Half of the graphs have symbols for sizes. A graph that is wrong is printed with its number.
"""

import json
import os
import random
import subprocess
import sys
import tempfile

kiln, seed, count, device, *options = sys.argv[1:]


class Graph:
    """A chain of nodes; `shape` is the last one's, `dims` the same as it is written: names stand for symbols."""

    def __init__(self, rng):
        self.rng = rng
        self.inputs, self.nodes = [], []

    def add(self, op, inputs, **attributes):
        self.nodes.append({"op": op, "inputs": inputs, "output": f"t{len(self.nodes)}", **attributes})
        return f"t{len(self.nodes) - 1}"

    def input(self, shape, dims, dtype, values=None):
        name = f"in{len(self.inputs)}"
        entry = {"name": name, "dtype": dtype, "shape": dims}
        if values is not None:
            entry["value"] = nested(values, shape)
        self.inputs.append(entry)
        return name

    def moved(self, name, shape, dims):
        """One movement, or none; symbolic axes only change places."""
        kind = self.rng.choice(["permute", "flip", "pad", "slice", "merge", "none"])
        axis = self.rng.randrange(len(shape)) if shape else None
        if axis is None or kind == "none":
            return name, shape, dims
        fixed = dims[axis] == shape[axis]
        if kind == "permute":
            order = self.rng.sample(range(len(shape)), len(shape))
            return self.add("permute", [name], order=order), [shape[i] for i in order], [dims[i] for i in order]
        if kind == "flip":
            return self.add("flip", [name], axes=[axis]), shape, dims
        if kind == "merge" and axis + 1 < len(shape) and fixed and dims[axis + 1] == shape[axis + 1]:
            merged = shape[:axis] + [shape[axis] * shape[axis + 1]] + shape[axis + 2:]
            text = dims[:axis] + [merged[axis]] + dims[axis + 2:]
            return self.add("reshape", [name], shape=text), merged, text
        if kind == "pad" and fixed:
            pads = [[0, 0] for _ in shape]
            pads[axis] = [self.rng.randrange(3), self.rng.randrange(3)]
            size = shape[axis] + sum(pads[axis])
            return (self.add("pad", [name], pads=pads), shape[:axis] + [size] + shape[axis + 1:],
                    dims[:axis] + [size] + dims[axis + 1:])
        if kind == "slice" and fixed and shape[axis] > 1:
            begin = self.rng.randrange(shape[axis] - 1)
            slices = [[None, None]] * len(shape)
            slices[axis] = [begin, shape[axis]]
            size = shape[axis] - begin
            return (self.add("slice", [name], slices=slices), shape[:axis] + [size] + shape[axis + 1:],
                    dims[:axis] + [size] + dims[axis + 1:])
        return name, shape, dims


def nested(values, shape):
    if not shape:
        return values[0]
    step = len(values) // shape[0] if shape[0] else 0
    return [nested(values[i * step:(i + 1) * step], shape[1:]) for i in range(shape[0])]


def size_of(shape):
    total = 1
    for size in shape:
        total *= size
    return total


def generate(rng):
    graph = Graph(rng)
    symbolic = rng.random() < 0.5

    def sizes(rank, letter):
        shape = [rng.randrange(1, 20) if rng.random() < 0.2 else rng.randrange(1, 6) for _ in range(rank)]
        dims = [f"{letter}{i}" if symbolic and rng.random() < 0.5 else size for i, size in enumerate(shape)]
        return shape, dims

    shape, dims = sizes(rng.randrange(1, 4), "n")
    given = [shape]
    table = graph.input(shape, dims, "float32")
    table, shape, dims = graph.moved(table, shape, dims)
    if rng.random() < 0.4:
        table = graph.add(rng.choice(["exp", "neg"]), [table])
        table, shape, dims = graph.moved(table, shape, dims)
    axis = rng.randrange(len(shape))

    at_shape, at_dims = sizes(rng.randrange(0, 3), "i")
    given.append(at_shape)
    dtype = rng.choice(["int32", "int64", "int64", "uint8", "int8"])

    def number(value):
        return graph.add("full", [], shape=[], dtype=dtype, value=value)

    if at_dims == at_shape and rng.random() < 0.7:
        low = 0 if dtype == "uint8" else -shape[axis]
        at = graph.input(at_shape, at_dims, dtype, [rng.randrange(low, shape[axis]) for _ in range(size_of(at_shape))])
    else:  # random numbers from 0 to 9, brought into range
        signed = dtype != "uint8"
        at = graph.input(at_shape, at_dims, dtype)
        at = graph.add("minimum", [at, number(shape[axis] * (2 if signed else 1) - 1)])
        if signed:
            at = graph.add("sub", [at, number(shape[axis])])
    at, at_shape, at_dims = graph.moved(at, at_shape, at_dims)
    result = graph.add("gather", [table, at], axis=axis)
    shape = shape[:axis] + at_shape + shape[axis + 1:]
    dims = dims[:axis] + at_dims + dims[axis + 1:]
    for _ in range(2):
        result, shape, dims = graph.moved(result, shape, dims)
        if rng.random() < 0.5:
            kind = rng.choice(["neg", "cos", "sum"]) if shape else "neg"
            result = graph.add(kind, [result])
            if kind == "sum":
                shape, dims = [], []
    symbols = {}
    for entry, known in zip(graph.inputs, given):
        symbols.update({dim: {"default": size} for dim, size in zip(entry["shape"], known) if dim != size})
    return {"symbols": symbols, "inputs": graph.inputs, "nodes": graph.nodes, "outputs": [result]}


wrong = 0
with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "graph.json")
    for number in range(int(count)):
        model = generate(random.Random(f"{seed}.{number}"))
        with open(path, "w") as file:
            json.dump(model, file)
        run = subprocess.run([kiln, "verify", path, "--device", device, *options], capture_output=True, text=True)
        if run.returncode != 0:
            wrong += 1
            print(f"graph {seed}.{number}:", json.dumps(model), run.stdout, run.stderr, sep="\n")
print(f"{wrong} of {count} are wrong")
sys.exit(1 if wrong else 0)
