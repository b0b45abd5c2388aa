"""kiln compiles a model file; here for NumPy arrays.

    import kiln

    model = kiln.compile("model.onnx")
    print(model.inputs, model.outputs)    # names, dtypes and shapes
    scores, = model.run(image)            # in declared order, or by name

If kiln refuses something, it raises a kiln.Error with the one line that the command prints.
"""

import importlib.metadata
import os
import subprocess
import tempfile

from .model import Error, Model

__all__ = ["Error", "Model", "command", "compile", "load"]
__version__ = importlib.metadata.version("kiln")


def command():
    """The path of the command `kiln` that came with this module."""
    own = [str(file.locate()) for file in importlib.metadata.files("kiln") or () if file.parts[-2:] == ("bin", "kiln")]
    # `pip install --target` moves it after it recorded the path.
    own.append(os.path.join(os.path.dirname(__file__), os.pardir, "bin", "kiln"))
    for path in own:
        if os.path.exists(path):
            return os.path.normpath(path)
    raise Error("the command kiln is not beside its module; install kiln's wheel again")


def arguments(options):
    """Those that a command line has: device="c", no_opt=True, dim=["n=1..8", "m=4"]."""
    for name, value in options.items():
        option = "-O" if name == "O" else "--" + name.replace("_", "-")
        for each in value if isinstance(value, (list, tuple)) else [value]:
            if each is True:
                yield option
            elif each is not None and each is not False:
                yield f"{option}{'' if name == 'O' else '='}{each}"


def compile(model, output=None, threads=0, **options):
    """Compiles an ONNX or JSON file and loads it. The library goes to `output`, for load() in another process, or nowhere.
    `options` are those of `kiln compile`, with _ for -; one that is given several times is a list.
    """
    with tempfile.TemporaryDirectory(prefix="kiln-") as folder:
        # A loaded library stays, whatever becomes of its file.
        path = os.path.join(folder, "libmodel.so") if output is None else os.fspath(output)
        line = [command(), "compile", os.fspath(model), "--emit=shared", "-o", path, *arguments(options)]
        done = subprocess.run(line, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        if done.returncode != 0:
            said = os.fsdecode(done.stderr).strip()
            raise Error(said[6:] if said.startswith("kiln: ") else said or f"kiln ended with status {done.returncode}")
        try:
            return load(path, options.get("name"), threads, options.get("weights"))
        except Error as error:
            # A library that is not kept has no path that anybody knows.
            raise Error(str(error).replace(path, os.fspath(model)) if output is None else str(error)) from None


def load(path, name=None, threads=0, weights=None):
    """Loads a library that compile() or `kiln compile --emit shared` made: `name` is that of --name, `weights` of --weights."""
    return Model(os.fspath(path), name, threads, weights)
