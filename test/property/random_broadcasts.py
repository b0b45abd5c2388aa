"""random_broadcasts.py KILN [--count N] [--seed S] [--device D]... [-- OPTION...]

Random graphs whose tensors are broadcast along axes of open sizes: each axis of an input has a size of its own name, the
one that its neighbours have, or a number. A graph is compiled once and run with several sizes, where any of them may be
1 and the common one 0; what comes out is compared with plain loops over Python's lists. With sizes that do not fit, the
run has to end with a line that says so. Each graph has a seed of its own, printed where it fails: --seed S --count 1
makes and runs that one alone. What follows "--" goes to `kiln compile`, for example --no-opt.
"""
import argparse
import itertools
import json
import math
import os
import random
import re
import struct
import subprocess
import sys
import tempfile

SIZES = [0, 1, 1, 2, 3, 5, 17]
BINARY = {"add": lambda a, b: a + b, "sub": lambda a, b: a - b, "maximum": max, "minimum": min}


class Tensor:
    """A shape and its elements in row-major order."""

    def __init__(self, shape, data):
        self.shape, self.data = tuple(shape), data

    def at(self, position):
        """The element there, where axes of size 1 are repeated and leading ones are missing."""
        index = 0
        for size, place in zip(self.shape, position[len(position) - len(self.shape):]):
            index = index * size + (place if size != 1 else 0)
        return self.data[index]


def positions(shape):
    return itertools.product(*(range(size) for size in shape))


def common(*shapes):
    """NumPy's rule; None where the shapes do not fit."""
    rank = max(map(len, shapes))
    result = []
    for sizes in zip(*((1,) * (rank - len(shape)) + tuple(shape) for shape in shapes)):
        others = {size for size in sizes if size != 1}
        if len(others) > 1:
            return None
        result.append(others.pop() if others else 1)
    return tuple(result)


def each(function, *tensors):
    shape = common(*(t.shape for t in tensors))
    if shape is None:
        return None
    return Tensor(shape, [function(*(t.at(p) for t in tensors)) for p in positions(shape)])


def matmul(a, b):
    batch = common(a.shape[:-2], b.shape[:-2])
    if batch is None or a.shape[-1] != b.shape[-2]:
        return None
    shape = batch + (a.shape[-2], b.shape[-1])
    total = [sum(a.at(p[:-1] + (k,)) * b.at(p[:-2] + (k, p[-1])) for k in range(a.shape[-1])) for p in positions(shape)]
    return Tensor(shape, total)


def reduce(a, axis):
    shape = a.shape[:axis] + (1,) + a.shape[axis + 1:]
    return Tensor(shape, [sum(a.at(p[:axis] + (k,) + p[axis + 1:]) for k in range(a.shape[axis])) for p in positions(shape)])


def permute(a, order):
    shape = tuple(a.shape[i] for i in order)
    back = [order.index(i) for i in range(len(order))]
    return Tensor(shape, [a.at(tuple(p[i] for i in back)) for p in positions(shape)])


class Graph:
    """A graph, its symbols, and how to compute it with lists. `axes[i]` is the place that symbol i has from the right."""

    def __init__(self, chance):
        self.chance = chance
        self.rank = chance.randint(1, 4)
        self.fixed = [chance.choice([None, None, None, 4, 8]) for _ in range(self.rank)]  # a number for all, from the right
        self.symbols, self.inputs, self.nodes, self.ranks = {}, [], [], {}
        for _ in range(chance.randint(2, 4)):
            self.input()
        for _ in range(chance.randint(1, 4)):
            self.grow()

    def input(self):
        shape = []
        for place in reversed(range(self.chance.randint(1, self.rank))):
            kind = self.chance.random()
            if kind < 0.1:
                shape.append(1)
            elif self.fixed[place] and kind < 0.7:
                shape.append(self.fixed[place])
            else:
                same = [name for name, at in self.symbols.items() if at == place]
                name = self.chance.choice(same) if same and kind < 0.4 else f"n{len(self.symbols)}"
                self.symbols[name] = place
                shape.append(name)
        name = f"x{len(self.inputs)}"
        self.inputs.append({"name": name, "dtype": "float32", "shape": shape})
        self.ranks[name] = len(shape)

    def node(self, op, inputs, rank, **attributes):
        name = f"t{len(self.nodes)}"
        self.nodes.append({"op": op, "inputs": inputs, "output": name, **attributes})
        self.ranks[name] = rank
        return name

    def less(self, a, b):
        """A tensor of bools, which no other node takes."""
        name = self.node("less", [a, b], 0)
        del self.ranks[name]
        return name

    def grow(self):
        chance = self.chance
        a, b = chance.choice(list(self.ranks)), chance.choice(list(self.ranks))
        if not self.nodes:  # an input by another
            a, b = chance.sample([tensor["name"] for tensor in self.inputs], 2)
        rank = max(self.ranks[a], self.ranks[b])
        kind = chance.randrange(10)
        if kind < 6:
            self.node(chance.choice(list(BINARY)), [a, b], rank)
        elif kind == 6:
            other = chance.choice(list(self.ranks))
            self.node("where", [self.less(a, b), b, other], max(rank, self.ranks[other]))
        elif kind == 7:
            axis = chance.randrange(self.ranks[a])
            total = self.node("sum", [a], self.ranks[a], axes=[axis], keepdims=True)
            self.node("sub", [b, total], rank)
        elif kind == 8 and self.ranks[a] > 1 and self.ranks[a] == self.ranks[b]:
            order = list(range(self.ranks[a]))
            order[-1], order[-2] = order[-2], order[-1]
            self.node("matmul", [a, self.node("permute", [b], self.ranks[b], order=order)], rank)
        else:
            self.node("add", [self.node("neg", [a], self.ranks[a]), b], rank)

    def evaluate(self, tensors):
        """The tensors by name with those that nodes make; None where shapes do not fit."""
        for node in self.nodes:
            given = [tensors[name] for name in node["inputs"]]
            op = node["op"]
            if op in BINARY:
                made = each(BINARY[op], *given)
            elif op == "less":
                made = each(lambda a, b: a < b, *given)
            elif op == "where":
                made = each(lambda c, a, b: a if c else b, *given)
            elif op == "neg":
                made = each(lambda a: -a, *given)
            elif op == "sum":
                made = reduce(given[0], node["axes"][0])
            elif op == "permute":
                made = permute(given[0], node["order"])
            else:
                made = matmul(*given)
            if made is None:
                return None
            tensors[node["output"]] = made
        return tensors

    def document(self):
        used = {name for node in self.nodes for name in node["inputs"]}
        outputs = [node["output"] for node in self.nodes if node["output"] not in used]
        read = [tensor for tensor in self.inputs if tensor["name"] in used]
        return {"inputs": read, "nodes": self.nodes, "outputs": outputs}

    def sizes(self):
        """A size for each symbol, mostly so that they fit."""
        chance = self.chance
        target = [fixed or chance.choice(SIZES) for fixed in self.fixed]
        fits = chance.random() < 0.8
        return {name: (1 if chance.random() < 0.4 else target[place]) if fits or chance.random() < 0.8 else chance.choice(SIZES)
                for name, place in self.symbols.items()}


