"""Element-wise operators of all dtypes, casts, activations."""

import numpy
from onnx import TensorProto, helper

import schemas
from families import operators
from schemas import Unfit

LIMITS = {"Acos": (-1, 1), "Asin": (-1, 1), "Atanh": (-0.9, 0.9), "Acosh": (1, 9), "Log": (0.1, 50), "Sqrt": (0, 90), "Exp": (-20, 8),
          "Cosh": (-8, 8), "Sinh": (-8, 8), "Tan": (-1.4, 1.4), "Sin": (-50, 50), "Cos": (-50, 50), "Reciprocal": (0.1, 50)}


@operators("Abs", "Acos", "Acosh", "Asin", "Asinh", "Atan", "Atanh", "BitwiseNot", "Ceil", "Cos", "Cosh", "Erf", "Exp", "Floor",
           "HardSwish", "Identity", "IsNaN", "Log", "Mish", "Neg", "Not", "Reciprocal", "Relu", "Round", "Sigmoid", "Sign", "Sin",
           "Sinh", "Softplus", "Softsign", "Sqrt", "Tan", "Tanh")
def unary(g, op):
    g.op(op, [g.operand(op, limits=LIMITS.get(op, (None, None)))])


@operators("Celu", "Elu", "HardSigmoid", "LeakyRelu", "Selu", "Shrink", "Swish", "ThresholdedRelu", "Gelu", "IsInf")
def activation(g, op):
    choose = g.rng.choice
    g.op(op, [g.operand(op)], alpha=choose([None, 0.5, 1.0, 2.0, 0.01]), beta=choose([None, 0.5, 0.1]), gamma=choose([None, 1.5]),
         lambd=choose([None, 0.25, 1.0]), bias=choose([None, 0.5]), approximate=choose([None, "tanh", "none"]),
         detect_negative=choose([None, 0, 1]), detect_positive=choose([None, 0, 1]))


@operators("PRelu")
def prelu(g, op):
    x = g.operand(op)
    g.op(op, [x, g.partner(x)])


@operators("SwiGLU")
def swiglu(g, op):
    x = g.operand(op)
    g.op(op, [x, g.new(x.dtype, x.shape)], alpha=g.rng.choice([None, 1.0, 1.7]))


def two(g, op, first=(None, None), second=(None, None), among=None):
    x = g.operand(op, among=among, limits=first)
    return [x, g.partner(x, second)] if second != (None, None) or g.chance(0.7) else [g.partner(x), x]


@operators("Add", "Sub", "Mul", "And", "Or", "Xor", "BitwiseAnd", "BitwiseOr", "BitwiseXor", "Equal", "Greater", "GreaterOrEqual",
           "Less", "LessOrEqual")
def binary(g, op):
    g.op(op, two(g, op))


@operators("Div")
def divide(g, op):
    g.op(op, two(g, op, second=(1, 9)))


@operators("Mod")
def modulo(g, op):
    x, y = two(g, op, second=(1, 9))
    g.op(op, [x, y], fmod=1 if x.dtype in schemas.FLOATS else g.rng.choice([None, 0, 1]))


@operators("Pow")
def power(g, op):
    x = g.operand(op, limits=(0.25, 6))
    exponent = g.partner(x, (0, 4))
    if schemas.schema(op, g.scope.opset).since_version >= 12 and g.chance(0.4):
        exponent = g.new(g.dtype(op, 1), exponent.shape, 0, 4)
    g.op(op, [x, exponent])


@operators("BitShift")
def shift(g, op):
    x = g.operand(op)
    g.op(op, [x, g.partner(x, (0, 7))], direction=g.rng.choice(["LEFT", "RIGHT"]))


@operators("Max", "Min", "Sum", "Mean")
def variadic(g, op):
    x = g.operand(op)
    inputs = [x, *(g.partner(x) for _ in range(g.rng.choice([0, 1, 1, 1, 2, 2])))]
    g.rng.shuffle(inputs)
    g.op(op, inputs)


@operators("Clip")
def clip(g, op):
    x = g.operand(op)
    low = g.rng.choice([None, -1, 0, 1] if x.dtype not in schemas.UNSIGNED else [None, 0, 1])
    high = g.rng.choice([None, 2, 3, 1])
    g.op(op, [x], min=low if low is None or x.dtype not in schemas.FLOATS else float(low),
         max=high if high is None or x.dtype not in schemas.FLOATS else float(high))


@operators("Where")
def where(g, op):
    condition = g.operand(op, 0)
    x = g.new(g.dtype(op, 1), condition.shape)
    arms = [x, g.partner(x)]
    g.rng.shuffle(arms)
    if g.chance(0.3):
        condition = g.partner(condition)
    g.op(op, [condition, *arms])


def castable(value, to):
    """Whether all of the example data fits: other casts to integers are left open by ONNX."""
    if value.dtype == TensorProto.STRING or to in (TensorProto.STRING, TensorProto.BOOL):
        return value.dtype != TensorProto.STRING and to == TensorProto.BOOL
    data = numpy.asarray(value.data, dtype=numpy.float64)
    if not data.size:
        return True
    if not numpy.isfinite(data).all():
        return False
    if to in schemas.FLOATS:
        return numpy.abs(data).max() < 6e4
    if to in schemas.PLAIN:
        limits = numpy.iinfo(helper.tensor_dtype_to_np_dtype(to))
        # A wrap of an integer is defined, a float outside of the range is not.
        return value.dtype not in schemas.FLOATS or (data.min() >= max(limits.min, -2**31) and data.max() <= min(limits.max, 2**31))
    return True


def cast_target(g, op, x):
    found = schemas.schema("Cast", g.scope.opset)
    allowed = [schemas.DTYPE_OF_TEXT[text] for text in sorted(found.outputs[0].types)]
    common = [each for each in allowed if each in schemas.PLAIN]
    to = g.rng.choice(common if g.chance(0.8) else allowed)
    if not castable(x, to):
        raise Unfit("the cast is not defined")
    return to


@operators("Cast")
def cast(g, op):
    x = g.operand(op)
    to = cast_target(g, op, x)
    narrow(g, g.op(op, [x], to=to, saturate=g.rng.choice([None, 1, 0]), round_mode=g.rng.choice([None, "up", "nearest"])), to)


def narrow(g, value, to):
    """A narrow float or integer is cast back in most cases, since few operators take it."""
    if to in schemas.NARROW and g.chance(0.8):
        g.op("Cast", [value], to=TensorProto.FLOAT)


@operators("CastLike")
def cast_like(g, op):
    x = g.operand(op)
    like = g.operand(op, 1, among=schemas.PLAIN)
    if not castable(x, like.dtype):
        raise Unfit("the cast is not defined")
    g.op(op, [x, like])


@operators("BitCast")
def bit_cast(g, op):
    x = g.operand(op, among=schemas.PLAIN)
    same = [each for each in schemas.SIGNED + schemas.UNSIGNED
            if helper.tensor_dtype_to_np_dtype(each).itemsize == x.data.dtype.itemsize]
    g.op(op, [x], to=g.rng.choice(same))


@operators("Dropout")
def dropout(g, op):
    # Before opset 12 nothing says what the mask is outside of training.
    mask = schemas.schema(op, g.scope.opset).since_version >= 12 and g.chance(0.4)
    g.op(op, [g.operand(op)], outputs=2, want=[0, 1] if mask else [0], ratio=g.rng.choice([None, 0.5, 0.3]))
