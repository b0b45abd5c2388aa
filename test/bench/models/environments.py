"""The two virtual environments of the benchmark: one exports models, one runs the peers. Both are made once.

PyTorch on PyPI is built for CUDA and imports only where the CUDA libraries that it names are there, so they are
installed, without what runs on a GPU alone.
"""

import json
import os
import re
import subprocess
import sys

EXPORTER = ("torch", "torchvision")
EXPORTER_PLAIN = ("transformers", "onnx", "onnxscript", "numpy", "pillow")
QUANTIZER = ("onnxruntime", "sympy", "onnx_ir")  # what its tools need
PEERS = ("onnxruntime", "openvino", "torch", "iree")  # classes of worker.py
GPU_ONLY = ("triton", "cuda-bindings")
PACKAGES = {"iree": ("iree-base-compiler", "iree-base-runtime")}  # of the others the name is the package's
REQUIREMENTS = "import importlib.metadata as m; print('\\n'.join(m.requires('torch')))"


def pip(python, *arguments):
    subprocess.run([python, "-m", "pip", "--quiet", "--disable-pip-version-check", *arguments], check=True)


def fresh(folder):
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    return os.path.join(folder, "bin", "python")


def needed_by_torch(lines):
    """Of the requirements that torch declares, those that it cannot be imported without."""
    plain = [line for line in lines if "extra ==" not in line]
    return [line for line in plain if re.split(r"[\s<>=!~;\[]", line)[0] not in GPU_ONLY]


def make_exporter(folder):
    python = fresh(folder)
    pip(python, "install", "--no-deps", *EXPORTER)
    listed = subprocess.run([python, "-c", REQUIREMENTS], check=True, capture_output=True, text=True).stdout
    pip(python, "install", *needed_by_torch(listed.splitlines()), *EXPORTER_PLAIN)


def make_peers(folder):
    pip(fresh(folder), "install", "numpy", "onnx")


def packages_of(peers):
    """What has a peer on PyPI."""
    return [package for peer in peers for package in PACKAGES.get(peer, (peer,))]


def add_peers(python, peers):
    """Installs what an environment lacks for these peers."""
    listed = subprocess.run([python, "-m", "pip", "list", "--format=json"], check=True, capture_output=True, text=True)
    known = {entry["name"].lower() for entry in json.loads(listed.stdout)}
    if missing := [package for package in packages_of(peers) if package.lower() not in known]:
        pip(python, "install", *missing)


def python_of(cache, name, make):
    """The interpreter of environment `name` under `cache`, which `make(folder)` makes where it is not whole."""
    folder = os.path.join(cache, name)
    done = os.path.join(folder, "complete")
    if not os.path.exists(done):
        print(f"making the environment {folder}", file=sys.stderr)
        make(folder)
        with open(done, "w", encoding="ascii"):
            pass
    return os.path.join(folder, "bin", "python")
