"""Resizes and samplings of images."""

import numpy
from onnx import TensorProto

import schemas
from families import operators
from families.convolution import PLAIN_FLOATS, image


@operators("Upsample")
def upsample(g, op):
    x = image(g, op, axes=2, among=[TensorProto.FLOAT])
    scales = [1.0, 1.0, g.rng.choice([1.0, 2.0, 1.5]), g.rng.choice([1.0, 2.0, 3.0])]
    if g.scope.opset < 9:
        g.op(op, [x], scales=scales, mode=g.rng.choice([None, "nearest", "linear"]))
    else:
        g.op(op, [x, g.source(numpy.array(scales, numpy.float32), "initializer")], mode=g.rng.choice([None, "nearest", "linear"]))


@operators("Resize")
def resize(g, op):
    version = schemas.schema(op, g.scope.opset).since_version
    x = image(g, op, among=[TensorProto.FLOAT] * 3 + [TensorProto.UINT8] + PLAIN_FLOATS)
    axes = x.rank - 2
    mode = g.rng.choice(["nearest", "linear", "cubic"]) if axes == 2 and version >= 11 else g.rng.choice(["nearest", "linear"])
    factors = numpy.array([1, 1] + [g.rng.choice([1, 2, 0.5, 1.5, 0.75, 3]) for _ in range(axes)], numpy.float32)
    if version == 10:
        g.op(op, [x, g.parameter(factors)], mode=mode)
        return
    way = g.rng.choice(["half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel"]
                       + ["half_pixel_symmetric"] * (version >= 19))
    written = {"mode": mode, "coordinate_transformation_mode": way}
    if mode == "nearest":
        written["nearest_mode"] = g.rng.choice([None, "floor", "ceil", "round_prefer_floor", "round_prefer_ceil"])
    if mode == "cubic":
        written |= {"cubic_coeff_a": g.rng.choice([None, -0.5]), "exclude_outside": g.rng.choice([None, 0, 1])}
    if version >= 18 and mode != "nearest" and x.dtype in schemas.FLOATS:  # ONNX Runtime rounds halves of integers either way
        written["antialias"] = g.rng.choice([None, 0, 1])
    region = g.source(numpy.array([], numpy.float32), "initializer") if version < 13 else None
    if g.chance(0.5):
        chosen = list(range(2, x.rank)) if version >= 18 and g.chance(0.3) else None
        g.op(op, [x, region, g.parameter(factors[2:] if chosen else factors)], axes=chosen, **written)
        return
    sizes = numpy.array([*x.shape[:2], *(g.rng.choice([1, 2, 3, 5, 8, 9]) for _ in range(axes))], numpy.int64)
    scales = g.source(numpy.array([], numpy.float32), "initializer") if version < 13 else None
    chosen = list(range(2, x.rank)) if version >= 18 and g.chance(0.4) else None
    if version >= 18 and chosen and g.chance(0.4):
        written["keep_aspect_ratio_policy"] = g.rng.choice(["stretch", "not_larger", "not_smaller"])
    g.op(op, [x, region, scales, g.parameter(sizes[2:] if chosen else sizes)], axes=chosen, **written)


@operators("GridSample")
def grid_sample(g, op):
    newer = schemas.schema(op, g.scope.opset).since_version >= 20
    x = image(g, op, axes=g.rng.choice([2, 2, 3]) if newer else 2, among=[TensorProto.FLOAT, TensorProto.DOUBLE])
    axes = x.rank - 2
    grid = g.weight(TensorProto.FLOAT, (x.shape[0], *(g.rng.choice([1, 2, 4]) for _ in range(axes)), axes), -1.3, 1.3)
    modes = ["linear", "nearest", "cubic"] if newer else ["bilinear", "nearest", "bicubic"]
    g.op(op, [x, grid], mode=g.rng.choice(modes[:2] if axes == 3 else modes), align_corners=g.rng.choice([None, 0, 1]),
         padding_mode=g.rng.choice([None, "zeros", "border", "reflection"]))


@operators("AffineGrid")
def affine_grid(g, op):
    axes, batch = g.rng.choice([2, 3]), g.rng.choice([1, 2])
    theta = g.weight(g.dtype(op, 0, [TensorProto.FLOAT, TensorProto.DOUBLE]), (batch, axes, axes + 1), -1, 1)
    sizes = [batch, 2, *(g.rng.choice([1, 2, 4, 5]) for _ in range(axes))]
    g.op(op, [theta, g.parameter(numpy.array(sizes))], align_corners=g.rng.choice([None, 0, 1]))


@operators("RoiAlign")
def roi_align(g, op):
    x = image(g, op, axes=2, among=[TensorProto.FLOAT])
    count = g.rng.choice([1, 2, 3])
    corner = g.array(TensorProto.FLOAT, (count, 2), 0, 2)
    rois = numpy.concatenate([corner, corner + g.array(TensorProto.FLOAT, (count, 2), 1, 4)], -1).astype(numpy.float32)
    batches = g.source(numpy.asarray(g.scope.generator.integers(0, x.shape[0], (count,)), numpy.int64))
    g.op(op, [x, g.source(rois), batches], mode=g.rng.choice([None, "avg", "max"]), output_height=g.rng.choice([None, 1, 2, 3]),
         output_width=g.rng.choice([None, 2, 3]), sampling_ratio=g.rng.choice([None, 1, 2]), spatial_scale=g.rng.choice([None, 1.0, 0.5]),
         coordinate_transformation_mode=g.rng.choice([None, "half_pixel", "output_half_pixel"]))
