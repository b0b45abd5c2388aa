"""kiln as a backend of the onnx package.

`prepare` compiles the model into a program, `run` runs the program: what is tested is what a user gets. The module has
the form that onnx.backend.base asks for, so onnx's own test runner and whatever else drives a backend takes it as it is:

    onnx.backend.test.BackendTest(backend, __name__)

KILN names the compiler (kiln, on the path), KILN_DEVICE the device (cpu).
"""

import os
import subprocess
import tempfile

import numpy
import onnx
import onnx.backend.base


class Refused(Exception):
    """kiln, or the program that it made, ended with its one line."""


class Crashed(Exception):
    """kiln, or the program that it made, ended in a way that it never may."""


def call(command, folder):
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, errors="replace", timeout=600)
    if done.returncode == 1 and done.stderr.count("\n") == 1:
        raise Refused(done.stderr.strip())
    if done.returncode:
        raise Crashed(f"{command[0]} ended with status {done.returncode}: {done.stderr}")


def with_dtype(array, value_info):
    """A dtype that NumPy does not know is raw bytes in its file; the tests want strings as objects."""
    if array.dtype.kind == "U":
        return array.astype(object)
    if array.dtype.kind != "V":
        return array
    return array.view(onnx.helper.tensor_dtype_to_np_dtype(tensor_type(value_info).elem_type))


def tensor_type(value_info):
    """Of a tensor, or of those in a sequence or an optional."""
    kind = value_info.type
    while not kind.HasField("tensor_type"):
        kind = kind.optional_type.elem_type if kind.HasField("optional_type") else kind.sequence_type.elem_type
    return kind.tensor_type


def is_sequence(value_info):
    kind = value_info.type
    if kind.HasField("optional_type"):
        kind = kind.optional_type.elem_type
    return kind.HasField("sequence_type")


def save(path, value):
    """A tensor as a file, a list of them as a folder."""
    if isinstance(value, list):
        os.mkdir(path)
        for number, tensor in enumerate(value):
            save(os.path.join(path, f"{number}.npy"), numpy.asarray(tensor))
        return
    numpy.save(path, value.astype(str) if value.dtype == object else value)


def load(path, value_info):
    """What a program wrote under this name, without an ending; None where it is absent."""
    if is_sequence(value_info):
        if not os.path.isdir(path):
            return None
        return [with_dtype(numpy.load(os.path.join(path, f"{i}.npy")), value_info) for i in range(len(os.listdir(path)))]
    if not os.path.exists(path + ".npy"):
        return None
    return with_dtype(numpy.load(path + ".npy"), value_info)


class Program(onnx.backend.base.BackendRep):
    """A model that has been compiled, in a folder of its own."""

    def __init__(self, model):
        stored = {tensor.name for tensor in model.graph.initializer}
        # A caller may give a value for an initializer that is an input too, or leave all of them out.
        self.inputs = [value.name for value in model.graph.input]
        self.needed = [name for name in self.inputs if name not in stored]
        self.outputs = list(model.graph.output)
        self.owner = tempfile.TemporaryDirectory(prefix="kiln-onnx-")
        self.folder = self.owner.name
        onnx.save(model, os.path.join(self.folder, "model.onnx"))
        compiler = os.path.abspath(os.environ["KILN"]) if "KILN" in os.environ else "kiln"
        device = os.environ.get("KILN_DEVICE", "cpu")
        call([compiler, "compile", "model.onnx", "-o", "model", "--device", device], self.folder)

    def run(self, inputs, **_):
        if not isinstance(inputs, dict):
            names = self.needed if len(inputs) == len(self.needed) else self.inputs
            inputs = dict(zip(names, inputs))
        command = [os.path.join(self.folder, "model"), "--output-dir", "."]
        for number, (name, value) in enumerate(inputs.items()):
            if value is None:
                continue  # an optional that is absent is one that is not given
            file = f"input_{number}" if isinstance(value, list) else f"input_{number}.npy"
            save(os.path.join(self.folder, file), value)
            command.append(f"--input={name}={file}")
        call(command, self.folder)
        paths = (os.path.join(self.folder, f"output_{i}") for i in range(len(self.outputs)))
        return tuple(load(path, output) for path, output in zip(paths, self.outputs))


class KilnBackend(onnx.backend.base.Backend):
    """The ordinary backend: a model, on the CPU."""

    @classmethod
    def prepare(cls, model, device="CPU", **kwargs):
        super().prepare(model, device, **kwargs)
        return Program(model)

    @classmethod
    def supports_device(cls, device):
        return device.partition(":")[0] == "CPU"


# What drives a backend takes a module as well as a class.
is_compatible = KilnBackend.is_compatible
prepare = KilnBackend.prepare
run_model = KilnBackend.run_model
supports_device = KilnBackend.supports_device
