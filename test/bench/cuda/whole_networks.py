"""Whole networks on the GPU: the same ones, with the same weights, as test/bench/models has."""

import glob
import os
import statistics
import subprocess
import sys
import time

import numpy
import torch

HERE = os.path.dirname(os.path.abspath(__file__))
MODELS = os.path.join(HERE, os.pardir, "models")
sys.path.append(MODELS)
import networks as builders
import timing
from library import Library

STARTS = {"kiln": 5, "PyTorch": 1}  # processes whose time counts, from start to first output


def export(name, folder):
    """Begins to write a network as ONNX, with its inputs and what PyTorch computes of them on the CPU."""
    command = [sys.executable, os.path.join(MODELS, "export.py"), name, "1", folder]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def stored(folder, kind):
    return [numpy.load(file) for file in sorted(glob.glob(os.path.join(folder, f"{kind}_*.npy")))]


def wall(who, command):
    """Seconds that a process takes, the median of some."""
    taken = []
    for _ in range(STARTS[who] + 1):
        begin = time.perf_counter()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        taken.append(time.perf_counter() - begin)
    return statistics.median(taken[1:])  # after the first, files lie in memory


def error(made, wanted):
    return float(numpy.linalg.norm(made.astype(float) - wanted) / numpy.linalg.norm(wanted))


def measure(name, folder, library, program, rounds):
    """A row of the table: how far kiln's outputs are from PyTorch's, everybody's times, and how long processes take."""
    given, wanted = stored(folder, "input"), stored(folder, "output")
    inputs = [torch.from_numpy(array).cuda() for array in given]
    model = builders.NETWORKS[name]()[0].eval()
    states = os.path.join(folder, "weights.pt")
    torch.save(model.state_dict(), states)
    model = model.cuda()
    ours = Library(library, "model")
    outputs = [torch.empty(array.shape, dtype=torch.from_numpy(array).dtype, device="cuda") for array in wanted]
    run = ours.prepared(inputs, outputs)
    run()
    torch.cuda.synchronize()
    row = {"name": name, "error": max(error(made.cpu().numpy(), array) for made, array in zip(outputs, wanted))}
    contestants = {"kiln": run, "eager": lambda: model(*inputs)}
    for label, mode in (("compiled", "default"), ("compiled, CUDA graphs", "reduce-overhead")):
        compiled = torch.compile(model, mode=mode)
        contestants[label] = lambda compiled=compiled: compiled(*inputs)
        contestants[label]()
    row["ms"] = timing.race({label: [function] for label, function in contestants.items()}, rounds)
    files = sorted(glob.glob(os.path.join(folder, "input_*.npy")))
    row["process, kiln"] = wall("kiln", [program, *files, "--output-dir", folder + "/made"])
    row["process, PyTorch"] = wall("PyTorch", [sys.executable, os.path.join(HERE, "start.py"), name, states, *files])
    return row
