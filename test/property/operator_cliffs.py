"""operator_cliffs.py KILN [--only WORD] [--most RATIO] [--keep FILE]

Times one ONNX operator at a time, in several shapes, with fixed sizes and with open ones, and compares open sizes with fixed ones
and both with ONNX Runtime, which Python must have. One thread, the least of several turns. A row whose ratio is above --most (2)
is marked, and the exit status is 1. cliffs.py has graphs of several operators.
"""
import argparse
import os
import subprocess
import sys
import tempfile
import time

import numpy
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

from cliffs import SECONDS_A_TURN, TURNS, Failed, keep, least_of_program, least_of_session, run

FEW_MICROSECONDS = 5
# What letters in a shape stand for; a fixed size is written as a number.
SIZES = {"n": 4, "t": 333, "h": 30, "w": 44, "s": 50, "m": 1000, "L": 20000}
F, I64, I32, BOOL, U8 = TensorProto.FLOAT, TensorProto.INT64, TensorProto.INT32, TensorProto.BOOL, TensorProto.UINT8
NUMPY = {F: "float32", I64: "int64", I32: "int32", BOOL: "bool", U8: "uint8"}
CASES = []


class Case:
    """A chain of nodes. Inputs are NAME: (dtype, shape, values from, to); constants are arrays."""

    def __init__(self, name, nodes, inputs, constants=None, opset=21):
        self.name, self.nodes, self.inputs, self.constants, self.opset = name, nodes, inputs, constants or {}, opset

    def model(self, is_open):
        def ports():
            for name, (dtype, shape, *_) in self.inputs.items():
                yield helper.make_tensor_value_info(name, dtype, [x if is_open else SIZES.get(x, x) for x in shape])
        outputs = [helper.make_value_info(name, onnx.TypeProto()) for name in self.nodes[-1].output if name]
        graph = helper.make_graph(self.nodes, "g", list(ports()), outputs,
                                  [numpy_helper.from_array(numpy.asarray(value), name)
                                   for name, value in self.constants.items()])
        domains = sorted({node.domain for node in self.nodes})
        opsets = [helper.make_opsetid(domain, 1 if domain else self.opset) for domain in {*domains, ""}]
        return helper.make_model(graph, opset_imports=opsets, ir_version=10)

    def feed(self):
        chance = numpy.random.default_rng(0)
        made = {}
        for name, (dtype, shape, *bounds) in self.inputs.items():
            sizes = [SIZES.get(size, size) for size in shape]
            low, high = bounds or ((-1, 1) if dtype == F else (0, 2) if dtype == BOOL else (0, 100))
            value = chance.uniform(low, high, sizes) if dtype == F else chance.integers(low, high, sizes)
            made[name] = value.astype(NUMPY[dtype])
        return made


def one(name, op, inputs, constants=None, opset=21, domain="", order=None, outputs=1, **attributes):
    names = order or [*inputs, *(constants or {})]
    results = ["y", *(f"y{i}" for i in range(1, outputs))]
    CASES.append(Case(name, [helper.make_node(op, names, results, domain=domain, **attributes)], inputs, constants, opset))


def x(*shape, dtype=F, between=None):
    return {"x": (dtype, shape, *(between or ()))}


