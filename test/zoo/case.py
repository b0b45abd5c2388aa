"""A case: a model and the inputs that it is run with.

A case is a folder with model.onnx and case.json:
runs      the inputs' shapes, a map from name to sizes for each run; a program with open sizes is run at all of them, one
          with given sizes is compiled for and run at the first
values    where an input is not normally distributed: {"of": [VALUE, ...]}, {"from": LOW, "to": HIGH} of integers,
          {"scale": FACTOR} of floats, or {"words": [TEXT, ...]}, chosen at random
"""

import json
import os


def write(folder, runs, values=None):
    """Describes the model.onnx that lies in `folder`."""
    with open(os.path.join(folder, "case.json"), "w", encoding="utf-8") as file:
        json.dump({"runs": runs, "values": values or {}}, file, indent=1)


def read(folder):
    with open(os.path.join(folder, "case.json"), encoding="utf-8") as file:
        return json.load(file)
