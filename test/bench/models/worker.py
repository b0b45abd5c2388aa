#!/usr/bin/env python3
"""worker.py PEER FOLDER THREADS PRECISION: a peer that holds the model of FOLDER and runs it when told.

Reads a JSON object a line and answers each with one. Its first answer comes unasked: how long the load and the first
run took together, how many bytes were resident at most, the peer's version, its libraries' size. Then {"runs": N} runs
N times and gives the median and the CPU time of one, {"store": DIR} writes the outputs, {"compare": DIR} holds those in
DIR against its own. It ends with its standard input.

Inputs are bound once, so that a run costs what it costs in C.
"""

import json
import os
import re
import statistics
import sys
import time

import numpy


class OnnxRuntime:
    """Has no switch for the precision of products on a CPU."""

    def __init__(self, model, inputs, threads, precision):
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
        self.binding = session.io_binding()
        for declared, value in zip(session.get_inputs(), inputs, strict=True):
            self.binding.bind_cpu_input(declared.name, value)
        for declared in session.get_outputs():
            self.binding.bind_output(declared.name)
        self.run = lambda: session.run_with_iobinding(self.binding)

    def outputs(self):
        return self.binding.copy_outputs_to_cpu()


class OpenVino:
    def __init__(self, model, inputs, threads, precision):
        import openvino

        settings = {"PERFORMANCE_HINT": "LATENCY", "INFERENCE_NUM_THREADS": threads, "INFERENCE_PRECISION_HINT": precision}
        compiled = openvino.Core().compile_model(model, "CPU", settings)
        self.request = compiled.create_infer_request()
        for index, value in enumerate(inputs):
            self.request.set_input_tensor(index, openvino.Tensor(value))
        self.run = self.request.infer

    def outputs(self):
        return [numpy.array(tensor.data) for tensor in self.request.output_tensors]


class PyTorch:
    """The network that the model was exported from, by the folder's name, with the same seeded weights; not compiled, pictures
    with channels innermost as its authors advise for CPUs."""

    def __init__(self, model, inputs, threads, precision):
        import torch

        import networks
        import weights

        torch.set_num_threads(threads)
        name = re.sub(r"-b\d+$", "", os.path.basename(os.path.dirname(model)))
        torch.manual_seed(weights.SEED)
        network, make_inputs, _, _ = networks.NETWORKS[name]()
        weights.settle(network, make_inputs)
        network = network.to({"f32": torch.float32, "bf16": torch.bfloat16}[precision])
        kinds = {torch.float32: next(network.parameters()).dtype}
        given = [torch.from_numpy(value) for value in inputs]
        given = [tensor.to(kinds.get(tensor.dtype, tensor.dtype)) for tensor in given]
        if any(tensor.dim() == 4 for tensor in given):
            network = network.to(memory_format=torch.channels_last)
            given = [tensor.to(memory_format=torch.channels_last) for tensor in given]

        @torch.inference_mode()
        def run():
            self.result = network(*given)

        self.run = run

    def outputs(self):
        results = self.result if isinstance(self.result, tuple) else (self.result,)
        return [result.float().numpy() for result in results]


PEERS = {"onnxruntime": OnnxRuntime, "openvino": OpenVino, "torch": PyTorch}


def stored(folder, kind):
    arrays = []
    while os.path.exists(path := os.path.join(folder, f"{kind}_{len(arrays)}.npy")):
        arrays.append(numpy.load(path))
    return arrays


def difference(wanted, given):
    """The largest difference of an element and the largest element, over all outputs."""
    shapes = [[array.shape for array in arrays] for arrays in (wanted, given)]
    if shapes[0] != shapes[1]:
        return {"error": f"outputs of shape {shapes[1]}, wanted {shapes[0]}"}
    apart = [numpy.abs(a.astype("f8") - b.astype("f8")).max(initial=0) for a, b in zip(wanted, given)]
    if not numpy.isfinite(apart).all():
        return {"error": "an output is not finite"}
    return {"apart": float(max(apart)), "largest": float(max(numpy.abs(a).max(initial=0) for a in wanted))}


def peak_bytes():
    with open("/proc/self/status", encoding="ascii") as status:
        return next(int(line.split()[1]) * 1024 for line in status if line.startswith("VmHWM"))


def library_bytes(module):
    """What of a package would have to be shipped with a model: its shared libraries."""
    folder, total = os.path.dirname(module.__file__), 0
    for root, _, names in os.walk(folder):
        paths = [os.path.join(root, name) for name in names if name.endswith(".so") or ".so." in name]
        total += sum(os.path.getsize(path) for path in paths if not os.path.islink(path))
    return total


def answer(peer, order):
    if "runs" in order:
        seconds, cpu = [], time.process_time()
        for _ in range(order["runs"]):
            begin = time.perf_counter()
            peer.run()
            seconds.append(time.perf_counter() - begin)
        cpu = (time.process_time() - cpu) / len(seconds)
        return {"median": statistics.median(seconds), "cpu": cpu}
    if "store" in order:
        for index, value in enumerate(peer.outputs()):
            numpy.save(os.path.join(order["store"], f"output_{index}.npy"), value)
        return {}
    return difference(peer.outputs(), stored(order["compare"], "output"))


def main(name, folder, threads, precision):
    module = __import__(name)
    inputs = stored(folder, "input")
    begin = time.perf_counter()
    peer = PEERS[name](os.path.join(folder, "model.onnx"), inputs, int(threads), precision)
    peer.run()
    first = time.perf_counter() - begin
    version = module.__version__.split("-")[0]
    facts = {"first": first, "peak": peak_bytes(), "version": version, "library": library_bytes(module)}
    print(json.dumps(facts), flush=True)
    for line in sys.stdin:
        print(json.dumps(answer(peer, json.loads(line))), flush=True)


if len(sys.argv) != 5 or sys.argv[1] not in PEERS:
    sys.exit(__doc__)
main(*sys.argv[1:])