def cases():
    i64 = lambda *values: numpy.array(values, "int64")
    f32 = lambda *shape: numpy.random.default_rng(1).standard_normal(shape).astype("float32")
    for axis, shape in ((1, ("n", "t")), (1, ("n", "t", 9)), (0, ("t", 64)), (2, (2, 30, "t")), (1, (1, "L"))):
        label = f"{list(shape)} axis {axis}"
        one(f"CumSum {label}", "CumSum", x(*shape), {"a": numpy.array(axis, "int64")})
        one(f"ArgMax {label}", "ArgMax", x(*shape), axis=axis)
        one(f"ArgMin last {label}", "ArgMin", x(*shape), axis=axis, select_last_index=1)
        one(f"TopK 5 {label}", "TopK", x(*shape), {"k": i64(5)}, axis=axis, outputs=2)
        one(f"Softmax {label}", "Softmax", x(*shape), axis=axis)
        one(f"LogSoftmax {label}", "LogSoftmax", x(*shape), axis=axis)
        one(f"Hardmax {label}", "Hardmax", x(*shape), axis=axis)
        for op in ("ReduceSum", "ReduceMax", "ReduceMean", "ReduceL2", "ReduceLogSumExp", "ReduceProd", "ReduceSumSquare"):
            one(f"{op} {label}", op, x(*shape), {"a": i64(axis)}, keepdims=0)
        one(f"LpNormalization {label}", "LpNormalization", x(*shape), axis=axis)
        one(f"Reverse slice {label}", "Slice", x(*shape), {"b": i64(-1), "e": i64(-2**62), "a": i64(axis), "s": i64(-1)})
        one(f"Slice by 3 {label}", "Slice", x(*shape), {"b": i64(1), "e": i64(2**62), "a": i64(axis), "s": i64(3)})
        one(f"Gather {label}", "Gather", x(*shape), {"i": numpy.array([0, 3, 2, 1] * 4)}, axis=axis)
        one(f"Concat {label}", "Concat", {**x(*shape), "z": (F, shape)}, axis=axis)
    one("ReverseSequence", "ReverseSequence", {**x("t", "n", 16), "l": (I64, ["n"], 1, 300)}, batch_axis=1, time_axis=0)
    one("TopK 50 of m", "TopK", x("n", "m"), {"k": i64(50)}, axis=1, outputs=2)
    one("TopK all of m", "TopK", x("n", "m"), {"k": i64(1000)}, axis=1, outputs=2)
    one("NonZero", "NonZero", x("n", "t", dtype=BOOL))
    one("NonZero float", "NonZero", x("h", "w"))
    one("Compress", "Compress", {**x("t", 16), "c": (BOOL, ("t",))}, axis=0)
    one("Unique", "Unique", x("t", dtype=I64), outputs=4)
    one("GatherElements", "GatherElements", {**x("t", 64), "i": (I64, ("t", 64), 0, 300)}, axis=0)
    one("GatherElements last", "GatherElements", {**x("t", 64), "i": (I64, ("t", 64), 0, 64)}, axis=1)
    one("GatherND", "GatherND", {**x("t", 64, 8), "i": (I64, ("s", 2), 0, 64)})
    one("Gather rows", "Gather", {**x(5000, 64), "i": (I64, ("n", "t"), 0, 5000)}, axis=0)
    one("ScatterND", "ScatterND", {**x("t", 64), "i": (I64, ("s", 1), 0, 300), "u": (F, ("s", 64))})
    one("ScatterND add", "ScatterND", {**x("t", 64), "i": (I64, ("s", 1), 0, 300), "u": (F, ("s", 64))}, reduction="add")
    one("ScatterElements", "ScatterElements", {**x("t", 64), "i": (I64, ("s", 64), 0, 300), "u": (F, ("s", 64))}, axis=0)
    one("ScatterElements add", "ScatterElements", {**x("t", 64), "i": (I64, ("s", 64), 0, 300), "u": (F, ("s", 64))}, axis=0,
        reduction="add")
    one("OneHot", "OneHot", {"i": (I64, ("n", "t"), 0, 50)}, {"d": i64(50), "v": numpy.array([0, 1], "float32")}, axis=-1)
    one("Where", "Where", {"c": (BOOL, ("n", 1, "t")), **x("n", 16, "t"), "z": (F, (1,))})
    one("Tile", "Tile", x("n", "t", 8), {"r": i64(1, 4, 2)})
    one("Expand", "Expand", x("n", 1, "t"), {"s": i64(1, 64, 1)})
    one("Trilu", "Trilu", x("n", "t", "t"))
    one("Transpose 0213", "Transpose", x("n", "t", 8, 64), perm=[0, 2, 1, 3])
    one("Transpose 0312", "Transpose", x("n", "h", "w", 64), perm=[0, 3, 1, 2])
    one("Transpose 021", "Transpose", x("n", "t", 64), perm=[0, 2, 1])
    one("Transpose 10", "Transpose", x("m", "m"), perm=[1, 0])
    one("Transpose 210", "Transpose", x(40, "t", 30), perm=[2, 1, 0])
    one("DepthToSpace", "DepthToSpace", x("n", 64, "h", "w"), blocksize=2)
    one("DepthToSpace CRD", "DepthToSpace", x("n", 64, "h", "w"), blocksize=2, mode="CRD")
    one("SpaceToDepth", "SpaceToDepth", x("n", 16, "h", "w"), blocksize=2)
    for mode in ("constant", "reflect", "edge", "wrap"):
        one(f"Pad {mode}", "Pad", x("n", 16, "h", "w"), {"p": i64(0, 0, 3, 3, 0, 0, 3, 3)}, mode=mode)
    one("Split", "Split", x("n", "t", 64), axis=2, num_outputs=2, outputs=2)
    one("Einsum bhqd", "Einsum", {**x("n", 4, "s", 32), "z": (F, ("n", 4, "s", 32))}, equation="bhqd,bhkd->bhqk")
    one("Einsum ij,ik", "Einsum", {**x("t", 64), "z": (F, ("t", 48))}, equation="ij,ik->jk")
    one("Einsum outer", "Einsum", {**x("t"), "z": (F, ("m",))}, equation="i,j->ij")
    one("Einsum nchw,chw", "Einsum", {**x("n", 16, "h", "w"), "z": (F, (16, "h", "w"))}, equation="nchw,chw->nhw")
    for op in ("Relu", "Sigmoid", "Tanh", "Erf", "Gelu", "Exp", "Log", "Sqrt", "Sin", "Softplus", "Mish", "HardSwish", "Elu", "Selu",
               "Round", "Floor", "Abs", "Neg", "Reciprocal", "Softsign", "Celu", "ThresholdedRelu", "Asin", "Atan", "Cosh", "Sign",
               "IsNaN", "LeakyRelu", "Not"):
        dtype = BOOL if op == "Not" else F
        one(op, op, x("n", "t", 64, dtype=dtype, between=(0.01, 0.9) if dtype == F else None))
    for op in ("Add", "Mul", "Div", "Pow", "Max", "Less", "Mod"):
        z = (F, ("t", 1), 0.5, 2)
        attributes = {"fmod": 1} if op == "Mod" else {}
        one(f"{op} by rows", op, {**x("n", "t", 64, between=(0.5, 2)), "z": z}, **attributes)
    for op in ("Div", "Mod", "Mul"):
        one(f"{op} int64", op, {**x("n", "t", 64, dtype=I64, between=(1, 1000)), "z": (I64, (64,), 1, 50)})
    one("Pow 2", "Pow", x("n", "t", 64), {"p": numpy.array(2, "float32")})
    one("Pow 0.3", "Pow", x("n", "t", 64, between=(0.1, 1)), {"p": numpy.array(0.3, "float32")})
    one("PRelu", "PRelu", x("n", 64, "h", "w"), {"s": f32(64, 1, 1)})
    one("Clip", "Clip", x("n", "t", 64), {"a": numpy.array(0, "float32"), "b": numpy.array(0.5, "float32")})
    one("Cast to int64", "Cast", x("n", "t", 64), to=I64)
    one("Cast uint8", "Cast", x("n", 3, "h", "w", dtype=U8), to=F)
    one("Cast half", "Cast", x("n", "t", 64), to=TensorProto.FLOAT16)
    one("QuantizeLinear", "QuantizeLinear", x("n", "t", 64), {"s": numpy.array(0.02, "float32"), "z": numpy.array(3, "uint8")})
    one("DequantizeLinear", "DequantizeLinear", x("n", "t", 64, dtype=U8), {"s": numpy.array(0.02, "float32"), "z": numpy.array(3, "uint8")})
    one("DynamicQuantizeLinear", "DynamicQuantizeLinear", x("n", "t", 64), outputs=3)
    for channels, sizes in ((64, ("h", "w")), (16, ("t",)), (8, (8, "h", "w"))):
        nd, label = len(sizes), f"{channels} {list(sizes)}"
        shape = ("n", channels, *sizes)
        one(f"MaxPool 3/2 {label}", "MaxPool", x(*shape), kernel_shape=[3] * nd, strides=[2] * nd, pads=[1] * 2 * nd)
        one(f"MaxPool 2/2 {label}", "MaxPool", x(*shape), kernel_shape=[2] * nd, strides=[2] * nd)
        one(f"AveragePool 3/1 {label}", "AveragePool", x(*shape), kernel_shape=[3] * nd, pads=[1] * 2 * nd)
        one(f"AveragePool ceil {label}", "AveragePool", x(*shape), kernel_shape=[3] * nd, strides=[2] * nd, ceil_mode=1)
        one(f"GlobalAveragePool {label}", "GlobalAveragePool", x(*shape))
        one(f"GlobalMaxPool {label}", "GlobalMaxPool", x(*shape))
        one(f"InstanceNormalization {label}", "InstanceNormalization", x(*shape), {"g": f32(channels), "b": f32(channels)})
        one(f"BatchNormalization {label}", "BatchNormalization", x(*shape),
            {"g": f32(channels), "b": f32(channels), "m": f32(channels), "v": abs(f32(channels)) + 1})
        one(f"Conv 3 {label}", "Conv", x(*shape), {"k": f32(32, channels, *[3] * nd)}, pads=[1] * 2 * nd)
        one(f"Conv 3/2 {label}", "Conv", x(*shape), {"k": f32(32, channels, *[3] * nd)}, pads=[1] * 2 * nd, strides=[2] * nd)
        one(f"Conv 1 {label}", "Conv", x(*shape), {"k": f32(32, channels, *[1] * nd)})
        one(f"Conv depthwise {label}", "Conv", x(*shape), {"k": f32(channels, 1, *[3] * nd)}, pads=[1] * 2 * nd, group=channels)
        one(f"Conv dilated {label}", "Conv", x(*shape), {"k": f32(16, channels, *[3] * nd)}, pads=[2] * 2 * nd, dilations=[2] * nd)
        one(f"ConvTranspose 2/2 {label}", "ConvTranspose", x(*shape), {"k": f32(channels, 16, *[2] * nd)}, strides=[2] * nd)
        one(f"ConvTranspose 4/2 {label}", "ConvTranspose", x(*shape), {"k": f32(channels, 16, *[4] * nd)}, strides=[2] * nd, pads=[1] * 2 * nd)
    one("MaxPool 5", "MaxPool", x("n", 64, "h", "w"), kernel_shape=[5, 5], pads=[2, 2, 2, 2])
    one("MaxPool 13", "MaxPool", x("n", 16, "h", "w"), kernel_shape=[13, 13], pads=[6, 6, 6, 6])
    one("MaxPool indices", "MaxPool", x("n", 16, "h", "w"), kernel_shape=[2, 2], strides=[2, 2], outputs=2)
    one("AveragePool 7", "AveragePool", x("n", 64, "h", "w"), kernel_shape=[7, 7])
    one("LRN", "LRN", x("n", 64, "h", "w"), size=5)
    one("LayerNormalization", "LayerNormalization", x("n", "t", 256), {"g": f32(256), "b": f32(256)})
    one("GroupNormalization", "GroupNormalization", x("n", 64, "h", "w"), {"g": f32(64), "b": f32(64)}, num_groups=8)
    one("MeanVarianceNormalization", "MeanVarianceNormalization", x("n", 16, "h", "w"))
    for scale in (2.0, 1.5, 0.5):
        for mode, how in (("nearest", "asymmetric"), ("linear", "half_pixel"), ("linear", "align_corners"), ("cubic", "half_pixel")):
            one(f"Resize {mode} {how} {scale}", "Resize", x("n", 16, "h", "w"), {"s": numpy.array([1, 1, scale, scale], "float32")},
                order=["x", "", "s"], mode=mode, coordinate_transformation_mode=how)
    one("Resize to 64", "Resize", x("n", 16, "h", "w"), {"s": i64(4, 16, 64, 64)}, order=["x", "", "", "s"], mode="linear")
    one("GridSample", "GridSample", {**x("n", 16, "h", "w"), "g": (F, ("n", "s", "s", 2))})
    one("RoiAlign", "RoiAlign", {**x("n", 16, "h", "w"), "r": (F, ("s", 4), 0, 40), "b": (I64, ("s",), 0, 4)}, output_height=7,
        output_width=7, sampling_ratio=2)
    one("NonMaxSuppression", "NonMaxSuppression", {"b": (F, (1, "m", 4), 0, 1), "s": (F, (1, 1, "m"), 0, 1)},
        {"k": i64(100), "i": numpy.array([0.5], "float32"), "o": numpy.array([0.1], "float32")})
    one("AffineGrid", "AffineGrid", {"a": (F, ("n", 2, 3))}, {"s": i64(4, 3, 40, 40)})
    one("Col2Im", "Col2Im", x("n", 72, 900), {"i": i64(30, 30), "b": i64(3, 3)}, pads=[1, 1, 1, 1])
    one("DFT", "DFT", x("n", 256, 1), {"l": numpy.array(256, "int64"), "a": numpy.array(1, "int64")}, order=["x", "", "a"])
    one("STFT", "STFT", x(1, "L", 1), {"s": numpy.array(128, "int64"), "w": f32(256), "l": numpy.array(256, "int64")}, onesided=1)
    one("Det", "Det", x("n", 8, 8))
    one("MatMul rows", "MatMul", x("t", 256), {"k": f32(256, 256)})
    one("MatMul row", "MatMul", x(1, 512), {"k": f32(512, 512)})
    one("MatMul few rows", "MatMul", x("n", 512), {"k": f32(512, 512)})
    one("MatMul batch", "MatMul", {**x("n", "t", 64), "z": (F, ("n", 64, "t"))})
    one("MatMul int", "MatMulInteger", {**x("t", 256, dtype=U8), "z": (U8, (256, 128))})
    one("Gemm transposed", "Gemm", x("t", 256), {"k": f32(128, 256), "c": f32(128)}, transB=1)
    one("Gemm A transposed", "Gemm", x(256, "t"), {"k": f32(256, 128), "c": f32(128)}, transA=1)
    for direction, count in (("forward", 1), ("bidirectional", 2)):
        for op, gates in (("LSTM", 4), ("GRU", 3), ("RNN", 1)):
            one(f"{op} {direction}", op, x("s", "n", 64), {"k": f32(count, gates * 64, 64), "r": f32(count, gates * 64, 64) / 8,
                                                         "b": f32(count, gates * 128)}, hidden_size=64, direction=direction)
    one("GRU before", "GRU", x("s", "n", 64), {"k": f32(1, 192, 64), "r": f32(1, 192, 64) / 8, "b": f32(1, 384)}, hidden_size=64,
        linear_before_reset=1)

    microsoft_cases(i64, f32)


