"""Convolutions of one to three axes."""

from onnx import TensorProto

from families import operators
from schemas import Unfit

PLAIN_FLOATS = [TensorProto.FLOAT, TensorProto.DOUBLE, TensorProto.FLOAT16]


def window(g, axes, sizes, dilated=True):
    """Attributes of a window that fits in each axis: kernel_shape, strides, dilations, pads or auto_pad."""
    kernel = [g.rng.choice([each for each in (1, 2, 3, 3, 5) if each <= size]) for size in sizes]
    made = {"kernel_shape": kernel, "strides": g.rng.choice([None, [g.rng.choice([1, 1, 2, 3]) for _ in range(axes)]])}
    dilations = [2 if dilated and g.chance(0.25) and 2 * length - 1 <= size else 1 for length, size in zip(kernel, sizes)]
    made["dilations"] = dilations if max(dilations) > 1 or g.chance(0.3) else None
    way = g.rng.choice(["none", "pads", "pads", "auto"])
    if way == "pads":
        made["pads"] = [g.rng.randint(0, min(2, length - 1)) for length in kernel * 2]
    elif way == "auto":
        made["auto_pad"] = g.rng.choice(["SAME_UPPER", "SAME_LOWER", "VALID", "NOTSET"])
        if made["auto_pad"].startswith("SAME"):
            made["dilations"] = None
            if made["strides"]:  # past the kernel, ONNX Runtime cuts elements off instead of padding, or refuses
                made["strides"] = [min(pair) for pair in zip(made["strides"], kernel)]
    return made


def image(g, op, axes=None, among=PLAIN_FLOATS, channels=None, low=2, where=lambda value: True):
    """A batch of images: one that is there, or a new one."""
    wanted = [axes + 2] if axes else [3, 4, 4, 5]
    found = g.pick(lambda value: value.rank in wanted and value.dtype in among and 0 not in value.shape
                   and (channels is None or value.shape[1] == channels) and min(value.shape[2:]) >= low and where(value), 0.4)
    if found:
        return found
    axes = axes or g.rng.choice([1, 2, 2, 2, 3])
    dtype = g.dtype(op, 0, among)
    for _ in range(40):
        sizes = [g.rng.choice([4, 5, 7, 8] if axes < 3 else [3, 4]) for _ in range(axes)]
        mark = g.mark()
        made = g.new(dtype, (g.rng.choice([1, 1, 2, 3]), channels or g.rng.choice([1, 2, 3, 4, 6]), *sizes))
        if where(made):
            return made
        g.back_to(mark)
    raise Unfit("no such image")


@operators("Conv")
def conv(g, op):
    x = image(g, op)
    channels = x.shape[1]
    groups = g.rng.choice([each for each in (1, 1, 2, 3, channels) if channels % each == 0])
    made = window(g, x.rank - 2, x.shape[2:])
    outputs = groups * g.rng.choice([1, 2, 3])
    weights = g.weight(x.dtype, (outputs, channels // groups, *made["kernel_shape"]), -2, 2)
    bias = [g.weight(x.dtype, (outputs,))] if g.chance(0.5) else []
    if g.chance(0.4):
        made["kernel_shape"] = None
    g.op(op, [x, weights, *bias], group=groups, **made)


@operators("ConvTranspose")
def conv_transpose(g, op):
    x = image(g, op, low=1)
    channels = x.shape[1]
    groups = g.rng.choice([each for each in (1, 1, 2, channels) if channels % each == 0])
    axes = x.rank - 2
    made = window(g, axes, [3] * axes)
    weights = g.weight(x.dtype, (channels, g.rng.choice([1, 2, 3]), *made["kernel_shape"]), -2, 2)
    bias = [g.weight(x.dtype, (weights.shape[1] * groups,))] if g.chance(0.5) else []
    steps = made["strides"] or [1] * axes
    if g.chance(0.3):
        made["output_padding"] = [g.rng.randrange(step) for step in steps]
    if g.chance(0.4):
        made["kernel_shape"] = None
    g.op(op, [x, weights, *bias], group=groups, **made)


@operators("ConvInteger")
def conv_integer(g, op):
    x = image(g, op, axes=g.rng.choice([1, 2, 2]), among=[TensorProto.UINT8, TensorProto.INT8])
    made = window(g, x.rank - 2, x.shape[2:])
    weights = g.weight(g.dtype(op, 1), (g.rng.choice([1, 2, 3]), x.shape[1], *made["kernel_shape"]))
    inputs = [x, weights]
    if g.chance(0.6):
        inputs.append(g.weight(x.dtype, ()))
        if g.chance(0.5):
            inputs.append(g.weight(weights.dtype, g.rng.choice([(), (weights.shape[0],)])))
    g.op(op, inputs, **made)


@operators("DeformConv")
def deform_conv(g, op):
    x = g.new(TensorProto.FLOAT, (g.rng.choice([1, 2]), g.rng.choice([1, 2]), 4, 5))
    kernel, pads = g.rng.choice([[1, 1], [2, 2], [3, 3]]), g.rng.choice([None, [1, 1, 1, 1], [0, 0, 0, 0]])
    high, wide = (size + (2 if pads and pads[0] else 0) - length + 1 for size, length in zip((4, 5), kernel))
    weights = g.weight(x.dtype, (2, x.shape[1], *kernel))
    offset = g.weight(x.dtype, (x.shape[0], 2 * kernel[0] * kernel[1], high, wide), -1.5, 1.5)
    inputs = [x, weights, offset]
    if g.chance(0.6):
        inputs.append(g.weight(x.dtype, (2,)) if g.chance(0.7) else None)
        if g.chance(0.6) or inputs[-1] is None:
            inputs.append(g.weight(x.dtype, (x.shape[0], kernel[0] * kernel[1], high, wide), 0, 1))
    g.op(op, inputs, pads=pads, kernel_shape=g.rng.choice([None, kernel]))


@operators("Col2Im")
def col2im(g, op):
    sizes, block = g.rng.choice([[5, 5], [4, 6], [6]]), g.rng.choice([1, 2, 3])
    blocks, strides = [block] * len(sizes), g.rng.choice([1, 2])
    count = 1
    for size in sizes:
        count *= (size - block) // strides + 1
    channels = g.rng.choice([1, 2])
    x = g.new(g.dtype(op, 0, PLAIN_FLOATS), (g.rng.choice([1, 2]), channels * block ** len(sizes), count))
    g.op(op, [x], image_shape=sizes, block_shape=blocks, strides=[strides] * len(sizes) if strides > 1 or g.chance(0.5) else None)
