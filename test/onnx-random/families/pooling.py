"""Pools, and what pools globally."""

import numpy
from onnx import TensorProto

import schemas
from families import operators
from families.convolution import PLAIN_FLOATS, image, window


@operators("AveragePool", "LpPool", "MaxPool")
def pool(g, op):
    version = schemas.schema(op, g.scope.opset).since_version
    among = PLAIN_FLOATS + ([TensorProto.INT8, TensorProto.UINT8] if op == "MaxPool" and version >= 12 else [])
    x = image(g, op, among=among)
    made = window(g, x.rank - 2, x.shape[2:], dilated=version >= {"MaxPool": 10, "AveragePool": 19, "LpPool": 18}[op])
    rounds_up = g.rng.choice([None, 0, 1]) if made.get("auto_pad", "NOTSET") == "NOTSET" else None
    g.op(op, [x], outputs=2 if op == "MaxPool" and version >= 8 and g.chance(0.3) else 1, **made, ceil_mode=rounds_up,
         count_include_pad=g.rng.choice([None, 0, 1]), p=g.rng.choice([None, 1, 2, 3]), storage_order=g.rng.choice([None, None, 1]))


@operators("GlobalAveragePool", "GlobalMaxPool", "GlobalLpPool")
def global_pool(g, op):
    g.op(op, [image(g, op)], p=g.rng.choice([None, 1, 2]))


@operators("MaxUnpool")
def max_unpool(g, op):
    x = image(g, "MaxPool", axes=2, among=[TensorProto.FLOAT], where=lambda value: value.shape[2] % 2 == value.shape[3] % 2 == 0)
    pooled, places = g.op("MaxPool", [x], outputs=2, kernel_shape=[2, 2], strides=[2, 2])
    sizes = [g.source(numpy.array(x.shape), "node")] if g.chance(0.4) else []
    g.op(op, [pooled, places, *sizes], kernel_shape=[2, 2], strides=[2, 2])


@operators("LRN")
def lrn(g, op):
    g.op(op, [image(g, op)], size=g.rng.choice([1, 3, 5]), alpha=g.rng.choice([None, 0.1]), beta=g.rng.choice([None, 0.5]),
         bias=g.rng.choice([None, 2.0]))
