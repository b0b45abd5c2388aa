"""cliffs.py KILN [--count N] [--seconds N] [--seed S] [--time] [--most RATIO] [--keep FILE] [-- OPTION...]

Looks for cliffs: graphs for which a program does far more than it was given to do. Each seed is one random graph of the layer
patterns that exporters write (layer_graphs.py), with sizes fixed and, where some may be, open.

Counts the operations that the kernels make, as lowered, and compares them with those of the graph, each computed once. That is
the same on every machine, so this is a test. With --time it runs the programs instead, in turns, and compares the default
with --schedule classic, open sizes with fixed ones, and fixed sizes with ONNX Runtime, where Python has it. A ratio above
--most (counts: 3, times: 2) is a row on the screen and in the file of --keep; a graph whose time shows one is reduced to its
first tensor that does. --seed S --count 1 does one graph alone. What follows "--" goes to `kiln compile`.
"""
import argparse
import array
import json
import os
import random
import re
import struct
import subprocess
import sys
import tempfile
import time

from layer_graphs import LayerGraph, elements

# A kernel computes at most 1.5 times the graph's terms of sums and exponentials. Lowered, it also has the padded ends of vectors,
# masks and the arithmetic of indices, which may double the count where an axis is short. Work that is repeated along an axis is
# more by the axis' size.
MOST_COUNTED, MOST_TIMED = 3.0, 2.0
# Small kernels have so many operations for masks and indices.
FEW_OPERATIONS = 40_000
# Launches differ by so many microseconds from run to run.
FEW_MICROSECONDS = 20
TURNS, SECONDS_A_TURN = 3, 0.15


class Failed(Exception):
    pass


def run(command, folder=None):
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=600)
    if done.returncode:
        raise Failed(f"{' '.join(command)}: {done.returncode}: {(done.stderr or done.stdout)[-300:].strip()}")
    return done.stdout + done.stderr


def keep(row, path):
    """Prints a row, and adds it to the file, if one is given."""
    print(row, flush=True)
    if path:
        with open(path, "a", encoding="utf-8") as file:
            file.write(row + "\n")


