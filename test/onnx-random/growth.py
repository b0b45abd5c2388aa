"""Adds random nodes to a graph, and makes a graph of its own into a model."""

import onnx
from onnx import helper

import families
from graph import Graph, Scope
from schemas import NEWEST, OLDEST, Unfit

ATTEMPTS = 60


def grow(graph, count, avoid=(), only=None):
    """Adds `count` operators of random families; each may be more than one node."""
    added, names = 0, sorted(only or families.OPERATORS)
    deep = graph.outer is not None or graph.body
    for _ in range(ATTEMPTS):
        if added == count:
            return
        op = graph.rng.choices(names, [families.WEIGHTS[name] for name in names])[0]
        if op in avoid or deep and op in ("If", "Loop", "Scan", "local:Function") and graph.chance(0.8):
            continue
        mark = graph.mark()
        try:
            families.OPERATORS[op](graph, op)
            added += 1
        except Unfit:
            graph.back_to(mark)
    if not added:
        raise Unfit("no operator fits")


def random_model(rng, only=None):
    """A model, and its inputs by name. The sizes that its inputs leave open are those that the inputs have."""
    scope = Scope(rng, rng.randint(OLDEST, NEWEST))
    graph = Graph(scope)
    grow(graph, rng.choice([1, 1, 2, 3, 4, 5, 6, 8]), only=only)
    outputs = [value for value in graph.values if not value.used and value.dtype < onnx.TensorProto.BFLOAT16]
    outputs = [value for value in outputs if not value.fixed and value not in graph.inputs and value not in graph.overridable]
    if not outputs:
        raise Unfit("nothing comes out")
    others = [value for value in graph.values if value.used and value.kind == "tensor" and value.dtype < onnx.TensorProto.BFLOAT16
              and value not in graph.inputs and not value.fixed and value not in graph.overridable]
    if others and graph.chance(0.3):
        outputs.append(rng.choice(others))
    model = helper.make_model(graph.proto(outputs), opset_imports=scope.opsets(), functions=scope.functions,
                              ir_version=rng.choice([10, 9, 8]) if not scope.functions else 10)
    if graph.chance(0.1):
        model.graph.name = rng.choice(["main", "a b", "名", "g/1"])
    return model, graph.feeds
