"""random_bytes.py KILN [--count N] [--seed S] [--device D] [-- OPTION...]

Random sums of products of bytes less their zero points, as quantised models have them: products with rows of open number and
batches, windows with padding, groups, strides and dilations, and two in a row with the first one's sums cut to bytes between
them. Half of the graphs have scales, as QLinear and QDQ operators have them: sums times a scale, for all or for each column,
and perhaps plus a bias, are divided by another scale, rounded and cut to bytes; bytes are made floats, added, compared,
moved and made bytes again, often with the scale that they had. Some are products with a weight of bytes or of fewer bits
that has a scale for each block of a column, perhaps of rows with scales of their own. Bytes have a sign or not and are often
at their bounds; zero points are numbers or data, one for all or one for each row or column. `kiln verify` compares with the
graph interpreter, bit for bit but for blocks. Each graph has a seed of its own, printed where it fails: --seed S --count 1
does that one alone. What follows "--" goes to `kiln verify`, for example --mcpu sapphirerapids, which a CPU has to have; the
device interp has an instruction for bytes on every CPU.
"""
import argparse
import json
import os
import random
import struct
import subprocess
import sys
import tempfile

BOUNDS = {"uint8": (0, 255), "int8": (-128, 127)}


KINDS = {"uint8": "|u1", "int8": "|i1", "float32": "<f4"}


def write_npy(path, dtype, shape, numbers):
    head = f"{{'descr': '{KINDS[dtype]}', 'fortran_order': False, 'shape': ({''.join(f'{size},' for size in shape)}), }}"
    head = head.ljust(117) + "\n"
    data = struct.pack(f"<{len(numbers)}f", *numbers) if dtype == "float32" else bytes(number & 255 for number in numbers)
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + len(head).to_bytes(2, "little") + head.encode() + data)


