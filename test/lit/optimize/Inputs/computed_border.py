"""computed_border.py FILE: convolutions in a row over x[1, 16, n], and over the places where z[m] is positive."""

import os
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), *[os.pardir] * 3, "error", "models"))
from onnx_file import FLOAT, field, integer, integers, model, node, number, tensor, tensor_value  # noqa: E402


def weight(name, inputs, width):
    return tensor(name, [16, inputs, width], b"".join(struct.pack("<f", (i % 7 - 3) / 8) for i in range(16 * inputs * width)))


def conv(x, w, y, width):
    return node("Conv", [x, w], [y], y, attributes=[integers("pads", [width // 2] * 2)])


NODES = [
    conv("x", "one", "u", 1),
    conv("u", "wide", "y", 5),
    node("Greater", ["z", "zero"], ["positive"], "positive"),
    node("NonZero", ["positive"], ["places"], "places"),
    node("Cast", ["places"], ["row"], "row", attributes=[integer("to", FLOAT)]),
    node("Unsqueeze", ["row", "first"], ["rows"], "rows"),
    conv("rows", "first_wide", "a", 5),
    conv("a", "one", "b", 1),
    conv("b", "wide", "q", 5),
]
WEIGHTS = [weight("one", 16, 1), weight("wide", 16, 5), weight("first_wide", 1, 5), tensor("zero", [], struct.pack("<f", 0))]
WEIGHTS.append(field(1, 1) + number("first", 0))
with open(sys.argv[1], "wb") as file:
    file.write(model(NODES, [tensor_value("x", [1, 16, "n"]), tensor_value("z", ["m"])], outputs=["y", "q"], weights=WEIGHTS, shape=(1, 16, 1)))
