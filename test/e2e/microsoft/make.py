#!/usr/bin/env python3
"""make.py [NAME...]: writes the models of this folder, with seeded inputs and what ONNX Runtime computes of them.

Run by hand, with onnx, onnxruntime and numpy installed; its results are stored. Each model has a few operators of the
domain com.microsoft, or of those that ONNX Runtime has beyond the standard in ONNX's own, every result of theirs an output.
"""

import os
import sys

import numpy as np
import onnx
import onnxruntime
from onnx import helper, numpy_helper

MODELS = {}


class Graph:
    def __init__(self, name):
        self.opset = 17
        self.random = np.random.default_rng(sum(name.encode()))
        self.nodes, self.inputs, self.initializers, self.outputs, self.feeds = [], [], [], [], {}
        self.sparse_feeds = {}

    def normal(self, *shape):
        return self.random.standard_normal(shape).astype(np.float32)

    def bytes(self, *shape, dtype=np.uint8, low=None, high=None):
        info = np.iinfo(dtype)
        return self.random.integers(info.min if low is None else low, (info.max if high is None else high) + 1, shape, dtype)

    def input(self, array):
        name = f"x{len(self.inputs)}"
        dtype = onnx.TensorProto.STRING if array.dtype == object else helper.np_dtype_to_tensor_dtype(array.dtype)
        self.inputs.append(helper.make_tensor_value_info(name, dtype, array.shape))
        self.feeds[name] = array
        return name

    def constant(self, array, dtype=None):
        name = f"w{len(self.initializers)}"
        self.initializers.append(numpy_helper.from_array(np.asarray(array, dtype), name))
        return name

    def sparse(self, array):
        """An input that ONNX Runtime takes as its elements that are not 0, and the file as a whole."""
        name = f"x{len(self.inputs)}"
        self.inputs.append(helper.make_sparse_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape))
        rows, columns = np.nonzero(array)
        places = np.stack([rows, columns], axis=1).ravel()
        device = onnxruntime.OrtDevice.make("cpu", 0)
        sparse = onnxruntime.SparseTensor.sparse_coo_from_numpy(np.array(array.shape, np.int64), array[rows, columns], places, device)
        self.feeds[name] = array
        self.sparse_feeds[name] = onnxruntime.OrtValue.ort_value_from_sparse_tensor(sparse)
        return name

    def f(self, value):
        return self.constant(value, np.float32)

    def u8(self, value):
        return self.constant(value, np.uint8)

    def node(self, op, inputs, outputs=1, domain="com.microsoft", keep=None, **attributes):
        """The names of its results; `keep` are those that become outputs (all)."""
        names = [f"n{len(self.nodes)}_{i}" for i in range(outputs)]
        kept = [name if keep is None or i in keep else "" for i, name in enumerate(names)]
        self.nodes.append(helper.make_node(op, inputs, kept, domain=domain, **attributes))
        self.outputs += [name for name in kept if name]
        return names[0]


def model(function):
    MODELS[function.__name__] = function
    return function


@model
def activations(g):
    x, bias = g.input(g.normal(2, 3, 8)), g.constant(g.normal(8))
    g.node("Gelu", [x])
    g.node("BiasGelu", [x, bias])
    g.node("FastGelu", [x])
    g.node("FastGelu", [x, bias])
    g.node("QuickGelu", [x])
    g.node("QuickGelu", [x], alpha=1.0)


@model
def products(g):
    x, y = g.input(g.normal(2, 3, 4)), g.input(g.normal(2, 4, 5))
    g.node("FusedMatMul", [x, y], alpha=0.5)
    g.node("FusedMatMul", [x, g.constant(g.normal(2, 5, 4))], transB=1)
    g.node("FusedMatMul", [x, g.constant(g.normal(2, 3, 5))], transA=1)
    z = g.input(g.normal(3, 2, 4))
    g.node("FusedMatMul", [z, y], transBatchA=1)
    g.node("FusedMatMul", [x, g.constant(g.normal(4, 2, 5))], transBatchB=1)
    g.node("FusedMatMul", [g.input(g.normal(4, 2, 3)), y], transBatchA=1, transA=1)
    g.node("TransposeMatMul", [x, g.constant(g.normal(2, 5, 4))], transB=1, alpha=0.5)


@model
def norms(g):
    x, skip = g.input(g.normal(2, 3, 8)), g.input(g.normal(2, 3, 8))
    scale, shift, bias = (g.constant(g.normal(8)) for _ in range(3))
    g.node("SimplifiedLayerNormalization", [x, scale], domain="", axis=-1, epsilon=1e-5)
    g.node("SkipLayerNormalization", [x, skip, scale, shift, bias], 4, keep=(0, 3), epsilon=1e-5)
    g.node("SkipLayerNormalization", [x, g.constant(g.normal(3, 8)), scale])
    g.node("SkipSimplifiedLayerNormalization", [x, skip, scale], 4, keep=(0, 3), epsilon=1e-5)
    g.node("SkipSimplifiedLayerNormalization", [x, skip, scale, bias], epsilon=1e-5)


