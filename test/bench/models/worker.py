#!/usr/bin/env python3
"""worker.py PEER FOLDER THREADS PRECISION: a peer that holds the model of FOLDER and runs it when told.

Reads a JSON object a line and answers each with one. Its first answer comes unasked: how long the load and the first
run took together, how many bytes were resident at most, the peer's version, its libraries' size, and how long it took to
compile the model, if it does so ahead of time. Then {"runs": N} runs
N times and gives the median and the CPU time of one, {"store": DIR} writes the outputs, {"compare": DIR} holds those in
DIR against its own. It ends with its standard input.

Inputs are bound once, so that a run costs what it costs in C.
"""

import importlib
import importlib.metadata
import json
import os
import re
import statistics
import subprocess
import sys
import time

import numpy

sys.dont_write_bytecode = True
import contestants


class OnnxRuntime:
    """Has no switch for the precision of products on a CPU."""

    module = package = "onnxruntime"

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
    module = package = "openvino"

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

    module = package = "torch"

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


class Iree:
    """Compiles ahead of time, in processes of its own; what it made stays in its environment, with the seconds that it
    took, until the model, the compiler, its flags or the CPU are others. Products are float32."""

    module, package = "iree.runtime", "iree-base-runtime"
    FLAGS = (
        "--iree-hal-target-device=local",
        "--iree-hal-local-target-device-backends=llvm-cpu",
        "--iree-llvmcpu-target-cpu=host",
        "--iree-opt-level=O3",
        "--iree-llvmcpu-stack-allocation-limit=1048576",  # its own limit of 32 KiB refuses Swin, BERT, GPT-2 and Whisper
    )

    @staticmethod
    def cause(errors):
        """What the compiler says first, without the place in a file of its own."""
        found = re.search(r"error: (.*)", errors)
        return found.group(1) if found else contestants.last_line(errors)

    @classmethod
    def compile(cls, model):
        """(the compiled model, the seconds that it took)"""
        name = contestants.compiled_name(importlib.metadata.version("iree-base-compiler"), model, cls.FLAGS)
        made = os.path.join(sys.prefix, "compiled", name + ".vmfb")
        done = made + ".seconds"
        if not os.path.exists(done) or os.path.getmtime(done) < os.path.getmtime(model):
            os.makedirs(os.path.dirname(made), exist_ok=True)
            tools, imported, begin = os.path.dirname(sys.executable), made + ".mlir", time.perf_counter()
            for command in (["iree-import-onnx", model, "-o", imported], ["iree-compile", imported, "-o", made, *cls.FLAGS]):
                command[0] = os.path.join(tools, command[0])
                ended = subprocess.run(command, stdout=sys.stderr, stderr=subprocess.PIPE, text=True)  # ours is for answers
                if ended.returncode:
                    raise RuntimeError(cls.cause(ended.stderr))
            seconds = time.perf_counter() - begin
            os.remove(imported)
            with open(done, "w", encoding="ascii") as file:
                file.write(str(seconds))
        with open(done, encoding="ascii") as file:
            return made, float(file.read())

    def __init__(self, model, inputs, threads, precision):
        from iree import runtime

        if threads > 1:
            runtime.flags.parse_flags(f"--task_topology_group_count={threads}")
        config = runtime.Config("local-task" if threads > 1 else "local-sync")
        context = runtime.SystemContext(config=config)
        compiled = runtime.VmModule.mmap(context.instance, model)
        context.add_vm_module(compiled)
        name = next(n for n in compiled.function_names if not n.startswith("__") and not n.endswith("$async"))
        function = context.modules[compiled.name][name]
        given = [runtime.asdevicearray(config.device, value) for value in inputs]

        def run():
            self.result = function(*given)

        self.run = run

    def outputs(self):
        results = self.result if isinstance(self.result, (list, tuple)) else [self.result]
        return [numpy.array(result.to_host()) for result in results]


PEERS = {"onnxruntime": OnnxRuntime, "openvino": OpenVino, "torch": PyTorch, "iree": Iree}


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


def library_bytes(package):
    """What of a package would have to be shipped with a model: its shared libraries."""
    files = importlib.metadata.files(package) or []
    paths = {file.locate() for file in files if file.name.endswith(".so") or ".so." in file.name}
    return sum(os.path.getsize(path) for path in paths if not os.path.islink(path))


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
    kind, model, facts = PEERS[name], os.path.join(folder, "model.onnx"), {}
    importlib.import_module(kind.module)
    inputs = stored(folder, "input")
    if hasattr(kind, "compile"):
        model, facts["compile"] = kind.compile(model)
    begin = time.perf_counter()
    peer = kind(model, inputs, int(threads), precision)
    peer.run()
    facts["first"] = time.perf_counter() - begin
    facts.update(peak=peak_bytes(), version=importlib.metadata.version(kind.package), library=library_bytes(kind.package))
    print(json.dumps(facts), flush=True)
    for line in sys.stdin:
        print(json.dumps(answer(peer, json.loads(line))), flush=True)


if len(sys.argv) != 5 or sys.argv[1] not in PEERS:
    sys.exit(__doc__)
main(*sys.argv[1:])
