"""Writes models of ONNX without the onnx package: the standard library only.

A message of protocol buffers is written as its fields one after another; the numbers are those of onnx-ml.proto.
"""

import struct

FLOAT, INT64, STRING, BOOL, COMPLEX64 = 1, 7, 8, 9, 14


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
    """A size is a number, or a name."""
    dims = fields(1, [field(2 if isinstance(size, str) else 1, size) for size in shape])
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


def model(nodes, inputs, outputs=("y",), weights=(), functions=(), opset=20, shape=(2,), dtype=FLOAT):
    graph = fields(1, nodes) + field(2, "graph") + fields(5, weights) + fields(11, inputs)
    graph += fields(12, [tensor_value(name, shape, dtype) for name in outputs])
    opsets = [field(2, opset), field(1, "local") + field(2, 1)]
    return field(1, 8) + fields(8, opsets) + field(7, graph) + fields(25, functions)


def integers(name, numbers):
    """An attribute that is a list of integers."""
    return field(1, name) + b"".join(field(8, each) for each in numbers) + field(20, 7)
