"""random_graphs.py KILN [--count N] [--seed S] [-- OPTION...]

Random graphs, some with a symbolic first dim and some with weights, compiled and compared with the graph interpreter on
random inputs. Each graph has a seed of its own, printed where it fails: --seed S --count 1 writes and runs that one
alone. What follows "--" goes to `kiln verify`, for example --schedule classic or --device c.
"""
import argparse
import json
import os
import random
import subprocess
import sys
import tempfile

UNARY = ["neg", "exp", "relu", "square", "abs", "sigmoid", "tanh"]
BINARY = ["add", "mul", "sub", "maximum", "minimum"]
ROWS = ["softmax", "log_softmax", "layernorm", "rmsnorm", "cumsum"]


def numbers(chance, sizes):
    """Of a weight of these sizes, as JSON has them."""
    return [numbers(chance, sizes[1:]) for _ in range(sizes[0])] if sizes else round(chance.uniform(-2, 2), 3)


class Graph:
    """A graph as it grows. The sizes of `shapes` are numbers; the symbolic dim stands as the number in `symbol`."""

    def __init__(self, chance):
        self.chance = chance
        self.nodes, self.inputs, self.weights, self.shapes = [], [], [], {}
        self.symbol = 9973 if chance.random() < 0.5 else None
        for i in range(chance.randint(1, 3)):
            shape = [chance.randint(1, 7) for _ in range(chance.randint(1, 3))]
            if self.symbol:
                shape[0] = self.symbol
            self.inputs.append({"name": f"x{i}", "dtype": "float32", "shape": self.written(shape)})
            self.shapes[f"x{i}"] = shape
        for _ in range(chance.randint(0, 2)):
            self.weight([chance.randint(1, 7) for _ in range(chance.randint(1, 3))])
        for _ in range(chance.randint(3, 12)):
            self.grow()
        while not self.nodes:
            self.grow()

    def written(self, shape):
        return ["n" if size == self.symbol else size for size in shape]

    def node(self, op, inputs, shape, **attributes):
        name = f"t{len(self.nodes)}"
        self.nodes.append({"op": op, "inputs": inputs, "output": name, **attributes})
        self.shapes[name] = shape
        return name

    def weight(self, shape):
        name = f"w{len(self.weights)}"
        self.weights.append({"name": name, "dtype": "float32", "shape": shape, "value": numbers(self.chance, shape)})
        self.shapes[name] = shape
        return name

    def affine(self, tensor, shape):
        """Factors and addends that are weights, along some of the axes, as a batch norm has them."""
        for op in self.chance.choices(["add", "mul", "sub"], k=self.chance.randint(1, 3)):
            along = [1 if size == self.symbol or self.chance.random() < 0.5 else size for size in shape]
            tensor = self.node(op, [tensor, self.weight(along)], shape)

    def grow(self):
        chance = self.chance
        a = chance.choice(list(self.shapes))
        shape = self.shapes[a]
        axis = chance.randrange(len(shape))
        kind = chance.randrange(14)
        if kind == 0:
            self.node(chance.choice(UNARY), [self.node("abs", [a], shape)], shape)
        elif kind <= 2:
            same = [b for b in self.shapes if self.shapes[b] == shape]
            self.node(chance.choice(BINARY), [a, chance.choice(same)], shape)
        elif kind == 3:
            keep = chance.random() < 0.7 or len(shape) == 1
            reduced = [1 if i == axis else size for i, size in enumerate(shape) if keep or i != axis]
            total = self.node(chance.choice(["sum", "mean", "max", "min"]), [a], reduced, axes=[axis], keepdims=keep)
            if keep and chance.random() < 0.6:
                self.node(chance.choice(BINARY), [a, total], shape)
        elif kind == 4:
            order = chance.sample(range(len(shape)), len(shape))
            self.node("permute", [a], [shape[i] for i in order], order=order)
        elif kind == 5:
            pads = [[chance.randint(0, 2), chance.randint(0, 2)] if size != self.symbol else [0, 0] for size in shape]
            self.node("pad", [a], [size + low + high for size, (low, high) in zip(shape, pads)], pads=pads)
        elif kind == 6:
            bounds = [[0, "n"] if size == self.symbol else sorted([chance.randint(0, size - 1), size]) for size in shape]
            self.node("shrink", [a], [self.symbol if end == "n" else end - begin for begin, end in bounds], bounds=bounds)
        elif kind == 7:
            self.node("flip", [a], shape, axes=[axis])
        elif kind == 8:
            op = chance.choice(ROWS)
            where = {"axis": axis} if op in ("softmax", "log_softmax", "cumsum") else {"axes": [axis]}
            self.node(op, [a], shape, **where)
        elif kind == 9:
            self.affine(a, shape)
        elif kind == 10 and shape[-1] != self.symbol:
            columns = chance.randint(1, 7)
            product = self.node("matmul", [a, self.weight([shape[-1], columns])], shape[:-1] + [columns])
            self.affine(product, shape[:-1] + [columns])
        elif kind == 11 and shape[axis] != self.symbol:
            joined = [2 * size if i == axis else size for i, size in enumerate(shape)]
            self.node("concat", [a, chance.choice([b for b in self.shapes if self.shapes[b] == shape])], joined, axis=axis)
        elif kind == 12 and len(shape) >= 2 and shape[-1] != self.symbol:
            small = self.node("tanh", [a], shape)  # scores that no exponential takes out of range
            values = chance.choice([b for b in self.shapes if self.shapes[b] == shape])
            self.node("attention", [small, small, values], shape, causal=chance.random() < 0.5)
        elif len(shape) >= 2:
            turned = self.node("transpose", [a], shape[:-2] + [shape[-1], shape[-2]])
            self.node("matmul", [a, turned], shape[:-1] + [shape[-2]])

    def document(self):
        used = {name for node in self.nodes for name in node["inputs"]}
        outputs = [node["output"] for node in self.nodes if node["output"] not in used]
        also = self.chance.choice(self.nodes)["output"]  # mostly one that others read too
        return {"inputs": self.inputs, "weights": self.weights, "nodes": self.nodes,
                "outputs": list(dict.fromkeys([*outputs[-4:], also]))}


def main():
    end = sys.argv.index("--") if "--" in sys.argv else len(sys.argv)
    rest = sys.argv[end + 1:]
    parser = argparse.ArgumentParser()
    parser.add_argument("kiln")
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args(sys.argv[1:end])
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(given.seed, given.seed + given.count):
            graph = Graph(random.Random(seed))
            path = os.path.join(folder, f"graph{seed}.json")
            with open(path, "w") as file:
                json.dump(graph.document(), file)
            sizes = ["--at", "n=1", "--at", "n=5"] if graph.symbol else []
            command = [given.kiln, "verify", path, "--atol", "1e-4", *sizes, *rest]
            result = subprocess.run(command, capture_output=True, text=True)
            if result.returncode:
                failed += 1
                print(f"seed {seed}: {json.dumps(graph.document())}\n{result.stdout[-800:]}{result.stderr[-800:]}")
            os.remove(path)
    print(f"seeds {given.seed} to {given.seed + given.count - 1}: {failed} failed")
    sys.exit(failed != 0)


if __name__ == "__main__":
    main()
