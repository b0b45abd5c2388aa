"""two_ways.py FILE: of x[1, 16, h, w], strides of 4 joined with strides of 8 that are sampled up, as a feature pyramid joins them."""

import os
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), *[os.pardir] * 3, "error", "models"))
from onnx_file import FLOAT, field, integer, model, node, string, tensor  # noqa: E402


def value(name, shape):
    sizes = [field(1, field(2 if isinstance(size, str) else 1, size)) for size in shape]
    return field(1, name) + field(2, field(1, field(1, FLOAT) + field(2, b"".join(sizes))))


def integers(name, numbers):
    return field(1, name) + b"".join(field(8, each) for each in numbers) + field(20, 7)


def weight(name, shape):
    count = shape[0] * shape[1] * shape[2] * shape[3]
    return tensor(name, shape, b"".join(struct.pack("<f", (i % 7 - 3) / 8) for i in range(count)))


def conv(x, w, y, stride=1, pad=0):
    return node("Conv", [x, w], [y], y, attributes=[integers("strides", [stride] * 2), integers("pads", [pad] * 4)])


NODES = [
    conv("x", "first", "fine", stride=4),
    conv("x", "second", "coarse", stride=8),
    node("Resize", ["coarse", "", "scales"], ["up"], "up", attributes=[string("mode", "nearest"), string("coordinate_transformation_mode", "asymmetric"), string("nearest_mode", "floor")]),
    node("Concat", ["up", "fine"], ["joined"], "joined", attributes=[integer("axis", 1)]),
    conv("joined", "last", "y", pad=1),
]
WEIGHTS = [weight("first", [24, 16, 1, 1]), weight("second", [24, 16, 1, 1]), weight("last", [16, 48, 3, 3])]
WEIGHTS.append(tensor("scales", [4], struct.pack("<4f", 1, 1, 2, 2)))
with open(sys.argv[1], "wb") as file:
    file.write(model(NODES, [value("x", [1, 16, "h", "w"])], weights=WEIGHTS, shape=(1, 16, 1, 1)))
