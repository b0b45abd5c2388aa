#!/usr/bin/env python3
"""operators.py DIR MODEL_FOLDER...: the distinct operators of models, each as a model of one node.

Runs in the environment of the peers, which has onnx. Two nodes are one operator where type, attributes, the shapes and
dtypes of the inputs and which of them are constants are the same; constants are drawn from a fixed seed. Prints a line
of JSON an operator: its folder, a name, how many nodes of the models it is, the bytes of its tensors, and the additions
and multiplications of a product.
"""

import json
import math
import os
import sys

import numpy
import onnx
from onnx import helper, numpy_helper

PRODUCTS = ("Conv", "ConvTranspose", "Gemm", "MatMul")
OTHERS = ("Softmax", "LogSoftmax", "LayerNormalization", "RMSNormalization", "GroupNormalization",
          "InstanceNormalization", "BatchNormalization", "LpNormalization")  # fmt: skip
SEED = 11


def load(folder):
    """The model of a folder, its symbolic sizes those of the inputs stored with it, and every tensor's shape."""
    model = onnx.load(os.path.join(folder, "model.onnx"), load_external_data=False)
    sizes = {}
    weights = {tensor.name for tensor in model.graph.initializer}
    inputs = [value for value in model.graph.input if value.name not in weights]
    for index, value in enumerate(inputs):
        stored = numpy.load(os.path.join(folder, f"input_{index}.npy"), mmap_mode="r").shape
        for dim, size in zip(value.type.tensor_type.shape.dim, stored):
            if dim.dim_param:
                sizes[dim.dim_param] = size
            dim.dim_value = size
    for value in (*model.graph.value_info, *model.graph.output):
        for dim in value.type.tensor_type.shape.dim:
            if dim.dim_param in sizes:
                dim.dim_value = sizes[dim.dim_param]
            elif dim.dim_param:
                dim.ClearField("dim_param")  # an expression: inferred anew
    return onnx.shape_inference.infer_shapes(model, data_prop=True)


def shapes_of(graph):
    """{tensor: (dtype, shape)} of all whose shape is known as numbers."""
    known = {tensor.name: (tensor.data_type, tuple(tensor.dims)) for tensor in graph.initializer}
    for value in (*graph.input, *graph.value_info, *graph.output):
        tensor = value.type.tensor_type
        dims = tensor.shape.dim
        if tensor.HasField("shape") and all(dim.HasField("dim_value") for dim in dims):
            known.setdefault(value.name, (tensor.elem_type, tuple(dim.dim_value for dim in dims)))
    return known


def operations(node, inputs, output):
    """2 for each product that is summed; 0 for what is not a product."""
    if node.op_type == "Conv":
        return 2 * math.prod(output) * math.prod(inputs[1][1:])
    if node.op_type == "ConvTranspose":
        return 2 * math.prod(inputs[0]) * math.prod(inputs[1][1:])
    if node.op_type == "MatMul":
        return 2 * math.prod(output) * inputs[0][-1]
    if node.op_type == "Gemm":
        across = next((attribute.i for attribute in node.attribute if attribute.name == "transA"), 0)
        return 2 * math.prod(output) * inputs[0][0 if across else 1]
    return 0


def title(node, inputs):
    """As Conv 1x64x56x56 64x64x3x3 strides=1,1"""
    words = [node.op_type, *("x".join(map(str, shape)) or "scalar" for shape in inputs[:2])]
    for attribute in sorted(node.attribute, key=lambda attribute: attribute.name):
        value = helper.get_attribute_value(attribute)
        if attribute.name in ("strides", "dilations", "group", "axis") and value not in ([1, 1], [1], 1):
            words.append(f"{attribute.name}={','.join(map(str, value)) if isinstance(value, list) else value}")
    return " ".join(words)


def draw(random, dtype, shape, kind):
    numpy_type = helper.tensor_dtype_to_np_dtype(dtype)
    if not numpy.issubdtype(numpy_type, numpy.floating):
        return numpy.zeros(shape, numpy_type)
    values = random.standard_normal(shape)
    if kind in PRODUCTS and len(shape) > 1:
        values /= math.sqrt(max(1, math.prod(shape[1:] if kind != "MatMul" else shape[-2:-1])))
    return (abs(values) + 0.5 if kind == "BatchNormalization" else values).astype(numpy_type)


def single(model, node, known, constants, folder):
    """Writes `node` as a model of its own."""
    random = numpy.random.default_rng(SEED)
    os.makedirs(folder, exist_ok=True)
    inputs, weights = [], []
    for name in dict.fromkeys(filter(None, node.input)):
        values = draw(random, *known[name], node.op_type)
        if name in constants:
            weights.append(numpy_helper.from_array(values, name))
        else:
            numpy.save(os.path.join(folder, f"input_{len(inputs)}.npy"), values)
            inputs.append(helper.make_tensor_value_info(name, *known[name]))
    outputs = [helper.make_tensor_value_info(node.output[0], *known[node.output[0]])]
    graph = helper.make_graph([node], "operator", inputs, outputs, weights)
    made = helper.make_model(graph, opset_imports=model.opset_import, ir_version=model.ir_version)
    onnx.save(made, os.path.join(folder, "model.onnx"))


def key_of(node, known, constants):
    attributes = sorted(attribute.SerializeToString() for attribute in node.attribute)
    inputs = [(known[name], name in constants) if name else None for name in node.input]
    return node.op_type, tuple(attributes), tuple(inputs), node.input[0] == node.input[-1]


def main(target, *folders):
    found = {}
    for folder in folders:
        model = load(folder)
        graph = model.graph
        known = shapes_of(graph)
        constants = {tensor.name for tensor in graph.initializer}
        for node in graph.node:
            del node.output[1:]
            if node.op_type not in PRODUCTS + OTHERS or any(n and n not in known for n in (*node.input, *node.output)):
                continue
            key = key_of(node, known, constants)
            if key not in found:
                where = os.path.join(target, f"{node.op_type}-{len(found)}")
                single(model, node, known, constants, where)
                inputs = [known[name][1] for name in node.input if name]
                output = known[node.output[0]][1]
                moved = sum(4 * math.prod(shape) for shape in (*inputs, output))
                found[key] = {"folder": where, "operator": title(node, inputs), "uses": 0, "bytes": moved,
                              "operations": operations(node, inputs, output)}  # fmt: skip
            found[key]["uses"] += 1
    for operator in found.values():
        print(json.dumps(operator))


if len(sys.argv) < 3:
    sys.exit(__doc__)
main(*sys.argv[1:])
