"""What converters write: each source is a script that runs in an environment of its own and writes cases."""

import functools
import os
import re
import subprocess
import sys

import environments

HERE = os.path.dirname(os.path.abspath(__file__))
TENSORFLOW = ("tensorflow-cpu==2.21.0", "tf2onnx==1.17.0", "onnx==1.23.2")
OPTIMUM = ("transformers==4.57.6", "optimum==2.1.0", "optimum-onnx==0.1.0", "onnxruntime==1.32.0")
SKLEARN = (
    "scikit-learn==1.9.1", "skl2onnx==1.20.0", "onnxmltools==1.16.0", "lightgbm==4.7.0", "xgboost==3.2.0", "onnx==1.23.2",
    "pandas==3.1.1", "packaging==26.4",
)  # fmt: skip


def of_packages(*requirements):
    return lambda folder: environments.pip(environments.fresh(folder), "install", *requirements)


def make_optimum(folder):
    environments.make_exporter(folder)
    environments.pip(os.path.join(folder, "bin", "python"), "install", *OPTIMUM)


ENVIRONMENTS = {
    "sklearn": of_packages(*SKLEARN),
    "tensorflow": of_packages(*TENSORFLOW),
    "torch": environments.make_exporter,
    "optimum": make_optimum,
}


def folders(source, cache, wanted):
    """The cases of a source whose names match `wanted`: {name: folder}. Its script knows which are made already."""
    python = environments.python_of(os.path.dirname(cache), f"{source}-environment", ENVIRONMENTS[source])
    os.makedirs(cache, exist_ok=True)
    command = [python, os.path.join(HERE, f"{source}_models.py"), cache, wanted]
    listed = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout.split()
    return {name: os.path.join(cache, name) for name in listed if re.search(wanted, name)}


def of(source):
    if source not in ENVIRONMENTS:
        sys.exit(f"{source}: no such source; sources are packages, {', '.join(ENVIRONMENTS)}")
    return functools.partial(folders, source)
