"""random_opts.py PROGRAM [--graphs N] [--seed S] [-- OPTION...]

Random small graphs, most of them a kernel or two of a kind that opts matter for, handed to OptsProperty (PROGRAM), which
walks their kernels by random opts and compares with the graph interpreter. Each graph has a seed of its own; a find is
printed with the graph and its file of opts. What follows "--" goes to PROGRAM, for example --lists 100 or --device opencl.
"""
import argparse
import json
import os
import random
import subprocess
import sys
import tempfile

from random_graphs import BINARY, DTYPES, ROWS, UNARY, Graph, numbers


class Kernels(Graph):
    """A graph of one product, window, row or chain, between a few element-wise and movement nodes."""

    def __init__(self, chance):
        self.chance = chance
        self.nodes, self.inputs, self.weights, self.shapes = [], [], [], {}
        self.dtypes, self.exact = {}, set()
        self.symbol = 9973 if chance.random() < 0.3 else None
        kinds = [self.product, self.product, self.narrow_product, self.convolution, self.pool, self.row, self.attention, self.reduction,
                 self.elementwise, self.gather, self.integers]
        tensor = chance.choice(kinds)()
        for _ in range(chance.choice([0, 0, 1, 1, 2])):
            if self.dtypes[tensor] == "float32":
                tensor = self.follow(tensor)

    def size(self):
        return self.chance.choice([self.chance.randint(1, 6), self.chance.randint(2, 13), self.chance.randint(7, 40)])

    def first(self):
        """The size of an axis that may be open."""
        return self.symbol or self.size()

    def read(self, shape):
        """A tensor of this shape: an input, as it is or through a view, masked, or computed."""
        kind = self.chance.randrange(8)
        if kind == 0:
            order = self.chance.sample(range(len(shape)), len(shape))
            given = [0] * len(shape)
            for i, axis in enumerate(order):
                given[axis] = shape[i]
            return self.node("permute", [self.input(given)], shape, order=order)
        axis = self.chance.randrange(len(shape))
        fixed = shape[axis] != self.symbol
        if kind == 1 and fixed and shape[axis] > 1:
            before = self.chance.randint(0, shape[axis] - 1)
            given = [1 + (size - 1 - before) // 2 if i == axis else size for i, size in enumerate(shape)]
            pads = [[before, size - before - given[i]] if i == axis else [0, 0] for i, size in enumerate(shape)]
            return self.node("pad", [self.input(given)], shape, pads=pads)
        if kind == 2 and fixed:
            begin = self.chance.randint(0, 3)
            given = [size + begin + 1 if i == axis else size for i, size in enumerate(shape)]
            bounds = [[begin, begin + size] if i == axis else [0, "n" if size == self.symbol else size]
                      for i, size in enumerate(shape)]
            return self.node("shrink", [self.input(given)], shape, bounds=bounds)
        if kind == 3:
            return self.node("flip", [self.input(shape)], shape, axes=[axis])
        if kind == 4:
            return self.node(self.chance.choice(["relu", "tanh", "square"]), [self.input(shape)], shape)
        if kind == 5 and fixed and self.chance.random() < 0.5:  # the same along an axis, which may be summed up
            repeated = self.node("expand", [self.input([1 if i == axis else size for i, size in enumerate(shape)])], shape)
            self.nodes[-1]["shape"] = self.written(shape)
            return repeated
        return self.input(shape)

    def broadcast(self, shape):
        return [1 if self.chance.random() < 0.5 else size for size in shape]

    def follow(self, tensor):
        """One node more, as a kernel's epilogue often has it."""
        shape, kind = self.shapes[tensor], self.chance.randrange(6)
        if kind == 0:
            return self.node(self.chance.choice(["relu", "tanh", "sigmoid"]), [tensor], shape)
        if kind == 1:
            return self.node(self.chance.choice(["add", "mul"]), [tensor, self.read(shape)], shape)
        if kind == 2:
            return self.node("add", [tensor, self.input(self.broadcast(shape))], shape)
        if kind == 3 and shape:
            axis = self.chance.randrange(len(shape))
            reduced = [1 if i == axis else size for i, size in enumerate(shape)]
            total = self.node(self.chance.choice(["sum", "max"]), [tensor], reduced, axes=[axis], keepdims=True)
            return self.node("add", [tensor, total], shape) if self.chance.random() < 0.5 else total
        if kind == 4 and len(shape) >= 2:
            return self.node("transpose", [tensor], shape[:-2] + [shape[-1], shape[-2]])
        return self.node("add", [tensor, 1], shape)

    def product(self):
        batch = [self.size() for _ in range(self.chance.choice([0, 0, 0, 1, 2]))]
        m, k, n = self.first(), self.size(), self.size()
        if self.symbol and self.chance.random() < 0.4:
            m, k, n = self.chance.choice([(k, m, n), (k, n, m)])
        a, b = self.read(batch + [m, k]), self.read(batch + [k, n])
        return self.node("matmul", [a, b], batch + [m, n])

    def narrow_product(self):
        """Of bfloat16, summed up in float32, as matrix instructions take it: terms in pairs."""
        batch = [self.size()] if self.chance.random() < 0.2 else []
        m, k, n = self.first(), 2 * self.chance.choice([8, 16, 24, 32, self.size()]), self.chance.choice([8, 16, 24, self.size()])
        if self.chance.random() < 0.3:
            m = self.size()

        def read(shape):
            narrow = self.input(shape, "bfloat16")
            if self.chance.random() < 0.2:
                narrow = self.node("flip", [narrow], shape, axes=[self.chance.randrange(len(shape))])
            return self.node("cast", [narrow], shape, dtype="float32")
        return self.node("matmul", [read(batch + [m, k]), read(batch + [k, n])], batch + [m, n])

    def convolution(self):
        rank = self.chance.choice([1, 2, 2])
        groups = self.chance.choice([1, 1, 2, 3])
        depth, width = groups * self.chance.randint(1, 4), groups * self.chance.randint(1, 6)
        spatial = [self.chance.randint(4, 14) for _ in range(rank)]
        kernel = [self.chance.randint(1, 3) for _ in range(rank)]
        strides = [self.chance.choice([1, 1, 2]) for _ in range(rank)]
        dilations = [self.chance.choice([1, 1, 2]) if size + 2 <= window * 2 else 1 for size, window in zip(kernel, spatial)]
        dilations = [d if (window - 1) * d + 1 <= size else 1 for d, window, size in zip(dilations, kernel, spatial)]
        pads = [[self.chance.randint(0, 2), self.chance.randint(0, 2)] for _ in range(rank)]
        out = [(size + low + high - (window - 1) * dilation - 1) // stride + 1 for size, (low, high), window, dilation, stride
               in zip(spatial, pads, kernel, dilations, strides)]
        count = self.symbol or self.chance.randint(1, 3)
        x, w = self.read([count, depth] + spatial), self.read([width, depth // groups] + kernel)
        return self.node(f"conv{rank}d", [x, w], [count, width] + out, strides=strides, dilations=dilations, pads=pads,
                         groups=groups)

    def pool(self):
        spatial = [self.chance.randint(4, 14) for _ in range(2)]
        kernel = [self.chance.randint(1, 3) for _ in range(2)]
        strides = [self.chance.choice([1, 2]) for _ in range(2)]
        pads = [[self.chance.randint(0, size // 2), self.chance.randint(0, size // 2)] for size in kernel]
        out = [(size + low + high - window) // stride + 1 for size, (low, high), window, stride
               in zip(spatial, pads, kernel, strides)]
        count, depth = self.symbol or self.chance.randint(1, 3), self.chance.randint(1, 9)
        op = self.chance.choice(["max_pool2d", "avg_pool2d"])
        return self.node(op, [self.read([count, depth] + spatial)], [count, depth] + out, kernel=kernel, strides=strides,
                         pads=pads)

    def row(self):
        shape = [self.first()] + [self.size() for _ in range(self.chance.randint(0, 2))]
        axis, op = self.chance.randrange(len(shape)), self.chance.choice(ROWS)
        where = {"axis": axis} if op in ("softmax", "log_softmax", "cumsum") else {"axes": [axis]}
        small = self.node("tanh", [self.read(shape)], shape)  # sums that cancel little
        return self.node(op, [small], shape, **where)

    def attention(self):
        batch, heads = self.first(), [self.chance.randint(1, 4)] if self.chance.random() < 0.7 else []
        queries, keys, d, e = (self.chance.randint(1, 12) for _ in range(4))
        causal = self.chance.random() < 0.4
        if causal:
            keys = queries
        q = self.node("tanh", [self.read([batch] + heads + [queries, d])], [batch] + heads + [queries, d])
        k, v = self.input([batch] + heads + [keys, d]), self.read([batch] + heads + [keys, e])
        mask = [self.input([queries, keys])] if not causal and self.chance.random() < 0.4 else []
        return self.node("attention", [q, k, v, *mask], [batch] + heads + [queries, e], causal=causal)

    def reduction(self):
        shape = [self.first()] + [self.size() for _ in range(self.chance.randint(0, 3))]
        axes = sorted(self.chance.sample(range(len(shape)), self.chance.randint(1, len(shape))))
        reduced = [1 if i in axes else size for i, size in enumerate(shape)]
        op = self.chance.choice(["sum", "mean", "max", "min"])
        return self.node(op, [self.read(shape)], reduced, axes=axes, keepdims=True)

    def elementwise(self):
        shape = [self.first()] + [self.size() for _ in range(self.chance.randint(0, 3))]
        tensor = self.read(shape)
        for _ in range(self.chance.randint(1, 3)):
            if self.chance.random() < 0.5:
                tensor = self.node(self.chance.choice(BINARY), [tensor, self.read(shape)], shape)
            else:
                tensor = self.node(self.chance.choice([op for op in UNARY if op != "exp"]), [tensor], shape)
        return tensor

    def gather(self):
        rows, count = self.size(), self.first()
        shape = [rows] + [self.size() for _ in range(self.chance.randint(0, 2))]
        x, index = self.read(shape), self.node("cast", [self.node("clip", [self.input([count])], [count], low=0,
                                                                  high=rows - 1)], [count], dtype="int32")
        return self.node("gather", [x, index], [count] + shape[1:], axis=0)

    def integers(self):
        """Of another dtype than float32: lanes of other widths, and of bool."""
        shape = [self.first()] + [self.size() for _ in range(self.chance.randint(0, 2))]
        dtype = self.chance.choice([dtype for dtype in DTYPES if dtype != "float32"])
        a, b = self.input(shape, "bool" if dtype == "bool" else dtype), self.input(shape, dtype)
        if dtype == "bool":
            both = self.node("and", [a, b], shape)
        else:
            both = self.node("add", [a, b], shape)
            if self.chance.random() < 0.5:
                both = self.node("where", [self.node("less", [a, b], shape), a, both], shape)
        # To floats from anything; to integers and narrow floats where nothing is rounded before.
        return self.node("cast", [both], shape, dtype=self.chance.choice(DTYPES if "float" not in dtype else ["float32", "float64"]))

    def fix(self, chance):
        """Makes weights of some inputs of known sizes, but not of all, so that what is held of them is packed by a recipe."""
        for given in self.inputs[1:]:
            is_fixed = all(isinstance(size, int) for size in given["shape"])
            if given["dtype"] == "float32" and is_fixed and chance.random() < 0.6:
                self.inputs.remove(given)
                self.weights.append({**given, "value": numbers(chance, given["shape"])})

    def document(self):
        used = {name for node in self.nodes for name in node["inputs"]}
        outputs = [node["output"] for node in self.nodes if node["output"] not in used]
        return {"inputs": self.inputs, "weights": self.weights, "nodes": self.nodes, "outputs": outputs}


def graph_of(seed):
    chance = random.Random(seed)
    if chance.random() < 0.15:
        return Graph(chance)
    graph, others = Kernels(chance), random.Random(f"weights {seed}")
    if others.random() < 0.5:
        graph.fix(others)
    return graph


def main():
    end = sys.argv.index("--") if "--" in sys.argv else len(sys.argv)
    rest = sys.argv[end + 1:]
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--graphs", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", help="a folder for the graphs, instead of none")
    given = parser.parse_args(sys.argv[1:end])
    with tempfile.TemporaryDirectory() as temporary:
        folder = given.keep or temporary
        os.makedirs(folder, exist_ok=True)
        paths = []
        for seed in range(given.seed, given.seed + given.graphs):
            paths.append(os.path.join(folder, f"graph{seed}.json"))
            with open(paths[-1], "w") as file:
                json.dump(graph_of(seed).document(), file)
        sys.exit(subprocess.run([given.program, "--seed", str(given.seed), *rest, *paths]).returncode)


if __name__ == "__main__":
    main()
