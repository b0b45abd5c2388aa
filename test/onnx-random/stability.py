"""Whether an output says anything: one that errors of rounding change, as at a tie, does not."""

import numpy
import onnx
from onnx import TensorProto

import judges
from evaluation import evaluate

TIMES = 12


def is_stable(model, inputs, found, wanted, place, rtol):
    """Whether `found` differs from `wanted`, a judge's output at a place, in an element that stays as it is when inputs,
    weights and what is between two nodes change by a few millionths; or in its shape, if that stays."""
    text = judges.value_difference(found, wanted, rtol)
    usual = evaluated(model, inputs, place)
    by_element = isinstance(usual, numpy.ndarray) and usual.dtype.kind in "biuf" and numpy.shape(wanted) == usual.shape
    for seed in range(TIMES):
        other = nudged_output(model, inputs, place, numpy.random.default_rng(seed))
        if usual is None or other is None:
            continue
        change = judges.value_difference(other, usual, rtol)
        if judges.is_of_shapes(change) != judges.is_of_shapes(text) or not change:
            continue  # where kiln's shape is right, another shape is not what made its elements wrong
        if not by_element or judges.is_of_shapes(text):
            return False
        found = numpy.where(judges.differing(other, usual, rtol), wanted, found)
        if not judges.value_difference(found, wanted, rtol):
            return False
    return True


def evaluated(model, inputs, place, change=lambda value: value):
    """None if no judge runs all that the output needs."""
    value = evaluate(model, inputs, change).get(model.graph.output[place].name)
    return None if value is None else value.data


def nudged_output(model, inputs, place, generator):
    nudged = onnx.ModelProto()
    nudged.CopyFrom(model)
    for tensor in float_tensors(nudged.graph):
        tensor.CopyFrom(onnx.numpy_helper.from_array(nudge(onnx.numpy_helper.to_array(tensor), generator), tensor.name))

    def change(value):
        value.data = blur(value.data, generator)
        return value
    return evaluated(nudged, {name: nudge(value, generator) for name, value in inputs.items()}, place, change)


def float_tensors(graph):
    tensors = [*graph.initializer]
    for node in graph.node:
        for attribute in node.attribute:
            tensors += [attribute.t] if attribute.HasField("t") else float_tensors(attribute.g) if attribute.HasField("g") else []
    return [tensor for tensor in tensors if tensor.data_type in (TensorProto.FLOAT, TensorProto.DOUBLE, TensorProto.FLOAT16)]


def nudge(value, generator):
    """Each element by a share of itself."""
    if not isinstance(value, numpy.ndarray) or value.dtype.kind != "f":
        return value
    return numpy.asarray(value * (1 + amount(value) * generator.uniform(-1, 1, value.shape)), value.dtype)


def blur(value, generator):
    """Each element by a share of the largest, or of 1: a sum of 0 carries the error of its terms."""
    if not isinstance(value, numpy.ndarray) or value.dtype.kind != "f":
        return value
    largest = numpy.abs(value[numpy.isfinite(value)].astype(numpy.float64)).max(initial=1)
    return numpy.asarray(value + amount(value) * largest * generator.uniform(-1, 1, value.shape), value.dtype)


def amount(value):
    return 1e-3 if value.dtype == numpy.float16 else 2e-6
