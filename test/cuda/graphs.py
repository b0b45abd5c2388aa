"""JSON graphs, as docs/json-graph.md has them, of a few words."""


def graph(inputs, nodes, outputs):
    return {"inputs": [{"name": name, "dtype": dtype, "shape": shape} for name, dtype, shape in inputs],
            "nodes": nodes, "outputs": outputs}


def unary(shape, op, dtype="float32", **attributes):
    return graph([("x", dtype, shape)], [{"op": op, "inputs": ["x"], "output": "y", **attributes}], ["y"])
