"""top_k.py SIZE FILE: a model that takes the 3 largest of each row of x[2, SIZE]; SIZE is a number or a name."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), *[os.pardir] * 3, "error", "models"))
from onnx_file import INT64, field, integer, model, node, number, tensor_value  # noqa: E402

size, path = sys.argv[1:]
last = int(size) if size.isdigit() else size
top = node("TopK", ["x", "k"], ["y", "places"], "top", attributes=[integer("axis", 1)])
x = field(1, "x") + field(2, field(1, field(1, 1) + field(2, field(1, field(1, 2)) + field(1, field(1 if size.isdigit() else 2, last)))))
three = field(1, 1) + number("k", 3)
with open(path, "wb") as file:
    file.write(model([top], [x], outputs=["y"], weights=[three], shape=(2, 3)))
