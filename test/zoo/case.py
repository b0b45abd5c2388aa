"""A case: a model and the inputs that it is run with.

A case is a folder with model.onnx and case.json:
runs      the inputs' shapes, a map from name to sizes for each run; a program with open sizes is run at all of them, one
          with given sizes is compiled for and run at the first
values    where an input is not normally distributed: {"of": [VALUE, ...]}, {"from": LOW, "to": HIGH} of integers,
          {"scale": FACTOR} of floats, or {"words": [TEXT, ...]}, chosen at random
"""

import json
import os

import numpy

SEED = 11
DTYPES = {
    "tensor(float)": "float32", "tensor(double)": "float64", "tensor(float16)": "float16", "tensor(int64)": "int64",
    "tensor(int32)": "int32", "tensor(int16)": "int16", "tensor(int8)": "int8", "tensor(uint8)": "uint8",
    "tensor(bool)": "bool", "tensor(string)": "str",
}  # fmt: skip


def write(folder, runs, values=None):
    """Describes the model.onnx that lies in `folder`."""
    with open(os.path.join(folder, "case.json"), "w", encoding="utf-8") as file:
        json.dump({"runs": runs, "values": values or {}}, file, indent=1)


def read(folder):
    with open(os.path.join(folder, "case.json"), encoding="utf-8") as file:
        return json.load(file)


def array(random, dtype, shape, rule):
    if "of" in rule:
        return numpy.resize(numpy.array(rule["of"], dtype), shape)
    if dtype == "str":
        return numpy.array(random.choice(rule["words"], shape))
    if "from" in rule:
        return random.integers(rule["from"], rule["to"], shape).astype(dtype)
    if dtype == "bool":
        return random.random(shape) < 0.5
    if numpy.dtype(dtype).kind in "iu":
        raise SystemExit("an input of integers needs a rule that says from where to where")
    return (random.standard_normal(shape) * rule.get("scale", 1)).astype(dtype)


def inputs(declared, run, values):
    """The arrays of one run, in the order in which ONNX Runtime's session declares its inputs."""
    random = numpy.random.default_rng(SEED)
    made = []
    for port in declared:
        shape = run.get(port.name, port.shape)
        if not all(isinstance(size, int) for size in shape):
            raise SystemExit(f"input {port.name}: no shape is given, and {shape} is open")
        made.append(array(random, DTYPES[port.type], shape, values.get(port.name, {})))
    return made


def has_open_sizes(declared):
    return any(not isinstance(size, int) or size <= 0 for port in declared for size in port.shape)