@model
def rotary_embedding(g):
    x, flat = g.input(g.normal(2, 2, 3, 8)), g.input(g.normal(2, 3, 16))
    angles = g.random.uniform(0, 6, (10, 4))
    cosines, sines = g.f(np.cos(angles)), g.f(np.sin(angles))
    rows = g.input(np.array([[1, 5, 2], [0, 9, 3]], np.int64))
    g.node("RotaryEmbedding", [x, rows, cosines, sines])
    g.node("RotaryEmbedding", [flat, rows, cosines, sines], interleaved=1)
    g.node("RotaryEmbedding", [flat, g.constant([4], np.int64), cosines, sines])
    part = [g.f(np.cos(angles[:, :2])), g.f(np.sin(angles[:, :2]))]
    g.node("RotaryEmbedding", [flat, rows, *part], rotary_embedding_dim=4, num_heads=2)


@model
def multi_head_attention(g):
    q, k, v = (g.input(g.normal(2, length, 8)) for length in (3, 4, 4))
    bias, mask = g.constant(g.normal(24)), g.input(np.array([[1, 1, 0, 1], [1, 0, 0, 0]], np.int32))
    g.node("MultiHeadAttention", [q, k, v], num_heads=2)
    g.node("MultiHeadAttention", [q, k, v, bias, mask, g.constant(g.normal(1, 2, 3, 4))], num_heads=2, scale=0.3)
    g.node("MultiHeadAttention", [q, k, v, "", g.constant([3, 1], np.int32)], num_heads=2)
    past = [g.input(g.normal(2, 2, 2, 4)) for _ in range(2)]
    own = [g.constant(g.normal(2, 3, 8)) for _ in range(2)]
    g.node("MultiHeadAttention", [q, *own, bias, "", "", *past], 3, num_heads=2, unidirectional=1)


@model
def attention(g):
    x, weight, bias = g.input(g.normal(2, 3, 8)), g.constant(g.normal(8, 24)), g.constant(g.normal(24))
    mask = g.input(np.array([[1, 1, 0], [1, 0, 0]], np.int32))
    g.node("Attention", [x, weight, bias], num_heads=2)
    g.node("Attention", [x, weight, bias, mask, "", g.constant(g.normal(2, 2, 3, 3))], num_heads=2, scale=0.3)
    g.node("Attention", [x, weight, "", g.constant([3, 1], np.int32)], num_heads=2, unidirectional=1)
    parts = [g.constant(g.normal(8, 20)), g.constant(g.normal(20))]
    g.node("Attention", [x, *parts], num_heads=2, qkv_hidden_sizes=[8, 8, 4])
    past = g.input(g.normal(2, 2, 2, 4, 4))
    g.node("Attention", [x, weight, bias, "", past], 2, num_heads=2, unidirectional=1)
    g.node("Attention", [x, weight, bias, g.input(np.array([3, 2, 1, 0], np.int32))], num_heads=2)


@model
def quantized_attention(g):
    x, weight, bias = g.input(g.bytes(2, 3, 8)), g.constant(g.bytes(8, 24, dtype=np.int8)), g.constant(g.normal(24))
    mask = g.input(np.array([[1, 1, 0], [1, 0, 0]], np.int32))
    columns = g.f(g.random.uniform(0.002, 0.01, 24))
    g.node("QAttention", [x, weight, bias, g.f(0.02), g.f(0.005), "", g.u8(119)], num_heads=2)
    g.node("QAttention", [x, weight, bias, g.f(0.02), columns, mask, g.u8(119), g.constant(g.bytes(24, dtype=np.int8))], num_heads=2)
    past = g.input(g.normal(2, 2, 2, 4, 4))
    g.node("QAttention", [x, weight, bias, g.f(0.02), g.f(0.005), "", g.u8(119), "", past], 2, num_heads=2, unidirectional=1)


@model
def embeddings(g):
    tokens, segments = g.input(g.bytes(2, 3, dtype=np.int32, low=0, high=9)), g.input(np.array([[0, 0, 1], [1, 1, 0]], np.int32))
    words, places, sentences = (g.constant(g.normal(rows, 8)) for rows in (10, 5, 2))
    norm = [g.constant(g.normal(8)), g.constant(g.normal(8))]
    mask = g.input(np.array([[1, 1, 0], [1, 0, 0]], np.int32))
    g.node("EmbedLayerNormalization", [tokens, segments, words, places, sentences, *norm, mask], 3)
    g.node("EmbedLayerNormalization", [tokens, "", words, places, "", *norm], 2, epsilon=1e-3)
    rows = g.constant([[4, 0, 2], [1, 1, 3]], np.int32)
    g.node("EmbedLayerNormalization", [tokens, "", words, places, "", *norm, "", rows], 2, keep=(0,))


