#!/usr/bin/env python3
"""quantize.py KIND SOURCE DIR: the model in folder SOURCE with bytes for numbers, as ONNX Runtime's tools make it.

Runs in the environment of environments.py that has onnxruntime. KIND is u8 or s8, the dtype of activations that are
calibrated on the model's own inputs (QuantizeLinear and DequantizeLinear, weights in s8 per channel), or dynamic, where
each run quantises activations anew. The outputs stored are those of the quantised model, op by op.
"""

import os
import shutil
import sys
import tempfile

import numpy
import onnxruntime
from onnxruntime import quantization
from onnxruntime.quantization import shape_inference

ACTIVATIONS = {"u8": quantization.QuantType.QUInt8, "s8": quantization.QuantType.QInt8}


def stored(folder, kind):
    arrays = []
    while os.path.exists(path := os.path.join(folder, f"{kind}_{len(arrays)}.npy")):
        arrays.append(numpy.load(path))
    return arrays


class Inputs(quantization.CalibrationDataReader):
    """One set of inputs."""

    def __init__(self, feeds):
        self.feeds = iter([feeds])

    def get_next(self):
        return next(self.feeds, None)


def session_of(model):
    """Of the model as it is written, whose products of bytes saturate nowhere."""
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.add_session_config_entry("session.x64quantprecision", "1")
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])


def quantize(kind, source, model):
    if kind == "dynamic":
        quantization.quantize_dynamic(source, model, per_channel=True, weight_type=quantization.QuantType.QInt8)
        return
    names = [declared.name for declared in session_of(source).get_inputs()]
    quantization.quantize_static(
        source, model, Inputs(dict(zip(names, stored(os.path.dirname(model), "input"), strict=True))),
        quant_format=quantization.QuantFormat.QDQ, per_channel=True, activation_type=ACTIVATIONS[kind],
        weight_type=quantization.QuantType.QInt8,
    )  # fmt: skip


def main(kind, source, folder):
    model = os.path.join(folder, "model.onnx")
    for name in os.listdir(source):
        if name.startswith("input_"):
            shutil.copy(os.path.join(source, name), folder)
    with tempfile.TemporaryDirectory() as scratch:
        prepared = os.path.join(scratch, "model.onnx")
        shape_inference.quant_pre_process(os.path.join(source, "model.onnx"), prepared, auto_merge=True)
        quantize(kind, prepared, model)
    session = session_of(model)
    feeds = {declared.name: array for declared, array in zip(session.get_inputs(), stored(folder, "input"), strict=True)}
    for index, output in enumerate(session.run(None, feeds)):
        numpy.save(os.path.join(folder, f"output_{index}.npy"), output)


if len(sys.argv) != 4 or sys.argv[1] not in (*ACTIVATIONS, "dynamic"):
    sys.exit(__doc__)
main(*sys.argv[1:])
