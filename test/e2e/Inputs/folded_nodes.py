"""folded_nodes.py FILE: a model of x[n, 2] with nodes whose names an import leaves no trace of."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), *[os.pardir] * 2, "error", "models"))
from onnx_file import field, fields, model, node, number, tensor_value  # noqa: E402

double = fields(4, ["a"]) + field(5, "c") + field(1, "Double") + field(10, "local") + field(9, field(2, 20))
double += fields(7, [node("Identity", ["a"], ["b"], "same"), node("Add", ["b", "b"], ["c"], "sum")])
nodes = [
    node("Shape", ["x"], ["sizes"], "size"),
    node("Gather", ["sizes", "zero"], ["rows"], "first"),
    node("Identity", ["x"], ["passed"], "pass"),
    node("Relu", ["passed"], ["r"], "relu"),
    node("Exp", ["r"], ["unread"], "forgotten"),
    node("Double", ["r"], ["d"], "call", domain="local"),
    node("CastLike", ["rows", "d"], ["count"], "float"),
    node("Mul", ["d", "count"], ["y"], "scale"),
]
graph = model(nodes, [tensor_value("x", ["n", 2])], weights=[number("zero", 0)], functions=[double], shape=("n", 2))
with open(sys.argv[1], "wb") as file:
    file.write(graph)
