#!/usr/bin/env python3
"""generate.py FOLDER: writes the models of this folder, each wrong in one way. Standard library only."""

import os
import struct
import sys

from onnx_file import BOOL, COMPLEX64, FLOAT, INT64, STRING, field, integer, model, node, number, sequence_value, string, tensor, tensor_value


def function(name, body):
    return field(1, name) + field(4, "a") + field(5, "b") + field(10, "local") + field(7, body) + field(9, field(2, 20)) + field(9, field(1, "local") + field(2, 1))


def deep_functions(count):
    """Each calls the next, the last an operator that there is not."""
    names = [f"f{i}" for i in range(count)]
    calls = [function(name, node(called, ["a"], ["b"], "call-of-" + called, "local")) for name, called in zip(names, names[1:])]
    return [*calls, function(names[-1], node("Relux", ["a"], ["b"], "innermost"))]


def lacking():
    """Operators that there are not: twice in the graph, in a graph of a node, in a function that is called twice and in
    one that nobody calls."""
    names = ["Foo", "Foo", "Relux"]
    nodes = [node(op, [before], [after], after) for op, before, after in zip(names, "xab", "abc")]
    nodes += [node("f", ["c"], ["d"], "d", "local"), node("f", ["d"], ["e"], "e", "local")]
    branch = field(1, node("Bar", ["e"], ["z"], "inside")) + field(2, "branch") + field(12, tensor_value("z", [2]))
    graph = [field(1, name) + field(6, branch) + field(20, 5) for name in ("then_branch", "else_branch")]
    nodes.append(node("If", ["c0"], ["y"], "if", attributes=graph))
    called = function("f", node("Baz", ["a"], ["b"], "unknown", "com.microsoft"))
    unused = function("g", node("Never", ["a"], ["b"], "never"))
    return model(nodes, [tensor_value("x", [2]), tensor_value("c0", [], BOOL)], functions=[called, unused])


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
        "deep": model([node("f0", ["x"], ["y"], "outermost", "local")], [x], functions=deep_functions(40)),
        "domain": model([node("Relu", ["x"], ["y"], "act", "com.example")], [x]),
        "dtype": model([relu], [tensor_value("x", [2], COMPLEX64)]),
        "function": model([node("f", ["x"], ["y"], "call", "local")], [x], functions=[calls_itself]),
        "lacking": lacking(),
        "missing-data": model(add, [x], weights=[tensor("w", [2], location="w.bin")]),
        "no-output": model([relu], [x], outputs=[]),
        "operator": model([node("Relux", ["x"], ["y"], "act")], [x]),
        "opset": model([relu], [x], opset=99),
        "outside": model(add, [x], weights=[tensor("w", [2], location="../w.bin")]),
        "pad": model([node("Pad", ["x", "p"], ["y"], "border")], [tensor_value("x", [3]), tensor_value("p", [2], INT64)]),
        "pattern": model([node("RegexFullMatch", ["x"], ["y"], "match", attributes=[string("pattern", "(a")])],
                         [tensor_value("x", [2], STRING)]),
        "reals": model([node("Range", ["first", "end", "step"], ["y"], "steps")],
                       [tensor_value(name, []) for name in ("first", "end", "step")], shape=["k"]),
        "range": model([node("Range", ["first", "end", "step"], ["y"], "steps")],
                       [tensor_value(name, [], INT64) for name in ("first", "end", "step")], dtype=INT64, shape=["k"]),
        "reshape": model([node("Reshape", ["x", "s"], ["y"], "rows")],
                         [tensor_value("x", [2, 3]), tensor_value("s", [2], INT64)], shape=[1, 6]),
        "scales": model([node("Resize", ["x", "", "s"], ["y"], "larger")], [tensor_value("x", [1, 3]), tensor_value("s", [2])],
                        shape=["k", "l"]),
        "sequence": model([node("SequenceAt", ["s", "place"], ["y"], "pick")], [sequence_value("s", [2])],
                          weights=[number("place", 5)]),
        "shape": model([node("MatMul", ["x", "w"], ["y"], "product")],
                       [tensor_value("x", [2, 3]), tensor_value("w", [4, 5])]),
        "short": model(add, [x], weights=[tensor("w", [3], pair)]),
        "too-large": model([relu], [tensor_value("x", [1 << 32, 1 << 32])]),
        "truncated": model([relu], [x])[:-20],
        "twice": model([relu, node("Exp", ["x"], ["y"], "other")], [x]),
        "undefined": model([node("Relu", ["z"], ["y"], "act")], [x]),
        "unshaped": model([relu], [field(1, "x") + field(2, field(1, field(1, FLOAT)))]),
    }


def main():
    folder = sys.argv[1]
    for name, data in models().items():
        with open(os.path.join(folder, name + ".onnx"), "wb") as file:
            file.write(data)


main()
