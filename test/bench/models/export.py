#!/usr/bin/env python3
"""export.py NAME BATCH DIR: one network as model.onnx, with its inputs and PyTorch's outputs as .npy files.

Runs in the environment of environments.py that has torch. Exported as torch's users do: torch.onnx.export with its current
exporter and its defaults, so weights are in a file next to the model.
"""

import os
import sys

import numpy
import torch

import networks
import weights

INPUT_SEED = 7


def store(folder, kind, tensors):
    for index, tensor in enumerate(tensors):
        numpy.save(os.path.join(folder, f"{kind}_{index}.npy"), tensor.numpy())


def main(name, batch, folder):
    torch.manual_seed(weights.SEED)
    model, make_inputs, names, dynamic = networks.NETWORKS[name]()
    weights.settle(model, make_inputs)
    torch.manual_seed(INPUT_SEED)
    inputs = make_inputs(int(batch))
    opens_batch = dynamic and dynamic[0] and 0 in dynamic[0]
    with torch.no_grad():
        outputs = model(*inputs)
        os.makedirs(folder, exist_ok=True)
        # A batch of 1 would be taken for a size that stays 1.
        torch.onnx.export(model, make_inputs(2) if opens_batch else inputs, os.path.join(folder, "model.onnx"), input_names=names,
                          dynamic_shapes=dynamic, dynamo=True, verbose=False)  # fmt: skip
    store(folder, "input", inputs)
    store(folder, "output", outputs if isinstance(outputs, tuple) else (outputs,))
    print(torch.__version__)


if len(sys.argv) != 4:
    sys.exit(__doc__)
main(*sys.argv[1:])
