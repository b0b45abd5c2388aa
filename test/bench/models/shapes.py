#!/usr/bin/env python3
"""shapes.py DIR: products, and operators that memory limits, in shapes that no network has together.

Runs in the environment of the peers, which has onnx. Makes a model of each, drawn from a fixed seed, and prints a line of
JSON for it, as operators.py does. A size that is written as a letter is one that only the run knows.
"""

import json
import math
import os
import sys

import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper

SEED = 11
OPSET, IR = 20, 9

PRODUCTS = (
    *((f"{n}x{n}", f"{n}x{n}") for n in (256, 512, 997, 1024, 2048)),
    ("1x4096", "4096x4096"), ("128x768", "768x768"), ("128x768", "768x3072"), ("128x3072", "3072x768"),
    ("4096x4096", "4096x8"), ("4096x64", "64x64"), ("64x4096", "4096x64"), ("65536x16", "16x16"),
    ("96x32x32", "96x32x32"), ("12x128x64", "12x64x128"), ("12x128x128", "12x128x64"),
    ("m1024x1024", "1024x1024"), ("1024x1024", "1024xn1024"), ("1024xk1024", "k1024x1024"), ("m1024xk1024", "k1024xn1024"),
    ("12x128xk128", "12xk128x64"),
)  # fmt: skip
# Operator, shape, attributes; the output is as large as the input unless it says.
OTHERS = (
    *(("Softmax", shape, {"axis": axis}) for shape, axis in
      (("128x1000", -1), ("1536x128", -1), ("64x50257", -1), ("4096x4096", -1), ("1024x1024", 0))),
    *(("LayerNormalization", shape, {"axis": -1}) for shape in ("128x768", "4096x1024")),
    *(("Gelu", shape, {}) for shape in ("128x3072", "4096x4096")),
    *(("BiasGeluResidual", shape, {}) for shape in ("128x3072", "4096x1024")),
    *((kind, shape, {"axis": axis}) for kind in ("ReduceSum", "ReduceMax") for shape, axis in
      (("1024x1024", 0), ("1024x1024", 1), ("64x256x196", 1), ("4096x4096", 0), ("4096x4096", 1))),
    *(("Transpose", shape, {"perm": perm}) for shape, perm in
      (("1024x1024", [1, 0]), ("128x12x64", [1, 0, 2]), ("64x3x224x224", [0, 2, 3, 1]), ("4096x4096", [1, 0]))),
    ("Gather", "50257x768", {"rows": 4096}),
)  # fmt: skip


def sizes(shape):
    """(the sizes of a run, the sizes that are declared) of 12xk128, whose k is 128 in the run"""
    words = shape.split("x")
    return [int(word.lstrip("kmn")) for word in words], [word[0] if word[0] in "kmn" else int(word) for word in words]


def write(folder, nodes, inputs, output, weights=()):
    """A model of `nodes` with one output; `inputs`: {name: (values, declared sizes)}."""
    os.makedirs(folder)
    values = []
    for index, (name, (array, declared)) in enumerate(inputs.items()):
        numpy.save(os.path.join(folder, f"input_{index}.npy"), array)
        values.append(helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(array.dtype), declared))
    result = helper.make_tensor_value_info(output, TensorProto.FLOAT, None)
    weights = [numpy_helper.from_array(array, name) for name, array in weights]
    graph = helper.make_graph(nodes, "shape", values, [result], weights)
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=IR)
    onnx.save(made, os.path.join(folder, "model.onnx"))


def product(folder, a, b, random):
    drawn = {}
    for name, shape in (("a", a), ("b", b)):
        run, declared = sizes(shape)
        drawn[name] = ((random.standard_normal(run) / math.sqrt(run[-2])).astype(numpy.float32), declared)
    write(folder, [helper.make_node("MatMul", ["a", "b"], ["y"])], drawn, "y")
    first, second = (drawn[name][0].shape for name in "ab")
    operations = 2 * math.prod(first) * second[-1]
    moved = 4 * (math.prod(first) + math.prod(second) + math.prod(first[:-1]) * second[-1])
    return {"operator": f"MatMul {a} {b}", "operations": operations, "bytes": moved}


def nodes_of(kind, attributes, drawn, weights, random):
    """The nodes of an operator on x, as a list that ends in y."""
    columns = drawn["x"][0].shape[-1]
    if kind == "BiasGeluResidual":
        weights.append(("bias", random.standard_normal(columns).astype(numpy.float32)))
        drawn["r"] = (random.standard_normal(drawn["x"][0].shape).astype(numpy.float32), list(drawn["x"][0].shape))
        return [helper.make_node("Add", ["x", "bias"], ["b"]), helper.make_node("Gelu", ["b"], ["g"]),
                helper.make_node("Add", ["g", "r"], ["y"])]  # fmt: skip
    if kind == "LayerNormalization":
        weights += [("scale", numpy.ones(columns, numpy.float32)), ("shift", numpy.zeros(columns, numpy.float32))]
        return [helper.make_node(kind, ["x", "scale", "shift"], ["y"], **attributes)]
    if kind.startswith("Reduce"):
        weights.append(("axes", numpy.array([attributes["axis"]])))
        return [helper.make_node(kind, ["x", "axes"], ["y"], keepdims=0)]
    if kind == "Gather":
        rows = random.integers(0, drawn["x"][0].shape[0], attributes["rows"])
        drawn["rows"] = (rows, list(rows.shape))
        return [helper.make_node(kind, ["x", "rows"], ["y"])]
    return [helper.make_node(kind, ["x"], ["y"], **attributes)]


def other(folder, kind, shape, attributes, random):
    run, declared = sizes(shape)
    drawn, weights = {"x": (random.standard_normal(run).astype(numpy.float32), declared)}, []
    nodes = nodes_of(kind, attributes, drawn, weights, random)
    write(folder, nodes, drawn, "y", weights)
    elements = math.prod(run)
    moved = {"BiasGeluResidual": 3 * elements, "Gather": 2 * attributes.get("rows", 0) * run[-1]}.get(kind, 2 * elements)
    if kind.startswith("Reduce"):
        moved = elements + elements // run[attributes["axis"]]
    words = [f"{name}={','.join(map(str, value)) if isinstance(value, list) else value}" for name, value in attributes.items()]
    return {"operator": " ".join([kind, shape, *words]), "operations": 0, "bytes": 4 * moved}


def main(target):
    made = [(product, shapes) for shapes in PRODUCTS] + [(other, what) for what in OTHERS]
    for number, (make, what) in enumerate(made):
        folder = os.path.join(target, f"shape-{number}")
        random = numpy.random.default_rng(SEED)
        print(json.dumps({"folder": folder, "uses": 1, **make(folder, *what, random)}))


if len(sys.argv) != 2:
    sys.exit(__doc__)
main(sys.argv[1])
