"""ONNX Runtime and the onnx package's reference evaluator, and how two results compare.

Results are lists with an entry for each output: an array, a list of arrays (a sequence) or None (an empty optional).
"""

import contextlib
import signal
import warnings

import numpy
import onnx
import onnxruntime
from onnx import TensorProto
from onnx.reference import ReferenceEvaluator

warnings.filterwarnings("ignore")
numpy.seterr(all="ignore")
onnxruntime.set_default_logger_severity(4)
COARSE = (TensorProto.FLOAT16, TensorProto.BFLOAT16)


SECONDS = 60  # of a processor's time


class NoAnswer(Exception):
    """A judge that does not run the model."""


@contextlib.contextmanager
def limit():
    """The process ends by SIGPROF if a judge takes longer than SECONDS: nothing else stops a judge that is not Python."""
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def run_onnxruntime(model, inputs):
    """With its optimisations off. None is an input that is left out."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    try:
        with limit():
            session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
            return session.run(None, inputs)
    except Exception as error:  # its classes have no base of their own
        raise NoAnswer(str(error).split("\n")[0][:200]) from None


def run_reference(model, inputs):
    try:
        with limit():
            return ReferenceEvaluator(model).run(None, inputs)
    except Exception as error:  # whatever NumPy or the evaluator raises
        raise NoAnswer(f"{type(error).__name__}: {error}".split("\n")[0][:200]) from None


JUDGES = {"onnxruntime": run_onnxruntime, "reference": run_reference}


def value_difference(found, wanted, rtol):
    """One line, or "" if they are equal within the tolerance."""
    if isinstance(wanted, list) or isinstance(found, list):
        if not isinstance(found, list) or not isinstance(wanted, list):
            return "is a sequence for one and not for the other"
        if len(found) != len(wanted):
            return f"has {len(found)} tensors, wanted {len(wanted)}"
        return next((text for text in map(value_difference, found, wanted, [rtol] * len(found)) if text), "")
    if found is None or wanted is None:
        return "" if found is wanted else "is absent for one and not for the other"
    found, wanted = numpy.asarray(found), numpy.asarray(wanted)
    if found.shape != wanted.shape:
        return f"is {list(found.shape)}, wanted {list(wanted.shape)}"
    if found.dtype.kind in "OUST" or wanted.dtype.kind in "OUST":
        return "" if found.astype(str).tolist() == wanted.astype(str).tolist() else "has other strings"
    if found.dtype != wanted.dtype:
        return f"is {found.dtype}, wanted {wanted.dtype}"
    places = differing(found, wanted, rtol)
    if not places.any():
        return ""
    if found.dtype.kind in "biu":
        return f"differs in {numpy.sum(places)} of {found.size}"
    found, wanted = found[places].astype(numpy.float64), wanted[places].astype(numpy.float64)
    finite = numpy.isfinite(found) & numpy.isfinite(wanted)
    if not finite.all():
        return f"differs where it is not finite, in {numpy.sum(~finite)} of {places.size}"
    return f"differs by {numpy.abs(found - wanted).max():g}"


def differing(found, wanted, rtol):
    """Where two arrays of numbers of one shape and dtype differ by more than the tolerance."""
    if found.dtype.kind in "biu":
        return found != wanted
    found, wanted = found.astype(numpy.float64), wanted.astype(numpy.float64)
    finite = numpy.isfinite(found) & numpy.isfinite(wanted)
    largest = numpy.abs(wanted[finite]).max(initial=1)
    # Small results of sums of large terms carry the error of the terms.
    far = numpy.abs(found - wanted) > rtol * numpy.abs(wanted) + rtol / 10 * largest
    return numpy.where(finite, far, (found != wanted) & ~(numpy.isnan(found) & numpy.isnan(wanted)))


def nearer(found, one, other):
    """The judges' results of an output, taken from whichever of the two is nearer to what kiln found, for each element."""
    if not all(isinstance(each, numpy.ndarray) and each.dtype.kind in "biuf" for each in (found, one, other)):
        return one
    if not (found.shape, found.dtype) == (one.shape, one.dtype) == (other.shape, other.dtype):
        return one
    near = (found == one) | numpy.isnan(found) & numpy.isnan(one)
    wide = [each.astype(numpy.float64) for each in (found, one, other)]
    return numpy.where(near | (numpy.abs(wide[0] - wide[1]) <= numpy.abs(wide[0] - wide[2])), one, other)


def tolerance(model):
    """The relative error that is allowed: larger if a tensor has 16 bits or fewer to a float."""
    return 3e-2 if any(dtype in COARSE or dtype >= TensorProto.FLOAT8E4M3FN for dtype in written_dtypes(model)) else 1e-3


def written_dtypes(model):
    """The dtypes that inputs, initializers, constants and casts of a model name."""
    graphs = [model.graph, *model.functions]
    for graph in graphs:
        if isinstance(graph, onnx.GraphProto):
            yield from (value.type.tensor_type.elem_type for value in graph.input)
            yield from (tensor.data_type for tensor in graph.initializer)
        for attribute in (each for node in graph.node for each in node.attribute):
            if attribute.HasField("g"):
                graphs.append(attribute.g)
            yield attribute.i if attribute.name in ("to", "dtype", "output_dtype") else attribute.t.data_type


def is_of_shapes(text):
    return "wanted" in text
