"""random_graphs.py KILN [--count N] [--seed S] [-- OPTION...]

Random graphs of all dtypes, some with a symbolic first dim and some with weights, compiled and compared with the graph
interpreter on random inputs. Each graph has a seed of its own, printed where it fails: --seed S --count 1 writes and runs that one
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
# Of numbers of any dtype, without a rounding.
EXACT_UNARY = ["neg", "abs", "relu"]
EXACT_BINARY = ["maximum", "minimum"]

WIDE = ["float32", "float64"]
NARROW = ["float16", "bfloat16"]
INTEGERS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
DTYPES = ["bool", *INTEGERS, *NARROW, *WIDE]


def numbers(chance, sizes):
    """Of a weight of these sizes, as JSON has them."""
    return [numbers(chance, sizes[1:]) for _ in range(sizes[0])] if sizes else round(chance.uniform(-2, 2), 3)


class Graph:
    """A graph as it grows. The sizes of `shapes` are numbers; the symbolic dim stands as the number in `symbol`.

    A device may round a sum of floats otherwise than the interpreter, and what is cut to an integer or to a narrow float makes
    much of little. So only what is `exact` is cast to these, and narrow floats are moved, compared and cast, not added up.
    """

    def __init__(self, chance):
        self.chance = chance
        self.nodes, self.inputs, self.weights, self.shapes = [], [], [], {}
        self.dtypes, self.exact = {}, set()
        self.symbol = 9973 if chance.random() < 0.5 else None
        for i in range(chance.randint(1, 3)):
            shape = [chance.randint(1, 7) for _ in range(chance.randint(1, 3))]
            if self.symbol:
                shape[0] = self.symbol
            self.input(shape, "float32" if chance.random() < 0.5 else chance.choice(DTYPES))
        for _ in range(chance.randint(0, 2)):
            self.weight([chance.randint(1, 7) for _ in range(chance.randint(1, 3))])
        for _ in range(chance.randint(3, 12)):
            self.grow()
        while not self.nodes:
            self.grow()

    def written(self, shape):
        return ["n" if size == self.symbol else size for size in shape]

    def input(self, shape, dtype="float32"):
        name = f"x{len(self.inputs)}"
        self.inputs.append({"name": name, "dtype": dtype, "shape": self.written(shape)})
        self.shapes[name], self.dtypes[name] = shape, dtype
        self.exact.add(name)
        return name

    def node(self, op, inputs, shape, gives=None, **attributes):
        """Of the dtype that it gives, by default that of its first input; not exact."""
        name = f"t{len(self.nodes)}"
        self.nodes.append({"op": op, "inputs": inputs, "output": name, **attributes})
        self.shapes[name], self.dtypes[name] = shape, gives or attributes.get("dtype", self.dtypes[inputs[0]])
        return name

    def plain(self, op, inputs, shape, **attributes):
        """A node that is exact where its inputs are."""
        name = self.node(op, inputs, shape, **attributes)
        if self.exact.issuperset(inputs):
            self.exact.add(name)
        return name

    def like(self, tensor):
        """One of its shape and dtype."""
        return self.chance.choice([b for b in self.shapes
                                   if self.shapes[b] == self.shapes[tensor] and self.dtypes[b] == self.dtypes[tensor]])

    def weight(self, shape):
        name = f"w{len(self.weights)}"
        self.weights.append({"name": name, "dtype": "float32", "shape": shape, "value": numbers(self.chance, shape)})
        self.shapes[name], self.dtypes[name] = shape, "float32"
        self.exact.add(name)
        return name

    def affine(self, tensor, shape):
        """Factors and addends that are weights, along some of the axes, as a batch norm has them."""
        for op in self.chance.choices(["add", "mul", "sub"], k=self.chance.randint(1, 3)):
            along = [1 if size == self.symbol or self.chance.random() < 0.5 else size for size in shape]
            tensor = self.node(op, [tensor, self.weight(along)], shape)

    def grow(self):
        a = self.chance.choice(list(self.shapes))
        kind = self.chance.randrange(20)
        if kind < 3:
            self.cast(a)
        elif kind < 9:
            self.move(a)
        elif self.dtypes[a] == "float32" or (self.dtypes[a] == "float64" and kind < 15):
            self.compute(a, kind)
        else:
            self.compute_exactly(a)

    def cast(self, a):
        self.plain("cast", [a], self.shapes[a], dtype=self.chance.choice(DTYPES if a in self.exact else WIDE))

    def move(self, a):
        chance, shape = self.chance, self.shapes[a]
        axis = chance.randrange(len(shape))
        kind = chance.randrange(5)
        if kind == 0:
            order = chance.sample(range(len(shape)), len(shape))
            self.plain("permute", [a], [shape[i] for i in order], order=order)
        elif kind == 1:
            pads = [[chance.randint(0, 2), chance.randint(0, 2)] if size != self.symbol else [0, 0] for size in shape]
            self.plain("pad", [a], [size + low + high for size, (low, high) in zip(shape, pads)], pads=pads)
        elif kind == 2:
            bounds = [[0, "n"] if size == self.symbol else sorted([chance.randint(0, size - 1), size]) for size in shape]
            self.plain("shrink", [a], [self.symbol if end == "n" else end - begin for begin, end in bounds], bounds=bounds)
        elif kind == 3 or shape[axis] == self.symbol:
            self.plain("flip", [a], shape, axes=[axis])
        else:
            joined = [2 * size if i == axis else size for i, size in enumerate(shape)]
            self.plain("concat", [a, self.like(a)], joined, axis=axis)

    def compute_exactly(self, a):
        """Without a rounding: any dtype."""
        chance, shape, dtype = self.chance, self.shapes[a], self.dtypes[a]
        kind = chance.randrange(5)
        if kind == 0:
            flag = self.plain(chance.choice(["cmplt", "cmpne", "cmpeq"]), [a, self.like(a)], shape, gives="bool")
            if flag not in self.exact:  # near ties go either way
                self.drop(flag)
        elif dtype == "bool":
            self.plain(chance.choice(["and", "or", "xor"]), [a, self.like(a)], shape)
        elif kind == 1:
            self.plain(chance.choice(EXACT_UNARY), [a], shape)
        elif kind == 2:
            axis = chance.randrange(len(shape))
            reduced = [1 if i == axis else size for i, size in enumerate(shape)]
            how = ["max", "min"] + (["add"] if dtype in INTEGERS else [])
            self.plain("reduce", [a], reduced, kind=chance.choice(how), axes=[axis], keepdims=True)
        elif kind == 3 and (flags := [b for b in self.shapes if self.shapes[b] == shape and self.dtypes[b] == "bool"]):
            self.plain("where", [chance.choice(flags), a, self.like(a)], shape, gives=dtype)
        else:
            self.plain(chance.choice(EXACT_BINARY + (["add", "mul"] if dtype in INTEGERS else [])), [a, self.like(a)], shape)

    def drop(self, name):
        """Takes the last node back."""
        self.nodes.pop()
        del self.shapes[name], self.dtypes[name]

    def compute(self, a, kind):
        """With roundings. Weights, and so products, are float32."""
        chance, shape = self.chance, self.shapes[a]
        axis = chance.randrange(len(shape))
        if kind == 9:
            self.node(chance.choice(UNARY), [self.node("abs", [a], shape)], shape)
        elif kind <= 11:
            self.node(chance.choice(BINARY), [a, self.like(a)], shape)
        elif kind == 12:
            keep = chance.random() < 0.7 or len(shape) == 1
            reduced = [1 if i == axis else size for i, size in enumerate(shape) if keep or i != axis]
            total = self.node(chance.choice(["sum", "mean", "max", "min"]), [a], reduced, axes=[axis], keepdims=keep)
            if keep and chance.random() < 0.6:
                self.node(chance.choice(BINARY), [a, total], shape)
        elif kind == 13:
            op = chance.choice(ROWS)
            where = {"axis": axis} if op in ("softmax", "log_softmax", "cumsum") else {"axes": [axis]}
            self.node(op, [a], shape, **where)
        elif kind == 14:
            self.compute_exactly(a)
        elif kind == 15:
            self.affine(a, shape)
        elif kind == 16 and shape[-1] != self.symbol:
            columns = chance.randint(1, 7)
            product = self.node("matmul", [a, self.weight([shape[-1], columns])], shape[:-1] + [columns])
            self.affine(product, shape[:-1] + [columns])
        elif kind == 17 and len(shape) >= 2 and shape[-1] != self.symbol:
            small = self.node("tanh", [a], shape)  # scores that no exponential takes out of range
            self.node("attention", [small, small, self.like(a)], shape, causal=chance.random() < 0.5)
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