def write_npy(path, shape, chance):
    values = [chance.uniform(-0.5, 0.5) for _ in range(61)]
    count = elements(shape)
    header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': ({''.join(f'{size}, ' for size in shape)}), }}"
    header += " " * (-(len(header) + 11) % 64) + "\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode())
        file.write(array.array("f", (values * (count // 61 + 1))[:count]).tobytes())


def write_graph(graph, folder, chance):
    for name in graph.weights:
        write_npy(os.path.join(folder, f"{name}.npy"), graph.shapes[name], chance)
    for kind in ("fixed", "open"):
        with open(os.path.join(folder, f"{kind}.json"), "w", encoding="utf-8") as file:
            json.dump(graph.document(kind == "open"), file)


# Counting ----------------------------------------------------------------------

def value_of(expression, sizes):
    """Of an expression of #kiln.expr. Bounds after a name, {0..100}, say nothing here."""
    text = re.sub(r"\{[^}]*\}", "", expression)
    names = {**sizes, "min": min, "max": max}
    return eval(text, {"__builtins__": {}}, names)  # written by the compiler that is tested


def launched_names(lowered):
    """The kernels that the program launches, each as often as it does. Of two versions of a kernel the second counts."""
    names, depth_of_if = [], []
    program = lowered[lowered.index("host.program"):]
    depth = 0
    skipped = None
    for line in program.splitlines():
        if skipped is None and re.search(r"\bscf\.if\b.*\{$", line):
            skipped = depth
        found = re.search(r"host\.launch @([\w.]+)", line)
        if found and skipped is None:
            names.append(found.group(1))
        depth += line.count("{") - line.count("}")
        if skipped is not None and ("} else {" in line or depth <= skipped):
            skipped = None
        if depth == 0 and names:
            break
    return names


def counted(kiln, path, sizes, options):
    lowered = run([kiln, "compile", path, "--emit", "lower", *options])
    operations = dict(re.findall(r"uop\.func @([\w.]+)\(.*?operations = #kiln\.expr<\"?(.*?)\"?>", lowered))
    return sum(value_of(operations[name], sizes) for name in launched_names(lowered))


def count(kiln, graph, folder, options, most):
    """The rows of a graph: those kinds whose kernels do much more than the graph's own work."""
    rows = []
    for kind in ("fixed", "open") if graph.symbols() else ("fixed",):
        done = counted(kiln, os.path.join(folder, f"{kind}.json"), graph.symbols(), options)
        if done > most * graph.work + FEW_OPERATIONS:
            rows.append((f"{kind}: {done} operations for {graph.work}", done / max(1, graph.work)))
    return rows


# Timing ------------------------------------------------------------------------

ONNX_OPS = {"add": "Add", "mul": "Mul", "sub": "Sub", "relu": "Relu", "sigmoid": "Sigmoid", "tanh": "Tanh", "matmul": "MatMul"}


def onnx_model(graph):
    """The graph as ONNX; None where Python has no ONNX Runtime."""
    try:
        import numpy
        import onnx
        import onnxruntime  # noqa: F401
        from onnx import helper, numpy_helper
    except ImportError:
        return None
    nodes, numbers = [], [0]

    def emit(op, inputs, output=None, **attributes):
        numbers[0] += 1
        output = output or f"_{numbers[0]}"
        nodes.append(helper.make_node(op, inputs, [output], **attributes))
        return output

    constants = []

    def constant(values, dtype):
        name = f"c{len(constants)}"
        constants.append(numpy_helper.from_array(numpy.array(values, dtype), name))
        return name

    for node in graph.nodes:
        op, inputs, output = node["op"], node["inputs"], node["output"]
        if op in ONNX_OPS:
            emit(ONNX_OPS[op], inputs, output)
        elif op == "permute":
            emit("Transpose", inputs, output, perm=node["order"])
        elif op == "softmax":
            emit("Softmax", inputs, output, axis=node["axis"])
        elif op == "silu":
            emit("Mul", [*inputs, emit("Sigmoid", inputs)], output)
        elif op == "gelu":
            emit("Gelu", inputs, output)
        elif op == "square":
            emit("Mul", inputs * 2, output)
        elif op == "rsqrt":
            emit("Reciprocal", [emit("Sqrt", inputs)], output)
        elif op == "mean":
            emit("ReduceMean", [*inputs, constant(node["axes"], "int64")], output)
        elif op == "reshape":
            emit("Reshape", [*inputs, constant(node["shape"], "int64")], output)
        elif op == "conv2d":
            pad = node["pads"][0][0]
            emit("Conv", inputs, output, pads=[pad] * 4, group=node["groups"], strides=node["strides"])
        else:
            raise Failed(f"no ONNX for {op}")
    port = lambda name, shape: helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, shape)
    model = helper.make_model(helper.make_graph(
        nodes, "cliff", [port(name, graph.shapes[name]) for name in [*graph.inputs, *graph.weights]],
        [port(name, None) for name in dict.fromkeys(graph.outputs)], constants), opset_imports=[helper.make_opsetid("", 20)])
    model.ir_version = 9
    return model


def session_of(graph, folder):
    model = onnx_model(graph)
    if model is None:
        return None
    import numpy
    import onnxruntime
    from onnx import numpy_helper
    for name in graph.weights:
        array_of = numpy.load(os.path.join(folder, f"{name}.npy"))
        model.graph.initializer.append(numpy_helper.from_array(array_of, name))
        model.graph.input.remove(next(port for port in model.graph.input if port.name == name))
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    feed = {name: numpy.load(os.path.join(folder, f"{name}.npy")) for name in graph.inputs}
    return lambda: session.run(None, feed)


def least_of_program(program, inputs, folder, runs):
    text = run([program, *(f"{name}.npy" for name in inputs), "--threads", "1", f"--bench={runs}"], folder)
    found = re.search(r"min ([\d.]+) (\w+)", text)
    if not found:
        raise Failed(f"{program} gives no time: {text[-200:]}")
    return float(found.group(1)) * {"s": 1e6, "ms": 1e3, "us": 1, "µs": 1, "ns": 1e-3}[found.group(2)]


def least_of_session(call):
    least, end = float("inf"), time.perf_counter() + SECONDS_A_TURN
    while time.perf_counter() < end:
        begin = time.perf_counter()
        call()
        least = min(least, time.perf_counter() - begin)
    return least * 1e6


def times(kiln, graph, folder, options, kinds):
    """Microseconds of each kind of program, the least of several turns."""
    chance = random.Random(1)
    for name in graph.inputs:
        write_npy(os.path.join(folder, f"{name}.npy"), graph.shapes[name], chance)
    least = {}
    for kind in kinds:
        if kind == "ort":
            continue
        source = "open" if kind == "open" else "fixed"
        classic = ["--schedule", "classic"] if kind == "classic" else []
        run([kiln, "compile", f"{source}.json", "-o", f"./{kind}.program", *classic, *options], folder)
        least[kind] = float("inf")
    call = session_of(graph, folder) if "ort" in kinds else None
    for _ in range(TURNS):
        for kind in list(least):
            if kind == "ort":
                continue
            runs = 3 if least[kind] == float("inf") else max(3, min(200, int(SECONDS_A_TURN * 1e6 / max(least[kind], 1))))
            least[kind] = min(least[kind], least_of_program(f"./{kind}.program", graph.inputs, folder, runs))
        if call:
            least["ort"] = min(least.get("ort", float("inf")), least_of_session(call))
    return least


def timed(kiln, graph, folder, options, most, pairs):
    """The rows of a graph: the pairs of programs whose first takes much longer."""
    least = times(kiln, graph, folder, options, list(dict.fromkeys(kind for pair in pairs for kind in pair)))
    return [(f"{a} {least[a]:.0f} µs, {b} {least[b]:.0f} µs", least[a] / least[b], (a, b)) for a, b in pairs
            if a in least and b in least and least[a] > most * least[b] + FEW_MICROSECONDS]


def reduced(kiln, graph, folder, options, most, pair):
    """The graph's first tensor that shows the ratio alone."""
    for node in graph.nodes[:-1]:
        part = graph.upto(node["output"])
        with tempfile.TemporaryDirectory(dir=folder) as inner:
            write_graph(part, inner, random.Random(1))
            try:
                if timed(kiln, part, inner, options, most, [pair]):
                    return part
            except Failed:
                continue
    return graph


def time_graph(kiln, graph, folder, options, most):
    pairs = [("fixed", "classic"), ("fixed", "ort")]
    if graph.symbols():
        pairs += [("open", "fixed"), ("open", "ort")]
    rows = []
    for text, ratio, pair in timed(kiln, graph, folder, options, most, pairs):
        part = reduced(kiln, graph, folder, options, most, pair)
        rows.append((f"{text}; reduced: {json.dumps(part.document('open' in pair))}", ratio))
    return rows


def main():
    end = sys.argv.index("--") if "--" in sys.argv else len(sys.argv)
    options = sys.argv[end + 1:]
    parser = argparse.ArgumentParser()
    parser.add_argument("kiln", type=os.path.abspath)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seconds", type=float, default=float("inf"))
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--time", action="store_true")
    parser.add_argument("--most", type=float)
    parser.add_argument("--keep")
    given = parser.parse_args(sys.argv[1:end])
    most = given.most or (MOST_TIMED if given.time else MOST_COUNTED)
    last = time.monotonic() + given.seconds
    found = done = 0
    for seed in range(given.seed, given.seed + given.count):
        if time.monotonic() > last:
            break
        done += 1
        graph = LayerGraph(random.Random(seed))
        with tempfile.TemporaryDirectory() as folder:
            write_graph(graph, folder, random.Random(seed))
            try:
                rows = time_graph(given.kiln, graph, folder, options, most) if given.time else \
                    count(given.kiln, graph, folder, options, most)
            except (Failed, subprocess.TimeoutExpired) as error:
                rows = [(str(error), float("inf"))]
        for text, ratio in rows:
            found += 1
            row = f"seed {seed} ({graph.pattern}): {ratio:.1f} times: {text}"
            keep(row if given.time else f"{row}\n  {json.dumps(graph.document(True))}", given.keep)
    print(f"{done} graphs from seed {given.seed} on: {found} cliffs")
    sys.exit(found != 0)


if __name__ == "__main__":
    main()
