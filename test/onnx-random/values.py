"""Tensors, sequences and optionals of a graph, each with its example data, and how they become ONNX."""

import numpy
from onnx import TensorProto, helper, numpy_helper

import schemas
from schemas import Unfit


class Value:
    """A name with its example data: an array, a list of arrays (a sequence) or None (an empty optional)."""

    def __init__(self, name, data, dtype, kind="tensor", fixed=False):
        self.name, self.data, self.dtype, self.kind, self.fixed = name, data, dtype, kind, fixed
        self.used = self.closed = False

    @property
    def shape(self):
        return self.data.shape

    @property
    def rank(self):
        return self.data.ndim

    def type_text(self):
        text = schemas.type_text(self.dtype)
        return {"tensor": text, "sequence": f"seq({text})", "optional": f"optional({text})",
                "optional sequence": f"optional(seq({text}))"}[self.kind]

    def info(self, name, shape=None):
        """The ValueInfoProto; no shape if None."""
        if self.kind == "tensor":
            return helper.make_tensor_value_info(name, self.dtype, shape)
        kind = helper.make_tensor_type_proto(self.dtype, None)
        if self.kind != "optional":
            kind = helper.make_sequence_type_proto(kind)
        if self.kind.startswith("optional"):
            kind = helper.make_optional_type_proto(kind)
        return helper.make_value_info(name, kind)


def tensor_of(data, name=""):
    if data.dtype.kind in "OU":
        return helper.make_tensor(name, TensorProto.STRING, data.shape, [text.encode() for text in data.flatten().tolist()])
    return numpy_helper.from_array(data, name)


def value_of(name, data):
    if data is None:
        raise Unfit("an empty optional")
    if isinstance(data, list):
        if not data:
            raise Unfit("an empty sequence")
        if any(isinstance(each, list) for each in data):
            raise Unfit("a list of lists")  # the reference evaluator makes them; no type of ONNX's has them
        return Value(name, [numpy.asarray(each) for each in data], schemas.dtype_of(data[0]), "sequence")
    data = numpy.asarray(data)
    return Value(name, data, schemas.dtype_of(data))


def free_names(node):
    """What the graphs of a node use of the graphs around it."""
    free = set()
    for attribute in node.attribute:
        if attribute.HasField("g"):
            made = {each.name for each in [*attribute.g.input, *attribute.g.initializer]}
            for inner in attribute.g.node:
                free |= {name for name in [*inner.input, *free_names(inner)] if name and name not in made}
                made |= set(inner.output)
            free |= {each.name for each in attribute.g.output if each.name not in made}
    return free


def broadcasts(shape, other):
    return len(shape) <= len(other) and all(left in (1, right) for left, right in zip(shape[::-1], other[::-1]))


def inside(value, limits):
    """Whether all of a value's example data is within limits; None is none."""
    if value.dtype in (TensorProto.STRING, TensorProto.BOOL):
        return True
    low, high = limits
    data = numpy.asarray(value.data, dtype=numpy.float64)
    return not data.size or ((low is None or data.min() >= low) and (high is None or data.max() <= high))
