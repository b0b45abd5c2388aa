#!/usr/bin/env python3
"""generate.py FOLDER: writes the models of this folder, each wrong in one way. Standard library only.

A message of protocol buffers is written as its fields one after another; the numbers are those of onnx-ml.proto.
"""

import os
import struct
import sys

FLOAT, INT64, STRING, COMPLEX64 = 1, 7, 8, 14


def varint(number):
    text = b""
    number &= (1 << 64) - 1
    while number > 127:
        text += bytes([number & 127 | 128])
        number >>= 7
    return text + bytes([number])


def field(number, value):
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    data = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(data)) + data


def fields(number, values):
    return b"".join(field(number, value) for value in values)


def tensor_type(shape, dtype=FLOAT):
    dims = fields(1, [field(1, size) for size in shape])
    return field(1, field(1, dtype) + field(2, dims))


def tensor_value(name, shape, dtype=FLOAT):
    return field(1, name) + field(2, tensor_type(shape, dtype))


def sequence_value(name, shape):
    return field(1, name) + field(2, field(4, field(1, tensor_type(shape))))


def node(op, inputs, outputs, name, domain="", attributes=()):
    head = fields(1, inputs) + fields(2, outputs) + field(3, name) + field(4, op)
    return head + fields(5, attributes) + (field(7, domain) if domain else b"")


def integer(name, value):
    return field(1, name) + field(3, value) + field(20, 2)


def string(name, value):
    return field(1, name) + field(4, value) + field(20, 3)


def tensor(name, dims, floats=b"", location=""):
    text = fields(1, dims) + field(2, FLOAT) + field(8, name)
    if location:
        return text + field(13, field(1, "location") + field(2, location)) + field(14, 1)
    return text + field(9, floats)


def number(name, value):
    return field(2, INT64) + field(8, name) + field(9, struct.pack("<q", value))


def model(nodes, inputs, outputs=("y",), weights=(), functions=(), opset=20, shape=(2,)):
    graph = fields(1, nodes) + field(2, "graph") + fields(5, weights) + fields(11, inputs)
    graph += fields(12, [tensor_value(name, shape) for name in outputs])
    opsets = [field(2, opset), field(1, "local") + field(2, 1)]
    return field(1, 8) + fields(8, opsets) + field(7, graph) + fields(25, functions)


def models():
    x, pair = tensor_value("x", [2]), struct.pack("<2f", 1, 2)
    relu = node("Relu", ["x"], ["y"], "act")
    add = [node("Add", ["x", "w"], ["y"], "sum")]
    calls_itself = field(1, "f") + field(4, "a") + field(5, "b") + field(10, "local")
    calls_itself += field(7, node("f", ["a"], ["b"], "again", "local")) + field(9, field(2, 20))
    return {
        "attribute": model([node("LeakyRelu", ["x"], ["y"], "act", attributes=[integer("alpha", 1)])], [x]),
        "cycle": model([node("Add", ["x", "b"], ["a"], "first"), node("Relu", ["a"], ["b"], "second"),
                        node("Exp", ["b"], ["y"], "last")], [x]),
        "declared": model([relu], [x], shape=[1, 2]),
        "domain": model([node("Relu", ["x"], ["y"], "act", "com.example")], [x]),
        "dtype": model([relu], [tensor_value("x", [2], COMPLEX64)]),
        "function": model([node("f", ["x"], ["y"], "call", "local")], [x], functions=[calls_itself]),
        "missing-data": model(add, [x], weights=[tensor("w", [2], location="w.bin")]),
        "no-output": model([relu], [x], outputs=[]),
        "operator": model([node("Relux", ["x"], ["y"], "act")], [x]),
        "opset": model([relu], [x], opset=99),
        "outside": model(add, [x], weights=[tensor("w", [2], location="../w.bin")]),
        "pattern": model([node("RegexFullMatch", ["x"], ["y"], "match", attributes=[string("pattern", "(a")])],
                         [tensor_value("x", [2], STRING)]),
        "reshape": model([node("Reshape", ["x", "s"], ["y"], "rows")],
                         [tensor_value("x", [2, 3]), tensor_value("s", [2], INT64)], shape=[1, 6]),
        "sequence": model([node("SequenceAt", ["s", "place"], ["y"], "pick")], [sequence_value("s", [2])],
                          weights=[number("place", 5)]),
        "shape": model([node("MatMul", ["x", "w"], ["y"], "product")],
                       [tensor_value("x", [2, 3]), tensor_value("w", [4, 5])]),
        "short": model(add, [x], weights=[tensor("w", [3], pair)]),
        "too-large": model([relu], [tensor_value("x", [1 << 32, 1 << 32])]),
        "truncated": model([relu], [x])[:-20],
        "twice": model([relu, node("Exp", ["x"], ["y"], "other")], [x]),
        "undefined": model([node("Relu", ["z"], ["y"], "act")], [x]),
    }


def main():
    folder = sys.argv[1]
    for name, data in models().items():
        with open(os.path.join(folder, name + ".onnx"), "wb") as file:
            file.write(data)


main()
