"""Windows and Fourier transforms."""

import numpy
from onnx import TensorProto

from families import operators
from families.convolution import PLAIN_FLOATS


@operators("BlackmanWindow", "HammingWindow", "HannWindow")
def window(g, op):
    size = g.source(numpy.asarray(g.rng.choice([1, 2, 5, 8]), g.rng.choice([numpy.int64, numpy.int32])))
    g.op(op, [size], periodic=g.rng.choice([None, 0, 1]), output_datatype=g.rng.choice([None, TensorProto.FLOAT, TensorProto.DOUBLE]))


@operators("DFT")
def dft(g, op):
    parts = g.rng.choice([1, 1, 2])
    shape = (g.rng.choice([1, 2]), *(g.rng.choice([2, 3, 5, 8]) for _ in range(g.rng.choice([1, 1, 2]))), parts)
    x = g.new(g.dtype(op, 0, PLAIN_FLOATS[:2]), shape)
    axis = g.rng.randrange(1, len(shape) - 1)
    length = [g.parameter(numpy.asarray(g.rng.choice([2, 4, 6]), numpy.int64))] if g.chance(0.3) else []
    g.op(op, [x, *length], axis=axis, inverse=g.rng.choice([None, 0, 1]) if parts == 2 else None,
         onesided=g.rng.choice([None, 0, 1]) if parts == 1 else None)


@operators("STFT")
def stft(g, op):
    x = g.new(g.dtype(op, 0, PLAIN_FLOATS[:2]), (g.rng.choice([1, 2]), g.rng.choice([8, 17]), 1))
    step, length = g.parameter(numpy.asarray(g.rng.choice([2, 3]), numpy.int64)), g.rng.choice([4, 5])
    inputs = [x, step, g.weight(x.dtype, (length,)) if g.chance(0.6) else None]
    inputs.append(g.parameter(numpy.asarray(length, numpy.int64)))
    g.op(op, inputs, onesided=g.rng.choice([None, 0, 1]))


@operators("MelWeightMatrix")
def mel_weight_matrix(g, op):
    numbers = [g.rng.choice([3, 8]), g.rng.choice([8, 16]), g.rng.choice([8192, 16000])]
    ends = [numpy.asarray(0, numpy.float32), numpy.asarray(g.rng.choice([2000, 4000]), numpy.float32)]
    g.op(op, [*(g.parameter(numpy.asarray(number, numpy.int64)) for number in numbers), *map(g.parameter, ends)])
