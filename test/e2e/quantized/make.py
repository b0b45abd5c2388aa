#!/usr/bin/env python3
"""make.py: writes the models of this folder, with a seeded input and what ONNX Runtime computes of each.

Run by hand, with onnx, onnxruntime and numpy installed; its results are stored. A small convolutional net, two recurrent
nets and a layer of a transformer, each as ONNX Runtime's quantiser makes it in its three forms: QDQ (operators on floats
between QuantizeLinear and DequantizeLinear), QOperator (operators on integers) and dynamic (ranges are found at run time).
"""

import logging
import os

import numpy as np
import onnx
import onnxruntime
from onnx import helper, numpy_helper
from onnxruntime.quantization import CalibrationDataReader, QuantFormat, quantize_dynamic, quantize_static

HERE = os.path.dirname(os.path.abspath(__file__))


class Graph:
    def __init__(self, name):
        self.random = np.random.default_rng(sum(name.encode()))
        self.nodes, self.initializers = [], []

    def constant(self, array, dtype=np.float32):
        self.initializers.append(numpy_helper.from_array(np.asarray(array, dtype), f"w{len(self.initializers)}"))
        return self.initializers[-1].name

    def weight(self, *shape):
        return self.constant(0.3 * self.random.standard_normal(shape))

    def ints(self, *values):
        return self.constant(values, np.int64)

    def node(self, op, *inputs, outputs=1, **attributes):
        """The name of its last result."""
        names = [f"{op}_{len(self.nodes)}_{i}" for i in range(outputs)]
        self.nodes.append(helper.make_node(op, inputs, names, names[0], **attributes))
        return names[-1]

    def linear(self, x, rows, columns):
        return self.node("Add", self.node("MatMul", x, self.weight(rows, columns)), self.weight(columns))


def convnet(g, x):
    y = g.node("Relu", g.node("Conv", x, g.weight(8, 3, 3, 3), g.weight(8), strides=[2, 2], pads=[1] * 4))
    depthwise = g.node("Conv", y, g.weight(8, 1, 3, 3), g.weight(8), group=8, pads=[1] * 4)
    y = g.node("Add", y, g.node("Clip", depthwise, g.constant(0), g.constant(6)))
    y = g.node("MaxPool", y, kernel_shape=[2, 2], strides=[2, 2])
    y = g.node("GlobalAveragePool", g.node("Relu", g.node("Conv", y, g.weight(16, 8, 1, 1), g.weight(16))))
    return g.node("Gemm", g.node("Flatten", y), g.weight(16, 5), g.weight(5))


def gru(g, x):
    """The operator, which the quantiser leaves as it is, followed by a quantised layer."""
    weights = g.weight(1, 24, 6), g.weight(1, 24, 8), g.weight(1, 48)
    last = g.node("GRU", x, *weights, outputs=2, hidden_size=8, linear_before_reset=1)
    return g.node("Softmax", g.linear(g.node("Squeeze", last, g.ints(0)), 8, 4), axis=-1)


def gru_cells(g, x):
    """Three steps written out, so that each product is one of integers."""
    h = g.constant(np.zeros((2, 8)))
    weights = [g.weight(6, 24), g.weight(24), g.weight(8, 24), g.weight(24)]
    for step in range(3):
        row = g.node("Squeeze", g.node("Slice", x, g.ints(step), g.ints(step + 1), g.ints(0)), g.ints(0))
        given = g.node("Add", g.node("MatMul", row, weights[0]), weights[1])
        kept = g.node("Add", g.node("MatMul", h, weights[2]), weights[3])
        part = lambda gates, i: g.node("Slice", gates, g.ints(8 * i), g.ints(8 * i + 8), g.ints(1))
        reset, update = (g.node("Sigmoid", g.node("Add", part(given, i), part(kept, i))) for i in range(2))
        new = g.node("Tanh", g.node("Add", part(given, 2), g.node("Mul", reset, part(kept, 2))))
        h = g.node("Add", new, g.node("Mul", update, g.node("Sub", h, new)))
    return h


def transformer(g, x):
    heads = lambda y: g.node("Transpose", g.node("Reshape", y, g.ints(0, 0, 2, 4)), perm=[0, 2, 1, 3])
    norm = lambda y: g.node("LayerNormalization", y, g.constant(g.random.uniform(0.5, 1.5, 8)), g.weight(8), axis=-1)
    q, k, v = (heads(g.linear(x, 8, 8)) for _ in range(3))
    scores = g.node("MatMul", q, g.node("Transpose", k, perm=[0, 1, 3, 2]))
    y = g.node("MatMul", g.node("Softmax", g.node("Div", scores, g.constant(2)), axis=-1), v)
    y = g.node("Reshape", g.node("Transpose", y, perm=[0, 2, 1, 3]), g.ints(0, 0, 8))
    y = norm(g.node("Add", x, g.linear(y, 8, 8)))
    z = g.linear(y, 8, 16)
    erf = g.node("Erf", g.node("Div", z, g.constant(2**0.5)))
    z = g.node("Mul", g.node("Mul", z, g.node("Add", erf, g.constant(1))), g.constant(0.5))
    return norm(g.node("Add", y, g.linear(z, 16, 8)))


class Samples(CalibrationDataReader):
    def __init__(self, arrays):
        self.rest = iter(arrays)

    def get_next(self):
        array = next(self.rest, None)
        return None if array is None else {"x": array}


def quantize(form, model, path, samples):
    if form == "dynamic":
        quantize_dynamic(model, path)
    elif form == "qdq":
        quantize_static(model, path, Samples(samples), quant_format=QuantFormat.QDQ, per_channel=True)
    else:
        quantize_static(model, path, Samples(samples), quant_format=QuantFormat.QOperator)


def write(build, shape):
    name = build.__name__
    g = Graph(name)
    g.nodes.append(helper.make_node("Identity", [build(g, "x")], ["y"]))
    values = [helper.make_tensor_value_info(*value) for value in (("x", 1, shape), ("y", 1, None))]
    graph = helper.make_graph(g.nodes, name, values[:1], values[1:], g.initializers)
    proto = helper.make_model(graph, ir_version=8, opset_imports=[helper.make_opsetid("", 17)])
    samples = [g.random.standard_normal(shape).astype(np.float32) for _ in range(4)]
    for form in ("qdq", "qoperator", "dynamic"):
        folder = os.path.join(HERE, f"{name}_{form}")
        os.makedirs(folder, exist_ok=True)
        path = os.path.join(folder, "model.onnx")
        quantize(form, onnx.shape_inference.infer_shapes(proto), path, samples)
        options = onnxruntime.SessionOptions()
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
        session = onnxruntime.InferenceSession(path, options, ["CPUExecutionProvider"])
        np.save(os.path.join(folder, "input_0.npy"), samples[0])
        np.save(os.path.join(folder, "output_0.npy"), session.run(None, {"x": samples[0]})[0])


logging.disable(logging.WARNING)
write(convnet, [2, 3, 12, 12])
write(gru, [5, 2, 6])
write(gru_cells, [3, 2, 6])
write(transformer, [2, 6, 8])
