"""The cases of tools/test-cuda: graphs whose kernels differ in how a GPU walks them.

Each is a name, a graph and options of `kiln compile`. Random graphs are joined, many to a program: NVRTC takes as long to
begin as for a few kernels, and so does a process on the GPU.
"""

import os
import sys

sys.dont_write_bytecode = True
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "test", "property"))
import random_opts
from graphs import graph, unary

JOINED = 50  # random graphs of one program


def grids():
    """Groups along y and z past 65,535, and sizes that are known only when the program runs."""
    long = graph([("x", "float32", [70000, 2, 3])],
                 [{"op": "permute", "inputs": ["x"], "order": [1, 0, 2], "output": "y"}], ["y"])
    yield "grid-middle", long, []
    yield "grid-outer", unary([70000, 3], "sum", axes=[1]), []
    yield "grid-deep", unary([70000, 3, 2], "neg"), []
    yield "grid-symbolic", unary(["n", 3, 2], "neg"), ["--dim", "n=1..100000,default=70000"]


def long_rows():
    """Rows that a group holds in local memory, with and without a tail."""
    for columns in (6001, 8000):
        yield f"rows-softmax-{columns}", unary([64, columns], "softmax", axis=1), []
        yield f"rows-layernorm-{columns}", unary([64, columns], "layernorm", axes=[1]), []
        yield f"rows-symbolic-{columns}", unary(["n", columns], "log_softmax", axis=1), ["--dim", "n=1..100,default=7"]


def reductions():
    """Every way in which the items of a group put together what each has, in every dtype that they exchange."""
    shapes = {"all": ([300, 400], [0, 1]), "rows": ([40, 3000], [1]), "short": ([3000, 40], [1]), "columns": ([3000, 33], [0]),
              "middle": ([8, 700, 48], [1]), "outer": ([6, 300, 7], [0, 2]), "odd": ([37, 4097], [1])}
    for name, (shape, axes) in shapes.items():
        for op in ("sum", "max"):
            yield f"reduce-{op}-{name}", unary(shape, op, axes=axes), []
    for dtype in ("float16", "bfloat16", "float64", "int8", "uint8", "int16", "int32", "int64"):
        for op in ("sum", "max", "min"):
            yield f"reduce-{op}-{dtype}", unary([60, 2048], op, dtype, axes=[1]), []
    for op, where in (("softmax", {"axis": 1}), ("log_softmax", {"axis": 1}), ("layernorm", {"axes": [1]}),
                      ("rmsnorm", {"axes": [1]}), ("logsumexp", {"axes": [1]})):
        for columns in (96, 1024, 3000):
            for dtype in ("float32", "bfloat16"):
                yield f"reduce-{op}-{columns}-{dtype}", unary([50, columns], op, dtype, **where), []


def limited_by_memory(rows, columns):
    """Kernels that memory limits, and one that it does not."""
    for dtype in ("float32", "bfloat16"):
        yield f"check-copy-{dtype}", unary([rows, columns], "neg", dtype), []
        yield f"check-gelu-{dtype}", unary([rows, columns], "gelu", dtype), []
        yield f"check-softmax-{dtype}", unary([rows, columns], "softmax", dtype, axis=1), []
        yield f"check-layernorm-{dtype}", unary([rows, columns], "layernorm", dtype, axes=[1]), []
        yield f"check-sum-rows-{dtype}", unary([rows, columns], "sum", dtype, axes=[1]), []
        yield f"check-sum-columns-{dtype}", unary([rows, columns], "sum", dtype, axes=[0]), []
        yield f"check-sum-all-{dtype}", unary([rows, columns], "sum", dtype, axes=[0, 1]), []
        yield f"check-sum-middle-{dtype}", unary([rows // 128, 1024, columns // 8], "sum", dtype, axes=[1]), []
        yield f"check-transpose-{dtype}", unary([rows, columns], "permute", dtype, order=[1, 0]), []
    for size in (rows // 4, 512, 1300, 1408, 1536):
        yield f"check-matmul-{size}", graph([("a", "float32", [size, size]), ("b", "float32", [size, size])],
                                            [{"op": "matmul", "inputs": ["a", "b"], "output": "y"}], ["y"]), []


def joined(seeds):
    """The random graphs of these seeds as one; none of them reads from another."""
    whole = {"inputs": [], "weights": [], "nodes": [], "outputs": []}
    for seed in seeds:
        def own(name, seed=seed):
            return f"g{seed}_{name}" if isinstance(name, str) else name
        document = random_opts.graph_of(seed).document()
        for kind in ("inputs", "weights"):
            whole[kind] += [{**port, "name": own(port["name"])} for port in document[kind]]
        whole["nodes"] += [{**node, "inputs": [own(name) for name in node["inputs"]], "output": own(node["output"])}
                           for node in document["nodes"]]
        whole["outputs"] += [own(name) for name in document["outputs"]]
    return whole


def random_graphs(count):
    """The options name the size that some leave open. Machine code without a letter has its PTX for nothing."""
    for first in range(1, count + 1, JOINED):
        seeds = range(first, min(first + JOINED, count + 1))
        yield (f"graphs-{seeds[0]}-{seeds[-1]}", joined(seeds),
               ["--dim", "n=1..64,default=5", "--gpu-arch", "sm_90"])
