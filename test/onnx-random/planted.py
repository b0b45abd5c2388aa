#!/usr/bin/env python3
"""planted.py: `$KILN run` with a fault of the kind that PLANTED names, so that a test sees generate.py find it.

value: the first element of an output changes. shape: an output gets an axis more. lines: it refuses in two lines. crash.
"""

import glob
import os
import signal
import subprocess
import sys


def changed(data):
    """An .npy file with another last element."""
    end = data.index(b"\n") + 1
    return data if len(data) == end else data[:-1] + bytes([data[-1] ^ (1 if b"'|b1'" in data[:end] else 0x40)])


def deeper(data):
    """An .npy file with an axis more; its header keeps its length."""
    end = data.index(b"\n")
    return data[:end].replace(b"'shape': (", b"'shape': (1, ")[:-3] + data[end:]


kind = os.environ["PLANTED"]
if kind == "crash":
    os.kill(os.getpid(), signal.SIGSEGV)
if kind == "lines":
    sys.exit("kiln: model.onnx: the first line\nkiln: the second line")
done = subprocess.run([os.environ["KILN"], *sys.argv[1:]])
folder = sys.argv[sys.argv.index("--output-dir") + 1]
for path in glob.glob(os.path.join(folder, "output_*.npy")):
    with open(path, "rb") as file:
        data = file.read()
    with open(path, "wb") as file:
        file.write({"value": changed, "shape": deeper}[kind](data))
sys.exit(done.returncode)
