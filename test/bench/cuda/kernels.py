"""The kernels of the benchmark: what kiln compiles, and the same in PyTorch.

A case is a name, a JSON graph, the inputs' shapes and a function of tensors. Memory limits all but the product, so what a
case is measured by is how many bytes it has to move: its inputs and outputs, once each.
"""

import functools
import os
import sys

import torch
from torch.nn import functional

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, os.pardir, "cuda"))
import graphs

ROWS = COLUMNS = 8192
PRODUCT = 4096
DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16}


def cases():
    both = [ROWS, COLUMNS]
    middle, images, heads = [64, 1024, 1024], [64, 56, 56, 256], [32, 1024, 16, 64]
    for dtype in DTYPES:
        unary = functools.partial(graphs.unary, dtype=dtype)
        yield f"gelu {dtype}", unary(both, "gelu"), functional.gelu
        yield f"softmax, rows {dtype}", unary(both, "softmax", axis=1), lambda x: functional.softmax(x, 1)
        yield f"softmax, columns {dtype}", unary(both, "softmax", axis=0), lambda x: functional.softmax(x, 0)
        yield f"layer norm {dtype}", unary(both, "layernorm", axes=[1]), lambda x: functional.layer_norm(x, x.shape[1:])
        yield f"sum, rows {dtype}", unary(both, "sum", axes=[1]), lambda x: x.sum(1)
        yield f"sum, columns {dtype}", unary(both, "sum", axes=[0]), lambda x: x.sum(0)
        yield f"sum, middle {dtype}", unary(middle, "sum", axes=[1]), lambda x: x.sum(1)
        yield f"sum, outer two {dtype}", unary(middle, "sum", axes=[0, 1]), lambda x: x.sum((0, 1))
        yield f"sum, all {dtype}", unary(both, "sum", axes=[0, 1]), lambda x: x.sum()
        yield f"largest, rows {dtype}", unary(both, "max", axes=[1]), lambda x: x.amax(1)
        yield f"transposed {dtype}", unary(both, "permute", order=[1, 0]), lambda x: x.t().contiguous()
        yield f"transposed, batch {dtype}", unary(middle, "permute", order=[0, 2, 1]), lambda x: x.mT.contiguous()
        yield (f"channels first {dtype}", unary(images, "permute", order=[0, 3, 1, 2]),
               lambda x: x.permute(0, 3, 1, 2).contiguous())  # fmt: skip
        yield (f"heads apart {dtype}", unary(heads, "permute", order=[0, 2, 1, 3]),
               lambda x: x.permute(0, 2, 1, 3).contiguous())  # fmt: skip


def product():
    shape = [PRODUCT, PRODUCT]
    graph = graphs.graph([("a", "float32", shape), ("b", "float32", shape)],
                         [{"op": "matmul", "inputs": ["a", "b"], "output": "y"}], ["y"])  # fmt: skip
    return "product float32", graph, torch.matmul
