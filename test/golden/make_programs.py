#!/usr/bin/env python3
"""make_programs.py [--seed S] [--count N] > FILE: random tensor programs, and what the reference makes of them.

Asks tinygrad 0.9.2 (`pip install tinygrad==0.9.2 numpy`), in the form of schedule.json (README.md). A program is a few
tensor operations, drawn from the seed and its number, so --first K --count 1 makes program K alone. What the reference's
scheduler saw is noted call by call: each method of its lazy tensors is wrapped, and a result that is none of those
known is a primitive. Figures that kiln-golden does not compare are left out.
"""

import argparse
import gc
import json
import math
import os
import random
import sys

os.environ.update({"CLANG": "1", "DEBUG": "0", "CACHELEVEL": "0"})

import numpy  # noqa: E402
from tinygrad import Tensor, dtypes  # noqa: E402
from tinygrad.codegen.kernel import Kernel  # noqa: E402
from tinygrad.engine.realize import _internal_memory_planner  # noqa: E402
from tinygrad.engine.schedule import create_schedule  # noqa: E402
from tinygrad.helpers import to_function_name  # noqa: E402
from tinygrad.lazy import LazyBuffer  # noqa: E402
from tinygrad.ops import BufferOps, ReduceOps  # noqa: E402
from tinygrad.renderer.cstyle import CUDARenderer  # noqa: E402
from tinygrad.renderer.cstyle import ClangRenderer  # noqa: E402

COMMIT = "518c022c29104d79c7a50ec41af5b7e6404da317"
MOVEMENTS = ["reshape", "pad", "expand", "permute", "shrink", "stride"]


def number(value):
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value


def name_of(dtype):
    known = {dtypes.bool: "bool", dtypes.float: "float32", dtypes.half: "float16", dtypes.int: "int32", dtypes.uint: "uint32",
             dtypes.uchar: "uint8", dtypes.char: "int8"}
    return known[dtype]


class Recorder:
    """The calls on lazy tensors that gave something new, in order."""

    def __init__(self):
        self.primitives, self.ids, self.kept, self.depth = [], {}, [], 0

    def add(self, tensor, op, **fields):
        self.ids[id(tensor)] = len(self.primitives)
        self.kept.append(tensor)
        self.primitives.append({"id": len(self.primitives), "op": op, **fields, "shape": list(tensor.shape),
                                "dtype": name_of(tensor.dtype)})

    def note(self, method, source, arguments, result):
        if id(result) in self.ids:
            return
        if result.is_unrealized_unmasked_const():
            return self.add(result, "CONST", value=number(result.base.arg))
        ids = self.ids
        if method in MOVEMENTS:
            if id(source) not in ids:
                raise ValueError(f"{method} of what no call gave")
            argument = [list(item) if isinstance(item, tuple) else item for item in arguments[0]]
            return self.add(result, method.upper(), src=[ids[id(source)]], arg=argument)
        if method == "cast":
            return self.add(result, "CAST", src=[ids[id(source)]])
        if method == "r":
            op, axes = arguments
            axes = sorted(axis for axis in axes if source.shape[axis] != 1)
            return self.add(result, "REDUCE_" + op.name, src=[ids[id(source)]], axis=axes)
        return self.add(result, result.op.name, src=[ids[id(operand)] for operand in result.srcs])


class Recording:
    """While it lasts, what is asked of lazy tensors is recorded."""

    METHODS = MOVEMENTS + ["cast", "r", "e", "const"]

    def __init__(self, recorder):
        self.recorder, self.plain = recorder, {}

    def __enter__(self):
        for method in self.METHODS:
            self.plain[method] = getattr(LazyBuffer, method)
            setattr(LazyBuffer, method, self.wrap(method, self.plain[method]))

    def __exit__(self, *_):
        for method, plain in self.plain.items():
            setattr(LazyBuffer, method, plain)

    def wrap(self, method, plain):
        recorder = self.recorder

        def wrapped(tensor, *arguments, **named):
            recorder.depth += 1
            try:
                result = plain(tensor, *arguments, **named)
            finally:
                recorder.depth -= 1
            if recorder.depth == 0:
                recorder.note(method, tensor, arguments, result)
            return result
        return wrapped