def write(path, tensor):
    shape = "".join(f"{size}, " for size in tensor.shape)
    header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': ({shape}), }}"
    header += " " * (-(len(header) + 11) % 64) + "\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode())
        file.write(struct.pack(f"<{len(tensor.data)}f", *tensor.data))


def read(path):
    with open(path, "rb") as file:
        data = file.read()
    length = struct.unpack("<H", data[8:10])[0]
    shape = [int(size) for size in re.search(r"'shape': \(([^)]*)\)", data[10:10 + length].decode())[1].split(",") if size.strip()]
    body = data[10 + length:]
    return Tensor(shape, list(struct.unpack(f"<{len(body) // 4}f", body)))


def filled(tensor, sizes, number):
    """An input with these sizes."""
    shape = [sizes.get(size, size) for size in tensor["shape"]]
    return Tensor(shape, [number() for _ in positions(shape)])


def compare(graph, document, program, sizes, folder):
    """What is wrong with a run of these sizes; None where nothing is."""
    tensors, files = {}, []
    for tensor in document["inputs"]:
        tensors[tensor["name"]] = filled(tensor, sizes, lambda: float(graph.chance.randint(-9, 9)))
        files.append(os.path.join(folder, tensor["name"] + ".npy"))
        write(files[-1], tensors[tensor["name"]])
    wanted = graph.evaluate(tensors)
    result = subprocess.run([program, *files, "--output-dir", folder], capture_output=True, text=True, timeout=60)
    if wanted is None:
        said = result.stderr.strip()
        good = result.returncode == 1 and said.count("\n") == 0 and "node 't" in said and ("equal" in said or "multipl" in said)
        return None if good else f"wanted an error, got {result.returncode} {result.stdout[:300]}{said}"
    if result.returncode:
        return f"{result.returncode} {result.stderr.strip()}"
    for number, name in enumerate(document["outputs"]):
        got = read(os.path.join(folder, f"output_{number}.npy"))
        if got.shape != wanted[name].shape:
            return f"{name}: shape {got.shape}, wanted {wanted[name].shape}"
        if not all(math.isclose(x, y, rel_tol=1e-5, abs_tol=1e-3) for x, y in zip(got.data, wanted[name].data)):
            return f"{name}: {got.data[:20]}, wanted {wanted[name].data[:20]}"
    return None


def attempt(kiln, seed, devices, options, runs, folder):
    graph = Graph(random.Random(seed))
    document = graph.document()
    path, program = os.path.join(folder, "graph.json"), os.path.join(folder, "program")
    with open(path, "w", encoding="utf-8") as file:
        json.dump(document, file)
    bindings = [graph.sizes() for _ in range(runs)]
    for device in devices:
        made = subprocess.run([kiln, "compile", path, "-o", program, "--device", device, *options], capture_output=True, text=True)
        if made.returncode == 1 and "cannot" in made.stderr and made.stderr.count("\n") == 1 and \
                all(graph.evaluate({t["name"]: filled(t, sizes, float) for t in document["inputs"]}) is None for sizes in bindings):
            return None  # shapes that never fit
        if made.returncode:
            return f"{json.dumps(document)}\n{made.stderr}"
        for sizes in bindings:
            if wrong := compare(graph, document, program, sizes, folder):
                return f"{json.dumps(document)}\n{device} {sizes}: {wrong}"
    return None


def main():
    end = sys.argv.index("--") if "--" in sys.argv else len(sys.argv)
    parser = argparse.ArgumentParser()
    parser.add_argument("kiln", type=os.path.abspath)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--runs", type=int, default=8)
    parser.add_argument("--device", action="append")
    given = parser.parse_args(sys.argv[1:end])
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(given.seed, given.seed + given.count):
            if wrong := attempt(given.kiln, seed, given.device or ["cpu"], sys.argv[end + 1:], given.runs, folder):
                failed += 1
                print(f"seed {seed}: {wrong}")
    print(f"seeds {given.seed} to {given.seed + given.count - 1}: {failed} failed")
    sys.exit(failed != 0)


if __name__ == "__main__":
    main()