def microsoft_cases(i64, f32):
    ms = {"domain": "com.microsoft"}
    norm = {"g": f32(256), "b": f32(256)}
    hidden = {"x": (F, ("n", "t", 256)), "z": (F, ("n", "t", 256))}
    one("SkipLayerNormalization", "SkipLayerNormalization", hidden, norm, **ms)
    one("SkipSimplifiedLayerNormalization", "SkipSimplifiedLayerNormalization", hidden, {"g": f32(256)}, **ms)
    one("BiasGelu", "BiasGelu", {"x": hidden["x"]}, {"b": f32(256)}, **ms)
    one("FastGelu", "FastGelu", {"x": hidden["x"]}, {"b": f32(256)}, **ms)
    one("QuickGelu", "QuickGelu", {"x": hidden["x"]}, **ms)
    one("Attention", "Attention", {"x": hidden["x"]}, {"k": f32(256, 768) / 16, "b": f32(768)}, num_heads=8, **ms)
    query = {name: (F, ("n", "t", 256)) for name in "qkv"}
    one("MultiHeadAttention", "MultiHeadAttention", query, num_heads=8, **ms)
    one("Attention of ONNX", "Attention", {name: (F, ("n", 8, "t", 32)) for name in "qkv"}, opset=23)
    one("Attention of ONNX, causal", "Attention", {name: (F, ("n", 8, "t", 32)) for name in "qkv"}, opset=23, is_causal=1)
    one("FusedMatMul", "FusedMatMul", {"x": hidden["x"]}, {"k": f32(128, 256)}, transB=1, alpha=0.5, **ms)
    one("RotaryEmbedding", "RotaryEmbedding", {"x": (F, ("n", "t", 256)), "p": (I64, ("n", "t"), 0, 300)},
        {"c": f32(512, 16), "s": f32(512, 16)}, num_heads=8, **ms)
    scale, zero = numpy.array(0.02, "float32"), numpy.array(3, "uint8")
    bytes_of = lambda *shape: numpy.random.default_rng(2).integers(0, 255, shape).astype("uint8")
    one("QLinearMatMul", "QLinearMatMul", {"x": (U8, ("t", 256))},
        {"xs": scale, "xz": zero, "k": bytes_of(256, 128), "ks": scale, "kz": zero, "ys": scale, "yz": zero})
    one("QLinearConv", "QLinearConv", {"x": (U8, ("n", 16, "h", "w"))},
        {"xs": scale, "xz": zero, "k": bytes_of(32, 16, 3, 3), "ks": scale, "kz": zero, "ys": scale, "yz": zero}, pads=[1, 1, 1, 1])
    one("QLinearAdd", "QLinearAdd", {"x": (U8, ("n", "t", 64)), "z": (U8, ("n", "t", 64))},
        {"xs": scale, "xz": zero, "zs": scale, "zz": zero, "ys": scale, "yz": zero}, order=["x", "xs", "xz", "z", "zs", "zz", "ys", "yz"],
        **ms)
    one("DynamicQuantizeMatMul", "DynamicQuantizeMatMul", {"x": (F, ("t", 256))},
        {"k": bytes_of(256, 128), "ks": scale, "kz": zero}, **ms)
    one("MatMulNBits", "MatMulNBits", {"x": (F, ("t", 256))}, {"k": bytes_of(128, 8, 16), "s": abs(f32(1024))}, K=256, N=128, bits=4,
        block_size=32, **ms)
    one("MatMulNBits, bytes", "MatMulNBits", {"x": (F, ("t", 256))}, {"k": bytes_of(128, 8, 16), "s": abs(f32(1024))}, K=256, N=128,
        bits=4, block_size=32, accuracy_level=4, **ms)
    ml = {"domain": "ai.onnx.ml"}
    one("Scaler", "Scaler", {"x": (F, ("m", 20))}, offset=[0.5] * 20, scale=[2.0] * 20, **ml)
    one("Normalizer", "Normalizer", {"x": (F, ("m", 20))}, norm="L2", **ml)
    one("LinearRegressor", "LinearRegressor", {"x": (F, ("m", 20))}, coefficients=[0.1] * 60, intercepts=[0.0] * 3, targets=3, **ml)
    one("Binarizer", "Binarizer", {"x": (F, ("m", 20))}, threshold=0.1, **ml)
    one("SVMRegressor", "SVMRegressor", {"x": (F, ("m", 20))}, kernel_type="RBF", kernel_params=[0.1, 0, 3], n_supports=100,
        coefficients=[0.1] * 100, support_vectors=[float(v) for v in f32(2000)], rho=[0.2], **ml)


