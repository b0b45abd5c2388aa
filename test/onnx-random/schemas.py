"""What the operators' schemas say: which version an opset has, which dtypes an input takes, what an attribute defaults to."""

import functools

import numpy
import onnx
from onnx import TensorProto

NEWEST = onnx.defs.onnx_opset_version()
OLDEST = 7
NARROW = [dtype for dtype in TensorProto.DataType.values() if dtype >= TensorProto.BFLOAT16]
PLAIN = [TensorProto.FLOAT, TensorProto.DOUBLE, TensorProto.FLOAT16, TensorProto.INT8, TensorProto.INT16, TensorProto.INT32,
         TensorProto.INT64, TensorProto.UINT8, TensorProto.UINT16, TensorProto.UINT32, TensorProto.UINT64, TensorProto.BOOL]
FLOATS = [TensorProto.FLOAT, TensorProto.DOUBLE, TensorProto.FLOAT16, TensorProto.BFLOAT16]
SIGNED = [TensorProto.INT8, TensorProto.INT16, TensorProto.INT32, TensorProto.INT64]
UNSIGNED = [TensorProto.UINT8, TensorProto.UINT16, TensorProto.UINT32, TensorProto.UINT64]
# Of the domain ai.onnx.ml, next to any opset.
ML_VERSION = 5


class Unfit(Exception):
    """A node that the documents do not allow, or that no judge runs. The graph goes on without it."""


def type_text(dtype):
    return f"tensor({TensorProto.DataType.Name(dtype).lower()})"


DTYPE_OF_TEXT = {type_text(dtype): dtype for dtype in TensorProto.DataType.values()}


@functools.cache
def schema(op, opset, domain=""):
    """The schema of the version that the opset has; Unfit if the operator is younger, or deprecated by then."""
    version = opset if domain == "" else ML_VERSION
    try:
        found = onnx.defs.get_schema(op, version, domain)
    except onnx.defs.SchemaError:
        raise Unfit(f"{op} is younger than opset {opset}") from None
    if found.deprecated:
        raise Unfit(f"{op} is deprecated")
    return found


def formal(found, place):
    """The formal input at a place; the last one repeats if it is variadic."""
    if place < len(found.inputs):
        return found.inputs[place]
    last = found.inputs[-1] if found.inputs else None
    if last is None or last.option != onnx.defs.OpSchema.FormalParameterOption.Variadic:
        raise Unfit(f"{found.name} has no input {place}")
    return last


def dtypes(found, place):
    """The dtypes of tensors that an input takes."""
    return [DTYPE_OF_TEXT[text] for text in sorted(formal(found, place).types) if text in DTYPE_OF_TEXT]


def check_types(found, types):
    """Unfit if a type is not allowed, or if two inputs of one type variable differ. None: the input is left out."""
    bound = {}
    for place, text in enumerate(types):
        parameter = formal(found, place)
        if text is None:
            if parameter.option != onnx.defs.OpSchema.FormalParameterOption.Optional:
                raise Unfit(f"{found.name} needs input {place}")
            continue
        if text not in parameter.types:
            raise Unfit(f"{found.name} does not take {text}")
        if parameter.is_homogeneous and bound.setdefault(parameter.type_str, text) != text:
            raise Unfit(f"{found.name} wants equal types")


def default(found, name):
    """The default of an attribute as a Python value, or None."""
    attribute = found.attributes[name].default_value
    return onnx.helper.get_attribute_value(attribute) if attribute.type else None


def dtype_of(array):
    array = numpy.asarray(array)
    if array.dtype.kind in "OUST":
        return TensorProto.STRING
    return onnx.helper.np_dtype_to_tensor_dtype(array.dtype)
