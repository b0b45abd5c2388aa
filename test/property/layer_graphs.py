"""Random graphs of the layer patterns that exporters write: attention with its transposes in any order, masks, softmax over any
axis, norms spelled out, gated pairs, squeeze and excite, non-local blocks, convolutions. Some sizes may stay open. The work of
each node is known, and can be compared with that of the compiled graph.
"""
import math

# Sizes that may stay open, by their names. Each number stands for one name alone, and is a little less than a multiple of a vector,
# so that ends of vectors count for little.
OPEN = {"b": 15, "s": 63, "t": 111, "h": 23, "w": 31, "m": 14}
# Terms that one element of an operator's result takes, next to reading its operands once.
STEPS = {"softmax": 5, "sigmoid": 4, "silu": 5, "gelu": 8, "tanh": 1, "exp": 1, "layernorm": 9, "rmsnorm": 5}


def elements(shape):
    return math.prod(shape)


class LayerGraph:
    """Grows by patterns. The sizes of `shapes` are numbers, as a run has them."""

    def __init__(self, chance):
        self.chance = chance
        self.nodes, self.inputs, self.weights, self.shapes, self.outputs = [], [], [], {}, []
        self.work = 0  # operations of the graph, each computed once
        self.pattern = chance.choice(sorted(PATTERNS))
        PATTERNS[self.pattern](self)
        if chance.random() < 0.4:
            self.outputs[-1] = self.follow(self.outputs[-1])

    # Tensors -----------------------------------------------------------------

    def input(self, *shape):
        name = f"x{len(self.inputs)}"
        self.inputs.append(name)
        self.shapes[name] = list(shape)
        return name

    def weight(self, *shape):
        name = f"w{len(self.weights)}"
        self.weights.append(name)
        self.shapes[name] = list(shape)
        return name

    def node(self, op, inputs, shape, work=None, **attributes):
        name = f"t{len(self.nodes)}"
        self.nodes.append({"op": op, "inputs": inputs, "output": name, **attributes})
        self.shapes[name] = list(shape)
        self.work += elements(shape) * STEPS.get(op, 1) if work is None else work
        return name

    def unary(self, op, x, **attributes):
        return self.node(op, [x], self.shapes[x], **attributes)

    def binary(self, op, a, b):
        first, second = self.shapes[a], self.shapes[b]
        rank = max(len(first), len(second))
        first, second = [1] * (rank - len(first)) + first, [1] * (rank - len(second)) + second
        return self.node(op, [a, b], [max(pair) for pair in zip(first, second)])

    def permute(self, x, order):
        if order == list(range(len(order))):
            return x
        return self.node("permute", [x], [self.shapes[x][i] for i in order], work=0, order=order)

    def transpose(self, x):
        rank = len(self.shapes[x])
        return self.permute(x, [*range(rank - 2), rank - 1, rank - 2])

    def reshape(self, x, shape):
        result = self.node("reshape", [x], shape, work=0)
        self.nodes[-1]["shape"] = shape
        return result

    def matmul(self, a, b):
        first, second = self.shapes[a], self.shapes[b]
        batch = first[:-2] if len(first) >= len(second) else second[:-2]
        shape = [*batch, first[-2], second[-1]]
        return self.node("matmul", [a, b], shape, work=2 * elements(shape) * first[-1])

    def reduced(self, op, x, axis):
        shape = [1 if i == axis else size for i, size in enumerate(self.shapes[x])]
        return self.node(op, [x], shape, work=elements(self.shapes[x]), axes=[axis], keepdims=True)

    def conv(self, x, channels, kernel, groups=1, stride=1):
        n, inner, height, width = self.shapes[x]
        w = self.weight(channels, inner // groups, kernel, kernel)
        pad = kernel // 2
        out = [(size + 2 * pad - kernel) // stride + 1 for size in (height, width)]
        shape = [n, channels, *out]
        work = 2 * elements(shape) * (inner // groups) * kernel * kernel
        return self.node("conv2d", [x, w], shape, work=work, pads=[[pad, pad]] * 2, groups=groups, strides=[stride] * 2)

    def size(self, *numbers):
        """A fixed size, or one that may stay open."""
        return self.chance.choice(numbers)

    # After a pattern -----------------------------------------------------------

    def follow(self, x):
        kind = self.chance.randrange(4)
        if kind == 0:
            return self.binary("add", x, self.input(*self.shapes[x]))
        if kind == 1:
            return self.unary(self.chance.choice(["relu", "gelu", "silu"]), x)
        if kind == 2:
            return self.norm(x, len(self.shapes[x]) - 1)
        return self.permute(x, self.chance.sample(range(len(self.shapes[x])), len(self.shapes[x])))

    def norm(self, x, axis):
        centred = self.binary("sub", x, self.reduced("mean", x, axis))
        variance = self.reduced("mean", self.unary("square", centred), axis)
        return self.binary("mul", centred, self.unary("rsqrt", self.binary("add", variance, self.weight(1))))

    # Patterns ------------------------------------------------------------------

    def operand(self, batch, rows, columns):
        """A tensor of rows and columns, as a transpose of another more often than not."""
        chance = self.chance
        kind = chance.randrange(3)
        if kind == 0:
            return self.input(*batch, rows, columns)
        if kind == 1 or len(batch) < 2:
            return self.transpose(self.input(*batch, columns, rows))
        *outer, heads = batch
        rank = len(batch)
        return self.permute(self.input(*outer, rows, heads, columns), [*range(rank - 1), rank, rank - 1, rank + 1])

    def attention(self):
        chance = self.chance
        batch = chance.choice([[], [2], [1, 2], [OPEN["b"], 2], [1, 4]])
        queries = self.size(40, 96, OPEN["s"], OPEN["t"])
        keys = self.size(40, 96, queries, OPEN["t"])
        depth, columns = self.size(16, 32, 64), self.size(16, 32, 64)
        q, k = self.operand(batch, queries, depth), self.operand(batch, keys, depth)
        v = self.operand(batch, keys, columns)
        if chance.random() < 0.5:
            q = self.binary("mul", q, self.weight(1))
        isTurned = chance.random() < 0.4  # scores are keys × queries
        scores = self.matmul(k, self.transpose(q)) if isTurned else self.matmul(q, self.transpose(k))
        if chance.random() < 0.4:
            mask = chance.choice([[queries, keys], [1, keys]])
            scores = self.binary("add", scores, self.input(*(mask[::-1] if isTurned else mask)))
        rank = len(self.shapes[scores])
        shares = self.node("softmax", [scores], self.shapes[scores], axis=rank - 2 if isTurned else rank - 1)
        if chance.random() < 0.5:
            result = self.matmul(self.transpose(v), shares if isTurned else self.transpose(shares))
        else:
            result = self.matmul(self.transpose(shares) if isTurned else shares, v)
        if len(batch) == 2 and chance.random() < 0.6:
            result = self.permute(result, chance.choice([[0, 2, 1, 3], [0, 3, 1, 2], [0, 1, 3, 2]]))
        self.outputs.append(result)

    def wrong_axis(self):
        """Shares of a row are summed up along the other axis: it looks like attention and is not."""
        size, depth = 40, self.size(16, 32)
        shares = self.unary("softmax", self.matmul(self.input(2, size, depth), self.input(2, depth, size)), axis=2)
        self.outputs.append(self.matmul(self.transpose(shares), self.input(2, size, depth)))

    def non_local(self):
        height, width = (12, 12) if self.chance.random() < 0.6 else (OPEN["h"], OPEN["w"])
        x, places = self.input(1, 32, height, width), height * width
        flat = [self.reshape(self.conv(x, 16, 1), [1, 16, places]) for _ in range(3)]
        shares = self.unary("softmax", self.matmul(self.transpose(flat[0]), flat[1]), axis=2)
        result = self.matmul(flat[2], self.transpose(shares)) if self.chance.random() < 0.7 else \
            self.transpose(self.matmul(shares, self.transpose(flat[2])))
        self.outputs.append(self.binary("add", self.conv(self.reshape(result, [1, 16, height, width]), 32, 1), x))

    def spelled_norm(self):
        shape = [self.size(2, OPEN["b"]), self.size(24, OPEN["s"]), self.size(32, 48)]
        x = self.input(*shape)
        if self.chance.random() < 0.5:
            x = self.unary(self.chance.choice(["gelu", "silu", "tanh"]), x)
        x = self.permute(x, self.chance.sample(range(3), 3))
        result = self.norm(x, self.chance.randrange(3))
        self.outputs.append(self.permute(result, self.chance.sample(range(3), 3)))

    def gated_pair(self):
        rows, inner, outer = self.size(1, 1, 7, OPEN["m"]), self.size(128, 256), self.size(192, 320)
        x = self.input(rows, inner)
        gate = self.matmul(x, self.weight(inner, outer))
        up = self.matmul(x, self.weight(inner, outer))
        gated = self.binary("mul", self.unary(self.chance.choice(["silu", "gelu", "sigmoid"]), gate), up)
        self.outputs.append(self.matmul(gated, self.weight(outer, inner)) if self.chance.random() < 0.5 else gated)

    def any_softmax(self):
        shape = [self.size(3, OPEN["b"]), self.size(20, 64, OPEN["s"]), self.size(33, 64, OPEN["t"])]
        x = self.input(*shape)
        if self.chance.random() < 0.5:
            x = self.binary("add", x, self.input(*shape[1:]))
        if self.chance.random() < 0.5:
            x = self.permute(x, self.chance.sample(range(3), 3))
        self.outputs.append(self.unary("softmax", x, axis=self.chance.randrange(3)))

    def squeeze_excite(self):
        channels = self.size(32, 64)
        height, width = (14, 14) if self.chance.random() < 0.5 else (OPEN["h"], OPEN["w"])
        x = self.unary("silu", self.conv(self.input(1, 16, height, width), channels, 3))
        mean = self.reduced("mean", self.reduced("mean", x, 3), 2)
        small = self.unary("relu", self.conv(mean, channels // 4, 1))
        self.outputs.append(self.binary("mul", x, self.unary("sigmoid", self.conv(small, channels, 1))))

    def conv_chain(self):
        height, width = (16, 24) if self.chance.random() < 0.6 else (OPEN["h"], OPEN["w"])
        x = self.input(1, 16, height, width)
        for _ in range(self.chance.randint(1, 3)):
            kind = self.chance.randrange(3)
            inner = self.shapes[x][1]
            x = self.conv(x, inner, 3, groups=inner) if kind == 0 else self.conv(x, self.size(16, 32), self.size(1, 3))
            x = self.unary(self.chance.choice(["relu", "silu", "gelu"]), x)
        self.outputs.append(self.permute(x, [0, 2, 3, 1]) if self.chance.random() < 0.5 else x)

    def feed_forward(self):
        rows, width = self.size(1, 24, OPEN["s"]), self.size(64, 96)
        x = self.input(rows, width)
        inner = self.unary("gelu", self.matmul(self.norm(x, 1), self.weight(width, 4 * width)))
        self.outputs.append(self.binary("add", self.matmul(inner, self.weight(4 * width, width)), x))

    # As a document -------------------------------------------------------------

    def dim(self, size, isOpen):
        """A size as JSON has it; that of a flattened picture is a product."""
        names = {number: name for name, number in OPEN.items()} if isOpen else {}
        area = OPEN["h"] * OPEN["w"]
        return names.get(size, "h*w" if isOpen and size == area else size)

    def symbols(self):
        """The open sizes that the graph's inputs have."""
        sizes = {size for name in self.inputs for size in self.shapes[name]}
        return {name: number for name, number in OPEN.items() if number in sizes}

    def document(self, isOpen):
        """The JSON graph; weights are files of their names."""
        written = lambda shape: [self.dim(size, isOpen) for size in shape]
        nodes = [{**node, "shape": written(node["shape"])} if "shape" in node else node for node in self.nodes]
        return {"inputs": [{"name": x, "dtype": "float32", "shape": written(self.shapes[x])} for x in self.inputs],
                "weights": [{"name": w, "file": f"{w}.npy"} for w in self.weights],
                "nodes": nodes, "outputs": list(dict.fromkeys(self.outputs))}

    def upto(self, output):
        """A copy that computes this tensor alone."""
        needed, nodes = {output}, []
        for node in reversed(self.nodes):
            if node["output"] in needed:
                nodes.insert(0, node)
                needed.update(node["inputs"])
        part = object.__new__(LayerGraph)
        part.chance, part.pattern, part.work, part.shapes = self.chance, self.pattern, 0, self.shapes
        part.nodes, part.outputs = nodes, [output]
        part.inputs = [x for x in self.inputs if x in needed]
        part.weights = [w for w in self.weights if w in needed]
        return part


PATTERNS = {"attention": LayerGraph.attention, "attention again": LayerGraph.attention, "wrong axis": LayerGraph.wrong_axis,
            "non-local": LayerGraph.non_local, "norm": LayerGraph.spelled_norm, "gated pair": LayerGraph.gated_pair,
            "softmax": LayerGraph.any_softmax, "squeeze and excite": LayerGraph.squeeze_excite,
            "conv": LayerGraph.conv_chain, "feed forward": LayerGraph.feed_forward}
