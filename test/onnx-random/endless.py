#!/usr/bin/env python3
"""Gives each judge a Loop that does not end, and checks that the process ends by SIGPROF instead."""

import multiprocessing
import signal
import sys

import environment

environment.enter()
import judges
import numpy
from onnx import TensorProto, helper

judges.SECONDS = 1


def info(name, dtype, shape):
    return helper.make_tensor_value_info(name, dtype, shape)


body = helper.make_graph([helper.make_node("Identity", ["go"], ["goes"]), helper.make_node("Neg", ["x"], ["y"])], "body",
                         [info("i", TensorProto.INT64, []), info("go", TensorProto.BOOL, []), info("x", TensorProto.FLOAT, [1])],
                         [info("goes", TensorProto.BOOL, []), info("y", TensorProto.FLOAT, [1])])
model = helper.make_model(helper.make_graph([helper.make_node("Loop", ["count", "go0", "x0"], ["z"], body=body)], "endless",
                                            [info("count", TensorProto.INT64, []), info("go0", TensorProto.BOOL, []),
                                             info("x0", TensorProto.FLOAT, [1])], [info("z", TensorProto.FLOAT, [1])]),
                          opset_imports=[helper.make_opsetid("", 16)], ir_version=8)
feeds = {"count": numpy.array(1 << 60), "go0": numpy.array(True), "x0": numpy.ones(1, numpy.float32)}
for name, run in judges.JUDGES.items():
    process = multiprocessing.get_context("fork").Process(target=run, args=(model, feeds))
    process.start()
    process.join(60)
    if process.exitcode != -signal.SIGPROF:
        process.kill()
        sys.exit(f"{name} ended with {process.exitcode}")
