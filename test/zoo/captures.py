"""What converters write: each source is a script that runs in an environment of its own and writes cases."""

import functools
import os
import re
import subprocess
import sys

import environments

HERE = os.path.dirname(os.path.abspath(__file__))
SKLEARN = ("scikit-learn==1.9.1", "skl2onnx==1.20.0", "onnxmltools==1.16.0", "lightgbm==4.7.0", "xgboost==3.2.0", "onnx==1.23.2")


def make_sklearn(folder):
    environments.pip(environments.fresh(folder), "install", *SKLEARN)


ENVIRONMENTS = {"sklearn": make_sklearn, "torch": environments.make_exporter}


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