class Maker:
    """Draws one program."""

    FAMILIES = ["dag", "dag", "dag", "rational", "masks", "transposed_convolution", "convolution", "rows", "indices", "joined",
                "pools", "attention"]

    def __init__(self, chance, recorder):
        self.chance, self.recorder, self.inputs = chance, recorder, []
        self.family = chance.choice(self.FAMILIES)

    def size(self):
        return self.chance.choice([2, 3, 4, 5, 6, 7, 8, 10, 12, 16])

    def shape(self, rank=None):
        return tuple(self.size() for _ in range(rank or self.chance.randint(1, 3)))

    def input(self, shape, dtype="float32"):
        tensor = Tensor(numpy.ones(shape, dtype), device="CLANG").realize()
        name = f"x{len(self.inputs)}"
        self.inputs.append({"name": name, "shape": list(shape), "dtype": dtype})
        self.recorder.add(tensor.lazydata, "INPUT", name=name)
        return tensor

    def scalar(self):
        return self.chance.choice([2.0, 0.5, -1.0, 3.0, -2.0, 0.25, 1.5])

    def unary(self, x):
        kinds = ["neg", "relu", "square", "exp2", "sqrt", "sigmoid", "tanh", "abs", "reciprocal", "leakyrelu", "hardswish", "sign",
                 "clip", "silu", "softplus", "sin"]
        kind = self.chance.choice(kinds)
        return x.clip(-1.0, 1.0) if kind == "clip" else getattr(x, kind)()

    def binary(self, x, y):
        kind = self.chance.choice(["add", "mul", "sub", "div", "maximum", "minimum"])
        return getattr(x, kind)(y)

    def reduced(self, x):
        axis = self.chance.randrange(len(x.shape))
        keep = self.chance.random() < 0.6
        kind = self.chance.choice(["sum", "max", "mean", "min"])
        small = getattr(x, kind)(axis=axis, keepdim=keep)
        return self.binary(x, small) if keep and self.chance.random() < 0.6 else small

    def moved(self, x):
        axis = self.chance.randrange(len(x.shape))
        kind = self.chance.choice(["flip", "pad", "shrink", "permute", "reshape"])
        if kind == "flip":
            return x.flip(axis)
        if kind == "pad":
            return x.pad(tuple((1, 2) if i == axis else (0, 0) for i in range(len(x.shape))))
        if kind == "shrink" and x.shape[axis] > 2:
            return x.shrink(tuple((1, size) if i == axis else (0, size) for i, size in enumerate(x.shape)))
        if kind == "permute":
            return x.permute(*self.chance.sample(range(len(x.shape)), len(x.shape)))
        return x.reshape(math.prod(x.shape))

    def dag(self):
        tensors = [self.input(self.shape()) for _ in range(self.chance.randint(1, 2))]
        for _ in range(self.chance.randint(3, 7)):
            x = self.chance.choice(tensors)
            if not x.shape:
                continue
            like = [y for y in tensors if y.shape == x.shape]
            kind = self.chance.randrange(6)
            if kind <= 1:
                made = self.unary(x)
            elif kind <= 3:
                made = self.binary(x, self.chance.choice(like + [self.scalar()]))
            elif kind == 4:
                made = self.reduced(x)
            else:
                made = self.moved(x)
            tensors.append(made)
        return [tensors[-1]]

    def rational(self):
        """Sums, factors and reciprocals of the same values, which rules of arithmetic shorten."""
        shape = self.shape(2)
        x, y = self.input(shape), self.input(shape)
        result = x
        for _ in range(self.chance.randint(3, 6)):
            kind = self.chance.randrange(7)
            if kind == 0:
                result = result * self.scalar() + result * self.scalar()
            elif kind == 1:
                result = result * y / y
            elif kind == 2:
                result = -(result - y)
            elif kind == 3:
                result = (result + self.scalar()) * self.scalar()
            elif kind == 4:
                result = result / self.scalar()
            elif kind == 5:
                result = result - result * self.scalar()
            else:
                result = -result * y
        return [result]

    def masks(self):
        shape = self.shape(2)
        x = self.input(shape)
        axis = self.chance.randrange(2)
        around = tuple((1, 2) if i == axis else (0, 0) for i in range(2))
        kind = self.chance.randrange(4)
        if kind == 0:
            return [x.tril(self.chance.randint(-1, 2)) * 2 + x.triu(self.chance.randint(0, 2))]
        if kind == 1:
            return [(x.pad(around) == 0).where(1.0, x.pad(around, value=3.0)) * self.scalar()]
        if kind == 2:
            return [(x > 0).where(x, -x).pad(around).sum(axis)]
        return [(x.pad(around) + 1.0).relu() * x.pad(around, value=-1.0)]

    def convolution(self):
        groups = self.chance.choice([1, 1, 2])
        depth, width, kernel = 2 * groups, 2 * groups, self.chance.choice([1, 2, 3])
        x = self.input((self.chance.randint(1, 2), depth, self.chance.randint(5, 9), self.chance.randint(5, 9)))
        w, b = self.input((width, depth // groups, kernel, kernel)), self.input((width,))
        return [x.conv2d(w, b, groups=groups, stride=self.chance.choice([1, 2]), dilation=self.chance.choice([1, 1, 2]),
                         padding=self.chance.choice([0, 1, 2])).relu()]

    def transposed_convolution(self):
        kernel = self.chance.choice([2, 3])
        x = self.input((1, self.chance.randint(1, 3), self.chance.randint(3, 6), self.chance.randint(3, 6)))
        w = self.input((x.shape[1], self.chance.randint(1, 3), kernel, kernel))
        return [x.conv_transpose2d(w, stride=self.chance.choice([1, 2, 2, 3]), padding=self.chance.choice([0, 1]))]

    def rows(self):
        x = self.input(self.shape(2))
        kind = self.chance.choice(["softmax", "log_softmax", "layernorm", "std", "var", "logsumexp", "cumsum"])
        if kind in ("softmax", "log_softmax", "cumsum", "logsumexp"):
            return [getattr(x, kind)(axis=self.chance.randrange(2))]
        if kind == "layernorm":
            return [x.layernorm() * self.input((x.shape[-1],)) + self.input((x.shape[-1],))]
        return [getattr(x, kind)(axis=self.chance.randrange(2))]

    def indices(self):
        x = self.input(self.shape(2))
        kind = self.chance.randrange(4)
        if kind == 0:
            return [x.argmax(axis=self.chance.randrange(2))]
        if kind == 1:
            return [x.argmin(axis=self.chance.randrange(2))]
        if kind == 2:
            return [Tensor.arange(x.shape[0], device="CLANG").reshape(-1, 1) * 2 + x.cast(dtypes.int)]
        return [self.input((x.shape[0],), "int32").one_hot(x.shape[1]) * x]

    def joined(self):
        shape = self.shape(2)
        parts = [self.input(shape) for _ in range(self.chance.randint(2, 3))]
        axis = self.chance.randrange(2)
        if self.chance.random() < 0.4:
            return [parts[0].stack(*parts[1:], dim=axis) * self.scalar()]
        return [self.unary(parts[0].cat(*parts[1:], dim=axis))]

    def pools(self):
        x = self.input((1, self.chance.randint(1, 3), self.chance.randint(6, 10), self.chance.randint(6, 10)))
        kernel = self.chance.choice([2, 3])
        pool = self.chance.choice([Tensor.max_pool2d, Tensor.avg_pool2d])
        return [pool(x, (kernel, kernel), stride=self.chance.choice([1, 2])) + self.scalar()]

    def attention(self):
        shape = (1, self.chance.randint(1, 3), self.chance.randint(3, 8), self.chance.choice([4, 8]))
        q, k, v = (self.input(shape) for _ in range(3))
        return [q.scaled_dot_product_attention(k, v, is_causal=self.chance.random() < 0.5)]


def views_of(tracker):
    return [{"shape": list(view.shape), "strides": list(view.strides), "offset": view.offset,
             "mask": None if view.mask is None else [list(bounds) for bounds in view.mask]} for view in tracker.views]


def ast_of(ast):
    nodes, known = [], {}

    def write(op):
        if op in known:
            return known[op]
        sources = [write(source) for source in op.src]
        if op.op is BufferOps.CONST:
            node = {"op": "CONST", "value": number(op.arg.val), "dtype": name_of(op.arg.dtype), "views": views_of(op.arg.st)}
        elif op.op in BufferOps:
            node = {"op": op.op.name, "buf": op.arg.idx, "dtype": name_of(op.arg.dtype), "views": views_of(op.arg.st)}
        elif op.op in ReduceOps:
            node = {"op": "REDUCE_" + op.op.name, "axis": list(op.arg)}
        else:
            node = {"op": op.op.name}
            if op.op.name == "CAST":
                node["dtype"] = name_of(op.arg)
        if sources:
            node["src"] = sources
        known[op] = len(nodes)
        nodes.append(node)
        return known[op]
    for store in ast.src:
        write(store)
    return nodes


class Estimates:
    """Names and figures of kernels, equal ones once, as one sweep over a program numbers them."""

    def __init__(self, renderer):
        Kernel.kernel_cnt.clear()
        self.renderer, self.known = renderer, {}

    def of(self, ast):
        if ast not in self.known:
            self.known[ast] = Kernel(ast, opts=self.renderer).to_program()
        return self.known[ast]


def program_of(seed, index):
    chance = random.Random(f"{seed} {index}")
    recorder = Recorder()
    maker = Maker(chance, recorder)
    with Recording(recorder):
        results = getattr(maker, maker.family)()
    ids = {f"y{i}": recorder.ids[id(result.lazydata)] for i, result in enumerate(results)}
    if any(recorder.primitives[i]["op"] in ("INPUT", "CONST") for i in ids.values()):
        return None
    # What no output needs is left out.
    needed, work = set(), list(ids.values())
    while work:
        at = work.pop()
        if at not in needed:
            needed.add(at)
            work += recorder.primitives[at].get("src", [])
    primitives = [p for p in recorder.primitives if p["id"] in needed or p["op"] == "INPUT"]

    inputs = {id(tensor.base.buffer): noted["name"] for tensor, noted in zip(recorder.kept, recorder.primitives)
              if noted["op"] == "INPUT"}
    schedule = create_schedule([result.lazydata for result in results])
    recorder.kept.clear()
    gc.collect()
    names = dict(inputs)

    def described(buffer):
        name = names.setdefault(id(buffer), f"buf{len(names) - len(inputs)}")
        return {"buf": name, "dtype": name_of(buffer.dtype), "size": buffer.size, "nbytes": buffer.nbytes}

    kernels, asts, clang = [], [], Estimates(ClangRenderer())
    for item in schedule:
        if item.ast.op.name != "KERNEL":
            return None  # a copy or a view of given memory: kinds of items that schedule.json has
        outputs, program = len(item.ast.src), clang.of(item.ast)
        asts.append(item.ast)
        kernels.append({"type": "kernel", "name": to_function_name(program.name), "function_name": to_function_name(program.name),
                        "outputs": [described(buffer) for buffer in item.bufs[:outputs]],
                        "inputs": [described(buffer) for buffer in item.bufs[outputs:]],
                        "mem_estimate": program.mem_estimate, "ast": ast_of(item.ast)})
    cuda = Estimates(CUDARenderer("sm_80"))
    figures = [cuda.of(ast) for ast in asts]

    of_outputs = {id(result.lazydata.base.buffer) for result in results}
    temporaries = {id(b): b for item in schedule for b in item.bufs if id(b) not in of_outputs and id(b) not in inputs}
    assigned = _internal_memory_planner([item.bufs for item in schedule])
    # A buffer that begins another's memory is that one here: the first that takes it keeps the name.
    reuse, first, after = {}, {}, []
    for key, buffer in temporaries.items():
        base = assigned.get(buffer, buffer).base
        if base is not buffer:
            reuse[names[key]] = names.get(id(base), names[key])
        else:
            after.append(buffer)
    outputs = {name: {"buf": names[id(result.lazydata.base.buffer)], "contiguous": result.lazydata.st.contiguous,
                      "views": views_of(result.lazydata.st)} for name, result in zip(ids, results)}
    return {"name": f"{maker.family}_{seed}_{index}", "family": maker.family, "inputs": maker.inputs, "nodes": [],
            "outputs": list(ids), "primitives": primitives, "primitive_outputs": ids, "shapes": {}, "outputs_buf": outputs,
            "memory_planner": {"before_bytes": sum(b.nbytes for b in temporaries.values()), "before_bufs": len(temporaries),
                               "after_bytes": sum(b.nbytes for b in after), "after_bufs": len(after), "reuse": reuse},
            "num_items": len(kernels), "num_kernels": len(kernels), "kernels": kernels,
            "total_mem_estimate": sum(kernel["mem_estimate"] for kernel in kernels),
            "cuda_noopt": [{"name": to_function_name(f.name), "op_estimate": f.op_estimate} for f in figures]}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--count", type=int, default=30)
    given = parser.parse_args()
    programs, index = [], given.first
    while len(programs) < given.count:
        made = program_of(given.seed, index)
        index += 1
        if made:
            programs.append(made)
    print(f'{{"source": "tinygrad v0.9.2", "commit": "{COMMIT}", "programs": [')
    print(",\n".join(json.dumps(program) for program in programs))
    print("]}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