@model
def convolutions(g):
    x, weight, bias = g.input(g.normal(1, 2, 5, 5)), g.constant(g.normal(4, 2, 3, 3)), g.constant(g.normal(4))
    g.node("FusedConv", [x, weight, bias], activation="Relu", pads=[1, 1, 1, 1])
    g.node("FusedConv", [x, weight], activation="Clip", activation_params=[-0.5, 0.5])
    g.node("FusedConv", [x, weight, bias, g.input(g.normal(1, 4, 5, 5))], activation="Tanh", pads=[1, 1, 1, 1])
    g.node("FusedConv", [x, weight], activation="LeakyRelu", activation_params=[0.25], strides=[2, 2])
    g.node("FusedConv", [x, g.constant(g.normal(4, 1, 1, 1))], group=2, activation="HardSigmoid", activation_params=[0.3, 0.4])
    g.node("FusedConv", [x, weight], activation="Sigmoid", dilations=[2, 2])


@model
def quantized_embeddings(g):
    tokens, segments = g.input(g.bytes(2, 3, dtype=np.int32, low=0, high=9)), g.input(np.array([[0, 0, 1], [1, 1, 0]], np.int32))
    tables = [g.u8(g.bytes(*shape)) for shape in ((10, 8), (5, 8), (2, 8), (8,), (8,))]
    scales, zeros = [g.f(0.01 * i) for i in range(1, 6)], [g.u8(110 + 5 * i) for i in range(5)]
    mask = g.input(np.array([[1, 1, 0], [1, 0, 0]], np.int32))
    g.node("QEmbedLayerNormalization", [tokens, segments, *tables, mask, *scales, *zeros], 2)
    g.node("QEmbedLayerNormalization", [tokens, segments, *tables, "", *scales, *zeros], 2, epsilon=1e-3)


@model
def quantized_convolutions(g):
    x, bias = g.input(g.bytes(1, 2, 5, 5)), g.constant(g.bytes(4, dtype=np.int32, low=-900, high=900))
    weight, columns = g.constant(g.bytes(4, 2, 3, 3, dtype=np.int8)), g.f(g.random.uniform(0.002, 0.01, 4))
    rest = [g.constant(0, np.int8), g.f(0.05), g.u8(130), bias]
    g.node("QLinearConv", [x, g.f(0.02), g.u8(119), weight, g.f(0.005), *rest], pads=[1, 1, 1, 1])
    zeros = g.constant(np.zeros(4), np.int8)
    y = [g.input(g.bytes(1, 5, 5, 2)), g.f(0.02), g.u8(119), weight, columns, zeros, *rest[1:]]
    g.node("QLinearConv", y, channels_last=1, strides=[2, 2])


