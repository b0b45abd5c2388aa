#!/usr/bin/env python3
"""make_scores.py: writes the models of the folder "scores", with a few rows and what ONNX Runtime computes of them.

Run by hand, with onnx, onnxruntime and numpy installed; its results are stored. The standard leaves open which scores a
classifier of two classes gives, so each way to get there is a node: one or two scores, weights of either class, all transforms.
The outputs are all scores next to each other, all labels that are integers, and all that are strings.
"""

import os

import numpy as np
import onnx
import onnxruntime
from onnx import helper

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "scores")
TRANSFORMS = ("NONE", "LOGISTIC", "SOFTMAX", "SOFTMAX_ZERO")
random = np.random.default_rng(7)
nodes = []
results = {"scores": [], "integers": [], "strings": []}


def numbers(*shape):
    return random.normal(size=shape).astype(np.float32).ravel().tolist()


def node(op, **attributes):
    names = [f"score{len(nodes)}"]
    results["scores"] += names
    if "Classifier" in op:
        names = [f"label{len(nodes)}", *names]
        results["strings" if "classlabels_strings" in attributes else "integers"].append(names[0])
    nodes.append(helper.make_node(op, ["x"], names, domain="ai.onnx.ml", **attributes))


def trees(labels, weights, base=(), **attributes):
    """Two trees of a comparison and two leaves; `weights` of each leaf are pairs of a class and a number."""
    lists = {"treeids": [0, 0, 0, 1, 1, 1], "nodeids": [0, 1, 2] * 2, "featureids": [0, 0, 0, 1, 0, 0],
             "values": [0.1, 0, 0, -0.2, 0, 0], "modes": ["BRANCH_LEQ", "LEAF", "LEAF"] * 2, "truenodeids": [1, 0, 0] * 2,
             "falsenodeids": [2, 0, 0] * 2, "missing_value_tracks_true": [0] * 6, "hitrates": [1.0] * 6}
    entries = [(leaf // 2, leaf % 2 + 1, *pair) for leaf, pairs in enumerate(weights) for pair in pairs]
    attributes |= {f"nodes_{key}": value for key, value in lists.items()}
    attributes |= {f"class_{key}": list(value) for key, value in zip(("treeids", "nodeids", "ids", "weights"), zip(*entries))}
    if base:
        attributes["base_values"] = base
    node("TreeEnsembleClassifier", **labels, **attributes)


for transform in TRANSFORMS:
    end = {"post_transform": transform}
    node("LinearClassifier", coefficients=numbers(3), intercepts=numbers(1), classlabels_ints=[5, 9], **end)
    node("LinearClassifier", coefficients=numbers(2, 3), intercepts=numbers(2), classlabels_strings=["no", "yes"], **end)
    node("LinearRegressor", coefficients=numbers(3), intercepts=numbers(1), **end)
    vectors = {"kernel_type": "RBF", "kernel_params": [0.5, 0.0, 3.0], "support_vectors": numbers(4, 3), "coefficients": numbers(4)}
    node("SVMClassifier", **vectors, rho=[0.1], vectors_per_class=[2, 2], classlabels_ints=[5, 9], **end)
    linear = {"kernel_type": "LINEAR", "kernel_params": [0.0, 0.0, 0.0], "coefficients": numbers(2, 3)}
    node("SVMClassifier", **linear, rho=[0.1], classlabels_strings=["no", "yes"], **end)
    node("SVMRegressor", **vectors, n_supports=4, rho=[0.1], **end)
    integers = {"classlabels_int64s": [5, 9], **end}
    for sign in (0.2, -0.2):
        for target in (0, 1):
            weights = [[(target, weight)] for weight in (sign, 0.3, 0.1, 0.4)]
            trees(integers, weights)
            trees(integers, weights, [0.5, -0.25])
        trees(integers, weights, [-0.25])
        both = [[(0, sign), (1, 0.1)], [(0, 0.2), (1, -sign)], [(0, 0.4), (1, 0.3)], [(0, 0.1), (1, sign)]]
        apart = [[(0, sign)], [(1, 0.3)], [(0, 0.15)], [(1, -0.5)]]
        for weights in (both, apart):
            trees(integers, weights)
            trees({"classlabels_strings": ["no", "yes"], **end}, weights, [0.5, -0.25])
        trees({"classlabels_strings": ["a", "b", "c"], **end}, [[(0, -sign)], [(2, sign)], [(0, -0.3)], [(1, -0.4)]])

x = random.normal(size=(7, 3)).astype(np.float32)
for name, parts in results.items():
    nodes.append(helper.make_node("Concat", parts, [name], axis=1 if name == "scores" else 0))
outputs = [helper.make_empty_tensor_value_info(name) for name in results]
graph = helper.make_graph(nodes, "scores", [helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, ["n", 3])], outputs)
proto = helper.make_model(graph, ir_version=8, opset_imports=[helper.make_opsetid("", 17), helper.make_opsetid("ai.onnx.ml", 3)])
session = onnxruntime.InferenceSession(proto.SerializeToString(), providers=["CPUExecutionProvider"])
os.makedirs(FOLDER, exist_ok=True)
onnx.save(proto, os.path.join(FOLDER, "model.onnx"))
np.save(os.path.join(FOLDER, "input_0.npy"), x)
for i, result in enumerate(session.run(None, {"x": x})):
    np.save(os.path.join(FOLDER, f"output_{i}.npy"), result.astype("U") if result.dtype == object else result)
