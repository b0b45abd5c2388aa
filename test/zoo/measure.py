#!/usr/bin/env python3
"""measure.py FOLDER open|given ROUNDS SECONDS KILN: one case, compiled and compared with ONNX Runtime, in JSON.

`open` leaves the sizes open that the model leaves open, `given` gives them by --shape. Both run on one thread, in turns. Prints a
JSON object: what the compilation took, and for each run its shapes, its times, the ratio and how far outputs are apart, or "failed",
why not. Runs in the environment that has ONNX Runtime, under the limits that test-zoo sets.
"""

import json
import os
import statistics
import sys
import tempfile
import time

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(os.path.dirname(HERE), "bench", "models")]
import case
import contestants
import difference
import inputs
import numpy
import onnx
import onnx.numpy_helper
import onnxruntime
import race

contestants.LIMIT = 3600  # seconds; test-zoo limits CPU time, which other work on the machine leaves alone
THREADS = 1


class OnnxRuntime:
    """In this process: it does not spin on one thread. Of a model's path or bytes. `exact`: its products of uint8 and int8 do not
    saturate. On CPUs without VNNI they do otherwise, where two terms together pass 16 bits."""

    def __init__(self, model, exact=False):
        options = onnxruntime.SessionOptions()
        options.add_session_config_entry("session.x64quantprecision", "1" if exact else "0")
        options.intra_op_num_threads = THREADS
        options.log_severity_level = 4
        self.session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
        self.declared = self.session.get_inputs()
        self.ports = self.session.get_outputs()
        self.names = [port.name for port in self.ports]

    def feed(self, given):
        arrays = [array.astype(object) if array.dtype.kind == "U" else array for array in given]
        fed = dict(zip((port.name for port in self.declared), arrays, strict=True))
        self.run = lambda: self.session.run(None, fed)
        if all(port.type.startswith("tensor(") and "string" not in port.type for port in self.declared + self.ports):
            self.bind(fed)
        return self.session.run(None, fed)

    def bind(self, fed):
        """Has runs cost what they cost in C, if outputs are of the shapes that the model declares."""
        binding = self.session.io_binding()
        for name, array in fed.items():
            binding.bind_cpu_input(name, array)
        for name in self.names:
            binding.bind_output(name)
        try:
            for _ in range(2):  # the second finds outputs that lie there
                self.session.run_with_iobinding(binding)
        except RuntimeError:
            return
        self.run = lambda: self.session.run_with_iobinding(binding)

    def turn(self, runs):
        seconds, cpu = [], time.process_time()
        for _ in range(runs):
            begin = time.perf_counter()
            self.run()
            seconds.append(time.perf_counter() - begin)
        return statistics.median(seconds), (time.process_time() - cpu) / runs

    def guess(self):
        return self.turn(2)[0]


def shape_options(declared, run):
    open_ports = [port for port in declared if inputs.has_open_sizes([port])]
    return [f"--shape={port.name}={','.join(map(str, run[port.name]))}" for port in open_ports if port.name in run]


def nudged(array, by=2**-20):
    """Other by a millionth."""
    return (array * (1 + by)).astype(array.dtype) if array.dtype.kind == "f" else array


def nudged_model(model, by):
    """The model with the weights of its graph so."""
    proto = onnx.load(model)
    for weight in proto.graph.initializer:
        array = onnx.numpy_helper.to_array(weight)
        weight.CopyFrom(onnx.numpy_helper.from_array(nudged(array, by), weight.name))
    return proto.SerializeToString()


def own_difference(model, arrays, wanted):
    """How far ONNX Runtime's results are from its own if inputs or weights are other by a millionth. A network whose results
    change with that, as one that quantizes as it goes or sorts scores that are nearly equal, measures no other either."""
    others = [OnnxRuntime(model, exact=True).feed([nudged(array) for array in arrays])]
    for by in (2**-20, -(2**-20)):
        others.append(OnnxRuntime(nudged_model(model, by), exact=True).feed(arrays))
    return max(difference.between(wanted, other) for other in others)


def run_once(model, program, peer, run, values, rounds, seconds):
    """One run's row."""
    row = {"shapes": run}
    arrays = inputs.arrays(peer.declared, run, values)
    try:
        wanted = OnnxRuntime(model, exact=True).feed(arrays)
        peer.feed(arrays)
    except Exception as error:  # what its extension throws has no common class
        return {**row, "failed": f"ONNX Runtime: {contestants.last_line(str(error))}"}
    with tempfile.TemporaryDirectory() as folder:
        for index, array in enumerate(arrays):
            numpy.save(os.path.join(folder, f"input_{index}.npy"), array)
        try:
            ours = contestants.Program(program, race.input_files(folder), THREADS)
            ours.store(folder)
            row["error"], problem = difference.of(peer.names, wanted, folder)
            if problem:
                row["own"] = own_difference(model, arrays, wanted)
                if row["error"] > 2 * row["own"]:
                    return {**row, "failed": "wrong: " + problem}
            turns, failed = race.take_turns({"kiln": ours, "peer": peer}, rounds, seconds)
        except contestants.Failed as why:
            return {**row, "failed": str(why)}
    if failed:
        return {**row, "failed": "; ".join(failed.values())}
    times = race.summary(turns)
    row.update(ours=times["kiln"]["seconds"], theirs=times["peer"]["seconds"])
    # A busy machine delays whoever runs: CPU time tells more, where a turn is long enough to have some.
    row.update(ratio=times["peer"]["ratio"], cpu_ratio=times["peer"]["cpu_ratio"])
    return row


def main(folder, variant, rounds, seconds, kiln):
    described, model = case.read(folder), os.path.join(folder, "model.onnx")
    result = {"variant": variant, "model_bytes": race.model_bytes(folder), "runs": []}
    try:
        peer = OnnxRuntime(model)
    except Exception as error:
        return {**result, "failed": f"ONNX Runtime: {contestants.last_line(str(error))}"}
    result["has_open"] = inputs.has_open_sizes(peer.declared)
    if variant == "given" and not result["has_open"]:
        return result
    options = shape_options(peer.declared, described["runs"][0]) if variant == "given" else []
    with tempfile.TemporaryDirectory() as scratch:
        program = os.path.join(scratch, "program")
        try:
            result["compile"], _ = race.compile_model(kiln, folder, program, ["--quiet", *options])
        except contestants.Failed as why:
            return {**result, "failed": str(why)}
        for run in described["runs"] if variant == "open" else described["runs"][:1]:
            result["runs"].append(run_once(model, program, peer, run, described["values"], int(rounds), float(seconds)))
    return result


if len(sys.argv) != 6:
    sys.exit(__doc__)
print(json.dumps(main(*sys.argv[1:])))
