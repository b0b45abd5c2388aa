#!/usr/bin/env python3
"""mutants.py KILN OUT [--count N] [--seed S] FOLDER...: changes models in one to three places and compiles them.

Each mutant must be refused in one line, or be right: what ONNX Runtime computes of the same random inputs, if it takes the
model. All others (a signal, a time over the limit, an error of several lines, another result) are kept in OUT with the
inputs and a line in OUT/found.txt. Needs onnx, onnxruntime and numpy; the folders are searched for *.onnx.
"""

import argparse
import json
import multiprocessing
import os
import random
import resource
import shutil
import subprocess
import tempfile

import numpy
import onnx
from onnx import AttributeProto, TensorProto, numpy_helper

SECONDS, MEMORY = 60, 6 << 30 # of a processor's time, and of addresses
PATIENCE = 10 * SECONDS # on a busy machine, and if it waits without end
NUMBERS = [-(1 << 63), -(1 << 31), -3, -2, -1, 0, 1, 2, 3, 5, 8, 1 << 31, (1 << 62) + 1]
FLOATS = [0.0, -1.0, 0.5, 1e-8, 3e38, float("inf"), float("nan")]
DTYPES = [TensorProto.FLOAT, TensorProto.INT64, TensorProto.INT32, TensorProto.UINT8, TensorProto.BOOL, TensorProto.DOUBLE,
          TensorProto.FLOAT16, TensorProto.STRING]


def change_attribute(model, rng):
    node = rng.choice(model.graph.node)
    if not node.attribute:
        return False
    attribute = rng.choice(node.attribute)
    if rng.random() < 0.2:
        node.attribute.remove(attribute)
    elif attribute.type == AttributeProto.INT:
        attribute.i = rng.choice(NUMBERS)
    elif attribute.type == AttributeProto.FLOAT:
        attribute.f = rng.choice(FLOATS)
    elif attribute.type == AttributeProto.STRING:
        attribute.s = rng.choice([b"", b"same", b"SAME_UPPER", b"nearest", b"linear", b"tanh", b"\xff"])
    elif attribute.type == AttributeProto.INTS:
        change_list(attribute.ints, rng, NUMBERS)
    elif attribute.type == AttributeProto.FLOATS:
        change_list(attribute.floats, rng, FLOATS)
    else:
        return False
    return True


def change_list(values, rng, others):
    way = rng.randrange(3)
    if way == 0 or not values:
        values.append(rng.choice(others))
    elif way == 1:
        values.pop()
    else:
        values[rng.randrange(len(values))] = rng.choice(others)


def change_input_shape(model, rng):
    tensors = [value.type.tensor_type for value in model.graph.input if value.type.HasField("tensor_type")]
    dims = [dim for tensor in tensors for dim in tensor.shape.dim]
    if not dims:
        return False
    dim = rng.choice(dims)
    if rng.random() < 0.4:
        dim.dim_param = rng.choice(["n", "m", "", "batch"])
    else:
        dim.dim_value = rng.choice([0, 1, 2, 3, 4, 7, -1])
    return True


def change_input_rank(model, rng):
    tensors = [value.type.tensor_type for value in model.graph.input if value.type.HasField("tensor_type")]
    if not tensors:
        return False
    shape = rng.choice(tensors).shape
    if rng.random() < 0.5 and shape.dim:
        shape.dim.pop()
    else:
        shape.dim.add().dim_value = rng.choice([1, 2])
    return True


def change_dtype(model, rng):
    tensors = [value.type.tensor_type for value in model.graph.input if value.type.HasField("tensor_type")]
    if not tensors:
        return False
    rng.choice(tensors).elem_type = rng.choice(DTYPES)
    return True


def change_weight(model, rng):
    whole = [each for each in model.graph.initializer if each.data_type in (TensorProto.INT64, TensorProto.INT32)]
    if not whole:
        return False
    weight = rng.choice(whole)
    values = numpy_helper.to_array(weight).copy()
    if not values.size:
        return False
    values.flat[rng.randrange(values.size)] = numpy.array(rng.choice(NUMBERS)).astype(values.dtype)
    weight.CopyFrom(numpy_helper.from_array(values, weight.name))
    return True


def change_edges(model, rng):
    node = rng.choice(model.graph.node)
    if not node.input:
        return False
    place = rng.randrange(len(node.input))
    names = [value.name for value in model.graph.input] + [name for each in model.graph.node for name in each.output]
    way = rng.randrange(4)
    if way == 0:
        node.input[place] = rng.choice(names)
    elif way == 1:
        node.input[place] = ""
    elif way == 2:
        del node.input[place]
    else:
        node.input.append(rng.choice(names))
    return True


def change_operator(model, rng):
    node = rng.choice(model.graph.node)
    others = [schema for schema in onnx.defs.get_all_schemas() if schema.min_input <= len(node.input) <= schema.max_input]
    schema = rng.choice(others)
    node.op_type, node.domain = schema.name, schema.domain
    return True


def change_opset(model, rng):
    rng.choice(model.opset_import).version = rng.choice([1, 6, 7, 9, 10, 11, 12, 13, 14, 17, 18, 19, 20, 21, 22])
    return True


def remove_node(model, rng):
    if len(model.graph.node) < 2:
        return False
    del model.graph.node[rng.randrange(len(model.graph.node))]
    return True


CHANGES = [change_attribute, change_attribute, change_attribute, change_input_shape, change_input_shape, change_input_rank,
           change_dtype, change_weight, change_weight, change_edges, change_operator, change_opset, remove_node]