def times(kiln, case, folder):
    """Microseconds of a run and seconds of compiling: {"open": …, "fixed": …, "ort": …}."""
    least, compiled, feed = {}, {}, case.feed()
    for name, value in feed.items():
        numpy.save(os.path.join(folder, f"{name}.npy"), value)
    is_open = any(size in SIZES for _, shape, *_ in case.inputs.values() for size in shape)
    for kind in ("fixed", "open") if is_open else ("fixed",):
        onnx.save(case.model(kind == "open"), os.path.join(folder, f"{kind}.onnx"))
        begin = time.perf_counter()
        run([kiln, "compile", f"{kind}.onnx", "-o", f"./{kind}.program"], folder)
        compiled[kind] = time.perf_counter() - begin
        least[kind] = float("inf")
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 4
    try:
        session = onnxruntime.InferenceSession(case.model(False).SerializeToString(), options, providers=["CPUExecutionProvider"])
    except Exception:  # ONNX Runtime has no such operator on a CPU
        session = None
    for _ in range(TURNS):
        for kind in compiled:
            runs = 3 if least[kind] == float("inf") else max(3, min(500, int(SECONDS_A_TURN * 1e6 / max(least[kind], 1))))
            least[kind] = min(least[kind], least_of_program(f"./{kind}.program", feed, folder, runs))
        if session:
            least["ort"] = min(least.get("ort", float("inf")), least_of_session(lambda: session.run(None, feed)))
    return least, compiled


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("kiln", type=os.path.abspath)
    parser.add_argument("--only", default="", help="cases whose names have this word")
    parser.add_argument("--most", type=float, default=2)
    parser.add_argument("--keep", help="a file for the rows")
    given = parser.parse_args()
    cases()
    found = 0
    for case in CASES:
        if given.only not in case.name:
            continue
        with tempfile.TemporaryDirectory() as folder:
            try:
                least, compiled = times(given.kiln, case, folder)
            except (Failed, subprocess.TimeoutExpired) as error:
                print(f"{case.name}: {error}", flush=True)
                found += 1
                continue
        pairs = [(a, b) for a, b in (("open", "fixed"), ("fixed", "ort"), ("open", "ort")) if a in least and b in least]
        over = [f"{a}/{b} {least[a] / least[b]:.1f}" for a, b in pairs
                if least[a] > given.most * least[b] + FEW_MICROSECONDS]
        found += bool(over)
        row = " ".join([f"{case.name}:", *(f"{kind} {value:.1f} us" for kind, value in least.items()),
                        *(f"compile {kind} {value:.2f} s" for kind, value in compiled.items()), *(["OVER", *over] if over else [])])
        keep(row, given.keep)
    print(f"{found} of {len(CASES)} cases are over {given.most}")
    sys.exit(found != 0)


if __name__ == "__main__":
    main()
