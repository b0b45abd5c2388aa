"""two_ways.py FILE: of x[1, 16, h, w], strides of 4 joined with strides of 8 that are sampled up, as a feature pyramid joins them."""

import os
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), *[os.pardir] * 3, "error", "models"))
from onnx_file import integer, integers, model, node, string, tensor, tensor_value  # noqa: E402


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
    file.write(model(NODES, [tensor_value("x", [1, 16, "h", "w"])], weights=WEIGHTS, shape=(1, 16, 1, 1)))
