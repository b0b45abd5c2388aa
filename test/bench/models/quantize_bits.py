#!/usr/bin/env python3
"""quantize_bits.py KIND SOURCE DIR: the model in folder SOURCE with weights of 4 bits in blocks of 32, by ONNX Runtime's tool.

Runs in the environment of environments.py that has onnxruntime. Products become MatMulNBits, a Gemm as a product and an
addition. KIND is bits4, whose products are of floats, or bits4_rounded, whose rows are rounded to 8 bits by blocks
(accuracy_level 4). The outputs stored are what ONNX Runtime computes.
"""

import os
import shutil
import sys

import numpy
import onnx
import onnxruntime
from onnxruntime.quantization.matmul_nbits_quantizer import MatMulNBitsQuantizer

LEVELS = {"bits4": 1, "bits4_rounded": 4}
PLAIN = {"transA": 0, "transB": 0, "alpha": 1, "beta": 1}


def product_of(gemm):
    """A Gemm as the two nodes that the tool knows."""
    product = f"{gemm.output[0]}.product"
    return [
        onnx.helper.make_node("MatMul", gemm.input[:2], [product], name=f"{gemm.name}.product"),
        onnx.helper.make_node("Add", [product, gemm.input[2]], gemm.output, name=gemm.name),
    ]


def is_plain(node):
    given = {each.name: onnx.helper.get_attribute_value(each) for each in node.attribute}
    return node.op_type == "Gemm" and len(node.input) == 3 and all(given.get(name, value) == value for name, value in PLAIN.items())


def main(kind, source, folder):
    path = os.path.join(folder, "model.onnx")
    for name in os.listdir(source):
        if name.startswith("input_"):
            shutil.copy(os.path.join(source, name), folder)
    model = onnx.load(os.path.join(source, "model.onnx"))
    nodes = [made for node in model.graph.node for made in (product_of(node) if is_plain(node) else [node])]
    del model.graph.node[:]
    model.graph.node.extend(nodes)
    tool = MatMulNBitsQuantizer(model, block_size=32, is_symmetric=True, accuracy_level=LEVELS[kind])
    tool.process()
    tool.model.save_model_to_file(path, use_external_data_format=False)
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    feeds = {declared.name: numpy.load(os.path.join(folder, f"input_{i}.npy")) for i, declared in enumerate(session.get_inputs())}
    for index, output in enumerate(session.run(None, feeds)):
        numpy.save(os.path.join(folder, f"output_{index}.npy"), output)


if len(sys.argv) != 4 or sys.argv[1] not in LEVELS:
    sys.exit(__doc__)
main(*sys.argv[1:])