def mutant(model, rng):
    made = onnx.ModelProto()
    made.CopyFrom(model)
    changes = []
    while len(changes) < rng.choice([1, 1, 1, 2, 3]):
        change = rng.choice(CHANGES)
        if made.graph.node and made.opset_import and change(made, rng):
            changes.append(change.__name__)
    return made, changes


def random_inputs(model, rng):
    """Small arrays of the inputs' declared dtypes and shapes, one size for each name; None where a shape is not known."""
    generator, sizes, inputs = numpy.random.default_rng(rng.randrange(1 << 32)), {}, {}
    weights = {each.name for each in model.graph.initializer}
    for value in model.graph.input:
        if value.name in weights:
            continue
        tensor = value.type.tensor_type
        if not value.type.HasField("tensor_type") or not tensor.HasField("shape") or tensor.elem_type == TensorProto.STRING:
            return None
        shape = []
        for place, dim in enumerate(tensor.shape.dim):
            name = dim.dim_param or (value.name, place)
            shape.append(dim.dim_value if dim.HasField("dim_value") else sizes.setdefault(name, rng.choice([1, 2, 3, 5])))
        if min(shape, default=0) < 0 or numpy.prod(shape, dtype=float) > 1e7:
            return None
        try:
            dtype = onnx.helper.tensor_dtype_to_np_dtype(tensor.elem_type)
        except KeyError:
            return None
        values = generator.standard_normal(shape) if dtype.kind == "f" else generator.integers(0, 4, shape)
        inputs[value.name] = numpy.asarray(values).astype(dtype)
    return inputs


def judge(path, inputs, queue):
    import onnxruntime
    onnxruntime.set_default_logger_severity(4)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    try:
        queue.put(onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"]).run(None, inputs))
    except Exception as error: # whatever it says of a model that is wrong
        queue.put(str(error).splitlines()[0][:160])


def judged(path, inputs):
    """The outputs, or a text where there are none. In a process of its own, which a mutant may end."""
    queue = multiprocessing.Queue()
    process = multiprocessing.Process(target=judge, args=(path, inputs, queue))
    process.start()
    try:
        result = queue.get(timeout=PATIENCE)
    except Exception:
        result = "no answer"
    process.kill()
    process.join()
    return result


def limit():
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def run(kiln, path, inputs, folder):
    """The status and standard error of kiln; its outputs are in the folder."""
    command = [kiln, "compile", path, "--emit", "obj", "-o", os.path.join(folder, "m.o")]
    if inputs is not None:
        command = [kiln, "run", path, "--output-dir", folder]
        for place, array in enumerate(inputs.values()):
            numpy.save(os.path.join(folder, f"in{place}.npy"), array)
            command.append(os.path.join(folder, f"in{place}.npy"))
    try:
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=PATIENCE, preexec_fn=limit)
    except subprocess.TimeoutExpired:
        return "time", ""
    return done.returncode, done.stderr


def differs(folder, wanted):
    for place, array in enumerate(wanted):
        path = os.path.join(folder, f"output_{place}.npy")
        if not isinstance(array, numpy.ndarray) or array.dtype.kind not in "fiub" or not os.path.exists(path):
            continue
        found = numpy.load(path)
        if found.shape != array.shape or found.dtype != array.dtype:
            return f"output {place} is {found.dtype}{found.shape}, wanted {array.dtype}{array.shape}"
        if array.size and not numpy.allclose(found, array, rtol=2e-3, atol=1e-4, equal_nan=True):
            return f"output {place} differs by {numpy.nanmax(numpy.abs(found.astype(float) - array.astype(float))):g}"
    return ""


def verdict(kiln, path, inputs, folder):
    """What is wrong, or ""; and how it ended."""
    status, error = run(kiln, path, inputs, folder)
    if status == "time" or (isinstance(status, int) and status < 0):
        return f"ended with {status}", ""
    lines = [line for line in error.splitlines() if ": warning: " not in line]
    if status:
        return ("" if len(lines) == 1 and lines[0].startswith("kiln: ") else f"status {status}: {error[:300]!r}"), "refused"
    if inputs is None:
        return "", "compiled"
    wanted = judged(path, inputs)
    if isinstance(wanted, str):
        return "", "only kiln takes it"
    return differs(folder, wanted), "compared"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("kiln")
    parser.add_argument("out")
    parser.add_argument("folders", nargs="+")
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    folders = [os.path.abspath(folder) for folder in arguments.folders]
    common = os.path.commonpath(folders)
    models = sorted(os.path.join(root, file) for folder in folders for root, _, files in os.walk(folder)
                    for file in files if file.endswith(".onnx"))
    os.makedirs(arguments.out, exist_ok=True)
    ends, found = {}, 0
    for seed in range(arguments.seed, arguments.seed + arguments.count):
        rng = random.Random(seed)
        source = rng.choice(models)
        made, changes = mutant(onnx.load(source), rng)
        inputs = random_inputs(made, rng)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "mutant.onnx")
            onnx.save(made, path)
            wrong, end = verdict(arguments.kiln, path, inputs, folder)
            ends[end] = ends.get(end, 0) + 1
            if not wrong:
                continue
            found += 1
            kept = os.path.join(arguments.out, str(seed))
            shutil.copytree(folder, kept, dirs_exist_ok=True)
        line = f"{seed}: {os.path.relpath(source, common)}: {' '.join(changes)}: {wrong}"
        print(line, flush=True)
        with open(os.path.join(arguments.out, "found.txt"), "a") as text:
            text.write(line + "\n")
    print(json.dumps(ends), f"{found} of {arguments.count} to look at")
    return 1 if found else 0


if __name__ == "__main__":
    raise SystemExit(main())