@model
def gather_block_quantized(g):
    rows = g.input(np.array([[1, 5], [0, 3]], np.int64))
    for bits in (4, 8):
        table, scales = g.u8(g.bytes(6, 40 * bits // 8)), g.f(g.random.uniform(0.01, 0.1, (6, 3)))
        sizes = {"bits": bits, "block_size": 16, "gather_axis": 0, "quantize_axis": 1}
        g.node("GatherBlockQuantized", [table, rows, scales], **sizes)
        g.node("GatherBlockQuantized", [table, rows, scales, g.u8(g.bytes(6, -(-3 * bits // 8)))], **sizes)


@model
def matmul_bnb4(g):
    x = g.input(g.normal(2, 3, 32))
    packed, scales = g.u8(g.bytes(32 * 6 // 2)), g.f(g.random.uniform(0.1, 1, 6))
    for kind in range(2):
        g.node("MatMulBnb4", [x, packed, scales], K=32, N=6, block_size=32, quant_type=kind)


@model
def linear_attention(g):
    heads = {"q_num_heads": 2, "kv_num_heads": 2}
    q, k, v = (g.input(g.normal(2, 3, 8)) for _ in range(3))
    decay, beta = g.input(-np.abs(g.normal(2, 3, 2))), g.input(g.random.uniform(0, 1, (2, 3, 2)).astype(np.float32))
    past = g.input(g.normal(2, 2, 4, 4))
    g.node("LinearAttention", [q, k, v, past, decay, beta], 2, **heads)
    g.node("LinearAttention", [q, k, v, "", decay], 2, update_rule="gated", scale=0.5, **heads)
    x, weight, bias = g.input(g.normal(2, 4, 5)), g.constant(g.normal(4, 1, 3)), g.constant(g.normal(4))
    g.node("CausalConvWithState", [x, weight, bias], 2, activation="silu")
    g.node("CausalConvWithState", [x, weight, "", g.input(g.normal(2, 4, 4))], 2, dilation=2)
    g.node("CausalConvWithState", [g.input(g.normal(2, 5, 4)), weight, bias], 2, channels_last=1)


@model
def gemms(g):
    x, weight, bias = g.input(g.normal(3, 4)), g.constant(g.normal(4, 5)), g.constant(g.normal(5))
    g.node("FusedGemm", [x, weight, bias], activation="Relu")
    g.node("FusedGemm", [x, weight], activation="Tanh", alpha=0.5)
    g.node("FusedGemm", [x, g.constant(g.normal(5, 4)), bias], activation="LeakyRelu", activation_alpha=0.25, transB=1, beta=2.0)
    g.node("FusedGemm", [x, weight, bias], activation="Selu", activation_alpha=1.5, activation_gamma=1.25)
    g.node("FusedGemm", [x, weight, bias], activation="HardSigmoid", activation_alpha=0.3, activation_beta=0.4)
    g.node("FusedGemm", [x, weight, bias], activation="ThresholdedRelu", activation_alpha=0.5)
    for plain in ("Sigmoid", "Softplus", "Softsign"):
        g.node("FusedGemm", [x, weight], activation=plain)
    g.node("FusedGemm", [x, weight], activation="Elu", activation_alpha=0.5)


@model
def group_query_attention(g):
    angles = g.random.uniform(0, 6, (12, 8))
    tables = [g.f(np.cos(angles)), g.f(np.sin(angles))]
    q, k, v = (g.input(g.normal(2, 3, width)) for width in (64, 32, 32))
    heads = {"num_heads": 4, "kv_num_heads": 2}
    first = [g.constant([2, 2], np.int32), g.constant(3, np.int32)]
    g.node("GroupQueryAttention", [q, k, v, "", "", *first], 3, **heads)
    g.node("GroupQueryAttention", [q, k, v, "", "", *first, *tables], do_rotary=1, local_window_size=2, **heads)
    g.node("GroupQueryAttention", [g.input(g.normal(2, 3, 128)), "", "", "", "", *first], softcap=0.5, scale=0.2, **heads)
    # One step after caches that are filled to different lengths.
    past = [g.input(g.normal(2, 2, 5, 16)) for _ in range(2)]
    step = [g.input(g.normal(2, 1, width)) for width in (64, 32, 32)]
    lengths = [g.input(np.array([5, 3], np.int32)), g.constant(6, np.int32)]
    g.node("GroupQueryAttention", [*step, *past, *lengths, *tables], 3, do_rotary=1, rotary_interleaved=1, **heads)
    g.node("GroupQueryAttention", [*step, *past, *lengths], 3, local_window_size=3, **heads)


def weights_of_bits(g, bits, columns, depth, block):
    blocks = -(-depth // block)
    packed = g.u8(g.bytes(columns, blocks, block * bits // 8))
    return packed, g.f(g.random.uniform(0.01, 0.1, columns * blocks)), g.u8(g.bytes(columns, -(-blocks * bits // 8)))


@model
def matmul_nbits(g):
    x = g.input(g.normal(2, 3, 40))
    for bits in (4, 8):
        packed, scales, zeros = weights_of_bits(g, bits, 6, 40, 16)
        sizes = {"K": 40, "N": 6, "bits": bits, "block_size": 16}
        g.node("MatMulNBits", [x, packed, scales], **sizes)
        g.node("MatMulNBits", [x, packed, scales, zeros, "", g.constant(g.normal(6))], **sizes)


@model
def matmul_nbits_rounded(g):
    """Rows rounded to 8 bits by blocks, the last of them not whole; enough columns for lanes."""
    x, row = g.input(g.normal(2, 3, 80)), g.input(g.normal(1, 80))
    for bits in (2, 4, 8):
        packed, scales, zeros = weights_of_bits(g, bits, 20, 80, 32)
        sizes = {"K": 80, "N": 20, "bits": bits, "block_size": 32, "accuracy_level": 4}
        g.node("MatMulNBits", [x, packed, scales], **sizes)
        g.node("MatMulNBits", [row, packed, scales, zeros], **sizes)
        g.node("MatMulNBits", [x, packed, scales, zeros, "", g.constant(g.normal(20))], **sizes)


@model
def integer_products(g):
    x, q = g.input(g.normal(3, 8)), g.input(g.bytes(3, 8))
    w, signed = g.u8(g.bytes(8, 5)), g.constant(g.bytes(8, 5, dtype=np.int8))
    columns, bias = g.f(g.random.uniform(0.01, 0.1, 5)), g.constant(g.normal(5))
    g.node("DynamicQuantizeMatMul", [x, w, g.f(0.05), g.u8(120), bias])
    g.node("DynamicQuantizeMatMul", [x, signed, columns, g.constant(np.arange(5) - 2, np.int8)])
    g.node("MatMulIntegerToFloat", [q, w, g.f(0.02), columns, g.u8(7), g.u8(np.arange(5) + 118), bias])
    g.node("QGemm", [q, g.f(0.02), g.u8(7), signed, g.f(0.05), g.constant(0, np.int8),
                     g.constant(g.bytes(5, dtype=np.int32, low=-900, high=900)), g.f(0.4), g.u8(99)])
    g.node("QGemm", [q, g.f(0.02), g.u8(7), g.u8(g.bytes(5, 8)), columns, g.u8(np.full(5, 128))], transB=1)


@model
def dynamic_quantize_lstm(g):
    """Weights [direction, from, to], each direction's quantised by one scale, or by one per column."""
    x, hidden = g.input(g.normal(4, 1, 3)), 5
    for directions, columns, dtype in ((1, (), np.int8), (2, (4 * hidden,), np.uint8)):
        weights = [g.constant(g.bytes(directions, rows, 4 * hidden, dtype=dtype)) for rows in (3, hidden)]
        bias = g.constant(g.normal(directions, 8 * hidden))
        scales = []
        for _ in weights:
            scales.append(g.f(g.random.uniform(0.002, 0.01, (directions, *columns))))
            scales.append(g.constant(np.full((directions, *columns), 121 if columns else 0), dtype))
        g.node("DynamicQuantizeLSTM", [x, *weights, bias, "", "", "", "", *scales], 3, hidden_size=hidden,
               direction="forward" if directions == 1 else "bidirectional")
    initial = [g.constant(g.normal(1, 1, hidden)) for _ in range(2)]
    weights = [g.constant(g.bytes(1, rows, 4 * hidden, dtype=np.int8)) for rows in (3, hidden)]
    scale, zero = g.f([0.005]), g.constant([0], np.int8)
    g.node("DynamicQuantizeLSTM", [x, *weights, "", "", *initial, g.constant(g.normal(1, 3 * hidden)), scale, zero, scale, zero], 3,
           hidden_size=hidden, direction="reverse")


@model
def quantized_elementwise(g):
    x, y = g.input(g.bytes(2, 3, 8)), g.input(g.bytes(3, 8))
    a, b, c = [x, g.f(0.031), g.u8(119)], [y, g.f(0.047), g.u8(131)], [g.f(0.083), g.u8(127)]
    g.node("QLinearAdd", a + b + c)
    g.node("QLinearMul", a + b + [g.f(0.17), g.u8(101)])
    g.node("QLinearSigmoid", a + [g.f(1 / 256), g.u8(0)])
    g.node("QLinearLeakyRelu", a + [g.f(0.021), g.u8(30)], alpha=0.1)
    g.node("QLinearSoftmax", a + [g.f(1 / 256), g.u8(0)], opset=13, axis=-1)
    signed = [g.input(g.bytes(2, 3, 8, dtype=np.int8)), g.f(0.031), g.constant(-9, np.int8)]
    g.node("QLinearAdd", signed + signed + [g.f(0.083), g.constant(5, np.int8)])
    chosen = g.input(g.bytes(2, 3, 8, high=1).astype(bool))
    g.node("QLinearWhere", [chosen] + a + b + c)
    g.node("QLinearConcat", c + a + [g.u8(g.bytes(2, 1, 8)), g.f(0.047), g.u8(131)], axis=1)
    g.node("QuantizeLinear", [g.input(g.normal(2, 3)), g.f(0.0001), g.constant(30000, np.uint16)])
    g.node("DequantizeLinear", [g.constant(g.bytes(2, 3, dtype=np.int16)), g.f([0.1, 0.2]), g.constant([5, 9], np.int16)], axis=0)


@model
def quantized_pools(g):
    x, out = [g.input(g.bytes(1, 3, 5, 6)), g.f(0.031), g.u8(119)], [g.f(0.017), g.u8(127)]
    g.node("QLinearGlobalAveragePool", x + out)
    g.node("QLinearGlobalAveragePool", [g.input(g.bytes(1, 5, 6, 3)), *x[1:]] + out, channels_last=1)
    g.node("QLinearAveragePool", x + out, kernel_shape=[3, 2], strides=[2, 1], pads=[1, 0, 1, 1])


@model
def attention_sinks(g):
    q, k, v = (g.input(g.normal(2, 3, width)) for width in (64, 32, 32))
    heads = {"num_heads": 4, "kv_num_heads": 2}
    first = [g.constant([2, 2], np.int32), g.constant(3, np.int32)]
    g.node("GroupQueryAttention", [q, k, v, "", "", *first, "", "", "", "", g.constant(g.normal(4))], 3, **heads)
    g.node("GroupQueryAttention", [q, k, v, "", "", *first], smooth_softmax=1, local_window_size=2, **heads)
    for scores in (1, 2):
        g.node("GroupQueryAttention", [q, k, v, "", "", *first], 4, qk_output=scores, **heads)


@model
def matmul_nbits_order(g):
    """The columns' blocks in an order of their own, as GPTQ leaves them, with blocks of one size and without."""
    x = g.input(g.normal(3, 64))
    for bits in (2, 4):
        packed, scales, zeros = weights_of_bits(g, bits, 6, 64, 16)
        sizes = {"K": 64, "N": 6, "bits": bits, "block_size": 16}
        order = g.constant(g.random.permutation(np.arange(64) // 16), np.int32)
        g.node("MatMulNBits", [x, packed, scales, zeros, order], **sizes)
        g.node("MatMulNBits", [x, packed, scales, "", g.constant(g.bytes(64, dtype=np.int32, low=0, high=3))], **sizes)


@model
def movements(g):
    x = g.input(g.normal(3, 4))
    g.node("ExpandDims", [x, g.constant(1, np.int32)])
    g.node("ExpandDims", [x, g.constant([-1], np.int32)])
    g.node("Trilu", [x, g.constant(1, np.int64)], upper=0)
    g.node("Trilu", [x])
    g.node("GatherND", [x, g.constant([[0, 1], [2, 3]], np.int32)])
    g.node("Range", [g.constant(2, np.int32), g.constant(7, np.int32)])
    g.node("Range", [g.f(1), g.input(np.array(4, np.float32)), g.f(0.5)])
    g.node("Pad", [x, g.constant([1, 0, 0, 2], np.int64), g.f(0.5)])
    g.node("Pad", [x, g.constant([[0, 1, 1, 0]], np.int64)], mode="edge")
    g.node("UnfoldTensor", [x], size=2)
    g.node("UnfoldTensor", [x], size=2, step=1, dim=0)
    g.node("Unique", [g.input(np.array([2, 1, 1, 3, 4, 3], np.float32))], 3)
    g.node("SampleOp", [x])


@model
def texts(g):
    x = g.input(np.array(["one two, two", "three one", "\u00e4 b"], object))
    pieces = {"mincharnum": 1, "pad_value": "#"}
    tokens = g.node("Tokenizer", [x], tokenexp="[a-z]+", mark=0, **pieces)
    g.node("Tokenizer", [x], separators=[" ", ","], mark=1, **pieces)
    g.node("Tokenizer", [x], separators=[""], mark=1, **pieces)
    g.node("TfIdfVectorizer", [tokens], domain="", mode="TF", min_gram_length=1, max_gram_length=2, max_skip_count=1, ngram_counts=[0, 3],
           ngram_indexes=[0, 1, 2, 3], pool_strings=["one", "two", "b", "one", "two"])
    g.node("MurmurHash3", [x], seed=5)


@model
def short_integers(g):
    x = g.input(g.bytes(2, 3, dtype=np.int16))
    g.node("MatMulInteger16", [x, g.constant(g.bytes(3, 4, dtype=np.int16, low=-300, high=300))])


@model
def distances(g):
    x, y = g.input(g.normal(4, 3)), g.constant(g.normal(5, 3))
    g.node("CDist", [x, y])
    g.node("CDist", [x, y], metric="euclidean")
    g.node("Inverse", [g.input(g.normal(2, 4, 4))])
    for dtype in (np.int32, np.uint32, np.int64, np.uint64, np.float32, np.float64):
        numbers = g.input(g.normal(5).astype(dtype) if np.issubdtype(dtype, np.floating) else g.bytes(5, dtype=dtype))
        g.node("MurmurHash3", [numbers])
        g.node("MurmurHash3", [numbers], positive=0, seed=77)


@model
def images(g):
    x = g.input(g.normal(2, 3, 6, 5))
    regions = g.input(g.random.uniform(-0.2, 1.2, (4, 4)).astype(np.float32))
    which = g.constant([0, 1, 1, 0], np.int32)
    for size in ([3, 4], [1, 2]):
        for mode in ("bilinear", "nearest"):
            g.node("CropAndResize", [x, regions, which, g.constant(size, np.int32)], mode=mode, extrapolation_value=0.25)
    grid = g.input(g.random.uniform(-1.2, 1.2, (2, 4, 3, 2)).astype(np.float32))
    g.node("GridSample", [x, grid])
    g.node("GridSample", [x, grid], mode="bicubic", padding_mode="border", align_corners=1)
    g.node("NhwcMaxPool", [g.input(g.bytes(1, 5, 6, 3))], kernel_shape=[3, 2], strides=[2, 1], pads=[1, 0, 1, 1])
    weight = g.constant(g.normal(3, 2, 3, 3))
    g.node("ConvTransposeWithDynamicPads", [x, weight, g.constant([1, 0, 1, 2], np.int64)], strides=[2, 2])
    g.node("ConvTransposeWithDynamicPads", [x, weight, g.constant([0, 0, 0, 0], np.int64), g.constant(g.normal(2))])


@model
def experts(g):
    x, scores = g.input(g.normal(5, 8)), g.input(g.normal(5, 4))
    first, second = [g.constant(g.normal(4, 6, 8)), g.constant(g.normal(4, 6))], [g.constant(g.normal(4, 8, 6)), g.constant(g.normal(4, 8))]
    for activation in ("relu", "gelu", "silu", "identity"):
        g.node("MoE", [x, scores, *first, *second], k=2, activation_type=activation)
    g.node("MoE", [x, scores, first[0], "", second[0]], k=1, normalize_routing_weights=1)
    gated = [g.constant(g.normal(4, 12, 8)), g.constant(g.normal(4, 12))]
    g.node("MoE", [x, scores, *gated, *second], k=3, activation_type="swiglu", swiglu_fusion=1, activation_alpha=1.702,
           activation_beta=1.0, swiglu_limit=0.7, normalize_routing_weights=1)
    logits, bias = g.input(g.normal(3, 8)), g.f(g.random.uniform(-0.1, 0.1, 8))
    g.node("MoEGroupRouter", [logits, bias], top_k=3, n_group=4, topk_group=2)
    g.node("MoEGroupRouter", [logits, bias], 3, keep=(1, 2), top_k=2)


@model
def quantized_experts(g):
    x, scores = g.input(g.normal(3, 32)), g.input(g.normal(3, 4))
    for bits in (4, 8):
        weights = lambda outputs, inputs: g.u8(g.bytes(4, outputs, inputs * bits // 8))
        rows = lambda outputs: g.f(g.random.uniform(0.001, 0.004, (4, outputs)))
        biases = [g.constant(g.normal(4, 64)), g.constant(g.normal(4, 32))]
        g.node("QMoE", [x, scores, weights(64, 32), rows(64), biases[0], weights(32, 64), rows(32), biases[1]], k=2, activation_type="silu",
               expert_weight_bits=bits, normalize_routing_weights=1)
        blocks = lambda outputs, inputs: g.f(g.random.uniform(0.001, 0.004, (4, outputs, inputs // 16)))
        g.node("QMoE", [x, scores, weights(64, 32), blocks(64, 32), "", weights(32, 32), blocks(32, 32)], k=2, activation_type="swiglu",
               swiglu_fusion=1, block_size=16, expert_weight_bits=bits)


@model
def gated_layers(g):
    x, gate, scale = g.input(g.normal(2, 3, 8)), g.input(g.normal(2, 3, 8)), g.constant(g.normal(4))
    g.node("GatedAdd", [x, gate, g.input(g.normal(2, 3, 1))])
    g.node("GatedRMSNorm", [x, scale, gate])
    g.node("GatedRMSNorm", [x, g.constant(g.normal(8)), gate], activation="sigmoid", epsilon=1e-3)
    g.node("BranchwiseRMSNorm", [x, scale], num_branches=2)
    streams = g.input(g.normal(2, 3, 2, 4))
    g.node("BranchwiseRMSNorm", [streams, g.constant(g.normal(2, 4))])
    g.node("HyperConnectionPreMix", [streams, g.input(g.normal(2, 3, 2))], reduction_scale=0.5)
    g.node("HyperConnectionPreMix", [x, gate], num_branches=2)
    output = g.input(g.normal(2, 3, 4))
    g.node("HyperConnectionPostMix", [streams, output, g.input(g.normal(2, 3, 2, 1)), g.input(g.normal(2, 3, 2, 2))])
    g.node("HyperConnectionPostMix", [x, output, g.input(g.normal(2, 3, 2, 4))], num_branches=2)
    g.node("LinearAttentionGate", [x, g.f(g.normal(8)), g.f(-np.abs(g.normal(8))), gate], 2)
    g.node("ScaledSiLU", [x], alpha=0.5)
    g.node("ScaledSiLU", [x, g.f(1.5)])
    g.node("EngramGate", [streams, g.input(g.normal(2, 3, 2, 4)), output, *(g.constant(g.normal(2, 4)) for _ in range(3))], 2)


@model
def ngrams(g):
    tokens = g.input(np.array([[1, 2, 3, 1, 2], [4, 4, 4, 4, 4]], np.int64))
    scores = g.input(g.normal(2, 6))
    for size in (1, 3):
        g.node("NGramRepeatBlock", [tokens, scores], ngram_size=size)
    more = g.input(np.array([[3, 1, 7, 2, 9, 4], [7, 7, 1, 5, 3, 2]], np.int64))
    factors, sizes = g.constant([3, 5, 11], np.int64), g.constant([13, 17, 19, 23], np.int64)
    counts = {"max_ngram_size": 3, "n_head_per_ngram": 2, "pad_id": 0}
    g.node("NGramHashMapping", [more, factors, sizes], 2, **counts)
    past = g.input(np.array([[5, 6], [7, 8]], np.int64))
    g.node("NGramHashMapping", [more, factors, sizes, past, g.constant([0, 100, 200, 300], np.int64), g.constant(7, np.int64)], 2,
           reset_on_eos=1, **counts)
    segments = g.input(np.array([[0, 0, 1, 1, 1, 2], [0, 1, 1, 1, 1, 1]], np.int32))
    g.node("NGramHashMapping", [more, factors, sizes, "", "", "", segments], 2, **counts)


@model
def multimodal_rotary_embedding(g):
    angles = g.random.uniform(0, 6, (10, 6))
    tables = [g.f(np.cos(angles)), g.f(np.sin(angles))]
    places = g.input(g.bytes(3, 2, 4, dtype=np.int64, low=0, high=9))
    x, flat = g.input(g.normal(2, 2, 4, 12)), g.input(g.normal(2, 4, 24))
    g.node("MRotaryEmbedding", [x, places, *tables], mrope_section=[2, 3, 1])
    g.node("MRotaryEmbedding", [flat, places, *tables], mrope_section=[2, 2, 2], mrope_layout=1, interleaved=1, scale=0.5,
           num_heads=2, rotary_embedding_dim=12)


@model
def sparse_products(g):
    def weight(*shape):
        return g.sparse(np.where(g.random.uniform(size=shape) < 0.3, g.normal(*shape), np.float32(0)))

    g.node("SparseToDenseMatMul", [weight(4, 5), g.input(g.normal(5, 3))], alpha=0.5)
    x = g.input(g.normal(4, 4))  # ONNX Runtime checks sizes as if nothing were transposed
    g.node("SparseToDenseMatMul", [weight(4, 4), x], transA=1)
    g.node("SparseToDenseMatMul", [weight(4, 4), x], transB=1)
    g.node("SparseToDenseMatMul", [weight(4, 4), x], transA=1, transB=1)


@model
def first_operators(g):
    g.opset = 9
    x = g.input(g.normal(2, 3, 6, 5))
    g.node("Affine", [x], domain="", alpha=2.0, beta=-0.5)
    g.node("Crop", [x], domain="", border=[1, 0, 2, 3])
    g.node("Crop", [x], domain="", border=[1, 2, 9, 9], scale=[3, 2])
    g.node("DynamicSlice", [x, g.constant([1, -3], np.int64), g.constant([9, -1], np.int64), g.constant([1, 2], np.int64)], domain="")
    g.node("DynamicSlice", [x, g.input(np.array([0, 1], np.int64)), g.input(np.array([1, -1], np.int64))], domain="")
    g.node("ImageScaler", [x], domain="", scale=1.5, bias=[1.0, -2.0, 0.25])
    g.node("ParametricSoftplus", [x], domain="", alpha=2.0, beta=0.5)
    g.node("Scale", [x], domain="", scale=-3.0)
    g.node("ScaledTanh", [x], domain="", alpha=2.0, beta=0.5)
    corners = [[0, 0, 4, 5], [1, 1, 3.5, 2], [-2, 2.5, 20, 7], [4, 4, 2, 1], [30, 30, 40, 40]]
    regions = g.input(np.array([[i % 2, *each] for i, each in enumerate(corners)], np.float32))
    g.node("MaxRoiPool", [x, regions], domain="", pooled_shape=[2, 3])
    g.node("MaxRoiPool", [x, regions], domain="", pooled_shape=[7, 1], spatial_scale=0.5)


def write(name, build):
    g = Graph(name)
    build(g)
    outputs = [helper.make_empty_tensor_value_info(output) for output in g.outputs]
    graph = helper.make_graph(g.nodes, name, g.inputs, outputs, g.initializers)
    opsets = [helper.make_opsetid("", g.opset), helper.make_opsetid("com.microsoft", 1)]
    proto = helper.make_model(graph, ir_version=8, opset_imports=opsets)
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(proto.SerializeToString(), options, ["CPUExecutionProvider"])
    results = session.run(None, g.feeds | g.sparse_feeds)
    folder = os.path.join(os.path.dirname(os.path.abspath(__file__)), name)
    os.makedirs(folder, exist_ok=True)
    onnx.save(proto, os.path.join(folder, "model.onnx"))
    for kind, arrays in (("input", g.feeds.values()), ("output", results)):
        for i, array in enumerate(arrays):
            np.save(os.path.join(folder, f"{kind}_{i}.npy"), array.astype("U") if array.dtype == object else array)


for name, build in MODELS.items():
    if not sys.argv[1:] or name in sys.argv[1:]:
        write(name, build)