class Graph:
    def __init__(self, seed, folder):
        self.chance, self.folder = random.Random(seed), folder
        self.inputs, self.weights, self.nodes, self.open = [], [], [], {}
        self.hasScales = self.chance.random() < 0.5
        self.areBlocks = self.chance.random() < 0.15

    def node(self, op, inputs, **attributes):
        name = f"t{len(self.nodes)}"
        self.nodes.append({"op": op, "inputs": inputs, "output": name, **attributes})
        return name

    def size(self, number):
        """The number, or a name that stands for it."""
        if self.chance.random() >= 0.25:
            return number
        name = f"n{len(self.open)}"
        self.open[name] = number
        return name

    def input(self, dtype, shape):
        name = f"x{len(self.inputs)}"
        self.inputs.append({"name": name, "dtype": dtype, "shape": shape})
        return name

    def weight(self, dtype, shape):
        name, count = f"w{len(self.weights)}", 1
        for size in shape:
            count *= size
        if dtype == "float32":
            numbers = [self.scale() for _ in range(count)]
        else:
            low, high = BOUNDS[dtype]
            among = [low, high] if self.chance.random() < 0.3 else range(low, high + 1)
            numbers = self.chance.choices(among, k=count)
        write_npy(os.path.join(self.folder, f"{name}.npy"), dtype, shape, numbers)
        self.weights.append({"name": name, "file": f"{name}.npy"})
        return name

    def scale(self):
        """A float of 32 bits."""
        number = self.chance.choice([2.0 ** self.chance.randint(-9, 1), self.chance.uniform(1e-4, 2)])
        return struct.unpack("<f", struct.pack("<f", number))[0]

    def zero(self, dtype):
        low, high = BOUNDS[dtype]
        return self.chance.choice([low, high, 0, (low + high + 1) // 2, self.chance.randint(low, high)])

    def real(self, tensor, scale, zero):
        wide = self.node("cast", [tensor], dtype="int32")
        if zero or self.chance.random() < 0.5:
            wide = self.node("sub", [wide, zero])
        return self.node("mul", [self.node("cast", [wide], dtype="float32"), scale])

    def quantized(self, real, scale, zero, dtype):
        rounded = self.node("round", [self.node("fdiv", [real, scale])])
        if zero or self.chance.random() < 0.5:
            rounded = self.node("add", [rounded, zero])
        return self.node("cast", [rounded], dtype=dtype)

    def chain(self, tensor, dtype):
        """Element by element from bytes to bytes, or to floats."""
        scale, zero = self.scale(), self.zero(dtype)
        for _ in range(self.chance.randint(1, 3)):
            kind = self.chance.choice(["same", "same", "relu", "clip", "twice", "turn", "other"])
            real = self.real(tensor, scale, zero)
            if kind == "relu":
                real = self.node("maximum", [real, 0])
            elif kind == "clip":
                real = self.node("minimum", [self.node("maximum", [real, 0]), 6])
            elif kind == "twice":
                real = self.node("add", [real, real])
            elif kind == "turn":
                real = self.node("transpose", [real])
            elif kind == "other":
                dtype, scale = self.chance.choice(list(BOUNDS)), self.scale()
                zero = self.zero(dtype)
            tensor = self.quantized(real, scale, zero, dtype)
        return self.real(tensor, scale, zero) if self.chance.random() < 0.5 else tensor

    def less(self, tensor, dtype, shape):
        """The bytes as int32, less a zero point; shape: of zero points that are a tensor."""
        wide = self.node("cast", [tensor], dtype="int32")
        kind = self.chance.choice(["none", "number", "number", "weight", "data"])
        if kind == "none":
            return wide
        if kind == "number":
            return self.node("sub", [wide, self.zero(dtype)])
        zero = self.weight(dtype, shape) if kind == "weight" else self.input(dtype, shape)
        return self.node("sub", [wide, self.node("cast", [zero], dtype="int32")])

    def cut(self, sums, dtype, shape):
        """Sums as bytes again; shape: of scales and biases that are one for each column."""
        if self.hasScales:
            real = self.node("cast", [sums], dtype="float32")
            real = self.node("mul", [real, self.weight("float32", shape) if self.chance.random() < 0.5 else self.scale()])
            if self.chance.random() < 0.5:
                real = self.node("add", [real, self.weight("float32", shape)])
            return self.quantized(real, self.chance.uniform(5, 500), self.zero(dtype), dtype)
        low, high = BOUNDS[dtype]
        parts = self.node("minimum", [self.node("maximum", [self.node("idiv", [sums, 64]), low]), high])
        return self.node("cast", [parts], dtype=dtype)

    def product(self, rows, dtype, batch, terms):
        columns = self.chance.choice([4, 16, 17, 32, 40, 96])
        other = self.chance.choice(list(BOUNDS))
        isData = self.chance.random() < 0.15
        shape = [*batch, terms, columns] if isData else [terms, columns]
        matrix = self.input(other, shape) if isData else self.weight(other, shape)
        zeros = self.chance.choice([[], [columns]])
        return self.node("matmul", [self.less(rows, dtype, []), self.less(matrix, other, zeros)]), columns

    def window(self, picture, dtype, channels, isSmall=False):
        """A convolution; of a picture that may be small it keeps the size."""
        maps, side = self.chance.choice([4, 16, 24, 40]), self.chance.choice([1, 3, 3, 5])
        groups = self.chance.choice([each for each in (1, 1, 2, 4) if channels % each == 0 and maps % each == 0])
        other = self.chance.choice(list(BOUNDS))
        weight = self.less(self.weight(other, [maps, channels // groups, side, side]), other, self.chance.choice([[], [maps, 1, 1, 1]]))
        pads = [[side // 2 if isSmall else self.chance.randint(0, side // 2) for _ in range(2)] for _ in range(2)]
        stride, dilation = self.chance.choice([1, 1, 2]), self.chance.choice([1, 1, 1, 2]) if side == 3 and not isSmall else 1
        return self.node("conv2d", [self.less(picture, dtype, []), weight], pads=pads, groups=groups,
                         strides=[stride, stride], dilations=[dilation, dilation]), maps

    def repeated(self, tensor, shape, axis, block, sizes):
        """Numbers for blocks along an axis of `shape`, as one for each element."""
        places = [*shape[:axis], sizes[axis] // block, 1, *shape[axis + 1:]]
        wide = self.node("expand", [self.node("reshape", [tensor], shape=places)], shape=[*places[:axis + 1], block, *shape[axis + 1:]])
        return self.node("reshape", [wide], shape=shape)

    def blocks(self):
        """A product with a weight of bytes, or of fewer bits, that has a scale for each block of a column."""
        count, block, columns = self.chance.choice([2, 3, 5]), self.chance.choice([7, 8, 16, 32, 48]), self.chance.choice([4, 7, 16, 40, 80])
        terms, number = count * block, self.chance.choice([1, 2, 7, 13, 33])
        rows, other = self.size(number), self.chance.choice(list(BOUNDS))
        wide = self.node("cast", [self.weight(other, [terms, columns])], dtype="int32")
        bits = self.chance.choice([2, 4, 8])
        if bits < 8:
            wide = self.node("and", [wide, (1 << bits) - 1])
            wide = self.node("cast", [self.node("cast", [wide], dtype=other)], dtype="int32")
        zero = self.chance.choice(["none", "number", "blocks"])
        if zero == "number":
            wide = self.node("sub", [wide, 1 << (bits - 1)])
        elif zero == "blocks":
            zeros = self.node("and", [self.node("cast", [self.weight(other, [count, columns])], dtype="int32"), (1 << bits) - 1])
            wide = self.node("sub", [wide, self.repeated(zeros, [terms, columns], 0, block, [terms, columns])])
        scale = self.repeated(self.weight("float32", [count, columns]), [terms, columns], 0, block, [terms, columns])
        matrix = self.node("mul", [self.node("cast", [wide], dtype="float32"), scale])
        if self.chance.random() < 0.4:
            x = self.input("float32", [rows, terms])
        else:
            x = self.node("cast", [self.input(self.chance.choice(list(BOUNDS)), [rows, terms])], dtype="float32")
            if self.chance.random() < 0.6:
                x = self.node("mul", [x, self.repeated(self.input("float32", [rows, count]), [rows, terms], 1, block, [number, terms])])
        return self.node("matmul", [x, matrix])

    def build(self):
        if self.areBlocks:
            return {"inputs": self.inputs, "weights": self.weights, "nodes": self.nodes, "outputs": [self.blocks()]}
        dtype = self.chance.choice(list(BOUNDS))
        if self.chance.random() < 0.5:
            batch = [self.chance.choice([1, 2, 3])] if self.chance.random() < 0.4 else []
            terms = self.chance.choice([3, 4, 12, 16, 30, 32, 63, 64, 128, 260])
            rows = self.input(dtype, [*batch, self.size(self.chance.choice([1, 2, 7, 16, 33, 64])), terms])
            made, columns = self.product(rows, dtype, batch, terms)
            if self.chance.random() < 0.4:
                made, columns = self.product(self.cut(made, dtype, [columns]), dtype, batch, columns)
            each = [columns]
        else:
            channels = self.chance.choice([1, 3, 4, 12, 16, 20, 32])
            picture = self.input(dtype, [self.chance.choice([1, 2]), channels, self.size(9), self.size(13)])
            made, maps = self.window(picture, dtype, channels)
            if self.chance.random() < 0.3:
                made, maps = self.window(self.cut(made, dtype, [maps, 1, 1]), dtype, maps, isSmall=True)
            each = [maps, 1, 1]
        if self.hasScales:
            made = self.cut(made, dtype, each)
            if self.chance.random() < 0.7:
                made = self.chain(made, dtype)
        return {"inputs": self.inputs, "weights": self.weights, "nodes": self.nodes, "outputs": [made]}


def check(kiln, seed, device, options):
    """The complaint; "" if the results agree."""
    with tempfile.TemporaryDirectory() as folder:
        graph = Graph(seed, folder)
        path = os.path.join(folder, "graph.json")
        made = graph.build()
        with open(path, "w", encoding="utf-8") as file:
            json.dump(made, file)
        dims = [word for name, number in graph.open.items() for word in ("--dim", f"{name}=1..99,default={number}")]
        # Floats in another order: sums that nearly cancel are as far apart as their terms are large.
        exact = ["--atol", "0.05"] if graph.areBlocks else ["--rtol", "0", "--atol", "0"]
        done = subprocess.run([kiln, "verify", path, "--device", device, *exact, *dims, *options],
                              capture_output=True, text=True, timeout=600)
        return f"{json.dumps(made)}\n{done.stdout}{done.stderr}" if done.returncode else ""


def main():
    words = sys.argv[1:]
    own, options = (words[:words.index("--")], words[words.index("--") + 1:]) if "--" in words else (words, [])
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kiln")
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 32))
    parser.add_argument("--device", default="cpu")
    arguments = parser.parse_args(own)
    print(f"{arguments.count} graphs from seed {arguments.seed} on")
    failed = 0
    for seed in range(arguments.seed, arguments.seed + arguments.count):
        if complaint := check(arguments.kiln, seed, arguments.device, options):
            failed += 1
            print(f"seed {seed}: {complaint}")
    sys.exit(1 if failed else 0)


main()
