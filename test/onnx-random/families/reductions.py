"""Reductions, arg reductions, running totals, softmaxes."""

import numpy
from onnx import TensorProto

import schemas
from families import operators
from schemas import Unfit


@operators("ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "ReduceMax", "ReduceMean", "ReduceMin", "ReduceProd",
           "ReduceSum", "ReduceSumSquare")
def reduce(g, op):
    limits = {"ReduceLogSum": (0.25, 9), "ReduceProd": (-2, 2)}.get(op, (-50, 50))
    x = g.operand(op, limits=limits)
    axes = g.axes(x.rank, some=False)
    if schemas.schema(op, g.scope.opset).since_version < 11:
        axes = [axis % x.rank for axis in axes]
    if 0 in x.shape and op in ("ReduceMean", "ReduceMax", "ReduceMin", "ReduceLogSum", "ReduceLogSumExp"):
        raise Unfit("a mean of nothing")
    g.op(op, [x], axes=axes or (None if g.chance(0.8) else []), keepdims=g.rng.choice([None, 0, 1]),
         noop_with_empty_axes=g.rng.choice([None, None, 1, 0]))


@operators("ArgMax", "ArgMin")
def arg_reduce(g, op):
    x = g.operand(op, low=1, where=lambda value: 0 not in value.shape)
    axis = g.axis(x.rank)
    if schemas.schema(op, g.scope.opset).since_version < 11:
        axis %= x.rank
    g.op(op, [x], axis=axis, keepdims=g.rng.choice([None, 0, 1]), select_last_index=g.rng.choice([None, 0, 1]))


@operators("CumSum", "CumProd")
def running(g, op):
    x = g.operand(op, low=1, limits=(-9, 9) if op == "CumSum" else (-2, 2))
    axis = numpy.asarray(g.axis(x.rank), g.rng.choice([numpy.int64, numpy.int32]))
    g.op(op, [x, g.parameter(axis)], exclusive=g.rng.choice([None, 0, 1]), reverse=g.rng.choice([None, 0, 1]))


@operators("Softmax", "LogSoftmax", "Hardmax")
def softmax(g, op):
    x = g.operand(op, low=1, where=lambda value: 0 not in value.shape, limits=(-50, 50))
    axis = g.axis(x.rank)
    version = schemas.schema(op, g.scope.opset).since_version
    if version < 11:
        axis %= x.rank
    # The default was 1 before it was -1.
    g.op(op, [x], axis=None if g.chance(0.3) and (version >= 13 or x.rank > 1) else axis)


@operators("LpNormalization")
def lp_normalization(g, op):
    x = g.operand(op, low=1)
    g.op(op, [x], axis=g.rng.choice([None, g.rng.randrange(x.rank)]), p=g.rng.choice([None, 1, 2]))


@operators("Det")
def det(g, op):
    size = g.rng.choice([1, 2, 3, 4])
    shape = (*g.shape(g.rng.choice([0, 1, 2])), size, size)
    g.op(op, [g.new(g.dtype(op, 0, [TensorProto.FLOAT, TensorProto.DOUBLE]), shape)])
